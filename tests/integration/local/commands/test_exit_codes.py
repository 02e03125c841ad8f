"""How commands end, and how they say why: every command of the command line, in one table."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer.main
from skillroute.core.errors.model import ConfigurationError, DatabaseUnavailable, InvalidInput
from skillroute_local.cli import app
from skillroute_local.commands.exit_codes import ExitCode, exit_code_of
from skillroute_local.errors import LocalError, Misused, Refused, Unreachable
from skillroute_local.exporting import Exported

from tests.integration.local.commands.conftest import CommandLine

NEEDS: dict[str, tuple[str, ...] | None] = {
    "search": ("weather",),
    "get": ("skill", "mail"),
    "list": ("tools",),
    "delete": ("skill", "mail", "--yes"),
    "import": (__file__,),
    "export": ("--all",),
    "doctor": (),
    "eval": ("--queries", str(Path(__file__).parents[4] / "benchmarks" / "requests" / "docker.jsonl")),
    "status": (),
    "verify": (),
    "reindex": (),
    "migrate": (),
    "sam-env": (),
    "skills edit": ("mail",),
    "skills propose": (),
    "suggestions list": (),
    "suggestions approve": ("1",),
    "suggestions reject": ("1",),
    "suggestions merge": ("1", "--into", "mail"),
    "suggestions review": (__file__,),
    "requests list": ("calendar/list_events",),
    "requests set": ("calendar/list_events", "what is on today"),
    "requests clear": ("calendar/list_events",),
    "requests write": ("--dry-run",),
    "learn run": ("--dry-run",),
    "learn status": (),
    "learn show": ("1",),
    "learn use": ("none",),
    "learn unserved": (),
    "learn judged": (),
    "learn receipts": (),
    "learn forget": ("calendar/list_events", "--yes"),
    "access list": (),
    "access add": ("allow", "Analysts read"),
    "access delete": ("1",),
    "access explain": ("--as", "role:analyst"),
    "trust list": (),
    "trust show": ("1",),
    "trust approve": ("1",),
    "trust reject": ("1",),
    "identity show": ("1",),
    "identity set": ("1", "--kind", "none"),
    "identity delete": ("1",),
    "login": ("1",),
    "logins": (),
    "logout": ("1",),
    "log": (),
    "dlq list": (),
    "dlq redrive": (),
    "dlq drop": (),
    "dlq refused": (),
    "dlq retry": (),
    "up": None,
    "console": (),
    "connect": None,
    "token": None,
}
"""What each command needs on its command line; None: it calls no Skillroute."""
CALLING = [name for name, needs in NEEDS.items() if needs is not None]
WITHOUT_JSON = {"up", "console", "connect", "sam-env", "export"}
"""`up`, `console` and `connect` serve until they are stopped; what `sam-env` and `export` print is JSON."""


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, with its name."""
    for name, within in command.commands.items():
        if hasattr(within, "commands"):
            yield from commands(within, (*path, name))
        else:
            yield " ".join((*path, name)), within


ALL = dict(commands(typer.main.get_command(app)))


def options(command: Any) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


def test_the_table_has_every_command() -> None:
    assert set(ALL) == set(NEEDS)


@pytest.mark.parametrize("name", ALL)
def test_every_command_prints_json(name: str) -> None:
    assert ("--json" in options(ALL[name])) == (name not in WITHOUT_JSON)


@pytest.mark.parametrize("name", ALL)
def test_0_help_is_asked_for(alone: CommandLine, name: str) -> None:
    done = alone(*name.split(), "--help")
    assert (done.exit_code, done.stderr) == (ExitCode.OK, "")


@pytest.mark.parametrize("name", ALL)
def test_help_names_every_option_whole_on_80_columns(alone: CommandLine, name: str) -> None:
    shown = alone(*name.split(), "--help", COLUMNS="80").stdout
    assert "…" not in shown
    for option in (one for one in options(ALL[name]) if one.startswith("--")):
        assert re.search(rf"(^|\s){re.escape(option)}(\s|$)", shown, re.MULTILINE), option


def test_help_breaks_its_lines_where_the_terminal_does(alone: CommandLine) -> None:
    for name, end in (("import", "the rest goes in,"), ("suggestions review", "are to be otherwise, merging")):
        assert end in alone(*name.split(), "--help", COLUMNS="150").stdout
        assert all(len(line) <= 80 for line in alone(*name.split(), "--help", COLUMNS="80").stdout.splitlines())


@pytest.mark.parametrize("name", sorted(set(ALL) - {"sam-env"}))  # whose arguments are another command
def test_2_an_option_is_unknown(alone: CommandLine, name: str) -> None:
    error = alone.error(*name.split(), "--no-such-option")
    assert (error["exit_code"], error["code"]) == (ExitCode.USAGE, "usage")
    assert error["detail"].endswith(f": see `skillroute {name} --help`")


@pytest.mark.parametrize("name", CALLING)
def test_3_nothing_runs_here(alone: CommandLine, nothing_runs_here: Path, name: str) -> None:
    args = (*name.split(), *(NEEDS[name] or ()))
    done = alone(*args)
    assert (done.exit_code, done.stdout) == (ExitCode.UNREACHABLE, "")
    assert done.stderr.startswith(f"skillroute: nothing runs in {nothing_runs_here}: start it with `skillroute up`")
    assert done.stderr.count("\n") == 1
    if name not in WITHOUT_JSON:
        error = alone.error(*args)
        assert (error["exit_code"], error["code"]) == (ExitCode.UNREACHABLE, "unreachable")


@pytest.mark.parametrize(
    ("status", "args"),
    [
        (0, ("--version",)),
        (2, ("--json", "list", "tools")),
        (0, ("list", "tools")),
        (0, ("get", "tool", "mail/send_mail")),
        (0, ("search", "letter", "--mode", "lexical")),
        (0, ("search", "zebra", "--mode", "lexical")),  # finding nothing is no failure
        (0, ("status",)),
        (0, ("verify",)),
        (0, ("token",)),
        (0, ("suggestions", "list")),
        (0, ("search", "letter", "--server", "mail", "--mode", "lexical")),
        (1, ("get", "skill", "nothing")),
        (1, ("get", "tool", "9999")),
        (1, ("get", "tool", "no/such")),
        (1, ("delete", "skill", "nothing", "--yes")),
        (1, ("delete", "skill", "nothing", "nobody", "--yes")),
        (1, ("suggestions", "approve", "9999")),
        (1, ("suggestions", "reject", "9998", "9999")),
        (1, ("suggestions", "merge", "9999", "--into", "nothing")),
        (0, ("suggestions", "list", "--grouped")),
        (1, ("suggestions", "approve", "--group", "nothing")),
        (2, ("suggestions", "approve")),
        (2, ("suggestions", "reject", "1", "--group", "Video")),
        (2, ("suggestions", "list", "--grouped", "--name", "Video")),
        (2, ("suggestions", "review", "/no/such/file")),
        (2, ("suggestions", "review", __file__)),
        (1, ("skills", "edit", "nothing")),
        (1, ("search", " ")),
        (2, ()),
        (2, ("nonsense",)),
        (2, ("get", "skill")),
        (2, ("get", "thing", "x")),
        (2, ("list", "skills", "--server", "x")),
        (2, ("list", "tools", "--limit", "0")),
        (2, ("search", "x", "--mode", "best")),
        (2, ("search", "x", "--registry", "--mail")),
        (2, ("search", "x", "--token", "t", "--sign-region", "r")),
        (2, ("search", "x", "--url", "ftp://example.com")),
        (2, ("delete", "skill", "nothing")),
        (2, ("import",)),
        (2, ("import", "/no/such/file")),
        (2, ("export",)),
        (2, ("export", "--all", "--kind", "skill")),
        (2, ("export", "--kind", "tools")),
        (2, ("export", "--all", "-o", __file__)),
        (2, ("search", "x", "--registry", "--server", "s")),
        (2, ("search", "x", "--mail", "--server", "s")),
        (2, ("eval",)),
        (2, ("skills", "propose", "--queries", "x")),
        (2, ("token", "--scope", "all")),
        (3, ("status", "--url", "http://127.0.0.1:1")),
        (4, ("delete", "tool", "mail/send_mail", "nothing", "--yes")),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, tuple) else str(value),
)
def test_ends(run: CommandLine, status: int, args: tuple[str, ...]) -> None:
    assert run(*args).exit_code == status


def test_4_an_import_that_went_in_partly(run: CommandLine, tmp_path: Path) -> None:
    good, bad = {"server": "x", "name": "good", "description": "Works."}, {"server": "x", "name": ""}
    file = tmp_path / "tools.jsonl"

    file.write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n", "utf-8")
    partly = run("import", str(file), "--json")
    file.write_text(f"{json.dumps(bad)}\n", "utf-8")
    not_at_all = run("import", str(file))
    file.write_text(f"{json.dumps(good)}\n", "utf-8")
    whole = run("import", str(file), "--dry-run", "--json")

    assert (partly.exit_code, not_at_all.exit_code, whole.exit_code) == (4, 1, 0)
    report = json.loads(partly.stdout)
    assert report["counts"] == {"items": {"created": 1, "failed": 1}}
    assert report["problems"][0].startswith("tools.jsonl:2: name: ")
    assert json.loads(whole.stdout)["changes"] == []
    assert (partly.stderr, whole.stderr) == ("", "")


def test_an_export_is_taken_back_and_compared(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "backup.ndjson"
    written = run("export", "--all", "-o", str(file))
    taken = run("import", str(file), "--json")
    compared = run("import", str(file), "--dry-run", "--json")
    shown = run("import", str(file))

    assert (written.exit_code, taken.exit_code, compared.exit_code, shown.exit_code) == (0, 0, 0, 0)
    assert written.stderr.startswith("exported ")
    end = json.loads(file.read_text("utf-8").splitlines()[-1])
    there = {kind: {"unchanged": number} for kind, number in end["lines"].items() if number}
    assert there
    assert json.loads(taken.stdout)["counts"] == json.loads(compared.stdout)["counts"] == there
    assert "tool: 0 created, 0 updated, " in shown.stdout


def test_3_nobody_answers_an_export(run: CommandLine, tmp_path: Path) -> None:
    done = run("export", "--all", "-o", str(tmp_path / "backup.ndjson"), "--url", "http://127.0.0.1:1")
    assert (done.exit_code, "does not answer" in done.stderr) == (ExitCode.UNREACHABLE, True)


def test_4_an_export_that_is_of_several_moments(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def changing(*_: Any) -> Exported:
        return Exported(lines=Counter(tool=1), changed=["tool"])

    monkeypatch.setattr("skillroute_local.exporting.export", changing)
    done = run("export", "--all", "-o", str(tmp_path / "backup.ndjson"))
    assert (done.exit_code, "tool changed while it was read" in done.stderr) == (ExitCode.PARTIAL, True)


def test_servers_that_nothing_is_known_of_are_named(run: CommandLine) -> None:
    done = run("search", "letter", "--server", "mail", "--server", "nowhere", "--mode", "lexical")
    assert (done.exit_code, "nothing is known of nowhere" in done.stdout) == (0, True)


def test_errors_of_the_api_keep_its_code_and_the_id_of_the_request(run: CommandLine, api: httpx.Client) -> None:
    error = run.error("get", "skill", "nothing")
    answer = api.get("/api/v1/skills/nothing").json()
    assert (error["code"], error["detail"], error["status"]) == (answer["code"], answer["detail"], 404)
    assert error["request_id"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (LocalError("no"), 1),
        (InvalidInput("field", "no"), 1),
        (Misused("no"), 2),
        (ConfigurationError("no"), 2),
        (Unreachable("no"), 3),
        (DatabaseUnavailable("no"), 3),
        *((Refused("no", status=status, detail="no"), 3) for status in (429, 502, 503, 504)),
        *((Refused("no", status=status, detail="no"), 1) for status in (401, 403, 404, 409, 412, 422, 500)),
    ],
    ids=lambda value: f"{type(value).__name__} {getattr(value, 'status', '')}" if isinstance(value, Exception) else "",
)
def test_an_error_has_one_status_everywhere(error: Any, status: int) -> None:
    assert exit_code_of(error) == status


@pytest.mark.parametrize("args", [("--version", "--json"), ("--json", "--version")])
def test_the_version_comes_as_json_too(alone: CommandLine, args: tuple[str, ...]) -> None:
    shown = alone(*args)
    assert (shown.exit_code, list(json.loads(shown.stdout)), shown.stderr) == (0, ["version"], "")
    assert alone("--version").stdout == f"skillroute {json.loads(shown.stdout)['version']}\n"


def test_a_question_that_nobody_answers_is_a_refusal(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillroute_local.commands.several.can_be_asked", lambda: True)
    ended = run("delete", "tool", "mail/send_mail", text="")
    denied = run("delete", "tool", "mail/send_mail", text="n\n")
    agreed = run("delete", "tool", "mail/send_mail", text="y\n")
    assert (ended.exit_code, denied.exit_code, agreed.exit_code) == (1, 1, 0)


def test_logs_stay_out_of_what_a_command_shows(run: CommandLine) -> None:
    from skillroute.core.observability import logger

    run("--version")
    quiet = run("list", "tools")
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    assert not logger.isEnabledFor(40)  # type: ignore[attr-defined]

    assert run("--verbose", "list", "tools").exit_code == 0
    assert logger.log_level == 20


def test_130_ctrl_c(alone: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("skillroute_local.commands.status.url_of", interrupted)
    assert alone("status").exit_code == ExitCode.INTERRUPTED
    assert alone.error("status")["code"] == "interrupted"


def test_ctrl_c_ends_up_without_a_failure(alone: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def serving(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("skillroute_local.up.up", serving)
    assert alone("up").exit_code == ExitCode.OK
