"""How far an index has read, as a snapshot: what it did not see comes next, once, and nothing else (docs/adr/0034)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.feed import PostgresFeed
from skillroute.core.documents.index_state import IndexStateRepository, renumber
from skillroute.core.documents.model import HEAD, START
from skillroute.core.postgres import queries
from skillroute.skills.collection import SKILL_DOCUMENTS

from tests.doubles import LogRecords
from tests.integration.core.documents.index.replica_world import World, seen
from tests.integration.rows import Sql, connected, insert_skill, insert_tool, put_document, put_documents

MANY = 100_000


@pytest.fixture
def feed(embedded: World) -> PostgresFeed:
    return PostgresFeed(embedded.searching)


@pytest.fixture
def sql(embedded: World) -> Iterator[Sql]:
    with connected(embedded.url) as connection:
        yield connection


def prune(world: World, older_than_s: float = 0) -> int:
    return world.database.transact(lambda session: IndexStateRepository(session).prune(older_than_s=older_than_s))


class TestOpenTransactions:
    def test_what_committed_beside_an_open_one_comes_once(self, embedded: World, feed: PostgresFeed, sql: Sql) -> None:
        before = feed.poll(START).position
        # GIVEN a transaction that stays open, and a thousand changes after it
        slow = embedded.connect()
        slow("BEGIN")
        late = insert_tool(slow, "slow")
        sql(
            "INSERT INTO mcp.tools (name, type, content_hash) "
            "SELECT 't' || n, 'tool', 'c' FROM generate_series(1, 1000) n"
        )
        put_documents(sql, TOOL_DOCUMENTS, range(late + 1, late + 1001))
        page = feed.poll(before)
        assert len(page.changes) == 1000
        # WHEN, THEN the next look repeats nothing
        again = feed.poll(page.position)
        assert (again.changes, feed.lag(page.position)) == ([], 0)
        # AND what commits late comes by itself
        slow("COMMIT")
        assert [change.key for change in feed.poll(again.position).changes] == [str(late)]
        assert feed.lag(again.position) == 1

    def test_the_head_has_seen_everything_and_the_start_nothing(self, embedded: World, feed: PostgresFeed) -> None:
        embedded.put("a")
        assert (feed.lag(HEAD), feed.lag(START)) == (0, 1)
        assert (feed.poll(HEAD).changes, len(feed.poll(START).changes)) == ([], 1)


class TestCosts:
    """With many rows of one transaction, as a bulk load leaves them, and statistics that know them."""

    @pytest.fixture(autouse=True)
    def rows(self, sql: Sql) -> None:
        sql(
            "INSERT INTO mcp.index_changes (collection, item_id) "
            f"SELECT 'mcp_unified_search', n::text FROM generate_series(1, {MANY}) n"
        )
        sql("ANALYZE mcp.index_changes")

    def plan(self, sql: Sql, name: str, **params: str) -> str:
        statement = queries.statement(name)
        for key, value in params.items():
            statement = statement.replace(f":{key}::", f"'{value}'::")
        return "\n".join(row[0] for row in sql(f"EXPLAIN {statement}"))

    @pytest.mark.parametrize(
        ("function", "begin", "select"),
        [("changes_unseen_at", "RETURN QUERY", ""), ("is_anything_unseen_at", "RETURN", "SELECT ")],
    )
    def test_a_look_that_finds_nothing_reads_two_ends_of_an_index(
        self, feed: PostgresFeed, sql: Sql, function: str, begin: str, select: str
    ) -> None:
        xmin, xmax, _ = feed.poll(HEAD).position.split(":")
        position = f"{xmin}:{int(xmax) + 3}:{xmin},{int(xmax) + 1}"
        # GIVEN the query of the function, prepared with its settings
        [[source, settings]] = sql(
            f"SELECT prosrc, proconfig FROM pg_proc WHERE oid = 'mcp.{function}(text)'::regprocedure"
        )
        query = re.search(rf"{begin}\s(.*);\s*END", source, re.DOTALL)
        assert query is not None
        for setting in settings:
            sql(f"SET {setting}")
        sql(f"PREPARE unseen (text) AS {select}" + re.sub(r"\bseen\b", "$1", query[1]))
        for of_many in (True, False):
            if not of_many:
                sql("DELETE FROM mcp.index_changes")
                sql("ANALYZE mcp.index_changes")
            # THEN it reads two places of an index, whatever the position and however many rows there are
            plan = "\n".join(row[0] for row in sql(f"EXPLAIN EXECUTE unseen ('{position}')"))
            assert "$1" in plan
            assert plan.count("index_changes_xid") == 2
            assert "Seq Scan" not in plan

    def test_pruning_reads_what_it_deletes(self, sql: Sql) -> None:
        plan = self.plan(sql, "prune_changes", older_than_s="0")
        assert "index_changes_deleted" in plan
        assert "Seq Scan on index_changes" not in plan

    def test_the_check_for_a_foreign_dump_reads_the_end_of_an_index(self, sql: Sql) -> None:
        plan = self.plan(sql, "renumber_changes")
        assert "index_changes_xid" in plan
        assert "Seq Scan on index_changes" not in plan


class TestForeignDumps:
    """A dump of a server whose transactions had higher numbers than this one's have."""

    @pytest.fixture
    def restored(self, embedded: World, sql: Sql) -> World:
        embedded.put("a")
        embedded.delete(embedded.put("gone"))
        sql("UPDATE mcp.index_changes SET xid = '9000000000'")
        sql("UPDATE mcp.index_state SET pruned_to = '8000000000'")
        return embedded

    def test_they_come_with_no_look_and_are_loaded_once(self, restored: World) -> None:
        renumber(restored.database)
        replica = restored.embedded_replica()
        assert seen(replica) == {"a": ""}
        restored.forget()
        assert seen(replica) == {"a": ""}
        assert restored.upserts == []
        assert len(restored.indexes) == 1

    def test_before_the_check_no_look_repeats_them(self, restored: World, feed: PostgresFeed) -> None:
        position = feed.poll(HEAD).position
        assert feed.poll(position).changes == []
        restored.put("b")
        assert len(feed.poll(position).changes) == 1

    def test_the_check_starts_a_new_epoch_once_and_tells(self, restored: World, feed: PostgresFeed, sql: Sql) -> None:
        epoch = feed.poll(HEAD).epoch
        with LogRecords().attached() as log:
            renumber(restored.database)
            renumber(restored.database)
        assert [record.__dict__["changes"] for record in log.having("index.feed.renumbered")] == [2]
        assert feed.poll(HEAD).epoch != epoch
        assert sql("SELECT DISTINCT xid::text FROM mcp.index_changes") == [["0"]]
        assert sql("SELECT pruned_to::text FROM mcp.index_state") == [["0"]]

    def test_a_mark_of_pruning_alone_tells_it_too(self, embedded: World, feed: PostgresFeed, sql: Sql) -> None:
        sql("UPDATE mcp.index_state SET pruned_to = '8000000000'")
        assert not feed.poll(feed.poll(HEAD).position).is_complete
        renumber(embedded.database)
        assert feed.poll(feed.poll(HEAD).position).is_complete

    def test_what_came_with_it_is_pruned_one_day(self, restored: World) -> None:
        renumber(restored.database)
        assert prune(restored) == 1

    def test_a_database_of_its_own_has_none(self, embedded: World, feed: PostgresFeed) -> None:
        embedded.put("a")
        epoch = feed.poll(HEAD).epoch
        renumber(embedded.database)
        assert feed.poll(HEAD).epoch == epoch


class TestGone:
    """Which changes may be pruned: those of items that are gone for good, whoever took them away."""

    def gone(self, sql: Sql) -> set[str]:
        return {row[0] for row in sql("SELECT item_id FROM mcp.index_changes WHERE is_deleted")}

    def test_a_tool_with_skills_that_is_deleted(self, sql: Sql) -> None:
        tool = insert_tool(sql, "a")
        insert_skill(sql, "s")
        sql(
            "INSERT INTO mcp.tool_skill_assignments (tool_id, skill_key, confidence, is_primary, source) "
            f"VALUES ({tool}, 's', 1, true, 'human_manual')"
        )
        assert self.gone(sql) == set()
        sql("DELETE FROM mcp.tools")  # which takes the assignment away as well
        assert self.gone(sql) == {str(tool)}

    def test_one_that_is_switched_off_is_not(self, sql: Sql) -> None:
        insert_tool(sql, "a")
        sql("UPDATE mcp.tools SET is_active = false")
        assert self.gone(sql) == set()

    def test_a_skill_that_is_marked_as_deleted_until_it_is_created_again(self, sql: Sql) -> None:
        insert_skill(sql, "s")
        sql("UPDATE mcp.skill_categories SET is_active = false, deleted_at = now()")
        assert self.gone(sql) == {"s"}
        sql("UPDATE mcp.skill_categories SET is_active = true, deleted_at = NULL")
        put_document(sql, SKILL_DOCUMENTS, "s", "l")
        assert self.gone(sql) == set()
        sql("DELETE FROM mcp.skill_categories")
        assert self.gone(sql) == {"s"}

    def test_a_global_skill_is_not_for_a_twin_that_comes_or_goes(self, sql: Sql) -> None:
        insert_skill(sql, "s")
        insert_skill(sql, "s", "acme")
        sql("DELETE FROM mcp.skill_categories WHERE org_id = 'acme'")
        assert len(self.gone(sql)) == 1
        assert "s" not in self.gone(sql)

    def test_what_was_truncated(self, sql: Sql) -> None:
        tool = insert_tool(sql, "a")
        insert_skill(sql, "s")
        sql("TRUNCATE mcp.tools CASCADE")
        assert self.gone(sql) == {str(tool)}
