"""Learning for one organisation: what its outcomes teach, measured, and live where it is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from skillroute.core.embedding.model import EmbeddingModel, to_bytes
from skillroute.core.errors.model import EmbeddingUnavailable
from skillroute.core.observability import Metric, count, logger
from skillroute.core.postgres.database import Database, Session
from skillroute.learning.learn.evidence import Evidence, EvidenceRepository, counted
from skillroute.learning.learn.measure import MIN_HELD_OUT, Ask, is_worse, judge, measured, split
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
        found = self._database.read(lambda session: EvidenceRepository(session).of(org_id, str(model)))
        evidence = counted(found)
        first, asked = split(evidence)
        requests = learned_requests(first, self._now())
        counts = _counts(found, evidence, requests) | {"held_out": len(asked)}
        if not requests:
            return LearnReport(org_id, None, False, "no request came three times to one tool, from two callers", counts)
        if len(asked) < MIN_HELD_OUT:
            reason = f"{len(asked)} searches can be measured, and {MIN_HELD_OUT} are needed"
            return LearnReport(org_id, None, False, reason, counts)
        ask = self._ask_as(org_id, model)
        live, shared = self._live(org_id, model)
        after = measured(ask, asked, RequestMatrix([*_rows(requests), *_of_others(shared, requests)]))
        start = judge(measured(ask, asked, _matrix(shared)), after)
        verdict = judge(measured(ask, asked, _matrix(live)), after) if live != shared else start
        is_live, reason = start.is_better, start.reason
        if is_live and is_worse(verdict):
            is_live, reason = False, "nDCG@5 is more than half a point lower than with what is live"
        details = counts | {"compared_with_live": verdict.as_json(), "compared_with_none": start.as_json()}
        details["reason"] = reason
        if dry_run:
            return LearnReport(org_id, None, is_live, reason, details)
        state = NewState(org_id, str(model), is_live, details, requests, pairs(first))
        state_id, is_held = self._database.transact(lambda session: _store(session, state))
        if is_held and is_live:
            is_live, reason = False, f"{reason}, but a person chose what is live"
        count(Metric.LEARNED_LIVE if is_live else Metric.LEARNED_REJECTED)
        logger.info("learned from use", extra={"state": state_id, "is_live": is_live, "reason": reason, **counts})
        return LearnReport(org_id, state_id, is_live, reason, details)

    def _live(self, org_id: str | None, model: EmbeddingModel) -> tuple[Rows, Rows]:
        """Return what searches of the organisation go by now, and what they would go by without a state of its own."""

        def read(session: Session) -> tuple[Rows, Rows]:
            states = StateRepository(session)
            versions = states.live(org_id, str(model))
            shared = [version.id for version in versions if version.org_id is None and org_id is not None]
            return states.vectors([version.id for version in versions]), states.vectors(shared)

        return self._database.read(read)


def _rows(requests: list[LearnedRequest]) -> Rows:
    return [(each.tool_id, to_bytes(each.vector), each.share) for each in requests]


def _of_others(rows: Rows, requests: list[LearnedRequest]) -> Rows:
    own = {each.tool_id for each in requests}
    return [row for row in rows if row[0] not in own]


def _matrix(rows: Rows) -> RequestMatrix | None:
    return RequestMatrix(rows) if rows else None


def _store(session: Session, state: NewState) -> tuple[int, bool]:
    """Store a state, and make it live where it was better and no person chose what is; return its id, and that."""
    states = StateRepository(session)
    state_id, is_held = states.add(state), states.is_held(state.org_id)
    if state.was_better and not is_held:
        states.make_live(state.org_id, state_id)
    return state_id, is_held


def _counts(found: list[Evidence], evidence: list[Evidence], requests: list[LearnedRequest]) -> dict[str, Any]:
    return {
        "outcomes": len(found),
        "counted": len(evidence),
        "searches": len({each.search for each in evidence}),
        "callers": len({each.caller for each in evidence}),
        "requests": len(requests),
        "tools": len({each.tool_id for each in requests}),
    }
