"""Tools and skills of a world: stored with chosen vectors, or written as the routes do it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from skillroute.catalogue.model import ItemContent, ItemKey, ItemType
from skillroute.catalogue.repository import ItemRepository, ItemRow
from skillroute.catalogue.rows import indexed_text
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.embedding.model import Vector, from_bytes
from skillroute.core.hashing import content_hash
from skillroute.skills import create as create_skill
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.model import Assignment, AssignmentSource, NewSkill, Skill, SkillKey, in_rank_order
from skillroute.skills.repository import SkillRepository
from skillroute.skills.suggestions.model import Suggestion, SuggestionStatus

from tests.worlds.core import Core
from tests.worlds.kept import give_back, lend_connection

_numbers = itertools.count(1)


def item(name: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return an item as `PUT /api/v1/tools` takes it, with a name of its own unless it is given one."""
    return {"name": name or f"tool_{next(_numbers)}", "description": "Does what a test wants.", **fields}


class CatalogueWorld(Core):
    """Stores tools and skills, and returns what is stored of them."""

    # Filling: straight through the repositories, so that vectors are exactly the chosen ones

    def skill(
        self,
        skill_id: str,
        vector: Vector | None,
        *,
        name: str | None = None,
        description: str = "A skill that a test made up.",
        org: str | None = None,
    ) -> str:
        """Store a skill that is found by exactly this vector, whatever its tools."""
        new = NewSkill(id=skill_id, name=name or skill_id, description=description, org_id=org)
        text = create_skill.indexed_text(new)
        model = self.embedder.model if vector is not None else None

        def create(session: Any) -> bool:
            if model is not None:
                IndexStateRepository(session).claim(model)
            created: bool = SkillRepository(session).create(new, text, model, vector)
            return created

        assert self.pool.transact(create)
        return skill_id

    def tool(self, name: str, vector: Vector | None = None, *, skills: Sequence[str] = (), **content: Any) -> int:
        """Store one item and return its id; see `tools`."""
        return self.tools([(name, vector)], skills=skills, **content)[0]

    def tools(
        self,
        named: Sequence[tuple[str, Vector | None]],
        *,
        skills: Sequence[str] | Mapping[str, float] = (),
        type: ItemType = "tool",  # noqa: A002 (as the item calls it)
        server: str = "",
        org: str | None = None,
        **content: Any,
    ) -> list[int]:
        """Store items that are found by exactly these vectors, in these skills (the first one primary)."""
        model = self.embedder.model
        rows = []
        for name, vector in named:
            item = ItemContent(key=ItemKey(server, type, name), **content)
            rows.append(ItemRow(item, content_hash(item), indexed_text(item), vector))
        confidences = skills if isinstance(skills, Mapping) else {s: 0.9 - 0.1 * i for i, s in enumerate(skills)}
        assignments = in_rank_order([Assignment(skill_id, sure) for skill_id, sure in confidences.items()])
        keys = self._known_keys(confidences, org) if confidences else {}

        def write(session: Any) -> list[int]:
            IndexStateRepository(session).claim(model)
            written = ItemRepository(session).upsert(org, model, rows)
            ids = [written[row.content.key].id for row in rows]
            if assignments:
                AssignmentRepository(session).replace(
                    dict.fromkeys(ids, assignments), keys, AssignmentSource.HUMAN_MANUAL
                )
            return ids

        return self.pool.transact(write)

    def _known_keys(self, skill_ids: Iterable[str], org: str | None) -> dict[str, SkillKey]:
        """Return the keys of skills: those that the organisation sees, or of whom there are any."""
        sql = lend_connection(self.url)  # tests store tools in threads of their own, too
        try:
            rows = sql(
                "SELECT id, key FROM mcp.skill_categories WHERE id = ANY (:ids::text[]) "
                "ORDER BY org_id IS NOT DISTINCT FROM :org::text, org_id IS NULL",
                ids=list(skill_ids),
                org=org,
            )
        finally:
            give_back(self.url, sql)
        return {skill_id: SkillKey(key) for skill_id, key in rows}

    # The skill service

    def create(self, skill_id: str, caller: Caller = LAPTOP, **fields: Any) -> Skill:
        """Create a skill as `POST /api/v1/skills` does."""
        new = {"id": skill_id, "name": skill_id, "description": f"All about {skill_id}.", **fields}
        return self.parts.skills.create(NewSkill(**new), caller)

    def change(self, skill_id: str, caller: Caller = LAPTOP, **changes: Any) -> Skill:
        """Change a skill as `PATCH /api/v1/skills/{id}` does."""
        return self.parts.skills.change(skill_id, changes, caller)

    def put(self, *names: str, caller: Caller = LAPTOP, **fields: Any) -> list[int]:
        """Store items as `PUT /api/v1/tools` does, and return their ids."""
        report = self.parts.catalogue.sync([item(name, **fields) for name in names], caller)
        return [outcome.id for outcome in report.outcomes if outcome.id is not None]

    def classify(self, *tool_ids: int, force: bool = False) -> list[Any]:
        """Classify tools as the queue's consumer does, and return what became of each."""
        results = self.parts.classification.classify(list(tool_ids), force=force)
        return [results[tool_id] for tool_id in tool_ids]

    def assign(self, tool_id: int, caller: Caller = LAPTOP, **confidences: float) -> None:
        """Assign a tool by hand as `PUT /api/v1/tools/{id}/skills` does."""
        given = [Assignment(skill_id, sure) for skill_id, sure in confidences.items()]
        self.parts.skills.assign.of_tool(tool_id, given, caller)

    def assigned(self, tool_id: int) -> dict[str, tuple[float, bool, str]]:
        """Return confidence, primacy and source of each of a tool's skills, as they are stored."""
        rows = self.rows(
            "SELECT c.id, confidence, is_primary, source FROM mcp.tool_skill_assignments a "
            "JOIN mcp.skill_categories c ON c.key = a.skill_key "
            "WHERE tool_id = :id ORDER BY confidence DESC, skill_key",
            id=tool_id,
        )
        return {skill_id: (confidence, primary, source) for skill_id, confidence, primary, source in rows}

    def skills_of(self, tool_id: int) -> list[str]:
        """Return a tool's skills, the surest first."""
        return list(self.assigned(tool_id))

    def keys_of(self, tool_id: int) -> list[str]:
        """Return the keys of a tool's skills, the surest first."""
        rows = self.rows(
            "SELECT skill_key FROM mcp.tool_skill_assignments WHERE tool_id = :id ORDER BY confidence DESC, skill_key",
            id=tool_id,
        )
        return [row[0] for row in rows]

    def waiting(self, queue: str) -> list[str]:
        """Return the keys of the work that waits in the outbox."""
        rows = self.rows("SELECT key FROM mcp.outbox WHERE queue = :queue ORDER BY key", queue=queue)
        return [row[0] for row in rows]

    def vector(self, key: str, *, of_description: bool = False) -> Vector | None:
        """Return what a skill is found by, or the vector of its description."""
        column = "v.embedding" if of_description else "coalesce(v.derived, v.embedding)"
        rows = self.rows(
            f"SELECT {column} FROM mcp.document_vectors v "
            "JOIN mcp.index_state s ON (s.embedding_model, s.embedding_dimension) = (v.model, v.dimension) "
            "WHERE v.collection = 'mcp_skills' AND v.key = :key",
            key=key,
        )
        return None if not rows or rows[0][0] is None else from_bytes(rows[0][0])

    def suggestions(self, status: str | None = "pending", caller: Caller = LAPTOP) -> list[Suggestion]:
        """Return the suggestions of a status, by id."""
        wanted = SuggestionStatus(status) if status else None
        return self.parts.skills.review.page(wanted, caller, limit=1000, offset=0)[0]
