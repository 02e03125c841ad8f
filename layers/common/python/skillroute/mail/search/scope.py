"""The scope of a search: the caller's rights, narrowed by the request's own scope (message-search, section 6).

Rights come from the token and are a filter inside the engine: what they exclude is never scored, counted, redacted or
mentioned, and what does not exist looks the same. The request's scope narrows the rights and never adds to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from skillroute.core.caller import Caller
from skillroute.core.postgres.database import Database, Session
from skillroute.mail.model import agent_key
from skillroute.mail.repository import MailRepository
from skillroute.mail.search.facets import Facets
from skillroute.mail.search.model import (
    CallerScoped,
    MailFilter,
    MessageSearchRequest,
    ProjectScoped,
    Redaction,
    ScopePolicy,
)

Projects = tuple[int, ...] | None
"""Ids of projects, ascending; None stands for all."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """The rights, scope and filters that a search runs with.

    Attributes
    ----------
    policy : ScopePolicy
        As it is in effect: a caller that is no operator is scoped, whatever it asked for.
    rights : tuple of int or None
        The projects that the caller may see.
    requested : tuple of int or None
        Those of them that the request asks for; None where it names none.
    redaction : Redaction or None
        What to show of results outside the scope; None to leave them out.
    searched : MailFilter
        What the engines are asked for.
    unscoped : MailFilter
        The same without the scope.
    """

    policy: ScopePolicy
    rights: Projects
    requested: Projects
    redaction: Redaction | None
    searched: MailFilter
    unscoped: MailFilter

    @property
    def leaves_out(self) -> bool:
        """Whether the scope, rather than a placeholder, hides results."""
        return self.requested is not None and self.redaction is None


def search_scope(database: Database, request: MessageSearchRequest, caller: Caller, facets: Facets) -> SearchScope:
    """Look up what a search may look at. Raises `DatabaseUnavailable`."""
    needs_rows = not caller.is_operator or isinstance(request.scope, CallerScoped) or facets.product_id is not None
    if not needs_rows:
        return _search_scope(request, caller, facets, rights=None, of_agent=(), of_product=None)

    def read(session: Session) -> SearchScope:
        rights = MailRepository(session).may_see(caller)
        of_agent: list[int] = []
        if isinstance(request.scope, CallerScoped):
            name = request.scope.caller_scoped.caller_agent
            of_agent = MailRepository(session).projects_of_agent(agent_key(name), caller.org_id)
        of_product = None
        if facets.product_id is not None:
            of_product = MailRepository(session).projects_of_product(facets.product_id, caller.org_id)
        return _search_scope(request, caller, facets, rights=rights, of_agent=of_agent, of_product=of_product)

    return database.read(read)


def _search_scope(
    request: MessageSearchRequest,
    caller: Caller,
    facets: Facets,
    *,
    rights: Iterable[int] | None,
    of_agent: Iterable[int],
    of_product: Iterable[int] | None,
) -> SearchScope:
    policy, asked_for = _asked_for(request, caller, of_agent)
    may = within(rights)
    requested = None if asked_for is None else within(asked_for, may)
    wanted = (facets.project_id,) if facets.project_id is not None else of_product
    if facets.contradict:
        wanted = ()
    redaction = request.redaction if request.redaction is not None and request.redaction.is_active else None
    unscoped = replace(facets.where, project_ids=within(may, wanted))
    searched = unscoped
    if redaction is None and requested is not None:
        searched = replace(facets.where, project_ids=within(may, wanted, requested))
    return SearchScope(policy, may, requested, redaction, searched, unscoped)


def _asked_for(
    request: MessageSearchRequest, caller: Caller, of_agent: Iterable[int]
) -> tuple[ScopePolicy, Iterable[int] | None]:
    if isinstance(request.scope, CallerScoped):
        return "caller_scoped", of_agent
    if isinstance(request.scope, ProjectScoped):
        return "project_set", request.scope.project_set.allowed_project_ids
    return ("unrestricted" if caller.is_operator else "caller_scoped"), None


def within(*restrictions: Iterable[int] | None) -> Projects:
    """Return the projects that pass all restrictions; None is none.

    Examples
    --------
    >>> within(None, [3, 1, 2], (2, 3)), within(None)
    ((2, 3), None)
    """
    sets = [frozenset(restriction) for restriction in restrictions if restriction is not None]
    return tuple(sorted(frozenset.intersection(*sets))) if sets else None
