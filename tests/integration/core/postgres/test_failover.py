"""What a server knows of a transaction after a restart, and that it is not asked after a crash or a failover."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from skillroute.core.errors.model import OutcomeUnknown
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.outcome import was_committed
from skillroute.core.postgres.pool import Pool
from skillroute.core.postgres.refusals import CommitUnanswered
from skillroute_local.postgres import EmbeddedPostgres
from skillroute_local.postgres_programs import Programs

from tests.temporary import temporary_directory


@pytest.fixture
def directory() -> Iterator[Path]:
    with temporary_directory("skillroute-tests-") as directory:
        yield Path(directory)


@pytest.fixture
def server(directory: Path) -> Iterator[EmbeddedPostgres]:
    """A server of the test's own, which may crash."""
    with EmbeddedPostgres(directory / "first", durable=False) as server:
        yield server


def begun(connection: Connection) -> CommitUnanswered:
    """Return what would be known of the open transaction after its connection was lost in COMMIT."""
    connection.script("CREATE TEMPORARY TABLE written ON COMMIT DROP AS SELECT 1")
    return CommitUnanswered(xid=connection._xid, server=connection.server)


def asked(server: EmbeddedPostgres, lost: CommitUnanswered) -> bool:
    pool = Pool(server.url)
    try:
        return was_committed(lost, pool.read, within_s=10)
    finally:
        pool.close()


def test_after_a_restart_a_server_knows_what_was_committed_and_what_was_not(server: EmbeddedPostgres) -> None:
    # GIVEN a transaction that ended and one that is open
    pool = Pool(server.url)
    committed = pool.transact(begun)
    with pool.borrowed() as connection:
        connection.begin()
        open_ = begun(connection)
        # WHEN
        server.stop()
        server.start()
        connection.broken = True
    pool.close()
    # THEN
    assert (asked(server, committed), asked(server, open_)) == (True, False)


def test_after_a_crash_a_server_is_not_believed(server: EmbeddedPostgres) -> None:
    """What was not on disk is lost, and the ids of lost transactions are given out again."""
    pool = Pool(server.url)
    committed = pool.transact(begun)
    pool.close()
    process = psutil.Process(server.pid)
    os.kill(server.pid, signal.SIGQUIT)  # PostgreSQL's immediate shutdown: as in a crash, nothing is written any more
    process.wait(30)
    server.stop()
    server.start()
    with pytest.raises(OutcomeUnknown, match="has crashed since"):
        asked(server, committed)


def test_after_the_crash_of_one_session_a_server_is_not_believed(server: EmbeddedPostgres) -> None:
    """The server process stays then, and recovers as after a crash of its own."""
    pool = Pool(server.url)
    committed = pool.transact(begun)
    with pool.borrowed() as connection:
        [[pid]] = connection.script("SELECT pg_backend_pid()")
        os.kill(pid, signal.SIGKILL)
        with suppress(psutil.NoSuchProcess):
            psutil.Process(pid).wait(30)  # until the server has noticed
        connection.broken = True
    pool.close()
    with pytest.raises(OutcomeUnknown, match="has crashed since"):
        asked(server, committed)


def test_a_standby_that_took_over_is_not_believed(server: EmbeddedPostgres, directory: Path) -> None:
    """It may lack the transaction, and have given its id to another."""
    # GIVEN a standby, and a transaction on the first server
    second = directory / "second"
    second.mkdir(mode=0o700)
    cluster = str(second / "cluster")
    Programs(second).run("pg_basebackup", "-d", server.url, "-D", cluster, "-c", "fast", "--write-recovery-conf")
    shutil.copy(directory / "first" / "password", second / "password")
    pool = Pool(server.url)
    committed = pool.transact(begun)
    pool.close()
    with EmbeddedPostgres(second, durable=False) as standby:
        # WHEN it takes over
        pool = Pool(standby.url)
        assert pool.read(lambda connection: connection.script("SELECT pg_promote()")) == [[True]]
        pool.close()
        # THEN
        with pytest.raises(OutcomeUnknown, match="another one has taken over"):
            asked(standby, committed)
