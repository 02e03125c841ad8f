"""What the core needs from outside. Storage and providers implement these; `bootstrap/` joins them.

A port raises errors of `skillroute.errors` only, those of the branch `DependencyUnavailable`.
"""

from __future__ import annotations

from skillroute.ports.checks import (
    CheckRepository,
    Finding,
)
from skillroute.ports.database import (
    Database,
    IndexStateRepository,
    ItemRepository,
    ItemRow,
    ItemState,
    LoadedSchemas,
    Session,
    Written,
)
from skillroute.ports.embedded_rows import (
    EmbeddedRows,
    EmbeddingTask,
    IndexedText,
)
from skillroute.ports.index import (
    ChangeFeed,
    IndexReplica,
    IndexStatus,
    PositionCursor,
    PositionStore,
    VectorIndex,
)
from skillroute.ports.mail import (
    MailKind,
    MailRepository,
    MailSaid,
    MailSearchRepository,
    MailState,
    MessageRow,
)
from skillroute.ports.models import (
    ChatModel,
    Classifier,
    Clock,
    Embedder,
    Reranker,
)
from skillroute.ports.queues import (
    DeadLetter,
    Failure,
    Notifier,
    OutboxDepth,
    OutboxRepository,
    Queue,
    QueueDepth,
)
from skillroute.ports.registry import (
    LONGEST_SHOWN,
    EntityWritten,
    KeywordHit,
    KeywordHits,
    RegistryRepository,
    RegistryScope,
    ToolDetails,
    ToolHit,
)
from skillroute.ports.secrets import Secret
from skillroute.ports.skills import (
    AssignmentRepository,
    ClassificationRepository,
    SkillRepository,
    ToClassify,
)
from skillroute.ports.suggestions import SuggestionRepository

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
