"""The wire format of Bedrock's Converse, as boto3 really sends it, and how it fails (skill-contract BR-002)."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from skillroute.core.chat.bedrock import BedrockChat
from skillroute.core.errors.model import ClassifierAnswerInvalid, ClassifierUnavailable
from skillroute.skills.classification.classifiers.llm import LlmClassifier

from tests.unit.core.stubs import Answer, FakeTime, StubServer, bedrock_error
from tests.unit.skills.classification.classifiers.llm_profiles import EMAIL, tool

Make = Callable[..., BedrockChat]
SCHEMA = {"title": "verdict", "type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


def saying(*content: object, stop_reason: str = "tool_use") -> Answer:
    return Answer(
        body={
            "output": {"message": {"role": "assistant", "content": list(content)}},
            "stopReason": stop_reason,
            "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
            "metrics": {"latencyMs": 1},
        }
    )


def call(arguments: object, tool: str = "verdict") -> dict[str, object]:
    return {"toolUse": {"toolUseId": "tooluse_1", "name": tool, "input": arguments}}


GOOD = saying({"text": "I will judge it."}, call({"ok": True}))


def ask(chat: BedrockChat, *, timeout_s: float = 10) -> Mapping[str, Any]:
    return chat.answer("You judge.", "Is 画面 right?", schema=SCHEMA, timeout_s=timeout_s)


def test_the_request_makes_the_model_call_one_tool(bedrock_chat: Make, server: StubServer) -> None:
    server.script.append(GOOD)

    assert ask(bedrock_chat()) == {"ok": True}

    [request] = server.requests
    assert request.path == "/model/anthropic.claude-3-haiku/converse"
    assert "/eu-central-1/bedrock/aws4_request" in request.headers["authorization"]
    assert request.body == {
        "system": [{"text": "You judge."}],
        "messages": [{"role": "user", "content": [{"text": "Is 画面 right?"}]}],
        "inferenceConfig": {"temperature": 0.0, "maxTokens": 1024},
        "toolConfig": {
            "tools": [
                {
                    "toolSpec": {
                        "name": "verdict",
                        "description": "Gives the answer.",
                        "inputSchema": {"json": SCHEMA},
                    }
                }
            ],
            "toolChoice": {"tool": {"name": "verdict"}},
        },
    }


def test_the_name_says_provider_and_model(bedrock_chat: Make) -> None:
    assert bedrock_chat().name == "bedrock/anthropic.claude-3-haiku"


@pytest.mark.parametrize(
    "failure",
    [
        bedrock_error(429, "ThrottlingException", "Too many requests"),
        bedrock_error(408, "ModelTimeoutException", "Too slow"),
        bedrock_error(500, "InternalServerException", "Oops"),
        bedrock_error(503, "ServiceUnavailableException", "Later"),
        Answer(drop=True),
    ],
    ids=lambda answer: f"{answer.status}-{answer.headers.get('x-amzn-ErrorType')}",
)
def test_a_failure_that_may_pass_is_tried_once_more(
    bedrock_chat: Make, server: StubServer, time: FakeTime, failure: Answer
) -> None:
    server.script += [failure, GOOD]

    assert ask(bedrock_chat()) == {"ok": True}
    assert time.sleeps == [0.5]


def test_botocore_adds_no_attempts_of_its_own(bedrock_chat: Make, server: StubServer) -> None:
    server.script += [bedrock_error(429, "ThrottlingException", "Too many requests")] * 9

    with pytest.raises(
        ClassifierUnavailable, match=r"429 ThrottlingException .*Too many requests \(attempt 2, the last"
    ):
        ask(bedrock_chat())
    assert len(server.requests) == 2


def test_br_002_a_timeout_is_tried_once_more(bedrock_chat: Make, server: StubServer) -> None:
    """GIVEN a model that hangs once WHEN it is asked THEN the second attempt answers."""
    chat = bedrock_chat()
    server.script += [GOOD, Answer(hang=True), GOOD]
    ask(chat)  # the client is made

    assert ask(chat, timeout_s=1) == {"ok": True}
    assert len(server.requests) == 3


def test_br_002_after_the_second_timeout_it_is_given_up(bedrock_chat: Make, server: StubServer) -> None:
    """GIVEN a model that hangs WHEN it is asked THEN there is a second attempt, and no third."""
    chat = bedrock_chat()
    server.script += [GOOD, *[Answer(hang=True)] * 5]
    ask(chat)  # the client is made

    with pytest.raises(ClassifierUnavailable, match=r"did not answer within 0\.1 s \(attempt 2, the last\)"):
        ask(chat, timeout_s=0.1)


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "ValidationException"), (403, "AccessDeniedException"), (404, "ResourceNotFoundException")],
)
def test_a_refusal_is_final_and_says_who_what_and_why(
    bedrock_chat: Make, server: StubServer, time: FakeTime, status: int, code: str
) -> None:
    server.script += [bedrock_error(status, code, "the reason" + "." * 1000), GOOD]

    with pytest.raises(
        ClassifierUnavailable, match=f"^Bedrock answered {status} {code} for anthropic.claude-3-haiku: the reason"
    ) as caught:
        ask(bedrock_chat())
    assert len(str(caught.value)) < 500
    assert not isinstance(caught.value, ClassifierAnswerInvalid)
    assert (len(server.requests), time.sleeps) == (1, [])


def test_without_credentials_it_says_so(bedrock_chat: Make, monkeypatch: pytest.MonkeyPatch, time: FakeTime) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(ClassifierUnavailable, match="there are no AWS credentials"):
        ask(bedrock_chat())
    assert time.sleeps == []


def test_a_bedrock_that_is_not_there_is_named_as_the_cause(bedrock_chat: Make, time: FakeTime) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    with pytest.raises(ClassifierUnavailable, match=f"Bedrock cannot be reached or timed out: .*127.0.0.1:{port}"):
        ask(bedrock_chat(endpoint_url=f"http://127.0.0.1:{port}"))
    assert len(time.sleeps) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (saying(call({"ok": True}), stop_reason="max_tokens"), "cut after 1024 tokens"),
        (saying({"text": "no"}, stop_reason="guardrail_intervened"), "refused to answer"),
        (saying({"text": "no"}, stop_reason="content_filtered"), "refused to answer"),
        (saying(), "did not answer with arguments"),
        (saying({"text": '{"ok": true}'}, stop_reason="end_turn"), "did not answer with arguments"),
        (saying(call({"ok": True}, tool="another")), "did not answer with arguments"),
        (saying(call([True])), "did not answer with arguments"),
        (Answer(body={}), "did not answer with arguments"),
        (Answer(body=b"{not json"), "did not answer with arguments"),
    ],
)
def test_br_002_an_answer_that_is_no_call_of_the_tool_is_refused_at_once(
    bedrock_chat: Make, server: StubServer, answer: Answer, message: str
) -> None:
    server.script.append(answer)

    with pytest.raises(ClassifierAnswerInvalid, match=f"^bedrock/anthropic.claude-3-haiku .*{message}"):
        ask(bedrock_chat())
    assert len(server.requests) == 1


def test_after_close_it_connects_again(bedrock_chat: Make, server: StubServer) -> None:
    server.script += [GOOD, GOOD]
    chat = bedrock_chat()
    ask(chat)
    chat.close()
    chat.close()

    assert ask(chat) == {"ok": True}


def test_a_classification_asks_for_requests_in_the_same_call(bedrock_chat: Make, server: StubServer) -> None:
    said = {
        "assignments": [{"skill_id": "email", "confidence": 0.9, "reasoning": "mail"}],
        "requests": ["Write to Ann"],
    }
    server.script.append(saying(call(said, "classification")))

    classifier = LlmClassifier(bedrock_chat(), writes_requests=True)
    answer = classifier.classify(tool(wants_requests=True), [EMAIL], timeout_s=10)

    [request] = server.requests
    [offered] = request.body["toolConfig"]["tools"]
    assert "requests" in offered["toolSpec"]["inputSchema"]["json"]["required"]
    assert (answer.assignments[0].skill_id, answer.requests) == ("email", ("Write to Ann",))
