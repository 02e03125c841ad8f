"""The embedding model and the index are pulled away under load and given back: mail search follows, and never fails."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import httpx
import pytest
from pydantic import SecretStr
from skillroute.core.documents.index.guarded import GuardedIndex
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.errors.model import IndexUnavailable
from skillroute.core.settings import LocalSettings
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.wiring import Parts
from skillroute_local.server import local_app

from tests.doubles import FaultyIndex
from tests.e2e.generated import messages
from tests.e2e.load import Threads
from tests.e2e.processes import SOAK, EmbeddingStub, answered, eventually, served
from tests.e2e.work import put_mail


@dataclass(frozen=True)
class Call:
    """One search of the load."""

    mode: str
    began: float
    ended: float
    status: int
    served: tuple[str, str] | None
    problem: str | None


class Load(Threads):
    """Threads that search in each mode, and one that writes, until the end of the block."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._numbers = itertools.count()
        super().__init__(self._call_on, [(mode,) for mode in ("lexical", "semantic", "hybrid", "put")])
        self.calls: list[Call] = []
        self.broken: list[Exception] = []

    def all_are(self, **wanted: tuple[str, str]) -> tuple[float, float]:
        """Wait until the last answers to each mode were served so; return since when, and until when."""

        def are_now(since: float) -> bool:
            calls = [call for call in list(self.calls) if call.began > since]
            return all(
                [call.served for call in calls if call.mode == mode][-5:] == [served] * 5
                for mode, served in wanted.items()
            )

        began = time.monotonic()
        eventually(lambda: are_now(began), f"answers are {wanted}; the last: {self.calls[-4:]}, {self.broken}")
        settled = time.monotonic()
        eventually(lambda: are_now(settled), f"answers stay {wanted}; the last: {self.calls[-4:]}, {self.broken}")
        return settled, time.monotonic()

    def within(self, mode: str, span: tuple[float, float]) -> set[tuple[str, str] | None]:
        """Return how a mode was served between two moments."""
        return {
            each.served for each in self.calls if each.mode == mode and span[0] < each.began and each.ended < span[1]
        }

    def _call_on(self, mode: str) -> None:
        with httpx.Client(base_url=self._url, timeout=30.0, trust_env=False) as http:
            while not self._end.wait(0.01):  # light: the test and the server share two cores with others
                began = time.monotonic()
                try:
                    response = self._called(http, mode, next(self._numbers))
                except httpx.TransportError as error:
                    self.broken.append(error)
                    continue
                self.calls.append(_call(mode, began, response))

    @staticmethod
    def _called(http: httpx.Client, mode: str, number: int) -> httpx.Response:
        if mode == "put":
            [message] = messages(1, "load")
            message |= {"key": f"load-{number % 50}", "body": f"Written in round {number}."}
            return http.put("/api/v1/mail/messages", json=[message])
        # No query comes twice: its vector would be remembered, and the model not be missed.
        return http.post("/api/v1/search/messages", json={"text": f"archive the bicycle {number}", "mode": mode})


def _call(mode: str, began: float, response: httpx.Response) -> Call:
    ended = time.monotonic()
    if not response.is_success:
        return Call(mode, began, ended, response.status_code, None, response.text[:300])
    answer = response.json()
    if mode == "put":
        return Call(mode, began, ended, 200, None, response.text[:300] if answer["failed"] else None)
    problem = None if answer["results"] else "nothing was found"
    return Call(mode, began, ended, 200, (answer["mode"], answer["engine"]), problem)


_Through = Callable[[VectorIndex], AbstractContextManager[VectorIndex]]

WELL = {"lexical": ("lexical", "tantivy"), "semantic": ("semantic", "hybrid"), "hybrid": ("hybrid", "hybrid")}
WITHOUT_MODEL = dict.fromkeys(WELL, ("lexical", "tantivy"))
WITHOUT_INDEX = dict.fromkeys(WELL, ("lexical", "fts5"))
OUTAGES = 10 if SOAK else 1


class TestModelAndIndex:
    """The index is taken away in the test's own process: nothing outside can reach the embedded one."""

    @pytest.fixture
    def stub(self) -> Iterator[EmbeddingStub]:
        with EmbeddingStub() as stub:
            yield stub

    @pytest.fixture
    def parts(self, database_url: str, stub: EmbeddingStub) -> Iterator[Parts]:
        parts = Parts(
            LocalSettings(
                database_url=SecretStr(database_url),
                embedding_provider="openai",
                embedding_model="stub",
                embedding_dimension=stub.dimension,
                openai_base_url=stub.url,
                embedding_retry_after_s=0.3,
                # How long it is tried before it counts as away, so that nothing waits for it for seconds.
                query_timeout_s=1.5,
                batch_timeout_s=1.5,
            )
        )
        yield parts
        parts.close()

    def test_are_missed_in_the_answers_and_no_request_fails(self, parts: Parts, stub: EmbeddingStub) -> None:
        spans: list[tuple[dict[str, tuple[str, str]], tuple[float, float]]] = []
        with served(local_app(parts)) as http:
            put_mail(http, "project", {"key": "load", "name": "Load"})
            put_mail(http, "message", *messages(200, "load"))
            with Load(str(http.base_url)) as load:
                for _ in range(OUTAGES):
                    spans.append((WELL, load.all_are(**WELL)))
                    stub.stop()
                    spans.append((WITHOUT_MODEL, load.all_are(**WITHOUT_MODEL)))
                    with index_away(parts):
                        spans.append((WITHOUT_INDEX, load.all_are(**WITHOUT_INDEX)))
                    stub.start()
                    with failing_index(parts):
                        spans.append((WITHOUT_INDEX, load.all_are(**WITHOUT_INDEX)))
                spans.append((WELL, load.all_are(**WELL)))
            parts.embed_missing()
            assert answered(http.get("/api/v1/verify"))["ok"]

        assert load.broken == []
        assert [call for call in load.calls if call.status != 200 or call.problem] == []
        for wanted, span in spans:
            assert {mode: load.within(mode, span) for mode in WELL} == {mode: {each} for mode, each in wanted.items()}
        slowest_s = max(call.ended - call.began for call in load.calls)
        sys.stdout.write(f"{len(load.calls)} calls, the slowest {slowest_s:.3f} s\n")


@contextmanager
def index_away(parts: Parts) -> Iterator[None]:
    """Let nobody have the index for the length of a block."""

    @contextmanager
    def refuse(_: VectorIndex) -> Iterator[VectorIndex]:
        raise IndexUnavailable("the index is away")
        yield

    with _lent_through(parts, refuse):
        yield


@contextmanager
def failing_index(parts: Parts) -> Iterator[None]:
    """Let every search of mail fail for the length of a block."""

    @contextmanager
    def damage(index: VectorIndex) -> Iterator[VectorIndex]:
        faulty = FaultyIndex(index)
        faulty.fail(MAIL_DOCUMENTS, IndexUnavailable("the index is damaged"))
        yield faulty

    with _lent_through(parts, damage):
        yield


@contextmanager
def _lent_through(
    parts: Parts, through: Callable[[VectorIndex], AbstractContextManager[VectorIndex]]
) -> Iterator[None]:
    lend = parts.replica.current

    @contextmanager
    def current(on_stale: object = None) -> Iterator[VectorIndex]:
        with lend() as index, through(index) as lent:
            yield GuardedIndex(lent, index.model)

    parts.replica.current = current  # type: ignore[method-assign]
    try:
        yield
    finally:
        parts.replica.current = lend  # type: ignore[method-assign]
