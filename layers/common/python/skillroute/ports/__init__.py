"""What the core needs from outside. Storage and providers implement these; `bootstrap.py` joins them.

A port raises errors of `skillroute.errors` only, those of the branch `DependencyUnavailable`.
"""

from __future__ import annotations

from skillroute.ports.database import (
    Database,
    EmbeddedRows,
    EmbeddingTask,
    IndexedText,
    IndexStateRepository,
    ItemRepository,
    ItemRow,
    ItemState,
    Session,
    SkillRepository,
    Written,
)
from skillroute.ports.index import (
    ChangeFeed,
    IndexReplica,
    IndexStatus,
    PositionCursor,
    PositionStore,
    VectorIndex,
)
from skillroute.ports.models import (
    ChatModel,
    Classifier,
    Clock,
    Embedder,
)

__all__ = [
    "ChangeFeed",
    "ChatModel",
    "Classifier",
    "Clock",
    "Database",
    "EmbeddedRows",
    "Embedder",
    "EmbeddingTask",
    "IndexReplica",
    "IndexStateRepository",
    "IndexStatus",
    "IndexedText",
    "ItemRepository",
    "ItemRow",
    "ItemState",
    "PositionCursor",
    "PositionStore",
    "Session",
    "SkillRepository",
    "VectorIndex",
    "Written",
]
