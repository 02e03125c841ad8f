"""The page Map: tools and skills as points, near each other where their vectors are."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.model import HEAD
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute_client import AsyncSkillroute

from skillroute_local.console.actions import Actions
from skillroute_local.console.lent_parts import LendParts, with_parts

if TYPE_CHECKING:
    from skillroute.core.documents.collection import Collection
    from skillroute.core.documents.model import IndexRecord
    from skillroute.wiring import Parts

Json = dict[str, Any]

_SKILL_STEP = 0.03  # a skill stands a little apart from its nearest tool
MAX_TOOLS = 50_000
"""Of more every second, third, ... is drawn: placing so many takes half a minute of a processor."""


@dataclass(frozen=True)
class Catalogue:
    """The tools and skills to be drawn, as one moment of the database has it.

    Attributes
    ----------
    epoch, position : str
        The moment, as the change feed names it.
    tools, skills : sequence of IndexRecord
        Of skills some may have no vector, and then no place.
    counts : dict
        How many tools have none, or are too many.
    """

    epoch: str
    position: str
    tools: Sequence[IndexRecord]
    skills: Sequence[IndexRecord]
    counts: Json


@dataclass
class Kept:
    """The points that were computed last, in memory.

    The points serve until anything changes in the catalogue, the places of tools until a vector of one does: what
    becomes of skills and names moves none.
    """

    epoch: str = ""
    position: str = ""
    points: Json | None = None
    vectors: str = ""
    places: Any = ()
    at: str = ""

    def is_current(self, parts: Parts) -> bool:
        """Return whether nothing changed since the points were read."""
        if self.points is None:
            return False
        page = parts.feed.poll(self.position)
        return page.epoch == self.epoch and page.is_complete and not page.changes


def map_actions(lend: LendParts | None) -> Actions:
    """Return the actions of the page; without parts there are no vectors."""
    actions = Actions("map")
    placing = asyncio.Lock()  # minutes of a processor where many open the page at once
    kept = Kept()

    @actions.action
    async def points(client: AsyncSkillroute) -> AsyncIterator[Json]:
        """Yield what is being done, and at last all points; ``{"points": None}`` where they cannot be read."""
        if lend is None:
            yield {"points": None}
            return
        yield {"doing": "waiting for the map that another page asks for" if placing.locked() else "reading the vectors"}
        async with placing:
            if not await with_parts(lend, kept.is_current):
                found = await with_parts(lend, _read)
                yield {"doing": f"placing {len(found.tools) + len(found.skills):,} points"}
                await asyncio.to_thread(place, found, kept)
        yield {"points": kept.points}

    return actions


def _read(parts: Parts) -> Catalogue:
    page = parts.feed.poll(HEAD)  # before all else: what changes meanwhile is a change since then
    model = page.models.current

    def every(collection: Collection) -> list[IndexRecord]:
        return [record for page in parts.feed.load_all(collection, model) for record in page] if model else []

    tools, skills = every(TOOL_DOCUMENTS), every(SKILL_DOCUMENTS)
    # Whether a tool has requests is no reason to stand elsewhere.
    placed = [replace(tool, vector=model.direction([*tool.vector])) for tool in tools if model and tool.vector]
    step = -(-len(placed) // MAX_TOOLS) or 1
    drawn = placed[::step]
    counts = {"without_vector": len(tools) - len(placed), "left_out": len(placed) - len(drawn)}
    return Catalogue(page.epoch, page.position, drawn, skills, counts)


def place(found: Catalogue, kept: Kept) -> None:
    """Compute the points of a catalogue; tools stay where they were if none has another vector."""
    import numpy as np  # noqa: PLC0415

    from skillroute_local.console.plane import among, in_a_plane  # noqa: PLC0415

    tools = np.array([tool.vector for tool in found.tools], np.float32)
    with_vector = [skill for skill in found.skills if skill.vector is not None]
    skills = np.array([skill.vector for skill in with_vector], np.float32)
    digest = hashlib.sha256(tools.tobytes()).hexdigest()
    if digest != kept.vectors:
        kept.places = in_a_plane(tools) if len(tools) else np.empty((0, 2), np.float32)
        kept.vectors, kept.at = digest, datetime.now(UTC).isoformat(timespec="seconds")
    # A skill's vector changes with its tools: were it placed with them, giving a skill would move the whole map.
    of_skill: dict[str, list[float]] = {}
    if len(tools) and len(skills):
        of_skills = among(skills, tools, kept.places, step=_SKILL_STEP)
        of_skill = {skill.key: _rounded(at) for skill, at in zip(with_vector, of_skills, strict=True)}
    kept.points = _points(found, [_rounded(at) for at in kept.places], of_skill) | found.counts | {"at": kept.at}
    kept.epoch, kept.position = found.epoch, found.position


def _rounded(at: Sequence[float]) -> list[float]:
    return [round(float(number), 4) for number in at]


def _points(found: Catalogue, places: Sequence[Sequence[float]], of_skill: Mapping[str, Sequence[float]]) -> Json:
    numbers = {skill.key: number for number, skill in enumerate(found.skills)}
    return {
        "tools": [
            [
                tool.payload["db_id"],
                tool.payload["name"],
                tool.payload["server"] or "",
                numbers.get(tool.payload["primary_skill_key"] or "", -1),
                *at,
            ]
            for tool, at in zip(found.tools, places, strict=True)
        ],
        "skills": [
            [skill.key, skill.payload["name"], *of_skill.get(skill.key, (None, None))] for skill in found.skills
        ],
    }
