"""The queues in SQS."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeVar

from skillroute.core.errors.model import InvalidInput, QueueUnavailable
from skillroute.core.queue.messages import key_of
from skillroute.core.queue.port import DeadLetter, QueueDepth
from skillroute.core.queue.sender import Sender
from skillroute.core.queue.work import WorkQueue

T = TypeVar("T")

_BATCH = 10
"""Messages of one call, at most (SQS quotas)."""
_CONNECT_TIMEOUT_S = 1.0
_READ_TIMEOUT_S = 3.0
_ATTEMPTS = 2
_LOOK = {
    "MaxNumberOfMessages": _BATCH,
    # As long as looking through a dead-letter queue may take; a process killed meanwhile hides nothing for longer.
    "VisibilityTimeout": 30,
    # Waiting for a second asks every server of SQS; not waiting asks some, and may miss messages.
    "WaitTimeSeconds": 1,
    "MessageSystemAttributeNames": ["SentTimestamp", "MessageGroupId"],
}
_MAX_DEAD_LETTERS = 10_000
_DEPTHS = {
    "ready": "ApproximateNumberOfMessages",
    "under_way": "ApproximateNumberOfMessagesNotVisible",
    "delayed": "ApproximateNumberOfMessagesDelayed",
}


class SqsQueue:
    """`ports.Queue` over SQS. Safe to call from several threads.

    Parameters
    ----------
    urls, dead_letter_urls : mapping of WorkQueue to str
        The queues, and the dead-letter queues behind them, as far as this process uses them.
    endpoint_url : str or None
        A local endpoint, which is called with made-up credentials and past every proxy. None calls AWS, with the
        credentials of the environment.
    region : str or None
        None takes the environment's region.
    """

    def __init__(
        self,
        urls: Mapping[WorkQueue, str],
        *,
        dead_letter_urls: Mapping[WorkQueue, str] | None = None,
        endpoint_url: str | None = None,
        region: str | None = None,
    ) -> None:
        self._urls = dict(urls)
        self._dead_letter_urls = dict(dead_letter_urls or {})
        self._endpoint_url = endpoint_url
        self._region = region
        self._lock = threading.Lock()
        self._client: Any = None
        self._sender = Sender(self._call)

    def send(
        self,
        queue: WorkQueue,
        bodies: Sequence[Mapping[str, Any]],
        *,
        groups: Sequence[str | None] | None = None,
        delay_s: int = 0,
    ) -> None:
        refused = 0
        texts = [json.dumps(body) for body in bodies]
        for batch in _batches(list(zip(texts, groups or [None] * len(texts), strict=True))):
            refused += self._sender(self._url(queue), batch, delay_s=delay_s)
        if refused:
            raise QueueUnavailable(f"queue {queue} refused {refused} of {len(bodies)} messages")

    def depths(self) -> list[QueueDepth]:
        depths = []
        for queue, url in sorted(self._urls.items()):
            counts = self._counts(url)
            dead_url = self._dead_letter_urls.get(queue)
            dead = self._counts(dead_url) if dead_url else {}
            depths.append(QueueDepth(queue, **counts, dead=sum(dead.values())))
        return depths

    def dead_letters(self, queue: WorkQueue, *, limit: int) -> list[DeadLetter]:
        with self._held_dead_letters(queue) as letters_in_flight:
            letters = [_letter(queue, message) for message in islice(letters_in_flight, limit)]
        return sorted(letters, key=lambda letter: (letter.since or _NEVER, letter.message_id))

    def redrive(self, queue: WorkQueue, keys: Collection[str] | None) -> list[str]:
        def is_wanted(letter: DeadLetter) -> bool:
            # One that cannot be read would only come back.
            return letter.key is not None and (keys is None or letter.key in keys)

        moved = []
        with self._held_dead_letters(queue) as letters_in_flight:
            for message in letters_in_flight:
                letter = _letter(queue, message)
                if is_wanted(letter) and letter.key is not None:
                    # Sent before it is deleted: a crash in between doubles it, which does no harm.
                    group = message.get("Attributes", {}).get("MessageGroupId")
                    if self._sender(self._url(queue), [(letter.body, group)]):
                        raise QueueUnavailable(f"queue {queue} refused a message")
                    self._delete_dead(queue, message)
                    moved.append(letter.key)
        return moved

    def drop(self, queue: WorkQueue, message_ids: Collection[str]) -> int:
        dropped = 0
        with self._held_dead_letters(queue) as letters_in_flight:
            for message in letters_in_flight:
                if message["MessageId"] in message_ids:
                    self._delete_dead(queue, message)
                    dropped += 1
        return dropped

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _counts(self, url: str) -> dict[str, int]:
        names = list(_DEPTHS.values())
        answer = self._call(lambda client: client.get_queue_attributes(QueueUrl=url, AttributeNames=names))
        return {field: int(answer["Attributes"].get(name, 0)) for field, name in _DEPTHS.items()}

    @contextmanager
    def _held_dead_letters(self, queue: WorkQueue) -> Iterator[Iterator[dict[str, Any]]]:
        """Lend the messages of a dead-letter queue, each once, hidden from others meanwhile.

        Those that are still there afterwards show themselves again at once.
        """
        url = self._dead_url(queue)
        receipts: dict[str, str] = {}

        def receive() -> Iterator[dict[str, Any]]:
            while len(receipts) < _MAX_DEAD_LETTERS:
                answer = self._call(lambda client: client.receive_message(QueueUrl=url, **_LOOK))
                fresh = [message for message in answer.get("Messages", []) if message["MessageId"] not in receipts]
                receipts.update({message["MessageId"]: message["ReceiptHandle"] for message in fresh})
                if not fresh:
                    return
                yield from fresh

        try:
            yield receive()
        finally:
            for batch in _batches(list(receipts.values())):
                self._show(url, batch)

    def _show(self, url: str, receipts: Sequence[str]) -> None:
        """Let up to ten messages be received again; those that were deleted are refused one by one, in the answer."""
        entries = [
            {"Id": str(place), "ReceiptHandle": receipt, "VisibilityTimeout": 0}
            for place, receipt in enumerate(receipts)
        ]
        self._call(lambda client: client.change_message_visibility_batch(QueueUrl=url, Entries=entries))

    def _delete_dead(self, queue: WorkQueue, message: Mapping[str, Any]) -> None:
        url, receipt = self._dead_url(queue), message["ReceiptHandle"]
        self._call(lambda client: client.delete_message(QueueUrl=url, ReceiptHandle=receipt))

    def _url(self, queue: WorkQueue) -> str:
        if queue not in self._urls:
            raise QueueUnavailable(f"the URL of queue {queue} is not configured")
        return self._urls[queue]

    def _dead_url(self, queue: WorkQueue) -> str:
        if queue not in self._dead_letter_urls:
            raise QueueUnavailable(f"the URL of the dead-letter queue behind {queue} is not configured")
        return self._dead_letter_urls[queue]

    def _call(self, request: Callable[[Any], T]) -> T:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 (0.1 s, paid on first use)

        try:
            return request(self._connected())
        except ClientError as error:
            raise QueueUnavailable(f"SQS answered {error.response['Error']['Code']}: {error}") from error
        except (BotoCoreError, ValueError) as error:  # the latter for an endpoint that is no URL
            raise QueueUnavailable(f"SQS cannot be reached: {error}") from error

    def _connected(self) -> Any:
        """Return the client, made once: sessions are not safe to share between threads, clients are."""
        with self._lock:
            if self._client is None:
                self._client = sqs_client(endpoint_url=self._endpoint_url, region=self._region)
            return self._client


def sqs_client(*, endpoint_url: str | None, region: str | None, read_timeout_s: float = _READ_TIMEOUT_S) -> Any:
    """Return an SQS client; one for a local endpoint reads nothing of the user's AWS settings, nor of the proxy's."""
    from botocore.config import Config  # noqa: PLC0415 (0.1 s, paid on first use)
    from botocore.session import Session  # noqa: PLC0415

    times: dict[str, Any] = {
        "connect_timeout": _CONNECT_TIMEOUT_S,
        "read_timeout": read_timeout_s,
        "retries": {"mode": "standard", "total_max_attempts": _ATTEMPTS},
    }
    if endpoint_url is None:
        return Session().create_client("sqs", region_name=region, config=Config(**times))
    return Session(session_vars={"profile": (None, None, None, None)}).create_client(
        "sqs",
        region_name=region or "us-east-1",
        endpoint_url=endpoint_url,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 (a local server takes any)
        config=Config(proxies={}, **times),
    )


_NEVER = datetime.fromtimestamp(0, UTC)


def _letter(queue: WorkQueue, message: Mapping[str, Any]) -> DeadLetter:
    sent_ms = message.get("Attributes", {}).get("SentTimestamp")
    since = datetime.fromtimestamp(int(sent_ms) / 1000, UTC) if sent_ms else None
    return dead_letter(queue, message["MessageId"], message["Body"], since)


def dead_letter(queue: WorkQueue, message_id: str, body: str, since: datetime | None) -> DeadLetter:
    """Return a dead letter, with its key or the reason why it has none."""
    try:
        return DeadLetter(queue, message_id, body, key_of(queue, body), None, since)
    except InvalidInput as error:
        return DeadLetter(queue, message_id, body, None, str(error), since)


def _batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), _BATCH):
        yield values[start : start + _BATCH]
