"""Writing servers with their tools, and agents: each whole or not at all, unchanged ones left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from skillroute.catalogue.known_requests import NOTHING_KNOWN, KnownRequests
from skillroute.core.bulk.versions import Expected, OneWrite, as_answered
from skillroute.core.bulk.write import Kind, Writer, write_many
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.observability import Metric
from skillroute.registry.access import own_entity, visible_entity
from skillroute.registry.model import Entity, EntityKind
from skillroute.registry.report import EntityOutcome, RegistryReport
from skillroute.registry.schemas import MAX_ENTITIES, refuse_misspelt, registry_warnings
from skillroute.registry.write import READ, EntitySteps

_KINDS: dict[EntityKind, Kind[EntityOutcome]] = {
    kind: Kind(
        noun=kind,
        most=MAX_ENTITIES,
        identity=("path", "path"),
        outcome=EntityOutcome,
        metrics=(Metric.ENTITIES_WRITTEN, Metric.ENTITIES_FAILED),
        texts="items",
        warnings=partial(registry_warnings, kind),
    )
    for kind in READ
}


@dataclass(frozen=True, slots=True)
class SyncRegistry:
    """`PUT /api/v1/servers` and `PUT /api/v1/agents`; see `EntitySteps`."""

    writer: Writer
    known: KnownRequests = NOTHING_KNOWN

    def __call__(
        self, kind: EntityKind, entities: Sequence[object], caller: Caller, *, dry_run: bool = False
    ) -> RegistryReport:
        """Create or change servers or agents of the caller's organisation, `MAX_ENTITIES` at most; see `write_many`.

        A server's tools become those given, if any are: what is not among them is removed from the catalogue, and what
        is the same keeps its id, its skills and its vector.
        """
        return self._write(kind, entities, caller, dry_run=dry_run)

    def one(
        self, kind: EntityKind, entity_id: int, raw: Mapping[str, object], caller: Caller, expected: Expected | None
    ) -> Entity:
        """Write one server or agent of the caller's organisation over, and return it as it was stored.

        Parameters
        ----------
        raw : mapping
            It whole; without its path, which stays, or with the same.

        Raises
        ------
        InvalidInput
            A field's value is not allowed, or the path is another one's.
        NotFound, Forbidden
            There is none, or it is not the caller's.
        VersionConflict
            It is not the version that is expected.
        """
        path = self.writer.database.read(lambda session: own_entity(session, kind, entity_id, caller)).content.path
        if READ[kind](raw).content.path != path:
            if "path" in raw:
                raise InvalidInput("path", f"must be {path}, as the path of a {kind} cannot change, or be left out")
            raw = {**raw, "path": path}
        refuse_misspelt(kind, raw)
        if expected is not None and kind == "server" and raw.get("tools") is not None:
            raise InvalidInput(
                "tools",
                "have versions of their own: leave them out of a request with If-Match, and write them by their ids",
            )
        one: OneWrite[Entity] = OneWrite(entity_id, expected)
        [outcome] = self._write(kind, [raw], caller, one).outcomes
        if outcome.status == "failed" or one.written is None:
            raise InvalidInput.of(outcome.problems)
        return as_answered(
            one.written,
            lambda: self.writer.database.read(lambda session: visible_entity(session, kind, entity_id, caller)),
        )

    def _write(
        self,
        kind: EntityKind,
        entities: Sequence[object],
        caller: Caller,
        one: OneWrite[Entity] | None = None,
        *,
        dry_run: bool = False,
    ) -> RegistryReport:
        steps = EntitySteps(kind, self.writer.database, caller, self.known, one)
        return write_many(self.writer, _KINDS[kind], entities, steps, caller, dry_run=dry_run)
