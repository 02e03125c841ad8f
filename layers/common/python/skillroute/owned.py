"""What a caller sees and what it may change: one look, the same errors everywhere (decisions 26)."""

from __future__ import annotations

from skillroute.catalogue.model import Item
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.caller import Caller
from skillroute.core.errors import Forbidden, NotFound
from skillroute.core.postgres.database import Session
from skillroute.registry.model import Entity, EntityKind
from skillroute.registry.repository import RegistryRepository
from skillroute.skills.model import Skill
from skillroute.skills.repository import SkillRepository


def visible_item(session: Session, item_id: int, caller: Caller) -> Item:
    """Return an item. Raises `NotFound`, also when it is another organisation's."""
    item = ItemRepository(session).get(item_id, caller.org_id)
    if item is None:
        raise NotFound(f"no item with id {item_id}")
    return item


def own_item(session: Session, item_id: int, caller: Caller) -> Item:
    """Return an item that the caller may change. Raises `NotFound`, and `Forbidden` when it is global."""
    item = visible_item(session, item_id, caller)
    if item.org_id != caller.org_id:
        raise Forbidden(f"item {item_id} is global; organisations change only their own")
    return item


def visible_skill(session: Session, skill_id: str, caller: Caller) -> Skill:
    """Return a skill. Raises `NotFound`, also when it is deleted or another organisation's."""
    skill = SkillRepository(session).get(skill_id, caller.org_id)
    if skill is None:
        raise NotFound(f"no skill with id {skill_id}")
    return skill


def own_skill(session: Session, skill_id: str, caller: Caller) -> Skill:
    """Return a skill that the caller may change. Raises `NotFound`, and `Forbidden` when it is global."""
    skill = visible_skill(session, skill_id, caller)
    if skill.org_id != caller.org_id:
        raise Forbidden(f"skill {skill_id} is global; organisations change only their own")
    return skill


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
