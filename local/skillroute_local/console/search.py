"""The page Search: a request, what it finds and why, and what people say of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field
from skillroute_client import AsyncSkillroute, Repeat

from skillroute_local.console.actions import Actions
from skillroute_local.console.callers import organisation_of
from skillroute_local.console.judgements import JudgementFile, JudgementFiles, Wanted

Query = Annotated[str, Field(min_length=1, max_length=1000)]
Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=600)]], Field(max_length=100)]

Outcomes = Annotated[list[dict[str, Any]], Field(min_length=1, max_length=500)]


def search_actions(files: JudgementFiles) -> Actions:
    """Return the actions of the page; judgements go into the file of the caller's organisation."""
    actions = Actions("search")

    async def work(
        client: AsyncSkillroute, scope: Literal["search", "skills"], does: Callable[[JudgementFile], None], query: str
    ) -> dict[str, Any]:
        file = files.of(await organisation_of(client, scope))
        turn = files.turns[file.path.name]

        def in_turn() -> dict[str, Any]:
            with turn:
                does(file)
                return _state(file, query)

        return await asyncio.to_thread(in_turn)  # thousands of lines: others' requests go on meanwhile

    @actions.action
    async def judged(client: AsyncSkillroute, query: str) -> dict[str, Any]:
        """Return what the file says of a request, and how many requests it has."""
        return await work(client, "search", lambda _: None, query)

    @actions.action
    async def judge(
        client: AsyncSkillroute, query: Query, right: Names, wrong: Names, wanted: Wanted | None = None
    ) -> dict[str, Any]:
        """Write what serves a request into the file; nothing in `right` means that nothing does."""
        return await work(client, "skills", lambda file: file.write(query, right, wrong, wanted), query)

    @actions.action
    async def forget(client: AsyncSkillroute, query: str) -> dict[str, Any]:
        """Take a request out of the file."""
        return await work(client, "skills", lambda file: file.forget(query), query)

    @actions.action
    async def requests(client: AsyncSkillroute) -> dict[str, Any]:
        """Return the file as it stands, for who evaluates elsewhere."""
        file = files.of(await organisation_of(client, "search"))
        return {"name": file.path.name, "text": await asyncio.to_thread(file.text)}

    actions.action(run)
    actions.action(report)
    return actions


async def run(client: AsyncSkillroute, request: dict[str, Any], receipt: bool = True) -> dict[str, Any]:
    """Search; `request` is the body of `POST /api/v1/search`, and what is empty in it is the server's default.

    Without a `receipt` looking is no use, and nothing is learned of it.
    """
    params = {} if receipt else {"receipt": "false"}
    body = {name: value for name, value in request.items() if value not in (None, "")} | {"explain": True}
    answer: dict[str, Any] = await client.request(
        "POST", "/api/v1/search", params=params, json=body, repeat=Repeat.ALWAYS
    )
    return answer


async def report(client: AsyncSkillroute, outcomes: Outcomes) -> dict[str, Any]:
    """Report marks as a person's outcomes of the searches that they are of."""
    answer = await client.feedback_batch([{**outcome, "source": "person"} for outcome in outcomes])
    return answer.model_dump()


def _state(file: JudgementFile, query: str) -> dict[str, Any]:
    # The name alone: where the machine keeps it is no business of who opens the page.
    return {"judged": file.of(query), "count": file.count(), "name": file.path.name}
