"""Mode `hybrid_rerank`: a cross-encoder looks at the first of what learned fusion ranked (docs/adr/0050).

What it says is blended with the fused probability, and what is not among the first keeps its order behind them. Without
a reranker, or where it fails or has no time, the search is served as `hybrid` and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.text import rerank_text
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.errors.model import RerankerUnavailable
from skillroute.core.ranking.logistic import log_sum_exp, logistic
from skillroute.core.reranking.blend import RERANKED, Blend, blend_for
from skillroute.core.reranking.port import Reranker
from skillroute.core.reranking.time_limit import rerank_within_s
from skillroute.search.answer.explanation import RerankExplanation
from skillroute.search.candidates.retrieve import Candidate, by_rank
from skillroute.search.run import ToolSearchRun


@dataclass(frozen=True, slots=True)
class Reranked:
    """The logits of a reranker for the first candidates.

    Attributes
    ----------
    reranker : str
        Its name.
    rivals : float
        The logarithm of the sum of the exponentials of all weighted sums.
    logits, sums, probabilities : mapping of str to float
        By key: what the reranker says, the weighted sum of both, and what the blend makes of it.
    """

    reranker: str
    blend: Blend
    rivals: float
    logits: Mapping[str, float]
    sums: Mapping[str, float]
    probabilities: Mapping[str, float]

    def explain(self) -> RerankExplanation:
        """Return what makes probabilities, which is the same for all candidates."""
        return RerankExplanation(
            reranker=self.reranker,
            first_stage=self.blend.first,
            weight=self.blend.reranker,
            slope=self.blend.slope,
            rivalry=self.blend.rivalry,
            rivals=self.rivals,
            intercept=self.blend.intercept,
            candidates=len(self.logits),
        )


class RerankStage:
    """Reranks the candidates of one search.

    Parameters
    ----------
    run : ToolSearchRun
        Its mode becomes `hybrid` where the reranker cannot be had.
    reranker : Reranker
    timeout_s : float
        The most that the search waits for it.
    """

    def __init__(
        self, run: ToolSearchRun, index: SearchedIndex, reranker: Reranker, query: str, timeout_s: float
    ) -> None:
        self._run = run
        self._index = index
        self._reranker = reranker
        self._query = query
        self._timeout_s = timeout_s

    def __call__(self, candidates: Sequence[Candidate]) -> tuple[list[Candidate], Reranked | None]:
        """Return candidates with blended scores, in no order; with their own, and None, where that cannot be done.

        Candidates come with the probabilities of learned fusion as their scores.
        """
        ordered = by_rank(candidates)
        own = {candidate.key: candidate for candidate in candidates}
        head, tail = ([own[candidate.key] for candidate in part] for part in (ordered[:RERANKED], ordered[RERANKED:]))
        if not head:
            return [], None
        try:
            with self._run.watch.stage("rerank"):
                reranked = self._rerank(head)
        except RerankerUnavailable as error:
            self._run.search_mode = "hybrid"
            self._run.degrade("reranker_unavailable", error)
            return list(candidates), None
        # On the scale that the head leaves below itself: scores fall all the way down.
        floor = min(reranked.probabilities.values())
        first = [candidate._replace(score=reranked.probabilities[candidate.key]) for candidate in head]
        return [*first, *(candidate._replace(score=candidate.score * floor) for candidate in tail)], reranked

    def _rerank(self, head: Sequence[Candidate]) -> Reranked:
        timeout_s = rerank_within_s(self._timeout_s)
        payloads = self._index.payloads(TOOL_DOCUMENTS, [candidate.key for candidate in head])
        texts = [
            rerank_text(payload["name"], payload["description"], payload["server"])
            if (payload := payloads.get(candidate.key))
            else ""  # deleted a moment ago
            for candidate in head
        ]
        name = self._reranker.name
        logits = self._reranker.logits(self._query, texts, timeout_s=timeout_s)
        blend = blend_for("tools", name)
        sums = blend.sums([candidate.score for candidate in head], logits)

        def by_key(values: Iterable[float]) -> dict[str, float]:
            return dict(zip((candidate.key for candidate in head), values, strict=True))

        chances = map(logistic, blend.logits(sums))
        return Reranked(name, blend, log_sum_exp(sums), by_key(logits), by_key(sums), by_key(chances))
