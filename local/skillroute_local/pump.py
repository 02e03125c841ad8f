"""The event pump: what Lambda does with queues and schedules, for a laptop. `python -m skillroute_local.pump`

A process of its own, so that classification does not take turns at the interpreter with the web server. It receives
from each queue, calls the handler that Lambda would call, deletes what succeeded, and leaves the rest to the queue,
which hands it out again and moves it to the dead-letter queue at last. Two pumps at once do no harm: queues carry ids.

With ``--lambda-endpoint URL`` the handlers are not its own: it calls the functions behind that endpoint, such as those
of `sam local start-lambda`, and needs the queues only.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillroute.core.errors.model import ConfigurationError, SkillrouteError
from skillroute.core.observability import logger
from skillroute.core.queue.work import WorkQueue, queues
from skillroute.learning.queues import LEARN
from skillroute.skills.queues import AGGREGATE, CLASSIFY

from skillroute_local.handlers import Handlers
from skillroute_local.lambda_events import Invocation, schedule_event, sqs_event
from skillroute_local.queue_server import VISIBILITY_TIMEOUT_S, sqs_client

if TYPE_CHECKING:
    from skillroute.core.queue.consumer import Consumer

RELAY_EVERY_S = 15.0
"""Oftener than EventBridge, which goes by the minute: a run costs some milliseconds, and somebody watches."""

_BATCH = 10
_BATCHES = {LEARN: 1}  # one organisation takes as long as ten tools
# Nobody waits at the queue: a receiver that is killed while it does would take messages along with it, and they would
# come again only after the visibility timeout. So an empty queue is asked now and then, more and more seldom.
_MIN_REST_S = 0.05
_MAX_REST_S = 0.4
_PAUSE_AFTER_ERROR_S = 1.0
_RELAY_TIMEOUT_S = 60.0
_SEE_EVERY_S = 3600.0
_FINISH_WITHIN_S = 3.0
_NICENESS = 5


class Loop:
    """Does something again and again, in a thread of its own, until it is stopped.

    Attributes
    ----------
    is_busy : bool
        Whether a handler is at work, which should be waited for.
    """

    def __init__(self, name: str, stop: threading.Event) -> None:
        self._stop = stop
        self._thread = threading.Thread(target=self._run, name=f"pump-{name}", daemon=True)
        self.is_busy = False

    def start(self) -> None:
        """Begin, in the background."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the end, which comes some time after `stop` was set."""
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._stop.wait(self._turn())

    def _turn(self) -> float:
        """Do it once, and return the seconds to rest."""
        raise NotImplementedError


class QueueLoop(Loop):
    """Carries messages from a queue to a handler.

    Parameters
    ----------
    client : object
        An SQS client.
    url : str
        The queue's.
    handler : Consumer
        Gets batches as Lambda would deliver them, and answers with the messages that failed.
    """

    def __init__(self, queue: WorkQueue, client: Any, url: str, handler: Consumer, stop: threading.Event) -> None:
        super().__init__(queue.value, stop)
        self._queue = queue
        self._client = client
        self._url = url
        self._handler = handler
        account, name = url.rsplit("/", 2)[1:]
        self._rest_s = _MIN_REST_S
        self._arn = f"arn:aws:sqs:{client.meta.region_name}:{account}:{name}"

    def _turn(self) -> float:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 (0.1 s)

        try:
            answer = self._client.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=_BATCHES.get(self._queue, _BATCH),
                WaitTimeSeconds=0,
                MessageSystemAttributeNames=["All"],
            )
            messages = answer.get("Messages", [])
            if messages:
                self._delete(self._handle(messages))
        except (BotoCoreError, ClientError) as error:
            if not self._stop.is_set():
                logger.warning("queue does not answer", extra={"queue": self._queue.value, "reason": str(error)})
            return _PAUSE_AFTER_ERROR_S
        if messages:
            self._rest_s = _MIN_REST_S
            return 0.0
        rest_s = self._rest_s
        self._rest_s = min(2 * rest_s, _MAX_REST_S)
        return rest_s

    def _handle(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Call the handler and return the messages that are done: none when it raises, as Lambda has it."""
        context = Invocation(f"skillroute-{self._queue}", VISIBILITY_TIMEOUT_S)
        self.is_busy = True
        try:
            answer = self._handler(sqs_event(self._arn, messages), context)
        except Exception:  # noqa: BLE001 (logged; the messages come again)
            logger.exception("handler failed", extra={"queue": self._queue.value})
            return []
        finally:
            self.is_busy = False
        failed = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        if not failed <= {message["MessageId"] for message in messages}:
            logger.error("handler named messages that are not of its batch", extra={"queue": self._queue.value})
            return []
        return [message for message in messages if message["MessageId"] not in failed]

    def _delete(self, messages: list[dict[str, Any]]) -> None:
        entries = [{"Id": str(n), "ReceiptHandle": message["ReceiptHandle"]} for n, message in enumerate(messages)]
        if entries:
            self._client.delete_message_batch(QueueUrl=self._url, Entries=entries)


class RelayLoop(Loop):
    """Calls the relay's handler at once, and then as often as the schedule says."""

    _name = "relay"

    def __init__(self, handler: Consumer, stop: threading.Event, *, every_s: float = RELAY_EVERY_S) -> None:
        super().__init__(self._name, stop)
        self._handler = handler
        self._every_s = every_s

    def _turn(self) -> float:
        self.is_busy = True
        try:
            self._run_once()
        except SkillrouteError as error:
            logger.warning(f"{self._name} failed", extra={"reason": str(error)})
        except Exception:  # noqa: BLE001 (logged; the next run may do better)
            logger.exception(f"{self._name} failed")
        finally:
            self.is_busy = False
        return self._every_s

    def _run_once(self) -> None:
        self._handler(schedule_event(), Invocation("skillroute-relay", _RELAY_TIMEOUT_S))


class SeeLoop(RelayLoop):
    """Has servers that are due asked for their tools again, once an hour; the first time after one."""

    _name = "call"

    def __init__(self, handler: Consumer, stop: threading.Event, *, every_s: float = _SEE_EVERY_S) -> None:
        super().__init__(handler, stop, every_s=every_s)
        self._has_waited = False

    def _turn(self) -> float:
        if not self._has_waited:
            self._has_waited = True
            return self._every_s
        return super()._turn()

    def _run_once(self) -> None:
        self._handler({"see_again": True}, Invocation("skillroute-call", _RELAY_TIMEOUT_S))


def start_loops(
    handlers: Handlers, client: Any, urls: Mapping[WorkQueue, str], stop: threading.Event, *, relay_every_s: float
) -> list[Loop]:
    """Start a loop for each queue and for each schedule."""
    by_queue = {CLASSIFY: handlers.classify, AGGREGATE: handlers.aggregate, LEARN: handlers.learn}
    loops: list[Loop] = [RelayLoop(handlers.relay, stop, every_s=relay_every_s), SeeLoop(handlers.call, stop)]
    loops += [QueueLoop(queue, client, urls[queue], handler, stop) for queue, handler in by_queue.items()]
    for loop in loops:
        loop.start()
    return loops


def main() -> None:
    """Run a pump over the queues and the database of the environment, until SIGTERM, Ctrl-C, or its parent ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--relay-every-s", type=float, default=RELAY_EVERY_S)
    parser.add_argument("--lambda-endpoint", metavar="URL", help="call the functions there, not handlers of its own")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end with the process that started this")
    arguments = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if arguments.until_stdin_closes:
        threading.Thread(target=_await_end_of_stdin, args=(stop,), name="pump-parent", daemon=True).start()
    # Searches go first: on a busy machine somebody waits for them, and for a classification nobody does.
    os.nice(_NICENESS)
    try:
        _pump(stop, arguments.relay_every_s, arguments.lambda_endpoint)
    except ConfigurationError as error:
        sys.exit(f"skillroute pump: {error}")


def _pump(stop: threading.Event, relay_every_s: float, lambda_endpoint: str | None) -> None:
    from skillroute.core.settings import QueueSettings  # noqa: PLC0415 (loaded when the signals are taken care of)

    settings = QueueSettings.load()
    given = {queue: url for queue in queues() if (url := getattr(settings, f"{queue}_queue_url"))}
    if not settings.sqs_endpoint_url or len(given) < len(queues()):
        raise ConfigurationError("the pump needs SKILLROUTE_SQS_ENDPOINT_URL and the URLs of all queues")
    handlers = Handlers.behind(lambda_endpoint) if lambda_endpoint else Handlers.of_this_process()
    client = sqs_client(settings.sqs_endpoint_url)
    loops = start_loops(handlers, client, given, stop, relay_every_s=relay_every_s)
    stop.wait()
    _finish(loops)
    # Not through the interpreter's own end, which waits for receivers that wait for messages. Nothing is lost: what was
    # received and not deleted comes again.
    logger.info("pump ends")
    os._exit(0)


def _finish(loops: list[Loop]) -> None:
    """Wait for handlers that are at work, for a while."""
    pause = threading.Event()
    for _ in range(int(_FINISH_WITHIN_S / 0.02)):
        if not any(loop.is_busy for loop in loops):
            return
        pause.wait(0.02)


def _await_end_of_stdin(stop: threading.Event) -> None:
    """Set `stop` when the pipe from the parent breaks, which it does however the parent ends."""
    while os.read(0, 1024):
        pass
    stop.set()


if __name__ == "__main__":
    main()
