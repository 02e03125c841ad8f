"""Which servers and agents a caller sees and which it may change: the same errors everywhere (decisions 26)."""

from __future__ import annotations

from skillroute.core.caller import Caller
from skillroute.core.errors import Forbidden, NotFound
from skillroute.core.postgres.database import Session
from skillroute.registry.model import Entity, EntityKind
from skillroute.registry.repository import RegistryRepository


def visible_entity(session: Session, kind: EntityKind, entity_id: int, caller: Caller) -> Entity:
    """Return a server or an agent. Raises `NotFound`, also when it is another organisation's."""
    entity = RegistryRepository(session).get(kind, entity_id, caller.org_id)
    if entity is None:
        raise NotFound(f"no {kind} with id {entity_id}")
    return entity


def own_entity(session: Session, kind: EntityKind, entity_id: int, caller: Caller) -> Entity:
    """Return a server or an agent that the caller may change. Raises `NotFound`, and `Forbidden` when it is global."""
    entity = visible_entity(session, kind, entity_id, caller)
    if entity.org_id != caller.org_id:
        raise Forbidden(f"{kind} {entity_id} is global; organisations change only their own")
    return entity
