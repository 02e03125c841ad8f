"""Messages are written while others search: each is found by the first query after its write was acknowledged."""

from __future__ import annotations

import itertools
import queue
import random
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.generated import messages
from tests.e2e.processes import HASHING, SOAK, Bare, Processes
from tests.e2e.work import put_mail, search_mail, verified

ROUNDS = 4 if SOAK else 1
SEARCHERS = 4
AT_MOST = 20
"""Messages of one call."""

MODES = ("lexical", "semantic", "hybrid", "hybrid_rerank")


class Traffic:
    """Two writers, and searchers that look for each message as soon as its write was acknowledged, the newest first.

    Whoever has nothing new to look for looks for something of before once more.
    """

    def __init__(self, servers: Sequence[Bare], modes: Sequence[str]) -> None:
        self._servers = servers
        self._modes = modes
        # Bounded: writers do not run away from the searchers, whose queries come right after the writes.
        self._acknowledged: queue.LifoQueue[dict[str, Any]] = queue.LifoQueue(AT_MOST)
        self._over = threading.Event()
        self.queries = 0
        self.found: set[str] = set()
        self.wrong: list[str] = []

    def run(self, given: Sequence[dict[str, Any]]) -> None:
        """Write all, half of it by each writer, and return when everybody has ended."""
        writers = [
            threading.Thread(target=self._guarded, args=(self._write, self._servers[at % 2], given[at::2], at))
            for at in range(2)
        ]
        searchers = [
            threading.Thread(target=self._guarded, args=(self._search_on, self._servers[at % 2], given[0], at))
            for at in range(SEARCHERS)
        ]
        for thread in (*writers, *searchers):
            thread.start()
        for thread in writers:
            thread.join()
        self._over.set()
        for thread in searchers:
            thread.join()

    def _guarded(self, call: Any, server: Bare, *args: Any) -> None:
        try:
            with server.client() as http:
                call(http, *args)
        except Exception as error:  # noqa: BLE001 (whatever it is, the test tells of it)
            self.wrong.append(repr(error))

    def _write(self, http: httpx.Client, given: Sequence[dict[str, Any]], seed: int) -> None:
        chance = random.Random(seed)
        rest = list(given)
        while rest:
            number = chance.randint(1, AT_MOST)
            written, rest = rest[:number], rest[number:]
            put_mail(http, "message", *written)
            self._look_for(http, written[-1], self._modes[len(rest) % len(self._modes)])
            for message in written:
                self._hand_out(message)

    def _hand_out(self, message: dict[str, Any]) -> None:
        while not self.wrong:
            with suppress(queue.Full):
                self._acknowledged.put(message, timeout=1.0)
                return

    def _search_on(self, http: httpx.Client, first: dict[str, Any], seed: int) -> None:
        last = None
        for number in itertools.count(seed):
            mode = self._modes[number // SEARCHERS % len(self._modes)]
            try:
                last = self._acknowledged.get_nowait()
            except queue.Empty:
                if self._over.is_set():
                    return
            if last is None:
                search_mail(http, first["subject"], mode=mode)
            else:
                self._look_for(http, last, mode)

    def _look_for(self, http: httpx.Client, wanted: dict[str, Any], mode: str) -> None:
        answer = search_mail(http, wanted["subject"], mode=mode, limit=3)
        first = answer["results"][0]["key"] if answer["results"] else None
        if first != wanted["key"]:
            self.wrong.append(f"{mode}: {first}, not {wanted['key']}: {answer}")
        self.queries += 1
        self.found.add(wanted["key"])


def assert_all_are_there(servers: Sequence[Bare], project: str, number: int) -> None:
    for server in servers:
        found = search_mail(server.http, "stands", limit=1000, project_id=project_id(server, project))
        assert len(found["results"]) == number


def project_id(server: Bare, key: str) -> int:
    [project] = server.http.get("/api/v1/mail/projects", params={"key": key}).json()
    found: int = project["id"]
    return found


@pytest.mark.parametrize(
    ("settings", "modes", "number"),
    [
        pytest.param({}, MODES, 1000, id="an index of its own for each server"),
        pytest.param({"SKILLROUTE_SEARCH_ENGINE": "fts5"}, MODES[:1], 1000 if SOAK else 100, id="full text"),
    ],
)
def test_what_is_acknowledged_is_found_by_the_very_next_query_of_anybody(
    home: Path,
    processes: Processes,
    database_url: str,
    settings: dict[str, str],
    modes: tuple[str, ...],
    number: int,
) -> None:
    started = [processes.bare(home, database_url, **HASHING, **settings) for _ in range(2)]
    pair = [server.ready() for server in started]
    for at in range(ROUNDS):
        project = f"lag{at}"
        put_mail(pair[0].http, "project", {"key": project, "name": "Lag"})
        given = messages(number, project)
        traffic = Traffic(pair, modes)

        traffic.run(given)

        sys.stdout.write(f"{traffic.queries} queries looked for {len(traffic.found)} messages\n")
        assert traffic.wrong == []
        assert traffic.found == {message["key"] for message in given}
        assert_all_are_there(pair, project, number)
    for server in pair:
        verified(server)
        assert "Traceback" not in server.output
