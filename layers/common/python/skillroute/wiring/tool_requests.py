"""The use cases that write requests with a language model."""

from __future__ import annotations

from skillroute.catalogue.set_requests import SetRequests
from skillroute.core.documents.replica_port import LendsIndex
from skillroute.registry.servers import RegisteredServers
from skillroute.skills.tool_requests.in_bulk import RequestsInBulk
from skillroute.skills.tool_requests.nearest import NearestTools
from skillroute.skills.tool_requests.write import WriteRequests
from skillroute.wiring.parts import CoreParts


class RequestUseCases:
    """Checking requests against the tools that are there, and storing them."""

    def __init__(self, core: CoreParts) -> None:
        self.index = _index(core)
        nearest = NearestTools(self.index, core.query_embedder, core.database)
        self.write = WriteRequests(nearest, SetRequests(core.writer, RegisteredServers()))
        self.in_bulk = RequestsInBulk(core.database, self.write)


def _index(core: CoreParts) -> LendsIndex:
    """Return the index that requests are checked with.

    Functions that write have no replica of their own, nor the layer of one: PostgreSQL answers them.
    """
    if core.settings.lambda_function is None or core.settings.index_kind in ("server", "postgres"):
        return core.replica
    from skillroute.core.documents.index.postgres_replica import PostgresReplica
    from skillroute.wiring.index import cutters

    return PostgresReplica(core.pool, core.query_embedder.model, cutters())
