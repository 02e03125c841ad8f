"""The registered servers of items that are written: implements `catalogue.servers.ServersOfItems`."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.core.documents.embed import Waiting
from skillroute.core.postgres.database import Session
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.refresh import refresh
from skillroute.registry.repository import RegistryRepository


class RegisteredServers:
    """The servers that are registered; of names that are not, there is nothing to do."""

    def lock(self, session: Session, org_id: str | None, names: Sequence[str]) -> list[int]:
        """Lock an organisation's servers of these names to the end of the transaction; return their ids."""
        return RegistryRepository(session).lock_servers(org_id, names)

    def disabled(self, session: Session, server_ids: Sequence[int]) -> set[str]:
        """Return the names of those of these servers that are disabled, and with them all their items."""
        return RegistryRepository(session).disabled_servers(server_ids) if server_ids else set()

    def refresh(self, session: Session, server_ids: Sequence[int]) -> None:
        """Derive, within the transaction, what servers are found by."""
        refresh(session, server_ids)

    def waiting(self, server_ids: Sequence[int]) -> Waiting:
        """Return the documents of these servers, which may have no vector after the transaction."""
        return Waiting(REGISTRY_DOCUMENTS, server_ids, "entities", is_own=False)
