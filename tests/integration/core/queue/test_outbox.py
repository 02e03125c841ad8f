"""Which work is published next: organisations take turns, and none is ahead of its limit (docs/adr/0028)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from skillroute.core.postgres.database import Database
from skillroute.core.postgres.queries import statement
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.queue.work import OutboxEntry
from skillroute.skills.queues import AGGREGATE, CLASSIFY

from tests.integration.rows import Sql, connected, insert_skill, insert_tool


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        yield sql


def backlog(sql: Sql, org_id: str, number: int, *, queue: str = "classify", age_s: float = 0.0) -> None:
    """Let so much work of an organisation wait, one row a second, the oldest `age_s` seconds old."""
    sql(
        "INSERT INTO mcp.outbox (queue, key, org_id, created_at) "
        f"SELECT '{queue}', '{org_id}' || to_char(n, 'FM000000'), '{org_id}', "
        f"       now() + make_interval(secs => n - {age_s}) "
        f"FROM generate_series(1, {number}) n"
    )


def in_flight(sql: Sql, org_id: str, number: int, *, attempts: int = 0, queue: str = "classify") -> None:
    """Let so many messages of an organisation be in flight."""
    sql(
        "INSERT INTO mcp.outbox (queue, key, org_id, attempts, published_at) "
        f"SELECT '{queue}', 'f{attempts}' || '{org_id}' || n, '{org_id}', {attempts}, now() "
        f"FROM generate_series(1, {number}) n"
    )


def planned(database: Database, *, most_in_flight: int = 200, share: int = 10, limit: int = 1000) -> list[OutboxEntry]:
    return database.read(
        lambda session: OutboxRepository(session).next_to_publish(
            most_in_flight=most_in_flight, share=share, limit=limit
        )
    )


def turns(entries: list[OutboxEntry]) -> list[str | None]:
    """Return the organisations in the order of their turns; one after itself counts once."""
    orgs = [entry.org_id for entry in entries]
    return [org for place, org in enumerate(orgs) if place == 0 or orgs[place - 1] != org]


def test_work_carries_the_organisation_of_its_tool_or_skill(database: Database, sql: Sql) -> None:
    # GIVEN
    for name, org in (("a", "acme"), ("b", None)):
        insert_tool(sql, name)
        insert_skill(sql, name, org)
    sql("UPDATE mcp.tools SET org_id = 'acme' WHERE name = 'a'")
    sql("DELETE FROM mcp.outbox")
    # WHEN
    for queue, keys in ((CLASSIFY, ["1", "2", "99"]), (AGGREGATE, ["a/acme", "b", "gone/acme"])):
        database.transact(lambda session, queue=queue, keys=keys: OutboxRepository(session).enqueue(queue, keys))  # type: ignore[misc]
    # THEN what is global, and what is gone meanwhile, is of no organisation
    assert {(entry.queue, entry.key): entry.org_id for entry in planned(database)} == {
        (CLASSIFY, "1"): "acme",
        (CLASSIFY, "2"): None,
        (CLASSIFY, "99"): None,
        (AGGREGATE, "a/acme"): "acme",
        (AGGREGATE, "b"): None,
        (AGGREGATE, "gone/acme"): None,
    }


def test_the_oldest_work_of_an_organisation_comes_first(database: Database, sql: Sql) -> None:
    backlog(sql, "acme", 25)
    assert [entry.key for entry in planned(database)] == [f"acme{n:06}" for n in range(1, 11)]


def test_organisations_take_turns_of_a_share(database: Database, sql: Sql) -> None:
    for org_id, age_s in (("acme", 100), ("globex", 300), ("initech", 200)):
        backlog(sql, org_id, 25, age_s=age_s)
    # THEN the one with the oldest work begins
    assert turns(planned(database)) == ["globex", "initech", "acme"]
    assert Counter(entry.org_id for entry in planned(database, share=4)) == {"acme": 4, "globex": 4, "initech": 4}


def test_an_organisation_with_less_in_flight_comes_before_one_with_older_work(database: Database, sql: Sql) -> None:
    backlog(sql, "acme", 25, age_s=1000)
    in_flight(sql, "acme", 40)
    backlog(sql, "globex", 1)
    assert turns(planned(database)) == ["globex", "acme"]


def test_the_work_of_one_organisation_is_planned_among_hundreds_with_a_backlog(database: Database, sql: Sql) -> None:
    # GIVEN more organisations with older work than one plan has room for
    for number in range(150):
        backlog(sql, f"org{number:03}", 10, age_s=1000)
    backlog(sql, "zeta", 1)
    published: list[OutboxEntry] = []
    while plan := planned(database, limit=1000):
        published += plan
        database.transact(lambda session, plan=plan: OutboxRepository(session).mark_published(plan))  # type: ignore[misc]
        if any(entry.org_id == "zeta" for entry in plan):
            break
    # THEN it waits for the turns that were before it, not for what follows them
    assert published[-1].org_id == "zeta"
    assert len(published) == 1501


@pytest.mark.parametrize(("flying", "room"), [(0, 10), (15, 5), (20, 0), (30, 0)])
def test_no_more_is_planned_than_there_is_room_for(database: Database, sql: Sql, flying: int, room: int) -> None:
    backlog(sql, "acme", 25)
    in_flight(sql, "acme", flying)
    assert len(planned(database, most_in_flight=20)) == room


@pytest.mark.parametrize(("failed", "room"), [(9, 10), (60, 4), (100, 0)])
def test_work_that_failed_counts_a_tenth(database: Database, sql: Sql, failed: int, room: int) -> None:
    backlog(sql, "acme", 25)
    in_flight(sql, "acme", failed, attempts=1)
    assert len(planned(database, most_in_flight=10)) == room


def test_each_queue_has_room_of_its_own(database: Database, sql: Sql) -> None:
    in_flight(sql, "acme", 20)
    backlog(sql, "acme", 5)
    backlog(sql, "acme", 5, queue="aggregate")
    assert {entry.queue for entry in planned(database, most_in_flight=20)} == {AGGREGATE}


def test_what_is_global_has_its_turn_as_an_organisation_has(database: Database, sql: Sql) -> None:
    backlog(sql, "", 25, age_s=100)
    in_flight(sql, "", 15)
    backlog(sql, "acme", 3)
    plan = planned(database, most_in_flight=20)
    assert Counter(entry.org_id for entry in plan) == {None: 5, "acme": 3}


def test_what_was_given_up_is_not_planned_and_takes_no_room(database: Database, sql: Sql) -> None:
    in_flight(sql, "acme", 20)
    sql("UPDATE mcp.outbox SET dead_at = now()")
    backlog(sql, "acme", 3)
    assert [entry.key for entry in planned(database, most_in_flight=20)] == [f"acme{n:06}" for n in (1, 2, 3)]


def test_what_was_published_since_it_was_planned_is_not_published_again(database: Database, sql: Sql) -> None:
    backlog(sql, "acme", 3)
    plan = planned(database)
    database.transact(lambda session: OutboxRepository(session).mark_published(plan[:1]))
    sql("DELETE FROM mcp.outbox WHERE key = 'acme000002'")
    assert database.transact(lambda session: OutboxRepository(session).mark_published(plan)) == plan[2:]


def test_what_another_publisher_has_locked_is_left_to_it(database: Database, sql: Sql) -> None:
    backlog(sql, "acme", 3)
    plan = planned(database)
    sql("BEGIN")
    sql("SELECT FROM mcp.outbox WHERE key = 'acme000002' FOR UPDATE")
    assert database.transact(lambda session: OutboxRepository(session).mark_published(plan)) == [plan[0], plan[2]]
    sql("ROLLBACK")


@pytest.mark.parametrize("analyzed", [False, True])
def test_a_plan_is_read_from_indexes_alone(sql: Sql, analyzed: bool) -> None:
    # GIVEN many rows of one organisation, and few of others
    backlog(sql, "acme", 20_000)
    in_flight(sql, "acme", 200)
    for number in range(20):
        backlog(sql, f"org{number}", 5)
    if analyzed:
        sql("ANALYZE mcp.outbox")
    # THEN neither for these values nor for any does a plan read the table as a whole
    text = statement("next_to_publish")
    for number, name in enumerate(("share", "most_in_flight", "limit"), 1):
        text = text.replace(f":{name}::", f"${number}::")
    sql(f"PREPARE planned AS {text}")
    for mode in ("force_custom_plan", "force_generic_plan"):
        sql(f"SET plan_cache_mode = {mode}")
        plan = "\n".join(row[0] for row in sql("EXPLAIN EXECUTE planned (10, 200, 1000)"))
        assert "outbox_unpublished" in plan
        assert "outbox_in_flight" in plan
        assert "Seq Scan on outbox" not in plan
