"""What `--prune` may take: little unless confirmed, switched off first, and back with its skills when it is back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute_local.importing.compare import Change
from skillroute_local.importing.model import Choices
from skillroute_local.importing.pruning import Pruning
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.run import Import
from skillroute_local.importing.stored import MARK
from skillroute_local.importing.wanted import wanted

from tests.api.one_app import app_over
from tests.builders import System, lent_system
from tests.client_over import client_over
from tests.doubles import EdgeIndexes
from tests.integration.local.commands.test_backup import NoBar, OverApp

SOME, ALL = Pruning(), Pruning(is_confirmed=True)
TODAY = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = [f"t{number:02}" for number in range(40)]

YAML = """\
openapi: 3.0.3
info: {title: Pets, version: "1"}
paths:
  /a:
    get: {operationId: first}
    put: {operationId: second}
  /b:
    get:
      operationId: third
      summary: The third one.
  /c:
    get: {operationId: fourth}
"""


@pytest.fixture
def system(emptied_database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(emptied_database_url, edge_indexes, embedder=HashingEmbedder()) as system:
        system.create("mending")
        yield system


@pytest.fixture
def client(system: System) -> Iterator[OverApp]:
    with OverApp(system) as client:
        yield client


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tools.jsonl"


def lines(names: Sequence[str], **more: object) -> str:
    return "".join(json.dumps({"server": "shed", "name": name, **more}) + "\n" for name in names)


def importing(client: OverApp, file: Path, pruning: Pruning | None, at: datetime = TODAY) -> Import:
    sources = wanted({"items": [file]}, None, Choices(), None, watch=False)
    return Import(sources, client, pruning=pruning, now=lambda: at)


def imported(client: OverApp, file: Path, text: str, pruning: Pruning | None = None, **more: Any) -> ImportReport:
    file.write_text(text, encoding="utf-8")
    return importing(client, file, pruning, **more).write(lambda _: NoBar())


def compared(client: OverApp, file: Path, text: str, pruning: Pruning) -> tuple[ImportReport, list[tuple[str, str]]]:
    changes: list[Change] = []
    file.write_text(text, encoding="utf-8")
    report = importing(client, file, pruning).compare(lambda _: NoBar(), changes.append)
    return report, [(change.what, change.name) for change in changes if change.what != "unchanged"]


def assign_all(system: System) -> None:
    for [tool_id] in system.rows("SELECT id FROM mcp.tools"):
        system.assign(tool_id, mending=0.9)


def searched(system: System) -> list[str]:
    return [name for [name] in system.rows("SELECT name FROM mcp.tools WHERE is_active ORDER BY name")]


def by_people(system: System) -> list[list[Any]]:
    return system.rows(
        "SELECT t.id, t.name, a.skill_key FROM mcp.tools t JOIN mcp.tool_skill_assignments a ON a.tool_id = t.id "
        "WHERE a.source = 'human_manual' ORDER BY t.id"
    )


@pytest.mark.parametrize("pruning", [SOME, ALL], ids=["some", "all"])
@pytest.mark.parametrize(
    ("name", "text"), [("pets.yaml", YAML), ("tools.jsonl", lines(NAMES[:12]))], ids=["yaml", "lines"]
)
def test_no_cut_of_a_file_loses_anything_that_somebody_assigned(
    system: System, client: OverApp, tmp_path: Path, name: str, text: str, pruning: Pruning
) -> None:
    # GIVEN what a whole file has, assigned by hand
    imported(client, tmp_path / name, text)
    assign_all(system)
    whole, kept = searched(system), by_people(system)
    assert len(kept) == len(whole) >= 4
    missed = 0
    for cut in cuts(text):
        # WHEN a file that was cut anywhere is imported
        imported(client, tmp_path / name, text[:cut], pruning)
        # THEN all of it is there, be it switched off
        assert not lost(kept, by_people(system)), f"cut at {cut}"
        if off := lost(whole, searched(system)):
            missed += 1
            assert pruning is ALL or len(off) <= len(whole) / 10
            # AND what is missed is searched again once the file is whole, as it was
            imported(client, tmp_path / name, text, pruning)
            assert not lost(kept, by_people(system)), f"cut at {cut}"
            assert not lost(whole, searched(system)), f"cut at {cut}"
    assert missed or pruning is SOME, "some cuts look like a whole file"


def cuts(text: str) -> list[int]:
    """Return where a text is cut: everywhere; of lines, which are alike, before and after their ends."""
    if text is YAML:
        return list(range(len(text)))
    ends = [end for end, letter in enumerate(text) if letter == "\n"]
    return sorted({cut for end in ends for cut in (end - 1, end + 1)} - {len(text)})


def lost(before: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    return [each for each in before if each not in after]


class TestATenth:
    def test_more_goes_only_when_it_is_confirmed(self, system: System, client: OverApp, file: Path) -> None:
        imported(client, file, lines(NAMES))

        refused = imported(client, file, lines(NAMES[:10]), SOME)

        assert searched(system) == NAMES
        assert refused.problems == [
            "tools.jsonl: 30 of 40 tools of shed are in it no longer, more than 10 %: nothing of them is removed. "
            "Is it whole? --dry-run shows what would go, --prune=all removes it"
        ]
        assert refused.counts["items"] == {"unchanged": 10}
        done = imported(client, file, lines(NAMES[:10]), ALL)
        assert (done.problems, done.counts["items"]) == ([], {"unchanged": 10, "removed": 30})
        assert searched(system) == NAMES[:10]

    @pytest.mark.parametrize(("left", "goes"), [(36, True), (35, False)])
    def test_up_to_a_tenth_goes(self, system: System, client: OverApp, file: Path, left: int, goes: bool) -> None:
        imported(client, file, lines(NAMES))
        imported(client, file, lines(NAMES[:left]), SOME)
        assert searched(system) == (NAMES[:left] if goes else NAMES)

    def test_or_how_much_is_asked_for(self, system: System, client: OverApp, file: Path) -> None:
        imported(client, file, lines(NAMES))
        imported(client, file, lines(NAMES[:20]), Pruning(up_to_percent=50))
        assert searched(system) == NAMES[:20]

    def test_is_judged_for_each_server(self, system: System, client: OverApp, file: Path) -> None:
        # GIVEN a large server beside a small one, of which half is gone: 1 of 41 in all
        whole = lines(NAMES) + lines(["hoe", "rake"], server="garden")
        imported(client, file, whole)
        report = imported(client, file, lines(NAMES[:39]) + lines(["hoe"], server="garden"), SOME)
        assert searched(system) == ["hoe", "rake", *NAMES[:39]]
        assert [problem.partition(" are ")[0] for problem in report.problems] == ["tools.jsonl: 1 of 2 tools of garden"]

    def test_what_is_off_already_counts_neither_as_there_nor_as_gone(
        self, system: System, client: OverApp, file: Path
    ) -> None:
        imported(client, file, lines(NAMES))
        imported(client, file, lines(NAMES[:20]), ALL)
        imported(client, file, lines(NAMES[:17]), SOME)
        assert searched(system) == NAMES[:20]
        imported(client, file, lines(NAMES[:18]), SOME)
        assert searched(system) == NAMES[:18]

    def test_a_dry_run_says_the_same(self, system: System, client: OverApp, file: Path) -> None:
        imported(client, file, lines(NAMES))
        report, changes = compared(client, file, lines(NAMES[:10]), SOME)
        assert (changes, len(report.problems)) == ([], 1)
        report, changes = compared(client, file, lines(NAMES[:38]), SOME)
        assert changes == [("removed", "shed/t38"), ("removed", "shed/t39")]
        assert searched(system) == NAMES


class TestWhatIsRemoved:
    def test_comes_back_as_it_was_and_the_dry_run_says_so(self, system: System, client: OverApp, file: Path) -> None:
        imported(client, file, lines(["hoe", "rake"], metadata={"x": 1}))
        assign_all(system)
        before = system.rows("SELECT id, metadata, content_hash, is_active FROM mcp.tools ORDER BY id")
        imported(client, file, lines(["hoe"], metadata={"x": 1}), ALL)
        [[metadata]] = system.rows("SELECT metadata FROM mcp.tools WHERE name = 'rake'")
        assert metadata == {"x": 1, MARK: {"at": "2026-03-01T00:00:00+00:00", "was_switched_off": False}}

        shown: list[Change] = []
        file.write_text(lines(["hoe", "rake"], metadata={"x": 1}), encoding="utf-8")
        importing(client, file, ALL).compare(lambda _: NoBar(), shown.append)
        assert [(change.what, change.detail) for change in shown] == [("unchanged", ""), ("updated", "is_switched_off")]

        report = imported(client, file, lines(["hoe", "rake"], metadata={"x": 1}))  # be it without --prune
        assert system.rows("SELECT id, metadata, content_hash, is_active FROM mcp.tools ORDER BY id") == before
        assert report.counts["items"] == {"unchanged": 1, "updated": 1, "switched_on": 1}

    def test_is_deleted_by_the_first_prune_after_a_week(self, system: System, client: OverApp, file: Path) -> None:
        imported(client, file, lines(["hoe", "rake"]))
        imported(client, file, lines(["hoe"]), ALL)
        stored = "SELECT name FROM mcp.tools ORDER BY name"

        for days, names in ((7, ["hoe", "rake"]), (8, ["hoe"])):
            report = imported(client, file, lines(["hoe"]), SOME, at=TODAY + timedelta(days=days))
            assert [name for [name] in system.rows(stored)] == names
        assert report.counts["items"] == {"unchanged": 1, "deleted": 1}

    def test_stays_while_its_source_looks_half_written(self, system: System, client: OverApp, file: Path) -> None:
        imported(client, file, lines(NAMES[:3]))
        imported(client, file, lines(NAMES[:2]), ALL)
        imported(client, file, lines(NAMES[:1]), SOME, at=TODAY + timedelta(days=9))
        assert len(system.rows("SELECT id FROM mcp.tools")) == 3

    def test_is_not_switched_on_where_somebody_had_switched_it_off(
        self, system: System, client: OverApp, file: Path
    ) -> None:
        imported(client, file, lines(["hoe", "rake"]))
        [[rake]] = system.rows("SELECT id FROM mcp.tools WHERE name = 'rake'")
        system.parts.catalogue.switch(rake, LAPTOP, is_active=False)
        imported(client, file, lines(["hoe"]), ALL)
        imported(client, file, lines(["hoe", "rake"]), ALL)
        assert system.rows("SELECT is_active, metadata FROM mcp.tools WHERE id = :id", id=rake) == [[False, {}]]

    def test_what_somebody_switched_off_is_not_switched_on(self, system: System, client: OverApp, file: Path) -> None:
        imported(client, file, lines(["hoe"]))
        [[hoe]] = system.rows("SELECT id FROM mcp.tools")
        system.parts.catalogue.switch(hoe, LAPTOP, is_active=False)
        imported(client, file, lines(["hoe"]), ALL)
        assert searched(system) == []

    def test_comes_back_with_the_server_that_brings_it(self, system: System, client: OverApp, tmp_path: Path) -> None:
        imported(client, tmp_path / "a.jsonl", lines(["hoe", "rake"]))
        imported(client, tmp_path / "a.jsonl", lines(["hoe"]), ALL)
        server = tmp_path / "servers.jsonl"
        tools = [{"name": name} for name in ("hoe", "rake")]
        server.write_text(json.dumps({"name": "shed", "path": "/shed", "tools": tools}) + "\n", encoding="utf-8")

        sources = wanted({"items": [], "servers": [server]}, None, Choices(), None, watch=False)
        Import(sources, client).write(lambda _: NoBar())

        assert searched(system) == ["hoe", "rake"]

    def test_of_a_disabled_server_stays_off_and_it_says_why(self, system: System, client: OverApp, file: Path) -> None:
        imported(client, file, lines(["hoe", "rake"]))
        imported(client, file, lines(["hoe"]), ALL)
        [shed] = client.put("servers", [{"name": "shed", "path": "/shed"}])["results"]
        api = client_over(app_over(system))
        api.servers.disable(shed["id"])

        report = imported(client, file, lines(["hoe", "rake"]))
        assert report.problems == [
            "shed/rake stays as a --prune switched it off: "
            f"item {_id(system, 'rake')} is inactive as its server shed is disabled: enable the server first"
        ]
        api.servers.enable(shed["id"])
        imported(client, file, lines(["hoe", "rake"]))
        assert searched(system) == ["hoe", "rake"]

    @pytest.mark.parametrize("within", [None, "server", "server_json"])
    def test_of_a_disabled_server_keeps_its_mark_when_the_server_brings_it(
        self, system: System, client: OverApp, tmp_path: Path, within: str | None
    ) -> None:
        imported(client, tmp_path / "a.jsonl", lines(["hoe", "rake"]))
        imported(client, tmp_path / "a.jsonl", lines(["hoe"]), ALL)
        [shed] = client.put("servers", [{"name": "shed", "path": "/shed"}])["results"]
        api = client_over(app_over(system))
        api.servers.disable(shed["id"])
        row = {"name": "shed", "path": "/shed", "tools": [{"name": name, "x": 1} for name in ("hoe", "rake")]}
        server = tmp_path / "servers.jsonl"
        server.write_text(json.dumps(row if within is None else {within: row}) + "\n", encoding="utf-8")
        sources = wanted({"items": [], "servers": [server]}, None, Choices(), None, watch=False)

        report = Import(sources, client).write(lambda _: NoBar())
        assert [problem.partition(":")[0] for problem in report.problems] == [
            "shed/rake stays as a --prune switched it off"
        ]
        [[metadata]] = system.rows("SELECT metadata FROM mcp.tools WHERE name = 'rake'")
        assert metadata.keys() == {"x", MARK}
        api.servers.enable(shed["id"])
        Import(sources, client).write(lambda _: NoBar())
        assert searched(system) == ["hoe", "rake"]
        assert system.rows("SELECT metadata FROM mcp.tools WHERE name = 'rake'") == [[{"x": 1}]]


def _id(system: System, name: str) -> int:
    [[found]] = system.rows("SELECT id FROM mcp.tools WHERE name = :name", name=name)
    return int(found)
