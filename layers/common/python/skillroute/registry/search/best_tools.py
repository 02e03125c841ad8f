"""A server is also its best tool: the tools nearest to a query, and whose they are (docs/adr/0057)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.model import IndexFilter
from skillroute.core.documents.visibility import visible_to
from skillroute.core.embedding.model import EmbeddingModel, Vector, dot
from skillroute.core.postgres.database import Database, Session
from skillroute.core.rights.conditions import seen_items
from skillroute.registry.search.plan import RegistryPlan
from skillroute.registry.search.repository import RegistryScope, RegistrySearchRepository


def best_tools(
    plan: RegistryPlan, database: Database, index: LentIndex, vector: Vector, servers: Sequence[int]
) -> dict[int, float]:
    """Return by server the highest cosine of its tools, of those servers that have one among the nearest.

    Empty where it does not count: another fusion, or no servers are looked for. Raises `IndexUnavailable` and
    `DatabaseUnavailable`.

    Parameters
    ----------
    servers : sequence of int
        What was found. Tools of disabled servers are in no index: where the plan has such servers, those of these count
        as well.
    """
    if plan.fusion != "coverage" or "server" not in plan.scope.kinds:
        return {}
    where = seen_items(plan.caller.rights, IndexFilter({"type": ["tool"], **visible_to(plan.caller).any_of}))
    hits = index.search(TOOL_DOCUMENTS, vector, where=where, limit=plan.nearest)
    near = {int(hit.key): hit.score for hit in hits}
    inactive = servers if plan.scope.include_disabled else ()
    if not near and not inactive:
        return {}

    def read(session: Session) -> list[tuple[int, float]]:
        found = RegistrySearchRepository(session).servers_of(list(near), plan.scope)
        of_enabled = [(server_id, near[tool_id]) for tool_id, server_id in found]
        return [*of_enabled, *_inactive(session, plan.scope, inactive, vector, index.model)]

    best: dict[int, float] = {}
    for server_id, cosine in database.read(read):
        best[server_id] = max(cosine, best.get(server_id, cosine))
    return best


def _inactive(
    session: Session, scope: RegistryScope, servers: Sequence[int], vector: Vector, model: EmbeddingModel
) -> Iterable[tuple[int, float]]:
    repository = RegistrySearchRepository(session)
    server_of = {tool.id: tool.entity_id for tool in repository.tools_of((), servers, scope)} if servers else {}
    vectors = repository.inactive_vectors(list(server_of), model) if server_of else {}
    return [(server_of[tool_id], dot(vector, stored)) for tool_id, stored in vectors.items()]
