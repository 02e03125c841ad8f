"""The rows of mcp.access_rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillroute.core.postgres.database import Session
from skillroute.core.rights.model import About, Rule


class RuleRepository:
    """Rules of access: an organisation's own, and the deployment's, which all are under and none but it changes."""

    def __init__(self, session: Session) -> None:
        self._run = session.run

    def in_force(self, org_id: str | None) -> list[Rule]:
        """Return the rules that apply to an organisation, by id."""
        return [_to_rule(row) for row in self._run("rules_in_force", org_id=org_id)]

    def own_keys(self, org_id: str | None, rules: Sequence[Rule]) -> dict[str, str]:
        """Return the keys of the tool groups that rules name and the organisation has of its own."""
        ids = sorted({skill_id for rule in rules for skill_id in rule.about.skills})
        if org_id is None or not ids:
            return {}
        return dict(self._run("own_skill_keys", org_id=org_id, ids=ids))

    def get(self, rule_id: int, org_id: str | None) -> Rule | None:
        """Return a rule that applies to an organisation."""
        rows = self._run("access_rule", id=rule_id, org_id=org_id)
        return _to_rule(rows[0]) if rows else None

    def count(self, org_id: str | None) -> int:
        """Return how many rules are of exactly this owner; no other writer adds one to the end of the transaction."""
        self._run("lock_access_rules", org_id=org_id)
        [[count]] = self._run("count_access_rules", org_id=org_id)
        return int(count)

    def insert(self, rule: Rule) -> Rule:
        """Store a new rule; its number comes back with it."""
        [row] = self._run("insert_access_rule", **_columns(rule), created_by=rule.created_by)
        return _to_rule(row)

    def replace(self, rule: Rule) -> Rule | None:
        """Write a rule over the one of its number, of exactly this owner; None when there is none."""
        rows = self._run("replace_access_rule", **_columns(rule), id=rule.id)
        return _to_rule(rows[0]) if rows else None

    def delete(self, rule_id: int, org_id: str | None) -> bool:
        """Delete a rule of exactly this owner; False when there is none."""
        return bool(self._run("delete_access_rule", id=rule_id, org_id=org_id))

    def unknown(self, rule: Rule) -> dict[str, list[str]]:
        """Return the values of a rule, by field, that nothing is called that its owner sees."""
        about = rule.about
        # The last part of a name is looked up by, with all before it as its server; names may have slashes, too.
        names = sorted({part for name in about.tools for part in possible_names(name)})
        found: dict[str, list[str]] = {}
        rows = self._run(
            "unknown_in_rules",
            org_id=rule.org_id,
            servers=list(about.servers),
            tools=list(about.tools),
            names=names,
            skills=list(about.skills),
        )
        for field, value in rows:
            found.setdefault(field, []).append(value)
        return found

    def items_called(self, name: str, org_id: str | None, *, limit: int) -> list[int]:
        """Return the ids of the items that a rule may mean by a name, denied ones too."""
        rows = self._run("items_of_rule_name", org_id=org_id, name=name, names=possible_names(name), limit=limit)
        return [row[0] for row in rows]

    def seen_by_server(self, org_id: str | None, rights: str | None) -> list[tuple[str, int, int]]:
        """Return by server how many active items there are, and how many of them a caller with rights sees."""
        return [
            (server, total, seen) for server, total, seen in self._run("seen_by_server", org_id=org_id, rights=rights)
        ]


def possible_names(name: str) -> list[str]:
    """Return what an item may be called that a rule calls so: all of it, or what is behind one of its slashes.

    Examples
    --------
    >>> possible_names("acme/github/list")
    ['acme/github/list', 'github/list', 'list']
    """
    parts = name.split("/")
    return ["/".join(parts[place:]) for place in range(len(parts))]


def _columns(rule: Rule) -> Mapping[str, Any]:
    about = rule.about
    return {
        "org_id": rule.org_id,
        "name": rule.name,
        "effect": rule.effect,
        "roles": list(rule.roles),
        "groups": list(rule.groups),
        "servers": list(about.servers),
        "tools": list(about.tools),
        "skills": list(about.skills),
        "hints": list(about.hints),
    }


def _to_rule(row: Sequence[Any]) -> Rule:
    id_, org_id, name, effect, roles, groups, servers, tools, skills, hints, created_at, created_by = row
    about = About(tuple(servers), tuple(tools), tuple(skills), tuple(hints))
    return Rule(id_, org_id, name, effect, tuple(roles), tuple(groups), about, created_at, created_by)
