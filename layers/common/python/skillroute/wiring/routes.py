"""The routes of each function, and the use cases that they ask their app for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from skillroute.core.http.auth import Access
from skillroute.core.http.lanes import Lanes
from skillroute.core.rationing.work import Work

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.wiring.use_cases import Parts


class Served(NamedTuple):
    """The routes of an app, and its use cases by type."""

    routers: list[APIRouter]
    use_cases: dict[type, object]


def served(parts: Parts, *functions: str) -> Served:
    """Return what some functions serve: `search`, `catalog`, `skills` or `mcp`; all of it where none is named."""
    routers: list[APIRouter] = []
    use_cases: dict[type, object] = {Access: parts.access, Lanes: parts.lanes, Work: parts.work}
    for name in functions or _FUNCTIONS:
        its_routers, its_use_cases = _FUNCTIONS[name](parts)
        routers += its_routers
        use_cases |= {type(each): each for each in its_use_cases}
    return Served(routers, use_cases)


def _search(parts: Parts) -> tuple[list[APIRouter], list[object]]:
    from skillroute.agent_skills.search import routes as agent_skills
    from skillroute.core.documents.refused import RefusedTexts
    from skillroute.core.http import health, verify_routes
    from skillroute.core.settings import SearchSettings
    from skillroute.mail.search import routes as messages
    from skillroute.mail.search.tools import routes as message_tools
    from skillroute.registry.search import routes as registry
    from skillroute.search import routes as tools
    from skillroute.search.batch import routes as batch

    settings = parts.of(SearchSettings)
    report = health.HealthReport(
        parts.replica,
        parts.query_embedder,
        RefusedTexts(parts.database).count,
        settings.default_mode,
        parts.recent_searches,
        reranks=settings.rerank_provider != "none",
    )
    slices = (tools, batch, registry, agent_skills, messages, message_tools, verify_routes, health)
    routers = [each.router for each in slices]
    of_tools = [parts.tool_search, parts.batch_search, batch.SearchBatches()]
    searches = [*of_tools, parts.registry_search, parts.agent_skill_search]
    return routers, [*searches, *vars(parts.messages).values(), parts.verify, report]


def _catalog(parts: Parts) -> tuple[list[APIRouter], list[object]]:
    from skillroute.access import routes as access
    from skillroute.agent_skills import routes as agent_skills
    from skillroute.catalogue import routes as catalogue
    from skillroute.catalogue.trust import routes as trust
    from skillroute.core.http import portable_routes, trace_routes
    from skillroute.core.trace.repository import ReadTrace
    from skillroute.identity import routes as identity
    from skillroute.learning.outcomes import routes as outcomes
    from skillroute.learning.review import routes as review
    from skillroute.learning.states import routes as states
    from skillroute.mail import routes as mail
    from skillroute.registry import routes as registry
    from skillroute.registry.published import routes as published

    slices = (
        parts.catalogue,
        parts.registry,
        parts.agent_skills,
        parts.mail,
        parts.learning,
        parts.identity,
        parts.portable,
        parts.rights,
    )
    of_learning = (outcomes, review, states)
    of_items = (catalogue, trust, registry, identity, published, agent_skills, mail)
    routers = [each.router for each in (*of_items, *of_learning, access, portable_routes, trace_routes)]
    routers.append(identity.open_router)
    return routers, [ReadTrace(parts.database), *(use_case for each in slices for use_case in vars(each).values())]


def _skills(parts: Parts) -> tuple[list[APIRouter], list[object]]:
    from skillroute.skills import routes as skills
    from skillroute.skills.assignments import routes as assignments
    from skillroute.skills.classification import routes as classification
    from skillroute.skills.suggestions import routes as suggestions

    # Suggestions before the skills: /skills/suggestions is no skill.
    routers = [each.router for each in (suggestions, classification, skills, assignments)]
    return routers, [*vars(parts.skills).values(), *vars(parts.classification).values()]


def _mcp(parts: Parts) -> tuple[list[APIRouter], list[object]]:
    return [parts.mcp.router()], []


_FUNCTIONS: dict[str, Callable[[Parts], tuple[list[APIRouter], list[object]]]] = {
    "search": _search,
    "catalog": _catalog,
    "skills": _skills,
    "mcp": _mcp,
}
