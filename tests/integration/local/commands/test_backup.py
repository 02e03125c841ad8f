"""`skillroute export` and the import of what it wrote: whole, of one moment, and over connections that break."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.wiring.portable import portable_kinds
from skillroute_client import Retry
from skillroute_client.lines import KINDS
from skillroute_local.client import PATIENT, Client
from skillroute_local.errors import LocalError, Refused, Unreachable
from skillroute_local.exporting import MAX_ROUNDS, Exported, export
from skillroute_local.importing.compare import Change
from skillroute_local.importing.model import Choices
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.run import Import
from skillroute_local.importing.standard_input import STANDARD_INPUT, with_standard_input
from skillroute_local.importing.wanted import wanted

from tests.api.one_app import app_over
from tests.api.routes import fill
from tests.builders import System, lent_system
from tests.client_over import URL, AppTransport
from tests.conftest import fresh_database
from tests.doubles import EdgeIndexes


class OverApp(Client):
    """A client of an app in this process, whose calls a test may spoil: `spoil` is called before and after each."""

    def __init__(self, system: System, spoil: Callable[[str], None] = lambda _: None) -> None:
        self.waited: list[float] = []
        retry = Retry(attempts=4, base_s=0.0, connect_attempts=1)
        super().__init__(URL, retry=retry, http=_Spoilt(app_over(system), spoil), sleep=self.waited.append)


class _Spoilt(httpx.Client):
    def __init__(self, app: Any, spoil: Callable[[str], None]) -> None:
        super().__init__(transport=AppTransport(app))
        self._spoil = spoil

    def send(self, *args: Any, **kwargs: Any) -> httpx.Response:
        self._spoil("before")
        answer = super().send(*args, **kwargs)
        self._spoil("after")
        return answer


class NoBar:
    def sized(self, size: int) -> None: ...

    def advance(self, done: int) -> None: ...

    def end(self) -> None: ...


@pytest.fixture
def system(emptied_database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(emptied_database_url, edge_indexes, embedder=HashingEmbedder()) as system:
        yield system


@pytest.fixture
def other(postgres_server: Any, migrated_template: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with (
        fresh_database(postgres_server, migrated_template) as url,
        lent_system(url, edge_indexes, embedder=HashingEmbedder()) as system,
    ):
        yield system


def exported(client: Client, *, page: int = 500) -> tuple[bytes, Exported]:
    to = io.BytesIO()
    report = export(client, (), to, page=page)
    return to.getvalue(), report


def backup(client: Client, folder: Path) -> Path:
    file = folder / "backup.ndjson"
    file.write_bytes(exported(client)[0])
    return file


def importing(client: Client, file: Path) -> Import:
    return Import(wanted({"items": [file]}, None, Choices(), None, watch=False), client)


def imported(client: Client, file: Path) -> ImportReport:
    return importing(client, file).write(lambda _: NoBar())


def compared(client: Client, file: Path) -> tuple[ImportReport, list[Change]]:
    changes: list[Change] = []
    return importing(client, file).compare(lambda _: NoBar(), changes.append), changes


def counted(report: ImportReport) -> dict[str, dict[str, int]]:
    return {kind: dict(counts) for kind, counts in report.counts.items()}


def test_the_command_line_knows_the_kinds_of_the_api(system: System) -> None:
    assert tuple(portable.kind for portable in portable_kinds(system.parts, system.database)) == KINDS


def test_a_backup_is_recognised_by_its_lines_and_restores_everything(
    system: System, other: System, tmp_path: Path
) -> None:
    fill(system)
    file = backup(OverApp(system), tmp_path)
    *_, end = (json.loads(line) for line in file.read_text("utf-8").splitlines())
    # WHEN it is compared with an empty Skillroute, imported, and compared again
    client = OverApp(other)
    before, changes = compared(client, file)
    report = imported(client, file)
    after, _ = compared(client, file)
    # THEN the comparison says what the import does, and everything is there
    assert counted(before) == counted(report) == {kind: {"created": n} for kind, n in end["lines"].items() if n}
    assert {change.name for change in changes} > {"skill garden", "tool tool/water_plants", "message garden"}
    assert counted(after) == {kind: {"unchanged": number} for kind, number in end["lines"].items() if number}
    assert (report.problems, report.notes) == ([], [])
    assert exported(client)[0].splitlines()[:-1] == file.read_bytes().splitlines()[:-1]


def test_a_comparison_names_what_differs(system: System, tmp_path: Path) -> None:
    fill(system)
    client = OverApp(system)
    file = backup(client, tmp_path)
    system.change("garden", name="Another")
    report, changes = compared(client, file)
    assert [(change.what, change.name, change.detail) for change in changes if change.what != "unchanged"] == [
        ("updated", "skill garden", "name")
    ]
    assert report.counts["skill"] == {"updated": 1}


def test_a_dry_run_refuses_and_warns_as_the_import_does(system: System, tmp_path: Path) -> None:
    lines = [
        {"kind": "skill", "id": "garden", "name": "Garden", "description": "Water the plants."},
        {"kind": "nonsense", "x": 1},
        {"kind": "tool", "name": ""},
        {"kind": "tool", "name": "rake", "descripton": "Rakes."},
        {"kind": "message", "key": "m", "project": "nowhere", "from": "Ann", "to": ["Bob"], "subject": "Spring"},
    ]
    file = tmp_path / "backup.ndjson"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    tried, changes = compared(OverApp(system), file)
    assert [(change.what, change.name) for change in changes] == [
        ("created", "skill garden"),
        ("created", "tool tool/rake"),
    ]
    assert [warning.partition(" ")[2] for warning in tried.warnings] == [
        "descripton: is unknown and was kept as it came: did you mean description?"
    ]
    done = imported(OverApp(system), file)
    assert (tried.counts, tried.problems, tried.warnings) == (done.counts, done.problems, done.warnings)
    assert len(done.problems) == 3


def test_a_dry_run_of_many_calls_knows_the_lines_of_those_before(system: System, other: System, tmp_path: Path) -> None:
    fill(system)
    for number in range(3):
        system.create(f"skill_{number}")
    for number in range(500):
        system.tool(f"tool_{number}", None, skills=[f"skill_{number % 3}", "garden"])
    project = {"key": "late", "name": "Late"}
    messages = [
        {"key": f"m{number}", "project": "late", "from": "Ann", "to": ["Bob"], "subject": str(number)}
        for number in range(250)
    ]
    system.parts.mail.sync("project", [project], LAPTOP)
    system.parts.mail.sync("message", messages, LAPTOP)
    file = backup(OverApp(system), tmp_path)
    tried, changes = compared(OverApp(other), file)
    assert (tried.problems, tried.notes) == ([], [])
    assert {change.what for change in changes} == {"created"}
    assert other.rows("SELECT count(*) FROM mcp.tools") == [[0]]
    assert counted(tried) == counted(imported(OverApp(other), file))


def test_what_changes_while_it_is_exported_is_read_again(system: System) -> None:
    fill(system)
    names = iter(["late", "later"])

    def write(when: str) -> None:
        if when == "after" and (name := next(names, None)) is not None:
            system.put(name)

    text, report = exported(OverApp(system, write), page=2)
    lines = [json.loads(line) for line in text.splitlines()]
    found = [line["name"] for line in lines if line["kind"] == "tool"]
    assert found == ["encode_video", "water_plants", "open_valves", "late", "later"]
    assert (report.changed, lines[-1]["lines"]["tool"], lines[-1]["lines"]["skill"]) == ([], 5, 1)
    assert lines[:-1] == [json.loads(line) for line in exported(OverApp(system))[0].splitlines()][:-1]


def test_what_never_rests_is_said_to_be_of_several_moments(system: System) -> None:
    system.put("busy", "other", "another")
    numbers = iter(range(1000))
    calls = []

    def write(when: str) -> None:
        if when == "after":
            calls.append(system.put("busy", description=f"Busy {next(numbers)}."))

    text, report = exported(OverApp(system, write), page=2)
    assert (report.changed, len(text.splitlines())) == (["tool"], 4)
    assert len(calls) == 2 * MAX_ROUNDS


def test_what_is_deleted_while_it_is_exported_leaves_no_lines(system: System) -> None:
    system.put("gone")
    system.create("garden")
    waits = iter([True])

    def delete(when: str) -> None:
        if when == "after" and next(waits, False):
            system.sql("DELETE FROM mcp.tools")

    text, report = exported(OverApp(system, delete), page=2)
    assert ([json.loads(line)["kind"] for line in text.splitlines()], report.changed) == (["skill", "end"], [])


def test_a_lost_answer_is_asked_for_again_and_no_result_is_lost(system: System, other: System, tmp_path: Path) -> None:
    fill(system)
    file = backup(OverApp(system), tmp_path)
    lines = len(file.read_bytes().splitlines()) - 1
    breaks = iter([False, True])

    def spoil(when: str) -> None:
        if when == "after" and next(breaks, False):
            raise httpx.RemoteProtocolError("the server closed the connection")

    client = OverApp(other, spoil)
    client.health()  # it is there
    report = imported(client, file)
    # What the first attempt had written is unchanged in the second, which the notes say.
    assert sum(sum(counts.values()) for counts in report.counts.values()) == lines
    assert {status for counts in report.counts.values() for status in counts} == {"unchanged"}
    assert client.lost_answers == 1
    assert ["the connection broke" in note for note in report.notes] == [True]
    assert exported(OverApp(other))[0].splitlines()[:-1] == file.read_bytes().splitlines()[:-1]


def test_an_import_that_ends_early_still_says_what_it_did(system: System, other: System, tmp_path: Path) -> None:
    system.put(*(f"tool_{number}" for number in range(300)))
    file = backup(OverApp(system), tmp_path)
    answers = iter([True])

    def spoil(when: str) -> None:
        if when == "before" and not next(answers, False):
            raise httpx.ConnectError("nobody is there")

    client = OverApp(other, spoil)
    started = importing(client, file)
    with pytest.raises(LocalError, match="does not answer"):
        started.write(lambda _: NoBar())
    assert started.report.counts["tool"] == {"created": 200}
    # The same once more does the rest.
    assert counted(imported(OverApp(other), file)) == {"tool": {"unchanged": 200, "created": 100}}


class Answering(Client):
    """A client of a server that answers, or breaks the connection, as the test has it."""

    def __init__(self, *answers: httpx.Response | httpx.TransportError, attempts: int = 8) -> None:
        self.waited: list[float] = []
        self.asked = 0
        self._answers = iter(answers)
        retry = replace(PATIENT, attempts=attempts, base_s=0.0)
        http = httpx.Client(transport=httpx.MockTransport(self._answer))
        super().__init__(URL, retry=retry, http=http, sleep=self.waited.append)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1
        answer = next(self._answers)
        if isinstance(answer, httpx.TransportError):
            raise answer
        return answer


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_asks_for_a_pause_gets_it(status: int) -> None:
    asks = httpx.Response(status, headers={"Retry-After": "7"})
    client = Answering(asks, httpx.Response(status), httpx.Response(200, content=b"{}\n"))
    assert client.export_page((), None, 1) == [b"{}"]
    assert (client.waited, client.lost_answers) == ([7.0, 0.0], 0)


def test_the_last_refusal_is_the_answer_and_attempts_are_not_multiplied() -> None:
    client = Answering(*[httpx.Response(503, headers={"Retry-After": "1"}) for _ in range(20)], attempts=3)
    with pytest.raises(Refused) as refused:
        client.put("lines", [{"kind": "skill"}])
    assert (refused.value.status, client.asked) == (503, 3)


def test_a_server_that_was_never_there_is_not_waited_for() -> None:
    client = Answering(httpx.ConnectError("refused"))
    with pytest.raises(Unreachable, match="refused"):
        client.put("lines", [{"kind": "skill"}])
    assert (client.waited, client.asked) == ([], 1)


def test_what_takes_too_long_is_not_sent_again() -> None:
    client = Answering(httpx.Response(200, content=b"{}\n"), httpx.ReadTimeout("too slow"))
    client.export_page((), None, 1)
    with pytest.raises(Unreachable, match="too slow"):
        client.put("items", [{"name": "x"}])
    assert (client.waited, client.asked) == ([], 2)


def test_what_a_lost_attempt_deleted_is_deleted() -> None:
    there, gone = httpx.Response(204), httpx.Response(404, json={"detail": "no such tool", "code": "tool_not_found"})
    client = Answering(there, httpx.ReadError("broken"), gone, gone)
    client.delete_item(1)
    client.delete_item(2)
    with pytest.raises(Refused, match="404"):
        client.delete_item(3)


def test_bad_lines_are_named_and_the_others_go_on(system: System, tmp_path: Path) -> None:
    file = tmp_path / "backup.ndjson"
    file.write_text(
        '{"kind": "skill", "id": "garden", "name": "Garden", "description": "Water the plants."}\n'
        "{broken\n"
        '{"kind": "skill", "id": "Big", "name": "Big", "description": "Water the plants."}\n'
        '{"kind": "tool", "name": "water"}\n',
        encoding="utf-8",
    )
    report = imported(OverApp(system), file)
    assert [problem.partition(": ")[0] for problem in report.problems] == ["backup.ndjson:2", "backup.ndjson:3"]
    assert report.problems[1].startswith("backup.ndjson:3: id: must begin with a small letter")
    assert counted(report) == {
        "lines": {"failed": 1},
        "skill": {"created": 1, "failed": 1},
        "tool": {"created": 1},
    }
    assert report.notes == ["backup.ndjson: has no last line of kind end: it may be part of an export"]


def test_an_export_of_nothing_is_a_backup_of_nothing(system: System, tmp_path: Path) -> None:
    report = imported(OverApp(system), backup(OverApp(system), tmp_path))
    assert (counted(report), report.problems, report.notes) == ({}, [], [])


def test_standard_input_is_a_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"kind": "tool"}\n')))
    with with_standard_input([tmp_path, STANDARD_INPUT]) as (folder, given):
        assert (folder, given.name, given.read_bytes()) == (tmp_path, "stdin", b'{"kind": "tool"}\n')
    assert not given.exists()


def test_standard_input_is_read_once() -> None:
    with pytest.raises(LocalError, match="once"), with_standard_input([STANDARD_INPUT, STANDARD_INPUT]):
        pass
