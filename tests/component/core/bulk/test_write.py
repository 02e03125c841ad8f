"""What all bulk writes do alike: numbers below ten are written here, each judged by itself, into real PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.bulk import write as bulk
from skillroute.core.bulk.outcomes import Outcome, Report
from skillroute.core.bulk.write import Diff, Kind, Stored, Vectors, Writer, write_many
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.embed import Embedded, Waiting, embed_within
from skillroute.core.errors.model import InvalidInput
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.observability import Metric
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.time_left import ending_with
from skillroute.registry.collection import REGISTRY_DOCUMENTS

from tests.worlds.desk import Desk


@dataclass(frozen=True, slots=True)
class Number:
    index: int
    key: int

    @property
    def names(self) -> dict[str, object]:
        return {}


NUMBERS = Kind(
    noun="number",
    most=100,
    identity=("value", "value"),
    outcome=Outcome,
    metrics=(Metric.ITEMS_WRITTEN, Metric.ITEMS_FAILED),
    texts="numbers",
    warnings=lambda _: (),
)


class Numbers:
    def __init__(self, *, table: str = "numbers", stored: Sequence[int] = (), waiting: Sequence[Waiting] = ()) -> None:
        self.table = table
        self.stored = stored
        self.waiting = waiting
        self.transactions: list[list[int]] = []

    def decode(self, index: int, raw: object) -> Number:
        if not isinstance(raw, int):
            raise InvalidInput("value", "must be a number")
        return Number(index, raw)

    def diff(self, incoming: Sequence[Number]) -> Diff[Outcome]:
        same = {each.index: Outcome(each.index, "unchanged", each.key) for each in incoming if each.key in self.stored}
        return Diff(same, {str(each.key): [f"number {each.key}"] for each in incoming if each.index not in same})

    def store(self, session: Any, some: Sequence[Number], vectors: Vectors) -> Stored[Outcome]:
        self.transactions.append([each.key for each in some])
        self.vectors = vectors
        for each in some:
            session.script(f"INSERT INTO {self.table} VALUES ({each.key})")
        outcomes = {each.index: Outcome(each.index, "created", each.key) for each in some}
        return Stored(outcomes, is_news=True, waiting=self.waiting)


class Write:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def __call__(self, steps: Numbers, things: Sequence[object]) -> Report[Outcome]:
        writer = Writer(self._desk.database, self._desk.embedder)
        return write_many(writer, NUMBERS, things, steps, LAPTOP)


@pytest.fixture
def database_url(fresh_database_url: str) -> str:
    """A database for each test, since it makes a table."""
    return fresh_database_url


@pytest.fixture
def write(desk: Desk) -> Write:
    desk.sql("CREATE TABLE numbers (value int CHECK (value < 10))")
    return Write(desk)


def values(desk: Desk) -> list[int]:
    return [value for (value,) in desk.sql("SELECT value FROM numbers ORDER BY value")]


class Invocation:
    """Lambda's context: the milliseconds that are left."""

    def __init__(self, left_ms: float) -> None:
        self._left_ms = left_ms

    def get_remaining_time_in_millis(self) -> float:
        return self._left_ms


@pytest.mark.parametrize(("left_s", "most_s"), [(300, 60), (20, 15), (4, 0)])
def test_embedding_leaves_an_invocation_the_time_to_store(
    write: Write, monkeypatch: pytest.MonkeyPatch, left_s: int, most_s: int
) -> None:
    given: list[float] = []

    def embed(embedder: Any, views: Any, deadline: Deadline, **what: str) -> Any:
        given.append(deadline.timeout_s)
        return embed_within(embedder, views, deadline, **what)

    monkeypatch.setattr(bulk, "embed_within", embed)
    with ending_with(Invocation(1000 * left_s)):
        assert [outcome.status for outcome in write(Numbers(), [1]).outcomes] == ["created"]
    assert most_s - 1 <= given[0] <= most_s


def test_each_is_judged_by_itself_and_reported_in_its_place(desk: Desk, write: Write) -> None:
    report = write(Numbers(stored=[8]), [1, "two", 50, 1, 8, 4])
    assert [(each.index, each.status, each.field) for each in report.outcomes] == [
        (0, "created", None),
        (1, "failed", "value"),
        (2, "failed", "number"),
        (3, "failed", "value"),
        (4, "unchanged", None),
        (5, "created", None),
    ]
    assert report.outcomes[3].reason == "the same value as number 0 of this call"
    assert "check constraint" in (report.outcomes[2].reason or "")
    assert values(desk) == [1, 4]
    assert (desk.commits, report.embedding_unavailable) == (1, False)


def test_one_that_is_refused_among_many_is_found_by_halving(desk: Desk, write: Write) -> None:
    desk.sql("ALTER TABLE numbers DROP CONSTRAINT numbers_value_check, ADD CHECK (value <> 77)")
    numbers = Numbers()
    report = write(numbers, list(range(100)))
    assert (report.count("created"), report.count("failed")) == (99, 1)
    assert values(desk) == [value for value in range(100) if value != 77]
    assert len(numbers.transactions) < 20


def test_where_all_are_refused_or_settled_nothing_is_committed(desk: Desk, write: Write) -> None:
    numbers = Numbers(stored=[1, 2])
    assert write(numbers, [1, 2]).count("unchanged") == 2
    assert numbers.transactions == []
    assert write(Numbers(), [60, 70]).count("failed") == 2
    assert desk.commits == 0


def test_a_refusal_that_is_not_about_data_is_nobodys_in_particular(desk: Desk, write: Write) -> None:
    with pytest.raises(StatementRejected):
        write(Numbers(table="numbers OVERLY"), [1, 2])
    assert desk.commits == 0


def test_what_is_new_is_embedded_before_it_is_stored_and_nothing_else(desk: Desk, write: Write) -> None:
    numbers = Numbers(stored=[8])
    assert not write(numbers, [1, 8]).embedding_unavailable
    assert (list(numbers.vectors.by_key), numbers.vectors.model) == (["1"], desk.embedder.model)


def test_without_the_model_things_are_stored_and_the_report_says_so(desk: Desk, write: Write) -> None:
    desk.embedder.away = True
    numbers = Numbers()
    report = write(numbers, [1])
    assert (report.count("created"), report.embedding_unavailable, desk.commits) == (1, True, 1)
    assert numbers.vectors == Vectors()


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse what waits for a vector after the commit."""

    def refused(_database: Any, _embedder: Any, waiting: Waiting, deadline: Deadline | None) -> Embedded:
        return Embedded(complete=deadline is not None, refused=frozenset(map(str, waiting.ids)))

    monkeypatch.setattr(bulk, "embed_committed", refused)


@pytest.mark.usefixtures("refuse")
@pytest.mark.parametrize("has_model", [True, False])
def test_of_those_whose_text_the_model_refuses_the_results_say_so(desk: Desk, write: Write, has_model: bool) -> None:
    """Also where it is away now: that it refused them is stored."""
    desk.embedder.away = not has_model
    report = write(Numbers(waiting=[Waiting(TOOL_DOCUMENTS, [4], "items")], stored=[8]), [1, 4, 8, 50])
    assert [each.is_refused for each in report.outcomes] == [False, True, False, False]
    assert (report.embedding_refused, report.embedding_unavailable) == (True, not has_model)


@pytest.mark.usefixtures("refuse")
def test_a_refused_text_of_what_belongs_to_them_is_said_of_the_call_and_of_none_of_them(write: Write) -> None:
    report = write(Numbers(waiting=[Waiting(REGISTRY_DOCUMENTS, [1], "entities", is_own=False)]), [1, 4])
    assert [each.is_refused for each in report.outcomes] == [False, False]
    assert report.embedding_refused
    assert not write(Numbers(), [2]).embedding_refused


def test_too_many_are_refused_before_any_is_read(desk: Desk, write: Write) -> None:
    with pytest.raises(InvalidInput, match="101 numbers; at most 100 in one call") as refused:
        write(Numbers(), list(range(101)))
    assert refused.value.field == "numbers"
