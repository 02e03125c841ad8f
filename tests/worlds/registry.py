"""Servers and agents of a world, written as the routes write them, and what is stored of them."""

from __future__ import annotations

from typing import Any

from skillroute.core.caller import LAPTOP, Caller
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.model import Entity, EntityFilter, EntityKind
from skillroute.registry.report import EntityOutcome, RegistryReport
from skillroute.registry.text import Place

from tests.worlds.core import Core

DOCS = {"name": "query-docs", "description": "Query the docs."}
RESOLVE = {"name": "resolve", "description": "Find a library."}


class RegistryWorld(Core):
    """Writes servers and agents, and returns what is stored of them."""

    def put_entities(self, *servers: Any, caller: Caller = LAPTOP, kind: EntityKind = "server") -> RegistryReport:
        """Write servers, or agents, as one call."""
        return self.parts.registry.sync(kind, list(servers), caller)

    def put_server(self, path: str = "/c7", caller: Caller = LAPTOP, **said: Any) -> EntityOutcome:
        """Write one server and return what became of it."""
        [outcome] = self.put_entities({"path": path, "name": "Context7", **said}, caller=caller).outcomes
        assert outcome.status != "failed", outcome
        return outcome

    def put_agent(self, path: str = "/planner", caller: Caller = LAPTOP, **said: Any) -> EntityOutcome:
        """Write one agent and return what became of it."""
        [outcome] = self.put_entities({"path": path, "name": "Planner", **said}, caller=caller, kind="agent").outcomes
        assert outcome.status != "failed", outcome
        return outcome

    def entity(self, entity_id: int | None, kind: EntityKind = "server", caller: Caller = LAPTOP) -> Entity:
        assert entity_id is not None
        return self.parts.registry.read.get(kind, entity_id, caller)

    def paths(self, kind: EntityKind = "server", caller: Caller = LAPTOP, **where: Any) -> list[str]:
        page, total = self.parts.registry.read.page(EntityFilter(kind, **where), caller, limit=100, offset=0)
        assert total == len(page)
        return [entity.content.path for entity in page]

    def entity_text(self, entity_id: int | None) -> str:
        """Return what is embedded of an entity."""
        [text] = self.texts(REGISTRY_DOCUMENTS, entity_id)
        return text

    def entity_words(self, entity_id: int | None, place: Place) -> list[str]:
        """Return the words that an entity is found by at a place, of tools one text each."""
        rows = self.rows(
            "SELECT words FROM mcp.registry_words WHERE entity_id = :id AND place = :place ORDER BY tool_id",
            id=entity_id,
            place=int(place),
        )
        return [row[0] for row in rows]

    def tools_of(self, server: str = "c7") -> dict[str, tuple[int, Any, bool]]:
        """Return a server's tools by name: id, when they changed, and whether they have a vector."""
        rows = self.rows(
            "SELECT name, id, updated_at, v.has_vector "
            "FROM mcp.tools CROSS JOIN LATERAL mcp.vector_state('mcp_unified_search', id::text) v "
            "WHERE server = :server AND type = 'tool'",
            server=server,
        )
        return {name: (id_, updated_at, embedded) for name, id_, updated_at, embedded in rows}

    def is_entity_embedded(self, entity_id: int | None) -> bool:
        return self.is_embedded(REGISTRY_DOCUMENTS, entity_id)
