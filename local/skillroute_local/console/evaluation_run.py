"""Asking all judged requests for the page Evaluation, and the runs before: `skillroute_local.evaluating` measures."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skillroute.search.model import SearchRequest, SearchResponse
from skillroute_client import AsyncSkillroute

from skillroute_local.console.events import in_own_thread
from skillroute_local.console.json_lines import JsonLines
from skillroute_local.console.problems import Problem, Refused
from skillroute_local.errors import Misused
from skillroute_local.evaluating.catalogue import Judged, Tool, judged
from skillroute_local.evaluating.requests import Row, read_requests

if TYPE_CHECKING:
    from skillroute_local.evaluating.scorecard import Answer, Scorecard

MOST_RUNS = 100
_WORST = 200
_SHOWN_PROBLEMS = 5
_PAGE = 500
_SEED = 7
_TOLERANCE = 0.01


class _Stopped(Exception):
    """The run was stopped."""


class Asking:
    """A run over the requests of a file: iterated over it tells how far it is; then the rest can be read.

    Attributes
    ----------
    tools : list of Tool
    judged : Judged
    card : Scorecard
    version : str
        Of the Skillroute that was asked.
    """

    tools: list[Tool]
    judged: Judged
    card: Scorecard
    version: str

    def __init__(
        self, client: AsyncSkillroute, text: str, name: str, fields: dict[str, Any], floors: list[str]
    ) -> None:
        self._client = client
        self._rows = rows_of(text, name)
        self.fields = {field: value for field, value in fields.items() if value not in (None, "")}
        self.floors = floors
        self._is_stopped = False

    async def __aiter__(self) -> AsyncGenerator[dict[str, Any], None]:
        # These load NumPy: who opens another page does not wait for it.
        from skillroute_local.evaluating.scorecard import ask, search_request  # noqa: PLC0415

        read_floors(self.floors)
        search_request("warm up", self.fields)  # settings that no search takes are refused before anything is read
        self.version = (await self._client.request("GET", "/health"))["version"]
        yield {"doing": "reading the catalogue", "done": 0, "total": None}
        self.tools = await self._read()
        self.judged = judged(self._rows, self.tools)
        total = len(self.judged.questions)
        if not total:
            detail = "no request is left to measure: none of the tools that they need is in the catalogue"
            raise Refused(Problem(422, detail, "Correct the names of the tools, or switch the tools on."))
        loop = asyncio.get_running_loop()
        steps: asyncio.Queue[None] = asyncio.Queue()

        def search(request: SearchRequest) -> SearchResponse:
            if self._is_stopped:
                raise _Stopped
            return asyncio.run_coroutine_threadsafe(self._search(request), loop).result()

        def measure() -> Scorecard:
            search(search_request("warm up", self.fields))  # the first builds the index, or loads the model
            return ask(search, self.judged.questions, self.fields, step=step)

        def step() -> None:
            loop.call_soon_threadsafe(steps.put_nowait, None)

        work = in_own_thread(measure)
        work.add_done_callback(lambda done: done.cancelled() or done.exception())  # unread where it was stopped
        try:
            done = 0
            yield {"doing": "searching", "done": done, "total": total}
            while done < total:
                waiting = asyncio.create_task(steps.get())
                either: set[asyncio.Future[Any]] = {waiting, work}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if not waiting.done():
                    waiting.cancel()
                    break
                done += 1 + _rest(steps)
                yield {"doing": "searching", "done": done, "total": total}
            self.card = await work
        finally:
            self._is_stopped = True

    async def _read(self) -> list[Tool]:
        found = [tool async for tool in self._client.tools.list(limit=_PAGE) if tool.is_active]
        return [Tool(str(tool.id), tool.server or "", tool.name, tool.type, tool.description) for tool in found]

    async def _search(self, request: SearchRequest) -> SearchResponse:
        body = request.model_dump(mode="json", exclude_unset=True)
        answer = await self._client.search(**body, receipt=False)  # a judged request is no use
        return SearchResponse.model_validate(answer.model_dump(mode="json", by_alias=True, exclude_unset=True))


def _rest(steps: asyncio.Queue[None]) -> int:
    """Return how many steps wait, and take them."""
    count = 0
    while not steps.empty():
        steps.get_nowait()
        count += 1
    return count


def rows_of(text: str, name: str) -> list[Row]:
    """Read the judged requests of a file. Raises `Refused` where any line is wrong, or there is none."""
    problems: list[str] = []
    rows = list(read_requests(text.encode().splitlines(keepends=True), name, problems.append))
    if problems:
        more = f" and {len(problems) - _SHOWN_PROBLEMS} more" if len(problems) > _SHOWN_PROBLEMS else ""
        detail = f"nothing was measured: {'; '.join(problems[:_SHOWN_PROBLEMS])}{more}"
        raise Refused(Problem(422, detail, "Correct these requests, or take them out."))
    if not rows:
        raise Refused(Problem(422, "there is no request to ask", "Add one, or mark results on the page Search."))
    return rows


def read_floors(floors: list[str]) -> list[tuple[str, float]]:
    """Read floors such as ``recall@5=0.80``. Raises `Refused`."""
    from skillroute_local.evaluating.gate import read_floor  # noqa: PLC0415

    try:
        return [read_floor(floor) for floor in floors]
    except Misused as error:
        raise Refused(Problem(422, str(error), "Give a measure and a number from 0 to 1.")) from None


def outcome_of(asking: Asking, before: dict[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the page shows of a run, and its line of the history, with what changed since the line before."""
    from skillroute_local.evaluating.gate import Baseline, below_baseline, below_floors  # noqa: PLC0415
    from skillroute_local.evaluating.scorecard import MEASURES, report_of, worst  # noqa: PLC0415

    card, means = asking.card, asking.card.means()
    report = report_of(asking.judged, card, asking.tools)
    rows = {row["where"]: row for row in report.pop("answers")}
    failed = worst(card.answers, len(card.answers))
    line = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": asking.fields,
        "requests": len(card.answers),
        "digest": _digest(asking.judged),
        "measures": means,
        "latency_ms": card.latency_ms(),
        "version": asking.version,
        "tools": len(asking.tools),
        "answers": {answer.question.query: _values(answer) for answer in card.answers},
    }
    gate = below_floors(means, read_floors(asking.floors))
    if before is not None and before["measures"].get("recall@5") is not None:
        baseline = Baseline(requests=before["requests"], measures=before["measures"])
        gate += below_baseline(means, baseline, _TOLERANCE)
    shown = {
        "at": line["at"],
        "report": report,
        "says": {measure.name: measure.says for measure in MEASURES},
        "failed": [rows[answer.question.where] for answer in failed[:_WORST]],
        "failed_in_all": len(failed),
        "gate": gate,
        "changes": None if before is None else _changes(before, line),
    }
    return shown, line


def _values(answer: Answer) -> dict[str, float]:
    """Return the measures of one answer by their names."""
    from skillroute_local.evaluating.scorecard import MEASURES  # noqa: PLC0415

    return {measure.name: round(float(value), 4) for measure in MEASURES for value in measure.values([answer])}


def _digest(found: Judged) -> str:
    asked = sorted([question.query, sorted(sorted(need) for need in question.needs)] for question in found.questions)
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:12]


def _changes(before: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """Return what was found newly and what is lost, of the requests of both runs, with the differences' intervals."""
    from skillroute.core.ranking.intervals import difference  # noqa: PLC0415

    old, new = before.get("answers") or {}, line["answers"]
    both = [query for query in new if query in old and set(old[query]) == set(new[query])]
    differences = {}
    for name in line["measures"]:
        pairs = [(old[query][name], new[query][name]) for query in both if name in new[query]]
        if pairs:
            gained = difference([one for one, _ in pairs], [other for _, other in pairs], seed=_SEED)
            differences[name] = {field: round(value, 4) for field, value in asdict(gained).items()}
    return {
        "against": {name: before[name] for name in ("at", "settings", "digest", "requests")},
        "compared": len(both),
        "found": [query for query in both if _is_found(new[query]) and not _is_found(old[query])],
        "lost": [query for query in both if _is_found(old[query]) and not _is_found(new[query])],
        "differences": differences,
    }


def _is_found(values: dict[str, float]) -> bool:
    """Return whether every need was served by the first five, or a request for nothing was answered so."""
    return values.get("comp@5", values.get("no_match", 0.0)) >= 1.0


def history_of(file: JsonLines) -> list[dict[str, Any]]:
    """Return the runs over the requests of a file, the oldest first."""
    return [line for line in file.next_to("history").values() if isinstance(line.get("measures"), dict)]


def keep_run(file: JsonLines, line: dict[str, Any]) -> list[dict[str, Any]]:
    """Write a run down, and return the newest hundred. What each request got is kept of the last one alone."""
    kept = [{name: value for name, value in run.items() if name != "answers"} for run in history_of(file)]
    history = [*kept, line][-MOST_RUNS:]
    file.next_to("history").replace([json.dumps(run, ensure_ascii=False) for run in history])
    return history
