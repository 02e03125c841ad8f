"""Reading, deleting, enabling and disabling servers and agents."""

from __future__ import annotations

from skillroute.catalogue.repository import ItemRepository
from skillroute.core.access import not_found
from skillroute.core.bulk.versions import Expected
from skillroute.core.caller import Caller
from skillroute.core.listing import Listed, Order
from skillroute.core.postgres.database import Database, Session
from skillroute.registry.access import locked_entity, own_entity, visible_entity
from skillroute.registry.model import Entity, EntityFilter, EntityKind
from skillroute.registry.refresh import refresh
from skillroute.registry.repository import RegistryRepository


class Registry:
    """`/api/v1/servers` and `/api/v1/agents`, but for writing them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, where: EntityFilter, caller: Caller, *, limit: int, offset: int) -> tuple[list[Entity], int]:
        """Return a page of the entities that the caller sees, by path, and how many there are in all."""
        return self._database.read(
            lambda session: RegistryRepository(session).page(
                where, caller.org_id, limit=limit, offset=offset, rights=caller.rights
            )
        )

    def listed(self, where: EntityFilter, caller: Caller, order: Order, *, limit: int, offset: int) -> Listed[Entity]:
        """Return a page of the entities that the caller sees, in an order, and how many there are."""
        return self._database.read(
            lambda session: RegistryRepository(session).listed(
                where, caller.org_id, order, limit=limit, offset=offset, rights=caller.rights
            )
        )

    def get(self, kind: EntityKind, entity_id: int, caller: Caller) -> Entity:
        """Return an entity. Raises `NotFound`, also when it is another organisation's."""
        return self._database.read(lambda session: visible_entity(session, kind, entity_id, caller))

    def delete(self, kind: EntityKind, entity_id: int, caller: Caller, expected: Expected | None = None) -> None:
        """Delete an entity of the caller's organisation; a server's tools go with it.

        Raises
        ------
        NotFound
            No entity of the kind has the id, or it is another organisation's.
        Forbidden
            It is global and the caller belongs to an organisation.
        VersionConflict
            It is not the version that is expected.
        """

        def delete(session: Session) -> None:
            entity = locked_entity(session, kind, entity_id, caller, expected)
            registry = RegistryRepository(session)
            namesakes: list[int] = []
            if kind == "server":
                namesakes = registry.namesakes(entity_id)
                registry.lock(namesakes)
                # Its tools go first: those of a disabled server would else be switched on before they are deleted.
                for name in {entity.content.tools_server, *registry.names_of([entity_id]).get(entity_id, ())}:
                    ItemRepository(session).delete_others(caller.org_id, name, [])
            if not registry.delete(kind, entity_id, caller.org_id):
                raise not_found(kind, entity_id)  # another request was faster
            refresh(session, namesakes)  # what may have been another's before may be theirs now
            session.note_news()

        self._database.transact(delete)

    def set_enabled(
        self, kind: EntityKind, entity_id: int, caller: Caller, *, is_enabled: bool, expected: Expected | None = None
    ) -> Entity:
        """Enable or disable an entity of the caller's organisation, and return it. Raises as `delete` does."""

        def change(session: Session) -> Entity:
            if expected is None:
                own_entity(session, kind, entity_id, caller)
            else:
                locked_entity(session, kind, entity_id, caller, expected)
            RegistryRepository(session).set_enabled(kind, entity_id, caller.org_id, is_enabled=is_enabled)
            session.note_news()
            return visible_entity(session, kind, entity_id, caller)

        return self._database.transact(change)
