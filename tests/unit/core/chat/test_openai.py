"""The wire format of ``POST /v1/chat/completions``, and every way in which such a server lets one down.

A timeout is tried once more (skill-contract BR-002).
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from skillroute.core.chat.openai import OpenAIChat
from skillroute.core.errors.model import ClassifierAnswerInvalid, ClassifierUnavailable, ConfigurationError

from tests.stubs.chat_server import saying
from tests.unit.core.stubs import Answer, FakeTime, StubServer

Make = Callable[..., OpenAIChat]
KEY = "sk-of-the-test"
SCHEMA = {"title": "verdict", "type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
GOOD = saying('{"ok": true}')
BUSY = Answer(429, {"error": {"message": "slow down"}})


def ask(chat: OpenAIChat, *, timeout_s: float = 10) -> Mapping[str, Any]:
    return chat.answer("You judge.", "Is 画面 right?", schema=SCHEMA, timeout_s=timeout_s)


def test_the_request_is_what_the_api_describes(openai_chat: Make, server: StubServer) -> None:
    server.script.append(GOOD)

    assert ask(openai_chat()) == {"ok": True}

    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "system", "content": "You judge."}, {"role": "user", "content": "Is 画面 right?"}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
        },
        "temperature": 0,
        "max_tokens": 1024,
    }


def test_a_server_without_keys_gets_none(openai_chat: Make, server: StubServer) -> None:
    server.script.append(GOOD)

    ask(openai_chat(api_key=None, base_url=f"{server.url}/v1/"))

    assert "authorization" not in server.requests[0].headers


def test_the_name_says_provider_and_model(openai_chat: Make) -> None:
    assert openai_chat().name == "openai/gpt-4o-mini"


def test_br_002_a_timeout_is_tried_once_more(openai_chat: Make, server: StubServer) -> None:
    """GIVEN a model that hangs once WHEN it is asked THEN the second attempt answers."""
    server.script += [Answer(hang=True), GOOD]

    assert ask(openai_chat(), timeout_s=1) == {"ok": True}
    assert len(server.requests) == 2


def test_br_002_after_the_second_timeout_it_is_given_up(openai_chat: Make, server: StubServer) -> None:
    """GIVEN a model that hangs WHEN it is asked THEN there is a second attempt, and no third."""
    server.script += [Answer(hang=True)] * 5

    with pytest.raises(ClassifierUnavailable, match=r"(timed out|did not answer).*\(attempt 2, the last\)"):
        ask(openai_chat(), timeout_s=0.1)


@contextmanager
def dripping() -> Iterator[str]:
    """A server that begins an answer and sends a byte of it every 20 ms, without an end."""
    over = threading.Event()
    with ThreadPoolExecutor() as pool, socket.create_server(("127.0.0.1", 0)) as listener:

        def drip(connection: socket.socket) -> None:
            with connection, suppress(ConnectionError):
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
                while not over.wait(0.02):
                    connection.sendall(b" ")

        def serve() -> None:
            while True:
                connection, _ = listener.accept()
                if over.is_set():
                    connection.close()
                    return
                pool.submit(drip, connection)

        pool.submit(serve)
        host, port = listener.getsockname()
        try:
            yield f"http://{host}:{port}/v1"
        finally:
            over.set()
            socket.create_connection((host, port)).close()  # wakes `serve`, which then ends


def test_a_server_whose_answer_does_not_end_does_not_outlast_the_attempt(openai_chat: Make) -> None:
    """GIVEN an answer that comes byte by byte, none of them late WHEN the time is up THEN the caller is let go."""
    with dripping() as base_url, pytest.raises(ClassifierUnavailable, match=r"within 0\.2 s \(attempt 2, the last\)"):
        ask(openai_chat(base_url=base_url), timeout_s=0.2)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_failure_that_may_pass_is_tried_once_more(
    openai_chat: Make, server: StubServer, time: FakeTime, status: int
) -> None:
    server.script += [Answer(status, {"error": {"message": "busy"}}), GOOD]

    assert ask(openai_chat()) == {"ok": True}
    assert time.sleeps == [0.5]


def test_attempts_come_to_an_end(openai_chat: Make, server: StubServer, time: FakeTime) -> None:
    server.script += [Answer(500, b"<html>broken</html>")] * 5

    with pytest.raises(ClassifierUnavailable, match=r"answered 500: <html>broken</html> \(attempt 2, the last\)"):
        ask(openai_chat())
    assert (len(server.requests), time.sleeps) == (2, [0.5])


def test_a_short_retry_after_is_honoured(openai_chat: Make, server: StubServer, time: FakeTime) -> None:
    server.script += [Answer(429, {}, {"retry-after": "2"}), GOOD]

    assert ask(openai_chat()) == {"ok": True}
    assert time.sleeps == [2.5]


def test_a_long_retry_after_is_left_to_the_queue(openai_chat: Make, server: StubServer, time: FakeTime) -> None:
    """GIVEN a server that wants 10 s WHEN 10 s would fit THEN nobody waits: the message comes again anyway."""
    server.script.append(Answer(429, {"error": {"message": "slow down"}}, {"retry-after": "10"}))

    with pytest.raises(ClassifierUnavailable, match=r"429: slow down \(attempt 1; the next would be in 10 s\)"):
        ask(openai_chat(), timeout_s=30)
    assert (len(server.requests), time.sleeps) == (1, [])


def test_a_connection_that_breaks_is_tried_once_more(openai_chat: Make, server: StubServer) -> None:
    server.script += [Answer(drop=True), GOOD]

    assert ask(openai_chat()) == {"ok": True}


def test_a_server_that_is_not_there_is_named_as_the_cause(openai_chat: Make, time: FakeTime) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    with pytest.raises(ClassifierUnavailable, match=r"the chat endpoint cannot be reached: .*refused"):
        ask(openai_chat(base_url=f"http://127.0.0.1:{port}/v1"))
    assert len(time.sleeps) == 1


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 422])
def test_a_refusal_is_final(openai_chat: Make, server: StubServer, time: FakeTime, status: int) -> None:
    server.script += [Answer(status, {"error": {"message": "no such model"}}), GOOD]

    with pytest.raises(ClassifierUnavailable, match=f"the chat endpoint answered {status}: no such model$") as caught:
        ask(openai_chat())
    assert not isinstance(caught.value, ClassifierAnswerInvalid)
    assert (len(server.requests), time.sleeps) == (1, [])


@pytest.mark.parametrize("status", [401, 500])
def test_a_key_that_the_server_repeats_is_not_passed_on(openai_chat: Make, server: StubServer, status: int) -> None:
    server.script += [Answer(status, {"error": {"message": f"Incorrect API key provided: {KEY}."}})] * 2

    with pytest.raises(ClassifierUnavailable, match=r"provided: \[key\]") as caught:
        ask(openai_chat())
    error: BaseException | None = caught.value
    while error is not None:
        assert KEY not in repr(error)
        error = error.__cause__ or error.__context__


def test_a_key_that_no_header_can_hold_is_refused_without_being_quoted() -> None:
    with pytest.raises(ConfigurationError, match="the API key of the chat endpoint") as caught:
        OpenAIChat("m", api_key="sk-with-newline\n")
    assert "newline" not in str(caught.value)


@pytest.mark.parametrize(
    "content", ['```json\n{"ok": true}\n```', '```\n{"ok": true}```\n', ' ```JSON {"ok": true} ```', '\n {"ok": true}']
)
def test_a_fence_around_the_answer_is_tolerated(openai_chat: Make, server: StubServer, content: str) -> None:
    server.script.append(saying(content))

    assert ask(openai_chat()) == {"ok": True}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(body=b"{not json"), "did not send a chat completion"),
        (Answer(body=b"\xff\xfe"), "did not send a chat completion"),
        (Answer(body=b"[" * 100_000), "did not send a chat completion"),
        (Answer(body=[]), "did not send a chat completion"),
        (Answer(body={}), "did not send a chat completion"),
        (Answer(body={"choices": []}), "did not send a chat completion"),
        (Answer(body={"choices": [None]}), "did not send a chat completion"),
        (Answer(body={"choices": [{"message": None}]}), "did not send a chat completion"),
        (saying(None), "answered without a text"),
        (saying([{"type": "text"}]), "answered without a text"),
        (saying(""), "something that is not JSON"),
        (saying("I think it is a calendar tool."), "something that is not JSON"),
        (saying('Sure! ```json\n{"ok": true}\n```'), "something that is not JSON"),
        (saying('{"a":' * 100_000), "something that is not JSON"),
        (saying('[{"ok": true}]'), "JSON that is not an object"),
        (saying('"ok"'), "JSON that is not an object"),
        (saying('{"ok": tr', finish_reason="length"), "cut after 1024 tokens"),
        (saying('{"ok": true}', finish_reason="length"), "cut after 1024 tokens"),
        (saying(None, refusal="I cannot help with that."), "refused to answer"),
        (saying("", finish_reason="content_filter"), "refused to answer"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_br_002_an_answer_that_is_no_json_object_is_refused_at_once(
    openai_chat: Make, server: StubServer, answer: Answer, message: str
) -> None:
    server.script.append(answer)

    with pytest.raises(ClassifierAnswerInvalid, match=f"^openai/gpt-4o-mini .*{message}"):
        ask(openai_chat())
    assert len(server.requests) == 1


def test_a_url_that_is_none_is_refused_at_once(openai_chat: Make, time: FakeTime) -> None:
    with pytest.raises(ClassifierUnavailable, match="the chat endpoint's URL is wrong"):
        ask(openai_chat(base_url="127.0.0.1/v1"))
    assert time.sleeps == []


def test_after_close_it_connects_again(openai_chat: Make, server: StubServer) -> None:
    server.script += [GOOD, GOOD]
    chat = openai_chat()
    ask(chat)
    chat.close()
    chat.close()

    assert ask(chat) == {"ok": True}
