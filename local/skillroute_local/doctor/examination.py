"""The steps of an examination and their evaluation, independent of how requests are sent.

`skillroute_local.doctor_reading` carries them out for the command line, `skillroute_local.console.doctor` for the page.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

from skillroute.agent_skills.model import SKILL_MD
from skillroute.agent_skills.skill_md import body_of

from skillroute_local.doctor.model import AgentSkill, Asked, Catalogue, Skill, Tool
from skillroute_local.doctor.searches import (
    deeper_request_of,
    direct_request_of,
    first_of,
    is_asked,
    rank_of,
    request_of,
    why_not,
)

BATCH = 20
"""Searches of one call: the most that a Skillroute takes."""

_PAGE = 500
MAX_BODIES = 2_000
"""Agent Skills whose bodies are read, a request each."""

_NOT_BEGUN = "not_begun"

T = TypeVar("T")
Resource: TypeAlias = Literal["tools", "skills", "agent_skills"]
Rows: TypeAlias = list[dict[str, Any]]
Progress: TypeAlias = Callable[[int], None]
"""Called with how many tools more were searched for."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """Read a page of a list. The answer is its rows."""

    resource: Resource
    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class SearchBatch:
    """Carry out up to `BATCH` searches in one call. The answer is their results, each with `answer` and `error`."""

    searches: Rows


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Read a file of an Agent Skill by its digest.

    The answer is one row with its `text`, as far as it is UTF-8; none where the file is gone since the list was read.
    """

    agent_skill_id: int
    digest: str


Step: TypeAlias = ReadPage | ReadFile | SearchBatch
Steps: TypeAlias = Generator[Step, Rows | None, T]
"""Yields steps, is sent the answer of each, and returns what came of them."""


@dataclass(slots=True)
class Searched:
    """The results of the searches.

    Attributes
    ----------
    asked : dict of int to Asked
    not_asked : dict of int to str
        Why there is no answer that says anything, by the ids of tools.
    """

    asked: dict[int, Asked] = field(default_factory=dict)
    not_asked: dict[int, str] = field(default_factory=dict)


def reading() -> Steps[Catalogue]:
    """Read the active items, skills and Agent Skills that the caller sees. Needs scope search."""
    tools = yield from _every("tools")
    skills = yield from _every("skills")
    agent_skills = yield from _agent_skills()
    return Catalogue(
        [_tool(row) for row in tools if row["is_active"]],
        [_skill(row) for row in skills if row["is_active"]],
        agent_skills=agent_skills,
    )


def searching(tools: Iterable[Tool], progress: Progress = lambda _: None) -> Steps[Searched]:
    """Search for each tool by its description; those without one are left out.

    Of a tool that is not among the first five it is asked again where it is, and where it would be without skills. A
    search that fails alone is in `not_asked`.
    """
    searched, missed, modes = Searched(), list[Tool](), dict[int, str]()

    def first_look(tool: Tool, answer: Mapping[str, Any]) -> None:
        searched.asked[tool.id] = Asked(rank_of(tool, answer))
        if searched.asked[tool.id].rank is None:
            missed.append(tool)
            modes[tool.id] = answer["metadata"]["search_mode"]

    def deeper(tool: Tool, answer: Mapping[str, Any]) -> None:
        searched.asked[tool.id] = Asked(rank_of(tool, answer), first=first_of(tool, answer))

    def direct(tool: Tool, answer: Mapping[str, Any]) -> None:
        asked = searched.asked[tool.id]
        searched.asked[tool.id] = Asked(asked.rank, rank_of(tool, answer), asked.first)

    wanted = [tool for tool in tools if is_asked(tool)]
    yield from _ask(wanted, request_of, first_look, searched.not_asked, progress)
    yield from _ask(missed, lambda tool: deeper_request_of(tool, modes[tool.id]), deeper, searched.not_asked)
    yield from _ask(missed, direct_request_of, direct, searched.not_asked)
    for id_ in searched.not_asked:
        searched.asked.pop(id_, None)
    return searched


def _ask(
    tools: Sequence[Tool],
    request: Callable[[Tool], dict[str, Any]],
    take: Callable[[Tool, Mapping[str, Any]], None],
    not_asked: dict[int, str],
    progress: Progress = lambda _: None,
) -> Steps[None]:
    """Ask for all tools, a batch a call; what a call did not come to goes into the next one, which is smaller."""
    waiting, size = list(tools), BATCH
    while waiting:
        batch, waiting = waiting[:size], waiting[size:]
        again = []
        results = yield SearchBatch([request(tool) for tool in batch])
        for tool, result in zip(batch, results or (), strict=True):
            answer, error = result["answer"], result["error"]
            if answer is None and error["code"] == _NOT_BEGUN and len(batch) > 1:
                again.append(tool)
            elif reason := why_not(answer) if answer is not None else f"the search failed: {error['code']}":
                not_asked[tool.id] = reason
            else:
                take(tool, answer)
        progress(len(batch) - len(again))
        if again:
            size = max(1, len(batch) // 2)
        waiting = again + waiting


def _every(resource: Resource) -> Steps[Rows]:
    """Return a whole list. A page may end before its limit, by its bytes; an empty one is the end."""
    found: dict[Any, dict[str, Any]] = {}
    offset = 0
    while rows := (yield ReadPage(resource, _PAGE, offset)):
        found |= {row["id"]: row for row in rows}  # one that moves to the next page meanwhile is one still
        offset += len(rows)
    return list(found.values())


def _tool(row: Mapping[str, Any]) -> Tool:
    return Tool(
        id=row["id"],
        server=row["server"] or "",
        name=row["name"],
        type=row["type"],
        description=row["description"],
        input_schema=row["input_schema"],
        skill_ids=tuple(row["skill_ids"]),
        more={
            "title": row["metadata"].get("title"),
            "output_schema": row["output_schema"],
            "annotations": row["annotations"],
        },
    )


def _agent_skills() -> Steps[list[AgentSkill]]:
    """Return the active Agent Skills, the bodies of the first `MAX_BODIES` among them."""
    rows = yield from _every("agent_skills")
    found: list[AgentSkill] = []
    for row in (row for row in rows if row["is_active"]):
        body = None
        if len(found) < MAX_BODIES:
            digest = next(file["digest"] for file in row["files"] if file["path"] == SKILL_MD)
            files = yield ReadFile(row["id"], digest)
            if not files:  # deleted or written anew meanwhile
                continue
            body = body_of(files[0]["text"])
        allowed = row["frontmatter"].get("allowed-tools") or ""
        allowed = " ".join(map(str, allowed)) if isinstance(allowed, list) else str(allowed)
        found.append(AgentSkill(row["path"], row["name"], row["description"], allowed, body))
    return found


def _skill(row: Mapping[str, Any]) -> Skill:
    return Skill(row["id"], row["name"], row["description"], tuple(row["keywords"]))
