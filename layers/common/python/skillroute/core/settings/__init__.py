"""Every setting, read from the environment in one place, once, when a function starts.

Each variable is the field's name in capitals behind ``SKILLROUTE_``. A wrong value stops the process at its start with
the name of the variable. Here is what each function reads; what they share stands by subject beside it.
"""

from __future__ import annotations

from pydantic import Field

from skillroute.core.settings.calling import CallSettings, OutboundSettings
from skillroute.core.settings.database import DatabaseSettings, MigrationSettings
from skillroute.core.settings.embedding import EmbeddingSettings
from skillroute.core.settings.identity import IdentitySettings
from skillroute.core.settings.index import IndexSettings
from skillroute.core.settings.language_models import ClassifierSettings
from skillroute.core.settings.learning import LearningScheduleSettings, ReceiptSettings
from skillroute.core.settings.mail import MailSearchSettings
from skillroute.core.settings.process import ProcessSettings
from skillroute.core.settings.queues import QueueSettings
from skillroute.core.settings.reranking import RerankSettings
from skillroute.core.settings.search import RankingSettings
from skillroute.core.settings.skills import SkillMakingSettings
from skillroute.core.settings.trace import TraceSettings
from skillroute.core.settings.trust import TrustSettings
from skillroute.core.settings.web import WebSettings

__all__ = [
    "AggregateSettings",
    "CallFunctionSettings",
    "CallSettings",
    "CatalogSettings",
    "ClassifierSettings",
    "ClassifySettings",
    "CoreSettings",
    "DatabaseSettings",
    "EmbeddingSettings",
    "IdentitySettings",
    "IndexSettings",
    "LearnSettings",
    "LearningScheduleSettings",
    "LocalSettings",
    "MailSearchSettings",
    "McpSettings",
    "MigrationSettings",
    "OutboundSettings",
    "ProcessSettings",
    "QueueSettings",
    "RankingSettings",
    "ReceiptSettings",
    "RelaySettings",
    "RerankSettings",
    "SearchSettings",
    "SkillMakingSettings",
    "SkillsSettings",
    "TraceSettings",
    "TrustSettings",
    "WebSettings",
]


class CoreSettings(
    DatabaseSettings,
    EmbeddingSettings,
    IndexSettings,
    QueueSettings,
    ReceiptSettings,
    SkillMakingSettings,
    TraceSettings,
    ProcessSettings,
):
    """The settings of every function that writes."""


class AggregateSettings(CoreSettings):
    """Everything that the aggregate function reads."""


class LearnSettings(CoreSettings, RankingSettings):
    """Everything that the learn function reads: it searches, to measure what it learned."""


class RelaySettings(CoreSettings, MigrationSettings, LearningScheduleSettings):
    """Everything that the relay function reads."""


class ClassifySettings(CoreSettings, ClassifierSettings):
    """Everything that the classify function reads."""


class CatalogSettings(CoreSettings, WebSettings, IdentitySettings, OutboundSettings, TrustSettings):
    """Everything that the catalog function reads."""


class SkillsSettings(CatalogSettings, ClassifierSettings):
    """Everything that the skills function reads."""


class SearchSettings(CatalogSettings, RerankSettings, RankingSettings, MailSearchSettings):
    """Everything that the search function reads."""

    database_statement_timeout_s: float = Field(5.0, gt=0, le=300, description="The limit of a statement.")


class McpSettings(SearchSettings, CallSettings):
    """Everything that the mcp function reads."""


class CallFunctionSettings(CoreSettings, CallSettings, IdentitySettings, TrustSettings):
    """Everything that the call function reads."""


class LocalSettings(McpSettings, SkillsSettings, RelaySettings):
    """Everything that a laptop's one process reads."""
