"""`skillroute learn`: what people miss, judged requests, receipts exported and deleted, a tool forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from skillroute_local.commands.eval_ import read_queries

from tests.builders import System
from tests.integration.local.commands.conftest import CommandLine


@pytest.fixture
def tool(system: System) -> int:
    """A tool that was called once, and lacked once."""
    [tool] = system.put("fly", server="travel")
    system.outcome(system.receipt("book a flight", tool, days_ago=1), "called", tool)
    system.receipt("mow the lawn", tool, no_match=True, caller="ben")
    return tool


class TestUnserved:
    def test_lists_what_people_miss(self, run: CommandLine, tool: int) -> None:
        heading, row = run("learn", "unserved").stdout.splitlines()
        assert (heading.split()[:3], row.split()) == (
            ["searches", "callers", "request"],
            ["1", "1", "mow", "the", "lawn", "travel/fly"],
        )
        [group] = run.json("learn", "unserved")
        assert (group["query"], group["tools"][0]["id"]) == ("mow the lawn", tool)

    def test_says_so_where_nothing_is_missed(self, run: CommandLine) -> None:
        assert run("learn", "unserved", "--days", "7").stdout == "no request of the last 7 days went without a tool\n"

    def test_says_how_many_more_there_are(self, run: CommandLine, system: System, tool: int) -> None:
        system.receipt("trim the hedge", no_match=True)
        assert run("learn", "unserved", "--limit", "1").stderr == "1 of 2; --all shows the others too\n"


class TestJudged:
    def test_writes_what_eval_reads(self, run: CommandLine, tool: int, tmp_path: Path) -> None:
        file = tmp_path / "set.jsonl"
        done = run("learn", "judged", "--output", str(file))
        assert (done.exit_code, done.stderr) == (0, f"1 line written to {file}\n")
        [row] = read_queries(str(file))
        assert (row.request.query, row.request.needs) == ("book a flight", [["travel/fly"]])
        assert run("learn", "judged", "--output", str(file)).exit_code == 2
        assert json.loads(run("learn", "judged").stdout)["source"] == "use"

    def test_says_so_where_there_is_none(self, run: CommandLine) -> None:
        assert run.json("learn", "judged") == []
        assert run("learn", "judged").stderr == "no request of the last 30 days has outcomes that judge it\n"


class TestReceipts:
    def test_are_exported_of_all_and_of_one(self, run: CommandLine, tool: int, tmp_path: Path) -> None:
        lines = run("learn", "receipts").stdout.splitlines()
        assert [json.loads(line)["query"] for line in lines] == ["book a flight", "mow the lawn"]
        file = tmp_path / "ben.jsonl"
        assert run.json("learn", "receipts", "--caller", "ben", "--output", str(file)) == {"written": 1}
        assert json.loads(file.read_text("utf-8"))["query"] == "mow the lawn"

    def test_of_a_caller_are_deleted_when_that_is_confirmed(self, run: CommandLine, tool: int) -> None:
        asked = run("learn", "receipts", "--caller", "ann", "--delete")
        assert (asked.exit_code, asked.stderr) == (2, "skillroute: no terminal to confirm in; pass --yes\n")
        done = run("learn", "receipts", "--caller", "ann", "--delete", "--yes")
        assert (done.exit_code, done.stdout) == (0, "1 receipt and 1 outcome of ann deleted\n")
        assert [each["query"] for each in run.json("learn", "receipts")] == ["mow the lawn"]

    @pytest.mark.parametrize("options", [(), ("--caller", "ann", "--output", "file")])
    def test_are_deleted_of_a_caller_alone_and_nowhere_written(
        self, run: CommandLine, tool: int, options: tuple[str, ...]
    ) -> None:
        assert run.error("learn", "receipts", "--delete", "--yes", *options)["exit_code"] == 2
        assert len(run.json("learn", "receipts")) == 2


class TestForget:
    def test_forgets_what_was_learned_of_a_tool(self, run: CommandLine, system: System, tool: int) -> None:
        system.learned(tool)
        done = run("learn", "forget", "travel/fly", "--yes")
        assert (done.exit_code, done.stdout) == (0, "travel/fly: 1 learned request and 1 outcome forgotten\n")
        assert run.json("learn", "forget", str(tool), "--yes") == {
            "id": tool, "requests": 0, "pairs": 0, "states": 0, "outcomes": 0
        }  # fmt: skip

    def test_asks_first(self, run: CommandLine, system: System, tool: int) -> None:
        assert run("learn", "forget", "travel/fly").exit_code == 2
        assert system.left("outcomes") == {"outcomes": 1}
