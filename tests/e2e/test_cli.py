"""The command line against a Skillroute that runs, and against none."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.processes import Up, cli, eventually

_COMMANDS = ("up", "search", "eval", "import", "reindex", "migrate", "status")
_REQUESTS = str(Path(__file__).parents[2] / "benchmarks" / "requests" / "docker.jsonl")


class TestSearch:
    def test_shows_a_table(self, running: Up) -> None:
        done = cli(running.home.path, "search", "schedule a meeting with John tomorrow", "--limit", "3")

        assert (done.returncode, done.stderr) == (0, "")
        skills, header, first, *others, summary = [line.rstrip() for line in done.stdout.splitlines()]
        assert skills.startswith("skills: calendar_management 0.")
        assert header.split() == ["score", "server", "name", "description"]
        assert first.split()[1:3] == ["calendar", "create_event"]
        assert len(others) == 2
        assert summary.startswith("3 of ")
        assert re.search(r", hybrid, confidence 0\.\d\d$", summary)

    def test_shows_what_scores_are_made_of_and_one_of_near_duplicates(self, running: Up, tmp_path: Path) -> None:
        rows = [{"server": f"zither {n}", "name": "pluck", "description": "Pluck a string."} for n in range(3)]
        file = tmp_path / "rows.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        assert cli(running.home.path, "import", str(file)).returncode == 0

        done = cli(running.home.path, "search", "pluck", "--strategy", "direct", "--explain", "--collapse-duplicates")

        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("Pluck a string.") == 1
        assert re.search(r"also of zither \d, zither \d", done.stdout)
        assert "probability 0." in done.stdout
        assert "is_named True" in done.stdout

    def test_prints_the_answer_as_json(self, running: Up) -> None:
        query = "schedule a meeting with John tomorrow"
        done = cli(running.home.path, "search", query, "--json", "--strategy", "direct", "--limit", "1")

        answer = json.loads(done.stdout)
        assert (done.returncode, done.stderr) == (0, "")
        assert answer["metadata"]["strategy_used"] == "direct"
        [tool] = answer["tools"]
        assert tool["name"] == "create_event"
        assert tool["input_schema"]["properties"]

    def test_shows_descriptions_as_they_are(self, running: Up, tmp_path: Path) -> None:
        # GIVEN a description that a terminal library could take for its own markup
        row = {
            "server": "[/bold]",
            "name": "[red]alert",
            "description": "[bold]Rings[/bold] the [/nothing] :key: zylophone.",
        }
        file = tmp_path / "[red]rows.jsonl"
        file.write_text(json.dumps(row), encoding="utf-8")
        assert cli(running.home.path, "import", str(file)).returncode == 0

        done = cli(running.home.path, "search", "zylophone", "--mode", "lexical", "--strategy", "direct", "--schemas")

        assert (done.returncode, done.stderr) == (0, "")
        assert "[/bold]  [red]alert  [bold]Rings[/bold] the [/nothing] :key: zylophone." in done.stdout

    def test_refusals_are_one_line(self, running: Up) -> None:
        done = cli(running.home.path, "search", "  ")

        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("skillroute: 422: query: ")
        assert done.stderr.count("\n") == 1

    def test_asks_another_server_by_url(self, running: Up, home: Path) -> None:
        done = cli(home, "search", "weather", "--url", running.url)

        assert (done.returncode, done.stderr) == (0, "")
        assert not home.exists()


class TestEval:
    def test_a_server_that_is_called_is_measured_as_the_one_here_is(self, running: Up, home: Path) -> None:
        requests = [
            {"query": "schedule a meeting with John tomorrow", "needs": [["calendar/create_event"]]},
            {"query": "get me off this newsletter", "needs": [["mail/unsubscribe"]]},
            {"query": "peel the potatoes", "needs": []},
        ]
        file = home.with_name("requests.jsonl")
        file.write_text("".join(json.dumps(request) + "\n" for request in requests), encoding="utf-8")
        asked = ("eval", "--queries", str(file), "--json", "--tool-threshold", "0.1")

        here = cli(running.home.path, *asked)
        called = cli(home, *asked, "--url", running.url)

        assert (here.returncode, called.returncode) == (0, 0), here.stderr + called.stderr
        timed = {"answers", "latency_ms"}
        reports = [json.loads(done.stdout) for done in (here, called)]
        assert [{k: v for k, v in each.items() if k not in timed} for each in reports[:1]] == [
            {k: v for k, v in each.items() if k not in timed} for each in reports[1:]
        ]
        assert [each["came"] for each in reports[0]["answers"]] == [each["came"] for each in reports[1]["answers"]]
        assert reports[0]["measures"]["recall@1"] > 0.0

    def test_a_judged_request_leaves_no_receipt_where_a_search_leaves_one(self, running: Up, home: Path) -> None:
        file = home.with_name("requests.jsonl")
        file.write_text('{"query": "tune the cello", "needs": []}\n', encoding="utf-8")
        to = ("--url", running.url)
        assert cli(home, "eval", "--queries", str(file), *to).returncode == 0
        assert cli(home, "search", "tune the viola", *to).returncode == 0

        def kept() -> str:
            return cli(home, "learn", "receipts", *to).stdout

        eventually(lambda: "viola" in kept(), "the search that followed has its receipt")
        assert "cello" not in kept()

    def test_a_build_fails_by_its_exit_status_and_one_line(self, running: Up, home: Path) -> None:
        file = home.with_name("requests.jsonl")
        file.write_text('{"query": "peel the potatoes", "needs": [["mail/unsubscribe"]]}\n', encoding="utf-8")

        done = cli(running.home.path, "eval", "--queries", str(file), "--fail-under", "recall@5=0.80")

        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == "failed: recall@5 is 0.0000, below 0.8"


class TestImport:
    def test_bad_lines_are_named_and_the_others_go_in(self, running: Up, tmp_path: Path) -> None:
        # GIVEN a file whose lines 2, 4 and 6 are wrong, each in its own way
        good = [
            {"server": "bakery", "name": name, "description": f"Bakes {name}."} for name in ("bread", "rolls", "pie")
        ]
        lines = [
            json.dumps(good[0]),
            "{not json",
            json.dumps(good[1]),
            "[1, 2]",
            "",
            json.dumps({"name": 7}),
            json.dumps(good[2]),
        ]
        file = tmp_path / "bakery.jsonl"
        file.write_text("\n".join(lines), encoding="utf-8")

        # WHEN it is imported, twice
        first = cli(running.home.path, "import", str(file))
        second = cli(running.home.path, "import", str(file))

        # THEN each wrong line is reported by its number, and the good ones are in, once
        assert first.returncode == second.returncode == 4
        assert first.stdout == "3 created, 0 updated, 0 unchanged, 3 failed\n"
        assert second.stdout == "0 created, 0 updated, 3 unchanged, 3 failed\n"
        problems = [line.partition(": ")[0] for line in first.stderr.splitlines() if line.startswith("bakery.jsonl:")]
        assert sorted(problems) == ["bakery.jsonl:2", "bakery.jsonl:4", "bakery.jsonl:6"]
        assert "bakery.jsonl:4: not a JSON object" in first.stderr
        assert "bakery.jsonl:6: name: " in first.stderr
        assert sorted(item["name"] for item in running.items(server="bakery")) == ["bread", "pie", "rolls"]

    def test_a_second_import_changes_nothing(self, running: Up, tmp_path: Path) -> None:
        rows = [{"server": "many", "name": f"n{number}", "description": f"Number {number}."} for number in range(150)]
        file = tmp_path / "many.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

        first = cli(running.home.path, "import", str(file))
        second = cli(running.home.path, "import", str(file))

        assert (first.returncode, first.stdout) == (0, "150 created, 0 updated, 0 unchanged, 0 failed\n")
        assert (second.returncode, second.stdout) == (0, "0 created, 0 updated, 150 unchanged, 0 failed\n")

    def test_a_missing_file_is_one_line(self, running: Up, tmp_path: Path) -> None:
        done = cli(running.home.path, "import", str(tmp_path / "none.jsonl"))

        assert done.returncode == 2
        assert done.stderr == f"skillroute: no such file: {tmp_path / 'none.jsonl'}\n"


class TestOperating:
    def test_status_shows_every_part(self, running: Up) -> None:
        done = cli(running.home.path, "status")
        as_json = cli(running.home.path, "status", "--json")

        rows = dict(line.rstrip().rsplit(maxsplit=1) for line in done.stdout.splitlines() if line)
        assert (done.returncode, done.stderr) == (0, "")
        assert (rows["status"], rows["search mode"], rows["embedding model"]) == ("ok", "hybrid", "ok")
        assert int(rows["index items"]) > 200
        assert json.loads(as_json.stdout)["status"] == "ok"

    def test_migrate_has_nothing_left_to_do(self, running: Up) -> None:
        done = cli(running.home.path, "migrate")

        assert (done.returncode, done.stdout, done.stderr) == (0, "up to date\n", "")

    def test_migrate_fills_an_empty_database(self, postgres_server, home: Path) -> None:  # type: ignore[no-untyped-def]
        url = postgres_server.url_of("skillroute")

        done = cli(home, "migrate", "--database-url", url)

        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("applied 0001_catalogue\n")
        assert not home.exists()

    def test_reindex_leaves_searches_as_good_as_they_were(self, running: Up) -> None:
        query = "schedule a meeting with John tomorrow"
        before = [tool["name"] for tool in running.search(query)["tools"]]

        done = cli(running.home.path, "reindex")

        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(
            "embedded 0 items, 0 skills, 0 servers and agents, 0 documents of mail, and 0 pieces of Agent Skills; "
            "every index rebuilds now\n"
        )
        assert [tool["name"] for tool in running.search(query)["tools"]] == before
        eventually(lambda: not running.http.get("/health").json()["index_rebuilding"], "the index is rebuilt")
        assert [tool["name"] for tool in running.search(query)["tools"]] == before


class TestWithNothingRunning:
    @pytest.mark.parametrize(
        "args",
        [
            ("search", "weather"),
            ("eval", "--queries", _REQUESTS),
            ("import", __file__),
            ("status",),
            ("verify",),
            ("migrate",),
            ("reindex",),
            ("dlq", "list"),
            ("skills", "propose"),
        ],
        ids=lambda args: args[0],
    )
    def test_one_line_says_what_to_do(self, home: Path, args: tuple[str, ...]) -> None:
        done = cli(home, *args)

        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith(f"skillroute: nothing runs in {home}: start it with `skillroute up`, or ")
        assert done.stderr.count("\n") == 1
        assert not home.exists()

    @pytest.mark.parametrize(
        "args",
        [("migrate",), ("reindex",), ("eval", "--queries", _REQUESTS), ("dlq", "redrive"), ("skills", "propose")],
    )
    def test_what_works_on_a_database_names_both_ways_to_say_which(self, home: Path, args: tuple[str, ...]) -> None:
        # Empty is unset, as sam local leaves what it does not set.
        refused = cli(home, *args, SKILLROUTE_DATABASE_URL="", SKILLROUTE_DATABASE_SECRET_ARN="")
        explained = cli(home, *args, "--help")

        for said in (refused.stderr, explained.stdout):
            assert "SKILLROUTE_DATABASE_URL" in said
            assert "SKILLROUTE_DATABASE_SECRET_ARN" in said

    def test_a_url_where_nothing_answers_is_one_line(self, home: Path) -> None:
        done = cli(home, "status", "--url", "http://127.0.0.1:1")

        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith("skillroute: http://127.0.0.1:1 does not answer (")
        assert done.stderr.endswith(": start it with `skillroute up`\n")
        assert done.stderr.count("\n") == 1

    def test_a_database_that_is_not_there_is_one_line(self, home: Path) -> None:
        done = cli(home, "reindex", SKILLROUTE_DATABASE_URL="postgresql://a:b@127.0.0.1:1/c")

        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == "skillroute: PostgreSQL at 127.0.0.1:1 cannot be reached\n"


def test_every_command_explains_itself(home: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        overall, *each = pool.map(
            lambda args: cli(home, *args), [("--help",), *((name, "--help") for name in _COMMANDS)]
        )

    assert (overall.returncode, overall.stderr) == (0, "")
    for name, done in zip(_COMMANDS, each, strict=True):
        assert (done.returncode, done.stderr) == (0, "")
        assert f" {name} " in overall.stdout
        assert f"Usage: skillroute {name} " in done.stdout or f"cli {name} " in done.stdout
        assert "--help" in done.stdout
