"""The page Map: tools and skills as points, near each other where their vectors are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute_client import AsyncSkillroute

from skillroute_local.console.actions import Actions
from skillroute_local.console.lent_parts import LendParts, with_parts

if TYPE_CHECKING:
    from skillroute.core.documents.model import IndexRecord
    from skillroute.wiring import Parts

MAX_TOOLS = 10_000
"""Of more every second, third, ... is drawn: twice as many take twice as long, and a screen has no room for them."""


def map_actions(lend: LendParts | None) -> Actions:
    """Return the actions of the page; without parts there are no vectors."""
    actions = Actions("map")
    placing = asyncio.Lock()  # minutes of a processor where many open the page at once

    @actions.action
    async def points(client: AsyncSkillroute) -> AsyncIterator[dict[str, Any]]:
        """Yield what is being done, and at last all points; ``{"points": None}`` where they cannot be read."""
        if lend is None:
            yield {"points": None}
            return
        yield {"doing": "reading the vectors"}
        tools, skills, found = await with_parts(lend, _read)
        yield {"doing": f"placing {len(tools) + len(skills):,} points"}
        async with placing:
            placed = await asyncio.to_thread(_placed, tools, skills)
        yield {"points": found | placed}

    return actions


def _read(parts: Parts) -> tuple[list[IndexRecord], list[IndexRecord], dict[str, Any]]:
    """Return the tools and skills that have a vector, and how many have none or are too many."""
    from skillroute.core.documents.collection import Collection  # noqa: PLC0415
    from skillroute.core.documents.index_state import IndexStateRepository  # noqa: PLC0415

    model = parts.database.read(lambda session: IndexStateRepository(session).models().current)

    def every(collection: Collection) -> list[IndexRecord]:
        return [record for page in parts.feed.load_all(collection, model) for record in page] if model else []

    tools, skills = every(TOOL_DOCUMENTS), every(SKILL_DOCUMENTS)
    # Whether a tool has requests is no reason to stand elsewhere.
    placed = [replace(tool, vector=model.direction([*tool.vector])) for tool in tools if model and tool.vector]
    step = -(-len(placed) // MAX_TOOLS) or 1
    drawn = placed[::step]
    left = {"without_vector": len(tools) - len(placed), "left_out": len(placed) - len(drawn)}
    return drawn, [skill for skill in skills if skill.vector is not None], left


def _placed(tools: Sequence[IndexRecord], skills: Sequence[IndexRecord]) -> dict[str, Any]:
    import numpy as np  # noqa: PLC0415

    from skillroute_local.console.plane import in_a_plane  # noqa: PLC0415

    vectors = np.array([record.vector for record in (*tools, *skills)], np.float32)
    places = [[round(float(x), 4), round(float(y), 4)] for x, y in in_a_plane(vectors)]
    numbers = {skill.key: number for number, skill in enumerate(skills)}
    return {
        "tools": [
            [
                tool.payload["db_id"],
                tool.payload["name"],
                tool.payload["server"] or "",
                numbers.get(tool.payload["primary_skill_key"] or "", -1),
                *place,
            ]
            for tool, place in zip(tools, places, strict=False)
        ],
        "skills": [
            [skill.key, skill.payload["name"], *place]
            for skill, place in zip(skills, places[len(tools) :], strict=True)
        ],
    }
