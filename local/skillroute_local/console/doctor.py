"""The page Doctor: the catalogue examined, with how far it is meanwhile, and findings that people dismissed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar, assert_never, cast

from pydantic import BaseModel, Field
from skillroute_client import AsyncSkillroute
from skillroute_client.errors import NotFound
from skillroute_client.models import Tool as ItemRow
from skillroute_client.resources.options import SearchRequest

from skillroute_local.console.actions import Actions
from skillroute_local.console.callers import organisation_of
from skillroute_local.console.json_lines import JsonLines
from skillroute_local.console.judgements import JudgementFiles
from skillroute_local.console.problems import Problem, Refused
from skillroute_local.doctor.digest import digest_of
from skillroute_local.doctor.examination import (
    ReadFile,
    ReadPage,
    Rows,
    SearchBatch,
    Searched,
    Step,
    Steps,
    reading,
    searching,
)
from skillroute_local.doctor.model import Code

T = TypeVar("T")

_ASKED: tuple[Literal["seen", "doubted", "failed"], ...] = ("seen", "doubted", "failed")
"""Outcomes of asking a server for its tools: one without any is not asked."""

_MOST = 10_000
"""Findings that an organisation has dismissed; of more the oldest come back."""

Id = Annotated[str, Field(min_length=1, max_length=64)]
Reason = Annotated[str, Field(max_length=1000)]
Subject = Annotated[str, Field(max_length=600)]


def doctor_actions(files: JudgementFiles) -> Actions:
    """Return the actions of the page; what is dismissed is kept next to the organisation's judged requests."""
    actions = Actions("doctor")

    async def work(
        client: AsyncSkillroute, scope: Literal["search", "skills"], does: Callable[[JsonLines], None]
    ) -> list[dict[str, Any]]:
        file = files.of(await organisation_of(client, scope)).next_to("dismissed")

        def in_turn() -> list[dict[str, Any]]:
            with files.turns[file.path.name]:
                does(file)
                return file.values()

        return await asyncio.to_thread(in_turn)

    @actions.action
    async def dismissed(client: AsyncSkillroute) -> list[dict[str, Any]]:
        """Return the findings that were dismissed, with the reasons."""
        return await work(client, "search", lambda _: None)

    @actions.action
    async def dismiss(
        client: AsyncSkillroute, finding: Id, code: Code, about: Subject, reason: Reason = ""
    ) -> list[dict[str, Any]]:
        """Remember that a finding is none, as long as the texts that it is about stay; return all dismissed ones."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        line = {"id": finding, "code": code.value, "about": about, "reason": reason.strip(), "at": at}

        def write(file: JsonLines) -> None:
            for value in file.values():
                if value.get("id") == finding:
                    raise _is_dismissed(str(value.get("reason") or "no reason"))
            file.keep(line, _MOST)

        return await work(client, "skills", write)

    @actions.action
    async def restore(client: AsyncSkillroute, finding: Id) -> list[dict[str, Any]]:
        """Forget that a finding was dismissed; return all that are."""
        return await work(client, "skills", lambda file: _without(file, finding))

    actions.action(examine)
    actions.action(tool)
    return actions


def _is_dismissed(reason: str) -> Refused:
    remedy = "It stays so: reload the page to see it, and take it back to give another reason."
    return Refused(Problem(409, f"it was dismissed meanwhile: {reason}", remedy, "already_dismissed"))


def _without(file: JsonLines, finding: str) -> None:
    lines = file.lines()
    kept = [line for line, value in lines if value is None or value.get("id") != finding]
    if len(kept) < len(lines):
        file.replace(kept)


async def tool(client: AsyncSkillroute, tool_id: int) -> dict[str, Any]:
    """Return a tool whole, with its skills, and what may write its text over.

    ``written_by`` is ``server`` where its server is asked for its tools, ``import`` where a document has it, else
    ``unknown``.
    """
    found, skills = await asyncio.gather(client.tools.get(tool_id), client.tools.skills(tool_id))
    return {
        "tool": found.model_dump(mode="json"),
        "skills": [skill.model_dump(mode="json") for skill in skills],
        "written_by": await _written_by(client, found),
    }


async def _written_by(client: AsyncSkillroute, found: ItemRow) -> Literal["server", "import", "unknown"]:
    if "http" in found.metadata:
        return "import"
    for outcome in _ASKED if found.server else ():
        async for server in client.servers.list(seen_outcome=outcome):
            if found.server in {server.tools_server, *server.item_servers}:
                return "server"
    return "unknown"


async def examine(client: AsyncSkillroute, search: bool = True) -> AsyncIterator[dict[str, Any]]:
    """Yield how far the examination is, and at last its report, as `skillroute doctor --json` has it.

    Parameters
    ----------
    search : bool
        Search for each tool by its own description, too: 20 searches a call.
    """
    # The rules load the engine that counts words: who opens another page does not wait for it.
    from skillroute_local.doctor import diagnose, report_of  # noqa: PLC0415
    from skillroute_local.doctor.searches import is_asked  # noqa: PLC0415

    catalogue_read = _Walk(client, reading())
    async for step in catalogue_read:
        if isinstance(step, ReadPage):
            yield {"doing": f"reading {step.resource.replace('_', ' ')}", "done": step.offset, "total": None}
    catalogue, searched, done = catalogue_read.result, Searched(), 0

    def count(more: int) -> None:
        nonlocal done
        done += more

    if search:
        total = sum(map(is_asked, catalogue.tools))
        walk = _Walk(client, searching(catalogue.tools, count))
        async for _ in walk:
            yield {"doing": "searching for each tool", "done": done, "total": total}
        searched = walk.result
        catalogue = replace(catalogue, asked=searched.asked)
    yield {"doing": "reading what is written", "done": 0, "total": None}
    findings = await asyncio.to_thread(diagnose, catalogue)
    report = report_of(catalogue, findings, searched.not_asked)
    shown = [row | {"id": digest_of(found, catalogue)} for row, found in zip(report["findings"], findings, strict=True)]
    yield {"report": report | {"findings": shown}}


class _Walk(Generic[T]):
    """Steps that are carried out while they are iterated over; then `result` is what came of them."""

    result: T

    def __init__(self, client: AsyncSkillroute, steps: Steps[T]) -> None:
        self._client = client
        self._steps = steps

    async def __aiter__(self) -> AsyncIterator[Step]:
        rows: Rows | None = None
        while True:
            try:
                step = self._steps.send(rows)
            except StopIteration as end:
                self.result = end.value
                return
            yield step
            rows = await _answer(self._client, step)


async def _answer(client: AsyncSkillroute, step: Step) -> Rows:
    match step:
        case ReadPage(resource, limit, offset):
            page = await getattr(client, resource).list(limit=limit, offset=offset).first()
            return [_plain(row) for row in page.items]
        case ReadFile(agent_skill_id, digest):
            try:
                content = await client.agent_skills.file(agent_skill_id, digest)
            except NotFound:
                return []
            return [{"text": content.decode("utf-8", "replace")}]
        case SearchBatch(searches):
            answer = await client.search_batch(cast(Sequence[SearchRequest], searches))
            return [_plain(result) for result in answer.results]
        case _:
            assert_never(step)


def _plain(answer: BaseModel) -> dict[str, Any]:
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)
