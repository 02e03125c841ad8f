"""Under `sam local start-lambda`: every event to warm containers, and the queues between them.

What one container queues another one does, carried by the event pump. The tests share the containers, each of which
takes some seconds to start, and find an empty database and empty queues.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from skillroute_local.handlers import lambda_client
from skillroute_local.queue_server import queue_environment, sqs_client
from skillroute_local.supervisor import Pump

from tests.e2e.processes import eventually
from tests.events import ADMIN_ROLE, answer, event
from tests.sam.cli import FUNCTIONS, logical_id
from tests.sam.walk import walk
from tests.sam.world import World, invoke
from tests.scenario import SIGNED

Make = Callable[..., AbstractContextManager[World]]

IAM = ("AuthMode=iam", f"AdminRoleArns={ADMIN_ROLE}")
_WITHIN_S = 150.0
_MOUNTED = re.compile(r"Mounting \S+/(\w+) as /var/task")  # a line of each container's start
# Longer than a batch takes in a warm container on a busy machine, or its messages would come twice; so short that five
# tries, 50 s of waiting, are over well before the test gives up. The real queues wait six minutes.
_VISIBILITY_TIMEOUT_S = 10

# One tool that cannot be classified, whatever is tried, and a count of what was stored for the others.
_A_TOOL_FAILS = """
CREATE TABLE public.stored (tool_id bigint);
CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.tool_id = {tool_id} THEN RAISE EXCEPTION 'this one never' USING ERRCODE = 'XX001'; END IF;
    INSERT INTO public.stored VALUES (NEW.tool_id);
    RETURN NEW;
END $$;
CREATE TRIGGER note BEFORE INSERT ON mcp.tool_classifications FOR EACH ROW EXECUTE FUNCTION public.note();
"""
_FAILS_NO_MORE = "DROP TRIGGER note ON mcp.tool_classifications; DROP FUNCTION public.note; DROP TABLE public.stored"


@pytest.fixture(scope="module")
def _served(make_world: Make) -> Iterator[tuple[World, str]]:
    with make_world(*IAM) as world, world.sam.serving("start-lambda") as endpoint:
        yield world, endpoint


@pytest.fixture
def world(_served: tuple[World, str]) -> Iterator[World]:
    """What stands behind warm containers, empty. Once a function has one it needs no other."""
    world, _ = _served
    world.empty()
    yield world
    started = containers(world)
    assert set(started.values()) == {1}, f"each container stays warm: {started}"


@pytest.fixture
def endpoint(_served: tuple[World, str]) -> str:
    return _served[1]


@pytest.fixture
def client(endpoint: str) -> Iterator[Any]:
    client = lambda_client(endpoint)
    yield client
    client.close()


@contextmanager
def pump(world: World, endpoint: str) -> Iterator[Pump]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SKILLROUTE_")}
    with Pump(kept | queue_environment(world.sqs_url, world.queues), "--lambda-endpoint", endpoint) as running:
        yield running


def put(client: Any, *names: str) -> list[int]:
    """Write tools through the catalogue's container, and return their ids."""
    request = event("catalog_put")
    items = [{"type": "tool", "server": "garden", "name": name, "description": f"Waters {name}."} for name in names]
    request["body"] = json.dumps({"items": items})
    request["headers"]["content-length"] = str(len(request["body"].encode()))
    status, report = answer(invoke(client, "catalog", request))
    assert (status, report["failed"]) == (200, 0)
    return [result["id"] for result in report["results"]]


def test_every_event_when_aws_signatures_vouch(world: World, client: Any, say: Callable[[str], None]) -> None:
    walk(lambda function, name: invoke(client, function, event(name)), SIGNED, say)
    assert set(containers(world)) == {logical_id(function) for function in FUNCTIONS}


def test_a_classification_that_one_container_queues_is_done_by_another(
    world: World, endpoint: str, client: Any, say: Callable[[str], None]
) -> None:
    with world.sql() as sql:
        assert answer(invoke(client, "skills", event("skills_create")))[0] == 201
        assert answer(invoke(client, "catalog", event("catalog_put")))[0] == 200
        say("written by the skills and catalogue containers; nobody has classified")
        assert sql("SELECT count(*) FROM mcp.tool_classifications") == [[0]]

        with pump(world, endpoint):
            say("the pump hands it to the containers of classify, aggregate and relay")
            eventually(lambda: sql("SELECT count(*) FROM mcp.outbox") == [[0]], "nothing waits", within_s=_WITHIN_S)

        assert sql("SELECT DISTINCT classifier FROM mcp.tool_classifications") == [["similarity"]]
        status, found = answer(invoke(client, "search", event("search")))
        assert status == 200
        assert found["matched_skills"][0]["id"] == "calendar_management"
        assert found["tools"][0]["skill_ids"] == ["calendar_management"]
        used = {"skills", "catalog", "classify", "aggregate", "relay", "search"}
        assert {logical_id(function) for function in used} <= set(containers(world))


def test_a_message_that_always_fails_is_given_up_after_five_tries_and_the_nine_beside_it_succeed_once(
    world: World, endpoint: str, client: Any, say: Callable[[str], None]
) -> None:
    queue, dead = world.queues["skillroute-classify"], world.queues["skillroute-classify-dlq"]
    sqs = sqs_client(world.sqs_url)
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": str(_VISIBILITY_TIMEOUT_S)})
    assert invoke(client, "classify", {"Records": []}) == {"batchItemFailures": []}  # warm from here on
    ids = put(client, *(f"bed_{number}" for number in range(10)))
    with world.sql() as sql, failing(sql, ids[3]):

        def given_up() -> bool:
            attributes = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["ApproximateNumberOfMessages"])
            return bool(attributes["Attributes"]["ApproximateNumberOfMessages"] == "1")

        with pump(world, endpoint):
            eventually(given_up, "it lies in the dead-letter queue", within_s=_WITHIN_S)
        say("given up")

        stored = Counter(row[0] for row in sql("SELECT tool_id FROM public.stored"))
        assert stored == dict.fromkeys([each for each in ids if each != ids[3]], 1)
        columns = "SELECT key, attempts, last_error, dead_at IS NOT NULL FROM mcp.outbox WHERE queue = 'classify'"
        [[key, attempts, reason, is_dead]] = sql(columns)
        assert (key, attempts, is_dead) == (str(ids[3]), 5, True)
        assert "this one never" in reason
        [letter] = sqs.receive_message(QueueUrl=dead)["Messages"]
        assert json.loads(letter["Body"]) == {"tool_id": ids[3]}
    sqs.close()


@contextmanager
def failing(sql: Callable[..., Any], tool_id: int) -> Iterator[None]:
    """Let the classification of one tool fail for the length of a block, and note what is stored of others."""
    for statement in _A_TOOL_FAILS.format(tool_id=tool_id).split("\n\n"):
        sql(statement)
    try:
        yield
    finally:
        for statement in _FAILS_NO_MORE.split("; "):
            sql(statement)


def containers(world: World) -> Counter[str]:
    """Return how many containers sam has started of each function."""
    return Counter(_MOUNTED.findall(world.sam.log("start-lambda")))
