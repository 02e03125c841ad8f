"""What every queue must do: the same tests for SQS, which moto plays, and for the double in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any, Protocol

import pytest
from botocore.exceptions import ClientError
from skillroute.core.errors.model import QueueUnavailable
from skillroute.core.queue.memory import MemoryQueue
from skillroute.core.queue.port import Queue, QueueDepth
from skillroute.core.queue.sqs import SqsQueue, sqs_client
from skillroute.core.queue.work import WorkQueue, queues
from skillroute.skills.queues import AGGREGATE, CLASSIFY
from skillroute_local.loopback import free_port


class World(Protocol):
    """A queue, and the other side of it."""

    queue: Queue

    def receive(self, name: WorkQueue) -> list[Any]:
        """Receive up to ten messages and return what they carry."""
        ...

    def groups(self, name: WorkQueue) -> dict[str, str | None]:
        """Receive up to ten messages and return their groups by what they carry."""
        ...

    def bury(self, name: WorkQueue, *bodies: str, group: str | None = None) -> None:
        """Let messages be received until they lie in the dead-letter queue."""
        ...


class SqsWorld:
    def __init__(self, endpoint: str) -> None:
        self._client = sqs_client(endpoint_url=endpoint, region="us-east-1")
        dead = {name: self._made(f"{name}-test-dlq") for name in queues()}
        self.urls = {name: self._made(f"{name}-test") for name in queues()}
        self._dead = dead
        self.queue = SqsQueue(self.urls, dead_letter_urls=dead, endpoint_url=endpoint)

    def receive(self, name: WorkQueue) -> list[Any]:
        answer = self._client.receive_message(QueueUrl=self.urls[name], MaxNumberOfMessages=10)
        return [json.loads(message["Body"]) for message in answer.get("Messages", [])]

    def groups(self, name: WorkQueue) -> dict[str, str | None]:
        answer = self._client.receive_message(
            QueueUrl=self.urls[name], MaxNumberOfMessages=10, MessageSystemAttributeNames=["MessageGroupId"]
        )
        return {
            message["Body"]: message.get("Attributes", {}).get("MessageGroupId")
            for message in answer.get("Messages", [])
        }

    def bury(self, name: WorkQueue, *bodies: str, group: str | None = None) -> None:
        named = {} if group is None else {"MessageGroupId": group}
        for body in bodies:
            self._client.send_message(QueueUrl=self._dead[name], MessageBody=body, **named)

    def close(self) -> None:
        for url in (*self.urls.values(), *self._dead.values()):
            self._client.delete_queue(QueueUrl=url)
        self._client.close()
        self.queue.close()

    def _made(self, name: str) -> str:
        url: str = self._client.create_queue(QueueName=name)["QueueUrl"]
        return url


class MemoryWorld:
    def __init__(self) -> None:
        self.queue = MemoryQueue(max_receives=1, visibility_timeout_s=0.0)

    def receive(self, name: WorkQueue) -> list[Any]:
        return [json.loads(message.body) for message in self.queue.receive(name)]

    def groups(self, name: WorkQueue) -> dict[str, str | None]:
        return {message.body: message.group for message in self.queue.receive(name)}

    def bury(self, name: WorkQueue, *bodies: str, group: str | None = None) -> None:
        for body in bodies:
            self.queue.send_text(name, body, group=group)
        while self.queue.receive(name):
            pass

    def close(self) -> None:
        self.queue.close()


class WithoutGroups:
    """A client of a queue as it was before fair queues: it refuses groups, the whole call or message by message."""

    def __init__(self, refuses: str, *, also: str = "no message") -> None:
        self.bodies: list[str] = []
        self.calls = 0
        self._refuses = refuses
        self._also = also

    def send_message_batch(self, QueueUrl: str, Entries: list[Any]) -> dict[str, Any]:  # noqa: N803
        self.calls += 1
        refused = [entry for entry in Entries if "MessageGroupId" in entry or self._also in entry["MessageBody"]]
        if refused and self._refuses == "the call":
            raise ClientError({"Error": {"Code": "InvalidParameterValue", "Message": "no groups"}}, "SendMessageBatch")
        self.bodies += [entry["MessageBody"] for entry in Entries if entry not in refused]
        return {"Failed": [{"Id": entry["Id"], "Code": "InvalidParameterValue"} for entry in refused]}

    def close(self) -> None: ...


@pytest.fixture(params=["sqs", "memory"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    made = SqsWorld(request.getfixturevalue("sqs_endpoint")) if request.param == "sqs" else MemoryWorld()
    with closing(made):
        yield made


def depth(world: World, name: WorkQueue) -> QueueDepth:
    return next(each for each in world.queue.depths() if each.queue == name)


def keys(world: World, name: WorkQueue) -> list[str | None]:
    return sorted((letter.key for letter in world.queue.dead_letters(name, limit=100)), key=str)


def test_what_is_sent_is_received(world: World) -> None:
    world.queue.send(CLASSIFY, [{"tool_id": 7}])

    assert world.receive(CLASSIFY) == [{"tool_id": 7}]
    assert world.receive(AGGREGATE) == []


def test_more_messages_than_fit_into_one_call_all_arrive(world: World) -> None:
    world.queue.send(CLASSIFY, [{"tool_id": number} for number in range(1, 26)])

    assert depth(world, CLASSIFY) == QueueDepth(CLASSIFY, ready=25, under_way=0, delayed=0, dead=0)


def test_a_message_has_its_group_beside_its_body(world: World) -> None:
    world.queue.send(CLASSIFY, [{"tool_id": 7}, {"tool_id": 8}, {"tool_id": 9}], groups=["org-a", "global", None])

    assert world.groups(CLASSIFY) == {'{"tool_id": 7}': "org-a", '{"tool_id": 8}': "global", '{"tool_id": 9}': None}


def test_messages_of_one_group_do_not_wait_for_each_other(world: World) -> None:
    world.queue.send(CLASSIFY, [{"tool_id": number} for number in range(1, 26)], groups=["org-a"] * 25)

    # Not deleted in between, as in a queue that keeps the order of each group they would have to be.
    assert [len(world.receive(CLASSIFY)) for _ in range(2)] == [10, 10]


def test_a_group_for_each_message_or_none_at_all(world: World) -> None:
    with pytest.raises(ValueError, match="zip"):
        world.queue.send(CLASSIFY, [{"tool_id": 7}], groups=["org-a", "org-b"])


def test_nothing_is_sent_for_nothing(world: World) -> None:
    world.queue.send(CLASSIFY, [])

    assert depth(world, CLASSIFY).ready == 0


def test_a_delayed_message_waits(world: World) -> None:
    world.queue.send(AGGREGATE, [{"skill_id": "files"}], delay_s=60)

    assert world.receive(AGGREGATE) == []
    assert depth(world, AGGREGATE) == QueueDepth(AGGREGATE, ready=0, under_way=0, delayed=1, dead=0)


def test_dead_letters_are_shown_and_stay(world: World) -> None:
    world.bury(CLASSIFY, '{"tool_id": 7}', '{"tool_id": 8}')

    first, second = world.queue.dead_letters(CLASSIFY, limit=10)

    assert {first.key, second.key} == {"7", "8"}
    assert first.problem is None
    assert first.since is not None
    assert keys(world, CLASSIFY) == ["7", "8"]
    assert depth(world, CLASSIFY).dead == 2
    assert world.queue.dead_letters(AGGREGATE, limit=10) == []


def test_no_more_dead_letters_are_shown_than_were_asked_for(world: World) -> None:
    world.bury(CLASSIFY, *(json.dumps({"tool_id": number}) for number in range(1, 16)))

    assert len(world.queue.dead_letters(CLASSIFY, limit=3)) == 3
    assert len(world.queue.dead_letters(CLASSIFY, limit=100)) == 15


def test_a_dead_letter_that_cannot_be_read_says_why(world: World) -> None:
    world.bury(AGGREGATE, "what is this?")

    [letter] = world.queue.dead_letters(AGGREGATE, limit=10)

    assert (letter.key, letter.body, letter.problem) == (None, "what is this?", "body: is not JSON")


def test_redriven_messages_are_received_again(world: World) -> None:
    world.bury(CLASSIFY, '{"tool_id": 7}', '{"tool_id": 8}')

    assert world.queue.redrive(CLASSIFY, ["8", "9"]) == ["8"]

    assert keys(world, CLASSIFY) == ["7"]
    assert world.receive(CLASSIFY) == [{"tool_id": 8}]


def test_a_redriven_message_keeps_its_group(world: World) -> None:
    world.bury(CLASSIFY, '{"tool_id": 7}', group="org-a")

    world.queue.redrive(CLASSIFY, None)

    assert world.groups(CLASSIFY) == {'{"tool_id": 7}': "org-a"}


def test_all_that_can_be_read_is_redriven(world: World) -> None:
    world.bury(CLASSIFY, '{"tool_id": 7}', '{"tool_id": "x"}', '{"tool_id": 8}')

    assert sorted(world.queue.redrive(CLASSIFY, None)) == ["7", "8"]

    assert keys(world, CLASSIFY) == [None]
    assert depth(world, CLASSIFY).ready == 2


def test_dropped_dead_letters_are_gone(world: World) -> None:
    world.bury(CLASSIFY, '{"tool_id": 7}', "{}")
    [bad] = [letter for letter in world.queue.dead_letters(CLASSIFY, limit=10) if letter.key is None]

    assert world.queue.drop(CLASSIFY, [bad.message_id]) == 1

    assert keys(world, CLASSIFY) == ["7"]
    assert world.queue.drop(CLASSIFY, [bad.message_id]) == 0


class TestSqs:
    """What only the real one can do."""

    def test_an_endpoint_where_nothing_answers(self) -> None:
        url = f"http://127.0.0.1:{free_port()}"
        with closing(SqsQueue({CLASSIFY: f"{url}/1/classify"}, endpoint_url=url)) as queue:
            with pytest.raises(QueueUnavailable, match=r"^SQS cannot be reached: "):
                queue.send(CLASSIFY, [{"tool_id": 7}])
            with pytest.raises(QueueUnavailable):
                queue.depths()

    def test_a_queue_that_is_gone(self, sqs_endpoint: str) -> None:
        queue = SqsQueue({CLASSIFY: f"{sqs_endpoint}/123456789012/gone"}, endpoint_url=sqs_endpoint)
        with closing(queue), pytest.raises(QueueUnavailable, match=r"^SQS answered \S*NonExistentQueue"):
            queue.send(CLASSIFY, [{"tool_id": 7}])

    def test_queues_that_were_not_configured(self, sqs_endpoint: str) -> None:
        with closing(SqsQueue({}, endpoint_url=sqs_endpoint)) as queue:
            with pytest.raises(QueueUnavailable, match="URL of queue classify is not configured"):
                queue.send(CLASSIFY, [{"tool_id": 7}])
            with pytest.raises(QueueUnavailable, match="dead-letter queue behind classify is not configured"):
                queue.dead_letters(CLASSIFY, limit=1)

    def test_messages_that_are_refused_are_counted(self) -> None:
        class Refusing:
            def send_message_batch(self, QueueUrl: str, Entries: list[Any]) -> dict[str, Any]:  # noqa: N803
                return {"Failed": [{"Id": entry["Id"]} for entry in Entries[:2]]}

            def close(self) -> None: ...

        queue = SqsQueue({CLASSIFY: "https://sqs/1/classify"})
        queue._client = Refusing()
        with closing(queue), pytest.raises(QueueUnavailable, match=r"^queue classify refused 4 of 12 messages$"):
            queue.send(CLASSIFY, [{"tool_id": number} for number in range(1, 13)])

    @pytest.mark.parametrize("refuses", ["the call", "each message"])
    def test_a_queue_that_knows_no_groups_gets_the_messages_without(self, refuses: str) -> None:
        client = WithoutGroups(refuses)
        queue = SqsQueue({CLASSIFY: "https://sqs/1/classify"})
        queue._client = client
        with closing(queue):
            queue.send(CLASSIFY, [{"tool_id": number} for number in range(1, 13)], groups=["org-a"] * 12)
            queue.send(CLASSIFY, [{"tool_id": 13}], groups=["org-b"])

        assert client.bodies == [f'{{"tool_id": {number}}}' for number in range(1, 14)]
        # Asked once only: what follows is sent without a group at once.
        assert client.calls == 4

    def test_a_message_that_is_refused_with_and_without_its_group_is_counted_once(self) -> None:
        client = WithoutGroups("each message", also="bad")
        queue = SqsQueue({CLASSIFY: "https://sqs/1/classify"})
        queue._client = client
        with closing(queue), pytest.raises(QueueUnavailable, match=r"^queue classify refused 1 of 3 messages$"):
            queue.send(CLASSIFY, [{"tool_id": 1}, {"tool_id": "bad"}, {"tool_id": 3}], groups=["org-a"] * 3)

        assert client.bodies == ['{"tool_id": 1}', '{"tool_id": 3}']

    def test_the_users_own_aws_settings_are_not_read(self, sqs_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_PROFILE", "of-the-user")
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "https://sqs.example.com")
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
        with closing(SqsWorld(sqs_endpoint)) as world:
            world.queue.send(CLASSIFY, [{"tool_id": 7}])


class TestMemory:
    def test_a_queue_that_is_down(self) -> None:
        queue = MemoryQueue()
        queue.down = True
        with pytest.raises(QueueUnavailable):
            queue.send(CLASSIFY, [{"tool_id": 7}])

    def test_a_message_comes_again_until_it_was_received_too_often(self) -> None:
        now = 0.0
        queue = MemoryQueue(max_receives=2, visibility_timeout_s=10, clock=lambda: now)
        queue.send(CLASSIFY, [{"tool_id": 7}])

        assert [message.receives for message in queue.receive(CLASSIFY)] == [1]
        assert queue.receive(CLASSIFY) == []
        assert queue.depths()[1] == QueueDepth(CLASSIFY, ready=0, under_way=1, delayed=0, dead=0)
        now = 11.0
        assert [message.receives for message in queue.receive(CLASSIFY)] == [2]
        now = 22.0
        assert queue.receive(CLASSIFY) == []
        assert [letter.key for letter in queue.dead_letters(CLASSIFY, limit=1)] == ["7"]

    def test_a_deleted_message_is_done(self) -> None:
        queue = MemoryQueue(visibility_timeout_s=0)
        queue.send(CLASSIFY, [{"tool_id": 7}])
        [message] = queue.receive(CLASSIFY)

        queue.delete(CLASSIFY, message.id)

        assert queue.receive(CLASSIFY) == []
