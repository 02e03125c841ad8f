"""Who asks, and what they may see (decisions 26 and 27)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skillroute.core.rights.decide import EVERYTHING, Rights


class Scope(StrEnum):
    """The rights that a token may have. `ADMIN` includes all of them."""

    SEARCH = "search"
    CATALOG = "catalog"
    SKILLS = "skills"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Caller:
    """The organisation and scopes of a token. The organisation never comes from a request's body.

    A caller sees global items (no organisation) and those of its own organisation, and changes only its own.
    """

    org_id: str | None = None
    scopes: frozenset[Scope] = frozenset()
    name: str | None = None  # the token's subject, for the record of who decided
    agent: str | None = None  # the mail agent that the token speaks for: its projects' mail is what the caller may see
    roles: frozenset[str] = frozenset()  # those that rules of access name, and groups (docs/access.md)
    groups: frozenset[str] = frozenset()
    is_person: bool = False  # whether the name is one subject's: a role's is shared by all who may assume it
    rights: Rights = EVERYTHING  # the rules about it, looked up where a request comes in (core/rights)

    def may(self, scope: Scope) -> bool:
        """Return whether the token allows `scope`."""
        return scope in self.scopes or Scope.ADMIN in self.scopes

    @property
    def is_operator(self) -> bool:
        """Whether it may look at all mail of its organisation, and at how a search is run."""
        return Scope.ADMIN in self.scopes

    @property
    def runs_deployment(self) -> bool:
        """Whether it may see numbers of all organisations together: an operator that belongs to none of them."""
        return self.is_operator and self.org_id is None

    @property
    def visible_orgs(self) -> tuple[str | None, ...]:
        """The organisations whose items this caller sees; None stands for global items."""
        return (None,) if self.org_id is None else (None, self.org_id)


VISITOR = Caller(org_id=None, scopes=frozenset({Scope.SEARCH}))
"""The caller of no known identity, where a route is open to all: it sees global objects."""

LAPTOP = Caller(org_id=None, scopes=frozenset({Scope.ADMIN}))
"""The caller where nothing checks: on the laptop, global items and every scope."""
