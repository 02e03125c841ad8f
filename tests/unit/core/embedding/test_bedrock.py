"""The wire formats of Titan Text Embeddings V2 and Cohere Embed v3 behind InvokeModel, as boto3 really sends it."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable

import pytest
from skillroute.core.embedding.bedrock import BedrockEmbedder
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.errors.model import ConfigurationError, EmbeddingUnavailable, TextRefused
from skillroute.core.settings import EmbeddingSettings
from skillroute.wiring.providers import make_embedder_of

from tests.unit.core.stubs import TITAN_V2, Answer, FakeTime, StubServer, bedrock_error, cohere_answer

Make = Callable[..., BedrockEmbedder]


def embed(embedder: BedrockEmbedder, *texts: str, timeout_s: float = 30) -> list[Vector]:
    return embedder.embed(texts, timeout_s=timeout_s)


def test_the_request_is_what_titan_describes(bedrock: Make, bedrock_server: StubServer) -> None:
    embed(bedrock(), "send 画面")

    [request] = bedrock_server.requests
    assert request.path == "/model/amazon.titan-embed-text-v2%3A0/invoke"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept"] == "application/json"
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-central-1/bedrock/aws4_request" in request.headers["authorization"]
    assert request.body == {"inputText": "send 画面", "dimensions": 256, "normalize": True}


def test_each_text_is_a_call_of_its_own(bedrock: Make, bedrock_server: StubServer) -> None:
    texts = [f"text {number}" for number in range(20)]

    embed(bedrock(), *texts)

    assert sorted(request.body["inputText"] for request in bedrock_server.requests) == sorted(texts)


def test_a_blank_text_is_sent_as_a_dash(bedrock: Make, bedrock_server: StubServer) -> None:
    embed(bedrock(), " ")

    assert bedrock_server.requests[0].body["inputText"] == "-"


def test_vectors_are_normalised_even_if_titan_did_not(bedrock: Make, bedrock_server: StubServer) -> None:
    bedrock_server.script.append(Answer(body={"embedding": [2.0] * 256}))

    [vector] = embed(bedrock(), "send mail")

    assert math.hypot(*vector) == pytest.approx(1)


@pytest.mark.parametrize(
    "failure",
    [
        bedrock_error(429, "ThrottlingException", "Too many requests"),
        bedrock_error(429, "ModelNotReadyException", "Loading"),
        bedrock_error(408, "ModelTimeoutException", "Too slow"),
        bedrock_error(500, "InternalServerException", "Oops"),
        bedrock_error(503, "ServiceUnavailableException", "Later"),
        Answer(502, b"<html>Bad gateway</html>"),
        Answer(drop=True),
    ],
    ids=lambda answer: f"{answer.status}-{answer.headers.get('x-amzn-ErrorType')}",
)
def test_a_failure_that_may_pass_is_tried_again(
    bedrock: Make, bedrock_server: StubServer, time: FakeTime, failure: Answer
) -> None:
    bedrock_server.script.append(failure)

    assert len(embed(bedrock(), "send mail")) == 1
    assert len(bedrock_server.requests) == 2
    assert time.sleeps == [0.2]


def test_botocore_adds_no_attempts_of_its_own(bedrock: Make, bedrock_server: StubServer, time: FakeTime) -> None:
    bedrock_server.script += [bedrock_error(429, "ThrottlingException", "Too many requests")] * 50

    with pytest.raises(
        EmbeddingUnavailable, match=r"429 ThrottlingException .*Too many requests \(attempt 5, the last"
    ):
        embed(bedrock(), "send mail")
    assert len(bedrock_server.requests) == 5
    assert len(time.sleeps) == 4


def test_retry_after_is_honoured_within_the_deadline(bedrock: Make, bedrock_server: StubServer, time: FakeTime) -> None:
    busy = bedrock_error(429, "ThrottlingException", "Too many requests", retry_after="4")
    bedrock_server.script += [busy, busy, busy]

    with pytest.raises(EmbeddingUnavailable, match="none further fits into 10 s"):
        embed(bedrock(), "send mail", timeout_s=10)
    assert time.sleeps == [4.2, 4.4]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "ValidationException"),
        (400, "ServiceQuotaExceededException"),
        (403, "AccessDeniedException"),
        (403, "ExpiredTokenException"),
        (404, "ResourceNotFoundException"),
        (424, "ModelErrorException"),
    ],
)
def test_a_refusal_is_final_and_says_who_what_and_why(
    bedrock: Make, bedrock_server: StubServer, time: FakeTime, status: int, code: str
) -> None:
    bedrock_server.script.append(bedrock_error(status, code, "the reason" + "." * 1000))

    with pytest.raises(
        EmbeddingUnavailable, match=f"^Bedrock answered {status} {code} for {TITAN_V2}: the reason"
    ) as caught:
        embed(bedrock(), "send mail")
    assert len(str(caught.value)) < 500
    assert isinstance(caught.value, TextRefused) is (code == "ValidationException")
    assert (len(bedrock_server.requests), time.sleeps) == (1, [])


def test_without_credentials_it_says_so(bedrock: Make, monkeypatch: pytest.MonkeyPatch, time: FakeTime) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(EmbeddingUnavailable, match="there are no AWS credentials"):
        embed(bedrock(), "send mail")
    assert time.sleeps == []


def test_without_a_region_it_says_so(bedrock: Make, monkeypatch: pytest.MonkeyPatch, time: FakeTime) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)

    with pytest.raises(EmbeddingUnavailable, match="must specify a region"):
        embed(bedrock(region=None, endpoint_url=None), "send mail")
    assert time.sleeps == []


def test_an_endpoint_that_is_no_url_is_named(bedrock: Make, time: FakeTime) -> None:
    with pytest.raises(EmbeddingUnavailable, match="not-a-url"):
        embed(bedrock(endpoint_url="not-a-url"), "send mail")
    assert time.sleeps == []


def test_a_client_that_could_not_be_made_is_made_at_the_next_call(
    bedrock: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = bedrock(region=None)
    with pytest.raises(EmbeddingUnavailable):
        embed(embedder, "send mail")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")

    assert len(embed(embedder, "send mail")) == 1


def test_a_bedrock_that_is_not_there_is_named_as_the_cause(bedrock: Make, time: FakeTime) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    with pytest.raises(EmbeddingUnavailable, match=f"Bedrock cannot be reached or timed out: .*127.0.0.1:{port}"):
        embed(bedrock(endpoint_url=f"http://127.0.0.1:{port}"), "send mail")
    assert len(time.sleeps) == 4


def test_a_bedrock_that_hangs_does_not_hold_up_the_caller(bedrock: Make, bedrock_server: StubServer) -> None:
    embedder = bedrock()
    embed(embedder, "the client is made")
    bedrock_server.script += [Answer(hang=True)] * 20

    with pytest.raises(EmbeddingUnavailable, match=r"did not answer within 0\.2 s"):
        embed(embedder, "send mail", "read mail", timeout_s=0.2)


def test_a_bedrock_that_hangs_once_is_asked_again(
    bedrock: Make, bedrock_server: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillroute.core.embedding.bedrock._READ_TIMEOUT_S", 0.5)
    bedrock_server.script.append(Answer(hang=True))

    assert len(embed(bedrock(), "send mail")) == 1
    assert len(bedrock_server.requests) == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{not json", "not an embedding"),
        ([], "not an embedding"),
        ({}, "not an embedding"),
        ({"embedding": None}, "not a list of numbers"),
        ({"embedding": [1.0] * 1024}, "1024 dimensions, 256 are configured"),
        ({"embedding": [0.0] * 256}, "zero or not finite"),
    ],
)
def test_an_answer_that_cannot_be_used_is_refused_at_once(
    bedrock: Make, bedrock_server: StubServer, body: object, message: str
) -> None:
    bedrock_server.script.append(Answer(body=body))

    with pytest.raises(EmbeddingUnavailable, match=message):
        embed(bedrock(), "send mail")
    assert len(bedrock_server.requests) == 1


def test_a_dimension_that_titan_does_not_have_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigurationError, match="256, 512 or 1024 dimensions, not 384"):
        BedrockEmbedder(EmbeddingModel(TITAN_V2, 384))


def test_after_close_it_connects_again(bedrock: Make) -> None:
    embedder = bedrock()
    first = embed(embedder, "send mail")
    embedder.close()
    embedder.close()

    assert embed(embedder, "send mail") == first


COHERE = EmbeddingModel("cohere.embed-multilingual-v3", 1024)


@pytest.fixture
def cohere(bedrock: Make, bedrock_server: StubServer) -> BedrockEmbedder:
    bedrock_server.usual = cohere_answer
    return bedrock(model=COHERE)


def test_the_requests_are_what_cohere_describes(cohere: BedrockEmbedder, bedrock_server: StubServer) -> None:
    embed(cohere, "send 画面", " ")
    embed(cohere.for_queries(), "enviar un correo")

    documents, query = bedrock_server.requests
    assert documents.path == "/model/cohere.embed-multilingual-v3/invoke"
    assert documents.body == {"texts": ["send 画面", "-"], "input_type": "search_document", "truncate": "END"}
    assert query.body == {"texts": ["enviar un correo"], "input_type": "search_query", "truncate": "END"}


def test_96_texts_of_2048_characters_go_to_cohere_in_a_call(
    cohere: BedrockEmbedder, bedrock_server: StubServer
) -> None:
    texts = [f"{number} " + "x" * 5000 for number in range(100)]
    vectors = embed(cohere, *texts)

    assert sorted(len(request.body["texts"]) for request in bedrock_server.requests) == [4, 96]
    assert {len(text) for request in bedrock_server.requests for text in request.body["texts"]} == {2048}
    assert len(vectors) == 100
    assert vectors[99] == embed(cohere, texts[99])[0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "not an embedding"),
        ({"embeddings": {"float": [[1.0] * 1024]}}, "not an embedding"),
        ({"embeddings": []}, "0 embeddings for 1 texts"),
        ({"embeddings": [[1.0] * 384]}, "384 dimensions, 1024 are configured"),
    ],
)
def test_an_answer_of_cohere_that_cannot_be_used_is_refused(
    cohere: BedrockEmbedder, bedrock_server: StubServer, body: object, message: str
) -> None:
    bedrock_server.script.append(Answer(body=body))

    with pytest.raises(EmbeddingUnavailable, match=message):
        embed(cohere, "send mail")


@pytest.mark.parametrize(
    ("name", "dimension", "message"),
    [
        ("cohere.embed-multilingual-v3", 512, "1024 dimensions, not 512"),
        ("cohere.embed-v4:0", 1024, "those of Embed v3 can be used, not cohere.embed-v4:0"),
    ],
)
def test_what_cohere_does_not_have_is_refused_at_the_start(name: str, dimension: int, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        BedrockEmbedder(EmbeddingModel(name, dimension))


def test_a_stored_model_that_bedrock_does_not_have_is_one_that_nobody_embeds_with() -> None:
    settings = EmbeddingSettings(embedding_provider="bedrock", embedding_model=COHERE.name, embedding_dimension=1024)

    assert make_embedder_of(settings, EmbeddingModel("text-embedding-3-small", 1536)) is None
    titan = make_embedder_of(settings, EmbeddingModel(TITAN_V2, 512))
    assert titan is not None
    assert titan.model.name == TITAN_V2
