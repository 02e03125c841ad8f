"""The protocol by which writes of items update servers. The registry implements it, and the wiring joins them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from skillroute.core.documents.embed import Waiting
from skillroute.core.postgres.database import Session


class ServersOfItems(Protocol):
    """The servers whose tools, prompts and resources are written: a server is found by what its tools say, too."""

    def lock(self, session: Session, org_id: str | None, names: Sequence[str]) -> list[int]:
        """Lock an organisation's servers of these names to the end of the transaction; return their ids.

        Before any of their items is written: of two who write tools of one server, the second sees those of the first.
        """
        ...

    def disabled(self, session: Session, server_ids: Sequence[int]) -> set[str]:
        """Return the names of those of these servers that are disabled, and with them all their items."""
        ...

    def refresh(self, session: Session, server_ids: Sequence[int]) -> None:
        """Derive, within the transaction, what servers are found by, once their tools are written."""
        ...

    def waiting(self, server_ids: Sequence[int]) -> Waiting:
        """Return the documents of these servers, which may have no vector after the transaction."""
        ...
