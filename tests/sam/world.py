"""What tests under `sam local` work with: the functions in containers, and what lies behind them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pg8000.native
from skillroute_local.queue_server import ensure_queues

from tests.events import delete_queues
from tests.sam.cli import Sam, logical_id


@dataclass(frozen=True)
class World:
    """Attributes: `sam`, the functions; `database_url` and `sqs_url`, on loopback; `queues`, the URLs by name."""

    sam: Sam
    database_url: str
    sqs_url: str
    queues: Mapping[str, str]
    empty_database: Callable[[], object]

    def empty(self) -> None:
        """Take out what a test has left in the database and the queues; containers stay warm."""
        delete_queues(self.sqs_url)
        self.empty_database()
        assert ensure_queues(self.sqs_url) == self.queues, "the containers know the queues by these URLs"

    @contextmanager
    def sql(self) -> Iterator[Callable[..., Any]]:
        """Lend a function that runs SQL and returns the rows."""
        parts = urlsplit(self.database_url)
        connection = pg8000.native.Connection(
            parts.username,
            host=parts.hostname,
            port=parts.port,
            password=parts.password,
            database=parts.path.lstrip("/"),
            ssl_context=False,
        )
        try:
            yield connection.run
        finally:
            connection.close()


def invoke(client: Any, function: str, what: dict[str, Any]) -> Any:
    """Run a function behind `sam local start-lambda`, which must not fail, and return what it answered."""
    response = client.invoke(FunctionName=logical_id(function), Payload=json.dumps(what).encode())
    assert "FunctionError" not in response
    return json.loads(response["Payload"].read())
