"""QueueServer: moto's SQS with the queues of Skillroute."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
from skillroute_local.errors import LocalError
from skillroute_local.loopback import free_port, listen, port_free
from skillroute_local.queue_server import QUEUES, QueueServer, ensure_queues, sqs_client

from tests.doubles import in_threads


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with QueueServer() as server:
        yield server.url


def test_the_port_is_known_at_once(endpoint: str) -> None:
    assert endpoint.startswith("http://127.0.0.1:")


def test_each_queue_has_a_dead_letter_queue_behind_it(endpoint: str) -> None:
    urls = ensure_queues(endpoint)
    assert set(urls) == {name + suffix for name in QUEUES for suffix in ("", "-dlq")}

    client = sqs_client(endpoint)
    for name in QUEUES:
        attributes = client.get_queue_attributes(QueueUrl=urls[name], AttributeNames=["All"])["Attributes"]
        dead = client.get_queue_attributes(QueueUrl=urls[f"{name}-dlq"], AttributeNames=["All"])["Attributes"]
        redrive = json.loads(attributes["RedrivePolicy"])
        assert redrive == {"deadLetterTargetArn": dead["QueueArn"], "maxReceiveCount": 5}
        assert attributes["VisibilityTimeout"] == "180"
    client.close()


def test_making_the_queues_again_keeps_their_messages(endpoint: str) -> None:
    url = ensure_queues(endpoint)["skillroute-classify"]
    client = sqs_client(endpoint)
    client.send_message(QueueUrl=url, MessageBody="1")

    assert ensure_queues(endpoint)["skillroute-classify"] == url

    assert client.receive_message(QueueUrl=url)["Messages"][0]["Body"] == "1"
    client.purge_queue(QueueUrl=url)
    client.close()


def test_requests_are_not_logged(endpoint: str, capfd: pytest.CaptureFixture[str]) -> None:
    ensure_queues(endpoint)
    assert capfd.readouterr() == ("", "")


def test_the_users_own_aws_settings_are_not_read(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "of-the-user")
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "https://sqs.example.com")
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    assert ensure_queues(endpoint)


def test_a_port_in_use_is_an_error_that_names_who_has_it() -> None:
    with listen() as taken, pytest.raises(LocalError, match=rf"in use by .+ \(pid {os.getpid()}\)"):
        QueueServer(taken.getsockname()[1]).start()


def test_stop_frees_the_port_even_right_after_start() -> None:
    port = free_port()
    with QueueServer(port):
        assert not port_free(port)
    assert port_free(port)


def test_queues_where_nothing_answers_are_an_error() -> None:
    with pytest.raises(LocalError, match=r"^the queues at .* cannot be made"):
        ensure_queues(f"http://127.0.0.1:{free_port()}")


def test_every_count_is_told_by_name_and_among_all(endpoint: str) -> None:
    client = sqs_client(endpoint)
    url = client.create_queue(QueueName="counted")["QueueUrl"]
    for delay_s in (0, 0, 60):
        client.send_message(QueueUrl=url, MessageBody="1", DelaySeconds=delay_s)
    client.receive_message(QueueUrl=url)
    counts = {
        "ApproximateNumberOfMessages": "1",
        "ApproximateNumberOfMessagesDelayed": "1",
        "ApproximateNumberOfMessagesNotVisible": "1",
    }

    for names in (["All"], list(counts)):
        told = client.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        assert {name: told[name] for name in counts} == counts
    client.close()


def test_messages_that_come_and_go_at_once_are_received_once_each(endpoint: str) -> None:
    # GIVEN two that send and two that receive, all at the same time
    client = sqs_client(endpoint)
    url = client.create_queue(QueueName="busy")["QueueUrl"]
    received: list[str] = []

    def work(place: int) -> None:
        if place < 2:
            for batch in range(30):
                entries = [{"Id": str(n), "MessageBody": f"{place}-{batch}-{n}"} for n in range(10)]
                client.send_message_batch(QueueUrl=url, Entries=entries)
            return
        while messages := client.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1).get(
            "Messages"
        ):
            received.extend(message["Body"] for message in messages)
            receipts = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)]
            assert client.delete_message_batch(QueueUrl=url, Entries=receipts)["Failed"] == []

    in_threads(4, work)

    # THEN each message came, and no message twice
    assert len(received) == len(set(received)) == 600
    client.close()


def test_a_full_queue_is_as_quick_as_an_empty_one(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from moto.sqs.models import Message

    looks: list[None] = []
    visible = Message.visible.fget
    monkeypatch.setattr(Message, "visible", property(lambda self: looks.append(None) or visible(self)))
    client = sqs_client(endpoint)
    url = client.create_queue(QueueName="full")["QueueUrl"]

    # It looks at what it sends and hands out, and at no more than a hundred more each time; not at 500 each time.
    for batch in range(50):
        entries = [{"Id": str(n), "MessageBody": f"{batch}-{n}"} for n in range(10)]
        client.send_message_batch(QueueUrl=url, Entries=entries)
    assert len(looks) == 0
    client.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
    assert len(looks) < 150
    client.close()
