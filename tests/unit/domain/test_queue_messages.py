"""Messages: one id, and nothing else."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.domain.queue_messages import key_of, message_of
from skillroute.domain.work import OutboxEntry, QueueName
from skillroute.errors import InvalidInput

CLASSIFY, AGGREGATE = QueueName.CLASSIFY, QueueName.AGGREGATE


def test_each_queue_has_its_field() -> None:
    assert message_of(OutboxEntry(CLASSIFY, "7", None)) == {"tool_id": 7}
    assert message_of(OutboxEntry(AGGREGATE, "files", "acme")) == {"skill_id": "files"}


@pytest.mark.parametrize(
    ("queue", "body", "field"),
    [
        (CLASSIFY, "", "body"),
        (CLASSIFY, "7", "body"),
        (CLASSIFY, "[7]", "body"),
        (CLASSIFY, "{}", "body"),
        (CLASSIFY, '{"skill_id": "files"}', "body"),
        (CLASSIFY, '{"tool_id": 7, "force": true}', "body"),
        (CLASSIFY, '{"tool_id": "7"}', "tool_id"),
        (CLASSIFY, '{"tool_id": 7.0}', "tool_id"),
        (CLASSIFY, '{"tool_id": true}', "tool_id"),
        (CLASSIFY, '{"tool_id": 0}', "tool_id"),
        (CLASSIFY, '{"tool_id": 9223372036854775808}', "tool_id"),
        (CLASSIFY, '{"tool_id": null}', "tool_id"),
        (CLASSIFY, "[" * 100_000, "body"),
        (AGGREGATE, '{"skill_id": 7}', "skill_id"),
        (AGGREGATE, '{"skill_id": ""}', "skill_id"),
        (AGGREGATE, '{"skill_id": "a\\u0000"}', "skill_id"),
        (AGGREGATE, '{"skill_id": "%s"}' % ("a" * 65), "skill_id"),
    ],
)
def test_what_is_no_message_is_refused(queue: QueueName, body: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        key_of(queue, body)
    assert refused.value.field == field


@given(st.sampled_from(QueueName), st.text())
def test_no_text_makes_it_stumble(queue: QueueName, body: str) -> None:
    with suppress(InvalidInput):
        assert key_of(queue, body)
