"""Migrations: each once, in order, by one process at a time, and never over what this version does not know."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

import pytest
from skillroute.errors import DatabaseUnavailable
from skillroute.storage.postgres.migrate import MigrationError, migrate
from skillroute_local.postgres import EmbeddedPostgres

from tests.conftest import fresh_database
from tests.doubles import in_threads
from tests.integration.storage.rows import connected

FILES = sorted(
    file.name.removesuffix(".sql")
    for file in files("skillroute.storage.postgres").joinpath("migrations").iterdir()
    if file.name.endswith(".sql")
)


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


def test_a_migration_that_was_edited_afterwards_is_refused_by_name(database_url: str) -> None:
    with connected(database_url) as sql:
        sql("UPDATE mcp.migrations SET sha256 = 'edited' WHERE name = :name", name=FILES[0])
    with pytest.raises(MigrationError, match=FILES[0]):
        migrate(database_url)


def test_a_database_of_a_newer_version_is_refused_by_name(database_url: str) -> None:
    with connected(database_url) as sql:
        sql("INSERT INTO mcp.migrations (name, sha256) VALUES ('9999_future', 'x')")
    with pytest.raises(MigrationError, match="9999_future"):
        migrate(database_url)


def test_a_migration_that_fails_leaves_nothing_of_itself(empty_url: str) -> None:
    # GIVEN something in the way of the second migration
    with connected(empty_url) as sql:
        sql("CREATE SCHEMA mcp")
        sql("CREATE TABLE mcp.index_positions (in_the_way int)")
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
        sql("DROP TABLE mcp.index_positions")
    assert migrate(empty_url) == FILES[1:]


def test_without_a_server_it_says_so() -> None:
    with pytest.raises(DatabaseUnavailable):
        migrate("postgresql://nobody@127.0.0.1:1/nothing")
