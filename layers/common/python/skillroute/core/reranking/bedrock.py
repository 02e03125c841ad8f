"""Reranking by any reranker on Amazon Bedrock, through its Rerank API."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillroute.core.errors.model import RerankerUnavailable
from skillroute.core.input.encodable import encodable
from skillroute.core.remote.bedrock import BedrockRuntime
from skillroute.core.remote.calls import fan_out
from skillroute.core.time.cooldown import Cooldown
from skillroute.core.time.deadline import Callee, Deadline
from skillroute.core.time.retry import Retry, TransientFailure

MAX_CHARACTERS = 2000
"""Where query and texts are cut: about 500 tokens each, which is what rerankers look at of a text in one piece."""

RETRY_AFTER_S = 30.0
"""How long a failure is remembered: not every search should wait for a reranker that does not answer (decision 9)."""

_OF_THIS_REQUEST = frozenset({"ValidationException"})
"""Errors of Bedrock that concern one request only; the next has other texts."""

_PLACEHOLDER = "-"  # for a text without a visible character, which the API refuses
_CONNECTIONS = 10
# The API gives relevance between 0 and 1; the ends have no logit.
_MIN_PROBABILITY = 1e-6


class _TimeIsUp(RerankerUnavailable):
    """It may well have answered somebody with more time."""


_RERANKER = Callee("the reranker", RerankerUnavailable, late=_TimeIsUp, thread_name="rerank")


RERANK_RETRY = Retry(attempts=2, base_s=0.1, cap_s=0.5)
"""One more attempt, soon: a search waits for it, and without a reranker still gets the fused order."""


class BedrockReranker:
    """Asks a reranker on Bedrock, all texts in one call. Safe to call from several threads.

    Throttling, timeouts and server errors are tried once more within the caller's deadline; missing rights, a wrong
    model id and the like fail at once. The client is made on first use, with the credentials of the environment, which
    must allow ``bedrock:Rerank``, and ``bedrock:InvokeModel`` of the model.

    Parameters
    ----------
    model : str
        The id of a reranker in that region, such as ``cohere.rerank-v3-5:0``, or an ARN.
    region, endpoint_url
        See `BedrockRuntime`.
    retry : Retry
        How often, and how far apart.

    Examples
    --------
    >>> BedrockReranker("cohere.rerank-v3-5:0").name
    'bedrock/cohere.rerank-v3-5:0'
    """

    def __init__(
        self,
        model: str,
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        retry: Retry = RERANK_RETRY,
    ) -> None:
        self._model = model
        self._bedrock = BedrockRuntime(
            region=region,
            endpoint_url=endpoint_url,
            connections=_CONNECTIONS,
            error=RerankerUnavailable,
            service="bedrock-agent-runtime",
        )
        self._retry = retry
        self._cooldown = Cooldown(RETRY_AFTER_S, retry.clock)

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"bedrock/{self._model}"

    def logits(self, query: str, texts: Sequence[str], *, timeout_s: float) -> list[float]:
        """Return for each text, in order, the logit of its relevance: ``ln(p / (1 - p))``. See `ports.Reranker`.

        Parameters
        ----------
        query : str
            Cut after `MAX_CHARACTERS`, as each text is.
        texts : sequence of str
            1,000 at most, which is what the API takes.

        Raises
        ------
        RerankerUnavailable
            Bedrock failed, refused, or did not say of each text how relevant it is; or `timeout_s` seconds went by.
            Or that happened less than `RETRY_AFTER_S` seconds ago; but for a refusal of what one request said, and for
            what somebody with less time gave up on.
        """
        if not texts:
            return []
        if (reason := self._cooldown.failure(timeout_s)) is not None:
            raise RerankerUnavailable(reason)
        try:
            return self._ask(query, texts, timeout_s)
        except RerankerUnavailable as error:
            applies_up_to_s = _applies_up_to_s(error, timeout_s)
            if applies_up_to_s is not None:
                self._cooldown.failed(str(error), up_to_s=applies_up_to_s)
            raise

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        self._bedrock.close()

    def _ask(self, query: str, texts: Sequence[str], timeout_s: float) -> list[float]:
        deadline = Deadline(timeout_s, self._retry.clock, callee=_RERANKER)
        # Whole seconds, so that callers who give what they have left do not have a client each. The deadline is exact.
        read_timeout_s = float(math.ceil(timeout_s))

        def ask(_: None) -> list[float]:
            return self._retry.run(lambda: self._rerank(query, texts, deadline, read_timeout_s), deadline=deadline)

        [found] = fan_out(ask, [None], workers=1, deadline=deadline)
        return found

    def _rerank(self, query: str, texts: Sequence[str], deadline: Deadline, read_timeout_s: float) -> list[float]:
        """Make one attempt."""

        def request(client: Any) -> list[Mapping[str, Any]]:
            try:
                return list(_pages(client, _request(_arn(self._model, client.meta), query, texts), deadline))
            except (AttributeError, TypeError) as error:  # how botocore meets JSON of another shape
                raise RerankerUnavailable(f"{self.name} answered with something that is no ranking") from error

        results = self._bedrock.call(self._model, request, deadline=deadline, read_timeout_s=read_timeout_s)
        return self._in_order(results, len(texts))

    def _in_order(self, results: Sequence[Mapping[str, Any]], count: int) -> list[float]:
        """Return the logits in the order of the texts; the answer has them by relevance."""
        relevance = {result.get("index"): result.get("relevanceScore") for result in results}
        if set(relevance) != set(range(count)):
            raise RerankerUnavailable(f"{self.name} did not answer for each of {count} texts")
        return [self._logit(relevance[index]) for index in range(count)]

    def _logit(self, relevance: object) -> float:
        if not isinstance(relevance, float) or not math.isfinite(relevance):  # boto3 makes a float of every number
            raise RerankerUnavailable(f"{self.name} answered with a relevance that is no number")
        p = min(max(relevance, _MIN_PROBABILITY), 1.0 - _MIN_PROBABILITY)
        return math.log(p / (1.0 - p))


def _applies_up_to_s(error: RerankerUnavailable, timeout_s: float) -> float | None:
    """Return up to how much time a caller may have for a failure to apply to it; None when it applies to nobody."""
    cause = error.__cause__
    if isinstance(error, _TimeIsUp) or isinstance(cause, TransientFailure):
        return timeout_s  # more time would have been a longer wait, or another attempt
    code = getattr(cause, "response", {}).get("Error", {}).get("Code")  # botocore's ClientError has a response
    return None if code in _OF_THIS_REQUEST else math.inf


def _arn(model: str, meta: Any) -> str:
    """Return the ARN of a model that AWS offers in the client's region; one that is an ARN already stays."""
    if model.startswith("arn:"):
        return model
    return f"arn:{meta.partition}:bedrock:{meta.region_name}::foundation-model/{model}"


def _request(arn: str, query: str, texts: Sequence[str]) -> dict[str, Any]:
    return {
        "queries": [{"type": "TEXT", "textQuery": {"text": _acceptable(query)}}],
        "sources": [
            {
                "type": "INLINE",
                "inlineDocumentSource": {"type": "TEXT", "textDocument": {"text": _acceptable(text)}},
            }
            for text in texts
        ],
        "rerankingConfiguration": {
            "type": "BEDROCK_RERANKING_MODEL",
            "bedrockRerankingConfiguration": {
                "modelConfiguration": {"modelArn": arn},
                "numberOfResults": len(texts),
            },
        },
    }


def _pages(client: Any, request: Mapping[str, Any], deadline: Deadline) -> Iterator[Mapping[str, Any]]:
    """Yield the results of a request; what does not fit into an answer comes with the next."""
    following: dict[str, str] = {}
    while True:
        answer = client.rerank(**request, **following)
        yield from answer.get("results") or ()
        if not answer.get("nextToken"):
            return
        following = {"nextToken": answer["nextToken"]}
        deadline.check()  # also ends what a server would never end


def _acceptable(text: str) -> str:
    """Return a text that the API takes: cut, encodable, and with a visible character."""
    clip = encodable(text[:MAX_CHARACTERS])
    return clip if clip.strip() else _PLACEHOLDER
