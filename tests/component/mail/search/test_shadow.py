"""Shadow mode: the index is compared with what full text serves, and can do it no harm (message-search, 1 and 5)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.replica_port import IndexReplica
from skillroute.core.errors.model import IndexUnavailable
from skillroute.mail.search.model import MessageSearchRequest
from skillroute.mail.search.search import MessageSearch

from tests.builders import System
from tests.doubles import LogRecords, until
from tests.worlds.mail_search import agent

PATIENT = 20.0


def shadowed(system: System, replica: IndexReplica | None = None, timeout_s: float = PATIENT) -> MessageSearch:
    parts = system.parts
    return MessageSearch(
        replica or parts.replica, parts.query_embedder, parts.database, setting="shadow", shadow_timeout_s=timeout_s
    )


def forced(system: System) -> MessageSearch:
    parts = system.parts
    return MessageSearch(parts.replica, parts.query_embedder, parts.database, setting="postgres")


def plain(search: MessageSearch, **request: Any) -> bytes:
    """Return an answer as JSON, without what two engines and a clock make of it."""
    answer = search(MessageSearchRequest(explain=True, **request), LAPTOP)
    assert answer.explain is not None
    explain = answer.explain.model_copy(update={"timing": None, "shadow": None})
    return answer.model_copy(update={"explain": explain}).to_json()


class BrokenReplica:
    """An index that fails, or hangs until a test lets it go on."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        self.go_on = threading.Event()
        self.asked = 0
        self.is_ready = True

    @contextmanager
    def current(self, on_stale: object = None) -> Iterator[VectorIndex]:
        self.asked += 1
        if self.error is None:
            self.go_on.wait()
        raise self.error or IndexUnavailable("let go")
        yield  # pragma: no cover

    def status(self) -> Any: ...

    def close(self) -> None: ...


@pytest.fixture
def filled(system: System) -> System:
    for number in range(12):
        system.store_message("water " * (1 + number % 4), "garden " * number)
    return system


def test_the_comparison_is_explained_and_logged(filled: System, log: LogRecords, counted) -> None:  # type: ignore[no-untyped-def]
    explain = shadowed(filled)(MessageSearchRequest(text="water garden", explain=True), LAPTOP).explain

    assert explain is not None
    assert explain.shadow is not None
    assert (explain.engine, explain.downgrade_reason) == ("fts5", "kill_switch")
    assert (explain.shadow.serving_engine, explain.shadow.shadow_engine) == ("fts5", "tantivy")
    # Both find everything that has a word, so only the order can differ.
    assert explain.shadow.overlap_jaccard == 1.0
    assert (explain.shadow.serving_only, explain.shadow.shadow_only) == ([], [])
    assert 0.0 < explain.shadow.ndcg_at_10 <= 1.0
    [record] = log.having("search.shadow.comparison")
    assert {name: getattr(record, name) for name in type(explain.shadow).model_fields} == explain.shadow.model_dump()
    assert counted("SearchShadowComparison") == 1


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid", "hybrid_rerank"])
@pytest.mark.parametrize("limit", [3, 50])
@pytest.mark.parametrize("text", ["water", "water garden", "nothing of it", "?!", ""])
def test_what_is_served_is_to_the_byte_what_full_text_serves(filled: System, mode: str, limit: int, text: str) -> None:
    request = {"text": text, "mode": mode, "limit": limit}

    assert plain(shadowed(filled), **request) == plain(forced(filled), **request)
    bare = MessageSearchRequest(**request)
    assert shadowed(filled)(bare, LAPTOP).to_json() == forced(filled)(bare, LAPTOP).to_json()


@pytest.mark.parametrize("error", [IndexUnavailable("broken"), RuntimeError("a mistake"), SystemExit(3)])
def test_a_shadow_that_fails_is_logged_and_no_more(filled: System, log: LogRecords, error: BaseException) -> None:
    search = shadowed(filled, BrokenReplica(error))  # type: ignore[arg-type]

    assert plain(search, text="water") == plain(forced(filled), text="water")
    assert len(log.having("shadow search failed")) == 1
    assert log.having("search.shadow.comparison") == []


def test_a_shadow_that_hangs_is_not_waited_for(filled: System, log: LogRecords) -> None:
    replica = BrokenReplica()
    search = shadowed(filled, replica, timeout_s=0.01)  # type: ignore[arg-type]
    expected = plain(forced(filled), text="water")

    for _ in range(6):
        assert plain(search, text="water") == expected

    # Those that hang do not pile up.
    assert replica.asked == len(log.having("shadow search too slow")) == 4
    assert len(log.having("shadow search left out")) == 2
    replica.go_on.set()
    until(lambda: not [each for each in threading.enumerate() if each.name == "shadow-search"])
    shadow = search(MessageSearchRequest(text="water"), LAPTOP)
    assert replica.asked == 5
    assert len(shadow.results) == 12


def test_without_a_thread_there_is_no_shadow(filled: System, log: LogRecords, monkeypatch: pytest.MonkeyPatch) -> None:
    search = shadowed(filled)
    expected = plain(forced(filled), text="water")

    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        for _ in range(6):
            assert plain(search, text="water") == expected
    assert len(log.having("shadow search left out")) == 6

    # Nor does it cost one of those that may run.
    explain = search(MessageSearchRequest(text="water", explain=True), LAPTOP).explain
    assert explain is not None
    assert explain.shadow is not None


def test_the_other_settings_ask_no_shadow(filled: System) -> None:
    replica = BrokenReplica(IndexUnavailable("broken"))
    parts = filled.parts
    for setting in ("postgres", None, "bm25", "hybrid"):
        search = MessageSearch(replica, parts.query_embedder, parts.database, setting=setting)  # type: ignore[arg-type]
        answer = search(MessageSearchRequest(text="water", explain=True), LAPTOP)
        assert answer.explain is not None
        assert answer.explain.shadow is None
    assert replica.asked == 3  # as the index that should serve


def test_the_shadow_sees_no_more_than_the_caller(filled: System) -> None:
    filled.store_agent("GreyOwl", filled.store_project("borealis"))
    visible = filled.store_message("water", project="borealis")

    answer = shadowed(filled)(MessageSearchRequest(text="water", explain=True), agent("GreyOwl"))

    assert [result.id for result in answer.results] == [visible]
    assert answer.explain is not None
    assert answer.explain.shadow is not None
    assert (answer.explain.shadow.overlap_jaccard, answer.explain.shadow.shadow_only) == (1.0, [])
