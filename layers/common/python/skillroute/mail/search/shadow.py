"""The shadow: the lexical engine that is asked beside the serving one, and how the two differ (message-search, 5)."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future

from skillroute.core.documents.lexical_engines import WIRE_NAMES
from skillroute.core.documents.replica_port import IndexReplica
from skillroute.core.observability import Metric, event, logger
from skillroute.mail.search.answers import ShadowComparison
from skillroute.mail.search.lexical import IndexWords, Words
from skillroute.mail.search.model import MailFilter

COMPARED = 100
"""How many of the first results are compared, whatever page is asked for."""

_AT_ONCE = 4


class Shadow:
    """Asks the index without ever failing, or holding up, a search.

    Parameters
    ----------
    replica : IndexReplica
    timeout_s : float
        The most that a search waits for it once its own answer is there.
    """

    def __init__(self, replica: IndexReplica, *, timeout_s: float) -> None:
        self._replica = replica
        self._timeout_s = timeout_s
        # An index that hangs keeps its threads; no more of them than this, and later searches do without.
        self._free = threading.BoundedSemaphore(_AT_ONCE)

    def start(self, terms: Mapping[str, float], where: MailFilter) -> Future[list[int]] | None:
        """Ask for the first results in a thread of its own; None when too many hang already, or none can be had."""
        if not self._free.acquire(blocking=False):
            logger.warning("shadow search left out", extra={"reason": "earlier ones have not ended"})
            return None
        answer: Future[list[int]] = Future()

        def ask() -> None:
            try:
                with self._replica.current() as index:
                    words = Words(IndexWords(index, terms), where)
                    answer.set_result([match.id for match in words.after(None, COMPARED)[:COMPARED]])
            except BaseException as error:  # noqa: BLE001 (whatever it is, it is no affair of the served answer)
                answer.set_exception(error)
            finally:
                self._free.release()

        try:
            threading.Thread(target=ask, name="shadow-search", daemon=True).start()
        except RuntimeError as error:  # the process may have no more threads
            self._free.release()
            logger.warning("shadow search left out", extra={"reason": str(error)})
            return None
        return answer

    def compared(self, serving: Sequence[int], answer: Future[list[int]] | None) -> ShadowComparison | None:
        """Wait for the shadow, compare, and log; None when it failed or is late."""
        if answer is None:
            return None
        try:
            error = answer.exception(timeout=self._timeout_s)
        except TimeoutError:
            logger.warning("shadow search too slow", extra={"timeout_s": self._timeout_s})
            return None
        if error is not None:
            logger.warning("shadow search failed", extra={"reason": repr(error)})
            return None
        comparison = compare(serving, answer.result())
        event("search.shadow.comparison", Metric.SEARCH_SHADOW_COMPARISON, **comparison.model_dump())
        return comparison


def compare(serving: Sequence[int], shadow: Sequence[int]) -> ShadowComparison:
    """Compare two lists of ids, best first.

    Examples
    --------
    >>> compare([1, 2], [2, 1]).overlap_jaccard, compare([1, 2], [2, 1]).mrr_delta
    (1.0, -0.5)
    """
    served, shadowed = set(serving), set(shadow)
    together = served | shadowed
    return ShadowComparison(
        serving_engine=WIRE_NAMES["postgres"],
        shadow_engine=WIRE_NAMES["bm25"],
        overlap_jaccard=len(served & shadowed) / len(together) if together else 1.0,
        ndcg_at_10=_ndcg(serving[:10], shadow[:10]),
        mrr_delta=_reciprocal_rank(serving, shadow) - 1.0,
        serving_only=[id_ for id_ in serving if id_ not in shadowed],
        shadow_only=[id_ for id_ in shadow if id_ not in served],
    )


def _ndcg(wanted: Sequence[int], ranked: Sequence[int]) -> float:
    """Return the gain of a list, by which wanted ones it has and how early, over the best possible."""
    if not wanted:
        return 0.0 if ranked else 1.0
    best = math.fsum(1.0 / math.log2(place + 2) for place in range(len(wanted)))
    return math.fsum(1.0 / math.log2(place + 2) for place, id_ in enumerate(ranked) if id_ in wanted) / best


def _reciprocal_rank(serving: Sequence[int], shadow: Sequence[int]) -> float:
    if not serving:
        return 0.0 if shadow else 1.0
    return 1.0 / (shadow.index(serving[0]) + 1) if serving[0] in shadow else 0.0
