"""What all bulk writes do alike: numbers below ten are written here, each judged by itself, into real PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from skillroute.core.bulk.outcomes import Outcome, Report
from skillroute.core.bulk.write import BulkWrite
from skillroute.core.bulk.writing import Done, Writing
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.embed import Embedded
from skillroute.core.errors.model import InvalidInput, StatementRejected
from skillroute.core.observability import Metric
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.time_left import ending_with

from tests.component.desk import Desk


@dataclass(frozen=True, slots=True)
class Number:
    index: int
    key: int


class Numbers(Writing[Number, Done[Outcome], Outcome]):
    noun = "number"
    most = 100
    identity = ("value", "value")
    outcome_type = Outcome
    metrics: ClassVar = (Metric.ITEMS_WRITTEN, Metric.ITEMS_FAILED)
    caller = LAPTOP

    def __init__(
        self,
        *,
        has_model: bool = True,
        table: str = "numbers",
        stored: Sequence[int] = (),
        refused: Sequence[str] = (),
        others_refused: Sequence[str] = (),
    ) -> None:
        self.has_model = has_model
        self.refused = refused
        self.others_refused = others_refused
        self.table = table
        self.stored = stored
        self.transactions: list[list[int]] = []

    def read(self, index: int, raw: object) -> Number:
        if not isinstance(raw, int):
            raise InvalidInput("value", "must be a number")
        return Number(index, raw)

    def admit(self, each: Number) -> None:
        if each.key < 0:
            raise InvalidInput("value", "must not be negative")

    def named(self, each: Number) -> dict[str, object]:
        return {}

    def prepare(self, incoming: Sequence[Number], deadline: Deadline) -> bool:
        self.embedding_s = deadline.timeout_s
        return self.has_model

    def settled(self, each: Number) -> Outcome | None:
        return Outcome(each.index, "unchanged", each.key) if each.key in self.stored else None

    def store(self, session: Any, some: Sequence[Number]) -> Done[Outcome]:
        self.transactions.append([each.key for each in some])
        for each in some:
            session.script(f"INSERT INTO {self.table} VALUES ({each.key})")
        return Done({each.index: Outcome(each.index, "created", each.key) for each in some})

    def is_news(self, done: Done[Outcome]) -> bool:
        return bool(done.outcomes)

    def embed_committed(self, done: Done[Outcome], deadline: Deadline | None) -> tuple[Embedded, Embedded]:
        left = Embedded(complete=deadline is not None, refused=frozenset(self.refused))
        return left, Embedded(complete=deadline is not None, refused=frozenset(self.others_refused))


class WriteNumbers(BulkWrite):
    def __call__(self, writing: Numbers, things: Sequence[object]) -> Report[Outcome]:
        return self._carry_out(writing, things)


@pytest.fixture
def database_url(fresh_database_url: str) -> str:
    """A database for each test, since it makes a table."""
    return fresh_database_url


@pytest.fixture
def write(desk: Desk) -> WriteNumbers:
    desk.sql("CREATE TABLE numbers (value int CHECK (value < 10))")
    return WriteNumbers(desk.database, desk.embedder, after_commit=desk.after_commit)


def values(desk: Desk) -> list[int]:
    return [value for (value,) in desk.sql("SELECT value FROM numbers ORDER BY value")]


class Invocation:
    """Lambda's context: the milliseconds that are left."""

    def __init__(self, left_ms: float) -> None:
        self._left_ms = left_ms

    def get_remaining_time_in_millis(self) -> float:
        return self._left_ms


@pytest.mark.parametrize(("left_s", "most_s"), [(300, 60), (20, 15), (4, 0)])
def test_embedding_leaves_an_invocation_the_time_to_store(write: WriteNumbers, left_s: int, most_s: int) -> None:
    writing = Numbers()
    with ending_with(Invocation(1000 * left_s)):
        assert [outcome.status for outcome in write(writing, [1]).outcomes] == ["created"]
    assert most_s - 1 <= writing.embedding_s <= most_s


def test_each_is_judged_by_itself_and_reported_in_its_place(desk: Desk, write: WriteNumbers) -> None:
    report = write(Numbers(stored=[8]), [1, "two", 50, 1, -3, 8, 4])
    assert [(each.index, each.status, each.field) for each in report.outcomes] == [
        (0, "created", None),
        (1, "failed", "value"),
        (2, "failed", "number"),
        (3, "failed", "value"),
        (4, "failed", "value"),
        (5, "unchanged", None),
        (6, "created", None),
    ]
    assert report.outcomes[3].reason == "the same value as number 0 of this call"
    assert "check constraint" in (report.outcomes[2].reason or "")
    assert values(desk) == [1, 4]
    assert (desk.commits, report.embedding_unavailable) == (1, False)


def test_one_that_is_refused_among_many_is_found_by_halving(desk: Desk, write: WriteNumbers) -> None:
    desk.sql("ALTER TABLE numbers DROP CONSTRAINT numbers_value_check, ADD CHECK (value <> 77)")
    numbers = Numbers()
    report = write(numbers, list(range(100)))
    assert (report.count("created"), report.count("failed")) == (99, 1)
    assert values(desk) == [value for value in range(100) if value != 77]
    assert len(numbers.transactions) < 20


def test_where_all_are_refused_or_settled_nothing_is_committed(desk: Desk, write: WriteNumbers) -> None:
    numbers = Numbers(stored=[1, 2])
    assert write(numbers, [1, 2]).count("unchanged") == 2
    assert numbers.transactions == []
    assert write(Numbers(), [60, 70]).count("failed") == 2
    assert desk.commits == 0


def test_a_refusal_that_is_not_about_data_is_nobodys_in_particular(desk: Desk, write: WriteNumbers) -> None:
    with pytest.raises(StatementRejected):
        write(Numbers(table="numbers OVERLY"), [1, 2])
    assert desk.commits == 0


def test_without_the_model_things_are_stored_and_the_report_says_so(desk: Desk, write: WriteNumbers) -> None:
    report = write(Numbers(has_model=False), [1])
    assert (report.count("created"), report.embedding_unavailable, desk.commits) == (1, True, 1)


@pytest.mark.parametrize("has_model", [True, False])
def test_of_those_whose_text_the_model_refuses_the_results_say_so(
    desk: Desk, write: WriteNumbers, has_model: bool
) -> None:
    """Also where it is away now: that it refused them is stored."""
    report = write(Numbers(has_model=has_model, refused=["4"], stored=[8]), [1, 4, 8, 50])
    assert [each.is_refused for each in report.outcomes] == [False, True, False, False]
    assert (report.embedding_refused, report.embedding_unavailable) == (True, not has_model)


def test_a_refused_text_of_what_belongs_to_them_is_said_of_the_call_and_of_none_of_them(
    desk: Desk, write: WriteNumbers
) -> None:
    report = write(Numbers(others_refused=["1"]), [1, 4])
    assert [each.is_refused for each in report.outcomes] == [False, False]
    assert report.embedding_refused
    assert not write(Numbers(), [2]).embedding_refused


def test_too_many_are_refused_before_any_is_read(desk: Desk, write: WriteNumbers) -> None:
    with pytest.raises(InvalidInput, match="101 numbers; at most 100 in one call") as refused:
        write(Numbers(), list(range(101)))
    assert refused.value.field == "numbers"
