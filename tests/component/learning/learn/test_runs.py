"""Which organisations are due to learn, and what a run leaves behind."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from skillroute.core.errors.model import EmbeddingUnavailable
from skillroute.core.observability import Metric
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.learning.learn.learn import LearnReport
from skillroute.learning.learn.runs import QueueLearning, RunLearning
from skillroute.learning.queues import LEARN

from tests.builders import System, of_org

DAY_H = 24.0
WAITING = "SELECT key, org_id FROM mcp.outbox WHERE queue = 'learn' ORDER BY key"


def used(system: System, *orgs: str | None, **given: Any) -> None:
    """Let each organisation report an outcome."""
    for org in orgs:
        system.outcome(uuid4(), "succeeded", 1, org=org, **given)


def queue(system: System, every_h: float = DAY_H, most: int = 100) -> list[str]:
    """Queue what is due, and return all that waits then."""
    before = len(system.rows(WAITING))
    queued = QueueLearning(system.database, every_h=every_h, most=most)()
    found = [key for key, _ in system.rows(WAITING)]
    assert queued == len(found) - before
    return found


def run(system: System, *keys: str) -> list[str | None]:
    """Run what waits under keys, with a learning that finds nothing; return for whom it learned."""
    learned: list[str | None] = []

    def learn(org_id: str | None) -> LearnReport:
        learned.append(org_id)
        return LearnReport(org_id, None, False, "nothing to learn", {})

    for key in keys:
        RunLearning(system.database, learn)(key)
    return learned


def ran(system: System, org: str | None, hours_ago: int) -> None:
    system.rows(
        "INSERT INTO mcp.learning_runs VALUES (:org, now() - make_interval(hours => :hours::int)) "
        "ON CONFLICT ON CONSTRAINT learning_runs_of_org DO UPDATE SET began_at = excluded.began_at RETURNING org_id",
        org=org,
        hours=hours_ago,
    )


def test_organisations_with_outcomes_are_queued_once_each_and_the_global_catalogue_is_one(system: System) -> None:
    assert queue(system) == []
    used(system, "acme", "global", None)
    assert queue(system) == ["global", "org/acme", "org/global"]
    assert [org for _, org in system.rows(WAITING)] == ["", "acme", "global"]
    assert queue(system) == ["global", "org/acme", "org/global"]


def test_outcomes_that_teach_nothing_are_no_reason_to_learn(system: System) -> None:
    used(system, "acme", None, may_teach=False)
    assert queue(system) == []


def test_a_run_that_finds_nothing_to_learn_is_done_and_not_due_again_before_its_time(system: System) -> None:
    used(system, "acme", None)
    assert run(system, *queue(system)) == [None, "acme"]
    assert system.rows("SELECT id FROM mcp.learned_states") == []
    assert queue(system) == []
    used(system, "acme")
    assert queue(system) == []  # new outcomes, and it learned a moment ago
    ran(system, "acme", 25)
    ran(system, None, 25)
    used(system, "acme")
    assert queue(system) == ["global", "org/acme"]


def test_an_organisation_without_new_outcomes_is_not_due_however_long_ago_it_learned(system: System) -> None:
    used(system, "acme", None)
    system.sql("UPDATE mcp.outcomes SET reported_at = now() - interval '3 days'")
    ran(system, "acme", 48)
    ran(system, None, 48)
    assert queue(system) == []


def test_an_organisation_is_not_due_while_a_person_chose_what_is_live(system: System) -> None:
    used(system, "acme", None)
    states = system.parts.learning.states
    states.switch(of_org("acme"), None)
    assert queue(system) == ["global"]
    states.go_on(of_org("acme"))
    assert queue(system) == ["global", "org/acme"]


def test_what_is_reported_while_a_run_goes_on_is_new(system: System) -> None:
    used(system, "acme")
    queue(system)

    def learn(org_id: str | None) -> LearnReport:
        used(system, "acme")
        return LearnReport(org_id, None, False, "nothing to learn", {})

    RunLearning(system.database, learn)("org/acme")
    assert queue(system, every_h=0.0) == ["org/acme"]


def test_a_message_that_comes_twice_finds_its_work_done(system: System) -> None:
    used(system, "acme")
    queue(system)
    assert run(system, "org/acme", "org/acme", "global") == ["acme"]


def test_what_fails_waits_on_and_is_not_queued_anew(system: System) -> None:
    used(system, "acme")
    queue(system)
    system.sql("UPDATE mcp.outbox SET attempts = 2 WHERE queue = 'learn'")

    def learn(_: str | None) -> LearnReport:
        raise EmbeddingUnavailable("away")

    with pytest.raises(EmbeddingUnavailable):
        RunLearning(system.database, learn)("org/acme")
    assert queue(system, every_h=0.0) == ["org/acme"]
    assert system.rows("SELECT attempts FROM mcp.outbox WHERE queue = 'learn'") == [[2]]
    assert system.rows("SELECT org_id FROM mcp.learning_runs") == []


def test_what_was_given_up_is_tried_again_after_as_long_as_learning_rests(system: System) -> None:
    used(system, "acme")
    queue(system)
    dead = "UPDATE mcp.outbox SET attempts = 5, dead_at = now() - make_interval(hours => :h::int) RETURNING key"
    system.rows(dead, h=23)
    assert QueueLearning(system.database, every_h=DAY_H)() == 0
    system.rows(dead, h=25)
    assert QueueLearning(system.database, every_h=DAY_H)() == 1
    assert system.rows("SELECT attempts, dead_at FROM mcp.outbox WHERE queue = 'learn'") == [[0, None]]


def test_so_many_wait_together_and_who_has_waited_longest_comes_first(system: System) -> None:
    used(system, "busy", "busy", "rare", "new", "old")
    for org, hours in (("busy", 25), ("rare", 26), ("old", 90)):
        ran(system, org, hours)
    assert queue(system, most=2) == ["org/new", "org/old"]
    assert queue(system, most=2) == ["org/new", "org/old"]
    run(system, "org/new")
    assert queue(system, most=2) == ["org/old", "org/rare"]


def test_the_relay_queues_what_is_due_where_there_are_queues(queued: System) -> None:
    used(queued, "acme")
    report = queued.parts.relay()
    assert (report.due, report.failed) == (1, [])
    assert queued.waiting("learn") == ["org/acme"]
    assert queued.parts.relay().due == 0


def test_the_age_of_what_waits_is_measured_where_somebody_waits_for_it(
    queued: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: dict[Metric, float] = {}
    monkeypatch.setattr("skillroute.core.relay.gauge", measured.__setitem__)
    queued.database.transact(lambda session: OutboxRepository(session).enqueue(LEARN, ["global"]))
    queued.sql("UPDATE mcp.outbox SET created_at = now() - interval '5 hours'")
    queued.parts.relay()
    assert (measured[Metric.OUTBOX_WAITING], measured[Metric.OUTBOX_OLDEST]) == (1, 0.0)
