"""The part of Health about queues, without a browser: what waits, what was given up, and trying it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.errors.model import DatabaseUnavailable, QueueUnavailable
from skillroute.skills.queues import CLASSIFY

from tests.api.local.console.conftest import page_of
from tests.builders import System, lent_system
from tests.component.core.queue.clocked import Clocked
from tests.doubles import EdgeIndexes


@pytest.fixture
def queued(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, queue=Clocked()) as system:
        yield system


@pytest.fixture
def page(queued: System, requests: Path) -> TestClient:
    return page_of(queued, requests, lend=lambda: nullcontext(queued.parts))


def work_of(page: TestClient) -> dict[str, Any]:
    answer = page.post("/do/health/work", json={})
    assert answer.status_code == 200, answer.text
    work: dict[str, Any] = answer.json()
    return work


def queues_of(page: TestClient) -> dict[str, Any]:
    answer = page.post("/do/health/queues", json={})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def redriven(page: TestClient, *keys: object) -> list[Any]:
    """Try work of the queue classify again; return the events."""
    chosen = [{"queue": "classify", "key": str(key)} for key in keys]
    answer = page.post("/do/health/redrive_chosen", json={"chosen": chosen})
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_what_waits_is_counted(page: TestClient, queued: System) -> None:
    queued.put("water", "mow")
    [classify, aggregate, _] = work_of(page)["queues"]
    assert (classify["queue"], classify["waiting"], classify["given_up"]) == ("classify", 2, 0)
    assert (aggregate["queue"], aggregate["waiting"]) == ("aggregate", 0)
    assert work_of(page)["given_up"] == []


def test_what_was_given_up_comes_with_its_reason_and_is_tried_again(page: TestClient, queued: System) -> None:
    water, mow = queued.put("water", "mow", server="garden")
    queued.sql("UPDATE mcp.outbox SET dead_at = now(), attempts = 5, last_error = 'the model is away'")

    listed = {work["key"]: work for work in work_of(page)["given_up"]}
    assert listed.keys() == {str(water), str(mow)}
    letter = listed[str(water)]
    assert (letter["tool_name"], letter["reason"], letter["attempts"]) == ("garden/water", "the model is away", 5)
    assert letter["is_waiting"]

    assert work_of(page)["reasons"] == [{"reason": "the model is away", "count": 2}]

    assert redriven(page, water) == [{"done": 1, "of": 1}, {"again": 1, "left": []}]
    assert [work["key"] for work in work_of(page)["given_up"]] == [str(mow)]
    assert page.post("/do/health/redrive_all", json={"queue": "classify"}).json() == [str(mow)]
    assert work_of(page)["given_up"] == []


def test_many_are_tried_again_with_progress_and_what_could_not_be_says_why(page: TestClient, queued: System) -> None:
    ids = queued.put(*(f"tool_{number}" for number in range(60)))
    queued.sql("UPDATE mcp.outbox SET dead_at = now(), last_error = 'the model is away'")

    *progress, result = redriven(page, *ids, "gone")
    assert progress == [{"done": 50, "of": 61}, {"done": 61, "of": 61}]
    assert result["again"] == 60
    [left] = result["left"]
    assert (left["queue"], left["key"]) == ("classify", "gone")
    assert "not given up any more" in left["why"]


def test_queues_that_are_away_are_the_reason_of_what_was_not_tried_again(page: TestClient, queued: System) -> None:
    [water] = queued.put("water")
    queued.sql("UPDATE mcp.outbox SET dead_at = now()")
    queued.parts.queue.down = True  # type: ignore[union-attr]
    _, result = redriven(page, water)
    assert result["again"] == 0
    assert result["left"][0]["why"] == QueueUnavailable.public_message


def test_messages_that_lead_nowhere_are_removed_and_what_can_be_tried_again_stays(
    page: TestClient, queued: System
) -> None:
    def letters() -> dict[str | None, dict[str, Any]]:
        return {work["key"]: work for work in work_of(page)["given_up"]}

    water, mow = map(str, queued.put("water", "mow"))
    clocked = queued.parts.queue
    assert isinstance(clocked, Clocked)
    queued.parts.dispatch()
    while clocked.receive(CLASSIFY):
        clocked.clock.advance(1000)
    queued.sql("DELETE FROM mcp.tools WHERE name = 'mow'")
    found = letters()
    assert {key: work["is_waiting"] for key, work in found.items()} == {water: True, mow: False}

    chosen = [{"queue": "classify", "message_id": work["message_id"]} for work in found.values()]
    other = {"queue": "classify", "message_id": "of another"}
    assert page.post("/do/health/drop_chosen", json={"chosen": [other]}).json() == 0
    assert page.post("/do/health/drop_chosen", json={"chosen": chosen}).json() == 1
    assert letters().keys() == {water}
    assert page.post("/do/health/drop_chosen", json={"chosen": chosen}).json() == 0


def test_states_say_what_is_wrong_and_what_helps(page: TestClient, queued: System) -> None:
    queued.put("water", "mow")
    state = queues_of(page)["queues"][0]["state"]
    assert (state["kind"], state["word"], state["help"]) == ("ok", "waits", "")

    queued.sql("UPDATE mcp.outbox SET created_at = now() - interval '16 minutes'")
    [finding] = queues_of(page)["findings"]
    assert (finding["at"], finding["kind"], finding["what"]) == ("queues", "no", "classify: not worked on")
    assert "make run" in finding["help"]

    queued.sql("UPDATE mcp.outbox SET dead_at = now() WHERE key = (SELECT min(key) FROM mcp.outbox)")
    found = queues_of(page)["findings"]
    assert [(each["at"], each["what"]) for each in found] == [
        ("queues", "classify: not worked on"), ("failed", "classify: 1 given up"),
    ]  # fmt: skip


def test_texts_that_the_model_refused_are_shown_and_asked_for_again(page: TestClient, queued: System) -> None:
    queued.embedder.refuses = lambda text: "poison" in text
    queued.put("good", "poison")

    work = work_of(page)
    assert work["refused_in_all"] == 1
    [text] = work["refused"]
    assert (text["collection"], text["name"]) == ("tools", "poison")
    assert "does not take" in text["reason"]

    assert page.post("/do/health/retry", json={}).json() == [text["key"]]
    assert work_of(page)["refused"] == []


def test_an_unknown_queue_is_refused(page: TestClient) -> None:
    answer = page.post("/do/health/redrive_all", json={"queue": "everything"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_without_the_database_nothing_is_known_and_nothing_is_changed(queued: System, requests: Path) -> None:
    page = page_of(queued, requests)
    assert page.post("/do/health/work", json={}).json() is None
    assert page.post("/do/health/queues", json={}).json() is None
    assert page.post("/do/health/redrive_all", json={"queue": "classify"}).status_code == 404
    assert page.post("/do/health/redrive_chosen", json={"chosen": []}).status_code == 404
    assert page.post("/do/health/drop_chosen", json={"chosen": []}).status_code == 404
    assert page.post("/do/health/retry", json={}).status_code == 404


def test_a_database_that_is_away_is_an_error_with_what_helps(page: TestClient, queued: System) -> None:
    queued.database.down = True
    answer = page.post("/do/health/work", json={})
    assert answer.status_code == 503
    assert "skillroute status" in answer.json()["remedy"]
    assert answer.json()["detail"] == DatabaseUnavailable.public_message
