"""Migrations: each once, in order, by one process at a time, and never over what this version does not know."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from importlib.resources import files

import pytest
from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.core.postgres.former import former_version
from skillroute.core.postgres.lock_watch import Blocker
from skillroute.core.postgres.migrate import (
    _LOCK,
    FormerDatabase,
    LockLimits,
    MigrationBlocked,
    MigrationError,
    _migrations,
    migrate,
)
from skillroute.core.postgres.pool import Pool
from skillroute.core.postgres.queries import statement
from skillroute_local.postgres import EmbeddedPostgres

from tests.conftest import fresh_database
from tests.doubles import in_threads
from tests.integration.rows import connected, waits_for_a_lock

MIGRATIONS = files("skillroute.core.postgres").joinpath("migrations")


def names_in(folder: str = "") -> list[str]:
    """The names of the migrations in a folder, by their numbers."""
    found = sorted(file.name for file in MIGRATIONS.joinpath(folder).iterdir())
    return [f"{folder}{name.removesuffix('.sql')}" for name in found if name.endswith(".sql")]


ALWAYS, OF_VECTOR = names_in(), names_in("vector/")
FILES = [*ALWAYS, *OF_VECTOR]


@pytest.fixture
def empty_url(postgres_server: EmbeddedPostgres) -> Iterator[str]:
    with fresh_database(postgres_server, "template1") as url:
        yield url


def recorded(url: str) -> list[str]:
    with connected(url) as sql:
        return [row[0] for row in sql("SELECT name FROM mcp.migrations ORDER BY applied_at, name")]


def test_an_empty_database_gets_every_migration_in_the_order_of_their_numbers(empty_url: str) -> None:
    assert migrate(empty_url) == FILES
    assert recorded(empty_url) == FILES


def test_a_second_run_applies_nothing(empty_url: str) -> None:
    migrate(empty_url)
    assert migrate(empty_url) == []
    assert recorded(empty_url) == FILES


def test_two_that_start_together_apply_each_migration_once(empty_url: str) -> None:
    applied = in_threads(2, lambda _: migrate(empty_url))
    assert sorted(applied) == [[], FILES]


def test_migrating_keeps_the_rows(database_url: str) -> None:
    with connected(database_url) as sql:
        sql("INSERT INTO mcp.outbox (queue, key) VALUES ('classify', '1')")
        migrate(database_url)
        assert sql("SELECT count(*) FROM mcp.outbox") == [[1]]


def test_points_with_words_that_are_cut_otherwise_now_are_to_be_cut_again(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a database of the version before, whose points have words
    with monkeypatch.context() as patch:
        former = [each for each in _migrations() if not each[0].endswith("_cut_of_words")]
        patch.setattr("skillroute.core.postgres.migrate._migrations", lambda: former)
        migrate(empty_url)
    texts = {
        "latin": "café — menu",
        "greek": "καιρός",
        "japanese": "search_laws 法令",
        "korean": "메일",
        "thai": "อากาศ",
    }
    with connected(empty_url) as sql:
        sql("SELECT mcp.keep_search_points()")
        for collection in ("mcp_unified_search", "mcp_mail"):
            for key, text in texts.items():
                sql(
                    "INSERT INTO mcp.documents "
                    "(collection, key, texts, lexical_text, text_hash, payload, is_searchable) "
                    "VALUES (:collection, :key, '{}', :text, 'h', '{}', true)",
                    collection=collection,
                    key=key,
                    text=text,
                )
        sql("UPDATE mcp.search_points SET terms = '{7}', impacts = '{1}'")
        # WHEN
        assert migrate(empty_url) == ["0010_cut_of_words", "vector/0002_cut_of_words"]
        # THEN
        found = sql(
            "SELECT key FROM mcp.search_points WHERE cut < 2 AND collection = 'mcp_unified_search' ORDER BY key"
        )
        assert {"japanese", "korean", "thai"} <= {key for (key,) in found}
        assert "greek" not in {key for (key,) in found}
        assert sql("SELECT count(*) FROM mcp.search_points WHERE cut < 2 AND collection = 'mcp_mail'") == [[0]]
        assert sql("SELECT count(*) FROM mcp.search_points WHERE terms = '{7}'") == [[2 * len(texts)]]


def test_a_database_of_unknown_migrations_is_refused_with_what_to_do(database_url: str) -> None:
    with connected(database_url) as sql:
        sql("UPDATE mcp.migrations SET sha256 = 'edited' WHERE name = :name", name=FILES[0])
    with pytest.raises(
        FormerDatabase, match=rf"^migration {FILES[0]} .* version made it \(which one is not known\).* import that into"
    ) as refused:
        migrate(database_url)
    assert refused.value.version is None


# As 819c822 wrote it: its three migrations, of 2026-11-21.
DEVELOPMENT = {
    "0001_catalogue": "26567171408a2b1a4c2ad2a88088f2d03f025da0eeee7fd0458e6a204b97e6c7",
    "0002_change_feed": "94f5c68319c23b69f71f2649fca9ca720c42fd6733d6620164ec9d3720fee5e8",
    "0003_skill_service": "779bcdbab0b8edb650499f9905cbb3593780a6c76f1f2065e866af2e10d74352",
}


def test_a_database_of_a_development_version_is_refused_by_its_commit_and_left_as_it_was(empty_url: str) -> None:
    # GIVEN the table that says what was applied, and nothing that this version would make beside it
    with connected(empty_url) as sql:
        sql("CREATE SCHEMA mcp")
        sql("CREATE TABLE mcp.migrations (name text PRIMARY KEY, sha256 text, applied_at timestamptz DEFAULT now())")
        for name, digest in DEVELOPMENT.items():
            sql("INSERT INTO mcp.migrations (name, sha256) VALUES (:name, :digest)", name=name, digest=digest)
        # WHEN
        with pytest.raises(FormerDatabase, match=r"\(commit e45845b of 2026-11-21 or one before it\)") as refused:
            migrate(empty_url)
        # THEN
        assert refused.value.version == former_version(DEVELOPMENT)
        assert recorded(empty_url) == sorted(DEVELOPMENT)
        assert sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'mcp'") == [[1]]
        [[database]] = sql("SELECT current_database()::text")
        assert sql("SELECT rolname::text FROM pg_roles WHERE starts_with(rolname, :name)", name=f"{database}_") == []


def test_of_development_versions_each_is_another_one_and_says_whether_it_can_export() -> None:
    lines = files("skillroute.core.postgres").joinpath("former_versions.txt").read_text("utf-8").splitlines()
    assert all(re.fullmatch(r"[0-9a-f]{16} [0-9a-f]{7} 2026-11-\d\d( export)?", line) for line in lines)
    assert len({line.split()[0] for line in lines}) == len({line.split()[1] for line in lines}) == len(lines) == 36


def test_a_database_of_a_newer_version_is_refused_by_name(database_url: str) -> None:
    with connected(database_url) as sql:
        sql("INSERT INTO mcp.migrations (name, sha256) VALUES ('9999_future', 'x')")
    with pytest.raises(
        MigrationError, match=r"9999_future, which .* does not know: a newer version made it\. Install that one"
    ):
        migrate(database_url)


def test_a_migration_that_fails_leaves_nothing_of_itself(empty_url: str) -> None:
    # GIVEN something in the way of the second migration
    with connected(empty_url) as sql:
        sql("CREATE SCHEMA mcp")
        sql("CREATE TABLE mcp.index_generations (in_the_way int)")
    # WHEN
    with pytest.raises(Exception, match="already exists"):
        migrate(empty_url)
    # THEN the first is whole, the second is not there at all
    assert recorded(empty_url) == FILES[:1]
    with connected(empty_url) as sql:
        assert sql("SELECT to_regclass('mcp.tools')::text, to_regclass('mcp.index_changes')::text") == [
            ["mcp.tools", None]
        ]
        # AND it goes on from there
        sql("DROP TABLE mcp.index_generations")
    assert migrate(empty_url) == FILES[1:]


def test_without_a_server_it_says_so() -> None:
    with pytest.raises(DatabaseUnavailable):
        migrate("postgresql://nobody@127.0.0.1:1/nothing")


BRIEF = LockLimits(attempt_s=0.1, total_s=0.5)
"""Gives up soon."""


class TestLocks:
    """Sessions queue behind a migration that waits for a table: it waits briefly, and tries again."""

    @pytest.fixture
    def behind(self, database_url: str) -> str:
        """A database that lacks the last migration, which will need one of its tables."""
        with connected(database_url) as sql:
            sql("DELETE FROM mcp.migrations WHERE name = :name", name=FILES[-1])
        return database_url

    @pytest.fixture
    def altering(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The last migration changes a table, and may run more than once."""
        sql = "ALTER TABLE mcp.outbox ALTER COLUMN key SET NOT NULL"
        known = [*_migrations()[:-1], (FILES[-1], sql, "digest")]
        monkeypatch.setattr("skillroute.core.postgres.migrate._migrations", lambda: known)

    def test_a_migration_that_is_blocked_gives_up_and_names_the_session(self, behind: str, altering: None) -> None:
        with connected(behind) as sql:
            # GIVEN a session that reads a table and then does nothing
            sql("SET application_name = 'a report'")
            [[pid]] = sql("SELECT pg_backend_pid()")
            sql("BEGIN")
            sql("SELECT count(*) FROM mcp.outbox WHERE key = 'planted'")
            # WHEN
            with pytest.raises(MigrationBlocked) as error:
                migrate(behind, locks=BRIEF)
            # THEN the message has all that helps, and none of its data
            message = str(error.value)
            assert message.startswith(f"migration {FILES[-1]} did not get a lock within 0.5 s. It is held by process")
            assert re.search(rf"{pid} \(a report, idle in transaction since [-\d]+T[:\d]+Z, SELECT count\)", message)
            assert f"SELECT pg_terminate_backend({pid})" in message
            assert "planted" not in message
            # AND it is applied when that session has ended
            sql("COMMIT")
            assert migrate(behind, locks=BRIEF) == FILES[-1:]

    def test_a_migration_that_is_blocked_for_a_moment_is_applied(self, behind: str, altering: None) -> None:
        with connected(behind) as sql, connected(behind) as watcher:
            sql("BEGIN")
            sql("LOCK TABLE mcp.outbox")
            migrating = threading.Thread(target=migrate, args=(behind,), kwargs={"locks": LockLimits(0.1, 60.0)})
            migrating.start()
            # WHEN it has given up for the first time, and tries again
            until(lambda: waits_for_a_lock(watcher))
            until(lambda: not waits_for_a_lock(watcher))
            until(lambda: waits_for_a_lock(watcher))
            sql("COMMIT")
            migrating.join()
        assert recorded(behind)[-1] == FILES[-1]

    def test_while_a_migration_is_blocked_readers_of_the_table_go_on(self, behind: str, altering: None) -> None:
        # GIVEN a session that holds a table with others, and a migration that wants it alone
        with connected(behind) as sql, connected(behind) as watcher, connected(behind) as reader:
            sql("BEGIN")
            sql("SELECT count(*) FROM mcp.outbox")
            migrating = threading.Thread(target=given_up, args=(behind, LockLimits(0.1, 1.0)))
            migrating.start()
            until(lambda: waits_for_a_lock(watcher))
            # WHEN, THEN a reader that comes after it waits for a moment, not for the session
            reader("SET statement_timeout = '30s'")
            assert reader("SELECT count(*) FROM mcp.outbox") == [[0]]
            migrating.join()

    def test_a_migration_beside_another_gives_up_and_names_it(self, database_url: str) -> None:
        with connected(database_url) as sql:
            sql("SET application_name = 'another migration'")
            sql(f"SELECT pg_advisory_lock({_LOCK})")
            with pytest.raises(
                MigrationBlocked,
                match=r"the lock against concurrent migrations: .*\(another migration, idle since .*SELECT pg_adv",
            ):
                migrate(database_url, locks=BRIEF)

    def test_a_prepared_transaction_and_a_session_without_visible_state_are_named(self) -> None:
        assert str(Blocker(0, None, None, None, None)) == "a prepared transaction (see pg_prepared_xacts)"
        hidden = Blocker(7, None, None, None, None)
        assert str(hidden) == "process 7 (without a name, in a state that this login may not see)"

    @pytest.mark.parametrize(
        ("query", "words"),
        [
            ("UPDATE mcp.tools SET description = 'planted'", "UPDATE mcp.tools SET description"),
            ("SELECT 'planted'", "SELECT"),
            ("/* planted */ SELECT 1", None),
            ("DO $$ BEGIN PERFORM 'planted'; END $$", "DO"),
            ("<insufficient privilege>", None),
            ("", None),
        ],
    )
    def test_of_a_statement_the_words_before_its_first_value_are_shown(
        self, pool: Pool, query: str, words: str | None
    ) -> None:
        pattern = re.search(r"substring\(session\.query FROM ('.*')\)", statement("blocking_sessions"))
        assert pattern
        with pool.borrowed() as connection:
            [[shown]] = connection._native.run(f"SELECT substring(:query FROM {pattern[1]})", query=query)
        assert shown == words


def given_up(url: str, locks: LockLimits) -> None:
    with pytest.raises(MigrationBlocked):
        migrate(url, locks=locks)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "waited twenty seconds in vain"
