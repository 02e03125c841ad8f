"""`skillroute learn`: what people miss, judged requests, receipts exported and deleted, a tool forgotten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from skillroute.core.embedding.hashing import HashingEmbedder
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

    def test_what_one_caller_alone_taught_goes_with_them(self, run: CommandLine, system: System, tool: int) -> None:
        system.learned(tool, callers=1)
        _, taught = run("learn", "receipts", "--caller", "ann", "--delete", "--yes").stdout.splitlines()
        assert taught == "1 learned request of one caller alone deleted"
        assert system.left("learned_requests") == {"learned_requests": 0}

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


class TestStates:
    def test_shows_what_is_live_and_switches(self, run: CommandLine, system: System, tool: int) -> None:
        older, newer = system.learned(tool, is_live=False), system.learned(tool)
        system.rows("UPDATE mcp.learned_requests SET words = '{book,flight}'")
        receipts, there, live, _, _, *states = run("learn", "status").stdout.splitlines()
        assert (receipts, there) == ("receipts are not kept", "there are 2 searches of 2 callers, 1 outcome")
        assert live.startswith(f"state {newer} of ") and live.endswith(" is live: 1 request of 1 tool")
        assert [row.split()[0] for row in states] == [str(newer), str(older)]
        assert run("learn", "show").stdout.splitlines()[-1].split() == (
            ["travel/fly", "3", "3", "0.50", "book", "flight"]
        )
        assert run.json("learn", "use", str(older))["live"]["id"] == older
        done = run("learn", "use", "none")
        assert done.stdout == "no state is live; searches go by it within 15 seconds\n"
        assert "chosen by hand" in run("learn", "status").stdout
        assert run.json("learn", "use", "auto")["is_automatic"] is True
        assert run.error("learn", "show")["exit_code"] == 2
        assert run.json("learn", "show", str(newer))["requests"][0]["tool_id"] == tool

    def test_a_state_that_is_not_there_is_refused(self, run: CommandLine, system: System, tool: int) -> None:
        assert run.error("learn", "use", "7")["code"] == "not_found"
        for wrong in ("first", "0", "9" * 5000):
            assert run.error("learn", "use", wrong)["exit_code"] == 2

    def test_status_has_a_line_of_it(self, run: CommandLine, system: System, tool: int) -> None:
        assert "learned" not in run("status").stdout
        state = system.learned(tool)
        [line] = [line for line in run("status").stdout.splitlines() if line.startswith("learned")]
        assert f"state {state} of " in line and line.endswith(" is live: 1 request of 1 tool")
        assert run.json("status")["learned"]["id"] == state


class TestRun:
    @pytest.fixture
    def here(self, run: CommandLine, emptied_database_url: str) -> CommandLine:
        """The command line in an environment that names the database."""
        run.environment |= {
            "SKILLROUTE_DATABASE_URL": emptied_database_url,
            "SKILLROUTE_EMBEDDING_PROVIDER": "hashing",
        }
        return run

    @pytest.fixture
    def use(self, system: System) -> int:
        """Requests that are worded as a letter, and led to a tool for flights."""
        [tool] = system.put("fly", server="travel")
        text = "write a letter to somebody over the ocean"
        [vector] = HashingEmbedder().embed([text], timeout_s=10.0)
        for number in range(120):
            search = system.receipt(text, tool, vector=vector, days_ago=1 + number / 100, caller=f"caller {number}")
            system.outcome(search, "called", tool, caller=f"caller {number}")
        system.rows(
            "UPDATE mcp.receipts SET model = :model, shown = jsonb_build_array(jsonb_build_array(t.id, t.content_hash, "
            "0.5)) FROM mcp.tools t WHERE t.id = :tool",
            model=str(HashingEmbedder().model),
            tool=tool,
        )
        return tool

    def test_says_why_nothing_is_learned(self, here: CommandLine) -> None:
        counts, result = here("learn").stdout.splitlines()
        assert counts == "0 requests of 0 tools learned of 0 outcomes that count, of 0: 0 searches, 0 callers"
        assert result == "nothing was stored: no outcome fits a receipt of callers who may teach"

    def test_measures_and_stores_nothing_with_dry_run(self, here: CommandLine, system: System, use: int) -> None:
        done = here.json("learn", "run", "--dry-run")
        assert (done["state_id"], done["is_live"], done["is_better"]) == (None, False, True)
        assert done["held_out"] >= 20
        assert done["compared_with_none"]["after"]["ndcg@5"] > done["compared_with_none"]["before"]["ndcg@5"]
        assert here("learn", "--dry-run").stdout.endswith("\nwould go live; nothing was stored: nDCG@5 is higher\n")
        assert system.left("learned_states") == {"learned_states": 0}

    def test_what_finds_better_goes_live(self, here: CommandLine, system: System, use: int) -> None:
        done = here("learn", "run")
        assert (done.exit_code, done.stderr) == (0, "")
        counts, _, measured, _, *measures, _, result = done.stdout.splitlines()
        assert counts.endswith("of 1 tool learned of 120 outcomes that count, of 120: 120 searches, 120 callers")
        assert measured.startswith("compared with what was live, on ") and measured.endswith(" later searches:")
        assert [row.split()[0] for row in measures] == ["recall@1", "recall@5", "ndcg@5"]
        live = here.json("learn", "status")["live"]
        assert result == f"state {live['id']} is live: nDCG@5 is higher"
        [first, *_] = here.json("learn", "show")["requests"]
        assert (first["tool_id"], "ocean" in first["words"]) == (use, True)

    def test_an_organisation_learns_of_its_own_use(self, here: CommandLine, use: int) -> None:
        done = here.json("learn", "run", "--org", "acme")
        assert (done["org_id"], done["outcomes"], done["state_id"]) == ("acme", 0, None)

    def test_options_before_a_command_are_refused(self, here: CommandLine) -> None:
        assert here("learn", "--dry-run", "status").exit_code == 2
