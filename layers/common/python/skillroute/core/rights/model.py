"""Rules of access, and what they are asked of."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

Effect = Literal["allow", "deny"]

Hint = Literal["read_only", "not_read_only", "destructive"]

HINTS: tuple[Hint, ...] = get_args(Hint)

MAX_RULES = 200
"""The most rules that one owner has: each is a condition of every search."""


@dataclass(frozen=True, slots=True)
class About:
    """The servers, tools, skills and hints that a rule is about: all of them must fit, one value of each is enough.

    Attributes
    ----------
    servers : tuple of str
        Names, as tools have them, or of the registered server that these mean; a path's slash in front is none of the
        name. Empty: any.
    tools : tuple of str
        Names of tools, prompts and resources, or ``server/name``. Empty: any.
    skills : tuple of str
        Ids of tool groups. Empty: any, and none.
    hints : tuple of str
        Of annotations (`core.rights.hints`). Empty: any.
    """

    servers: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    hints: tuple[Hint, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of access.

    Attributes
    ----------
    org_id : str or None
        Its owner. None: the deployment, whose rules apply to all.
    roles, groups : tuple of str
        A caller with one of the roles, or in one of the groups, is meant. Both empty: every caller.
    """

    id: int
    org_id: str | None
    name: str
    effect: Effect
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    about: About = About()
    created_at: datetime | None = field(default=None, compare=False)
    created_by: str | None = field(default=None, compare=False)

    def means(self, roles: frozenset[str], groups: frozenset[str]) -> bool:
        """Return whether the rule is about a caller that has these roles and groups."""
        if not self.roles and not self.groups:
            return True
        return not roles.isdisjoint(self.roles) or not groups.isdisjoint(self.groups)

    def covers(self, facts: Facts) -> bool:
        """Return whether the rule is about an item."""
        about = self.about
        return (
            (not about.servers or not facts.servers.isdisjoint(about.servers))
            and (not about.tools or not facts.names.isdisjoint(about.tools))
            and (not about.skills or not facts.skill_ids.isdisjoint(about.skills))
            and (not about.hints or not facts.hints.isdisjoint(about.hints))
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """The properties of an item that rules are asked of.

    Attributes
    ----------
    server : str
        "" for none.
    skill_ids : frozenset of str
        Its active tool groups, as the caller sees them.
    registered_as : frozenset of str
        Path and name of the registered server that `server` means, on which it is called; a path has no slash in front.
    """

    server: str
    name: str
    skill_ids: frozenset[str]
    hints: frozenset[Hint]
    registered_as: frozenset[str] = frozenset()

    @property
    def servers(self) -> frozenset[str]:
        """The names that a rule may have for its server; `mcp.rule_servers` is the same in SQL."""
        return self.registered_as | {self.server.removeprefix("/")}

    @property
    def names(self) -> frozenset[str]:
        """The names that a rule may have for it; `mcp.rule_names` is the same in SQL."""
        if not self.server:
            return frozenset({self.name})
        return frozenset({self.name, *(f"{server}/{self.name}" for server in self.servers)})
