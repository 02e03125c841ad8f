"""Work that waits: what makes it wait, how it reaches its queue, and that nothing of it is ever lost."""

from __future__ import annotations

import json
import threading

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.model import IndexFilter
from skillroute.core.errors.model import Conflict, DatabaseUnavailable
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.skills.classification.model import Decision
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import skill_key

from tests.builders import System, lent_system, of_org
from tests.component.core.queue.clocked import AGGREGATE, CLASSIFY, Clocked, dispatch_over, fails, grow_stale, relay
from tests.doubles import EdgeIndexes, LogRecords, at, in_threads, once, proposing
from tests.integration.rows import connected, waits_for_a_lock

# What waits


def test_new_and_changed_tools_wait_to_be_classified_and_unchanged_ones_do_not(system: System) -> None:
    a, b = system.put("a", "b")
    assert system.waiting("classify") == [str(a), str(b)]
    system.classify(a, b)
    system.put("a", "b")
    assert system.waiting("classify") == []
    system.put("b", description="Something else.")
    assert system.waiting("classify") == [str(b)]


def test_what_is_rolled_back_leaves_no_work(system: System) -> None:
    def fail() -> None:
        raise StatementRejected("no", state="53100", constraint=None)

    system.database.before_commit = fail
    with pytest.raises(StatementRejected):
        system.put("a")
    with pytest.raises(StatementRejected):
        system.create("mail")
    assert system.rows("SELECT count(*) FROM mcp.outbox") == [[0]]


def test_no_message_is_sent_before_the_commit(queued: System, queue: Clocked) -> None:
    seen = []
    queued.database.before_commit = once(lambda: seen.append(queue.depths()[1].ready))
    queued.put("a")
    assert (seen, queue.sent(CLASSIFY)) == ([0], [{"tool_id": 1}])


def test_a_hundred_changes_to_a_skill_are_one_piece_of_work(queued: System, queue: Clocked) -> None:
    queued.create("mail")
    for number in range(100):
        queued.tool(f"t{number}", at(0.5), skills=["mail"])
    assert queued.waiting("aggregate") == ["mail"]
    queued.parts.dispatch()
    queue.clock.advance(60)
    assert queue.sent(AGGREGATE) == [{"skill_id": "mail"}]


def test_changes_while_a_message_is_under_way_send_no_other(queued: System, queue: Clocked) -> None:
    queued.create("mail")
    [tool_id] = queued.put("t")
    for confidence in (0.9, 0.8, 0.7):
        queued.assign(tool_id, mail=confidence)
    queue.clock.advance(60)
    assert queue.sent(AGGREGATE) == [{"skill_id": "mail"}]


def test_messages_for_skills_rest_a_moment_and_those_for_tools_do_not(queued: System, queue: Clocked) -> None:
    queued.create("mail")
    queued.tool("t", at(0.5), skills=["mail"])
    queued.parts.dispatch()
    assert (queue.sent(CLASSIFY), queue.sent(AGGREGATE)) == ([{"tool_id": 1}], [])
    queue.clock.advance(2.1)
    assert queue.sent(AGGREGATE) == [{"skill_id": "mail"}]


def test_more_than_a_batch_is_published_to_the_last(queued: System, queue: Clocked) -> None:
    queued.tools([(f"t{number}", None) for number in range(150)])
    assert queued.parts.dispatch() == 150
    assert len(queue.sent(CLASSIFY)) == 150
    assert queued.parts.dispatch() == 0


def test_a_tool_that_is_deleted_while_it_waits_waits_no_more(queued: System) -> None:
    [tool_id] = queued.put("t")
    queued.parts.catalogue.read.delete(tool_id, LAPTOP)
    assert queued.waiting("classify") == []


# Nobody waits long for it


def test_after_a_commit_a_slow_queue_takes_two_seconds_at_most_and_the_rest_is_the_relays(
    queued: System, queue: Clocked
) -> None:
    queued.tools([(f"t{number}", None) for number in range(95)])
    queue.takes_s = 0.6
    dispatch = dispatch_over(queued, queue)
    began = queue.clock.now
    # THEN no call begins after two seconds
    assert (dispatch(), queue.clock.now - began) == (40, pytest.approx(2.4))
    # AND the relay has more time
    assert (dispatch.backlog(within_s=20.0), dispatch.backlog(within_s=20.0)) == (55, 0)


def test_a_queue_that_failed_is_left_alone_for_five_seconds_after_commits_and_not_by_the_relay(
    queued: System, queue: Clocked
) -> None:
    queued.tool("t", None)
    dispatch = dispatch_over(queued, queue)
    queue.down = True
    assert (dispatch(), dispatch(), len(queue.calls)) == (0, 0, 1)
    queue.clock.advance(4.9)
    assert (dispatch(), len(queue.calls)) == (0, 1)
    # The relay, which nobody waits for, asks each time, and each failure counts anew.
    assert (dispatch.backlog(within_s=20.0), len(queue.calls)) == (0, 2)
    queue.down = False
    queue.clock.advance(4.9)
    assert (dispatch(), len(queue.calls)) == (0, 2)
    queue.clock.advance(0.2)
    assert (dispatch(), len(queue.calls)) == (1, 3)


def test_rows_are_held_for_one_call_of_ten_messages(queued: System, queue: Clocked) -> None:
    queued.tools([(f"t{number}", None) for number in range(25)])
    at_commits: list[int] = []
    queued.database.before_commit = lambda: at_commits.append(len(queue.calls))
    dispatch_over(queued, queue)()
    assert queue.calls == [(CLASSIFY, 10), (CLASSIFY, 10), (CLASSIFY, 5)]
    assert at_commits == [1, 2, 3]


# Nothing is lost


def test_with_the_queue_down_the_write_succeeds_and_its_work_waits(
    queued: System, queue: Clocked, log: LogRecords
) -> None:
    queue.down = True
    [tool_id] = queued.put("t")
    queued.create("mail")
    queued.assign(tool_id, mail=0.9)
    assert queued.skills_of(tool_id) == ["mail"]
    assert queued.rows("SELECT queue, key, published_at FROM mcp.outbox ORDER BY queue") == [
        ["aggregate", "mail", None],
        ["classify", str(tool_id), None],
    ]
    assert log.having("work left in the outbox")
    # AND the relay sends it once the queue is back
    queue.down = False
    report = queued.parts.relay()
    assert (report.published, report.failed) == (2, [])
    assert queue.sent(CLASSIFY) == [{"tool_id": tool_id}]


def test_with_the_database_away_dispatching_raises_nothing(queued: System) -> None:
    queued.database.down = True
    assert queued.parts.dispatch() == 0


def test_a_failure_between_sending_and_marking_sends_twice_and_loses_nothing(queued: System, queue: Clocked) -> None:
    queued.tool("t", None)

    def fail() -> None:
        raise DatabaseUnavailable("gone at the commit")

    queued.database.before_commit = once(fail)
    assert (queued.parts.dispatch(), queued.parts.dispatch()) == (0, 1)
    assert queue.sent(CLASSIFY) == [{"tool_id": 1}] * 2


def test_two_relays_at_once_send_each_message_once(queued: System, queue: Clocked) -> None:
    queued.tools([(f"t{number}", at(0.5)) for number in range(200)])
    both = relay(queued), relay(queued)
    reports = in_threads(2, lambda place: both[place]())
    sent = [json.dumps(body) for body in queue.sent(CLASSIFY)]
    assert (len(sent), len(set(sent))) == (200, 200)
    assert sum(report.published for report in reports) == 200


def test_messages_that_should_long_have_been_done_are_sent_again(queued: System, queue: Clocked) -> None:
    queued.put("t")
    assert queue.sent(CLASSIFY) == [{"tool_id": 1}]
    # GIVEN a message that the queue lost
    assert queued.parts.relay().again == 0
    assert queue.sent(CLASSIFY) == []
    queued.sql("UPDATE mcp.outbox SET published_at = published_at - interval '5 hours'")
    assert queued.parts.relay().again == 1
    assert queue.sent(CLASSIFY) == [{"tool_id": 1}]
    assert queued.parts.relay().again == 0


def test_work_whose_message_is_never_answered_is_given_up_at_last_and_people_are_told(
    database_url: str, edge_indexes: EdgeIndexes, queue: Clocked
) -> None:
    # GIVEN a tool at which whoever receives it is killed, each time
    with lent_system(database_url, edge_indexes, queue=queue) as system:
        system.parts.failed_work.max_receives = 3
        [tool_id] = system.put("t", server="garden")
        for attempts in (1, 2):
            grow_stale(system)
            assert system.parts.relay().again == 1
            assert system.rows("SELECT attempts, dead_at FROM mcp.outbox") == [[attempts, None]]
        assert (queue.sent(CLASSIFY), system.notifier.events) == ([{"tool_id": tool_id}] * 3, [])
        # WHEN the third message is not answered either
        grow_stale(system)
        system.parts.relay()
        # THEN
        [[attempts, reason, is_dead]] = system.rows("SELECT attempts, last_error, dead_at IS NOT NULL FROM mcp.outbox")
        assert (attempts, is_dead, reason.startswith("no answer")) == (3, True, True)
        [details] = system.notifier.details("message_dead_lettered")
        assert details == {
            "queue": "classify",
            "key": str(tool_id),
            "attempts": 3,
            "reason": reason,
            "tool_name": "garden/t",
            "to_do": f"remove the cause, then run `skillroute dlq redrive classify {tool_id}`",
        }
        # AND it is left alone
        grow_stale(system)
        assert (system.parts.relay().again, queue.sent(CLASSIFY)) == (0, [])
        assert len(system.notifier.events) == 1


def test_a_reason_that_was_noted_is_the_one_that_work_without_an_answer_is_given_up_with(queued: System) -> None:
    queued.put("t")
    for receives in (1, 2, 3, 4):
        queued.parts.failed_work(CLASSIFY, {"1": "throttled"}, {"1": receives})
    grow_stale(queued)
    queued.parts.relay()
    assert [each["reason"] for each in queued.notifier.details("message_dead_lettered")] == ["throttled"]


def test_what_is_sent_again_because_the_queues_are_new_is_no_attempt(queued: System, queue: Clocked) -> None:
    a, b = queued.put("a", "b")
    fails(queued, str(b), "no", dead=True)
    queue.sent(CLASSIFY)
    for _ in range(10):
        assert queued.database.transact(lambda session: OutboxRepository(session).publish_all_again()) == 1
        queued.parts.dispatch()
    assert queue.sent(CLASSIFY) == [{"tool_id": a}] * 10
    assert queued.rows("SELECT attempts, dead_at FROM mcp.outbox WHERE key = :key", key=str(a)) == [[0, None]]


def test_a_failure_of_what_a_tool_said_before_does_not_give_up_what_it_says_now(queued: System, queue: Clocked) -> None:
    # GIVEN a tool whose message failed four times, and that changes before its fifth and last receive
    [tool_id] = queued.put("t")
    for receives in (1, 2, 3, 4):
        queued.parts.failed_work(CLASSIFY, {str(tool_id): "throttled"}, {str(tool_id): receives})
    assert queue.sent(CLASSIFY) == [{"tool_id": tool_id}]
    queued.put("t", description="Something else.")
    assert queue.sent(CLASSIFY) == []  # its message is under way
    # WHEN
    queued.parts.failed_work(CLASSIFY, {str(tool_id): "throttled"}, {str(tool_id): 5})
    # THEN it is not given up, nobody is told that it was, and it gets a message of its own
    assert queued.rows("SELECT attempts, dead_at FROM mcp.outbox") == [[1, None]]
    assert queued.notifier.details("message_dead_lettered") == []
    assert queue.sent(CLASSIFY) == [{"tool_id": tool_id}]
    # AND that one has its last receive too
    queued.parts.failed_work(CLASSIFY, {str(tool_id): "throttled"}, {str(tool_id): 5})
    assert queued.rows("SELECT dead_at IS NOT NULL FROM mcp.outbox") == [[True]]
    assert len(queued.notifier.details("message_dead_lettered")) == 1


def test_a_tool_that_was_lost_is_queued(queued: System, queue: Clocked) -> None:
    lost, young, classified, assigned = queued.put("lost", "young", "classified", "assigned")
    queued.classify(classified)
    queued.create("mail")
    queued.assign(assigned, mail=1.0)
    queued.sql("DELETE FROM mcp.outbox WHERE queue = 'classify'")
    queued.sql(f"UPDATE mcp.tools SET created_at = created_at - interval '1 hour' WHERE id <> {young}")
    queue.sent(CLASSIFY)
    report = queued.parts.relay()
    assert (report.lost, queued.waiting("classify")) == (1, [str(lost)])
    assert queue.sent(CLASSIFY) == [{"tool_id": lost}]
    assert queued.parts.relay().lost == 0


def test_the_outbox_tells_how_much_waits_and_what_was_given_up(queued: System) -> None:
    queued.put("a", "b")
    queued.database.transact(
        lambda session: OutboxRepository(session).failed(CLASSIFY, {"1": "no"}, dead=["1"], receives={"1": 1})
    )
    depths = {each.queue: each for each in queued.parts.relay().depths}
    assert (depths[CLASSIFY].waiting, depths[CLASSIFY].dead, depths[AGGREGATE].waiting) == (1, 1, 0)


def test_work_that_was_given_up_is_left_alone_and_revived_by_a_change(queued: System, queue: Clocked) -> None:
    [tool_id] = queued.put("t")
    queue.sent(CLASSIFY)
    queued.database.transact(
        lambda session: OutboxRepository(session).failed(
            CLASSIFY, {str(tool_id): "no"}, dead=[str(tool_id)], receives={}
        )
    )
    queued.sql("UPDATE mcp.outbox SET published_at = published_at - interval '1 hour'")
    report = queued.parts.relay()
    assert (report.again, report.lost, report.published, queue.sent(CLASSIFY)) == (0, 0, 0, [])
    # WHEN
    queued.put("t", description="Something else.")
    # THEN
    assert queue.sent(CLASSIFY) == [{"tool_id": tool_id}]
    assert queued.rows("SELECT attempts, last_error, dead_at FROM mcp.outbox") == [[0, None, None]]


def test_a_failure_is_noted_and_the_work_goes_on_waiting(queued: System) -> None:
    queued.put("t")
    for _ in range(2):
        queued.database.transact(
            lambda session: OutboxRepository(session).failed(CLASSIFY, {"1": "throttled"}, dead=[], receives={})
        )
    assert queued.rows("SELECT attempts, last_error, dead_at FROM mcp.outbox") == [[2, "throttled", None]]


# Work that changes while it is done


def test_a_change_during_an_aggregation_is_not_lost(queued: System, queue: Clocked) -> None:
    queued.create("mail")
    queued.tool("first", at(0.0, axis=1), skills=["mail"])
    queued.parts.dispatch()
    queue.clock.advance(60)
    assert queue.sent(AGGREGATE) == [{"skill_id": "mail"}]
    # GIVEN a tool that joins after the members were read, and before the work is taken from the outbox
    joining = threading.Thread(target=lambda: queued.tool("second", at(0.0, axis=2), skills=["mail"]))

    def join() -> None:
        joining.start()
        # It waits for the row in the outbox, or is through already.
        while joining.is_alive() and not waits_for_a_lock(queued.rows):
            pass

    queued.database.before_commit = once(join)
    queued.parts.aggregate_skill("mail")
    joining.join(20)
    # THEN its work waits, is sent, and the next aggregation sees it
    assert queued.waiting("aggregate") == ["mail"]
    queued.parts.dispatch()
    queue.clock.advance(60)
    assert queue.sent(AGGREGATE) == [{"skill_id": "mail"}]
    queued.parts.aggregate_skill("mail")
    half = 0.5**0.5
    assert queued.vector("mail") == pytest.approx([0, half, half, 0, 0, 0, 0, 0], abs=1e-6)
    assert queued.waiting("aggregate") == []


def test_a_change_between_reading_and_done_leaves_the_work_unpublished(queued: System, queue: Clocked) -> None:
    queued.create("mail")
    queued.tool("first", at(0.0, axis=1), skills=["mail"])
    queued.parts.dispatch()
    [version] = queued.rows("SELECT version FROM mcp.outbox WHERE queue = 'aggregate'")
    queued.tool("second", at(0.0, axis=2), skills=["mail"])
    queued.database.transact(lambda session: OutboxRepository(session).done(AGGREGATE, {"mail": version[0]}))
    assert queued.rows("SELECT key, published_at FROM mcp.outbox WHERE queue = 'aggregate'") == [["mail", None]]


def test_two_aggregations_of_a_skill_at_once_leave_nothing_and_the_right_vector(queued: System) -> None:
    queued.create("mail")
    queued.tool("first", at(0.0, axis=1), skills=["mail"])
    in_threads(4, lambda _: queued.parts.aggregate_skill("mail"))
    assert (queued.waiting("aggregate"), queued.vector("mail")) == ([], at(0.0, axis=1))


def test_a_message_that_comes_twice_finds_its_work_done(queued: System) -> None:
    queued.create("mail")
    [tool_id] = queued.put("t")
    queued.classifier.answers["t"] = proposing(mail=0.9)
    assert [each.decision for each in queued.classify(tool_id)] == [Decision.CLASSIFIED]
    assert [each.decision for each in queued.classify(tool_id)] == [Decision.UNCHANGED]
    queued.parts.aggregate_skill("mail")
    assert queued.parts.aggregate_skill("mail") is False


def test_work_for_a_skill_that_was_deleted_is_done_with(queued: System) -> None:
    queued.create("mail")
    queued.tool("t", at(0.5), skills=["mail"])
    queued.parts.skills.change.delete("mail", LAPTOP)
    assert queued.parts.aggregate_skill("mail") is False
    assert queued.waiting("aggregate") == []


# The relay


def test_a_step_that_fails_does_not_keep_the_others(queued: System, queue: Clocked) -> None:
    queued.tool("t", None)

    def fail(_: float) -> int:
        raise Conflict("no")

    report = relay(queued, embed_missing=fail)()
    assert (report.failed, report.published) == (["embed"], 1)


def test_without_postgresql_the_relay_has_failed(queued: System) -> None:
    queued.database.down = True
    with pytest.raises(DatabaseUnavailable):
        queued.parts.relay()


def test_changes_of_deleted_items_are_pruned_when_they_are_old_and_no_others(system: System) -> None:
    kept, gone, young = system.put("kept", "gone", "young")
    system.create("stays")
    system.create("goes")
    for tool_id in (gone, young):
        system.parts.catalogue.read.delete(tool_id, LAPTOP)
    system.parts.skills.change.delete("goes", LAPTOP)
    system.sql(
        "UPDATE mcp.index_changes SET changed_at = changed_at - interval '8 days' "
        f"WHERE item_id <> '{young}' OR collection <> 'mcp_unified_search'"
    )
    assert system.parts.relay().pruned == 2
    assert [row[0] for row in system.rows("SELECT item_id FROM mcp.index_changes ORDER BY 1")] == sorted(
        [str(kept), str(young), "stays"]
    )
    assert system.parts.relay().pruned == 0


def test_a_replica_that_slept_longer_than_changes_are_kept_reads_everything_anew(system: System) -> None:
    a, _ = system.put("a", "b")
    system.create("mail")
    assert sorted(system.names(strategy="direct")) == ["a", "b"]
    built = system.index
    # GIVEN a tool and a skill that are deleted while this replica sleeps, and changes that are pruned before it wakes
    system.parts.catalogue.read.delete(a, LAPTOP)
    system.parts.skills.change.delete("mail", LAPTOP)
    system.sql("UPDATE mcp.index_changes SET changed_at = changed_at - interval '8 days'")
    assert system.parts.relay().pruned == 2
    # THEN
    assert system.names(strategy="direct") == ["b"]
    assert system.index is not built
    assert system.index.match(SKILL_DOCUMENTS, where=IndexFilter(), limit=10) == []
    # AND once it has, it goes on with what it has
    rebuilt = system.index
    system.put("c")
    assert sorted(system.names(strategy="direct")) == ["b", "c"]
    assert system.index is rebuilt


@pytest.mark.parametrize("start_anew", ["reindex", "truncate"])
def test_for_who_reads_everything_anew_nothing_was_pruned(system: System, start_anew: str) -> None:
    # A database that is restored elsewhere counts transactions from the start: all would be before what was pruned.
    [tool_id] = system.put("gone")
    system.parts.catalogue.read.delete(tool_id, LAPTOP)
    system.sql("UPDATE mcp.index_changes SET changed_at = changed_at - interval '8 days'")
    assert system.parts.relay().pruned == 1
    [[epoch, is_pruned]] = system.rows("SELECT epoch, pruned_to > '0' FROM mcp.index_state")
    assert is_pruned
    if start_anew == "reindex":
        system.parts.reindex()
    else:
        system.sql("TRUNCATE mcp.tools CASCADE")
    [[new_epoch, pruned_to]] = system.rows("SELECT epoch, pruned_to::text FROM mcp.index_state")
    assert (pruned_to, new_epoch != epoch) == ("0", True)


def test_work_of_every_organisation_is_done(queued: System, database_url: str) -> None:
    queued.create("of_acme", of_org("acme"))
    [tool_id] = queued.put("t", caller=of_org("acme"))
    queued.classifier.answers["t"] = proposing(of_acme=0.9)
    queued.classify(tool_id)
    queued.parts.aggregate_skill(skill_key("of_acme", "acme"))
    with connected(database_url) as sql:
        assert sql("SELECT count(*) FROM mcp.outbox") == [[0]]
    assert queued.skills_of(tool_id) == ["of_acme"]
