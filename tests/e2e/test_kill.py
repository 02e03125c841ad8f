"""kill -9 in the middle of an import: whatever was acknowledged is there, once, and found."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.generated import tools
from tests.e2e.processes import HASHING, SOAK, Processes, Server, Up, eventually

ROUNDS = 10 if SOAK else 1
ITEMS = 800 if SOAK else 160
BATCH = 20
WRITERS = 2
SETTINGS = {} if SOAK else HASHING  # the long version runs with the real model


@dataclass
class Import:
    """Items written by several threads, batch by batch, until done or refused; knows what was acknowledged."""

    server: Server
    items: list[dict[str, Any]]
    acknowledged: set[str] = field(default_factory=set)
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def batches(self) -> list[list[dict[str, Any]]]:
        return [self.items[start : start + BATCH] for start in range(0, len(self.items), BATCH)]

    def start(self) -> Import:
        self._threads = [threading.Thread(target=self._write, args=(place,)) for place in range(WRITERS)]
        for thread in self._threads:
            thread.start()
        return self

    def join(self, within_s: float | None = None) -> Import:
        """Wait for its end, or for so long at most."""
        for thread in self._threads:
            thread.join(within_s)
        return self

    def _write(self, place: int) -> None:
        with self.server.client() as http:
            for batch in self.batches[place::WRITERS]:
                try:
                    response = http.put("/api/v1/tools", json={"items": batch})
                except httpx.TransportError:  # killed: nothing is known of this batch
                    return
                assert response.status_code == 200, response.text
                results = response.json()["results"]
                self.statuses.update(result["status"] for result in results)
                self.acknowledged.update(result["name"] for result in results if result["status"] != "failed")


def present(server: Server, name: str) -> list[str]:
    """Return the names of all items of an MCP server, in the catalogue's order."""
    return [item["name"] for item in server.items(server=name)]


def assert_found(server: Server, items: list[dict[str, Any]]) -> None:
    """Every item is found by what it says, by meaning and by words."""
    for item in items:
        query = f"{item['name']} {item['description']}"
        for mode in ("semantic", "lexical"):
            hits = server.search(query, strategy="direct", mode=mode, tool_threshold=0, include_schemas=False)["tools"]
            keys = [(hit["server"], hit["name"]) for hit in hits]
            assert (item["server"], item["name"]) in keys, f"{mode}: {query}: {keys}"


@pytest.mark.parametrize("moment", [(number + 0.5) / ROUNDS for number in range(ROUNDS)])
def test_what_was_acknowledged_survives(home: Path, processes: Processes, moment: float) -> None:
    # GIVEN an import under way
    server = processes.up(home, "--no-examples", **SETTINGS).ready()
    batch_took_s = _time_of_a_batch(server)
    items = tools("shop", 2 * ITEMS)  # so that enough is left, however fast it goes at last
    import_ = Import(server, items).start()
    eventually(lambda: len(import_.acknowledged) >= moment * ITEMS, "that much is acknowledged")

    # WHEN it is killed, somewhere within a call
    import_.join(within_s=batch_took_s * moment / WRITERS)
    server.kill()
    import_.join()

    # THEN after a restart all that was acknowledged is there and found, and nothing is there twice or by halves
    again = processes.up(home, "--no-examples", **SETTINGS).ready()
    names = present(again, "shop")
    assert import_.acknowledged < {item["name"] for item in items}, "it was killed too late"
    assert import_.acknowledged <= set(names)
    assert len(names) == len(set(names))
    for batch in import_.batches:
        assert len({item["name"] for item in batch} & set(names)) in {0, len(batch)}
    assert_found(again, [item for item in items if item["name"] in import_.acknowledged])

    # AND the same import once more ends with everything
    repeated = Import(again, items).start().join()
    assert repeated.statuses == Counter(created=len(items) - len(names), unchanged=len(names))
    names = present(again, "shop")
    assert sorted(names) == sorted(item["name"] for item in items)
    assert_found(again, [item for item in items if item["name"] not in import_.acknowledged][:50])
    _stop(again)


def _time_of_a_batch(server: Server) -> float:
    began = time.monotonic()
    server.put(*tools("rehearsal", BATCH))
    return time.monotonic() - began


def _stop(server: Up) -> None:
    server.interrupt()
    assert "Traceback" not in server.output
