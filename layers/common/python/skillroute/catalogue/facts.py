"""The properties of an item that rules of access are asked of."""

from __future__ import annotations

from collections.abc import Iterable

from skillroute.catalogue.model import Item, ItemContent
from skillroute.core.rights.hints import hints_of
from skillroute.core.rights.model import Facts


def facts_of(content: ItemContent, skill_ids: Iterable[str], registered_as: Iterable[str] = ()) -> Facts:
    """Return what rules ask of an item that has some tool groups."""
    key = content.key
    return Facts(
        key.server, key.name, frozenset(skill_ids), hints_of(key.type, content.annotations), frozenset(registered_as)
    )


def facts_of_item(item: Item, registered_as: Iterable[str]) -> Facts:
    """Return what rules ask of an item as a caller with all rights reads it: `skill_ids` are those that it sees.

    `registered_as` are the names of its server (`ItemRepository.rule_servers`).
    """
    return facts_of(item.content, item.skill_ids, registered_as)
