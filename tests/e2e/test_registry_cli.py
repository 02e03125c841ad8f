"""The command line over the registry: servers and agents from files, and the search for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.processes import Up, answered, cli

EXAMPLES = Path(__file__).parents[2] / "examples"


def lines(*rows: object) -> str:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


def of_path(running: Up, kind: str, path: str) -> dict[str, Any]:
    [found] = answered(running.http.get(f"/api/v1/{kind}", params={"path": path}))
    assert isinstance(found, dict)
    return found


class TestTheExamples:
    def test_are_registered_with_the_tools_of_the_catalogue(self, running: Up) -> None:
        calendar = of_path(running, "servers", "/calendar")
        host = of_path(running, "agents", "/evening-host")

        assert calendar["tool_count"] == len(running.items(server="calendar", type="tool")) > 5
        assert calendar["is_embedded"]
        assert host["is_embedded"]
        assert host["agent_card"]["protocolVersion"]

    def test_name_every_server_of_the_tools(self) -> None:
        tools, servers = (
            [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]
            for name in ("tools.jsonl", "servers.jsonl")
        )

        assert [server["path"] for server in servers] == sorted({f"/{tool['server']}" for tool in tools})

    def test_are_unchanged_when_imported_again(self, running: Up) -> None:
        files = ("--servers", str(EXAMPLES / "servers.jsonl"), "--agents", str(EXAMPLES / "agents.jsonl"))

        done = cli(running.home.path, "import", *files)

        assert (done.returncode, done.stdout.splitlines()) == (
            0,
            [
                "servers: 0 created, 0 updated, 28 unchanged, 0 failed",
                "agents: 0 created, 0 updated, 7 unchanged, 0 failed",
            ],
        )


class TestImport:
    def test_bad_lines_are_named_and_the_others_go_in(self, running: Up, tmp_path: Path) -> None:
        # GIVEN a file whose lines 2 and 3 are wrong, each in its own way
        file = tmp_path / "mills.jsonl"
        rows = (
            {"path": "/wind", "name": "Windmill"},
            "{not json",
            {"name": 7},
            {"path": "/water", "name": "Watermill"},
        )
        file.write_text(lines(*rows), encoding="utf-8")

        # WHEN it is imported
        done = cli(running.home.path, "import", "--servers", str(file))

        # THEN they are named by their numbers, and the others are in
        assert done.returncode == 4
        assert done.stdout == "servers: 2 created, 0 updated, 0 unchanged, 2 failed\n"
        problems = [line for line in done.stderr.splitlines() if line.startswith("mills.jsonl:")]
        assert sorted(problem.partition(": ")[0] for problem in problems) == ["mills.jsonl:2", "mills.jsonl:3"]
        assert any(problem.startswith("mills.jsonl:3: name: ") for problem in problems)
        assert of_path(running, "servers", "/water")["name"] == "Watermill"

    def test_tools_of_a_server_are_counted(self, running: Up, tmp_path: Path) -> None:
        grind, sift = ({"name": name, "description": f"To {name} flour."} for name in ("grind", "sift"))
        file = tmp_path / "bakehouse.json"

        file.write_text(lines({"path": "/bakehouse", "name": "Bakehouse", "tools": [grind, sift]}), encoding="utf-8")
        first = cli(running.home.path, "import", "--servers", str(file))
        file.write_text(lines({"path": "/bakehouse", "name": "Bakehouse", "tools": [grind]}), encoding="utf-8")
        second = cli(running.home.path, "import", "--servers", str(file))

        assert first.stdout == (
            "servers: 1 created, 0 updated, 0 unchanged, 0 failed; "
            "their tools: 2 created, 0 updated, 0 unchanged, 0 removed\n"
        )
        assert second.stdout == (
            "servers: 0 created, 1 updated, 0 unchanged, 0 failed; "
            "their tools: 0 created, 0 updated, 1 unchanged, 1 removed\n"
        )

    @pytest.mark.parametrize("indent", [None, 2])
    def test_a_single_document_is_one_server_or_agent(self, running: Up, tmp_path: Path, indent: int | None) -> None:
        name = f"org.example/harbour-{indent or 0}"
        server = {"server": {"name": name, "title": "Harbour", "version": "1.2.0"}, "_meta": {"a": 1}}
        card = {"name": f"Harbour Master {indent or 0}", "url": "https://harbour.example", "skills": [{"name": "Moor"}]}
        for file, document in (("server.json", server), ("card.json", card)):
            (tmp_path / file).write_text(json.dumps(document, indent=indent), encoding="utf-8")

        files = ("--servers", str(tmp_path / "server.json"), "--agents", str(tmp_path / "card.json"))
        done = cli(running.home.path, "import", *files)

        assert done.returncode == 0, done.stderr
        assert done.stdout.count("1 created, 0 updated, 0 unchanged, 0 failed") == 2
        assert of_path(running, "servers", f"/{name}")["server_json"] == server
        assert of_path(running, "agents", f"/harbour-master-{indent or 0}")["agent_card"] == card

    def test_what_a_registry_lists_is_many_servers(self, running: Up, tmp_path: Path) -> None:
        listed = [{"server": {"name": f"org.example/quay-{number}"}} for number in range(3)]
        file = tmp_path / "listed.json"
        file.write_text(
            json.dumps({"servers": [*listed, {"server": {}}], "metadata": {"count": 4}}, indent=1), encoding="utf-8"
        )

        done = cli(running.home.path, "import", "--servers", str(file))

        assert (done.returncode, done.stdout) == (4, "servers: 3 created, 0 updated, 0 unchanged, 1 failed\n")
        assert "listed.json#/servers/3: server.name: " in done.stderr

    def test_a_broken_document_is_one_problem(self, running: Up, tmp_path: Path) -> None:
        file = tmp_path / "server.json"
        file.write_text('{\n "name": "Half",\n "tools": [\n', encoding="utf-8")

        done = cli(running.home.path, "import", "--servers", str(file))

        assert (done.returncode, done.stdout) == (1, "servers: 0 created, 0 updated, 0 unchanged, 1 failed\n")
        assert [line for line in done.stderr.splitlines() if line.startswith("server.json:4:1: is not JSON")]

    def test_without_any_file_says_what_to_name(self, running: Up) -> None:
        done = cli(running.home.path, "import")

        assert (done.returncode, done.stdout) == (2, "")
        assert (
            done.stderr
            == "skillroute: name a file of tools, or one with --servers, --agents, --messages or another option\n"
        )


class TestSearch:
    def test_shows_servers_tools_and_agents(self, running: Up) -> None:
        done = cli(running.home.path, "search", "--registry", "dinner somewhere with a vegan menu", "--limit", "1")

        assert (done.returncode, done.stderr) == (0, "")
        header, *found, summary = [line.rstrip() for line in done.stdout.splitlines()]
        assert header.split() == ["score", "type", "path", "name", "description"]
        assert [line.split()[1:3] for line in found] == [
            ["server", "/restaurants"],
            ["tool", "/restaurants"],
            ["agent", "/evening-host"],
        ]
        assert summary.startswith("best of ")
        assert summary.endswith(", hybrid")

    def test_prints_the_answer_as_json(self, running: Up) -> None:
        done = cli(running.home.path, "search", "--registry", "#food dinner", "--json")

        answer = json.loads(done.stdout)
        assert (done.returncode, done.stderr) == (0, "")
        assert answer["metadata"]["tags"] == ["food"]
        assert [server["path"] for server in answer["servers"]] == ["/restaurants"]

    def test_options_of_tool_search_are_refused_rather_than_ignored(self, running: Up) -> None:
        done = cli(running.home.path, "search", "--registry", "dinner", "--type", "prompt")

        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == ("skillroute: searches with --registry have no --type: leave that out\n")


def test_status_counts_servers_and_agents(running: Up) -> None:
    running.http.post("/api/v1/search/registry", json={"query": "anything"})  # brings the index up to date

    done = cli(running.home.path, "status")

    rows = dict(line.rstrip().rsplit(maxsplit=1) for line in done.stdout.splitlines() if line)
    assert int(rows["index entities"]) >= 35
