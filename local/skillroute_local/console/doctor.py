"""The page Doctor: the catalogue examined, with how far it is meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar, assert_never, cast

from pydantic import BaseModel
from skillroute_client import AsyncSkillroute
from skillroute_client.errors import NotFound
from skillroute_client.resources.options import SearchRequest

from skillroute_local.console.actions import Actions
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

T = TypeVar("T")

actions = Actions("doctor")


@actions.action
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
    yield {"report": report_of(catalogue, findings, searched.not_asked)}


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
