"""Servers and agents as lines, and lines as servers and agents (docs/adr/0052).

A line is what `GET` answers: the document as it came, and whether it is enabled. A server's tools are lines of their
own.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.core.caller import Caller
from skillroute.core.portable.model import ExportedRow, Line, Slice
from skillroute.core.postgres.database import Session
from skillroute.registry.model import EntityKind
from skillroute.registry.report import RegistryReport
from skillroute.registry.schemas import MAX_ENTITIES
from skillroute.registry.sync import SyncRegistry

_DOCUMENT: dict[EntityKind, str] = {"server": "server_json", "agent": "agent_card"}


class PortableEntities:
    """Lines of kind `server` or `agent`."""

    most = MAX_ENTITIES

    def __init__(self, kind: EntityKind, sync: SyncRegistry) -> None:
        self._kind: EntityKind = kind
        self._sync = sync

    @property
    def kind(self) -> str:
        return self._kind

    def version(self, session: Session, org_id: str | None) -> str:
        found: str = session.run("version_of_entities", org_id=org_id, kind=self._kind)[0][0]
        return found

    def page(self, session: Session, where: Slice) -> list[ExportedRow]:
        return [
            ExportedRow(nth, {"path": path, "is_enabled": is_enabled, _DOCUMENT[self._kind]: document})
            for nth, path, is_enabled, document in session.run("exported_entities", kind=self._kind, **where.params)
        ]

    def write(self, lines: Sequence[Line], caller: Caller, *, dry_run: bool) -> RegistryReport:
        return self._sync(self._kind, lines, caller, dry_run=dry_run)
