"""Messages: what names a tool or a skill, and nothing else."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.errors.model import InvalidInput
from skillroute.core.queue.messages import key_of, message_of
from skillroute.core.queue.work import OutboxEntry, WorkQueue, queues
from skillroute.learning.queues import LEARN
from skillroute.skills.model import id_in_key, skill_key
from skillroute.skills.queues import AGGREGATE, CLASSIFY

ORGANISATIONS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


def test_each_queue_has_its_field() -> None:
    assert message_of(OutboxEntry(CLASSIFY, "7", None)) == {"tool_id": 7}
    assert message_of(OutboxEntry(AGGREGATE, "files", "acme")) == {"skill_id": "files"}
    assert message_of(OutboxEntry(LEARN, "org/acme", "acme")) == {"org_id": "acme"}
    assert message_of(OutboxEntry(LEARN, "global", None)) == {"org_id": None}


@given(st.from_regex(r"[a-z][a-z0-9_]{0,63}", fullmatch=True), st.none() | st.text(ORGANISATIONS, min_size=1))
def test_the_key_of_every_skill_comes_through(skill_id: str, org_id: str | None) -> None:
    """Decision 29: whatever characters the organisation's id has, and however long it is."""
    key = skill_key(skill_id, org_id)
    body = json.dumps(message_of(OutboxEntry(AGGREGATE, key, org_id)))
    assert (key_of(AGGREGATE, body), id_in_key(key)) == (key, skill_id)


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
        (AGGREGATE, '{"skill_id": "%s/acme"}' % ("a" * 65), "skill_id"),
        (AGGREGATE, '{"skill_id": "files/"}', "skill_id"),
        (AGGREGATE, '{"skill_id": "/acme"}', "skill_id"),
        (AGGREGATE, '{"skill_id": "files/a\\u0000"}', "skill_id"),
        (AGGREGATE, '{"skill_id": "files/a\\ud800"}', "skill_id"),
        (AGGREGATE, '{"skill_id": "Files"}', "skill_id"),
        (AGGREGATE, '{"skill_id": "files\\n"}', "skill_id"),
        (LEARN, '{"org_id": ""}', "org_id"),
        (LEARN, '{"org_id": 7}', "org_id"),
        (LEARN, '{"org_id": "a\\u0000"}', "org_id"),
        (LEARN, '{"org_id": "\\ud800"}', "org_id"),
    ],
)
def test_what_is_no_message_is_refused(queue: WorkQueue, body: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        key_of(queue, body)
    assert refused.value.field == field


@given(st.sampled_from(queues()), st.text())
def test_no_text_makes_it_stumble(queue: WorkQueue, body: str) -> None:
    with suppress(InvalidInput):
        assert key_of(queue, body)
