"""A lost answer to COMMIT: what is stored is returned, what is not runs again, what is not known is an error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from skillroute.core.errors.model import DatabaseUnavailable, OutcomeUnknown
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.outcome import was_committed
from skillroute.core.postgres.pool import Pool
from skillroute.core.postgres.refusals import CommitUnanswered

from tests.faults.proxy import FaultyProxy, LostCommit, faulty_proxy
from tests.integration.rows import Insert, Sql, connected


@pytest.fixture
def proxy(database_url: str) -> Iterator[FaultyProxy]:
    with faulty_proxy(database_url) as proxy:
        yield proxy


@pytest.fixture
def behind(proxy: FaultyProxy, database_url: str) -> Iterator[Pool]:
    """A pool behind the proxy."""
    pool = Pool(proxy.url(database_url), connect_timeout_s=1.0, statement_timeout_s=0.5)
    yield pool
    pool.close()


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        yield sql


def stored(sql: Sql) -> list[str]:
    return [row[0] for row in sql("SELECT key FROM mcp.outbox ORDER BY key")]


class TestTransact:
    @pytest.mark.parametrize("fate", [LostCommit.STORED_AND_RESET, LostCommit.STORED_AND_SILENT])
    def test_what_is_stored_is_returned_and_does_not_run_again(
        self, behind: Pool, proxy: FaultyProxy, sql: Sql, fate: LostCommit
    ) -> None:
        proxy.lose_commits(fate)
        insert = Insert()
        assert behind.transact(insert) == 1
        assert (insert.runs, stored(sql)) == (1, ["1"])

    @pytest.mark.parametrize("fate", [LostCommit.NEVER_ARRIVED, LostCommit.SERVER_UNAWARE])
    def test_what_is_not_stored_runs_again(self, behind: Pool, proxy: FaultyProxy, sql: Sql, fate: LostCommit) -> None:
        """A server that does not notice the lost client would keep the locks: the transaction is ended."""
        proxy.lose_commits(fate)
        insert = Insert()
        assert behind.transact(insert) == 2
        assert (insert.runs, stored(sql)) == (2, ["2"])

    def test_the_second_answer_may_be_lost_too(self, behind: Pool, proxy: FaultyProxy, sql: Sql) -> None:
        proxy.lose_commits(LostCommit.NEVER_ARRIVED, LostCommit.STORED_AND_RESET)
        assert behind.transact(Insert()) == 2
        assert stored(sql) == ["2"]

    def test_what_is_twice_not_stored_is_an_error_that_says_so(
        self, behind: Pool, proxy: FaultyProxy, sql: Sql
    ) -> None:
        proxy.lose_commits(LostCommit.NEVER_ARRIVED, LostCommit.NEVER_ARRIVED)
        with pytest.raises(DatabaseUnavailable, match="before a COMMIT, twice") as error:
            behind.transact(Insert())
        assert not isinstance(error.value, OutcomeUnknown)
        assert stored(sql) == []

    def test_without_an_answer_afterwards_the_outcome_is_not_known(
        self, behind: Pool, proxy: FaultyProxy, sql: Sql
    ) -> None:
        # GIVEN a server that commits, and cannot be reached by new connections
        behind.transact(lambda _: None)
        proxy.lose_commits(LostCommit.STORED_AND_RESET)
        proxy.swallow_new()
        insert = Insert()
        # WHEN, THEN
        with pytest.raises(OutcomeUnknown, match=r"before the answer to the COMMIT.*does not answer"):
            behind.transact(insert)
        assert (insert.runs, stored(sql)) == (1, ["1"])

    def test_a_transaction_that_wrote_nothing_is_no_exception(self, behind: Pool, proxy: FaultyProxy) -> None:
        proxy.lose_commits(LostCommit.STORED_AND_RESET)
        assert behind.transact(lambda connection: connection.run("count_skills_of", org_id=None)) == [[0]]

    def test_a_commit_that_the_server_refuses_is_no_lost_one(self, behind: Pool, sql: Sql) -> None:
        # GIVEN a constraint that is checked at the end
        sql("CREATE TABLE once (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        runs: list[int] = []

        def work(connection: Connection) -> None:
            runs.append(1)
            connection.script("INSERT INTO once VALUES (1), (1)")

        with pytest.raises(Exception, match="duplicate key"):
            behind.transact(work)
        assert (runs, sql("SELECT count(*) FROM once")) == ([1], [[0]])


class TestWasCommitted:
    """What PostgreSQL answers about a transaction, and when the answer does not count."""

    def asked(self, pool: Pool, xid: str, *, server: str | None = None) -> bool:
        with pool.borrowed() as connection:
            lost = CommitUnanswered(xid=xid, server=connection.server if server is None else server)
            return was_committed(lost, lambda question: question(connection), within_s=0.2)

    def test_a_transaction_that_was_committed(self, pool: Pool) -> None:
        xid = pool.transact(lambda connection: connection._xid)
        assert self.asked(pool, xid) is True

    def test_a_transaction_that_was_rolled_back(self, pool: Pool) -> None:
        xids: list[str] = []

        def work(connection: Connection) -> None:
            xids.append(connection._xid)
            raise KeyError("mine")

        with pytest.raises(KeyError):
            pool.transact(work)
        assert self.asked(pool, xids[0]) is False

    def test_a_transaction_that_goes_on_and_on_is_not_known(self, pool: Pool, sql: Sql) -> None:
        # GIVEN a transaction that is busy, so that it must not be ended
        with pool.borrowed() as connection, connection.transaction():
            [[xid]] = sql("SELECT pg_current_xact_id()::text")
            assert xid != connection._xid
            with pytest.raises(OutcomeUnknown, match="in progress"):
                was_committed(
                    CommitUnanswered(xid=connection._xid, server=connection.server),
                    lambda question: question(connection),
                    within_s=0.2,
                )

    @pytest.mark.parametrize(
        ("xid", "says"), [("3", "forgotten"), ("4000000000", "in the future")], ids=["too old", "not given out yet"]
    )
    def test_a_transaction_that_the_server_does_not_know(self, pool: Pool, xid: str, says: str) -> None:
        with pytest.raises(OutcomeUnknown, match=says):
            self.asked(pool, xid)

    def test_the_same_id_in_another_history_is_another_transaction(self, pool: Pool) -> None:
        """After a failover or a crash that lost the transaction, its id may have been given out once more."""
        xid = pool.transact(lambda connection: connection._xid)
        with pytest.raises(OutcomeUnknown, match="another one has taken over"):
            self.asked(pool, xid, server="7/1")

    def test_a_login_that_may_not_read_the_control_file_is_answered_as_well(self, database_url: str, sql: Sql) -> None:
        sql("CREATE ROLE restricted LOGIN PASSWORD 'x'")
        sql("REVOKE EXECUTE ON FUNCTION pg_control_checkpoint() FROM PUBLIC")
        pool = Pool(f"postgresql://restricted:x@{database_url.split('@')[1]}", statement_timeout_s=7.0)
        try:
            assert pool.read(lambda connection: connection.script("SHOW statement_timeout")) == [["7s"]]
            assert self.asked(pool, pool.transact(lambda connection: connection._xid)) is True
        finally:
            pool.close()
            sql("DROP ROLE restricted")
