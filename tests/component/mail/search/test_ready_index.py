"""While a process's first index is being built, PostgreSQL answers (message-search, 1)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.replica_port import IndexReplica, IndexStatus
from skillroute.core.errors.model import IndexUnavailable
from skillroute.mail.search.answers import MessageSearchResponse
from skillroute.mail.search.budget import Budget
from skillroute.mail.search.model import MessageSearchRequest
from skillroute.mail.search.search import MessageSearch

from tests.builders import System
from tests.doubles import until

PATIENT = 20.0


class SlowReplica:
    """A replica whose first index is there once a test says so."""

    def __init__(self, inner: IndexReplica) -> None:
        self._inner = inner
        self.built = threading.Event()
        self.error: IndexUnavailable | None = None
        self.builds = 0

    @property
    def is_ready(self) -> bool:
        return self.built.is_set() and self.error is None

    @contextmanager
    def current(self, on_stale: object = None) -> Iterator[VectorIndex]:
        self.builds += not self.built.is_set()
        self.built.wait()
        if self.error is not None:
            raise self.error
        with self._inner.current() as index:
            yield index

    def status(self) -> IndexStatus:
        return self._inner.status()

    def close(self) -> None: ...


@pytest.fixture
def slow(system: System) -> Iterator[SlowReplica]:
    system.store_message("water", "the roses")
    replica = SlowReplica(system.parts.replica)
    yield replica
    replica.built.set()


def searching(system: System, replica: IndexReplica, wait_s: float) -> MessageSearch:
    parts = system.parts
    return MessageSearch(replica, parts.query_embedder, parts.database, index_wait_s=wait_s)


def asked(search: MessageSearch, mode: str = "lexical") -> MessageSearchResponse:
    return search(MessageSearchRequest(text="water", mode=mode, explain=True), LAPTOP)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_postgresql_answers_while_the_index_is_built(system: System, slow: SlowReplica, mode: str) -> None:
    answer = asked(searching(system, slow, 0.0), mode)

    assert answer.explain is not None
    assert (answer.mode, answer.engine, len(answer.results)) == ("lexical", "fts5", 1)
    assert answer.explain.downgrade_reason == "index_not_ready"


def test_however_many_search_one_builds_and_then_the_index_answers(system: System, slow: SlowReplica) -> None:
    search = searching(system, slow, 0.0)
    for _ in range(3):
        assert asked(search).engine == "fts5"
    until(lambda: slow.builds == 1)
    slow.built.set()
    assert asked(search).engine == "tantivy"
    assert slow.builds == 1


def test_a_search_waits_for_an_index_that_is_soon_there(system: System, slow: SlowReplica) -> None:
    threading.Timer(0.05, slow.built.set).start()
    assert asked(searching(system, slow, PATIENT)).engine == "tantivy"


def test_it_waits_no_longer_than_there_is_time(system: System, slow: SlowReplica) -> None:
    search = searching(system, slow, PATIENT)
    outcome = search.search(MessageSearchRequest(text="water"), LAPTOP, budget=Budget(121.0))
    assert (outcome.response.engine, outcome.index_state) == ("fts5", "not_ready")


def test_an_index_that_cannot_be_built_is_an_engines_error(system: System, slow: SlowReplica) -> None:
    slow.error = IndexUnavailable("the disk is full")
    slow.built.set()
    answer = asked(searching(system, slow, PATIENT))
    assert answer.explain is not None
    assert (answer.engine, answer.explain.downgrade_reason) == ("fts5", "engine_error")
