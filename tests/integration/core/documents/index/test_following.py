"""What a search sees of what others write: both replicas, real transactions on connections of their own."""

from __future__ import annotations

import pytest
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.model import IndexFilter
from skillroute.core.errors.model import IndexUnavailable

from tests.doubles import once
from tests.integration.core.documents.index.replica_world import ALL, SKILLS, TOOLS, World, content, seen
from tests.integration.rows import (
    EAST,
    MODEL,
    connected,
    insert_assignment,
    insert_skill,
    insert_tool,
)


class TestOpenTransactions:
    @pytest.fixture(autouse=True)
    def model(self, world: World) -> None:
        """Have a model: the first vector ever written waits for all writers that are under way."""
        world.database.transact(lambda session: IndexStateRepository(session).claim(MODEL))

    def test_a_transaction_that_commits_late_is_seen_after_one_that_began_later(self, world: World) -> None:
        replica = world.replica()
        assert seen(replica) == {}
        # GIVEN a transaction that wrote first
        slow = world.connect()
        slow("BEGIN")
        insert_tool(slow, "slow")
        # WHEN a later one commits before it
        world.put("fast")
        # THEN
        assert seen(replica) == {"fast": ""}
        slow("COMMIT")
        assert seen(replica) == {"fast": "", "slow": ""}

    def test_while_one_is_open_nothing_is_applied_twice(self, world: World) -> None:
        replica = world.replica()
        seen(replica)
        slow = world.connect()
        slow("BEGIN")
        insert_tool(slow, "slow")
        world.put("fast")
        seen(replica)
        world.forget()
        # WHEN it is looked at again and again
        for _ in range(5):
            assert seen(replica) == {"fast": ""}
        # THEN no look repeats the work of the first
        assert world.upserts == []
        assert replica.status().lag == 0
        # AND what comes on top is applied by itself
        world.put("faster")
        assert seen(replica) == {"fast": "", "faster": ""}
        assert world.upserts in (["faster"], ["fast", "faster"])  # a shared server's position is not a process's own
        slow("COMMIT")
        world.forget()
        assert set(seen(replica)) == {"fast", "faster", "slow"}
        assert "slow" in world.upserts

    def test_an_older_transaction_can_change_what_a_newer_one_has_changed(self, world: World) -> None:
        replica = world.replica()
        world.put("a", "first")
        slow = world.connect()
        slow("BEGIN")
        insert_tool(slow, "b")
        world.put("a", "newer transaction")
        assert seen(replica) == {"a": "newer transaction"}
        slow("UPDATE mcp.tools SET description = 'older transaction' WHERE name = 'a'")
        assert seen(replica) == {"a": "newer transaction"}
        slow("COMMIT")
        assert seen(replica) == {"a": "older transaction", "b": ""}

    def test_what_is_rolled_back_was_never_there(self, world: World) -> None:
        replica = world.replica()
        world.put("a")
        slow = world.connect()
        slow("BEGIN")
        insert_tool(slow, "b")
        slow("UPDATE mcp.tools SET description = 'never' WHERE name = 'a'")
        assert seen(replica) == {"a": ""}
        slow("ROLLBACK")
        assert seen(replica) == {"a": ""}
        world.put("c")
        assert seen(replica) == {"a": "", "c": ""}

    def test_three_that_commit_in_the_opposite_order(self, world: World) -> None:
        replica = world.replica()
        seen(replica)
        writers = [world.connect() for _ in range(3)]
        for number, writer in enumerate(writers):
            writer("BEGIN")
            insert_tool(writer, f"t{number}")
        expected: set[str] = set()
        for number in (2, 1, 0):
            assert set(seen(replica)) == expected
            writers[number]("COMMIT")
            expected.add(f"t{number}")
        assert set(seen(replica)) == expected

    def test_one_that_was_open_before_the_first_build_is_seen_when_it_commits(self, world: World) -> None:
        slow = world.connect()
        slow("BEGIN")
        insert_tool(slow, "slow")
        world.put("fast")
        replica = world.replica()
        assert seen(replica) == {"fast": ""}
        slow("COMMIT")
        assert seen(replica) == {"fast": "", "slow": ""}


class TestChanges:
    def test_what_was_deleted_while_a_replica_was_behind_is_gone(self, world: World) -> None:
        replica = world.replica()
        first = world.put("a")
        world.put("b")
        seen(replica)
        world.delete(first)
        world.delete(world.put("never seen"))
        assert seen(replica) == {"b": ""}

    def test_what_was_deleted_and_created_again_is_there_once(self, world: World) -> None:
        replica = world.replica()
        first = world.put("a", "old")
        seen(replica)
        world.delete(first)
        world.put("a", "new")
        assert seen(replica) == {"a": "new"}
        with replica.current() as index:
            assert index.count(TOOLS) == 1

    def test_an_item_that_changed_twice_in_one_transaction_is_written_once(self, world: World) -> None:
        replica = world.replica()
        world.put("a")
        seen(replica)
        world.forget()
        with connected(world.url) as sql:
            sql("BEGIN")
            for text in ("once", "twice"):
                sql(f"UPDATE mcp.tools SET description = '{text}' WHERE name = 'a'")
            sql("COMMIT")
        assert seen(replica) == {"a": "twice"}
        assert world.upserts == ["a"]

    def test_what_changed_between_two_looks_is_written_once(self, world: World) -> None:
        replica = world.replica()
        seen(replica)
        for number in range(3):
            world.put("a", str(number))
        world.forget()
        assert seen(replica) == {"a": "2"}
        assert world.upserts == ["a"]

    def test_an_empty_look_writes_nothing(self, world: World) -> None:
        replica = world.replica()
        world.put("a")
        seen(replica)
        world.forget()
        polls = world.feed.polls
        seen(replica)
        assert world.upserts == []
        assert world.feed.polls == polls + 1

    def test_what_changes_while_everything_is_read_is_there_in_the_end(self, world: World) -> None:
        # GIVEN a replica that reads everything for the first time
        ids = [world.put(name, "old") for name in ("changed", "deleted", "kept")]
        replica = world.replica()

        def meanwhile() -> None:
            world.put("changed", "new")
            world.delete(ids[1])
            world.put("added", "new")

        # WHEN something changes after the reading and before the catching up
        world.feed.after_load_all = once(meanwhile)
        # THEN this very search sees it, or the next one at the latest: it was not committed when the search began
        seen(replica)
        assert seen(replica) == {"changed": "new", "kept": "old", "added": "new"}

    def test_an_item_that_is_switched_off_is_gone_and_comes_back(self, world: World) -> None:
        replica = world.replica()
        world.put("a")
        with connected(world.url) as sql:
            sql("UPDATE mcp.tools SET is_active = false")
            assert seen(replica) == {}
            sql("UPDATE mcp.tools SET is_active = true")
            assert seen(replica) == {"a": ""}

    def test_skills_and_assignments_are_followed_too(self, world: World) -> None:
        replica = world.replica()
        seen(replica)
        with connected(world.url) as sql:
            tool = insert_tool(sql, "tool")
            insert_skill(sql, "skill")
            insert_assignment(sql, tool, "skill", primary=True)

            def looks() -> tuple[object, object, bool, int]:
                with replica.current() as index:
                    payload = index.payloads(TOOLS, [str(tool)])[str(tool)]
                    members = index.count(TOOLS, where=IndexFilter({"skill_keys": ["skill"]}))
                    is_there = bool(index.payloads(SKILLS, ["skill"]))
                    return payload["skill_keys"], payload["primary_skill_key"], is_there, members

            assert looks() == (["skill"], "skill", True, 1)
            sql("UPDATE mcp.skill_categories SET is_active = false")
            assert looks() == ([], None, False, 0)
            sql("UPDATE mcp.skill_categories SET is_active = true")
            assert looks() == (["skill"], "skill", True, 1)
            insert_assignment(sql, insert_tool(sql, "other"), "skill")
            assert looks() == (["skill"], "skill", True, 2)
            sql("UPDATE mcp.tools SET is_active = false WHERE name = 'other'")
            assert looks() == (["skill"], "skill", True, 1)
            sql("DELETE FROM mcp.tool_skill_assignments")
            assert looks() == ([], None, True, 0)

    def test_a_global_skill_says_from_whom_it_is_hidden(self, world: World) -> None:
        """Decision 29: an organisation sees its own skill in the place of a global one of its id."""
        replica = world.replica()
        seen(replica)
        with connected(world.url) as sql:

            def looks() -> list[object]:
                with replica.current() as index:
                    return [payload["hidden_from"] for payload in index.payloads(SKILLS, ["mail"]).values()]

            insert_skill(sql, "mail", "acme")
            assert looks() == []
            insert_skill(sql, "mail")
            assert looks() == [["acme"]]
            insert_skill(sql, "mail", "globex")
            assert looks() == [["acme", "globex"]]
            sql("UPDATE mcp.skill_categories SET is_active = false WHERE org_id = 'acme'")
            assert looks() == [["acme", "globex"]]
            sql("UPDATE mcp.skill_categories SET deleted_at = now() WHERE org_id = 'acme'")
            assert looks() == [["globex"]]
            sql("UPDATE mcp.skill_categories SET deleted_at = NULL WHERE org_id = 'acme'")
            assert looks() == [["acme", "globex"]]
            sql("DELETE FROM mcp.skill_categories WHERE org_id IS NOT NULL")
            assert looks() == [[]]

    def test_what_changes_no_skill_is_not_written_as_a_change_of_one(self, world: World) -> None:
        """A skill's number of tools is counted when it is asked for: tenants do not meet at a global skill's row."""
        with connected(world.url) as sql:
            insert_skill(sql, "skill")
            before = sql("SELECT xid::text FROM mcp.index_changes WHERE collection = 'mcp_skills'")
            insert_assignment(sql, insert_tool(sql, "tool"), "skill", primary=True)
            sql("UPDATE mcp.tools SET is_active = false")
            sql("UPDATE mcp.tool_skill_assignments SET confidence = 0.9")
            sql("DELETE FROM mcp.tools")
            assert sql("SELECT xid::text FROM mcp.index_changes WHERE collection = 'mcp_skills'") == before

    def test_a_vector_that_comes_later_is_found_by(self, world: World) -> None:
        replica = world.replica()
        with connected(world.url) as sql:
            insert_tool(sql, "a")
        with replica.current() as index:
            assert index.search(TOOLS, EAST, where=ALL, limit=5) == []
        world.put("a")
        with replica.current() as index:
            assert [hit.score for hit in index.search(TOOLS, EAST, where=ALL, limit=5)] == [1.0]

    def test_two_replicas_agree_after_every_write(self, world: World) -> None:
        first, second = world.replica(), world.replica()
        ids: list[int] = []
        for number in range(6):
            ids.append(world.put(f"t{number}", str(number)))
            assert seen(first) == seen(second)
            world.put("t0", f"changed {number}")
            assert seen(second) == seen(first)
            if number % 2:
                world.delete(ids.pop(1))
                assert seen(first) == seen(second)
        assert len(seen(first)) == 3

    def test_an_index_that_fails_loses_nothing(self, world: World) -> None:
        replica = world.replica()
        world.put("a")
        seen(replica)
        world.put("b")
        world.indexes[-1].fault = IndexUnavailable("the disk is full")
        for _ in range(2):
            with pytest.raises(IndexUnavailable, match="disk is full"):
                seen(replica)
        world.indexes[-1].fault = None
        assert seen(replica) == {"a": "", "b": ""}

    def test_after_the_database_dropped_every_connection_the_next_search_sees_all(self, world: World) -> None:
        replica = world.replica()
        world.put("a")
        seen(replica)
        with connected(world.url) as sql:
            sql(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name = 'skillroute'"
            )
            insert_tool(sql, "b")
        assert seen(replica) == {"a": "", "b": ""}

    def test_the_status_tells_how_far_behind_it_is(self, world: World) -> None:
        replica = world.replica()
        world.put("a")
        before = replica.status()
        assert (before.ready, before.counts) == (False, {})
        assert before.lag > 0
        seen(replica)
        world.put("b")
        behind = replica.status()
        assert (behind.ready, behind.counts[TOOLS], behind.lag, behind.model) == (True, 1, 1, "test (2 dimensions)")
        seen(replica)
        assert (replica.status().lag, replica.status().counts[TOOLS]) == (0, 2)


def test_the_content_of_a_lent_index_is_what_it_was_lent_with(world: World) -> None:
    replica = world.replica()
    world.put("a")
    with replica.current() as index:
        world.put("b")
        assert content(index) == {"a": ""}
