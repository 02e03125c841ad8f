"""Connections: what an outage looks like, what is tried again, what is rolled back."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from skillroute.core.errors.model import ConfigurationError, DatabaseUnavailable
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.listing import Order
from skillroute.core.postgres.address import Address
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.pool import Pool
from skillroute.core.postgres.sockets import PlainSocket

from tests.integration.rows import INSERT_SKILL, Sql, connected, insert_tool, waits_for_a_lock

if TYPE_CHECKING:
    from skillroute_local.postgres import EmbeddedPostgres


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        yield sql


def count_skills(connection: Connection) -> int:
    count: int = connection.run("count_skills_of", org_id=None)[0][0]
    return count


def backends(sql: Sql) -> int:
    rows = sql(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'skillroute'"
    )
    return int(rows[0][0])


def terminate_all(sql: Sql) -> None:
    """End every connection of the pool, and return when they are gone."""
    sql(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'skillroute'"
    )
    assert backends(sql) == 0


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "waited ten seconds in vain"


class TestAddress:
    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("postgresql://u:p@127.0.0.1:5433/db", Address("127.0.0.1", 5433, "u", "p", "db", "disable")),
            ("postgres://u@localhost", Address("localhost", 5432, "u", None, "postgres", "disable")),
            ("postgresql://u:p@[::1]:1/db", Address("::1", 1, "u", "p", "db", "disable")),
            ("postgresql://u:p@db.example/x", Address("db.example", 5432, "u", "p", "x", "require")),
            ("postgresql://u:p@db/x?sslmode=disable", Address("db", 5432, "u", "p", "x", "disable")),
            ("postgresql://u:p@db/x?sslmode=verify-full", Address("db", 5432, "u", "p", "x", "verify-full")),
            ("postgresql://a%40b:p%2F%3A%40@db/my%20db", Address("db", 5432, "a@b", "p/:@", "my db", "require")),
        ],
    )
    def test_a_url_says_where_and_how(self, url: str, expected: Address) -> None:
        assert Address.parse(url) == expected

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "mysql://u:p@host/db",
            "postgresql://host/db",
            "postgresql:///db",
            "postgresql://u:p@host:port/db",
            "postgresql://u:p@host:99999/db",
            "postgresql://u:p@[::1/db",
            "postgresql://u:p@host/db?sslmode=prefer",
        ],
    )
    def test_what_cannot_be_read_is_a_configuration_error_that_does_not_show_the_password(self, url: str) -> None:
        with pytest.raises(ConfigurationError, match="SKILLROUTE_DATABASE_URL") as error:
            Address.parse(url)
        assert "u:p@" not in str(error.value)

    def test_only_verify_full_checks_whom_it_talks_to(self) -> None:
        assert Address.parse("postgresql://u@localhost").ssl_context() is False
        require = Address.parse("postgresql://u@db?sslmode=require").ssl_context()
        verify = Address.parse("postgresql://u@db?sslmode=verify-full").ssl_context()
        assert not isinstance(require, bool) and not isinstance(verify, bool)
        assert (require.check_hostname, verify.check_hostname) == (False, True)

    def test_nothing_is_opened_before_the_first_unit_of_work(self) -> None:
        Pool("postgresql://u@127.0.0.1:1/db").close()


class TestIdle:
    def test_the_server_ends_what_is_not_used_and_the_next_work_opens_another(
        self, database_url: str, sql: Sql
    ) -> None:
        """GIVEN a process that is frozen with a connection open, WHEN it goes on, THEN it opens another."""
        pool = Pool(database_url, idle_timeout_s=0.02)
        try:
            assert pool.read(count_skills) == 0
            until(lambda: backends(sql) == 0)
            assert pool.read(count_skills) == 0
            until(lambda: backends(sql) == 0)
            pool.transact(lambda connection: connection.script(INSERT_SKILL.format(name="idle")))
            until(lambda: backends(sql) == 0)
            assert pool.read(count_skills) == 1
        finally:
            pool.close()

    def test_a_transaction_under_way_is_not_idle(self, database_url: str, sql: Sql) -> None:
        pool = Pool(database_url, idle_timeout_s=0.02)

        def work(connection: Connection) -> int:
            connection.script("SELECT 1")
            sql("SELECT pg_sleep(0.1)")
            return count_skills(connection)

        try:
            assert pool.snapshot(work) == 0
        finally:
            pool.close()

    def test_by_default_a_connection_stays(self, database_url: str) -> None:
        pool = Pool(database_url)
        try:
            assert pool.read(lambda connection: connection.script("SHOW idle_session_timeout")) == [["0"]]
        finally:
            pool.close()


class TestOutage:
    def test_a_closed_port_is_told_at_once(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
        started = time.monotonic()
        with pytest.raises(DatabaseUnavailable, match=f"127.0.0.1:{port} cannot be reached"):
            Pool(f"postgresql://u:p@127.0.0.1:{port}/db").read(count_skills)
        assert time.monotonic() - started < 1

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("skillroute:{password}@", "skillroute:wrong@", "password authentication failed"),
            ("skillroute:{password}@", "skillroute@", "authentication failed|password"),
            ("skillroute:{password}@", "ghost:{password}@", "ghost"),
            ("/{database}", "/absent", "absent"),
        ],
    )
    def test_a_server_that_does_not_let_us_in_is_unavailable_and_says_why(
        self, database_url: str, old: str, new: str, says: str
    ) -> None:
        address = Address.parse(database_url)
        names = {"password": address.password, "database": address.database}
        url = database_url.replace(old.format(**names), new.format(**names))
        assert url != database_url
        with pytest.raises(DatabaseUnavailable, match=says):
            Pool(url).read(count_skills)

    def test_a_server_that_hangs_up_is_unavailable(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:

            def hang_up() -> None:
                server.accept()[0].close()

            thread = threading.Thread(target=hang_up)
            thread.start()
            with pytest.raises(DatabaseUnavailable):
                Pool(f"postgresql://u:p@127.0.0.1:{server.getsockname()[1]}/db").read(count_skills)
            thread.join()

    def test_after_the_server_dropped_every_connection_the_next_unit_of_work_goes_through(
        self, pool: Pool, sql: Sql
    ) -> None:
        # GIVEN several idle connections
        with pool.borrowed(), pool.borrowed(), pool.borrowed():
            pass
        # WHEN
        terminate_all(sql)
        # THEN a read and a transaction both find a fresh one
        assert pool.read(count_skills) == 0
        terminate_all(sql)
        assert pool.transact(count_skills) == 0
        assert backends(sql) == 1

    def test_a_transaction_that_loses_its_connection_runs_again_from_its_start(self, pool: Pool, sql: Sql) -> None:
        pool.read(count_skills)
        runs: list[int] = []

        def work(connection: Connection) -> None:
            runs.append(len(runs))
            connection.script(f"INSERT INTO mcp.outbox (queue, key) VALUES ('classify', '{len(runs)}')")
            if len(runs) == 1:
                terminate_all(sql)
                connection.run("count_skills_of", org_id=None)

        pool.transact(work)
        assert runs == [0, 1]
        assert sql("SELECT key FROM mcp.outbox") == [["2"]]

    def test_a_connection_lost_on_a_fresh_one_is_told_not_tried_for_ever(self, pool: Pool, sql: Sql) -> None:
        runs: list[int] = []

        def work(connection: Connection) -> int:
            runs.append(1)
            terminate_all(sql)
            return count_skills(connection)

        with pytest.raises(DatabaseUnavailable):
            pool.transact(work)
        assert len(runs) == 1
        assert pool.read(count_skills) == 0

    def test_a_lost_connection_is_closed_while_its_error_is_still_held(self, pool: Pool, sql: Sql) -> None:
        """The error's traceback holds the file that pg8000 made of the socket, which would keep the socket open."""
        with pool.borrowed() as connection:
            terminate_all(sql)
            with pytest.raises(DatabaseUnavailable) as lost:
                count_skills(connection)
        assert lost.value.__cause__ is not None
        assert connection._sock.fileno() == -1

    def test_a_refused_login_is_closed_while_its_error_is_still_held(
        self, database_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened: list[PlainSocket] = []
        connect = PlainSocket.connected

        def noted(host: str, port: int, timeout_s: float) -> PlainSocket:
            opened.append(connect(host, port, timeout_s))
            return opened[-1]

        monkeypatch.setattr(PlainSocket, "connected", noted)
        with pytest.raises(DatabaseUnavailable) as refused:
            Pool(f"{database_url.rpartition('/')[0]}/of_no_name").read(count_skills)
        assert refused.value.__cause__ is not None
        assert [sock.fileno() for sock in opened] == [-1]

    def test_a_statement_that_takes_too_long_is_cut_off_once_and_its_connection_kept(
        self, database_url: str, sql: Sql
    ) -> None:
        pool = Pool(database_url, statement_timeout_s=0.1)
        pool.read(count_skills)
        runs: list[int] = []

        def work(connection: Connection) -> None:
            runs.append(1)
            connection.script("SELECT pg_sleep(60)")

        for unit in (pool.read, pool.transact):
            runs.clear()
            with pytest.raises(DatabaseUnavailable, match="took too long"):
                unit(work)
            assert len(runs) == 1
        assert pool.transact(count_skills) == 0
        assert backends(sql) == 1
        pool.close()

    @pytest.mark.parametrize("state", ["53100", "53200", "53300", "58030", "58P01", "25006"])
    def test_a_server_without_room_or_whose_files_fail_or_that_only_reads_is_unavailable_and_says_why(
        self, pool: Pool, state: str
    ) -> None:
        def work(connection: Connection) -> None:
            connection.script(f"DO $$ BEGIN RAISE EXCEPTION 'no room left' USING ERRCODE = '{state}'; END $$")

        for unit in (pool.read, pool.transact):
            with pytest.raises(DatabaseUnavailable, match=r"^PostgreSQL is not available: no room left$"):
                unit(work)
            assert pool._idle == []

    def test_a_database_without_our_schema_is_unavailable_and_says_what_to_run(
        self, postgres_server: EmbeddedPostgres
    ) -> None:
        pool = Pool(postgres_server.url_of("postgres"))
        with pytest.raises(DatabaseUnavailable, match=r"mcp\.skill_categories.*run `skillroute migrate`"):
            pool.read(count_skills)
        pool.close()


class TestTransaction:
    def test_an_error_of_the_work_rolls_everything_back_and_keeps_the_connection(self, pool: Pool, sql: Sql) -> None:
        def work(connection: Connection) -> None:
            connection.script("INSERT INTO mcp.outbox (queue, key) VALUES ('classify', '1')")
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            pool.transact(work)
        assert sql("SELECT count(*) FROM mcp.outbox") == [[0]]
        assert pool.transact(count_skills) == 0
        assert backends(sql) == 1

    def test_a_refused_statement_names_state_and_constraint_and_rolls_back(self, pool: Pool, sql: Sql) -> None:
        def work(connection: Connection) -> None:
            connection.script("INSERT INTO mcp.outbox (queue, key) VALUES ('classify', '1')")
            connection.script("INSERT INTO mcp.outbox (queue, key) VALUES ('elsewhere', '1')")

        with pytest.raises(StatementRejected) as refused:
            pool.transact(work)
        assert (refused.value.state, refused.value.constraint) == ("23514", "outbox_queue_known")
        assert sql("SELECT count(*) FROM mcp.outbox") == [[0]]

    def test_two_that_deadlock_both_go_through(self, pool: Pool, sql: Sql) -> None:
        # GIVEN two items that two transactions lock in opposite order, each holding its first before its second
        first, second = insert_tool(sql, "first"), insert_tool(sql, "second")
        both_hold_one = threading.Barrier(2)
        runs: list[str] = []

        def rename(name: str, order: list[int]) -> None:
            def work(connection: Connection) -> None:
                runs.append(name)
                connection.script("SET LOCAL deadlock_timeout = '10ms'")
                connection.script(f"UPDATE mcp.tools SET description = description || '{name}' WHERE id = {order[0]}")
                if runs.count(name) == 1:
                    both_hold_one.wait(10)
                connection.script(f"UPDATE mcp.tools SET description = description || '{name}' WHERE id = {order[1]}")

            pool.transact(work)

        threads = [
            threading.Thread(target=rename, args=("a", [first, second])),
            threading.Thread(target=rename, args=("b", [second, first])),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # THEN at least one of them ran again (it can meet the other once more), and each wrote once
        assert len(runs) >= 3
        assert [sorted(row[0]) for row in sql("SELECT description FROM mcp.tools")] == [["a", "b"], ["a", "b"]]

    def test_a_deadlock_that_does_not_end_is_told(self, pool: Pool) -> None:
        runs: list[int] = []

        def work(connection: Connection) -> None:
            runs.append(1)
            connection.script("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40P01'; END $$")

        with pytest.raises(StatementRejected) as refused:
            pool.transact(work)
        assert refused.value.state == "40P01"
        assert len(runs) == 5

    def test_what_is_not_committed_is_seen_by_nobody_else(self, pool: Pool, sql: Sql) -> None:
        def work(connection: Connection) -> list[list[object]]:
            connection.script("INSERT INTO mcp.outbox (queue, key) VALUES ('classify', '1')")
            return sql("SELECT count(*) FROM mcp.outbox")

        assert pool.transact(work) == [[0]]
        assert sql("SELECT count(*) FROM mcp.outbox") == [[1]]


class TestSnapshot:
    def test_all_statements_see_the_moment_of_the_first_one(self, pool: Pool, sql: Sql) -> None:
        def work(connection: Connection) -> tuple[int, int]:
            before = count_skills(connection)
            sql(INSERT_SKILL.format(name="meanwhile"))
            return before, count_skills(connection)

        assert pool.snapshot(work) == (0, 0)
        assert pool.read(count_skills) == 1

    def test_nothing_can_be_written(self, pool: Pool) -> None:
        with pytest.raises(DatabaseUnavailable, match="read-only transaction"):
            pool.snapshot(lambda connection: connection.run("forget_generation", index_name="x", generation=1))
        assert pool.read(count_skills) == 0

    def test_after_an_error_the_connection_serves_on(self, pool: Pool, sql: Sql) -> None:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                pool.snapshot(lambda connection: count_skills(connection) / 0)
            with pytest.raises(StatementRejected):
                pool.snapshot(lambda connection: connection.script("SELECT 1 / 0"))
            assert pool.read(count_skills) == 0
        assert backends(sql) == 1

    def test_a_connection_that_was_lost_between_two_is_replaced(self, pool: Pool, sql: Sql) -> None:
        assert pool.snapshot(count_skills) == 0
        terminate_all(sql)
        assert pool.snapshot(count_skills) == 0


class TestPool:
    def test_it_keeps_as_many_idle_connections_as_its_size(self, database_url: str, sql: Sql) -> None:
        pool = Pool(database_url, size=2)
        with pool.borrowed(), pool.borrowed(), pool.borrowed(), pool.borrowed():
            assert backends(sql) == 4
        until(lambda: backends(sql) == 2)
        pool.close()
        until(lambda: backends(sql) == 0)

    def test_one_after_another_shares_one_connection(self, pool: Pool, sql: Sql) -> None:
        for _ in range(5):
            pool.read(count_skills)
            pool.transact(count_skills)
        assert backends(sql) == 1

    def test_a_long_statement_does_not_wait_for_acknowledgements(self, pool: Pool) -> None:
        with pool.borrowed() as connection:
            assert connection._sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    def test_no_two_threads_have_the_same_connection(self, pool: Pool) -> None:
        def pid(connection: Connection) -> int:
            both.wait(10)
            return connection._native._backend_key_data  # type: ignore[no-any-return]

        both = threading.Barrier(4)
        seen: list[int] = []
        threads = [threading.Thread(target=lambda: seen.append(pool.read(pid))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(seen)) == 4

    def test_a_closed_pool_opens_again_when_it_is_asked(self, pool: Pool) -> None:
        pool.read(count_skills)
        pool.close()
        pool.close()
        assert pool.read(count_skills) == 0

    def test_a_lent_connection_that_broke_is_not_kept(self, pool: Pool, sql: Sql) -> None:
        with pytest.raises(DatabaseUnavailable), pool.borrowed() as connection:
            terminate_all(sql)
            connection.run("count_skills_of", org_id=None)
        assert pool._idle == []

    @pytest.mark.parametrize("unit", ["read", "transact"])
    def test_a_connection_whose_answer_was_not_read_to_its_end_is_not_lent_again(
        self, pool: Pool, sql: Sql, unit: str
    ) -> None:
        # GIVEN a number that Python refuses to read, written by SQL, before a row that can be read
        ids = [insert_tool(sql, "long"), insert_tool(sql, "short")]
        sql(f"UPDATE mcp.tools SET input_schema = '{{\"n\": {'1' * 5_000}}}' WHERE id = {ids[0]}")
        anything = dict.fromkeys(("org_id", "type", "server", "name", "tag", "skill_id", "is_active"))
        page: dict[str, object] = {**anything, **Order("id").params(), "limit": 10, "max_bytes": 10**6}
        # WHEN
        with pytest.raises(ValueError, match="digits"):
            getattr(pool, unit)(lambda connection: connection.run("list_items", offset=0, **page, rights=None))
        # THEN what is asked next gets its own answer, not the rest of that one
        assert pool._idle == []
        assert pool.read(count_skills) == 0
        assert [row[0] for row in pool.read(lambda c: c.run("list_items", offset=1, **page, rights=None))] == ids[1:]

    def test_times_are_in_utc_whatever_the_zone_of_the_database(self, database_url: str, sql: Sql) -> None:
        # GIVEN
        sql(f"ALTER DATABASE {Address.parse(database_url).database} SET timezone = 'Asia/Kolkata'")
        with connected(database_url) as other:
            assert other("SHOW timezone") == [["Asia/Kolkata"]]
        item = insert_tool(sql, "a")
        # WHEN
        pool = Pool(database_url)
        created_at, updated_at = pool.read(lambda c: c.run("get_item", id=item, org_id=None, rights=None))[0][-2:]
        pool.close()
        # THEN
        for moment in (created_at, updated_at):
            assert moment.utcoffset() == timedelta(0)
            assert abs(datetime.now(UTC) - moment) < timedelta(minutes=1)

    def test_a_waiting_unit_of_work_does_not_hold_up_another(self, pool: Pool, sql: Sql, database_url: str) -> None:
        tool = insert_tool(sql, "held")
        with locked(sql, tool):
            thread = threading.Thread(
                target=lambda: pool.transact(lambda c: c.script(f"UPDATE mcp.tools SET name = 'new' WHERE id = {tool}"))
            )
            thread.start()
            with connected(database_url) as watcher:
                until(lambda: waits_for_a_lock(watcher))
            assert pool.read(count_skills) == 0
        thread.join()
        assert sql("SELECT name FROM mcp.tools") == [["new"]]


@contextmanager
def locked(sql: Sql, tool: int) -> Iterator[None]:
    sql("BEGIN")
    sql(f"SELECT FROM mcp.tools WHERE id = {tool} FOR UPDATE")
    try:
        yield
    finally:
        sql("COMMIT")
