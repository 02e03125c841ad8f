"""The event pump: what Lambda does with queues, over moto's SQS and a real outbox."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import ClassifierUnavailable, DatabaseUnavailable
from skillroute.core.notification.log import LogNotifier
from skillroute.core.observability import counts
from skillroute.core.queue.consumer import Consumer
from skillroute.core.queue.dead_letters import DeadLetters
from skillroute.core.queue.failed_work import FailedWork
from skillroute.core.queue.outbox import Failure, OutboxRepository
from skillroute.core.queue.port import QueueDepth
from skillroute.core.queue.sqs import SqsQueue
from skillroute.core.queue.work import queues
from skillroute.core.settings import LocalSettings
from skillroute.skills.classification.consumer import classify_consumer
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.queues import CLASSIFY
from skillroute.wiring import Parts
from skillroute_local.pump import Loop, QueueLoop, RelayLoop, SeeLoop
from skillroute_local.queue_server import QueueServer, ensure_queues, find_queues, queue_environment, sqs_client
from skillroute_local.supervisor import Pump

from tests.doubles import LogRecords
from tests.e2e.processes import eventually

ROOT = Path(__file__).parents[3]
TOOL = {"server": "garden", "name": "water_plants", "description": "Opens the valves of the irrigation."}


class World:
    """Queues whose messages come again at once, a database, and loops that carry from the one to the other."""

    def __init__(self, endpoint: str, database_url: str) -> None:
        self.endpoint = endpoint
        self.urls = ensure_queues(endpoint)
        self.client = sqs_client(endpoint)
        for url in self.urls.values():
            self.client.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "0"})
        self.queue = SqsQueue(
            {name: self.urls[f"skillroute-{name}"] for name in queues()},
            dead_letter_urls={name: self.urls[f"skillroute-{name}-dlq"] for name in queues()},
            endpoint_url=endpoint,
        )
        settings = LocalSettings(
            database_url=database_url,
            embedding_provider="hashing",
            aggregate_delay_s=0,
        )
        self.parts = Parts(settings, queue=self.queue)
        self.failed_work = FailedWork(self.parts.database, LogNotifier())
        self.classified: list[int] = []
        self._stop = threading.Event()
        self._loops: list[Loop] = []

    def put(self, *names: str) -> list[int]:
        """Store tools, whose work is published, and return their ids."""
        report = self.parts.catalogue.sync([TOOL | {"name": name} for name in names], LAPTOP)
        return [outcome.id for outcome in report.outcomes if outcome.id is not None]

    def handler(self, fails: Callable[[int], bool] = lambda _: False) -> Consumer:
        """Return the consumer that Lambda runs, with a classifier that fails when a test says so."""

        def classify(tool_ids: Sequence[int]) -> Mapping[int, object]:
            results: dict[int, object] = {}
            for tool_id in tool_ids:
                if fails(tool_id):
                    results[tool_id] = ClassifierUnavailable("the classifier is throttled")
                    continue
                self.done(tool_id)
                results[tool_id] = "classified"
            return results

        return classify_consumer(classify, self.failed_work)

    def done(self, tool_id: int) -> None:
        def remove(session: Any) -> None:
            OutboxRepository(session).done(CLASSIFY, OutboxRepository(session).versions(CLASSIFY, [str(tool_id)]))

        self.parts.database.transact(remove)
        self.classified.append(tool_id)

    def pump(self, handler: Consumer) -> None:
        """Start a loop that carries the classify queue's messages to a handler."""
        self.start(QueueLoop(CLASSIFY, self.client, self.urls["skillroute-classify"], handler, self._stop))

    def relay(self, handler: Consumer, every_s: float) -> None:
        self.start(RelayLoop(handler, self._stop, every_s=every_s))

    def start(self, loop: Loop) -> None:
        self._loops.append(loop)
        loop.start()

    def messages(self) -> int:
        """How many messages of the classify queue are not done yet."""
        return self.depth().ready + self.depth().under_way

    def depth(self) -> QueueDepth:
        return next(each for each in self.queue.depths() if each.queue == CLASSIFY)

    def dead(self) -> list[str | None]:
        return [letter.key for letter in self.queue.dead_letters(CLASSIFY, limit=100)]

    def failure(self, tool_id: int) -> Failure:
        [found] = self.parts.database.read(lambda session: OutboxRepository(session).failures(CLASSIFY, [str(tool_id)]))
        return found

    def close(self) -> None:
        self._stop.set()
        for loop in self._loops:
            loop.join()
        for url in self.urls.values():
            self.client.delete_queue(QueueUrl=url)
        self.parts.close()
        self.queue.close()
        self.client.close()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with QueueServer() as server:
        yield server.url


@pytest.fixture
def world(endpoint: str, database_url: str) -> Iterator[World]:
    with closing(World(endpoint, database_url)) as world:
        yield world


class TestQueues:
    def test_what_is_written_is_classified_and_its_message_deleted(self, world: World) -> None:
        world.pump(world.handler())

        ids = world.put("a", "b", "c")

        eventually(lambda: sorted(world.classified) == ids, "all are classified")
        eventually(lambda: world.messages() == 0, "their messages are gone")

    def test_the_event_is_as_lambda_makes_it(self, world: World) -> None:
        events: list[Mapping[str, Any]] = []

        def keep(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
            events.append(event)
            assert context.get_remaining_time_in_millis() > 100_000
            return {"batchItemFailures": []}

        [tool_id] = world.put("a")
        world.pump(keep)

        [record] = eventually(lambda: events, "the handler is called")[0]["Records"]
        real = json.loads((ROOT / "events" / "sqs_classify.json").read_text(encoding="utf-8"))["Records"][0]
        assert record.keys() == real.keys()
        assert record["attributes"].keys() >= real["attributes"].keys()
        assert json.loads(record["body"]) == {"tool_id": tool_id}
        assert record["attributes"]["ApproximateReceiveCount"] == "1"
        assert record["eventSourceARN"] == "arn:aws:sqs:us-east-1:123456789012:skillroute-classify"

    def test_only_what_failed_comes_again(self, world: World) -> None:
        good, bad, other = world.put("good", "bad", "other")
        tries: list[int] = []

        def twice(tool_id: int) -> bool:
            if tool_id == bad:
                tries.append(tool_id)
            return tool_id == bad and len(tries) < 3

        world.pump(world.handler(twice))

        eventually(lambda: bad in world.classified, "it succeeds at last")
        eventually(lambda: world.messages() == 0, "all messages are gone")
        assert sorted(world.classified) == sorted([good, bad, other])
        assert len(tries) == 3
        assert world.dead() == []

    def test_what_always_fails_is_given_up_with_its_reason_and_can_be_redriven(self, world: World) -> None:
        good, bad = world.put("good", "bad")
        is_away = [True]
        world.pump(world.handler(lambda tool_id: tool_id == bad and is_away[0]))

        # GIVEN it was received five times, and given up
        eventually(lambda: world.depth().dead, "it lies in the dead-letter queue")
        assert world.dead() == [str(bad)]
        noted = world.failure(bad)
        assert (noted.attempts, noted.last_error) == (5, "the classifier is throttled")
        assert noted.dead_at is not None
        assert world.classified == [good]
        dead_letters = DeadLetters(world.parts.database, world.queue, world.parts.dispatch)
        [shown] = dead_letters.given_up(CLASSIFY)
        assert (shown.key, shown.tool_name) == (str(bad), "garden/bad")

        # WHEN the cause is gone and it is redriven
        is_away[0] = False
        assert dead_letters.redrive(CLASSIFY) == [str(bad)]

        # THEN it is done, once
        eventually(lambda: world.classified == [good, bad], "it is classified")
        eventually(lambda: world.messages() == 0, "its message is gone")
        assert dead_letters.given_up(CLASSIFY) == []

    def test_a_message_that_cannot_be_read_is_given_up_and_can_be_dropped(self, world: World) -> None:
        world.client.send_message(QueueUrl=world.urls["skillroute-classify"], MessageBody="what is this?")
        before = counts().get("MessagesGivenUp", 0)
        world.pump(world.handler())

        eventually(lambda: world.depth().dead, "it lies in the dead-letter queue")

        assert counts()["MessagesGivenUp"] == before + 1
        dead_letters = DeadLetters(world.parts.database, world.queue, world.parts.dispatch)
        [dropped] = dead_letters.drop(CLASSIFY)
        assert dropped.reason == "it cannot be read: body: is not JSON"
        assert world.dead() == []

    def test_when_the_handler_raises_nothing_is_deleted(self, world: World) -> None:
        [tool_id] = world.put("a")
        handle, calls = world.handler(), []

        def fails_once(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
            calls.append(1)
            if len(calls) == 1:
                raise ZeroDivisionError("out of memory, say")
            if len(calls) == 2:
                return {"batchItemFailures": [{"itemIdentifier": "of another batch"}]}
            return handle(event, context)

        with LogRecords().attached() as log:
            world.pump(fails_once)
            eventually(lambda: world.classified == [tool_id], "it comes again")

        assert len(log.having("handler failed")) == 1
        assert len(log.having("handler named messages that are not of its batch")) == 1

    def test_two_pumps_do_no_harm(self, world: World) -> None:
        world.pump(world.handler())
        world.pump(world.handler())

        ids = world.put(*(f"n{number}" for number in range(40)))
        world.parts.dispatch.backlog(within_s=60.0)  # a slow machine publishes less than all of it after the commit

        eventually(lambda: set(world.classified) == set(ids), "all are classified")
        eventually(lambda: world.messages() == 0, "all messages are gone")
        waiting = world.parts.database.read(lambda session: OutboxRepository(session).waiting(CLASSIFY, 100))
        assert waiting == []


class TestRelay:
    def test_it_runs_at_once_and_again_whatever_becomes_of_it(self, world: World) -> None:
        sources: list[str] = []

        def relay(event: Mapping[str, Any], _context: Any) -> dict[str, Any]:
            sources.append(event["source"])
            if len(sources) == 1:
                raise DatabaseUnavailable("PostgreSQL cannot be reached")
            if len(sources) == 2:
                raise ZeroDivisionError("by zero")
            return {}

        with LogRecords().attached() as log:
            world.relay(relay, every_s=0.01)
            eventually(lambda: len(sources) > 2, "it runs again")

        assert set(sources) == {"aws.scheduler"}
        assert len(log.having("relay failed")) == 2


@pytest.fixture
def env(endpoint: str, database_url: str) -> dict[str, str]:
    """What a pump's process sees."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SKILLROUTE_")}
    return (
        kept
        | queue_environment(endpoint, ensure_queues(endpoint))
        | {
            "SKILLROUTE_DATABASE_URL": database_url,
            "SKILLROUTE_EMBEDDING_PROVIDER": "hashing",
            "SKILLROUTE_LOG_LEVEL": "ERROR",
        }
    )


_PARENT = """
import os, time
from skillroute_local.supervisor import Pump
pump = Pump(os.environ).start()
while pump.pid is None:
    time.sleep(0.005)
print(pump.pid, flush=True)
"""


class TestTheProcess:
    def test_it_takes_up_what_waits_and_is_started_again_when_it_is_killed(
        self, world: World, env: dict[str, str], kill: Callable[[int], None]
    ) -> None:
        with ExitStack() as stack:
            # GIVEN work that nobody published
            [first] = world.put("first")
            url = world.urls["skillroute-classify"]
            [message] = world.client.receive_message(QueueUrl=url)["Messages"]
            world.client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            world.parts.database.transact(lambda session: OutboxRepository(session).publish_all_again())
            pump = stack.enter_context(Pump(env))
            pid = eventually(lambda: pump.pid, "it runs")

            # THEN the first relay publishes it, and it is done
            eventually(lambda: self.is_decided(world, first), "it is classified")

            # WHEN it is killed, another one takes its place
            kill(pid)
            eventually(lambda: pump.pid not in {None, pid}, "another one runs")
            [second] = world.put("second")
            eventually(lambda: self.is_decided(world, second), "it is classified")
            last = eventually(lambda: pump.pid, "it runs")

        assert pump.pid is None
        assert not psutil.pid_exists(last)

    def test_it_ends_with_its_parent(
        self,
        env: dict[str, str],
        monkeypatch: pytest.MonkeyPatch,
        run_and_kill: Callable[..., tuple[int, str]],
        has_ended: Callable[[psutil.Process], bool],
    ) -> None:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        _, pid = run_and_kill(_PARENT)

        with suppress(psutil.NoSuchProcess):
            assert has_ended(psutil.Process(int(pid)))

    def test_a_missing_setting_is_one_line(self, env: dict[str, str], capfd: pytest.CaptureFixture[str]) -> None:
        del env["SKILLROUTE_SQS_ENDPOINT_URL"]
        with Pump(env):
            line = eventually(lambda: capfd.readouterr().err, "it says what is missing")
        assert line == ("skillroute pump: the pump needs SKILLROUTE_SQS_ENDPOINT_URL and the URLs of all queues\n")

    def is_decided(self, world: World, tool_id: int) -> bool:
        """Whether a classifier has decided on a tool."""
        tools = world.parts.database.read(lambda session: ClassificationRepository(session).tools([tool_id], None))
        return tools[tool_id].decided_by is not None


def test_the_queues_that_were_made_are_found(endpoint: str) -> None:
    assert find_queues(endpoint) == ensure_queues(endpoint)


def test_servers_are_asked_again_by_its_schedule_and_not_as_it_starts() -> None:
    asked: list[object] = []
    stop = threading.Event()

    def handler(event: object, _: object) -> Any:
        asked.append(event)
        stop.set()
        return {}

    loop = SeeLoop(handler, stop, every_s=0.01)
    assert loop._turn() == 0.01
    assert asked == []
    loop.start()
    loop.join()
    assert asked == [{"see_again": True}]
