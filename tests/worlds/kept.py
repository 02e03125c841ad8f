"""Connections and settings that the worlds of one process share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from skillroute.core.postgres.pool import Pool
from skillroute.core.settings import LocalSettings

from tests.integration.rows import Sql

kept_pools: dict[str, Pool] = {}
_kept_connections: dict[str, list[Sql]] = {}


@contextmanager
def kept_pool(url: str) -> Iterator[None]:
    """Let the systems of this block over one database share its connections.

    What PostgreSQL compiles and plans for a new connection is half of what it does for a test. As in a warm function,
    plans may have been made when there were fewer rows.
    """
    kept_pools[url] = Pool(url)
    _kept_connections[url] = []
    try:
        yield
    finally:
        for kept in (kept_pools.pop(url), *_kept_connections.pop(url)):
            kept.close()


def lend_connection(url: str) -> Sql:
    """Return a connection beside the pool: a kept one where there is one, or another one, which takes 10 ms."""
    kept = _kept_connections.get(url, [])
    while kept:
        if (connection := kept.pop()).is_free():
            return connection
        connection.close()
    return Sql(url)


def give_back(url: str, connection: Sql) -> None:
    """Keep a connection for the next test, unless nothing is kept of the database or it has something open."""
    if url in _kept_connections and connection.is_free():
        _kept_connections[url].append(connection)
    else:
        connection.close()


@lru_cache(maxsize=256, typed=True)
def _made_settings(_environment: frozenset[tuple[str, str]], **given: Any) -> LocalSettings:
    return LocalSettings(**given)


def settings_of(**given: Any) -> LocalSettings:
    """Return the settings that a process has which is given some of them: made once, for that takes 4 ms."""
    environment = frozenset((name, value) for name, value in os.environ.items() if "SKILLROUTE" in name.upper())
    try:
        return _made_settings(environment, **given)
    except TypeError:  # a list or a dict is among them
        return LocalSettings(**given)
