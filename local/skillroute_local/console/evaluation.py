"""The page Evaluation: the judged requests of the caller's organisation, edited, asked, and what came of it before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, StringConstraints
from skillroute_client import AsyncSkillroute

from skillroute_local.console.actions import Actions
from skillroute_local.console.callers import organisation_of
from skillroute_local.console.evaluation_run import Asking, history_of, keep_run, outcome_of
from skillroute_local.console.events import Rooms
from skillroute_local.console.judgements import JudgementFile, JudgementFiles
from skillroute_local.console.problems import MissingScope, Problem, Refused, Stale

T = TypeVar("T")

Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=600)]
Need = Annotated[list[Name], Field(min_length=1, max_length=100)]
Needs = Annotated[list[Need], Field(max_length=100)]
Wrong = Annotated[list[Name], Field(max_length=100)]
Lines = Annotated[list[dict[str, Any]], Field(min_length=1, max_length=100)]
Floors = Annotated[list[str], Field(max_length=20)]


def evaluation_actions(files: JudgementFiles) -> Actions:
    """Return the actions of the page; requests, and the runs over them, are those of the caller's organisation."""
    actions = Actions("evaluation")

    @actions.action
    async def requests(client: AsyncSkillroute) -> dict[str, Any]:
        """Return the judged requests, and the runs over them, the newest first."""
        file = await _file_of(files, client, "search")
        return await _in_turn(files, file, lambda: _shown(file))

    _add_edits(actions, files)
    _add_removal(actions, files)
    _add_run(actions, files)
    return actions


async def _file_of(files: JudgementFiles, client: AsyncSkillroute, scope: Literal["search", "skills"]) -> JudgementFile:
    return files.of(await organisation_of(client, scope))


async def _in_turn(files: JudgementFiles, file: JudgementFile, does: Callable[[], T]) -> T:
    def run() -> T:
        with files.turns[file.path.name]:
            return does()

    return await asyncio.to_thread(run)  # thousands of lines: others' requests go on meanwhile


def _add_edits(actions: Actions, files: JudgementFiles) -> None:
    @actions.action
    async def save(
        client: AsyncSkillroute,
        query: Query,
        needs: Needs,
        wrong: Wrong,
        seen: dict[str, Any] | None = None,
        was: str | None = None,
    ) -> dict[str, Any]:
        """Write what a request needs, where it is as the page has `seen` it still; None for one that is new.

        With `was` it had that text before.
        """
        file = await _file_of(files, client, "skills")

        def write() -> dict[str, Any]:
            _require_seen(file, was or query, seen)
            if was is not None and was != query and file.of(query) is not None:
                raise Refused(_taken(query))
            file.put(query, _without_twice(needs), wrong, was=was)
            return _state(file.of(query) or {})

        return await _in_turn(files, file, write)


def _add_removal(actions: Actions, files: JudgementFiles) -> None:
    @actions.action
    async def remove(client: AsyncSkillroute, query: str, seen: dict[str, Any]) -> list[dict[str, Any]]:
        """Take a request out, where it is as the page has `seen` it still; return its lines, to be put back."""
        file = await _file_of(files, client, "skills")

        def write() -> list[dict[str, Any]]:
            _require_seen(file, query, seen)
            taken = [value for value in file.values() if value.get("query") == query]
            file.forget(query)
            return taken

        return await _in_turn(files, file, write)

    @actions.action
    async def restore(client: AsyncSkillroute, lines: Lines) -> dict[str, Any]:
        """Put lines of a request back that were taken out, where it has none meanwhile."""
        file = await _file_of(files, client, "skills")
        query = lines[-1].get("query")
        if not isinstance(query, str) or any(line.get("query") != query for line in lines):
            raise Refused(Problem(422, "these are not the lines of one request", "Add the request anew."))

        def write() -> dict[str, Any]:
            _require_seen(file, query, None)
            file.append(lines)
            return _state(lines[-1])

        return await _in_turn(files, file, write)


def _add_run(actions: Actions, files: JudgementFiles) -> None:
    rooms = Rooms(1)

    @actions.action
    async def run(
        client: AsyncSkillroute, settings: dict[str, Any] | None = None, floors: Floors | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield how far an evaluation is, and at last its scorecard, as `skillroute eval` has it, and what changed.

        Parameters
        ----------
        settings : dict or None
            Fields of each search.
        floors : list of str or None
            Such as ``recall@5=0.80``: what is below fails.
        """
        org_id = await organisation_of(client, "search")
        file = files.of(org_id)
        text = await _in_turn(files, file, file.text)
        asking = Asking(client, text, file.path.name, settings or {}, floors or [])
        async with aclosing(rooms.within(org_id, aiter(asking))) as events:
            async for event in events:
                yield event
        before = await _in_turn(files, file, lambda: history_of(file))
        outcome, line = await asyncio.to_thread(outcome_of, asking, before[-1] if before else None)
        try:
            await organisation_of(client, "skills")
            history = await _in_turn(files, file, lambda: keep_run(file, line))
        except MissingScope as missing:
            outcome["not_kept"] = f"This run is not kept: {missing.problem.detail}."
            history = before
        yield outcome | {"history": _without_answers(history)}


def _shown(file: JudgementFile) -> dict[str, Any]:
    return {
        "name": file.path.name,
        "rows": [{"query": row["query"], **_state(row)} for row in file.rows()],
        "unread": sum(value is None for _, value in file.lines()),
        "history": _without_answers(history_of(file)),
    }


def _state(value: dict[str, Any]) -> dict[str, Any]:
    """Return what a page edits of a request: ``is_whole`` where its needs can be read."""
    needs, wrong = value.get("needs"), value.get("wrong")
    is_whole = isinstance(needs, list) and all(_are_names(need) and need for need in needs)
    return {
        "needs": needs if is_whole else [],
        "wrong": wrong if _are_names(wrong) else [],
        "source": value["source"] if isinstance(value.get("source"), str) else None,
        "is_whole": is_whole,
    }


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name.strip() for name in value)


def _require_seen(file: JudgementFile, query: str, seen: dict[str, Any] | None) -> None:
    stored = file.of(query)
    now = None if stored is None else _state(stored)
    if now is None and seen is not None:
        raise Stale("the request was taken out meanwhile", {"is_gone": True})
    if now is not None and (seen is None or any(seen.get(name) != now[name] for name in ("needs", "wrong"))):
        detail = "there is this request already" if seen is None else "another user has changed this request"
        raise Stale(detail, now)


def _taken(query: str) -> Problem:
    return Problem(409, f"there is a request {query!r} already", "Change that one, or choose other words.")


def _without_twice(needs: list[list[str]]) -> list[list[str]]:
    return [list(dict.fromkeys(need)) for need in needs]


def _without_answers(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if name != "answers"} for line in reversed(history)]
