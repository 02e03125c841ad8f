"""What PostgreSQL sends of times and arrays is read as it was meant."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.postgres import converters
from skillroute.core.postgres.pool import Pool
from skillroute.core.rights.decide import EVERYTHING
from skillroute.skills.repository import SkillRepository

from tests.integration.rows import Sql, new_skill, skill_text

TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
AWKWARD = st.sampled_from(["", "NULL", "null", " ", "a b", "{}", ",", '"', "\\", '\\"', "\n", "ä", "'", "{a,b}"])


@pytest.fixture
def sql(emptied_database_url: str):  # type: ignore[no-untyped-def]
    sql = Sql(emptied_database_url)
    yield sql
    sql.close()


@given(array=st.lists(TEXTS | AWKWARD | st.none(), max_size=6))
def test_any_array_of_texts_comes_back(sql: Sql, array: list[str | None]) -> None:
    [[as_text]] = sql("SELECT :array::text::text[]::text", array=converters.array(array))
    assert converters.text_array(as_text) == array


@given(
    at=st.datetimes(datetime(1900, 1, 1), datetime(2999, 1, 1)),
    offset_minutes=st.integers(-12 * 60, 14 * 60),
)
def test_any_time_comes_back_in_utc(sql: Sql, at: datetime, offset_minutes: int) -> None:
    aware = at.replace(tzinfo=timezone(timedelta(minutes=offset_minutes)))
    [[as_text]] = sql("SELECT (:at::timestamptz AT TIME ZONE 'UTC')::text || '+00'", at=aware)
    read = converters.timestamptz(as_text)
    assert read == aware
    assert read.utcoffset() == timedelta(0)


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions are called while something is done."""
    calls = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("text", ['"', "\\", '\\"', "a"])
def test_a_text_is_read_in_as_many_steps_however_much_of_it_is_quoted(text: str) -> None:
    # One step for each quote was 4.5 s of processor time for a page of 1,000 tools with tags of quotes.
    short, long = (converters.array([text * times]) for times in (1, 1_000))
    assert converters.text_array(long) == [text * 1_000]
    assert calls_of(lambda: converters.text_array(long)) == calls_of(lambda: converters.text_array(short))


def test_the_pool_reads_with_them(emptied_database_url: str) -> None:
    # GIVEN a skill with keywords that an array must quote
    pool = Pool(emptied_database_url)
    try:
        database = pool
        examples = ("out of Office", "NULL", "null", 'a "b"', "c,d")
        new = new_skill("s", examples=examples)
        database.transact(lambda session: SkillRepository(session).create(new, skill_text("s"), None, None))
        # WHEN it is read
        skill = database.read(lambda session: SkillRepository(session).get("s", None, rights=EVERYTHING))
        adapters = pool.read(lambda connection: connection._native.pg_types)
    finally:
        pool.close()
    # THEN it is as it was written, its times are in UTC, and our readers read it
    assert skill is not None
    assert skill.examples == examples
    assert skill.created_at.utcoffset() == timedelta(0)
    assert {oid: adapters[oid] for oid in converters.ADAPTERS} == converters.ADAPTERS
