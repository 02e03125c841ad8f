"""What the core needs from outside. Storage and providers implement these; `bootstrap/` joins them.

A port raises errors of `skillroute.core.errors` only, those of the branch `DependencyUnavailable`.
"""

from __future__ import annotations

from skillroute.core.ports.checks import CheckRepository, Finding
from skillroute.core.ports.database import (
    Database,
    IndexStateRepository,
    ItemRepository,
    ItemRow,
    ItemState,
    LoadedSchemas,
    Session,
    Written,
)
from skillroute.core.ports.embedded_rows import EmbeddedRows, EmbeddingTask, IndexedText
from skillroute.core.ports.index import (
    ChangeFeed,
    IndexReplica,
    IndexStatus,
    PositionCursor,
    PositionStore,
    VectorIndex,
)
from skillroute.core.ports.mail import MailKind, MailRepository, MailSaid, MailSearchRepository, MailState, MessageRow
from skillroute.core.ports.models import ChatModel, Classifier, Clock, Embedder, Reranker
from skillroute.core.ports.queues import (
    DeadLetter,
    Failure,
    Notifier,
    OutboxDepth,
    OutboxRepository,
    Queue,
    QueueDepth,
)
from skillroute.core.ports.registry import (
    LONGEST_SHOWN,
    EntityWritten,
    KeywordHit,
    KeywordHits,
    RegistryRepository,
    RegistryScope,
    ToolDetails,
    ToolHit,
)
from skillroute.core.ports.secrets import Secret
from skillroute.core.ports.skills import AssignmentRepository, ClassificationRepository, SkillRepository, ToClassify
from skillroute.skills.suggestion_port import SuggestionRepository

__all__ = [
    "LONGEST_SHOWN",
    "AssignmentRepository",
    "ChangeFeed",
    "ChatModel",
    "CheckRepository",
    "ClassificationRepository",
    "Classifier",
    "Clock",
    "Database",
    "DeadLetter",
    "EmbeddedRows",
    "Embedder",
    "EmbeddingTask",
    "EntityWritten",
    "Failure",
    "Finding",
    "IndexReplica",
    "IndexStateRepository",
    "IndexStatus",
    "IndexedText",
    "ItemRepository",
    "ItemRow",
    "ItemState",
    "KeywordHit",
    "KeywordHits",
    "LoadedSchemas",
    "MailKind",
    "MailRepository",
    "MailSaid",
    "MailSearchRepository",
    "MailState",
    "MessageRow",
    "Notifier",
    "OutboxDepth",
    "OutboxRepository",
    "PositionCursor",
    "PositionStore",
    "Queue",
    "QueueDepth",
    "RegistryRepository",
    "RegistryScope",
    "Reranker",
    "Secret",
    "Session",
    "SkillRepository",
    "SuggestionRepository",
    "ToClassify",
    "ToolDetails",
    "ToolHit",
    "VectorIndex",
    "Written",
]
