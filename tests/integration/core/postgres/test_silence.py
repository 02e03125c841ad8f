"""A database that does not answer, or only over new connections: how long callers wait, and what they get."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.pool import Pool
from skillroute.core.postgres.refusals import NoAnswer, TookTooLong
from skillroute.core.time.time_left import ending_with

from tests.doubles import FakeClock, in_threads
from tests.faults.proxy import FaultyProxy, faulty_proxy
from tests.integration.rows import Insert, Sql, connected

CONNECT_S = 0.5
STATEMENT_S = 0.3
PATIENT_S = 60.0
"""A limit for statements that no test should reach."""
SOON_S = 10.0
"""Far more than some connect timeouts, and far less than one statement timeout."""


@pytest.fixture
def database_url(fresh_database_url: str) -> str:
    """A database for each test, since sessions are counted."""
    return fresh_database_url


@pytest.fixture
def proxy(database_url: str) -> Iterator[FaultyProxy]:
    with faulty_proxy(database_url) as proxy:
        yield proxy


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def patient(proxy: FaultyProxy, database_url: str, clock: FakeClock) -> Iterator[Pool]:
    """A pool behind the proxy whose statements may take a minute."""
    pool = Pool(proxy.url(database_url), connect_timeout_s=CONNECT_S, statement_timeout_s=PATIENT_S, clock=clock)
    yield pool
    pool.close()


@pytest.fixture
def brisk(proxy: FaultyProxy, database_url: str, clock: FakeClock) -> Iterator[Pool]:
    """A pool behind the proxy whose statements may take a moment."""
    pool = Pool(proxy.url(database_url), connect_timeout_s=CONNECT_S, statement_timeout_s=STATEMENT_S, clock=clock)
    yield pool
    pool.close()


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        yield sql


class Reading:
    """A unit of work that only reads, and counts how often it ran."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, connection: Connection) -> int:
        self.runs += 1
        count: int = connection.run("count_skills_of", org_id=None)[0][0]
        return count


@contextmanager
def soon() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < SOON_S


def refused_at_once(pool: Pool, proxy: FaultyProxy) -> bool:
    """Whether neither a read nor a transaction asks the server."""
    accepted = proxy.accepted
    for unit in (pool.read, pool.transact):
        with pytest.raises(DatabaseUnavailable, match=r"does not answer.*not asked again yet"):
            unit(Reading())
    return proxy.accepted == accepted


class TestABlackHole:
    @pytest.mark.parametrize("unit", ["read", "transact"])
    def test_the_first_caller_waits_for_logins_and_not_for_statements(
        self, patient: Pool, proxy: FaultyProxy, clock: FakeClock, unit: str
    ) -> None:
        # GIVEN a connection that was idle
        patient.read(Reading())
        clock.advance(2)
        # WHEN
        proxy.black_hole()
        # THEN
        with soon(), pytest.raises(NoAnswer):
            getattr(patient, unit)(Reading())

    @pytest.mark.parametrize("unit", ["read", "transact"])
    def test_so_does_the_first_caller_of_a_new_process(self, patient: Pool, proxy: FaultyProxy, unit: str) -> None:
        proxy.black_hole()
        with soon(), pytest.raises(NoAnswer, match=r"no login at 127\.0\.0\.1"):
            getattr(patient, unit)(Reading())

    def test_the_next_callers_are_refused_at_once(self, patient: Pool, proxy: FaultyProxy) -> None:
        """Decision 9: at once, not after a timeout of its own making."""
        proxy.black_hole()
        with pytest.raises(NoAnswer):
            patient.read(Reading())
        assert refused_at_once(patient, proxy)

    def test_after_a_second_one_of_many_asks_again(self, patient: Pool, proxy: FaultyProxy, clock: FakeClock) -> None:
        # GIVEN
        proxy.black_hole()
        with pytest.raises(NoAnswer):
            patient.read(Reading())
        clock.advance(1)
        accepted = proxy.accepted

        # WHEN
        def ask(_: int) -> str:
            with pytest.raises(DatabaseUnavailable) as refused:
                patient.read(Reading())
            return type(refused.value).__name__

        # THEN
        assert sorted(in_threads(6, ask)) == ["DatabaseUnavailable"] * 5 + ["NoAnswer"]
        assert proxy.accepted == accepted + 1
        assert refused_at_once(patient, proxy)

    def test_when_it_is_over_the_next_caller_is_answered(
        self, patient: Pool, proxy: FaultyProxy, clock: FakeClock
    ) -> None:
        proxy.black_hole()
        with pytest.raises(NoAnswer):
            patient.read(Reading())
        proxy.heal()
        clock.advance(1)
        assert patient.read(Reading()) == 0
        assert patient.transact(Insert()) == 1

    def test_a_closed_port_is_not_remembered(self, database_url: str, clock: FakeClock) -> None:
        # GIVEN an address without a listener
        with faulty_proxy(database_url) as proxy:
            url = proxy.url(database_url)
        pool = Pool(url, clock=clock)
        for _ in range(2):
            # THEN it is tried every time: that costs no wait, and a database that starts is found at once
            with pytest.raises(DatabaseUnavailable, match="cannot be reached"):
                pool.read(Reading())

    def test_a_session_that_falls_silent_after_its_login_is_an_outage_too(
        self, brisk: Pool, proxy: FaultyProxy
    ) -> None:
        def work(connection: Connection) -> int:
            proxy.half_open()
            return Reading()(connection)

        with pytest.raises(NoAnswer):
            brisk.read(work)
        assert refused_at_once(brisk, proxy)


class TestHalfOpenConnections:
    """After a failover or behind a firewall: what is open is silent, and new connections work."""

    def test_a_read_gets_its_answer_over_a_new_connection(self, brisk: Pool, proxy: FaultyProxy) -> None:
        brisk.read(Reading())
        proxy.half_open()
        reading = Reading()
        assert brisk.read(reading) == 0
        assert (reading.runs, proxy.accepted) == (2, 2)

    def test_a_read_over_an_idle_connection_does_not_wait_for_a_statement(
        self, patient: Pool, proxy: FaultyProxy, clock: FakeClock
    ) -> None:
        patient.read(Reading())
        proxy.half_open()
        clock.advance(2)
        reading = Reading()
        with soon():
            assert patient.read(reading) == 0
        assert reading.runs == 1

    def test_a_transaction_finds_out_before_it_does_anything(self, patient: Pool, proxy: FaultyProxy, sql: Sql) -> None:
        patient.transact(Reading())
        proxy.half_open()
        work = Insert()
        with soon():
            assert patient.transact(work) == 1
        assert (work.runs, sql("SELECT key FROM mcp.outbox")) == (1, [["1"]])

    def test_a_transaction_that_hangs_in_its_midst_is_not_run_again_and_not_stored(
        self, brisk: Pool, proxy: FaultyProxy, sql: Sql
    ) -> None:
        brisk.transact(Reading())
        runs: list[int] = []

        def work(connection: Connection) -> int:
            runs.append(1)
            connection.script("INSERT INTO mcp.outbox (queue, key) VALUES ('classify', '1')")
            proxy.half_open()
            return Reading()(connection)

        with pytest.raises(NoAnswer):
            brisk.transact(work)
        assert (runs, sql("SELECT count(*) FROM mcp.outbox")) == ([1], [[0]])

    def test_one_caller_waits_for_all(self, patient: Pool, proxy: FaultyProxy, clock: FakeClock) -> None:
        # GIVEN four idle connections
        with patient.borrowed(), patient.borrowed(), patient.borrowed(), patient.borrowed():
            pass
        proxy.half_open()
        # WHEN one finds out
        with soon():
            patient.transact(Reading())
        # THEN the others get new connections, or the one that works
        with soon():
            assert in_threads(4, lambda _: patient.read(Reading())) == [0] * 4

    def test_a_connection_that_has_answered_since_is_kept(self, patient: Pool, sql: Sql, clock: FakeClock) -> None:
        # GIVEN a connection that waits for its answer, and another that gets its own meanwhile
        asleep = threading.Thread(target=lambda: quietly(patient.transact, "SELECT pg_sleep(60)"))
        asleep.start()
        wait_for(lambda: len(sleepers(sql)) == 1)
        clock.advance(0.1)
        assert patient.read(Reading()) == 0
        [well] = patient._idle
        # WHEN the first breaks
        sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'")
        asleep.join()
        # THEN
        assert well in patient._idle


class TestASlowLogin:
    def test_its_steps_are_limited_together(self, patient: Pool, proxy: FaultyProxy, clock: FakeClock) -> None:
        # GIVEN a server that takes less than the limit for each answer, and more for all of them
        proxy.slow_login(0.6 * CONNECT_S)
        # WHEN, THEN
        with soon(), pytest.raises(NoAnswer, match=f"no login at .* within {CONNECT_S} s"):
            patient.read(Reading())
        assert refused_at_once(patient, proxy)
        proxy.heal()
        clock.advance(1)
        assert patient.read(Reading()) == 0

    def test_a_login_that_comes_too_late_leaves_no_session_behind(
        self, patient: Pool, proxy: FaultyProxy, sql: Sql
    ) -> None:
        proxy.slow_login(0.6 * CONNECT_S)
        with pytest.raises(NoAnswer):
            patient.read(Reading())
        sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'skillroute' AND datname = :name"
        name = sql("SELECT current_database()")[0][0]
        wait_for(lambda: sql(sessions, name=name) == [[0]])

    def test_the_kernel_checks_idle_connections(self, patient: Pool) -> None:
        with patient.borrowed() as connection:
            sock = connection._sock
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            if hasattr(socket, "TCP_KEEPIDLE"):
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 5
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == CONNECT_S * 1000


class TestAReset:
    def test_within_an_answer_a_read_runs_again(self, patient: Pool, proxy: FaultyProxy) -> None:
        patient.read(Reading())
        proxy.reset_within_answer()
        reading = Reading()
        assert patient.read(reading) == 0
        assert reading.runs == 2

    def test_within_an_answer_a_transaction_runs_again_and_is_stored_once(
        self, patient: Pool, proxy: FaultyProxy, sql: Sql
    ) -> None:
        patient.read(Reading())
        runs: list[int] = []

        def work(connection: Connection) -> int:
            runs.append(1)
            if len(runs) == 1:
                proxy.reset_within_answer()
            connection.script(f"INSERT INTO mcp.outbox (queue, key) VALUES ('classify', '{len(runs)}')")
            return len(runs)

        assert patient.transact(work) == 2
        assert sql("SELECT key FROM mcp.outbox") == [["2"]]


class TestAnInvocationThatEnds:
    class Invocation:
        def get_remaining_time_in_millis(self) -> int:
            return 1_000

    def test_a_statement_is_not_waited_for_longer(self, patient: Pool, proxy: FaultyProxy) -> None:
        patient.read(Reading())
        proxy.half_open()
        with soon(), ending_with(self.Invocation()), pytest.raises(TookTooLong, match="in the time that was left"):
            patient.transact(lambda connection: connection.script("SELECT pg_sleep(60)"))

    def test_nor_is_a_login(self, proxy: FaultyProxy, database_url: str) -> None:
        pool = Pool(proxy.url(database_url), connect_timeout_s=PATIENT_S)
        proxy.black_hole()
        with soon(), ending_with(self.Invocation()), pytest.raises(TookTooLong, match="no login"):
            pool.read(Reading())

    def test_a_wait_that_it_cut_short_is_not_remembered_as_an_outage(self, patient: Pool) -> None:
        with ending_with(self.Invocation()), pytest.raises(TookTooLong):
            patient.read(lambda connection: connection.script("SELECT pg_sleep(60)"))
        assert patient.read(Reading()) == 0


def sleepers(sql: Sql) -> list[list[Any]]:
    return sql(
        "SELECT pid FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)' AND wait_event = 'PgSleep' "
        "AND datname = current_database()"
    )


def quietly(unit: Callable[..., object], statement: str) -> None:
    with pytest.raises(DatabaseUnavailable):
        unit(lambda connection: connection.script(statement))


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {SOON_S:g} seconds in vain"
