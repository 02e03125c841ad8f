"""The table of the trace: rows are added and read by organisation, and deleted by age alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from skillroute.core.caller import Caller, Scope
from skillroute.core.postgres.pool import Pool
from skillroute.core.postgres.refusals import NotPermitted
from skillroute.core.trace.model import TraceEvent
from skillroute.core.trace.repository import (
    KeptEvent,
    Place,
    ReadTrace,
    TraceFilter,
    TraceRepository,
    add_trace,
)

from tests.integration.rows import Sql, connected

ANN = Caller(org_id="acme", scopes=frozenset({Scope.ADMIN}), name="ann")
NOW = datetime.now(UTC)


def event(minutes_ago: float = 0.0, **given: Any) -> TraceEvent:
    fields = {"kind": "change", "outcome": "ok", "caller": ANN, "door": "http", "what": "PUT /x", "took_ms": 1.0}
    return TraceEvent(at=NOW - timedelta(minutes=minutes_ago), **fields | given)  # type: ignore[arg-type]


@pytest.fixture
def pool(database_url: str) -> Iterator[Pool]:
    pool = Pool(database_url)
    yield pool
    pool.close()


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        yield sql


def add(pool: Pool, *events: TraceEvent) -> None:
    add_trace(pool, [each.row() for each in events])


def found(pool: Pool, caller: Caller = ANN, **asked: Any) -> list[KeptEvent]:
    return ReadTrace(pool)(caller, TraceFilter(**asked))


def test_an_event_that_is_added_twice_is_there_once_and_as_it_was(pool: Pool) -> None:
    one = event(targets={"tool": 7, "server": "a/b"}, bytes_in=3, trace_id="0" * 32, arguments="{}", code="x")
    add(pool, one)
    add(pool, one)
    [kept] = found(pool)
    assert (kept.id, kept.at, kept.kind, kept.outcome) == (one.id, one.at, "change", "ok")
    assert (kept.actor, kept.roles, kept.targets) == ("ann", ["scope:admin"], {"tool": 7, "server": "a/b"})
    assert (kept.bytes_in, kept.bytes_out, kept.arguments, kept.code) == (3, None, "{}", "x")


def test_what_no_text_of_postgresql_may_hold_is_left_out_and_names_are_cut(pool: Pool) -> None:
    add(pool, event(targets={"server": "a\0\ud800" + "b" * 300}, caller=Caller(org_id="acme", name="x" * 999)))
    [kept] = found(pool)
    assert (len(kept.targets["server"]), len(kept.actor or "")) == (199, 200)  # type: ignore[arg-type]


def test_an_organisation_reads_its_own_events_alone(pool: Pool) -> None:
    add(pool, event(), event(caller=Caller(org_id="globex")), event(caller=Caller()))
    for org in ("acme", "globex", None):
        assert len(found(pool, Caller(org_id=org, scopes=frozenset({Scope.ADMIN})))) == 1


def test_filters_and_both_orders(pool: Pool) -> None:
    old, other, new = (
        event(3),
        event(2, kind="call", outcome="failed", caller=Caller(org_id="acme", name="bob")),
        event(1),
    )
    add(pool, new, old, other)
    assert [each.id for each in found(pool)] == [new.id, other.id, old.id]
    assert [each.id for each in found(pool, limit=1)] == [new.id]
    assert [each.id for each in found(pool, after=Place(old.at, old.id))] == [other.id, new.id]
    for asked in ({"kind": "call"}, {"outcome": "failed"}, {"actor": "bob"}, {"since": other.at, "until": new.at}):
        assert [each.id for each in found(pool, **asked)] == [other.id]
        assert [each.id for each in found(pool, **asked, after=Place(old.at, old.id))] == [other.id]


@pytest.mark.parametrize(
    "statement",
    ["UPDATE mcp.trace SET actor = 'eve'", "DELETE FROM mcp.trace", "TRUNCATE mcp.trace",
     "UPDATE mcp.trace SET actor = 'eve' WHERE false"],
)  # fmt: skip
def test_not_even_the_owner_changes_or_deletes_events(pool: Pool, statement: str) -> None:
    add(pool, event())
    with pytest.raises(NotPermitted):
        pool.transact(lambda session: session.script(statement))
    assert len(found(pool)) == 1


def test_no_function_of_another_schema_deletes_by_the_name_of_the_one_that_may(pool: Pool, sql: Sql) -> None:
    add(pool, event())
    sql("CREATE FUNCTION public.prune_trace(int, int) RETURNS void LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM 'function mcp.prune_trace('; DELETE FROM mcp.trace; END $$")  # fmt: skip
    with pytest.raises(NotPermitted):
        pool.transact(lambda session: session.script("SELECT public.prune_trace(1, 1)"))
    assert len(found(pool)) == 1


def test_what_is_too_old_is_deleted_the_oldest_first_and_never_what_is_of_today(pool: Pool) -> None:
    day = 24 * 60
    oldest, old, new = event(100 * day), event(91 * day), event(89 * day)
    add(pool, old, new, oldest, event())

    def prune(days: int, limit: int) -> int:
        return pool.transact(lambda session: TraceRepository(session).prune(days=days, limit=limit))

    assert (prune(90, 1), len(found(pool))) == (1, 3)
    assert oldest.id not in {each.id for each in found(pool)}
    assert (prune(90, 10), prune(90, 10)) == (1, 0)
    assert (prune(0, 10), len(found(pool))) == (1, 1)


@pytest.mark.parametrize("group", ["reader", "writer"])
def test_functions_add_and_read_and_the_writer_alone_has_old_events_deleted(
    pool: Pool, database_url: str, migrated_template: str, group: str
) -> None:
    add(pool, event(100 * 24 * 60))
    acting = Pool(database_url, size=1)
    with acting.borrowed() as connection:
        connection.script(f'SET ROLE "{migrated_template}_{group}"')
    add(acting, event())
    assert len(found(acting)) == 2
    with pytest.raises(NotPermitted):
        acting.transact(lambda session: session.script("DELETE FROM mcp.trace"))
    if group == "reader":
        with pytest.raises(NotPermitted):
            acting.transact(lambda session: TraceRepository(session).prune(days=90))
    else:
        assert acting.transact(lambda session: TraceRepository(session).prune(days=90)) == 1
    acting.close()
