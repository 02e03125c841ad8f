"""Loading the catalogue under examples/: skills, items and who belongs to which, servers and agents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from skillroute.bootstrap import Parts
from skillroute.domain.caller import LAPTOP
from skillroute.domain.items import ItemKey
from skillroute.domain.registry import EntityKind
from skillroute.domain.skills import Assignment, AssignmentSource, NewSkill
from skillroute.errors import Conflict
from skillroute.services.sync_tools import MAX_ITEMS

from skillroute_local.errors import LocalError

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True, slots=True)
class Loaded:
    """How much was loaded."""

    skills: int
    items: int
    assigned: int
    servers: int
    agents: int


def load_examples(parts: Parts, directory: Path = EXAMPLES) -> Loaded:
    """Load the examples; what is there already stays as it is, so an interrupted load can simply be repeated."""
    skills = 0
    for skill in read_jsonl(directory / "skills.jsonl"):
        try:
            parts.create_skill(NewSkill.model_validate(skill), LAPTOP)
            skills += 1
        except Conflict:
            continue
    items = list(read_jsonl(directory / "tools.jsonl"))
    ids: dict[ItemKey, int] = {}
    for start in range(0, len(items), MAX_ITEMS):
        for outcome in parts.sync_tools(items[start : start + MAX_ITEMS], LAPTOP).outcomes:
            if outcome.key is None or outcome.id is None:
                raise LocalError(f"examples: item {start + outcome.index}: {outcome.field} {outcome.reason}")
            ids[outcome.key] = outcome.id
    assignments = {
        ids[ItemKey(row["server"], row["type"], row["name"])]: [
            Assignment(each["skill_id"], each["confidence"]) for each in row["skills"]
        ]
        for row in read_jsonl(directory / "assignments.jsonl")
    }
    parts.assign_skills(assignments, LAPTOP, AssignmentSource.HUMAN_MANUAL)
    # Last: servers come without tools, and so keep those that are there.
    servers, agents = (_register(parts, kind, directory / f"{kind}s.jsonl") for kind in get_args(EntityKind))
    return Loaded(skills, len(items), len(assignments), servers, agents)


def _register(parts: Parts, kind: EntityKind, path: Path) -> int:
    entities = list(read_jsonl(path))
    for outcome in parts.sync_registry(kind, entities, LAPTOP).outcomes:
        if outcome.id is None:
            raise LocalError(f"examples: {kind} {outcome.index}: {outcome.field} {outcome.reason}")
    return len(entities)


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file with one JSON object a line."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise LocalError(f"{path}, line {number}: {error}") from error
