"""One organisation's backlog does not delay another's work, and nothing is lost or waits for ever (docs/adr/0028)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.skills.classification.consumer import classify_consumer

from tests.builders import System, lent_system, of_org
from tests.component.core.queue.clocked import CLASSIFY, Clocked, relay
from tests.doubles import EdgeIndexes, in_threads
from tests.soak import SOAK

MAX_COUNT = 20
# More than is published at once.
BACKLOG = 5000 if SOAK else 1200
ACME, GLOBEX = of_org("acme"), of_org("globex")


@pytest.fixture
def narrow(database_url: str, edge_indexes: EdgeIndexes, queue: Clocked) -> Iterator[System]:
    """A system whose organisations may have 20 messages in flight."""
    with lent_system(database_url, edge_indexes, queue=queue, org_in_flight=MAX_COUNT) as system:
        yield system


def import_of(system: System, number: int, org: str | None = "acme") -> list[int]:
    """Store tools whose work is not published yet."""
    return system.tools([(f"t{n}", None) for n in range(number)], org=org)


def received(queue: Clocked) -> list[int]:
    """Return the tools whose messages are received, in their order."""
    return [message["tool_id"] for message in queue.sent(CLASSIFY)]  # type: ignore[index]


def done(system: System, *tool_ids: int) -> None:
    def remove(session: Any) -> None:
        OutboxRepository(session).done(
            CLASSIFY, OutboxRepository(session).versions(CLASSIFY, [str(id_) for id_ in tool_ids])
        )

    system.database.transact(remove)


def test_a_tool_is_published_at_once_and_received_first_beside_a_backlog(narrow: System, queue: Clocked) -> None:
    # GIVEN an import of another organisation of which nothing is published yet
    import_of(narrow, BACKLOG)
    # WHEN
    [tool_id] = narrow.put("t", caller=GLOBEX)
    # THEN
    assert received(queue).index(tool_id) <= MAX_COUNT


def test_the_next_relay_publishes_a_tool_behind_a_backlog_that_has_its_messages(narrow: System, queue: Clocked) -> None:
    # GIVEN an import that was published as far as it goes, and a tool that was not
    import_of(narrow, BACKLOG)
    relay(narrow)()
    [tool_id] = import_of(narrow, 1, "globex")
    # WHEN
    report = relay(narrow)()
    # THEN
    assert report.published == 1
    assert received(queue).index(tool_id) <= MAX_COUNT


def test_messages_in_flight_are_limited_and_what_is_done_lets_others_follow(narrow: System, queue: Clocked) -> None:
    tool_ids = import_of(narrow, 100)
    assert (narrow.parts.dispatch(), narrow.parts.dispatch()) == (MAX_COUNT, 0)
    first = received(queue)
    assert len(first) == MAX_COUNT
    assert set(first) < set(tool_ids)
    done(narrow, *first[:7])
    assert (narrow.parts.dispatch(), narrow.parts.dispatch()) == (7, 0)


def test_work_that_always_fails_does_not_stop_the_other_work_of_its_organisation(
    narrow: System, queue: Clocked
) -> None:
    # GIVEN as many tools that always fail as an organisation may have in flight, before others
    import_of(narrow, 100)
    narrow.parts.dispatch()
    poison = received(queue)
    narrow.parts.failed_work(CLASSIFY, {str(id_): "refused" for id_ in poison}, {str(id_): 1 for id_ in poison})
    # THEN nearly as many others follow, without the relay
    assert len(set(received(queue)) - set(poison)) == MAX_COUNT - MAX_COUNT // 10
    assert narrow.parts.dispatch() == 0


def test_a_batch_that_is_done_publishes_the_next_without_the_relay(narrow: System, queue: Clocked) -> None:
    # GIVEN one organisation alone, with five times what it may have in flight
    tool_ids = import_of(narrow, 5 * MAX_COUNT)
    consume = classify_consumer(narrow.parts.classification.classify, narrow.parts.failed_work)
    narrow.parts.dispatch()
    # WHEN
    batches = 0
    while messages := queue.receive(CLASSIFY, 10):
        records = [{"messageId": message.id, "body": message.body} for message in messages]
        assert consume({"Records": records}, None) == {"batchItemFailures": []}
        for message in messages:
            queue.delete(CLASSIFY, message.id)
        batches += 1
    # THEN all are classified, in full batches
    assert narrow.waiting("classify") == []
    assert batches == len(tool_ids) / 10


def test_a_batch_is_of_one_organisation_where_several_have_a_backlog(narrow: System, queue: Clocked) -> None:
    for org in ("acme", "globex", None):
        import_of(narrow, 50, org)
    narrow.parts.dispatch()
    groups = [[message.group for message in queue.receive(CLASSIFY, 10)] for _ in range(6)]
    assert [len(set(batch)) for batch in groups] == [1] * 6
    assert Counter(batch[0] for batch in groups) == dict.fromkeys({batch[0] for batch in groups}, 2)


def test_messages_carry_the_group_of_their_organisation_beside_the_contracts_body(
    narrow: System, queue: Clocked
) -> None:
    for org in ("acme", "globex", None):
        import_of(narrow, 1, org)
    narrow.parts.dispatch()
    messages = queue.receive(CLASSIFY, 10)
    assert sorted(json.loads(message.body)["tool_id"] for message in messages) == [1, 2, 3]
    assert all(json.loads(message.body).keys() == {"tool_id"} for message in messages)
    groups = {message.group for message in messages}
    assert len(groups) == 3
    assert "global" in groups
    assert not any(org in str(group) for group in groups for org in ("acme", "globex"))


def test_publishers_at_once_send_each_message_once_and_keep_the_limit(narrow: System, queue: Clocked) -> None:
    for org in ("acme", "globex", None):
        import_of(narrow, 100, org)
    # WHEN
    publishers = [relay(narrow), relay(narrow), relay(narrow)]
    reports = in_threads(3, lambda place: publishers[place]())
    # THEN
    sent = received(queue)
    assert len(sent) == len(set(sent)) == sum(report.published for report in reports) == 3 * MAX_COUNT
    assert narrow.rows(
        "SELECT org_id, count(*) FROM mcp.outbox WHERE published_at IS NOT NULL GROUP BY org_id ORDER BY org_id"
    ) == [["", MAX_COUNT], ["acme", MAX_COUNT], ["globex", MAX_COUNT]]
