"""The wire format of ``POST /v1/embeddings``, and every way in which such a server lets one down."""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Sequence

import pytest
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.openai import OpenAIEmbedder
from skillroute.core.errors.model import ConfigurationError, EmbeddingUnavailable, SecretUnavailable, TextRefused

from tests.unit.core.stubs import Answer, FakeTime, StubServer

Make = Callable[..., OpenAIEmbedder]
KEY = "sk-of-the-test"


def expected(*texts: str) -> list[Vector]:
    return HashingEmbedder(384).embed(texts, timeout_s=1)


def embed(embedder: OpenAIEmbedder, *texts: str, timeout_s: float = 30) -> list[Vector]:
    return embedder.embed(texts, timeout_s=timeout_s)


def entries(*indexes: object, vector: Sequence[object] = (1.0,) * 384) -> Answer:
    return Answer(body={"data": [{"index": index, "embedding": list(vector)} for index in indexes]})


def test_the_request_is_what_the_api_describes(openai: Make, openai_server: StubServer) -> None:
    embed(openai(), "send mail", "画面")

    [request] = openai_server.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.body == {
        "model": "text-embedding-3-small",
        "input": ["send mail", "画面"],
        "encoding_format": "float",
    }


def test_the_dimension_is_asked_for_only_if_wanted(openai: Make, openai_server: StubServer) -> None:
    embed(openai(send_dimensions=True), "send mail")

    assert openai_server.requests[0].body["dimensions"] == 384


def test_a_server_without_keys_gets_none(openai: Make, openai_server: StubServer) -> None:
    embed(openai(api_key=None, base_url=f"{openai_server.url}/v1/"), "send mail")

    [request] = openai_server.requests
    assert "authorization" not in request.headers
    assert request.path == "/v1/embeddings"


def test_many_texts_go_in_requests_of_max_items(openai: Make, openai_server: StubServer) -> None:
    texts = [f"text {number}" for number in range(10)]

    vectors = embed(openai(max_items=4), *texts)

    assert sorted(len(request.body["input"]) for request in openai_server.requests) == [2, 4, 4]
    assert vectors == [pytest.approx(vector) for vector in expected(*texts)]


def test_no_texts_make_no_request(openai: Make, openai_server: StubServer) -> None:
    assert embed(openai()) == []
    assert openai_server.requests == []


def test_vectors_are_matched_by_index_not_by_position(openai: Make, openai_server: StubServer) -> None:
    one_hot = [[float(row == column) for column in range(384)] for row in range(3)]
    data = [{"index": index, "embedding": one_hot[index]} for index in (1, 2, 0)]
    openai_server.script.append(Answer(body={"data": data}))

    assert embed(openai(), "a", "b", "c") == one_hot


def test_vectors_are_normalised(openai: Make, openai_server: StubServer) -> None:
    openai_server.script.append(entries(0, vector=[2.0] * 384))

    [vector] = embed(openai(), "send mail")

    assert math.hypot(*vector) == pytest.approx(1)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_failure_that_may_pass_is_tried_again(
    openai: Make, openai_server: StubServer, time: FakeTime, status: int
) -> None:
    openai_server.script += [Answer(status, {"error": {"message": "busy"}}), Answer(status, b"<html>busy</html>")]

    assert embed(openai(), "send mail") == [pytest.approx(expected("send mail")[0])]
    assert len(openai_server.requests) == 3
    assert time.sleeps == [0.2, 0.4]


def test_retry_after_is_honoured(openai: Make, openai_server: StubServer, time: FakeTime) -> None:
    openai_server.script.append(Answer(429, {"error": {"message": "slow down"}}, {"retry-after": "5"}))

    embed(openai(), "send mail")

    assert time.sleeps == [5.2]


def test_a_retry_after_behind_the_deadline_is_not_waited_for(
    openai: Make, openai_server: StubServer, time: FakeTime
) -> None:
    openai_server.script.append(Answer(429, {"error": {"message": "slow down"}}, {"retry-after": "30"}))

    with pytest.raises(EmbeddingUnavailable, match=r"answered 429: slow down .*none further fits into 10 s"):
        embed(openai(), "send mail", timeout_s=10)
    assert (len(openai_server.requests), time.sleeps) == (1, [])


def test_attempts_come_to_an_end(openai: Make, openai_server: StubServer, time: FakeTime) -> None:
    openai_server.script += [Answer(500, {"error": {"message": "broken"}})] * 20

    with pytest.raises(EmbeddingUnavailable, match=r"answered 500: broken \(attempt 5, the last"):
        embed(openai(), "send mail")
    assert len(openai_server.requests) == 5
    assert time.sleeps == [0.2, 0.4, 0.8, 1.6]


def test_a_connection_that_breaks_is_tried_again(openai: Make, openai_server: StubServer) -> None:
    openai_server.script.append(Answer(drop=True))

    assert len(embed(openai(), "send mail")) == 1
    assert len(openai_server.requests) == 2


def test_a_server_that_hangs_once_is_asked_again(openai: Make, openai_server: StubServer) -> None:
    """The retries' clock stands still here, so that each attempt has half a second whatever the machine does."""
    openai_server.script.append(Answer(hang=True))

    assert len(embed(openai(), "send mail", timeout_s=1)) == 1
    assert len(openai_server.requests) == 2


def test_a_server_that_hangs_does_not_hold_up_the_caller(openai: Make, openai_server: StubServer) -> None:
    openai_server.script += [Answer(hang=True)] * 20

    with pytest.raises(EmbeddingUnavailable, match=r"did not answer within 0\.2 s|timed out"):
        embed(openai(), "send mail", timeout_s=0.2)


def test_a_server_that_is_not_there_is_named_as_the_cause(openai: Make, time: FakeTime) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    with pytest.raises(EmbeddingUnavailable, match=r"cannot be reached: .*refused"):
        embed(openai(base_url=f"http://127.0.0.1:{port}/v1"), "send mail")
    assert len(time.sleeps) == 4


@pytest.mark.parametrize(
    ("status", "blames_the_text"),
    [(301, False), (400, True), (401, False), (403, False), (404, False), (409, False), (413, True), (422, True)],
)
def test_a_refusal_is_final(
    openai: Make, openai_server: StubServer, time: FakeTime, status: int, blames_the_text: bool
) -> None:
    elsewhere = {"location": f"{openai_server.url}/elsewhere"}
    openai_server.script.append(Answer(status, {"error": {"message": "no such model"}}, elsewhere))

    with pytest.raises(EmbeddingUnavailable, match=f"answered {status}: no such model$") as caught:
        embed(openai(), "send mail")
    assert (len(openai_server.requests), time.sleeps) == (1, [])
    assert isinstance(caught.value, TextRefused) is blames_the_text


@pytest.mark.parametrize("status", [408, 429, 500])
def test_a_failure_that_may_pass_blames_no_text_however_often_it_comes(
    openai: Make, openai_server: StubServer, status: int
) -> None:
    openai_server.script += [Answer(status)] * 5

    with pytest.raises(EmbeddingUnavailable) as caught:
        embed(openai(), "send mail")
    assert not isinstance(caught.value, TextRefused)


@pytest.mark.parametrize(
    ("vector", "blames_the_text"), [([0.0] * 384, True), ([float("nan")] * 384, True), ([1.0] * 383, False)]
)
def test_a_vector_without_a_direction_is_a_refusal_and_one_of_another_length_is_not(
    openai: Make, openai_server: StubServer, vector: list[float], blames_the_text: bool
) -> None:
    openai_server.script.append(entries(0, vector=vector))

    with pytest.raises(EmbeddingUnavailable) as caught:
        embed(openai(), "send mail")
    assert isinstance(caught.value, TextRefused) is blames_the_text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "bad input", "type": "invalid"}}, "bad input"),
        ({"error": "bad input"}, "bad input"),
        ({"message": "bad input"}, "bad input"),
        ({"detail": "bad input"}, "{'detail': 'bad input'}"),
        ({"error": None}, "None"),
        (["bad input"], "['bad input']"),
        (b"bad input\n", "bad input"),
        (b"", "no message"),
        (b"x" * 5000, "x" * 300),
    ],
)
def test_the_servers_words_are_found_wherever_it_puts_them(
    openai: Make, openai_server: StubServer, body: object, said: str
) -> None:
    openai_server.script.append(Answer(400, body))

    with pytest.raises(EmbeddingUnavailable) as caught:
        embed(openai(), "send mail")
    assert str(caught.value) == f"the embedding endpoint answered 400: {said}"


@pytest.mark.parametrize("status", [401, 500])
def test_a_key_that_the_server_repeats_is_not_passed_on(openai: Make, openai_server: StubServer, status: int) -> None:
    openai_server.script += [Answer(status, {"error": {"message": f"Incorrect API key provided: {KEY}."}})] * 5

    with pytest.raises(EmbeddingUnavailable) as caught:
        embed(openai(), "send mail")
    assert "Incorrect API key provided: [key]." in str(caught.value)
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in repr(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("key", ["sk-with-newline\n", "sk with space", "sk-ключ", "\x00"], ids=ascii)
def test_a_key_that_no_header_can_hold_is_refused_without_being_quoted(key: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        OpenAIEmbedder(EmbeddingModel("m", 3), api_key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(body=b"{not json"), "did not send a list of embeddings"),
        (Answer(body=b"\xff\xfe"), "did not send a list of embeddings"),
        (Answer(body=[]), "did not send a list of embeddings"),
        (Answer(body={}), "did not send a list of embeddings"),
        (Answer(body={"data": None}), "did not send a list of embeddings"),
        (Answer(body={"data": [{"embedding": [1.0]}]}), "did not send a list of embeddings"),
        (entries({}), "did not send a list of embeddings"),
        (entries(), "sent 0 embeddings for 2 texts"),
        (entries(0), "sent 1 embeddings for 2 texts"),
        (entries(0, 1, 2), "sent 3 embeddings for 2 texts"),
        (entries(0, 0), "sent 2 embeddings for 2 texts, or numbered them wrongly"),
        (entries(0, 1, 1), "sent 3 embeddings for 2 texts"),
        (entries(1, 2), "sent 2 embeddings for 2 texts, or numbered them wrongly"),
        (entries(0, 1, vector=[1.0] * 383), "383 dimensions, 384 are configured"),
        (entries(0, 1, vector=[0.0] * 384), "zero or not finite"),
        (entries(0, 1, vector=[float("nan")] * 384), "zero or not finite"),
        (entries(0, 1, vector=["1.0"] * 384), "not a list of numbers"),
    ],
)
def test_an_answer_that_cannot_be_used_is_refused_at_once(
    openai: Make, openai_server: StubServer, answer: Answer, message: str
) -> None:
    openai_server.script.append(answer)

    with pytest.raises(EmbeddingUnavailable, match=message):
        embed(openai(), "a", "b")
    assert len(openai_server.requests) == 1


@pytest.mark.parametrize("base_url", ["ftp://127.0.0.1/v1", "127.0.0.1/v1", "http://[::1/v1"])
def test_a_url_that_is_none_is_refused_at_once(openai: Make, time: FakeTime, base_url: str) -> None:
    with pytest.raises(EmbeddingUnavailable, match="URL is wrong"):
        embed(openai(base_url=base_url), "send mail")
    assert time.sleeps == []


def test_one_batch_that_is_refused_fails_the_whole_call(openai: Make, openai_server: StubServer) -> None:
    usual = openai_server.usual
    openai_server.usual = lambda request: (
        Answer(400, {"error": "no"}) if "bad" in request.body["input"] else usual(request)
    )

    with pytest.raises(EmbeddingUnavailable, match="answered 400: no"):
        embed(openai(max_items=1), "a", "b", "bad", "c")


def test_after_close_it_connects_again(openai: Make) -> None:
    embedder = openai()
    first = embed(embedder, "send mail")
    embedder.close()
    embedder.close()

    assert embed(embedder, "send mail") == first


class Rotated:
    """`ports.Secret` whose text changes when it is asked for again."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    def read(self, *, again: bool = False) -> str:
        if again and len(self.texts) > 1:
            del self.texts[0]
        return self.texts[0]


class Away:
    def read(self, *, again: bool = False) -> str:
        raise SecretUnavailable("secret arn:x cannot be read: AccessDeniedException")


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_read_again_and_sent_once_more(
    openai: Make, openai_server: StubServer, status: int
) -> None:
    openai_server.script.append(Answer(status=status, body={"error": "invalid key"}))

    assert len(embed(openai(api_key=Rotated("sk-old", "sk-new")), "send mail")) == 1

    assert [r.headers["authorization"] for r in openai_server.requests] == ["Bearer sk-old", "Bearer sk-new"]


def test_a_key_that_did_not_change_is_not_sent_again(openai: Make, openai_server: StubServer) -> None:
    openai_server.script.append(Answer(status=401, body={"error": "no such key sk-old"}))

    with pytest.raises(EmbeddingUnavailable, match=r"401: no such key \[key\]"):
        embed(openai(api_key=Rotated("sk-old")), "send mail")

    assert len(openai_server.requests) == 1


def test_a_key_that_cannot_be_read_is_an_embedding_model_that_is_away(openai: Make) -> None:
    with pytest.raises(EmbeddingUnavailable, match="cannot be called: secret arn:x cannot be read"):
        embed(openai(api_key=Away()), "send mail")


def test_a_key_of_a_secret_that_no_header_can_carry_is_told_without_it(openai: Make) -> None:
    with pytest.raises(EmbeddingUnavailable, match="holds a space or an unprintable character") as error:
        embed(openai(api_key=Rotated("sk-planted\n")), "send mail")
    assert "sk-planted" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "query", "document"),
    [
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("multilingual-e5-small", "query: ", "passage: "),
        (
            "intfloat/multilingual-e5-large-instruct",
            "Instruct: Given a request, retrieve the tool that serves it\nQuery: ",
            "",
        ),
        ("text-embedding-3-small", "", ""),
        ("BAAI/bge-m3", "", ""),
    ],
)
def test_a_model_gets_the_prefixes_that_it_was_trained_with(
    openai: Make, openai_server: StubServer, name: str, query: str, document: str
) -> None:
    embedder = openai(model=EmbeddingModel(name, 384))
    embedder.embed(["send mail", " "], timeout_s=5)
    embedder.for_queries().embed(["enviar un correo"], timeout_s=5)

    sent = [request.body["input"] for request in openai_server.requests]
    assert sent == [[f"{document}send mail", "-"], [f"{query}enviar un correo"]]
