"""Five thousand open suggestions: grouped and listed by an index, whatever others have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

import pytest
from pg8000.native import to_statement
from skillroute.core.postgres.pool import Pool
from skillroute.core.postgres.queries import plan_cache_mode, statement
from skillroute.core.rights.decide import EVERYTHING
from skillroute.skills.suggestions.model import SuggestionStatus
from skillroute.skills.suggestions.repository import SuggestionRepository

from tests.integration.rows import Sql, connected

PENDING = 5_000
_OF = {"org_id": "'acme'", "status": "'pending'", "limit": "100", "offset": "0", "name": "NULL"}
_OF |= {"sort": "'id'", "is_descending": "false", "after_id": "NULL", "after_text": "NULL", "after_time": "NULL"}
_OF |= {"updated_since": "NULL", "rights": "NULL"}


@pytest.fixture
def filled(fresh_database_url: str) -> Iterator[Sql]:
    """5,000 open suggestions of acme, one name 285 times, beside 40,000 of another organisation and decided ones."""
    with connected(fresh_database_url) as sql:
        sql(
            "INSERT INTO mcp.skill_suggestions (org_id, suggested_name, suggested_description, status, reviewed_at) "
            "SELECT of.org, CASE WHEN n <= 285 THEN 'Video' ELSE 'Name ' || n % 1200 END, repeat('What it is. ', 20), "
            "       of.status, CASE WHEN of.status <> 'pending' THEN now() END "
            "FROM (VALUES ('globex', 'pending', 20000), ('acme', 'pending', :pending), ('acme', 'rejected', 20000)) "
            "     AS of (org, status, number), generate_series(1, of.number) n",
            pending=PENDING,
        )
        sql("ANALYZE mcp.skill_suggestions")
        yield sql


def plan(sql: Sql, name: str, values: dict[str, str]) -> str:
    query, in_order = to_statement(statement(name))
    sql("DEALLOCATE ALL")
    sql(f"PREPARE asked AS {query}")
    sql(f"SET plan_cache_mode = {plan_cache_mode(name)}")
    named = {key: value for key, value in {**_OF, **values}.items() if f":{key}" in statement(name)}
    return "\n".join(row[0] for row in sql(f"EXPLAIN EXECUTE asked ({', '.join(in_order(named))})"))


def test_groups_and_pages_are_read_by_an_index(filled: Sql) -> None:
    for name, values in (
        ("list_suggestion_groups", {}),
        ("count_suggestion_groups", {}),
        ("list_suggestions", {"name": "'Video'"}),
        ("count_suggestions", {"name": "'Video'"}),
        ("count_suggestions", {}),
    ):
        said = plan(filled, name, values)
        assert "Seq Scan on skill_suggestions" not in said, said
        assert re.search("Index (Only )?Scan .*skill_suggestions_(groups|name|status)", said), said


def test_the_largest_group_comes_first_of_all_pages(filled: Sql, fresh_database_url: str) -> None:
    with closing(Pool(fresh_database_url)) as database:
        groups, total = database.read(
            lambda s: SuggestionRepository(s).groups(
                SuggestionStatus.PENDING, "acme", limit=1000, offset=0, rights=EVERYTHING
            )
        )
        rest, again = database.read(
            lambda s: SuggestionRepository(s).groups(
                SuggestionStatus.PENDING, "acme", limit=1000, offset=1000, rights=EVERYTHING
            )
        )
    assert total == again == 1201
    assert (groups[0].suggested_name, groups[0].count) == ("Video", 285)
    assert sum(group.count for group in (*groups, *rest)) == PENDING
