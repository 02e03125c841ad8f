"""The page Search: a request, what it finds and why, and what people say of it."""

from __future__ import annotations

from typing import Any

from skillroute_client import AsyncSkillroute, Repeat

from skillroute_local.console.actions import Actions
from skillroute_local.console.callers import organisation_of
from skillroute_local.console.judgements import JudgementFile, JudgementFiles, Wanted


def search_actions(files: JudgementFiles) -> Actions:
    """Return the actions of the page; judgements go into the file of the caller's organisation."""
    actions = Actions("search")

    @actions.action
    async def run(client: AsyncSkillroute, request: dict[str, Any]) -> dict[str, Any]:
        """Search; `request` is the body of `POST /api/v1/search`, and what is empty in it is the server's default."""
        body = {name: value for name, value in request.items() if value not in (None, "")} | {"explain": True}
        answer: dict[str, Any] = await client.request("POST", "/api/v1/search", json=body, repeat=Repeat.ALWAYS)
        return answer

    @actions.action
    async def judged(client: AsyncSkillroute, query: str) -> dict[str, Any]:
        """Return what the file says of a request, and how many requests it has."""
        return _state(files.of(await organisation_of(client, "search")), query)

    @actions.action
    async def judge(
        client: AsyncSkillroute, query: str, right: list[str], wrong: list[str], wanted: Wanted | None = None
    ) -> dict[str, Any]:
        """Write what serves a request into the file; nothing in `right` means that nothing does."""
        file = files.of(await organisation_of(client, "skills"))
        file.write(query, right, wrong, wanted)
        return _state(file, query)

    @actions.action
    async def forget(client: AsyncSkillroute, query: str) -> dict[str, Any]:
        """Take a request out of the file."""
        file = files.of(await organisation_of(client, "skills"))
        file.forget(query)
        return _state(file, query)

    @actions.action
    async def requests(client: AsyncSkillroute) -> dict[str, Any]:
        """Return the file as it stands, for who evaluates elsewhere."""
        file = files.of(await organisation_of(client, "search"))
        return {"name": file.path.name, "text": file.text()}

    return actions


def _state(file: JudgementFile, query: str) -> dict[str, Any]:
    # The name alone: where the machine keeps it is no business of who opens the page.
    return {"judged": file.of(query), "count": file.count(), "name": file.path.name}
