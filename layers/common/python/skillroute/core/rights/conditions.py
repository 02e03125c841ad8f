"""Rights as conditions of an index, so that a search never finds what it would have to take away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skillroute.core.documents.model import IndexFilter
from skillroute.core.rights.decide import Rights, denies_servers, denies_skills
from skillroute.core.rights.model import Rule


def seen_items(rights: Rights, where: IndexFilter) -> IndexFilter:
    """Return a condition on items, and on what the caller may find of them."""
    if not rights.are_limited:
        return where
    return replace(
        where,
        either=[_items(rights, rule) for rule in rights.allowing] if rights.is_closed else None,
        neither=[_items(rights, rule) for rule in rights.denying],
    )


def seen_servers(rights: Rights, where: IndexFilter) -> IndexFilter:
    """Return a condition on servers, and on what the caller may find of them."""
    denied = [rule.about.servers for rule in rights.denying if denies_servers(rule)]
    allowed = [rule.about.servers for rule in rights.allowing] if rights.is_closed else [()]
    return _named(where, "rule_names", denied, allowed)


def seen_skills(rights: Rights, where: IndexFilter) -> IndexFilter:
    """Return a condition on tool groups, and on what the caller may find of them."""
    denied = [rule.about.skills for rule in rights.denying if denies_skills(rule)]
    allowed = [rule.about.skills for rule in rights.allowing] if rights.is_closed else [()]
    return _named(where, "skill_id", denied, allowed)


def _items(rights: Rights, rule: Rule) -> IndexFilter:
    about = rule.about
    given: dict[str, list[str]] = {
        "rule_servers": list(about.servers),
        "rule_names": list(about.tools),
        "skill_keys": [rights.key_of(skill_id) for skill_id in about.skills],
        "hints": [*about.hints],
    }
    return IndexFilter({name: values for name, values in given.items() if values})


def _named(
    where: IndexFilter, field: str, denied: Sequence[tuple[str, ...]], allowed: Sequence[tuple[str, ...]]
) -> IndexFilter:
    """Return a condition on a field: none of the denied names, one of the allowed ones. No names are all there are."""
    any_of, none_of = dict(where.any_of), dict(where.none_of)
    if not all(denied):
        any_of[field] = []
    elif all(allowed):
        any_of[field] = [name for names in allowed for name in names]
    if denied:
        none_of[field] = [name for names in denied for name in names]
    return (
        where if (any_of, none_of) == (where.any_of, where.none_of) else replace(where, any_of=any_of, none_of=none_of)
    )
