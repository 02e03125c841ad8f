"""kill -9 of the pump and of the server during an import: in the end all is classified as if nothing had happened."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pg8000.exceptions
import psutil
import pytest
from skillroute_local.examples import EXAMPLES, read_jsonl

from tests.e2e.processes import HASHING, SOAK, Processes, Server, Up, answered, eventually
from tests.e2e.work import AT_ONCE, create_skill, make_impatient, pump_of, rows_of, settle, verified
from tests.integration.rows import Sql, connected

KILLS = 10 if SOAK else 2
BATCH = 20 if SOAK else 5
AHEAD = 3 * BATCH
"""How far an import runs ahead of the classification: it is under way until nearly all is classified."""

# The long version runs with the real model, and with all examples, three times under other names.
SETTINGS = AT_ONCE if SOAK else HASHING | AT_ONCE
BRANCHES = ("first", "second", "third") if SOAK else ("first",)
EVERY = 1 if SOAK else 3
VISIBILITY_S = 5 if SOAK else 1

ITEMS = [
    {**row, "server": f"{branch} {row['server']}"}
    for branch in BRANCHES
    for row in list(read_jsonl(EXAMPLES / "tools.jsonl"))[::EVERY]
]

Decided = dict[str, tuple[list[Any], list[Any]]]
"""The assignments and the suggestions of each item, by server, type and name."""


class Importer:
    """Writes all items, batch by batch, in a thread; what was not acknowledged is sent again to whoever is there."""

    def __init__(self, server: Up) -> None:
        self.server = server
        self.acknowledged = 0
        self.broken = 0
        self._end = threading.Event()
        self._is_calling = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Importer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    @property
    def is_done(self) -> bool:
        return self.acknowledged == len(ITEMS)

    def wait_within_a_call(self, chance: random.Random) -> None:
        """Return somewhere within a call, or soon after it."""
        self._is_calling.wait(10)
        self._thread.join(chance.uniform(0, 0.03))

    def _run(self) -> None:
        for start in range(0, len(ITEMS), BATCH):
            batch = ITEMS[start : start + BATCH]
            while start - decided_on(self.server) > AHEAD:
                if self._end.wait(0.05):  # a connection each time, 10 ms of a processor
                    return
            while not self._is_acknowledged(batch):
                if self._end.wait(0.05):
                    return
            self.acknowledged += len(batch)

    def _is_acknowledged(self, batch: list[dict[str, Any]]) -> bool:
        server = self.server
        self._is_calling.set()
        try:
            with server.client() as http:
                response = http.put("/api/v1/tools", json={"items": batch})
        except httpx.ConnectError:  # nobody is there yet
            return False
        except httpx.TransportError:  # killed: nothing is known of this batch
            self.broken += 1
            return False
        finally:
            self._is_calling.clear()
        results = answered(response)["results"]
        assert all(result["status"] != "failed" for result in results), results
        return True


def decided_on(server: Up) -> int:
    """Return how many items were classified; 0 while nobody can tell."""
    with suppress(pg8000.exceptions.Error, OSError, AssertionError), rows_of(server) as sql:
        return int(sql("SELECT count(*) FROM mcp.tool_classifications")[0][0])
    return 0


def start(processes: Processes, home: Path) -> Up:
    server = processes.up(home, "--no-examples", **SETTINGS).ready()
    make_impatient(server, VISIBILITY_S)
    return server


def prepare(server: Server) -> None:
    """Create the skills of the examples."""
    for skill in read_jsonl(EXAMPLES / "skills.jsonl"):
        create_skill(server, skill["id"], **{name: value for name, value in skill.items() if name != "id"})


def decisions(sql: Sql) -> Decided:
    """Return what became of each item, as it is stored."""
    rows = sql(
        "SELECT json_build_array(t.server, t.type, t.name)::text, "
        "(SELECT json_agg(json_build_array(skill_key, confidence, is_primary, source) ORDER BY skill_key) "
        " FROM mcp.tool_skill_assignments a WHERE a.tool_id = t.id), "
        "(SELECT json_agg(json_build_array(suggested_name, suggested_description, source, status)) "
        " FROM mcp.skill_suggestions s WHERE s.source_tool_id = t.id) "
        "FROM mcp.tools t"
    )
    found = {key: (assigned or [], suggested or []) for key, assigned, suggested in rows}
    assert len(found) == len(rows), "no item is there twice"
    return found


@pytest.fixture
def undisturbed(processes: Processes, home: Path, database_url: str) -> Decided:
    """What becomes of the items when nothing is killed; the short version classifies them without queues."""
    if SOAK:
        server = start(processes, home.with_name("undisturbed"))
        prepare(server)
        with Importer(server) as importer:
            eventually(lambda: importer.is_done, "all is imported", within_s=300)
        assert importer.broken == 0
        settle(server, within_s=300)
        with rows_of(server) as sql:
            found = decisions(sql)
        server.interrupt()
        return found
    bare = processes.bare(home.with_name("undisturbed"), database_url, **SETTINGS).ready()
    prepare(bare)
    for result in bare.put(*ITEMS)["results"]:
        answered(bare.http.post("/api/v1/skills/classify", json={"tool_id": result["id"]}))
    with connected(database_url) as sql:
        return decisions(sql)


def test_what_is_killed_during_an_import_leaves_no_trace(
    home: Path, processes: Processes, undisturbed: Decided
) -> None:
    began = time.monotonic()
    chance = random.Random(time.time_ns())  # another moment each time it runs
    server = start(processes, home)
    prepare(server)

    # GIVEN an import, and what classifies it; WHEN one of them is killed, again and again
    with Importer(server) as importer:
        for number in range(KILLS):
            moment = (number + chance.random()) / KILLS * 0.8 * len(ITEMS)
            eventually(lambda at=moment: decided_on(importer.server) >= at, "so many are classified", within_s=300)
            importer.wait_within_a_call(chance)
            assert not importer.is_done, "it is killed too late"
            victim = _kill(importer.server, pump=number % 2 == 0)
            sys.stdout.write(f"{victim} killed, {importer.acknowledged} of {len(ITEMS)} acknowledged\n")
            if victim == "server":
                importer.server = start(processes, home)
        eventually(lambda: importer.is_done, "all is imported", within_s=300)
    server = importer.server
    settle(server, within_s=300)

    # THEN everything is as it would have been
    with rows_of(server) as sql:
        found = decisions(sql)
    assert found == undisturbed
    assert all(bool(assigned) != bool(suggested) for assigned, suggested in found.values())
    became = Counter("assigned" if assigned else "suggested" for assigned, _ in found.values())
    assert set(became) == {"assigned", "suggested"}, "both became of some"
    assert verified(server)["tools"] == len(ITEMS)
    assert "Traceback" not in server.output
    sys.stdout.write(f"{importer.broken} calls broken; {dict(became)}; {time.monotonic() - began:.1f} s\n")


def _kill(server: Up, *, pump: bool) -> str:
    if not pump:
        server.kill()
        return "server"
    psutil.Process(eventually(lambda: pump_of(server), "the pump runs")).kill()
    return "pump"
