"""The handlers behind queues and the schedule, called with the scenario's events, over real PostgreSQL and moto."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.queue.work import WorkQueue
from skillroute.core.settings import ClassifySettings, LearnSettings, LocalSettings
from skillroute.learning.outcomes.report import Reported
from skillroute.learning.queues import LEARN
from skillroute.learning.states.repository import StateRepository
from skillroute.search.model import SearchRequest
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import Assignment, NewSkill
from skillroute.skills.queues import AGGREGATE, CLASSIFY
from skillroute.wiring import Parts, classify_handler, learn_handler
from skillroute_local.lambda_events import Invocation
from skillroute_local.queue_server import QueueServer, ensure_queues, queue_environment

from tests.doubles import WatchedEmbedder
from tests.events import delete_queues, event, function_module
from tests.scenario import POISON

Load = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with QueueServer() as server:
        yield server.url
        delete_queues(server.url)


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch, database_url: str, endpoint: str) -> Iterator[Parts]:
    """What the catalog function works with, and the environment of all functions."""
    for name, value in queue_environment(endpoint, ensure_queues(endpoint)).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SKILLROUTE_DATABASE_URL", database_url)
    monkeypatch.setenv("SKILLROUTE_EMBEDDING_PROVIDER", "hashing")
    parts = Parts(LocalSettings.load())
    yield parts
    parts.close()
    if parts.queue:
        parts.queue.close()


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, parts: Parts) -> Load:
    """Load a function's module as Lambda does; what it is made of is lent by the test, which closes it."""
    monkeypatch.setattr("skillroute.wiring.Parts", lambda _settings: parts)
    return function_module


def call(module: ModuleType, name: str) -> dict[str, Any]:
    answer: dict[str, Any] = module.handler(event(name), Invocation("skillroute", 60))
    return answer


def waiting(parts: Parts, queue: WorkQueue) -> list[str]:
    return [work.key for work in parts.database.read(lambda session: OutboxRepository(session).waiting(queue, 100))]


def embeddings(parts: Parts) -> dict[str, Any]:
    """Return what each skill is found by, by its key."""
    [records] = parts.feed.load_all(SKILL_DOCUMENTS, parts.embedder.model)
    return {record.key: record.vector for record in records}


def write(parts: Parts, number: int) -> None:
    """Store a skill and as many tools, with the ids 1, 2, ..."""
    parts.skills.create(NewSkill(id="communication", name="Communication", description="Sends messages."), LAPTOP)
    items = [{"name": f"send_{n}", "description": "Sends a message."} for n in range(number)]
    assert [each.id for each in parts.catalogue.sync(items, LAPTOP).outcomes] == list(range(1, number + 1))


def test_the_classify_function_does_its_batch(load: Load, parts: Parts) -> None:
    write(parts, 3)

    assert call(load("classify"), "sqs_classify") == {"batchItemFailures": []}

    assert waiting(parts, CLASSIFY) == ["3"]


def test_poison_alone_comes_again(load: Load, parts: Parts) -> None:
    write(parts, 10)

    answer = call(load("classify"), "sqs_classify_mixed")

    assert answer == {"batchItemFailures": [{"itemIdentifier": POISON}]}
    assert waiting(parts, CLASSIFY) == ["10"]


def test_nothing_of_a_poisoned_batch_is_acknowledged(load: Load, parts: Parts) -> None:
    write(parts, 1)

    answer = call(load("classify"), "sqs_classify_poisoned")

    sent = [record["messageId"] for record in event("sqs_classify_poisoned")["Records"]]
    assert [each["itemIdentifier"] for each in answer["batchItemFailures"]] == sent
    assert waiting(parts, CLASSIFY) == ["1"]


def test_the_aggregate_function_does_its_batch(load: Load, parts: Parts) -> None:
    write(parts, 1)
    parts.database.transact(lambda session: OutboxRepository(session).enqueue(AGGREGATE, ["communication"]))

    # One of the two skills does not exist, which is no failure: there is nothing to be done.
    assert call(load("aggregate"), "sqs_aggregate") == {"batchItemFailures": []}

    assert waiting(parts, AGGREGATE) == []


def test_skills_of_one_id_are_aggregated_apart_by_the_keys_in_their_messages(load: Load, parts: Parts) -> None:
    """Decision 29: a message names a skill by its key, in the field that the contract gives it."""
    keys = []
    for number, org in enumerate(("acme", "globex"), 1):
        caller = Caller(org_id=org)
        new = NewSkill(id="communication", name="Communication", description="Sends messages.")
        keys.append(parts.skills.create(new, caller).key)
        parts.catalogue.sync([{"name": f"send_{number}", "description": f"Sends messages of {org}."}], caller)
        parts.skills.assign({number: [Assignment("communication", 0.9)]}, caller)
    assert waiting(parts, AGGREGATE) == keys == ["communication/acme", "communication/globex"]

    aggregate = load("aggregate")
    for key, other in (keys, reversed(keys)):
        before = embeddings(parts)
        batch = event("sqs_aggregate")
        batch["Records"] = batch["Records"][:1]
        batch["Records"][0]["body"] = json.dumps({"skill_id": key})
        assert aggregate.handler(batch, Invocation("skillroute", 60)) == {"batchItemFailures": []}
        after = embeddings(parts)
        assert (after[key] != before[key], after[other] == before[other]) == (True, True)
    assert waiting(parts, AGGREGATE) == []


def test_the_classify_function_gives_each_tool_the_skill_of_its_organisation(load: Load, parts: Parts) -> None:
    new = NewSkill(id="communication", name="Communication", description="Sends messages.", keywords=("message",))
    for number, caller in enumerate((Caller(org_id="acme"), Caller(org_id="globex"), LAPTOP), 1):
        parts.skills.create(new, caller)
        [written] = parts.catalogue.sync([{"name": "send_message", "description": "Sends messages."}], caller).outcomes
        assert written.id == number
    batch = event("sqs_classify")
    batch["Records"] = [
        batch["Records"][0] | {"messageId": str(number), "body": json.dumps({"tool_id": number})}
        for number in (1, 2, 3)
    ]

    assert load("classify").handler(batch, Invocation("skillroute", 60)) == {"batchItemFailures": []}

    given = [
        parts.database.read(lambda session, id_=id_: AssignmentRepository(session).of_items([id_])) for id_ in (1, 2, 3)
    ]  # type: ignore[misc]
    assert given == [{"communication/acme"}, {"communication/globex"}, {"communication"}]


def test_a_new_environment_classifies_without_its_embedding_model(load: Load, parts: Parts) -> None:
    # GIVEN that one has classified, and tools that are undecided
    write(parts, 3)
    assert call(load("classify"), "sqs_classify") == {"batchItemFailures": []}
    parts.database.transact(lambda session: ClassificationRepository(session).forget([1, 2]))

    # WHEN another one does
    embedder = WatchedEmbedder(HashingEmbedder())
    own = Parts(ClassifySettings.load(), embedder=embedder)
    try:
        batch = classify_handler(parts=own)(event("sqs_classify"), Invocation("skillroute", 60))
    finally:
        own.close()

    # THEN all that it compares was there: the model is loaded by what embeds first
    assert (batch, embedder.calls) == ({"batchItemFailures": []}, [])
    decided = parts.database.read(lambda session: ClassificationRepository(session).tools([1, 2], None))
    assert [decided[id_].decided_by for id_ in (1, 2)] == ["similarity", "similarity"]


def use(parts: Parts, org: str, searches: int) -> None:
    """Let members of an organisation search, and call the second tool."""
    for number in range(searches):
        # A caller counts for a tool three times a day.
        caller = Caller(org_id=org, name=f"caller {number // 3}", scopes=frozenset({Scope.SEARCH}))
        request = SearchRequest(query=f"pass the news on to colleague {number % 4}", limit=3)
        found = parts.tool_search.search(request, caller, door="http")
        parts.learning.report([Reported(UUID(found.metadata.search_id), "succeeded", 2)], caller)
    assert parts.receipts is not None
    assert parts.receipts.flush()


def test_the_learn_function_learns_with_its_own_settings_and_takes_its_work_off(load: Load, parts: Parts) -> None:
    write(parts, 3)
    use(parts, "acme", 120)
    assert call(load("relay"), "schedule_relay")["due"] == 1
    assert waiting(parts, LEARN) == ["org/acme"]

    own = Parts(LearnSettings.load())
    try:
        assert learn_handler(parts=own)(event("sqs_learn"), Invocation("skillroute", 60)) == {"batchItemFailures": []}
    finally:
        own.close()

    assert waiting(parts, LEARN) == []
    [state] = parts.database.read(lambda session: StateRepository(session).list("acme"))
    assert (state.requests > 0, state.report["searches"], state.report["held_out"] >= 20) == (True, 120, True)
    assert call(load("relay"), "schedule_relay")["due"] == 0


def test_the_learn_function_is_done_with_an_organisation_that_has_too_little_to_learn_from(
    load: Load, parts: Parts
) -> None:
    write(parts, 3)
    use(parts, "acme", 2)
    assert call(load("relay"), "schedule_relay")["due"] == 1
    assert call(load("learn"), "sqs_learn") == {"batchItemFailures": []}
    assert waiting(parts, LEARN) == []
    assert call(load("relay"), "schedule_relay")["due"] == 0


def test_the_relay_publishes_what_waits(load: Load, parts: Parts) -> None:
    write(parts, 2)
    parts.database.transact(lambda session: OutboxRepository(session).publish_all_again())

    report = call(load("relay"), "schedule_relay")

    assert report["published"] >= 2
    assert report["failed"] == []
    assert {each["queue"]: each["dead"] for each in report["depths"]} == {"classify": 0, "aggregate": 0, "learn": 0}
