"""Loading the catalogue under examples/: skills, items and who belongs to which, servers and agents, agent mail."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from skillroute.catalogue.model import ItemKey
from skillroute.catalogue.sync import MAX_ITEMS
from skillroute.core.bulk.outcomes import Outcome
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import Conflict
from skillroute.mail.sync import MAIL_KINDS, MAX_MAIL
from skillroute.registry.model import EntityKind
from skillroute.skills.model import Assignment, AssignmentSource, NewSkill
from skillroute.wiring import Parts

from skillroute_local.errors import LocalError

_PACKAGE = Path(__file__).parent
_IN_WHEEL = _PACKAGE / "example_catalogue"
EXAMPLES = _IN_WHEEL if _IN_WHEEL.exists() else _PACKAGE.parent.parent / "examples"


@dataclass(frozen=True, slots=True)
class Loaded:
    """How much was loaded."""

    skills: int
    items: int
    assigned: int
    servers: int
    agents: int
    messages: int


def load_examples(parts: Parts, directory: Path = EXAMPLES) -> Loaded:
    """Load the examples; what is there already stays as it is, so an interrupted load can simply be repeated."""
    skills = 0
    for skill in read_jsonl(directory / "skills.jsonl"):
        try:
            parts.skills.create(NewSkill.model_validate(skill), LAPTOP)
            skills += 1
        except Conflict:
            continue
    items = list(read_jsonl(directory / "tools.jsonl"))
    ids: dict[ItemKey, int] = {}
    for start in range(0, len(items), MAX_ITEMS):
        outcomes = parts.catalogue.sync(items[start : start + MAX_ITEMS], LAPTOP).outcomes
        _require_all("item", outcomes, start)
        ids |= {outcome.key: outcome.id for outcome in outcomes if outcome.key is not None and outcome.id is not None}
    assignments = {
        ids[ItemKey(row["server"], row["type"], row["name"])]: [
            Assignment(assigned["skill_id"], assigned["confidence"]) for assigned in row["skills"]
        ]
        for row in read_jsonl(directory / "assignments.jsonl")
    }
    parts.skills.assign(assignments, LAPTOP, AssignmentSource.HUMAN_MANUAL)
    # Last: servers come without tools, and so keep those that are there.
    servers, agents = (_register(parts, kind, directory / f"{kind}s.jsonl") for kind in get_args(EntityKind))
    return Loaded(skills, len(items), len(assignments), servers, agents, _load_mail(parts, directory))


def _register(parts: Parts, kind: EntityKind, path: Path) -> int:
    entities = list(read_jsonl(path))
    _require_all(kind, parts.registry.sync(kind, entities, LAPTOP).outcomes)
    return len(entities)


def _load_mail(parts: Parts, directory: Path) -> int:
    """Load agent mail, each kind after those that it names, and return how many messages there were."""
    messages = 0
    for kind in MAIL_KINDS:
        path = directory / ("mail_agents.jsonl" if kind == "agent" else f"{kind}s.jsonl")
        things = list(read_jsonl(path)) if path.exists() else []
        for start in range(0, len(things), MAX_MAIL[kind]):
            _require_all(kind, parts.mail.sync(kind, things[start : start + MAX_MAIL[kind]], LAPTOP).outcomes, start)
        messages = len(things)  # they come last
    return messages


def _require_all(kind: str, outcomes: Sequence[Outcome], start: int = 0) -> None:
    for outcome in outcomes:
        if outcome.id is None:
            raise LocalError(f"examples: {kind} {start + outcome.index}: {outcome.field} {outcome.reason}")


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file with one JSON object a line."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise LocalError(f"{path}, line {number}: {error}") from error
