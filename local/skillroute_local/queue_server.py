"""SQS on 127.0.0.1: moto's server inside this process, and the queues of Skillroute in it.

The queues live in memory and end with the process. Nothing is lost with them: queues carry ids, and the outbox in
PostgreSQL sends again what was not done.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from skillroute.core.queue.failed_work import MAX_RECEIVES

from skillroute_local.browsers import Hosts, own_pages_only
from skillroute_local.docker_bridge import DESKTOP_HOST
from skillroute_local.errors import LocalError
from skillroute_local.loopback import HOST, listen

if TYPE_CHECKING:
    from werkzeug.serving import BaseWSGIServer

REGION = "us-east-1"
QUEUES = ("skillroute-classify", "skillroute-aggregate", "skillroute-learn")
VISIBILITY_TIMEOUT_S = 180
_LOADED_WITHIN_S = 60.0


class QueueServer:
    """moto's SQS on a port. `start` takes 1 ms: the port listens at once, and requests wait while moto is loaded.

    Not moto's own `ThreadedMotoServer`: that one has its port only when it is loaded, hangs in `start` when the port
    is taken, and leaves its socket open.

    Parameters
    ----------
    port : int
        0 takes a free one.
    """

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._server: BaseWSGIServer | None = None
        self._loaded = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The endpoint for clients, of a started server."""
        if self._thread is None:
            raise LocalError("the queue server is not started: call start() first")
        return f"http://{HOST}:{self._port}"

    def start(self) -> Self:
        """Listen, and load moto in the background.

        Raises
        ------
        LocalError
            The port is in use.
        """
        sock = listen(self._port)
        self._port = sock.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, args=(sock,), name="queue-server", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop answering. The queues are gone with the process."""
        if self._thread is None:
            return
        self._loaded.wait()
        if self._server is not None:
            self._server.shutdown()
        self._thread.join()
        self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _serve(self, sock: Any) -> None:
        try:
            with sock:  # closed when loading fails too, so that waiting clients are refused instead of kept
                from moto.moto_server.werkzeug_app import (  # noqa: PLC0415 (0.3 s to 1.5 s)
                    DomainDispatcherApplication,
                    create_backend_app,
                )
                from werkzeug.serving import make_server  # noqa: PLC0415

                from skillroute_local.quick_queues import install  # noqa: PLC0415

                install()
                logging.getLogger("werkzeug").setLevel(logging.ERROR)  # else a line for every request
                # Containers of `sam local` come through Docker's bridge, by its address or by Docker Desktop's name.
                app = own_pages_only(DomainDispatcherApplication(create_backend_app), Hosts([DESKTOP_HOST]))
                self._server = make_server(HOST, self._port, app, threaded=True, fd=sock.fileno())
        finally:
            self._loaded.set()
        self._server.serve_forever(poll_interval=0.05)


def sqs_client(endpoint: str) -> Any:
    """Return an SQS client for a local endpoint; it waits while moto is loaded."""
    from skillroute.core.queue.sqs import sqs_client as client  # noqa: PLC0415

    return client(endpoint_url=endpoint, region=REGION, read_timeout_s=_LOADED_WITHIN_S)


def ensure_queues(endpoint: str) -> dict[str, str]:
    """Make the queues, each with its dead-letter queue ``<name>-dlq``, unless they are there; waits for the server.

    Returns
    -------
    dict
        The URL of every queue by its name, dead-letter queues included.

    Raises
    ------
    LocalError
        Nothing answers at the endpoint, or it refuses.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    urls: dict[str, str] = {}
    client = sqs_client(endpoint)
    try:
        for name in QUEUES:
            dead = f"{name}-dlq"
            urls[dead] = client.create_queue(QueueName=dead)["QueueUrl"]
            answer = client.get_queue_attributes(QueueUrl=urls[dead], AttributeNames=["QueueArn"])
            arn = answer["Attributes"]["QueueArn"]
            redrive = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": MAX_RECEIVES})
            attributes = {"RedrivePolicy": redrive, "VisibilityTimeout": str(VISIBILITY_TIMEOUT_S)}
            urls[name] = client.create_queue(QueueName=name)["QueueUrl"]
            client.set_queue_attributes(QueueUrl=urls[name], Attributes=attributes)
    except (BotoCoreError, ClientError) as error:
        raise LocalError(f"the queues at {endpoint} cannot be made ({error}): restart Skillroute") from error
    finally:
        client.close()
    return urls


def find_queues(endpoint: str) -> dict[str, str]:
    """Return what `ensure_queues` made, changing nothing.

    Raises
    ------
    LocalError
        Nothing answers at the endpoint, or it has no such queues.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    client = sqs_client(endpoint)
    try:
        names = [name + suffix for name in QUEUES for suffix in ("", "-dlq")]
        return {name: client.get_queue_url(QueueName=name)["QueueUrl"] for name in names}
    except (BotoCoreError, ClientError) as error:
        raise LocalError(f"the queues at {endpoint} cannot be found ({error}): restart Skillroute") from error
    finally:
        client.close()


def queue_environment(endpoint: str, urls: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a process that uses these queues."""
    settings = {"SKILLROUTE_SQS_ENDPOINT_URL": endpoint}
    for name in QUEUES:
        setting = f"SKILLROUTE_{name.removeprefix('skillroute-').upper()}"
        settings[f"{setting}_QUEUE_URL"] = urls[name]
        settings[f"{setting}_DLQ_URL"] = urls[f"{name}-dlq"]
    return settings
