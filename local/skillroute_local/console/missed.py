"""The page Unanswered: requests that found nothing, by meaning, and what people decide on them."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

import skillroute_client as api
from pydantic import BaseModel, Field
from skillroute_client import AsyncSkillroute, Repeat
from skillroute_client.models import Tool

from skillroute_local.console.actions import Actions
from skillroute_local.console.callers import organisation_of
from skillroute_local.console.judgements import JudgementFiles
from skillroute_local.console.missed_decisions import Decisions, Line
from skillroute_local.console.missed_groups import as_text, read_groups
from skillroute_local.console.problems import MissingScope, Stale

T = TypeVar("T")

MOST_REQUESTS = 8
"""Requests that a tool serves, as the catalogue takes them."""

MOST_CHARACTERS = 300
"""Of a request that a tool serves."""

SHOWN = 9
"""Nearest tools: each has a digit."""

Id = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1, max_length=1000)]
Days = Annotated[int, Field(ge=1, le=400)]


class Group(BaseModel):
    """A group as the page has it, to be decided on.

    Attributes
    ----------
    query : str
    wordings : list of str
        All wordings of it that are known, so that the decision is found when another one is the most frequent.
    seen : str or None
        When the decision was made that the page shows; None where it shows none.
    """

    query: Text
    wordings: Annotated[list[Text], Field(max_length=100)] = []
    seen: str | None = None
    searches: int = 0
    callers: int = 0
    last_at: str | None = None


class Book:
    """The decisions of organisations, which are changed by one at a time."""

    def __init__(self, files: JudgementFiles) -> None:
        self._files = files

    async def work(
        self, client: AsyncSkillroute, scope: Literal["search", "skills"], does: Callable[[Decisions], T]
    ) -> T:
        """Return what is done with the decisions of the caller's organisation."""
        file = self._files.of(await organisation_of(client, scope))

        def in_turn() -> T:
            with self._files.turns[file.path.name]:
                return does(Decisions(file))

        return await asyncio.to_thread(in_turn)

    async def read(self, client: AsyncSkillroute) -> list[Line]:
        """Return the decisions to who may read or write them."""
        try:
            return await self.work(client, "search", Decisions.all)
        except MissingScope:
            return await self.work(client, "skills", Decisions.all)


def missed_actions(files: JudgementFiles) -> Actions:
    """Return the actions of the page; decisions are kept next to the organisation's judged requests."""
    actions, book = Actions("missed"), Book(files)

    @actions.action
    async def groups(client: AsyncSkillroute, days: Days = 30) -> dict[str, Any]:
        """Return the requests that found nothing, with what was decided on them, and what is missing to see more."""
        return await read_groups(client, days, await book.read(client))

    @actions.action
    async def export(
        client: AsyncSkillroute, days: Days = 30, state: str = "", form: Literal["csv", "jsonl"] = "csv"
    ) -> dict[str, str]:
        """Return the groups of a state, or all, as a file."""
        found = await read_groups(client, days, await book.read(client))
        rows = [row for row in found["rows"] if state in {"", row["state"]}]
        return {"name": f"unanswered.{form}", "text": as_text(rows, form)}

    _add_serving(actions, book)
    _add_decisions(actions, book)
    actions.action(nearest)
    return actions


def _add_serving(actions: Actions, book: Book) -> None:
    @actions.action
    async def serve(client: AsyncSkillroute, group: Group, tool_id: Id, replace: str | None = None) -> dict[str, Any]:
        """Let a tool serve a request, and judge it so; of a tool with eight requests `replace` is left out.

        Returns ``full`` with the requests of a tool that has no room, and changes nothing then.
        """
        old = await _decided(client, book, group)
        found = await client.tools.get(tool_id)
        texts = [request.text for request in found.requests or []]
        text = _as_request(group.query)
        is_new = text not in texts
        if replace is not None and replace not in texts:
            raise Stale("the tool's requests were changed meanwhile", {"full": texts})
        if is_new and len(texts) >= MOST_REQUESTS and replace is None:
            return {"full": texts, "title": _title(found)}
        if old is not None:
            await _take_back(client, book, old)
            found = await client.tools.get(tool_id)
        left = _plain(found, replace) if replace else None
        if is_new:
            await _set_requests(client, found, without=replace, more={"text": text, "source": "person"})
        title = _title(found)

        def write(decisions: Decisions) -> Line:
            decisions.require_seen([group.query], None)
            undo = {"is_new": is_new, "text": text, "replaced": left, "judged": decisions.judge(group.query, title)}
            more = {"tool": {"id": tool_id, "title": title}, "undo": undo, **_of(group)}
            return decisions.write(group.query, group.wordings, "served", more)

        try:
            return _answer(await book.work(client, "skills", write))
        except BaseException:
            if is_new:  # both are written, or neither
                await _set_requests(client, await client.tools.get(tool_id), without=text, more=left)
            raise


def _add_decisions(actions: Actions, book: Book) -> None:
    @actions.action
    async def decide(
        client: AsyncSkillroute, group: Group, decision: Literal["nothing", "missing", "dismissed"]
    ) -> dict[str, Any]:
        """Remember that nothing should serve a request, and judge it so; or that a tool is missing, or it is none."""
        old = await _decided(client, book, group)
        if old is not None:
            await _take_back(client, book, old)

        def write(decisions: Decisions) -> Line:
            decisions.require_seen([group.query], None)
            judged = decisions.judge(group.query, None) if decision == "nothing" else None
            more = {"undo": {"judged": judged}, **_of(group)}
            return decisions.write(group.query, group.wordings, decision, more)

        return _answer(await book.work(client, "skills", write))

    @actions.action
    async def undo(client: AsyncSkillroute, query: Text, seen: str) -> dict[str, Any]:
        """Take a decision back, and what it wrote; ``kept`` lists what others have changed since, which stays."""
        line = await _decided(client, book, Group(query=query, seen=seen))
        return {"kept": [] if line is None else await _take_back(client, book, line)}


async def _decided(client: AsyncSkillroute, book: Book, group: Group) -> Line | None:
    """Return the decision on a group that the page shows; raise `Stale` where there is another one."""
    wordings = [group.query, *group.wordings]
    return await book.work(client, "skills", lambda decisions: decisions.require_seen(wordings, group.seen))


async def _take_back(client: AsyncSkillroute, book: Book, line: Line) -> list[str]:
    """Take back what a decision wrote, and forget it; return what others have changed since."""
    undo, kept = line.get("undo") or {}, []
    if undo.get("is_new"):
        try:
            found = await client.tools.get(line["tool"]["id"])
            await _set_requests(client, found, without=undo["text"], more=undo.get("replaced"))
        except api.NotFound:
            kept.append("the tool, which is gone")

    def forget(decisions: Decisions) -> bool:
        decisions.forget(line["query"])
        return undo.get("judged") is None or decisions.judge_back(line["query"], undo["judged"])

    if not await book.work(client, "skills", forget):
        kept.append("the judged request")
    return kept


async def nearest(client: AsyncSkillroute, query: Text) -> dict[str, Any]:
    """Return the first results of a search for a request, with why; it leaves no receipt."""
    body = {"query": query, "limit": SHOWN, "explain": True}
    answer: dict[str, Any] = await client.request(
        "POST", "/api/v1/search", params={"receipt": "false"}, json=body, repeat=Repeat.ALWAYS
    )
    return {"tools": answer["tools"], "no_match": answer["metadata"]["no_match"]}


async def _set_requests(
    client: AsyncSkillroute, tool: Tool, *, without: str | None, more: dict[str, str] | None
) -> None:
    """Write a tool's requests, where it is as it was read still."""
    kept = [_plain(tool, request.text) for request in tool.requests or [] if request.text != without]
    wanted = kept if more is None or len(kept) >= MOST_REQUESTS else [*kept, more]
    body = tool.model_dump(mode="json", by_alias=True, exclude_unset=True) | {"requests": wanted}
    await client.tools.put_one(tool.id, body, if_match=tool.etag)


def _plain(tool: Tool, text: str) -> dict[str, str]:
    source = next(request.source for request in tool.requests or [] if request.text == text)
    # A person who keeps some of the packaged ones has chosen them.
    return {"text": text, "source": source.replace("packaged", "import")}


def _as_request(query: str) -> str:
    """Return what was asked as a tool's request: on one line, and of as many characters as one may have."""
    line = unicodedata.normalize("NFC", " ".join(query.split()))
    return line if len(line) <= MOST_CHARACTERS else line[:MOST_CHARACTERS].rpartition(" ")[0] or line[:MOST_CHARACTERS]


def _title(tool: Tool) -> str:
    return f"{tool.server}/{tool.name}" if tool.server else tool.name


def _of(group: Group) -> Line:
    return {"group": {"searches": group.searches, "callers": group.callers, "last_at": group.last_at}}


def _answer(line: Line) -> dict[str, Any]:
    return {"query": line["query"], "at": line["at"], "decision": line["decision"], "tool": line.get("tool")}
