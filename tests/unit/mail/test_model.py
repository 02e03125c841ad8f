"""Names, times and hashes of agent mail."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.hashing import content_hash
from skillroute.mail.model import (
    MAX_TS,
    MailAgent,
    MailContent,
    Message,
    Product,
    Project,
    agent_key,
    to_ts,
)

MESSAGE = Message("m-1", "p", "Ann", ("Bob", "Cid"), "Subject", "Body", 5, cc=("Dan",), bcc=("Eve", "Bob"))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("BlueLake", "bluelake", True), (" BlueLake ", "BlueLake", True), ("Straße", "STRASSE", True),
        ("ΟΔΟΣ", "οδος", True), ("cafe\u0301", "CAFÉ", True), ("ＢｌｕｅＬａｋｅ", "bluelake", True),
        ("ﬁne", "fine", True),
        ("İ", "i̇", True), ("BlueLake", "Blue Lake", False), ("Blue-Lake", "BlueLake", False), ("cafe", "café", False),
        ("a", "b", False),
    ],
)  # fmt: skip
def test_names_compare_in_any_case_and_spelling_of_a_letter(left: str, right: str, same: bool) -> None:
    assert (agent_key(left) == agent_key(right)) is same


@given(st.text())
def test_a_key_is_its_own_key(name: str) -> None:
    assert agent_key(agent_key(name)) == agent_key(name)


@given(st.text())
def test_case_and_spelling_never_count(name: str) -> None:
    assert agent_key(f"  {name}\n") == agent_key(name)
    assert agent_key(name.casefold()) == agent_key(name)


def test_a_message_names_its_sender_then_everybody_that_gets_it_by_role() -> None:
    assert MESSAGE.recipients == (("to", "Bob"), ("to", "Cid"), ("cc", "Dan"), ("bcc", "Eve"), ("bcc", "Bob"))
    assert MESSAGE.names == ("Ann", "Bob", "Cid", "Dan", "Eve", "Bob")


def test_an_agent_s_key_is_that_of_its_name() -> None:
    assert MailAgent("Blue Lake").key == agent_key("blue lake")


CONTENTS: list[MailContent] = [
    Project("k", "n", "d"), Product("k", "n", "d"), Product("k", "n", "d", ("p",)), Product("k", "n", "d", ("p", "q")),
    MailAgent("n", "d", "c"), MailAgent("n", "d", "c", ("p",)), MESSAGE,
]  # fmt: skip


def test_the_hash_tells_all_of_them_apart() -> None:
    assert len({content_hash(content) for content in CONTENTS}) == len(CONTENTS)


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: type(content).__name__)
def test_the_hash_changes_with_everything_that_is_said_and_with_nothing_else(content: MailContent) -> None:
    assert content_hash(replace(content)) == content_hash(content)
    for name in content.__dataclass_fields__:
        value = getattr(content, name)
        other: Any = (
            (*value, "x") if isinstance(value, tuple) else not value if isinstance(value, bool) else f"{value}x"
        )
        assert content_hash(replace(content, **{name: other})) != content_hash(content), name


def test_odd_characters_have_a_hash_too() -> None:
    assert content_hash(replace(MESSAGE, body="\ud800\0")) != content_hash(replace(MESSAGE, body="\udc00\0"))


@pytest.mark.parametrize(
    ("ts", "moment"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1, datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        (1_700_000_000_123_456, datetime(2023, 11, 14, 22, 13, 20, 123_456, tzinfo=UTC)),
        (MAX_TS, datetime(2255, 6, 5, 23, 47, 34, 740_992, tzinfo=UTC)),
    ],
)
def test_times_are_microseconds_since_the_epoch(ts: int, moment: datetime) -> None:
    assert to_ts(moment) == ts


@given(st.integers(-MAX_TS, MAX_TS))
def test_times_of_messages_are_exact_as_doubles(ts: int) -> None:
    assert int(float(ts)) == ts
    assert float(MAX_TS + 1) == MAX_TS  # not one more


def test_a_time_of_another_zone_is_the_same_moment() -> None:
    assert to_ts(datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))) == 0
