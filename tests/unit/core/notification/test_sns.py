"""Notifiers: they tell, and never stand in the way."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.notification.log import LogNotifier
from skillroute.core.notification.sns import SnsNotifier, sns_subject
from skillroute.core.observability import counts
from skillroute_local.loopback import free_port

from tests.doubles import LogRecords

TOPIC = "arn:aws:sns:eu-central-1:123456789012:skillroute"


class Sns:
    """Writes down what is published."""

    def __init__(self) -> None:
        self.published: list[dict[str, Any]] = []

    def publish(self, **request: Any) -> None:
        self.published.append(request)

    def close(self) -> None: ...


def test_the_log_gets_one_line_with_all_details() -> None:
    with LogRecords().attached() as log:
        # `name` and `message` are fields of the logger's own records.
        LogNotifier().notify("suggestion_created", "A skill was suggested", {"name": "plants", "message": "m"})

    [line] = log.having("A skill was suggested")
    assert line.__dict__["event"] == "suggestion_created"
    assert line.__dict__["details"] == {"name": "plants", "message": "m"}


def test_sns_gets_the_event_as_json_and_the_log_a_line() -> None:
    sns = Sns()
    with LogRecords().attached() as log:
        SnsNotifier(TOPIC, client=sns).notify("suggestion_created", "Skill “Plants”", {"id": 7, "tool": "wässern"})

    [request] = sns.published
    assert request["TopicArn"] == TOPIC
    assert request["Subject"] == "Skill ?Plants?"
    assert json.loads(request["Message"]) == {
        "event": "suggestion_created",
        "subject": "Skill “Plants”",
        "details": {"id": 7, "tool": "wässern"},
    }
    assert request["MessageAttributes"]["event"]["StringValue"] == "suggestion_created"
    assert len(log.having("Skill “Plants”")) == 1


def test_a_topic_that_cannot_be_reached_is_counted_and_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    before = counts().get("NotificationFailed", 0)
    notifier = SnsNotifier(TOPIC, endpoint_url=f"http://127.0.0.1:{free_port()}")
    with closing(notifier), LogRecords().attached() as log:
        notifier.notify("suggestion_created", "A skill was suggested", {})

    assert counts()["NotificationFailed"] == before + 1
    assert len(log.having("notification not sent")) == 1
    assert len(log.having("A skill was suggested")) == 1


def test_missing_credentials_raise_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    with closing(SnsNotifier(TOPIC)) as notifier, LogRecords().attached() as log:
        notifier.notify("suggestion_created", "A skill was suggested", {})

    assert len(log.having("notification not sent")) == 1


@given(st.text())
def test_subjects_are_as_sns_takes_them(subject: str) -> None:
    sent = sns_subject(subject)
    assert 0 < len(sent) <= 100
    assert sent.isascii()
    assert sent.isprintable()
    assert not sent[0].isspace()
