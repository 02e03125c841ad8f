"""From rules to the rights of a caller, and the answer of rules about one object."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from skillroute.core.rights.model import Facts, Rule


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer of rules about one object.

    Attributes
    ----------
    rule : Rule or None
        The one that decided; None where no rule is about the object.
    """

    allowed: bool
    rule: Rule | None
    reason: str


@dataclass(frozen=True, slots=True)
class Rights:
    """The rules that are about one caller. Equal rights let the same be found.

    Attributes
    ----------
    denying, allowing : tuple of Rule
        Deny wins.
    is_closed : bool
        Some rule of the organisation, or of the deployment, allows, be it to other callers: what no rule allows this
        caller is denied.
    own_keys : tuple of (skill id, key)
        Of the organisation's own tool groups that stand in the place of a global one. Any other id is its own key.
    """

    denying: tuple[Rule, ...] = ()
    allowing: tuple[Rule, ...] = ()
    is_closed: bool = False
    own_keys: tuple[tuple[str, str], ...] = ()

    @property
    def are_limited(self) -> bool:
        """Whether there is anything that they may deny."""
        return bool(self.denying) or self.is_closed

    def allows(self, facts: Facts) -> Decision:
        """Return whether the caller may find and call an item."""
        return self._decide(lambda rule: rule.covers(facts), lambda rule: rule.covers(facts))

    def allows_server(self, *names: str) -> Decision:
        """Return whether the caller may find a server that is called so. A path is the name behind a slash.

        A rule that also names tools, groups or hints denies some of its tools, and not the server.
        """
        called = {name.removeprefix("/") for name in names}

        def is_about(rule: Rule) -> bool:
            return not rule.about.servers or not called.isdisjoint(rule.about.servers)

        return self._decide(lambda rule: denies_servers(rule) and is_about(rule), is_about)

    def allows_skill(self, skill_id: str) -> Decision:
        """Return whether the caller may find a tool group.

        A rule that also names servers, tools or hints denies some of its tools, and not the group.
        """

        def is_about(rule: Rule) -> bool:
            return not rule.about.skills or skill_id in rule.about.skills

        return self._decide(lambda rule: denies_skills(rule) and is_about(rule), is_about)

    def key_of(self, skill_id: str) -> str:
        """Return the key of the tool group that the caller sees by an id."""
        return dict(self.own_keys).get(skill_id, skill_id)

    def as_json(self) -> str | None:
        """Return the rights as `mcp.items_seen_by` and its like take them; None where nothing is denied."""
        if not self.are_limited:
            return None
        return json.dumps(
            {
                "deny": [self._as_json(rule) for rule in self.denying],
                **({"allow": [self._as_json(rule) for rule in self.allowing]} if self.is_closed else {}),
            }
        )

    def _as_json(self, rule: Rule) -> dict[str, list[str]]:
        about = rule.about
        given: dict[str, list[str]] = {
            "servers": list(about.servers),
            "tools": list(about.tools),
            "skills": [self.key_of(skill_id) for skill_id in about.skills],
            "skill_ids": list(about.skills),
            "hints": [*about.hints],
        }
        return {name: values for name, values in given.items() if values}

    def _decide(self, denies: Callable[[Rule], bool], allows: Callable[[Rule], bool]) -> Decision:
        for rule in self.denying:
            if denies(rule):
                return Decision(False, rule, f"Rule {rule.id} ({rule.name!r}) denies it.")
        if not self.is_closed:
            return Decision(True, None, "No rule denies it, and no rule allows anything, so all else is allowed.")
        for rule in self.allowing:
            if allows(rule):
                return Decision(True, rule, f"Rule {rule.id} ({rule.name!r}) allows it, and no rule denies it.")
        return Decision(False, None, "There are rules that allow, and none of them allows it to this caller.")


EVERYTHING = Rights()
"""The rights of a caller that no rule is about."""


def denies_servers(rule: Rule) -> bool:
    """Return whether a denying rule is about servers as a whole."""
    return not (rule.about.tools or rule.about.skills or rule.about.hints)


def denies_skills(rule: Rule) -> bool:
    """Return whether a denying rule is about tool groups as a whole."""
    return not (rule.about.servers or rule.about.tools or rule.about.hints)


def rights_of(
    rules: Iterable[Rule],
    *,
    roles: frozenset[str],
    groups: frozenset[str],
    is_exempt: bool = False,
    own_keys: Mapping[str, str] | None = None,
) -> Rights:
    """Return the rights of a caller.

    Parameters
    ----------
    rules : iterable of Rule
        All that apply to its organisation: its own and the deployment's.
    is_exempt : bool
        Whether no rule is about the caller: who has the scope `admin` keeps the rules.
    own_keys : mapping, optional
        See `Rights`.
    """
    if is_exempt:
        return EVERYTHING
    known = sorted(rules, key=lambda rule: rule.id)
    meant = [rule for rule in known if rule.means(roles, groups)]
    rights = Rights(
        denying=tuple(rule for rule in meant if rule.effect == "deny"),
        allowing=tuple(rule for rule in meant if rule.effect == "allow"),
        is_closed=any(rule.effect == "allow" for rule in known),
        own_keys=tuple(sorted((own_keys or {}).items())),
    )
    return rights if rights.are_limited else EVERYTHING
