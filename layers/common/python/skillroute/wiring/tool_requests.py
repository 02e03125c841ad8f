"""Wires the use cases that write requests with a language model."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.wiring.registry import RegistryParts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillroute.core.documents.replica_port import LendsIndex
    from skillroute.skills.tool_requests.drafted import Drafted
    from skillroute.skills.tool_requests.in_bulk import RequestsInBulk
    from skillroute.skills.tool_requests.write import WriteRequests


class RequestParts(RegistryParts):
    """Checking requests against the tools that are there, and storing them."""

    @cached_property
    def requests_index(self) -> LendsIndex:
        """The index that requests are checked with.

        Functions that write have no replica of their own, nor the layer of one: PostgreSQL answers them.
        """
        if self.settings.lambda_function is None or self.settings.index_kind in ("server", "postgres"):
            return self.replica
        from skillroute.core.documents.index.postgres_replica import PostgresReplica
        from skillroute.wiring.index import cutters

        return PostgresReplica(self.pool, self.query_embedder.model, cutters())

    @cached_property
    def write_requests(self) -> WriteRequests:
        from skillroute.catalogue.set_requests import SetRequests
        from skillroute.skills.tool_requests.nearest import NearestTools
        from skillroute.skills.tool_requests.write import WriteRequests

        nearest = NearestTools(self.requests_index, self.query_embedder, self.database)
        return WriteRequests(nearest, SetRequests(self.writer, self.servers))

    def write_drafted(self, drafted: Sequence[Drafted], org_id: str | None) -> None:
        """Write requests that came with classifications; what it takes is made for the first of them."""
        self.write_requests(drafted, org_id)

    @cached_property
    def requests_in_bulk(self) -> RequestsInBulk:
        from skillroute.skills.tool_requests.in_bulk import RequestsInBulk

        return RequestsInBulk(self.database, self.write_requests)
