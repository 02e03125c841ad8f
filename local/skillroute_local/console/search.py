"""The page Search: a request, what it finds and why, and what people say of it."""

from __future__ import annotations

from typing import Any

from skillroute_client import AsyncSkillroute, Repeat

from skillroute_local.console.actions import Actions
from skillroute_local.console.judgements import JudgementFile


def search_actions(file: JudgementFile) -> Actions:
    """Return the actions of the page; judgements go into `file`."""
    actions = Actions("search")

    @actions.action
    async def run(client: AsyncSkillroute, request: dict[str, Any]) -> dict[str, Any]:
        """Search; `request` is the body of `POST /api/v1/search`, and what is empty in it is the server's default."""
        body = {name: value for name, value in request.items() if value not in (None, "")} | {"explain": True}
        answer: dict[str, Any] = await client.request("POST", "/api/v1/search", json=body, repeat=Repeat.ALWAYS)
        return answer

    @actions.action
    async def judged(_: AsyncSkillroute, query: str) -> dict[str, Any]:
        """Return what the file says of a request, and how many requests it has."""
        return _state(file, query)

    @actions.action
    async def judge(_: AsyncSkillroute, query: str, right: list[str], wrong: list[str]) -> dict[str, Any]:
        """Write what serves a request into the file; nothing in `right` means that nothing does."""
        file.write(query, right, wrong)
        return _state(file, query)

    @actions.action
    async def forget(_: AsyncSkillroute, query: str) -> dict[str, Any]:
        """Take a request out of the file."""
        file.forget(query)
        return _state(file, query)

    return actions


def _state(file: JudgementFile, query: str) -> dict[str, Any]:
    return {"judged": file.of(query), "count": file.count(), "path": str(file.path)}
