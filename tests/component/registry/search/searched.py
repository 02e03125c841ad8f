"""A registry whose vectors a test chooses, to be searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillroute.catalogue.model import ItemContent, ItemKey
from skillroute.catalogue.repository import ItemRepository, ItemRow
from skillroute.catalogue.rows import indexed_text
from skillroute.catalogue.text import text_with
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.embedding.model import Vector
from skillroute.core.hashing import content_hash
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.model import AgentSkill, EntityContent, EntityKind
from skillroute.registry.refresh import refresh
from skillroute.registry.repository import RegistryRepository
from skillroute.registry.search.model import RegistrySearchRequest, RegistrySearchResponse, ScoreBreakdown

from tests.builders import System


class Registry:
    """Servers and agents of a system, stored through the repositories so that vectors are exactly the chosen ones."""

    def __init__(self, system: System) -> None:
        self.system = system

    def server(
        self,
        path: str,
        vector: Vector | None = None,
        *,
        tools: Mapping[str, Vector | None] | Sequence[tuple[str, str, Vector | None]] = (),
        **said: Any,
    ) -> int:
        """Store a server and its tools, by name or with descriptions; return its id."""
        named = [(name, "", vector) for name, vector in tools.items()] if isinstance(tools, Mapping) else tools
        return self._store("server", path, vector, tools=named, **said)

    def agent(self, path: str, vector: Vector | None = None, **said: Any) -> int:
        return self._store("agent", path, vector, **said)

    def search(self, query: str, *, caller: Caller = LAPTOP, **request: Any) -> RegistrySearchResponse:
        """Search as `POST /api/v1/search/registry` does."""
        return self.system.parts.registry_search(RegistrySearchRequest(query=query, **request), caller)

    def servers(self, query: str, **request: Any) -> list[str]:
        """Return the paths of the servers that a search returns."""
        return [server.path for server in self.search(query, **request).servers]

    def figures(self, query: str, **request: Any) -> dict[str, ScoreBreakdown]:
        """Return how each candidate was scored, by path; of a tool by path and name."""
        explain = self.search(query, explain=True, **request).explain
        assert explain is not None
        return {f"{each.path}/{each.name}" if each.type == "tool" else each.path: each for each in explain}

    def _store(
        self,
        kind: EntityKind,
        path: str,
        vector: Vector | None,
        *,
        name: str = "Thing",
        tools: Sequence[tuple[str, str, Vector | None]] = (),
        org: str | None = None,
        is_enabled: bool = True,
        skills: Sequence[tuple[str, str]] = (),
        **said: Any,
    ) -> int:
        agent_skills = tuple(AgentSkill(*skill) for skill in skills)
        content = EntityContent(kind, path, name, skills=agent_skills, **said)
        model = self.system.embedder.model

        def write(session: Any) -> int:
            IndexStateRepository(session).claim(model)
            id_: int = RegistryRepository(session).upsert(org, content, repr(content), is_enabled=is_enabled).id
            if tools:
                said = ItemRepository(session).server_texts(org, {content.tools_server}).get(content.tools_server)
                ItemRepository(session).upsert(org, model, [_row(content, said, *tool) for tool in tools])
            refresh(session, [id_])
            if vector is not None:
                documents = DocumentRepository(session, REGISTRY_DOCUMENTS)
                documents.set_embeddings(model, [(documents.tasks([str(id_)], model)[0], vector)])
            return id_

        return self.system.pool.transact(write)


def _row(server: EntityContent, said: str | None, name: str, description: str, vector: Vector | None) -> ItemRow:
    key = ItemKey(server.tools_server, "tool", name)
    content = ItemContent(key, description, input_schema={"title": name})
    return ItemRow(content, content_hash(content), text_with(indexed_text(content), (), said), vector)
