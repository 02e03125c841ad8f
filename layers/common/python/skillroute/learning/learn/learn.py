"""Learning for one organisation: what its outcomes teach, measured, and live where it is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from skillroute.core.embedding.model import EmbeddingModel, to_bytes
from skillroute.core.errors.model import EmbeddingUnavailable
from skillroute.core.observability import Metric, count, logger
from skillroute.core.postgres.database import Database, Session
from skillroute.learning.learn.evidence import Evidence, EvidenceRepository, counted
from skillroute.learning.learn.measure import (
    HELD_OUT,
    MIN_HELD_OUT,
    Ask,
    HeldOut,
    Verdict,
    is_worse,
    judge,
    measured,
    split,
)
from skillroute.learning.learn.pairs import pairs
from skillroute.learning.learn.requests import learned_requests
from skillroute.learning.states.matrix import RequestMatrix
from skillroute.learning.states.model import LearnedRequest, NewState
from skillroute.learning.states.repository import StateRepository

Rows = list[tuple[int, bytes, float]]
"""Tool, vector and share of learned requests."""

AskAs = Callable[[str | None, EmbeddingModel], Ask]
"""Returns what asks searches of an organisation's members."""


@dataclass(frozen=True, slots=True)
class LearnReport:
    """The result of learning.

    Attributes
    ----------
    state_id : int or None
        Of what was learned; None where nothing was, or nothing was to be stored.
    is_live : bool
        Whether it went live.
    reason : str
        Why, or why not.
    details : mapping
        Counts and measures, as they are kept with the state.
    """

    org_id: str | None
    state_id: int | None
    is_live: bool
    reason: str
    details: dict[str, Any]


class Learn:
    """Learns from an organisation's receipts and outcomes.

    Parameters
    ----------
    database : Database
    model : callable
        Returns the embedding model of searches, None while it is not known.
    ask_as : callable
    now : callable, optional
    """

    def __init__(
        self,
        database: Database,
        model: Callable[[], EmbeddingModel | None],
        ask_as: AskAs,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._model = model
        self._ask_as = ask_as
        self._now = now

    def __call__(self, org_id: str | None, *, dry_run: bool = False) -> LearnReport:
        """Learn for one organisation, or with None for the global catalogue.

        Parameters
        ----------
        dry_run : bool
            Measures and reports, and stores nothing.

        Raises
        ------
        DatabaseUnavailable, EmbeddingUnavailable
            PostgreSQL or the embedding model cannot be reached.
        """
        model = self._model()
        if model is None:
            raise EmbeddingUnavailable("the embedding model is not known yet")
        began_at = self._now()
        found, needed = self._database.read(lambda session: _read(EvidenceRepository(session), org_id, str(model)))
        evidence = counted(found, needed)
        first, asked = split(evidence)
        requests = learned_requests(first, began_at, needed)
        counts = _counts(found, evidence, requests) | {"held_out": len(asked)}
        if not requests:
            reason = "no request led three times to one tool" + (", from two callers" if needed > 1 else "")
            reason = reason if found else "no outcome fits a receipt of callers who may teach"
            return LearnReport(org_id, None, False, reason, counts)
        if len(asked) < MIN_HELD_OUT:
            least = round(MIN_HELD_OUT / HELD_OUT)
            reason = f"{len(asked)} searches can be measured, and {MIN_HELD_OUT} are needed, of {least} that count"
            return LearnReport(org_id, None, False, reason, counts)
        live, shared = self._live(org_id, model)
        found_better = _compare(self._ask_as(org_id, model), asked, requests, live.rows, shared)
        details = counts | found_better.as_json()
        is_live, reason = found_better.is_better, found_better.reason
        if dry_run:
            return LearnReport(org_id, None, is_live, reason, details)
        state = NewState(org_id, str(model), is_live, details, requests, pairs(first, needed), began_at)
        state_id, instead = self._database.transact(lambda session: _store(session, state, live.ids, found_better))
        if instead is not None:
            is_live, reason = False, f"{reason}, but {instead}"
        count(Metric.LEARNED_LIVE if is_live else Metric.LEARNED_REJECTED)
        logger.info("learned from use", extra={"state": state_id, "is_live": is_live, "reason": reason, **counts})
        return LearnReport(org_id, state_id, is_live, reason, details)

    def _live(self, org_id: str | None, model: EmbeddingModel) -> tuple[_Live, Rows]:
        """Return what searches of the organisation go by now, and what they would go by without a state of its own."""

        def read(session: Session) -> tuple[_Live, Rows]:
            states = StateRepository(session)
            versions = states.live(org_id, str(model))
            own = [version.id for version in versions if version.org_id == org_id]
            shared = [version.id for version in versions if version.org_id != org_id]
            return _Live(own, states.vectors([*own, *shared])), states.vectors(shared)

        return self._database.read(read)


class _Live(NamedTuple):
    """The organisation's own live state, if it has one, and all that its searches go by."""

    ids: list[int]
    rows: Rows


class _Comparison(NamedTuple):
    """A new state compared with what is live and with nothing learned, and what is live with nothing learned."""

    with_live: Verdict
    with_none: Verdict
    does_live_harm: bool

    @property
    def is_better(self) -> bool:
        return self.with_none.is_better and (not is_worse(self.with_live) or self.does_live_harm)

    @property
    def reason(self) -> str:
        if self.with_none.is_better and not self.is_better:
            return "nDCG@5 is more than half a point lower than with what is live"
        harm = "; what is live finds worse than nothing learned, and goes" if self.does_live_harm else ""
        return self.with_none.reason + ("" if self.is_better else harm)

    def as_json(self) -> dict[str, Any]:
        found = {"compared_with_live": self.with_live.as_json(), "compared_with_none": self.with_none.as_json()}
        return found | {"reason": self.reason, "does_live_harm": self.does_live_harm}


def _compare(
    ask: Ask, asked: Sequence[HeldOut], requests: list[LearnedRequest], live: Rows, shared: Rows
) -> _Comparison:
    after = measured(ask, asked, RequestMatrix([*_rows(requests), *_of_others(shared, requests)]))
    none = measured(ask, asked, _matrix(shared))
    with_none = judge(none, after)
    if live == shared:
        return _Comparison(with_none, with_none, does_live_harm=False)
    now = measured(ask, asked, _matrix(live))
    return _Comparison(judge(now, after), with_none, does_live_harm=is_worse(judge(none, now)))


def _read(evidence: EvidenceRepository, org_id: str | None, model: str) -> tuple[list[Evidence], int]:
    needed = evidence.callers_needed(org_id)
    return evidence.of(org_id, model, needed), needed


def _rows(requests: list[LearnedRequest]) -> Rows:
    return [(each.tool_id, to_bytes(each.vector), each.share) for each in requests]


def _of_others(rows: Rows, requests: list[LearnedRequest]) -> Rows:
    own = {each.tool_id for each in requests}
    return [row for row in rows if row[0] not in own]


def _matrix(rows: Rows) -> RequestMatrix | None:
    return RequestMatrix(rows) if rows else None


def _store(session: Session, state: NewState, live: list[int], found: _Comparison) -> tuple[int, str | None]:
    """Store a state, and make it live where it was better; return its id, and why it is not live all the same.

    What is live and finds worse than nothing learned is switched off. Nothing changes where a person chose what is
    live, or where it is not what the new state was compared with.
    """
    states = StateRepository(session)
    states.lock(state.org_id)
    state_id = states.add(state)
    if states.is_held(state.org_id):
        return state_id, "a person chose what is live" if state.was_better else None
    now = [version.id for version in states.live(state.org_id, state.model) if version.org_id == state.org_id]
    if now != live:
        return state_id, "what is live changed meanwhile" if state.was_better else None
    if state.was_better or found.does_live_harm:
        states.make_live(state.org_id, state_id if state.was_better else None)
    return state_id, None


def _counts(found: list[Evidence], evidence: list[Evidence], requests: list[LearnedRequest]) -> dict[str, Any]:
    return {
        "outcomes": len(found),
        "counted": len(evidence),
        "searches": len({each.search for each in evidence}),
        "callers": len({each.caller for each in evidence}),
        "requests": len(requests),
        "tools": len({each.tool_id for each in requests}),
    }
