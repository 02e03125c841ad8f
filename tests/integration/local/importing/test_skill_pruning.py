"""Agent Skills that a source no longer has, and the resources as which former imports wrote them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pytest
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute_local.client import Client
from skillroute_local.importing.compare import Change
from skillroute_local.importing.model import Choices
from skillroute_local.importing.pruning import Pruning
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.run import Import
from skillroute_local.importing.wanted import wanted

from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes
from tests.integration.local.commands.test_backup import NoBar, OverApp

SOME, ALL = Pruning(), Pruning(is_confirmed=True)
NAMES = [f"s{number:02}" for number in range(12)]


@pytest.fixture
def system(emptied_database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(emptied_database_url, edge_indexes, embedder=HashingEmbedder()) as system:
        yield system


@pytest.fixture
def client(system: System) -> Iterator[OverApp]:
    with OverApp(system) as client:
        yield client


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in NAMES:
        write(tmp_path / "toolbox", name)
    return tmp_path / "toolbox"


def write(root: Path, name: str, body: str = "Body.") -> None:
    (root / name).mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name}\ndescription: Does {name}.\n---\n{body}\n"
    (root / name / "SKILL.md").write_text(text, encoding="utf-8")


def importing(client: Client, *roots: Path, pruning: Pruning | None, server: str | None = "team") -> Import:
    sources = wanted({"items": list(roots)}, None, Choices(server=server), None, watch=False)
    return Import(sources, client, pruning=pruning)


def imported(client: Client, *roots: Path, pruning: Pruning | None = None, server: str | None = "team") -> ImportReport:
    return importing(client, *roots, pruning=pruning, server=server).write(lambda _: NoBar())


def compared(client: Client, root: Path, pruning: Pruning) -> list[tuple[str, str, str]]:
    changes: list[Change] = []
    importing(client, root, pruning=pruning).compare(lambda _: NoBar(), changes.append)
    return [(change.what, change.name, change.detail) for change in changes if change.what != "unchanged"]


def test_skills_are_written_once_and_a_dry_run_shows_which_files_differ(client: OverApp, root: Path) -> None:
    assert compared(client, root, SOME)[0] == ("created", "team/s00", "")
    assert imported(client, root).counts["agent_skills"] == {"created": 12}
    assert imported(client, root).counts["agent_skills"] == {"unchanged": 12}
    write(root, "s03", "Another body.")
    (root / "s03" / "more.md").write_text("More.", encoding="utf-8")
    assert compared(client, root, SOME) == [("updated", "team/s03", "SKILL.md, more.md")]


def test_what_is_gone_is_deleted_below_its_own_name_alone(system: System, client: OverApp, root: Path) -> None:
    # GIVEN
    system.put_agent_skill("teamwork/other")
    imported(client, root)
    rmtree(root / "s03")
    # WHEN
    shown = compared(client, root, SOME)
    report = imported(client, root, pruning=SOME)
    # THEN
    assert shown == [("deleted", "team/s03", "for good")]
    assert (report.counts["agent_skills"], report.problems) == ({"unchanged": 11, "deleted": 1}, [])
    assert system.agent_skill_paths() == [*(f"team/{name}" for name in NAMES if name != "s03"), "teamwork/other"]


def test_more_than_a_tenth_goes_only_when_that_is_confirmed(system: System, client: OverApp, root: Path) -> None:
    imported(client, root)
    for name in NAMES[:2]:
        rmtree(root / name)
    refused = imported(client, root, pruning=SOME)
    assert refused.counts["agent_skills"] == {"unchanged": 10}
    assert refused.problems[0].startswith("toolbox: 2 of 12 Agent Skills below team/ are in it no longer, more than 10")
    assert imported(client, root, pruning=ALL).counts["agent_skills"]["deleted"] == 2
    assert system.agent_skill_paths() == [f"team/{name}" for name in NAMES[2:]]


def test_nothing_goes_where_it_is_not_sure_what_is_gone(system: System, client: OverApp, root: Path) -> None:
    imported(client, root)
    imported(client, root, server=None)
    rmtree(root / "s03")
    # Below no name of their own, all skills of the catalogue could be meant.
    assert "give them one with --server" in imported(client, root, pruning=ALL, server=None).notes[0]
    # Of one skill alone, its neighbours are not known.
    assert imported(client, root / "s04", pruning=ALL).counts["agent_skills"]["deleted"] == 0
    # What cannot be read may be it.
    (root / "s05" / "SKILL.md").write_text("---\nname: [x]\n---\n", encoding="utf-8")
    assert "could not be read" in imported(client, root, pruning=ALL).notes[0]
    assert len(system.agent_skill_paths()) == 24


def test_what_is_gone_from_two_sources_of_one_name_is_deleted_once(
    system: System, client: OverApp, root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "others"
    write(other, "t01")
    imported(client, root, other)
    client.put("items", [{"type": "resource", "server": "team", "tags": ["agent-skill"], "name": "s03"}])
    rmtree(root / "s03")
    report = imported(client, root, other, pruning=SOME)
    assert report.counts["agent_skills"] == {"unchanged": 12, "deleted": 1}
    assert (report.counts["items"], report.problems) == ({"deleted": 1}, [])
    assert system.agent_skill_paths() == [*(f"team/{name}" for name in NAMES if name != "s03"), "team/t01"]


def test_nothing_goes_where_another_source_of_the_name_has_a_part_of_it(
    system: System, client: OverApp, root: Path, tmp_path: Path
) -> None:
    imported(client, root)
    rmtree(root / "s03")
    with zipfile.ZipFile(tmp_path / "others.zip", "w") as archive:
        linked = zipfile.ZipInfo("s03/SKILL.md")
        linked.create_system, linked.external_attr = 3, 0o120777 << 16
        archive.writestr(linked, "../elsewhere/SKILL.md")
        archive.writestr("t01/SKILL.md", "---\nname: t01\ndescription: Does it.\n---\n")
    report = imported(client, root, tmp_path / "others.zip", pruning=ALL)
    assert "toolbox: nothing is removed: others.zip has only a part of team" in report.notes
    assert "team/s03" in system.agent_skill_paths()


def test_a_skill_that_the_catalogue_refuses_stays_as_it_was_and_others_go(
    system: System, client: OverApp, root: Path
) -> None:
    imported(client, root)
    rmtree(root / "s03")
    text = f"---\nname: s05\ndescription: {'x' * 1025}\n---\n"
    (root / "s05" / "SKILL.md").write_text(text, encoding="utf-8")
    assert imported(client, root, pruning=ALL).counts["agent_skills"] == {"failed": 1, "unchanged": 10, "deleted": 1}
    assert "team/s05" in system.agent_skill_paths()


def test_resources_of_former_imports_are_named_and_deleted_by_prune(
    system: System, client: OverApp, root: Path
) -> None:
    # GIVEN
    former = {"type": "resource", "server": "team", "tags": ["agent-skill"]}
    client.put("items", [{**former, "name": "s03"}, {**former, "name": "S 99"}, {**former, "name": "x", "tags": []}])
    # WHEN
    note, *_ = imported(client, root).notes
    kept = len(system.rows("SELECT 1 FROM mcp.tools"))
    report = imported(client, root, pruning=SOME)
    # THEN
    assert note.startswith("2 resources with the tag agent-skill are what former imports made of Agent Skills")
    assert (kept, report.counts["items"]) == (3, {"deleted": 2})
    assert system.rows("SELECT name FROM mcp.tools") == [["x"]]
