"""What a test under `sam local` works with: the functions in containers, and what lies behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pg8000.native

from tests.sam.cli import Sam


@dataclass(frozen=True)
class World:
    """Attributes: `sam`, the functions; `database_url` and `sqs_url`, on loopback; `queues`, the URLs by name."""

    sam: Sam
    database_url: str
    sqs_url: str
    queues: Mapping[str, str]

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
