"""`skillroute up`: from nothing to the first search, and everything that can happen to it afterwards."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from skillroute_local.home import Run
from skillroute_local.loopback import listen, port_free
from skillroute_local.postgres_programs import Postmaster

from tests.e2e.processes import HASHING, Processes, Up, answered, cli, eventually, has_ended

_TOOL = {"server": "garden", "name": "water_plants", "description": "Open the valves of the irrigation."}
_METADATA = {
    *("strategy_used", "search_mode", "skill_ids_used", "fallback_reason", "degraded"),
    *("search_id", "confidence", "confidence_first_five", "no_match", "fit", "language", "language_unknown_to_model"),
    *("schemas_omitted", "descriptions_cut"),
    *("stage1_skill_count", "stage2_candidate_count", "final_count"),
    *("query_embedding_time_ms", "skill_search_time_ms", "tool_search_time_ms", "rerank_time_ms"),
    *("schema_load_time_ms", "index_sync_time_ms", "total_time_ms", "index"),
}


def port_of(url: str) -> int:
    port = httpx.URL(url).port
    assert port is not None
    return port


def run_of(server: Up) -> Run:
    run = server.home.running()
    assert run is not None
    return run


class TestTheFirstStart:
    def test_says_where_it_answers_and_what_to_try(self, running: Up) -> None:
        eventually(lambda: "Ctrl-C stops it." in running.output, "it greets")

        assert "applied migration 0001_catalogue" in running.output
        assert re.search(
            r"loaded the examples: \d+ items, \d+ skills, \d+ servers, \d+ agents, \d+ messages", running.output
        )
        assert f": {running.url}  (interactive docs: {running.url}/docs)" in running.output
        assert f"curl -s {running.url}/api/v1/search" in running.output

    @pytest.mark.parametrize("path", ["/health", "/ready"])
    def test_all_parts_stand_well(self, running: Up, path: str) -> None:
        def caught_up() -> dict[str, Any] | None:
            running.search("anything")  # which brings the index up to date; the pump may be writing meanwhile
            health: dict[str, Any] = answered(running.http.get(path))
            return health if health["index_lag"] == 0 else None

        health = eventually(caught_up, "the index is up to date")

        assert health["status"] == "ok"
        assert health["search_mode"] == "hybrid", "the default mode"
        assert health["index_items"] > 200
        assert health["index_skills"] > 20
        assert health["index_entities"] > 30
        assert health["index_mail"] > 200
        assert all(part == {"ok": True, "detail": None} for part in health["dependencies"].values())

    def test_documents_its_routes(self, running: Up) -> None:
        page = running.http.get("/docs")
        document = answered(running.http.get("/openapi.json"))

        assert page.status_code == 200
        assert "/openapi.json" in page.text
        assert {"/api/v1/search", "/api/v1/tools", "/health", "/ready"} <= document["paths"].keys()

    def test_the_first_search_finds_a_calendar_tool_with_its_schema(self, running: Up) -> None:
        answer = running.search("schedule a meeting with John tomorrow")

        first = answer["tools"][0]
        assert (first["type"], first["server"], first["primary_skill_id"]) == (
            "tool",
            "calendar",
            "calendar_management",
        )
        assert first["input_schema"]["type"] == "object"
        assert first["input_schema"]["properties"]
        assert answer["matched_skills"][0]["id"] == "calendar_management"
        assert answer["matched_skills"][0].keys() == {"id", "name", "description", "score", "tool_count"}
        metadata = answer["metadata"]
        assert metadata.keys() == _METADATA
        assert metadata["skill_ids_used"] == [skill["id"] for skill in answer["matched_skills"]]
        assert metadata["final_count"] == len(answer["tools"]) == 5
        assert metadata["degraded"] == []

    def test_answers_on_one_connection_do_not_wait_for_acknowledgements(self, running: Up) -> None:
        def took_s() -> float:
            began = time.monotonic()
            answered(running.http.get("/api/v1/tools/1"))
            return time.monotonic() - began

        for _ in range(20):  # at first, acknowledgements come at once
            took_s()
        # 4 ms; with an acknowledgement that is waited for none takes less than 40 ms, whatever else the machine does.
        assert sorted(took_s() for _ in range(40))[10] < 0.035

    def test_run_json_is_closed_to_others(self, running: Up) -> None:
        assert running.home.run_file.stat().st_mode & 0o077 == 0  # the database's password stands in it


class TestAHomeInUse:
    def test_a_second_one_says_who_has_it_and_leaves_it_alone(self, running: Up) -> None:
        second = cli(running.home.path, "up", "--port", "0")

        assert second.returncode == 1
        assert second.stderr == (
            f"skillroute: another Skillroute is using {running.home.path} (pid {running.pid}, {running.url}): "
            "stop it or set SKILLROUTE_HOME\n"
        )
        assert answered(running.http.get("/ready"))["status"] == "ok"

    def test_a_port_in_use_is_one_line_and_starts_nothing(self, home: Path) -> None:
        with listen() as taken:
            port = taken.getsockname()[1]

            refused = cli(home, "up", "--port", str(port))

        assert refused.returncode == 1
        assert re.fullmatch(rf"skillroute: port {port} is in use.*: stop it or choose another port\n", refused.stderr)
        assert not (home / "postgres").exists()


class TestStopping:
    @pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
    def test_ends_everything_it_started(self, home: Path, processes: Processes, signal_: signal.Signals) -> None:
        server = processes.up(home, "--no-examples", **HASHING).ready()
        server.put(_TOOL)
        run, postmaster = run_of(server), server.postmaster()
        assert postmaster is not None

        status = server.interrupt(signal_)

        assert status == {signal.SIGINT: 0}.get(signal_, 128 + signal.SIGTERM)
        assert "Traceback" not in server.output
        assert server.output.rstrip().endswith("stopping")
        assert has_ended(postmaster.pid)
        assert server.home.running() is None
        assert not server.home.run_file.exists()
        assert not list(server.home.index_dir.iterdir())
        ports = [port_of(run.url), port_of(run.database_url), port_of(run.sqs_url)]
        assert [port_free(port) for port in ports] == [True, True, True]

    def test_keeps_the_data_for_the_next_start(self, home: Path, processes: Processes) -> None:
        server = processes.up(home, "--no-examples", **HASHING).ready()
        server.put(_TOOL)
        server.interrupt()

        # The same port at once, and nothing is done twice.
        again = processes.up(home, "--port", str(port_of(server.url)), "--no-examples", **HASHING).ready()

        assert again.url == server.url
        assert "applied migration" not in again.output
        assert [item["name"] for item in again.items()] == ["water_plants"]
        assert again.search("open the valves", strategy="direct", limit=1)["tools"][0]["name"] == "water_plants"

    def test_ctrl_c_while_it_starts_leaves_nothing_behind(self, home: Path, processes: Processes) -> None:
        server = processes.up(home, **HASHING)
        # The examples are being loaded, or are about to be.
        postmaster = eventually(lambda: "applied migration" in server.output and server.postmaster(), "it starts")

        server.interrupt()

        assert "Traceback" not in server.output
        assert has_ended(postmaster.pid)
        assert not server.home.run_file.exists()

        started = processes.up(home, **HASHING).ready()
        assert started.http.get("/api/v1/tools", params={"limit": 1}).headers["X-Total-Count"] > "200"


class TestAKilledOne:
    def test_leaves_a_postgresql_that_the_next_start_adopts(self, home: Path, processes: Processes) -> None:
        killed = processes.up(home, "--no-examples", **HASHING).ready()
        killed.put(_TOOL)
        left = killed.postmaster()
        assert left is not None
        killed.kill()
        replicas = list(killed.home.index_dir.iterdir())
        assert not has_ended(left.pid)
        assert replicas
        assert killed.home.running() is None  # its run.json, which is still there, counts for nothing

        adopting = processes.up(home, "--no-examples", **HASHING).ready()

        adopted = adopting.postmaster()
        assert adopted is not None
        assert adopted.pid == left.pid
        assert not [replica for replica in replicas if replica.exists()]
        assert adopting.search("open the valves", strategy="direct", limit=1)["tools"][0]["name"] == "water_plants"
        adopting.interrupt()
        assert has_ended(left.pid)


class TestPostgresqlThatEnds:
    def test_is_started_again_where_it_was_and_searches_come_back(self, home: Path, processes: Processes) -> None:
        server = processes.up(home, "--no-examples", **HASHING).ready()
        server.put(_TOOL)
        database_url, killed = run_of(server).database_url, server.postmaster()
        assert killed is not None

        for times in (1, 2):  # once is no time
            os.kill(killed.pid, signal.SIGKILL)

            def another(dead: int = killed.pid) -> Postmaster | None:
                found = server.postmaster()
                return found if found is not None and found.pid != dead and found.is_ready else None

            killed = eventually(another, "PostgreSQL is back")
            eventually(lambda: server.http.get("/ready").status_code == 200, "searches are answered")
            assert server.search("open the valves", strategy="direct", limit=1)["tools"][0]["name"] == "water_plants"
            server.put({"server": "garden", "name": f"after {times}", "description": "Paint the fence."})
            health = answered(server.http.get("/health"))
            assert (health["counts"]["PostgresRestarted"], run_of(server).database_url) == (times, database_url)
        assert server.output.count("PostgreSQL has ended, and is started again") >= 2
        assert "PostgreSQL is back" in server.output
        assert server.interrupt() == 0
        assert has_ended(killed.pid)
