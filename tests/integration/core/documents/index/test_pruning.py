"""Changes of items that are gone are forgotten after a while; who had not seen them by then starts anew."""

from __future__ import annotations

from skillroute.core.documents.index_state import IndexStateRepository

from tests.integration.core.documents.index.replica_world import SKILLS, World, seen
from tests.integration.rows import insert_skill


def prune(world: World) -> int:
    return world.database.transact(lambda session: IndexStateRepository(session).prune(older_than_s=0))


def test_a_deletion_that_was_pruned_before_it_was_seen_is_seen_all_the_same(world: World) -> None:
    replica = world.replica()
    gone = world.put("gone")
    world.put("stays")
    assert set(seen(replica)) == {"gone", "stays"}
    # WHEN the replica sleeps until nobody knows of the deletion any more, and nothing else happens
    world.delete(gone)
    assert prune(world) == 1
    # THEN
    assert set(seen(replica)) == {"stays"}
    # AND it has caught up by that: nothing is read a second time
    world.forget()
    assert set(seen(replica)) == {"stays"}
    assert world.upserts == []


def test_a_change_after_the_pruning_does_not_hide_what_was_missed(world: World) -> None:
    replica = world.replica()
    gone = world.put("gone")
    assert set(seen(replica)) == {"gone"}
    world.delete(gone)
    prune(world)
    world.put("new")
    assert set(seen(replica)) == {"new"}


def test_a_deleted_skill_is_missed_as_little(world: World) -> None:
    sql = world.connect()
    insert_skill(sql, "gone")
    replica = world.replica()
    with replica.current() as index:
        assert index.count(SKILLS) == 1
    sql("UPDATE mcp.skill_categories SET is_active = false, deleted_at = now()")
    assert prune(world) == 1
    with replica.current() as index:
        assert index.count(SKILLS) == 0


def test_a_replica_that_had_seen_the_deletion_reads_nothing_anew(world: World) -> None:
    replica = world.replica()
    gone = world.put("gone")
    world.put("stays")
    seen(replica)
    world.delete(gone)
    assert set(seen(replica)) == {"stays"}
    assert prune(world) == 1
    world.forget()
    assert set(seen(replica)) == {"stays"}
    assert world.upserts == []


def test_a_second_process_that_slept_is_content_with_what_the_first_one_read(shared: World) -> None:
    first, second = shared.shared_replica(), shared.shared_replica()
    gone = shared.put("gone")
    shared.put("stays")
    seen(first)
    seen(second)
    # GIVEN a server that the first process keeps in step
    shared.delete(gone)
    seen(first)
    prune(shared)
    # WHEN
    shared.forget()
    assert set(seen(second)) == {"stays"}
    # THEN the server is not filled again
    assert shared.upserts == []


def test_while_an_old_transaction_is_open_nothing_is_read_anew_again_and_again(world: World) -> None:
    # GIVEN somebody who forgot a transaction, and a deletion after it
    gone = world.put("gone")
    world.put("stays")
    forgotten = world.connect()
    forgotten("BEGIN")
    forgotten("SELECT pg_current_xact_id()")
    world.delete(gone)
    prune(world)
    replica = world.replica()
    assert set(seen(replica)) == {"stays"}
    # THEN
    world.forget()
    assert set(seen(replica)) == {"stays"}
    assert world.upserts == []
    # AND once it is over, the change is forgotten
    forgotten("ROLLBACK")
    prune(world)
    assert world.connect()("SELECT count(*) FROM mcp.index_changes WHERE item_id = :id", id=str(gone)) == [[0]]
