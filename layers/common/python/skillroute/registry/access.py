"""Which servers and agents a caller sees and which it may change: the same errors everywhere (decision 26)."""

from __future__ import annotations

from skillroute.core.access import own, visible
from skillroute.core.bulk.versions import Expected, check_version
from skillroute.core.caller import Caller
from skillroute.core.postgres.database import Session
from skillroute.registry.model import Entity, EntityKind
from skillroute.registry.repository import RegistryRepository


def visible_entity(session: Session, kind: EntityKind, entity_id: int, caller: Caller) -> Entity:
    """Return a server or an agent. Raises `NotFound`, also when it is another organisation's."""
    return visible(
        RegistryRepository(session).get(kind, entity_id, caller.org_id, rights=caller.rights), kind, entity_id
    )


def locked_entity(
    session: Session, kind: EntityKind, entity_id: int, caller: Caller, expected: Expected | None
) -> Entity:
    """Return a server or an agent that the caller may change, locked to the end of the transaction.

    Raises `NotFound` and `Forbidden`, and `VersionConflict` where it is not the version that is expected.
    """
    own_entity(session, kind, entity_id, caller)  # only one's own is locked
    RegistryRepository(session).lock([entity_id])
    entity = own_entity(session, kind, entity_id, caller)
    check_version(expected, entity.version, f"{kind} {entity_id}")
    return entity


def own_entity(session: Session, kind: EntityKind, entity_id: int, caller: Caller) -> Entity:
    """Return a server or an agent that the caller may change. Raises `NotFound`, and `Forbidden` when it is global."""
    return own(visible_entity(session, kind, entity_id, caller), caller, kind, entity_id)
