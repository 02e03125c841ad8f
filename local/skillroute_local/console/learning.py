"""The page Learning: what was learned and which state is live, and judged requests to review."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field
from skillroute_client import AsyncSkillroute

from skillroute_local.console.actions import Actions
from skillroute_local.console.callers import organisation_of
from skillroute_local.console.judgements import JudgementFile, JudgementFiles
from skillroute_local.console.lent_parts import LendParts, with_parts
from skillroute_local.console.problems import Busy

_ROWS = 1000
_PATH = "/api/v1/learning"

Id = Annotated[int, Field(ge=1)]
Query = Annotated[str, Field(min_length=1, max_length=1000)]
Needs = Annotated[list[list[str]], Field(max_length=100)]
Days = Annotated[int, Field(ge=1, le=400)]


def learning_actions(files: JudgementFiles, lend: LendParts | None) -> Actions:
    """Return the actions of the page; what is accepted goes into the file of the caller's organisation.

    Without parts nothing is learned from here.
    """
    actions = Actions("learning")

    @actions.action
    async def status(client: AsyncSkillroute) -> dict[str, Any]:
        """Return what is kept of use, the states with their measurements, and whether the page can learn now."""
        found: dict[str, Any] = await client.request("GET", _PATH)
        return found | {"can_learn": lend is not None}

    for each in (requests, switch, go_on, forget):
        actions.action(each)
    _add_judged(actions, files)
    if lend is not None:
        _add_learning(actions, lend)
    return actions


def _add_judged(actions: Actions, files: JudgementFiles) -> None:
    @actions.action
    async def judged(client: AsyncSkillroute, days: Days = 30) -> dict[str, Any]:
        """Return the requests that use judges, 1,000 at most, without those that were decided on."""
        file = files.of(await organisation_of(client, "skills"))
        found: list[dict[str, Any]] = await client.request(
            "GET", f"{_PATH}/judged", params={"days": days, "limit": _ROWS}
        )

        def waiting() -> list[dict[str, Any]]:
            in_file, rejected = file.queries(), file.rejected()
            return [row for row in found if row["query"] not in in_file and rejected.get(row["query"]) != row["needs"]]

        return {"rows": await asyncio.to_thread(waiting), "name": file.path.name}

    @actions.action
    async def accept(client: AsyncSkillroute, query: Query, needs: Needs) -> dict[str, Any]:
        """Write a request that use judges into the file, where people have not judged it themselves."""
        right = [name for need in needs for name in need]
        return await decide(client, lambda file: file.add(query, right, source="use"))

    @actions.action
    async def reject(client: AsyncSkillroute, query: Query, needs: Needs) -> dict[str, Any]:
        """Remember that this judgement is not right: it is not shown again, unless use judges otherwise."""
        return await decide(client, lambda file: file.reject(query, needs))

    async def decide(client: AsyncSkillroute, does: Callable[[JudgementFile], None]) -> dict[str, Any]:
        file: JudgementFile = files.of(await organisation_of(client, "skills"))

        def in_turn() -> dict[str, Any]:
            with files.turns[file.path.name]:
                does(file)
            return {"name": file.path.name}

        return await asyncio.to_thread(in_turn)


def _add_learning(actions: Actions, lend: LendParts) -> None:
    learning = asyncio.Lock()  # a minute of a processor, and of a thread that all pages share

    @actions.action
    async def learn(client: AsyncSkillroute) -> dict[str, Any]:
        """Learn of the receipts and outcomes of the caller's organisation; return what became of it, and why.

        What is learned without an organisation may go live for all of them: that is the operator's to do.
        """
        org_id = await organisation_of(client, "skills")
        if org_id is None:
            await organisation_of(client, "admin")
        if learning.locked():
            raise Busy("something is being learned already")
        async with learning:
            report = await with_parts(lend, lambda parts: parts.learn(org_id))
        return {"state_id": report.state_id, "is_live": report.is_live, "reason": report.reason}


async def requests(client: AsyncSkillroute, state_id: Id) -> list[dict[str, Any]]:
    """Return what a state has learned, tool by tool; 1,000 requests at most."""
    path = f"{_PATH}/states/{state_id}/tools"
    found: list[dict[str, Any]] = await client.request("GET", path, params={"limit": _ROWS})
    return found


async def switch(client: AsyncSkillroute, state_id: Id | None) -> dict[str, Any]:
    """Make a state live, or with None none."""
    found: dict[str, Any] = await client.request("PUT", f"{_PATH}/live", json={"state_id": state_id})
    return found


async def go_on(client: AsyncSkillroute) -> dict[str, Any]:
    """Let states go live by themselves again."""
    return (await client.learning.go_on()).model_dump(mode="json")


async def forget(client: AsyncSkillroute, tool_id: Id) -> dict[str, Any]:
    """Forget what was learned of a tool."""
    return (await client.learning.forget(tool_id)).model_dump()
