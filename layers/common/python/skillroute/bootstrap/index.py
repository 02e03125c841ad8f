"""Which vector index is used, and how it follows the change feed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from skillroute.domain.embedding import EmbeddingModel
from skillroute.ports import ChangeFeed, IndexReplica, VectorIndex
from skillroute.settings import IndexSettings

if TYPE_CHECKING:
    from skillroute.storage.index.embedded import Built
    from skillroute.storage.postgres.connection import Pool


def make_replica(
    settings: IndexSettings,
    feed: ChangeFeed,
    pool: Pool,
    configured_model: Callable[[], EmbeddingModel | None],
    database_url: str,
) -> IndexReplica:
    """Return the configured index: embedded in this process, or a Qdrant server."""
    if settings.qdrant_url:
        from skillroute.storage.index.qdrant import QdrantIndex
        from skillroute.storage.index.shared import Opened, SharedReplica
        from skillroute.storage.postgres.feed import SharedPosition

        url, key = settings.qdrant_url, settings.qdrant_api_key

        def open_server(model: EmbeddingModel) -> Opened:
            # Characters that Qdrant takes in a collection's name; Bedrock's model ids have colons.
            prefix = settings.qdrant_prefix + re.sub(r"[^\w.-]", "_", f"{model.name}-{model.dimension}-")
            index = QdrantIndex.connect(
                url,
                key.get_secret_value() if key else None,
                model.dimension,
                settings.qdrant_timeout_s,
                prefix=prefix,
            )
            return Opened(model, index, SharedPosition(pool, f"qdrant:{prefix}"))

        return SharedReplica(feed, open_server, configured_model)

    from skillroute.storage.index.embedded import EmbeddedReplica
    from skillroute.storage.index.replica_files import ThrowawayEdgeIndex, new_replica_dir

    def make_edge(model: EmbeddingModel) -> VectorIndex:
        return ThrowawayEdgeIndex(new_replica_dir(settings.index_dir), model.dimension)

    def make_optimised(model: EmbeddingModel) -> Built:
        from skillroute.storage.index.child_build import build_in_child

        return build_in_child(database_url, settings.index_dir, model)

    return EmbeddedReplica(
        feed,
        make_edge,
        configured_model,
        make_optimised=make_optimised if settings.index_optimize_above else None,
        optimise_above=settings.index_optimize_above,
    )
