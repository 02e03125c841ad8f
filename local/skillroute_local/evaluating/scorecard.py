"""Asking every judged request, and adding up what came: means, latency, servers, and what went worst."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from skillroute.core.ranking.intervals import Difference, difference
from skillroute.core.ranking.metrics import comp, ndcg, percentile, recall
from skillroute.core.time.clock import Clock
from skillroute.search.model import SearchRequest, SearchResponse

from skillroute_local.evaluating.bounds import Bound, bounds
from skillroute_local.evaluating.catalogue import Judged, Question, Tool

TOP = 5
"""How many results each request is asked for: no measure looks further."""

Search = Callable[[SearchRequest], SearchResponse]
Fields = Mapping[str, Any]
"""Fields of a search request, but for the query: the settings that are measured."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a request, the best first: ids, and what the tools are called.

    Attributes
    ----------
    is_no_match : bool
        Whether the answer says that nothing fits: nothing was found, though nothing failed, or the nearest alternatives
        came with ``no_match``.
    confidence : float or None
        How likely one of the first five serves the request, by the answer; None where it does not say.
    """

    question: Question
    ids: tuple[str, ...]
    titles: tuple[str, ...]
    elapsed_ms: float
    search_mode: str
    degraded: tuple[str, ...]
    is_no_match: bool
    confidence: float | None = None

    @property
    def is_answerable(self) -> bool:
        """Whether any tool serves the request."""
        return bool(self.question.needs)

    @property
    def is_refused(self) -> bool:
        """Whether a right tool came, and the answer says that nothing fits."""
        return self.is_no_match and recall(self.ids, self.question.needs, TOP) > 0.0


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of one answer, whose mean is in the scorecard; `says` explains it in a few words."""

    name: str
    says: str
    of_answerable: bool
    value: Callable[[Answer], float]

    def values(self, answers: Iterable[Answer]) -> list[float]:
        """Return its value for each answer that it is about."""
        return [self.value(answer) for answer in answers if answer.is_answerable == self.of_answerable]


MEASURES = (
    Measure("recall@1", "needs that the first result serves", True, lambda a: recall(a.ids, a.question.needs, 1)),
    Measure("recall@5", "needs that the first five serve", True, lambda a: recall(a.ids, a.question.needs, 5)),
    Measure("ndcg@5", "the same, more for higher places", True, lambda a: ndcg(a.ids, a.question.needs, 5)),
    Measure("comp@5", "requests with every need served", True, lambda a: comp(a.ids, a.question.needs, 5)),
    Measure("empty", "requests that a tool serves and nothing came for", True, lambda a: float(not a.ids)),
    Measure("refused", "requests answered among the first five, yet with no_match", True, lambda a: a.is_refused),
    Measure("no_match", "requests that nothing serves, answered so", False, lambda a: a.is_no_match),
)

_RECALL_1, _RECALL_5, _NDCG_5 = MEASURES[:3]


@dataclass(frozen=True, slots=True)
class ServerRow:
    """How well the needs are served for which a server has a right tool."""

    server: str
    needs: int
    recall_1: float
    recall_5: float


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The answers to all requests with one set of settings."""

    fields: Fields
    answers: tuple[Answer, ...]

    def means(self) -> dict[str, float | None]:
        """Return the mean of each measure; None where there is no request that it is about."""
        values = {measure.name: measure.values(self.answers) for measure in MEASURES}
        return {name: round(fmean(found), 4) if found else None for name, found in values.items()}

    def bounds(self) -> list[Bound]:
        """Return what bounds of ``no_match`` would refuse and lose; none where no answer has a confidence."""
        known = [answer for answer in self.answers if answer.confidence is not None]
        served = [answer for answer in known if answer.is_answerable and recall_5(answer) > 0.0]
        nothing = [answer for answer in known if not answer.is_answerable]
        return bounds([answer.confidence or 0.0 for answer in served], [answer.confidence or 0.0 for answer in nothing])

    def latency_ms(self) -> dict[str, float]:
        """Return the median and the 95th percentile of a search."""
        times = [answer.elapsed_ms for answer in self.answers]
        return {"p50": round(percentile(times, 0.5), 1), "p95": round(percentile(times, 0.95), 1)}

    def degraded(self) -> dict[str, int]:
        """Return how many answers came while a part failed, by what failed."""
        return dict(Counter(reason for answer in self.answers for reason in answer.degraded))

    def search_modes(self) -> list[str]:
        """Return how the answers were ranked: without the embedding model another way than was asked for."""
        return sorted({answer.search_mode for answer in self.answers})


def ask(
    search: Search,
    questions: Sequence[Question],
    fields: Fields,
    *,
    step: Callable[[], object] = lambda: None,
    clock: Clock = time.perf_counter,
) -> Scorecard:
    """Ask every request, one after the other.

    Parameters
    ----------
    fields : mapping
        The parameters of each search other than its query.
    step : callable
        Called after each.
    """
    answers = []
    for question in questions:
        request = search_request(question.query, fields)
        begun = clock()
        response = search(request)
        elapsed_ms = (clock() - begun) * 1000.0
        found = response.tools[:TOP]
        answers.append(
            Answer(
                question,
                ids=tuple(tool.id for tool in found),
                titles=tuple(f"{tool.server}/{tool.name}" if tool.server else tool.name for tool in found),
                elapsed_ms=elapsed_ms,
                search_mode=response.metadata.search_mode,
                degraded=tuple(response.metadata.degraded),
                is_no_match=response.metadata.no_match,
                confidence=response.metadata.confidence_first_five,
            )
        )
        step()
    return Scorecard(fields, tuple(answers))


def search_request(query: str, fields: Fields) -> SearchRequest:
    """Return a search for the first five, without their schemas. Raises pydantic's `ValidationError`."""
    return SearchRequest.model_validate({"query": query, "limit": TOP, "include_schemas": False, **fields})


def by_server(answers: Iterable[Answer], tools: Iterable[Tool]) -> list[ServerRow]:
    """Return how each server's needs are served, the least recall first.

    A need that tools of several servers serve counts for each of them.
    """
    server_of = {tool.id: tool.server for tool in tools}
    hits: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for answer in answers:
        for need in answer.question.needs:
            served = (recall(answer.ids, [need], 1), recall(answer.ids, [need], TOP))
            for server in {server_of[id_] for id_ in need}:
                hits[server].append(served)
    rows = [
        ServerRow(server, len(found), fmean(first for first, _ in found), fmean(five for _, five in found))
        for server, found in hits.items()
    ]
    return sorted(rows, key=lambda row: (row.recall_5, row.recall_1, -row.needs, row.server))


def worst(answers: Iterable[Answer], most: int) -> list[Answer]:
    """Return the answers that served least, at most so many: those that lack something, then those with too much."""
    lacking = [answer for answer in answers if answer.is_answerable and (recall_5(answer) < 1.0 or answer.is_refused)]
    lacking.sort(key=lambda answer: (recall_5(answer), _NDCG_5.value(answer)))
    too_much = [answer for answer in answers if not answer.is_answerable and not answer.is_no_match]
    return [*lacking, *too_much][:most]


def recall_5(answer: Answer) -> float:
    """Return the share of the needs that the first five serve."""
    return _RECALL_5.value(answer)


def unserved(answer: Answer) -> list[frozenset[str]]:
    """Return the needs that the first five do not serve."""
    return [need for need in answer.question.needs if need.isdisjoint(answer.ids)]


def instead(answer: Answer) -> list[str]:
    """Return what came and serves nothing, by its title."""
    right = frozenset().union(*answer.question.needs)
    return [title for id_, title in zip(answer.ids, answer.titles, strict=True) if id_ not in right]


def differences(one: Scorecard, other: Scorecard, *, seed: int) -> dict[str, Difference]:
    """Return how much higher each measure of `other` is, request by request, with intervals."""
    pairs = {measure.name: (measure.values(one.answers), measure.values(other.answers)) for measure in MEASURES}
    return {name: difference(*values, seed=seed) for name, values in pairs.items() if values[0]}


def report_of(
    judged: Judged, card: Scorecard, tools: Sequence[Tool], *, other: Scorecard | None = None, seed: int = 0
) -> dict[str, Any]:
    """Return all of it for programs. Numbers are rounded to four places."""
    title_of = {tool.id: tool.title for tool in tools}
    report = {
        **_summary(card),
        "requests": len(card.answers),
        "answerable": sum(answer.is_answerable for answer in card.answers),
        "left_out": judged.left_out,
        "unknown_tools": judged.unknown,
        "tools": len(tools),
        "servers": [
            {"server": row.server or None, "needs": row.needs}
            | {"recall@1": round(row.recall_1, 4), "recall@5": round(row.recall_5, 4)}
            for row in by_server(card.answers, tools)
        ],
        "answers": [_answer(answer, title_of) for answer in card.answers],
    }
    if other is not None:
        gained = differences(card, other, seed=seed)
        report["compared"] = _summary(other) | {
            "differences": {
                name: {field: round(value, 4) for field, value in asdict(found).items()}
                for name, found in gained.items()
            }
        }
    return report


def _summary(card: Scorecard) -> dict[str, Any]:
    return {
        "settings": dict(card.fields),
        "search_modes": card.search_modes(),
        "measures": card.means(),
        "latency_ms": card.latency_ms(),
        "degraded": card.degraded(),
        "no_match_bounds": [asdict(bound) for bound in card.bounds()],
    }


def _answer(answer: Answer, title_of: Mapping[str, str]) -> dict[str, Any]:
    values = {
        measure.name: round(measure.value(answer), 4)
        for measure in (_RECALL_1, _RECALL_5, _NDCG_5)
        if answer.is_answerable
    }
    return {
        "where": answer.question.where,
        "query": answer.question.query,
        "needs": [sorted({title_of[id_] for id_ in need}) for need in answer.question.needs],
        "came": list(answer.titles),
        "no_match": answer.is_no_match,
        "confidence_first_five": answer.confidence,
        **values,
        "elapsed_ms": round(answer.elapsed_ms, 1),
    }
