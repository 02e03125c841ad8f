"""The statements in queries/*.sql: all of them used, all of them understood by PostgreSQL."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import skillroute
import skillroute_local
from skillroute.core.postgres import queries
from skillroute.core.postgres.address import Address
from skillroute.core.postgres.pool import Pool

from tests.integration.rows import connected

PACKAGE = Path(skillroute.__file__).parent

# A condition of the caller's organisation, as the functions `mcp.*_seen_by` have it.
_OWN_OR_GLOBAL = re.compile(r"\borg_id\s*(?:=|IN)\s*\(?:org_id|:org_id(?:::text)?\s*=")
# Of exactly one organisation: "is not distinct from" finds no use for an index, so exports, planned for the values of a
# run, have this, and others two branches.
_OWN = re.compile(r"CASE WHEN :org_id::text IS NULL THEN (\w+)\.org_id IS NULL ELSE \1\.org_id = :org_id::text END")
_BY_HAND = ["item_states", "live_versions", "message_states", "upsert_items"]


def test_every_statement_is_used_by_the_code() -> None:
    laptop = Path(skillroute_local.__file__).parent  # asks for the size of its database by one
    code = "\n".join(path.read_text("utf-8") for root in (PACKAGE, laptop) for path in root.rglob("*.py"))
    quoted = set(re.findall(r'"([a-z_]+)"', code))
    quoted |= {f"{name}_after" for name in re.findall(r'Collection\.\w+: \("(\w+)"', code)}  # a page of load_...
    assert [name for name in queries.names() if name not in quoted] == []


@pytest.mark.parametrize(
    "file", sorted(PACKAGE.glob("*/*queries.sql")), ids=lambda file: str(file.relative_to(PACKAGE))
)
def test_a_statement_of_a_slice_is_used_by_that_slice(file: Path) -> None:
    code = "\n".join(path.read_text("utf-8") for path in file.parent.rglob("*.py"))
    named = re.findall(r"^-- name: ([a-z_]+)$", file.read_text("utf-8"), flags=re.MULTILINE)
    assert named
    assert set(named) <= set(queries.names())
    assert [name for name in named if f'"{name}"' not in code] == []


def test_every_statement_that_the_code_names_exists() -> None:
    code = "\n".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    named = set(re.findall(r'(?:_run|\.run)\(\s*"([a-z_]+)"', code))
    assert len(named) > 20
    assert named - set(queries.names()) == set()


def test_every_statement_prepares(database_url: str) -> None:
    assert Address.parse(database_url)
    with connected(database_url) as sql:
        for name in queries.names():
            sql._native.prepare(queries.statement(name)).close()


def test_what_a_caller_sees_is_spelled_in_one_place() -> None:
    """Reads start from a function `mcp.*_seen_by`, so that none of them can leave the condition out."""
    others = {name: _OWN.sub("", queries.statement(name)) for name in queries.names()}
    assert [name for name, text in others.items() if _OWN_OR_GLOBAL.search(text)] == _BY_HAND


def test_what_is_compared_by_case_is_planned_for_the_values_of_a_run() -> None:
    compared = [name for name in queries.names() if _OWN.search(queries.statement(name))]
    assert compared
    assert {queries.plan_cache_mode(name) for name in compared} == {"force_custom_plan"}


def test_postgresql_sees_through_what_a_caller_sees(database_url: str) -> None:
    """Else such a read would be of a whole table, whatever it asks for."""
    with connected(database_url) as sql:
        functions = [row[0] for row in sql("SELECT proname FROM pg_proc WHERE proname LIKE '%seen_by'")]
        assert len(functions) > 5
        for function in functions:
            plan = "\n".join(row[0] for row in sql(f"EXPLAIN SELECT FROM mcp.{function}('acme')"))
            assert "Function Scan" not in plan, plan


def test_a_look_at_the_change_feed_is_planned_once(pool: Pool) -> None:
    with pool.borrowed() as connection:
        for _ in range(10):
            connection.run("poll_changes", position="1:1:")
        # PostgreSQL makes five plans for the values of a run before it decides.
        assert connection.script("SELECT generic_plans FROM pg_prepared_statements") == [[5]]


def test_an_unknown_name_is_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError):
        queries.statement("no_such_statement")


def test_comments_do_not_reach_the_server() -> None:
    assert not [name for name in queries.names() if "--" in queries.statement(name)]
