"""A small organisation beside a large one: what it exports is found by an index, whatever others have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pg8000.native import to_statement
from skillroute.core.postgres.queries import plan_cache_mode, statement

from tests.conftest import fresh_database
from tests.integration.rows import Sql, connected

_VALUES = {"after": "0", "limit": "200", "max_bytes": "4500000", "kind": "'server'", "disabled_servers": "'{}'"}
_SWITCHED = """'[{"server": "", "type": "tool", "name": "t1", "is_switched_off": true}]'"""
_STORED = """'[{"place": 0, "kind": "new_skill", "name": "N1", "status": "pending", "created_at": "2026-01-01", """
_STORED += """"source_tool_id": 1}]'"""


@pytest.fixture(scope="module")
def filled(postgres_server: Any, migrated_template: str) -> Iterator[Sql]:
    """Ten rows of acme and ten global ones, beside 5,000 of another organisation."""
    owners = "(VALUES ('acme', 10), (NULL, 10), ('globex', 5000)) AS o (org, number), generate_series(1, o.number) n"
    with fresh_database(postgres_server, migrated_template) as url, connected(url) as sql:
        sql("SET session_replication_role = replica")  # neither triggers nor references
        for columns, values in (
            ("tools (org_id, server, type, name, content_hash)", "o.org, '', 'tool', 't' || n, n"),
            ("registry_entities (org_id, kind, path, name, content_hash)", "o.org, 'server', '/s' || n, 's' || n, n"),
            ("skill_suggestions (org_id, suggested_name)", "o.org, 'N' || n"),
            ("skill_categories (id, org_id, name, description)", "'s' || n, o.org, 'S', 'A skill of a test.'"),
            (
                "tool_skill_assignments (tool_id, skill_key, owner, confidence)",
                "row_number() OVER (), concat_ws('/', 's' || n, o.org), coalesce(o.org, ''), 1",
            ),
            ("tool_classifications (tool_id, input_hash, classifier)", "row_number() OVER (), 'h', 'llm'"),
            ("mail_projects (id, org_id, key, name, content_hash)", "row_number() OVER (), o.org, 'p' || n, 'P', n"),
            ("mail_products (org_id, key, name, content_hash)", "o.org, 'p' || n, 'P', n"),
            ("mail_agents (id, org_id, name, name_key, content_hash)", "row_number() OVER (), o.org, 'A', 'a' || n, n"),
            (
                "mail_messages (id, org_id, key, project_id, sender_id, subject, body, content_hash)",
                "row_number() OVER (), o.org, 'm' || n, 1, 1, 'S', 'B', n",
            ),
            (
                "mail_documents (id, kind, project_ids, created_ts, search_vector, text_hash)",
                "row_number() OVER (), 'project', '{}'::bigint[], 0, ''::tsvector, ''",
            ),
        ):
            sql(f"INSERT INTO mcp.{columns} SELECT {values} FROM {owners}")
        sql("ANALYZE")
        yield sql


@pytest.mark.parametrize("org_id", ["'acme'", "NULL"])
@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("exported_items", "tools"),
        ("version_of_items", "tools"),
        ("restore_switches", "tools"),
        ("exported_skills", "skill_categories"),
        ("version_of_skills", "skill_categories"),
        ("version_of_decisions", "tool_skill_assignments"),
        ("version_of_decisions", "tool_classifications"),
        ("exported_suggestions", "skill_suggestions"),
        ("version_of_suggestions", "skill_suggestions"),
        ("stored_suggestions", "skill_suggestions"),
        ("exported_entities", "registry_entities"),
        ("version_of_entities", "registry_entities"),
        ("exported_projects", "mail_projects"),
        ("version_of_projects", "mail_projects"),
        ("exported_products", "mail_products"),
        ("version_of_products", "mail_products"),
        ("exported_mail_agents", "mail_agents"),
        ("version_of_mail_agents", "mail_agents"),
        ("exported_messages", "mail_messages"),
        ("version_of_messages", "mail_messages"),
    ],
)
def test_rows_of_others_are_not_walked_through(filled: Sql, name: str, table: str, org_id: str) -> None:
    values = {**_VALUES, "org_id": org_id, "rows": _SWITCHED if name == "restore_switches" else _STORED}
    query, in_order = to_statement(statement(name))
    given = ", ".join(in_order({key: value for key, value in values.items() if f":{key}" in statement(name)}))
    filled("DEALLOCATE ALL")
    filled(f"SET plan_cache_mode = {plan_cache_mode(name)}")
    filled(f"PREPARE asked AS {query}")
    [[plan]] = filled(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked ({given})")
    read = [node for node in _nodes(plan[0]["Plan"]) if node.get("Relation Name") == table]
    assert read
    for node in read:
        passed = node.get("Rows Removed by Filter", 0) + node["Actual Rows"] * node["Actual Loops"]
        assert passed <= 100, node


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)
