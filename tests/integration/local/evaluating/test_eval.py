"""`skillroute eval` over real PostgreSQL and a replica: the whole command, but for its process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.observability import logger
from skillroute_local.commands.eval_ import eval_
from typer.testing import CliRunner

from tests.stubs.chat_server import OUT_OF_ORDER, ChatServer, saying
from tests.worlds.desk import ACME, Desk, tool

TOOLS = {
    "calendar": {"create_event": "Schedule a meeting with people.", "list_events": "Show what is planned."},
    "mail": {"send_mail": "Write a letter to somebody.", "search": "Look for old letters."},
    "files": {"search": "Look for documents."},
}
GOOD = [
    {"query": "schedule a meeting", "needs": [["calendar/create_event"]]},
    {"query": "write a letter", "needs": [["send_mail"]]},
    {"query": "look for documents", "needs": [["files/search", "mail/search"]]},
]
BAD = {"query": "zzz", "needs": [["calendar/list_events"]]}
"""By words nothing comes for it."""
NOTHING = {"query": "qqq", "needs": []}


@pytest.fixture
def desk(emptied_database_url: str) -> Iterator[Desk]:
    desk = Desk(emptied_database_url)
    desk.use(HashingEmbedder())
    desk.put(*(tool(name, said, server=server) for server, named in TOOLS.items() for name, said in named.items()))
    yield desk
    desk.close()


class Run:
    """The command in a folder of its own, by words unless a test asks otherwise: what they find is known."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._app = typer.Typer()
        self._app.command()(eval_)

    def __call__(self, *arguments: str, text: str | bytes | None = None) -> Result:
        return CliRunner().invoke(self._app, arguments, input=text)

    def eval(self, rows: list[Any], *arguments: str) -> Result:
        return self("--queries", self.file(rows), "--mode", "lexical", "--strategy", "direct", *arguments)

    def json(self, rows: list[Any], *arguments: str) -> dict[str, Any]:
        done = self.eval(rows, "--json", *arguments)
        assert done.exit_code == 0, done.output
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    def file(self, rows: list[Any]) -> str:
        path = self.folder / "q.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return str(path)


@pytest.fixture
def run(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    for name, value in {
        "SKILLROUTE_DATABASE_URL": desk.url,
        "SKILLROUTE_EMBEDDING_PROVIDER": "hashing",
        "SKILLROUTE_INDEX_OPTIMIZE_ABOVE": "5000",
        "SKILLROUTE_INDEX_DIR": str(tmp_path / "index"),
        "SKILLROUTE_HOME": str(tmp_path / "home"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SKILLROUTE_URL", raising=False)
    return Run(tmp_path)


class TestScorecard:
    def test_json_has_every_measure_of_what_was_asked(self, run: Run) -> None:
        report = run.json([*GOOD, BAD, NOTHING])
        assert report["measures"] == {
            "recall@1": 0.75,
            "recall@5": 0.75,
            "ndcg@5": 0.75,
            "comp@5": 0.75,
            "empty": 0.25,
            "refused": 0.0,
            "no_match": 1.0,
        }
        assert (report["requests"], report["answerable"], report["tools"]) == (5, 4, 5)
        assert report["settings"] == {"strategy": "direct", "mode": "lexical"}
        assert report["search_modes"] == ["lexical"]
        assert report["degraded"] == {}
        assert report["latency_ms"]["p95"] >= report["latency_ms"]["p50"] > 0.0
        assert report["servers"][0] == {"server": "calendar", "needs": 2, "recall@1": 0.5, "recall@5": 0.5}

    def test_a_person_sees_measures_servers_and_the_worst_with_what_came(self, run: Run) -> None:
        wrong = {"query": "write a [red]letter[/red]", "needs": [["calendar/list_events"]]}
        done = run.eval([*GOOD, BAD, wrong, NOTHING])
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith(
            "6 requests, 1 of them for nothing that is there; 5 items; strategy direct, ranked"
        )
        assert "recall@5  0.600" in done.stdout
        assert "q.jsonl:4  0.00  zzz\n    expected  calendar/list_events\n    came      nothing\n" in done.stdout
        # What others wrote is shown as it is.
        assert "q.jsonl:5  0.00  write a [red]letter[/red]\n" in done.stdout
        assert "    came      mail/send_mail" in done.stdout

    def test_worst_limits_the_requests_that_are_shown(self, run: Run) -> None:
        assert "the worst 1 request" in run.eval([BAD, BAD, BAD], "--worst", "1").stdout
        assert "the worst" not in run.eval([BAD], "--worst", "0").stdout

    def test_settings_of_the_search_are_those_of_the_options(self, run: Run) -> None:
        done = run(
            *("--queries", run.file([GOOD[0]]), "--json", "--type", "prompt", "--tool-threshold", "0.9"),
            *("--skill-limit", "2", "--skill-threshold", "0.8"),
        )
        report = json.loads(done.stdout)
        assert report["settings"] == {
            "strategy": "hierarchical",
            "item_type": "prompt",
            "skill_limit": 2,
            "skill_threshold": 0.8,
            "tool_threshold": 0.9,
        }
        assert report["measures"]["recall@5"] == 0.0  # the catalogue has no prompts

    def test_a_pipe_is_a_file_too(self, run: Run) -> None:
        done = run("--queries", "-", "--mode", "lexical", "--json", text=json.dumps(GOOD[0]))
        assert json.loads(done.stdout)["answers"][0]["where"] == "stdin:1"

    def test_an_organisation_searches_its_own_tools_and_the_global_ones(self, run: Run, desk: Desk) -> None:
        desk.put(tool("play_song", "Sing a melody."), caller=ACME)
        rows = [GOOD[0], {"query": "sing a melody", "needs": [["play_song"]]}]
        assert run.json(rows, "--org", "acme")["measures"]["recall@1"] == 1.0
        report = run.json(rows)
        assert (list(report["unknown_tools"]), report["left_out"], report["requests"]) == (["play_song"], 1, 1)

    def test_warnings_are_back_after_it(self, run: Run) -> None:
        before = logger.log_level
        run.json(GOOD)
        assert logger.log_level == before != 40


class TestWhatCannotBeMeasured:
    def test_wrong_lines_are_named_and_nothing_is_measured(self, run: Run) -> None:
        done = run.eval([GOOD[0], {"query": "a"}, {"query": "b", "needs": [[]]}], "--json")
        assert done.exit_code == 1
        assert done.stdout == ""
        assert "q.jsonl:2: needs: is missing\nq.jsonl:3: needs.0: " in done.stderr
        assert "2 of the file's lines cannot be used" in str(done.exception)

    def test_tools_that_are_not_there_are_told_and_not_counted_as_misses(self, run: Run) -> None:
        gone = {"query": "schedule a meeting", "needs": [["calendar/gone"]]}
        unclear = {"query": "look for documents", "needs": [["search"]]}
        done = run.eval([GOOD[0], gone, unclear], "--json")
        report = json.loads(done.stdout)
        assert done.exit_code == 0
        assert "2 tools of the file not found, which leaves out 2 of 3 requests:" in done.stderr
        assert "calendar/gone: not in the catalogue, or switched off\n" in done.stderr
        assert "search: 2 servers have it: write files/search, mail/search\n" in done.stderr
        assert (report["requests"], report["left_out"], report["measures"]["recall@5"]) == (1, 2, 1.0)

    def test_strict_fails_where_tools_are_not_there(self, run: Run) -> None:
        gone = {"query": "schedule a meeting", "needs": [["calendar/gone"]]}
        assert run.eval(GOOD, "--strict").exit_code == 0
        done = run.eval([*GOOD, gone], "--strict")
        assert (done.exit_code, done.stderr.splitlines()[-1]) == (1, "failed: 1 tool of the file not found")

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ((), "give one of --queries FILE and --generate NUMBER"),
            (("--queries", "none.jsonl"), "none.jsonl cannot be read"),
            (("--queries", "-"), "holds no request"),
            (("--queries", "-", "--compare", "colour=red"), "--compare colour=red"),
            (("--queries", "-", "--compare", "mode"), "--compare mode"),
            (("--queries", "-", "--compare", "mode=fast"), "mode: "),
            (("--queries", "-", "--compare", "tool_threshold=2"), "tool_threshold: "),
            (("--queries", "-", "--skill-limit", "99"), "skill_limit: "),
            (("--queries", "-", "--fail-under", "recall=1"), "--fail-under recall=1"),
            (("--generate", "3"), "--generate needs --output"),
        ],
    )
    def test_what_makes_no_sense_is_refused_before_any_work(
        self, run: Run, arguments: tuple[str, ...], says: str
    ) -> None:
        done = run(*arguments)
        assert done.exit_code == 1
        assert says in str(done.exception)

    def test_a_file_without_a_tool_of_the_catalogue_is_refused(self, run: Run) -> None:
        done = run.eval([{"query": "a", "needs": [["x/y"]]}])
        assert "no request is left to measure" in str(done.exception)


class TestCompare:
    def test_the_same_settings_differ_by_nothing(self, run: Run) -> None:
        report = run.json([*GOOD, BAD, NOTHING], "--compare", "mode=lexical")
        assert report["compared"]["measures"] == report["measures"]
        assert {tuple(each.values()) for each in report["compared"]["differences"].values()} == {(0.0, 0.0, 0.0)}

    def test_another_setting_is_asked_with_the_rest_as_given(self, run: Run) -> None:
        # GIVEN a threshold that no tool reaches by meaning
        report = run.json(GOOD, "--compare", "mode=semantic", "--compare", "tool-threshold=1.0")
        assert report["settings"] == {"strategy": "direct", "mode": "lexical"}
        compared = report["compared"]
        assert compared["settings"] == {"strategy": "direct", "mode": "semantic", "tool_threshold": 1.0}
        assert compared["search_modes"] == ["semantic"]
        assert compared["differences"]["recall@5"] == {"mean": -1.0, "low": -1.0, "high": -1.0}
        assert compared["differences"]["empty"]["mean"] == 1.0

    def test_a_person_sees_both_and_the_interval(self, run: Run) -> None:
        done = run.eval([*GOOD, BAD], "--compare", "mode=semantic", "--compare", "tool_threshold=1")
        assert "\ncompared: mode=semantic, tool_threshold=1\n" in done.stdout
        [row] = [line.split() for line in done.stdout.splitlines() if line.startswith("recall@5")]
        assert row[:4] == ["recall@5", "0.750", "0.000", "-0.750"]
        assert float(row[4]) <= -0.75 <= float(row[6]) <= 0.0


class TestGate:
    def test_a_recall_below_the_floor_fails_and_says_so(self, run: Run) -> None:
        rows = [*GOOD, BAD]
        assert run.eval(rows, "--fail-under", "recall@5=0.75").exit_code == 0
        done = run.eval(rows, "--fail-under", "recall@5=0.76", "--fail-under", "comp@5=0.1", "--json")
        assert done.exit_code == 1
        assert done.stderr.splitlines()[-1] == "failed: recall@5 is 0.7500, below 0.76"
        assert json.loads(done.stdout)["measures"]["recall@5"] == 0.75

    def test_a_recall_below_the_baseline_fails_and_says_so(self, run: Run) -> None:
        # GIVEN a baseline of a better catalogue
        baseline = str(run.folder / "baseline.json")
        assert run.eval(GOOD, "--output", baseline).exit_code == 0
        assert run.eval(GOOD, "--baseline", baseline).exit_code == 0

        # WHEN one of four requests is no longer served
        done = run.eval([*GOOD, BAD], "--baseline", baseline)

        assert done.exit_code == 1
        assert done.stderr.splitlines()[-2:] == [
            "the baseline measured 3 requests, this run 4",
            "failed: recall@5 is 0.7500, 0.2500 below the baseline's 1.0000; 0.01 is allowed",
        ]
        assert run.eval([*GOOD, BAD], "--baseline", baseline, "--tolerance", "0.25").exit_code == 0

    def test_a_report_is_not_overwritten_unless_told_so(self, run: Run) -> None:
        output = run.folder / "report.json"
        output.write_text("precious", "utf-8")
        done = run.eval(GOOD, "--output", str(output))
        assert (done.exit_code, output.read_text("utf-8")) == (1, "precious")
        assert "--force" in str(done.exception)
        assert run.eval(GOOD, "--output", str(output), "--force").exit_code == 0
        assert json.loads(output.read_text("utf-8"))["requests"] == 3


class TestGenerate:
    @pytest.fixture
    def chat(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
        with ChatServer() as server:
            monkeypatch.setenv("SKILLROUTE_CHAT_PROVIDER", "openai")
            monkeypatch.setenv("SKILLROUTE_CHAT_MODEL", "some-model")
            monkeypatch.setenv("SKILLROUTE_CHAT_BASE_URL", server.base_url)
            yield server

    def generate(self, run: Run, number: int, **options: Any) -> tuple[Result, list[dict[str, Any]]]:
        output = run.folder / "new.jsonl"
        done = run("--generate", str(number), "--output", str(output), **options)
        return done, [json.loads(line) for line in output.read_text("utf-8").splitlines()] if output.exists() else []

    def test_a_language_model_words_requests_that_can_be_measured(self, run: Run, chat: ChatServer) -> None:
        chat.script.extend([saying(json.dumps({"request": f"do thing {number}"})) for number in range(5)])
        done, rows = self.generate(run, 5)
        assert done.exit_code == 0, done.output
        assert done.stdout.splitlines()[0].endswith("new.jsonl; 0 skipped")
        titles = {f"{server}/{name}" for server, named in TOOLS.items() for name in named}
        assert {row["needs"][0][0] for row in rows} == titles
        assert {row["query"] for row in rows} == {f"do thing {number}" for number in range(5)}
        measured = run("--queries", str(run.folder / "new.jsonl"), "--mode", "lexical", "--json", "--strict")
        assert (measured.exit_code, json.loads(measured.stdout)["requests"]) == (0, 5)

    def test_what_it_does_not_word_well_is_skipped_and_told(self, run: Run, chat: ChatServer) -> None:
        chat.script.extend([saying("no JSON"), saying(json.dumps({"request": "good"})), saying('{"request": ""}')])
        done, rows = self.generate(run, 3)
        assert (done.exit_code, [row["query"] for row in rows]) == (0, ["good"])
        assert "2 skipped" in done.stdout
        assert "answered with something that is not JSON" in done.stderr

    def test_one_that_is_away_ends_it_with_a_line(self, run: Run, chat: ChatServer) -> None:
        chat.usual = lambda _: OUT_OF_ORDER
        done, _ = self.generate(run, 1)
        assert done.exit_code == 1
        assert "no request was written" in str(done.exception)
        assert not (run.folder / "new.jsonl").exists()  # or the next run would be told of a file that is there

    def test_without_one_the_person_at_the_terminal_is_asked(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("skillroute_local.commands.eval_generate._is_terminal", lambda: True)
        # GIVEN a person who words one, skips one, and then presses Ctrl-D
        done, rows = self.generate(run, 5, text="for me, please\n\n")
        assert done.exit_code == 0, done.output
        assert [row["query"] for row in rows] == ["for me, please"]
        assert rows[0]["needs"][0][0] in done.stdout
        assert "1 skipped" in done.stdout

    def test_with_neither_the_settings_are_named(self, run: Run) -> None:
        done, rows = self.generate(run, 5)
        assert (done.exit_code, rows) == (1, [])
        assert "SKILLROUTE_CHAT_PROVIDER" in str(done.exception)

    def test_a_file_that_is_there_is_left_alone(self, run: Run, chat: ChatServer) -> None:
        path = Path(run.file(GOOD))
        before = path.read_text("utf-8")
        done = run("--generate", "1", "--output", str(path))
        assert (done.exit_code, path.read_text("utf-8"), chat.requests) == (1, before, [])
        assert "--force" in str(done.exception)
