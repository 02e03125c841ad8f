"""The answer: what a page shows, and with explain how it came about (message-search, section 5)."""

from __future__ import annotations

from typing import Any

from skillroute.core.answer_size import MAX_ON_THE_WAY, SEARCH_BYTES, on_the_way
from skillroute.core.observability import Metric, count, event, observe_ms
from skillroute.core.postgres.database import Database, Session
from skillroute.core.time.timing import Stopwatch
from skillroute.mail.search.answers import Explain, MessageResult, MessageSearchResponse, Timing
from skillroute.mail.search.cursor import Cursor, wire_engine
from skillroute.mail.search.engines import Served
from skillroute.mail.search.model import Mode
from skillroute.mail.search.outcome import SearchOutcome
from skillroute.mail.search.redact import result
from skillroute.mail.search.repository import MailSearchRepository
from skillroute.mail.search.run import MessageRun

_BESIDE = 5_000
"""Bytes that everything else of a result has at most: keys, a sender, a thread, numbers, reasons."""


def outcome(run: MessageRun, served: Served, database: Database) -> SearchOutcome:
    """Make the answer, with what is to be reported of it. Raises `DatabaseUnavailable`."""
    results, redacted, sql, end = _loaded(run, served, database)
    actual, plan = _actual(run, served), served.plan
    response = MessageSearchResponse(
        results=results,
        next_cursor=None if end is None else end.token(),
        mode=actual,
        engine=None if plan is None else wire_engine(plan.engine),
        explain=_explain(run, served, redacted, sql) if run.request.explain else None,
    )
    answer = SearchOutcome(
        response=response,
        requested=run.requested,
        actual=actual,
        reason=None if plan is None else plan.reason,
        index_state=run.index_state,
        timeout_stage=run.timeout_stage,
        budget=run.budget,
    )
    _tell(run, served, answer)
    return answer


def _actual(run: MessageRun, served: Served) -> Mode:
    return run.requested if served.plan is None else served.plan.mode


def _loaded(run: MessageRun, served: Served, database: Database) -> tuple[list[MessageResult], int, str, Cursor | None]:
    """Return the results, how many of them are redacted, the statement that found them, and where the page ended."""
    scope, request = run.scope, run.request
    ids = [match.id for match in served.page.matches]
    asked = served.plan is not None and served.plan.engine == "postgres"
    wants_sql = request.explain and run.caller.is_operator and asked
    if not ids and not wants_sql:
        return [], 0, "", served.page.end
    statement = "newest" if served.method == "filter_only" and request.ranking == "recency" else served.method

    def read(session: Session) -> tuple[tuple[dict[int, dict[str, Any]], int], set[int], set[int], str]:
        search, projects = MailSearchRepository(session), scope.searched.project_ids
        # Once more, on the very rows that are shown: what was moved meanwhile to where the caller may not look is gone.
        gone = search.outside(ids, projects) if projects is not None else set()
        hidden = search.outside(ids, scope.requested) if scope.redaction and scope.requested is not None else set()
        found = search.found(request.doc_kind, ids, room=SEARCH_BYTES)
        return found, gone, hidden, search.sql[statement] if wants_sql else ""

    (found, number), gone, hidden, sql = database.read(read)
    room = _Room(SEARCH_BYTES)
    for at, match in enumerate(served.page.matches[:number]):
        if match.id not in found or match.id in gone:
            continue
        redaction = scope.redaction if match.id in hidden else None
        method = served.method if request.explain else None
        row = found[match.id]
        shown = result(request.doc_kind, match, row, scope.rights, redaction, method)
        if not room.takes(shown, row["bytes"] if redaction is None else None):
            number = at
            break
    # Full of bytes before it was full of results: the next page begins where this one had no room.
    end = served.page.end if number == len(ids) else served.page.place(number)
    return room.results, sum(hit.id in hidden for hit in room.results), sql, end


class _Room:
    """Takes results as long as an answer has room for them; the first one always.

    Sizes are estimated from above until the estimates have no room, and only then measured.
    """

    def __init__(self, left: int) -> None:
        self.results: list[MessageResult] = []
        self._left = left
        self._estimated: list[tuple[MessageResult, int]] = []

    def takes(self, shown: MessageResult, text_bytes: int | None) -> bool:
        """Take a result, unless there is no room; `text_bytes` are those that it has of text, where they are known."""
        size = None if text_bytes is None else MAX_ON_THE_WAY * text_bytes + _BESIDE
        if size is None or size > self._left:
            self._measure()
            size = _size(shown)
        else:
            self._estimated.append((shown, size))
        if self.results and size > self._left:
            return False
        self.results.append(shown)
        self._left -= size
        return True

    def _measure(self) -> None:
        self._left += sum(estimate - _size(shown) for shown, estimate in self._estimated)
        self._estimated.clear()


def _size(shown: MessageResult) -> int:
    return on_the_way(shown.__pydantic_serializer__.to_json(shown, by_alias=True, exclude_none=True))


def _explain(run: MessageRun, served: Served, redacted: int, sql: str) -> Explain:
    plan = served.plan
    return Explain(
        method=served.method,
        normalized_query=run.request.text,
        used_like_fallback=served.method == "like_fallback",
        facet_count=len(run.facets.applied),
        facets_applied=list(run.facets.applied),
        sql=sql,
        scope_policy=run.scope.policy,
        denied_count=served.denied,
        redacted_count=redacted,
        mode_downgraded=_is_downgraded(run, served),
        cursor_invalidated=run.invalidated is not None,
        requested_mode=run.requested,
        actual_mode=_actual(run, served),
        engine=None if plan is None else wire_engine(plan.engine),
        downgrade_reason=None if plan is None else plan.reason,
        # Microseconds reveal what a search passed over; what callers measure themselves is blurred by the network.
        timing=_timing(run.watch) if run.caller.is_operator else None,
        shadow=served.shadow,
    )


def _timing(watch: Stopwatch) -> Timing:
    return Timing(
        total_us=round(watch.total_ms() * 1000.0),
        lexical_us=watch.us("lexical"),
        vector_us=watch.us("vector"),
        fusion_us=watch.us("fusion"),
        rerank_us=watch.us("rerank"),
        scope_us=watch.us("scope"),
    )


def _is_downgraded(run: MessageRun, served: Served) -> bool:
    """Return whether another mode ran than was asked for; a listing of what passes filters has none."""
    return served.method != "filter_only" and _actual(run, served) != run.requested


def _tell(run: MessageRun, served: Served, answer: SearchOutcome) -> None:
    count(Metric.SEARCH)
    observe_ms(Metric.SEARCH_TIME, run.watch.total_ms())
    if answer.is_degraded:
        count(Metric.SEARCH_DEGRADED)
    if _is_downgraded(run, served):
        event(
            "search.mode.downgrade",
            Metric.SEARCH_MODE_DOWNGRADE,
            requested=run.requested,
            actual=answer.actual,
            reason=answer.reason,
        )
    if run.invalidated is not None:
        event(
            "search.cursor.invalidated",
            Metric.SEARCH_CURSOR_INVALIDATED,
            cursor_engine=wire_engine(run.invalidated),
            current_engine=answer.response.engine,
        )
