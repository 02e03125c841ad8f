"""Which vector index is used, and how it follows the change feed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.replica_port import ChangeFeed, IndexReplica
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexUnavailable, SecretUnavailable
from skillroute.core.secrets import Secret
from skillroute.core.settings import IndexSettings
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.wiring.secrets import make_api_key

if TYPE_CHECKING:
    from skillroute.core.documents.index.embedded import EmbeddedReplica
    from skillroute.core.documents.index.embedded_generation import Built
    from skillroute.core.documents.search_words import ToTerms
    from skillroute.core.postgres.address import AddressSource
    from skillroute.core.postgres.pool import Pool

_QDRANT_TIMEOUT_S = 2.0
"""The most that a request to a Qdrant server may take. Not measured."""


def make_feed(pool: Pool) -> ChangeFeed:
    """Return the change feed, which knows how the words of each collection are cut."""
    from skillroute.core.documents.feed import PostgresFeed

    return PostgresFeed(pool, cutters())


def cutters() -> Mapping[Collection, ToTerms]:
    """Return what cuts the words of collections that the index does not cut itself."""
    from skillroute.mail.text import terms_of

    return {MAIL_DOCUMENTS: terms_of}


def make_replica(
    settings: IndexSettings,
    feed: ChangeFeed,
    pool: Pool,
    own_model: Callable[[], EmbeddingModel | None],
    address: AddressSource,
) -> IndexReplica:
    """Return the configured index: in this process, on a Qdrant server, in PostgreSQL, or there until it is here."""
    if settings.index_kind == "server":
        return _make_shared(settings, feed, pool, own_model)
    if settings.index_kind == "embedded":
        return _make_embedded(settings, feed, own_model, address)
    from skillroute.core.documents.index.postgres_replica import PostgresReplica

    in_postgres = PostgresReplica(pool, own_model, cutters())
    if settings.index_kind == "postgres":
        return in_postgres
    from skillroute.core.documents.index.auto import AutoReplica

    return AutoReplica(
        in_postgres,
        lambda: _make_embedded(settings, feed, own_model, address),
        lambda most: int(pool.read(lambda c: c.run("count_documents_up_to", limit=most))[0][0]),
        build_up_to=settings.index_replica_up_to,
    )


def _make_shared(
    settings: IndexSettings, feed: ChangeFeed, pool: Pool, own_model: Callable[[], EmbeddingModel | None]
) -> IndexReplica:
    from skillroute.core.documents.generations import Generations
    from skillroute.core.documents.index.qdrant import QdrantIndex
    from skillroute.core.documents.index.shared import SharedReplica

    url = settings.qdrant_url or ""
    key = make_api_key(settings.qdrant_api_key, settings.qdrant_api_key_secret_arn)

    def open_server(model: EmbeddingModel, generation: int, to_fill: bool) -> QdrantIndex:
        # Characters that Qdrant takes in a collection's name; Bedrock's model ids have colons.
        prefix = settings.qdrant_prefix + re.sub(r"[^\w.-]", "_", f"{model.name}-{model.dimension}-{generation}-")
        return QdrantIndex.connect(
            url,
            _readable(key),
            model.dimension,
            _QDRANT_TIMEOUT_S,
            prefix=prefix,
            ef_search=settings.vector_search_ef_search,
            makes_collections=to_fill,
        )

    return SharedReplica(feed, Generations(pool, f"qdrant:{settings.qdrant_prefix}"), open_server, own_model)


def _make_embedded(
    settings: IndexSettings,
    feed: ChangeFeed,
    own_model: Callable[[], EmbeddingModel | None],
    address: AddressSource,
) -> EmbeddedReplica:
    from skillroute.core.documents.index.embedded import EmbeddedReplica
    from skillroute.core.documents.index.replica_files import ThrowawayEdgeIndex, new_replica_dir
    from skillroute.core.documents.index.room import Room

    def make_edge(model: EmbeddingModel) -> VectorIndex:
        return ThrowawayEdgeIndex(new_replica_dir(settings.index_dir), model.dimension)

    def make_optimised(model: EmbeddingModel) -> Built:
        from skillroute.core.documents.index.child_build import build_in_child

        return build_in_child(address(), settings.index_dir, model, make_feed=f"{__name__}:{make_feed.__name__}")

    return EmbeddedReplica(
        feed,
        make_edge,
        own_model,
        make_optimised=make_optimised if settings.index_optimize_above else None,
        optimise_above=settings.index_optimize_above,
        room=Room(settings.index_dir),
    )


def _readable(key: str | Secret | None) -> str | None:
    if key is None or isinstance(key, str):
        return key
    try:
        return key.read()
    except SecretUnavailable as error:  # an index that cannot be reached degrades a search, and does not end it
        raise IndexUnavailable(f"the Qdrant server cannot be reached: {error}") from error
