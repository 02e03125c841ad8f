"""The wire format of Bedrock's Rerank, as boto3 really sends it, and what becomes of its failures."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from skillroute.core.errors.model import ConfigurationError, RerankerUnavailable
from skillroute.core.reranking.bedrock import MAX_CHARACTERS, RERANK_RETRY, BedrockReranker
from skillroute.core.settings import RerankSettings
from skillroute.wiring.providers import make_reranker

from tests.unit.core.stubs import Answer, FakeTime, Request, StubServer, bedrock_error

MODEL = "cohere.rerank-v3-5:0"
Make = Callable[..., BedrockReranker]


def reranked(request: Request) -> Answer:
    """As strict as the real one about what it takes; the longer a text the more relevant, the best first."""
    texts = [source["inlineDocumentSource"]["textDocument"]["text"] for source in request.body["sources"]]
    if not all(text.strip() and len(text) <= 32_000 for text in texts):
        return bedrock_error(400, "ValidationException", "the text is empty or too long")
    found = [{"index": index, "relevanceScore": min(len(text) / 100, 1.0)} for index, text in enumerate(texts)]
    return Answer(body={"results": sorted(found, key=lambda each: -each["relevanceScore"])})


@pytest.fixture
def server() -> Iterator[StubServer]:
    server = StubServer(reranked)
    yield server
    server.close()


@pytest.fixture
def make(server: StubServer, time: FakeTime) -> Iterator[Make]:
    """Make a reranker against the stub; keyword arguments go to its constructor."""
    made: list[BedrockReranker] = []

    def make(model: str = MODEL, **arguments: Any) -> BedrockReranker:
        retry = replace(RERANK_RETRY, clock=time.clock, sleep=time.sleep, uniform=lambda _, high: high)
        defaults = {"region": "eu-central-1", "endpoint_url": server.url, "retry": retry}
        made.append(BedrockReranker(model, **{**defaults, **arguments}))
        return made[-1]

    yield make
    for reranker in made:
        reranker.close()


def logits(reranker: BedrockReranker, *texts: str, query: str = "who approves?", timeout_s: float = 30) -> list[float]:
    return reranker.logits(query, texts, timeout_s=timeout_s)


def relevance(*scores: object) -> Answer:
    return Answer(body={"results": [{"index": at, "relevanceScore": score} for at, score in enumerate(scores)]})


def test_the_request_is_what_bedrock_describes(make: Make, server: StubServer) -> None:
    logits(make(), "first", "second")

    [request] = server.requests
    assert request.path == "/rerank"
    assert "/eu-central-1/bedrock/aws4_request" in request.headers["authorization"]
    assert request.body == {
        "queries": [{"type": "TEXT", "textQuery": {"text": "who approves?"}}],
        "sources": [
            {"type": "INLINE", "inlineDocumentSource": {"type": "TEXT", "textDocument": {"text": text}}}
            for text in ("first", "second")
        ],
        "rerankingConfiguration": {
            "type": "BEDROCK_RERANKING_MODEL",
            "bedrockRerankingConfiguration": {
                "modelConfiguration": {"modelArn": f"arn:aws:bedrock:eu-central-1::foundation-model/{MODEL}"},
                "numberOfResults": 2,
            },
        },
    }


@pytest.mark.parametrize(
    ("region", "model", "arn"),
    [
        ("cn-north-1", "amazon.rerank-v1:0", "arn:aws-cn:bedrock:cn-north-1::foundation-model/amazon.rerank-v1:0"),
        (
            "eu-central-1",
            "arn:aws:bedrock:us-west-2::foundation-model/amazon.rerank-v1:0",
            "arn:aws:bedrock:us-west-2::foundation-model/amazon.rerank-v1:0",
        ),
    ],
)
def test_a_model_is_named_by_its_arn(make: Make, server: StubServer, region: str, model: str, arn: str) -> None:
    logits(make(model, region=region), "text")

    configuration = server.requests[0].body["rerankingConfiguration"]["bedrockRerankingConfiguration"]
    assert configuration["modelConfiguration"] == {"modelArn": arn}


def test_logits_are_in_the_order_of_the_texts(make: Make) -> None:
    found = logits(make(), "x" * 20, "x" * 90, "x" * 50)
    assert found == [pytest.approx(math.log(p / (1 - p))) for p in (0.2, 0.9, 0.5)]


@pytest.mark.parametrize(("score", "p"), [(0.0, 1e-6), (1.0, 1 - 1e-6), (-3.5, 1e-6), (7, 1 - 1e-6), (0.5, 0.5)])
def test_relevance_is_kept_from_its_ends(make: Make, server: StubServer, score: float, p: float) -> None:
    server.script.append(relevance(score))

    [logit] = logits(make(), "text")
    assert 1 / (1 + math.exp(-logit)) == pytest.approx(p)


def test_query_and_texts_are_cut_and_none_is_empty(make: Make, server: StubServer) -> None:
    logits(make(), "y" * 5000, " ", "half \ud800 a character", query="x" * 5000)

    body = server.requests[0].body
    texts = [source["inlineDocumentSource"]["textDocument"]["text"] for source in body["sources"]]
    assert texts == ["y" * MAX_CHARACTERS, "-", "half ? a character"]
    assert body["queries"][0]["textQuery"]["text"] == "x" * MAX_CHARACTERS
    assert MAX_CHARACTERS == 2000


def test_without_texts_nobody_is_asked(make: Make, server: StubServer) -> None:
    assert logits(make()) == []
    assert server.requests == []


def test_what_does_not_fit_into_an_answer_comes_with_the_next(make: Make, server: StubServer) -> None:
    server.script += [
        Answer(body={"results": [{"index": 1, "relevanceScore": 0.9}], "nextToken": "more"}),
        Answer(body={"results": [{"index": 0, "relevanceScore": 0.5}]}),
    ]

    assert logits(make(), "one", "two") == [0.0, pytest.approx(math.log(9))]
    assert [request.body.get("nextToken") for request in server.requests] == [None, "more"]


@pytest.mark.parametrize(
    "failure",
    [
        bedrock_error(429, "ThrottlingException", "Too many requests"),
        bedrock_error(500, "InternalServerException", "Oops"),
        bedrock_error(502, "BadGatewayException", "Oops"),
        Answer(drop=True),
    ],
    ids=lambda answer: f"{answer.status}",
)
def test_a_failure_that_may_pass_is_tried_once_more(
    make: Make, server: StubServer, time: FakeTime, failure: Answer
) -> None:
    server.script.append(failure)
    assert len(logits(make(), "text")) == 1
    assert (len(server.requests), time.sleeps) == (2, [0.1])

    server.script += [failure] * 2
    with pytest.raises(RerankerUnavailable, match=r"\(attempt 2, the last\)"):
        logits(make(), "text")
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "ValidationException"), (403, "AccessDeniedException"), (404, "ResourceNotFoundException")],
)
def test_a_refusal_is_final(make: Make, server: StubServer, status: int, code: str) -> None:
    server.script.append(bedrock_error(status, code, "the reason"))

    with pytest.raises(RerankerUnavailable, match=f"^Bedrock answered {status} {code} for {MODEL}: the reason"):
        logits(make(), "text")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (relevance(0.5), "did not answer for each of 2 texts"),
        (relevance(0.5, 0.5, 0.5), "did not answer for each of 2 texts"),
        (Answer(body={"results": [{"index": 0, "relevanceScore": 0.5}] * 2}), "did not answer for each of 2 texts"),
        (Answer(body={"results": []}), "did not answer for each of 2 texts"),
        (Answer(body={}), "did not answer for each of 2 texts"),
        (relevance(0.5, "high"), "could not convert string to float"),
        (relevance(0.5, None), "a relevance that is no number"),
        (relevance(0.5, float("nan")), "a relevance that is no number"),
        (Answer(body=b"{not json"), "did not answer for each of 2 texts"),
        (Answer(body={"results": [{"index": [0], "relevanceScore": 0.5}]}), "something that is no ranking"),
        (Answer(body={"results": "none"}), "something that is no ranking"),
        (Answer(body={"results": ["none"]}), "something that is no ranking"),
        (Answer(body=["none"]), "something that is no ranking"),
    ],
)
def test_an_answer_that_leaves_a_text_out_is_none(make: Make, server: StubServer, answer: Answer, said: str) -> None:
    server.script.append(answer)

    with pytest.raises(RerankerUnavailable, match=said):
        logits(make(), "one", "two")


def test_a_bedrock_that_hangs_does_not_hold_up_the_search(server: StubServer, make: Make) -> None:
    reranker = make()
    logits(reranker, "the client is made")
    server.script += [Answer(hang=True)] * 2

    with pytest.raises(RerankerUnavailable, match=r"the reranker did not answer within 0\.2 s"):
        logits(reranker, "text", timeout_s=0.2)


def test_a_failure_is_remembered_for_30_seconds(make: Make, server: StubServer, time: FakeTime) -> None:
    reranker = make()
    server.script.append(bedrock_error(403, "AccessDeniedException", "the reason"))
    for moment_s in (0.0, 29.9):
        time.now_s = 1000.0 + moment_s
        with pytest.raises(RerankerUnavailable, match="the reason"):
            logits(reranker, "text")
    assert len(server.requests) == 1

    time.now_s = 1030.0
    assert len(logits(reranker, "text")) == 1
    time.now_s = 1031.0
    assert len(logits(reranker, "text")) == 1


def test_what_somebody_with_little_time_gave_up_on_is_tried_for_others(make: Make, server: StubServer) -> None:
    reranker = make()
    logits(reranker, "the client is made")
    server.script.append(Answer(hang=True))
    with pytest.raises(RerankerUnavailable, match="did not answer within"):
        logits(reranker, "text", timeout_s=1)
    asked = len(server.requests)
    # Whoever has as little time does not try again.
    with pytest.raises(RerankerUnavailable, match="did not answer within"):
        logits(reranker, "text", timeout_s=1)
    assert len(server.requests) == asked
    assert len(logits(reranker, "text", timeout_s=30)) == 1


def test_an_attempt_that_nobody_had_time_to_repeat_is_repeated_by_others(make: Make, server: StubServer) -> None:
    reranker = make()
    server.script.append(bedrock_error(429, "ThrottlingException", "Too many requests", retry_after="10"))
    with pytest.raises(RerankerUnavailable, match="none further fits into 5 s"):
        logits(reranker, "text", timeout_s=5)
    assert len(logits(reranker, "text")) == 1


def test_a_failure_that_had_all_the_time_is_remembered_for_whoever_has_less(make: Make, server: StubServer) -> None:
    reranker = make()
    server.script += [bedrock_error(500, "InternalServerException", "Oops")] * 2
    for timeout_s in (30.0, 30.0, 1.0):
        with pytest.raises(RerankerUnavailable, match="Oops"):
            logits(reranker, "text", timeout_s=timeout_s)
    assert len(server.requests) == 2


def test_a_refusal_of_what_one_request_says_is_not_the_next_one_s(make: Make, server: StubServer) -> None:
    reranker = make()
    server.script.append(bedrock_error(400, "ValidationException", "the query is too long"))
    with pytest.raises(RerankerUnavailable, match="too long"):
        logits(reranker, "text")
    assert len(logits(reranker, "text")) == 1


def test_without_credentials_it_says_so(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(RerankerUnavailable, match="there are no AWS credentials"):
        logits(make(), "text")


class TestSettings:
    @pytest.fixture(autouse=True)
    def environment(self, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
        for name in os.environ:
            if name.startswith("SKILLROUTE_RERANK"):
                monkeypatch.delenv(name)
        return monkeypatch

    def test_there_is_none_unless_it_is_set(self) -> None:
        settings = RerankSettings.load()
        assert (settings.rerank_provider, settings.rerank_timeout_s) == ("none", 2.0)
        assert make_reranker(settings) is None

    def test_bedrock_is_made_by_name(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("SKILLROUTE_RERANK_PROVIDER", "bedrock")
        environment.setenv("SKILLROUTE_RERANK_MODEL", MODEL)
        environment.setenv("SKILLROUTE_RERANK_REGION", "eu-central-1")
        reranker = make_reranker(RerankSettings.load())
        assert isinstance(reranker, BedrockReranker)
        assert reranker.name == f"bedrock/{MODEL}"

    def test_bedrock_needs_a_model(self, environment: pytest.MonkeyPatch) -> None:
        environment.setenv("SKILLROUTE_RERANK_PROVIDER", "bedrock")
        with pytest.raises(ConfigurationError, match="bedrock needs SKILLROUTE_RERANK_MODEL"):
            RerankSettings.load()

    @pytest.mark.parametrize(
        ("name", "value"),
        [("PROVIDER", "cohere"), ("TIMEOUT_S", "0"), ("TIMEOUT_S", "10.5"), ("TIMEOUT_S", "soon")],
    )
    def test_a_wrong_value_is_named(self, environment: pytest.MonkeyPatch, name: str, value: str) -> None:
        environment.setenv(f"SKILLROUTE_RERANK_{name}", value)
        with pytest.raises(ConfigurationError, match=f"SKILLROUTE_RERANK_{name}"):
            RerankSettings.load()

    @pytest.mark.parametrize("value", ["0.1", "10"])
    def test_the_ends_of_the_timeout_are_allowed(self, environment: pytest.MonkeyPatch, value: str) -> None:
        environment.setenv("SKILLROUTE_RERANK_TIMEOUT_S", value)
        assert RerankSettings.load().rerank_timeout_s == float(value)
