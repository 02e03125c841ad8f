"""Agent Skills: folders with a SKILL.md, found and read with all their files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from skillroute.agent_skills.schemas import MAX_FILE_BYTES
from skillroute_local.importing import skill_folders
from skillroute_local.importing.formats import read
from skillroute_local.importing.model import Choices, Scope, SkillPath, Unreadable

from tests.unit.local.importing.reading import read_path, written

PDF = """---
name: pdf
description: >
  Read and fill
  PDF forms.
license: Apache-2.0
allowed-tools: Bash(python:*) Read
metadata: {version: 1.10, since: 2026-01-02}
---
# PDF

Run scripts/fill.py.
"""


def skill(folder: Path, name: str, text: str | None = None) -> Path:
    return written(folder, f"{name}/SKILL.md", text or f"---\nname: {name}\ndescription: Do {name}.\n---\n").parent


def test_a_skill_is_read_with_all_its_files_byte_for_byte(tmp_path: Path) -> None:
    folder = skill(tmp_path / "skills", "pdf", PDF)
    written(folder, "scripts/fill.py", "pass\r\n")
    written(folder, "node_modules/left.js", "out")
    (folder / "logo.png").write_bytes(b"\x89PNG\x00")

    found = read_path(tmp_path / "skills")

    assert found.refused == []
    assert [(row.kind, row.where, row.value) for row in found.rows] == [
        (
            "agent_skills",
            "skills/pdf/SKILL.md",
            {
                "path": "pdf",
                "frontmatter": {
                    "name": "pdf",
                    "description": "Read and fill PDF forms.\n",
                    "license": "Apache-2.0",
                    "allowed-tools": "Bash(python:*) Read",
                    "metadata": {"version": 1.1, "since": "2026-01-02"},
                },
                "files": [
                    {"path": "SKILL.md", "text": PDF},
                    {"path": "logo.png", "base64": "iVBORwA="},
                    {"path": "scripts/fill.py", "text": "pass\r\n"},
                ],
            },
        )
    ]
    assert (found.reading.notes, found.reading.left_out) == ([], [])
    assert found.reading.former == Scope("skills", "resource", "agent-skill")


def test_skills_are_found_in_folders_of_folders_and_behind_links_once(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    skill(root, "top")
    skill(root / "Group A" / "deeper", "below")
    skill(skill(root, "outer"), "within-a-skill")
    skill(root / "node_modules", "of-a-package")
    skill(tmp_path / "elsewhere", "linked")
    (root / "link").symlink_to(tmp_path / "elsewhere")
    (root / "Group A" / "round").symlink_to(root)

    found = read_path(root)

    assert (sorted(found.values), found.refused) == (["group-a/deeper/below", "link/linked", "outer", "top"], [])
    assert [file["path"] for file in found.values["outer"]["files"]] == ["SKILL.md", "within-a-skill/SKILL.md"]


def test_one_skill_has_the_same_path_as_among_the_others_and_lists_nothing_in_full(tmp_path: Path) -> None:
    one = skill(tmp_path / "skills", "pdf", PDF)
    skill(tmp_path / "skills", "xlsx")

    alone, of_file, all_ = (read_path(path) for path in (one, one / "SKILL.md", one.parent))

    assert alone.values["pdf"] == of_file.values["pdf"] == all_.values["pdf"]
    assert (len(alone.rows), alone.reading.partial) == (1, "it is one skill")


def test_a_server_that_is_chosen_goes_before_the_paths_and_is_what_the_source_lists_in_full(tmp_path: Path) -> None:
    skill(tmp_path / "skills" / "group", "pdf")

    found, unnamed = (read_path(tmp_path / "skills", server=server) for server in ("My Team", None))

    assert (list(found.values), found.reading.below) == (["my-team/group/pdf"], "my-team")
    assert (list(unnamed.values), unnamed.reading.below) == (["group/pdf"], None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# No front matter\n", ":1: must begin with front matter: "),
        ("", ":1: must begin with front matter: "),
        ("---\nname: a\ndescription: b\n", ":1: must begin with front matter: "),
        ("---\n- a\n---\n", ":2: the front matter must have name and description"),
        ("---\nname: a\n---\n", ": description: must be a text in the front matter"),
        ("---\n{ @\n---\nText.\n", ":2:3: is not YAML: found character that cannot start any token"),
        ("---\nname: [a]\ndescription: b\n---\n", ": name: must be a text in the front matter"),
        ("---\nname: a\ndescription: " + "b" * 1_025 + "\n---\n", ": frontmatter.description: must be a text of 1 to"),
        ("---\nname: a\ndescription: b\n---\n" + "x" * MAX_FILE_BYTES, ": is larger than 1 MB: "),
    ],
)
def test_a_skill_that_is_wrong_is_refused_with_its_place_and_spoils_no_other(
    tmp_path: Path, text: str, problem: str
) -> None:
    skill(tmp_path / "skills", "good")
    written(tmp_path / "skills", "bad/SKILL.md", text)

    found = read_path(tmp_path / "skills")

    assert list(found.values) == ["good"]
    assert len(found.refused) == 1
    assert found.refused[0].startswith(f"skills/bad/SKILL.md{problem}")
    assert found.about[0] in {None, SkillPath("a")}


def test_a_file_that_is_gone_when_it_is_read_refuses_its_skill_alone(tmp_path: Path) -> None:
    folder = skill(tmp_path / "skills", "a")
    file = written(folder, "notes.md", "Notes.")
    skill(tmp_path / "skills", "b")
    refused: list[object] = []
    reading = read(tmp_path / "skills", Choices(), lambda *said: refused.append(said))
    file.unlink()

    assert [row.value["path"] for row in reading.rows] == ["b"]
    [(where, reason, about)] = refused
    assert (where, about) == ("skills/a/SKILL.md", SkillPath("a"))
    assert "notes.md: cannot be read" in reason


def test_a_folder_whose_skills_are_all_refused_is_not_said_to_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill(tmp_path, "bad", "---\nname: [a]\ndescription: b\n---\n")
    monkeypatch.chdir(tmp_path)

    found = read_path(Path())

    assert found.refused == [f"{tmp_path.name}/bad/SKILL.md: name: must be a text in the front matter"]


def test_a_folder_without_skills_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    assert read_path(tmp_path / "empty").refused == [
        "empty/: there is no SKILL.md in it, nor in its folders to a depth of 8"
    ]


def test_a_folder_of_too_many_folders_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skill_folders, "MAX_FOLDERS", 3)
    for number in range(5):
        (tmp_path / "many" / str(number)).mkdir(parents=True)

    with pytest.raises(Unreadable, match="many/: has more than 3 folders: name one that holds skills"):
        read_path(tmp_path / "many")


def test_a_skill_that_is_refused_may_be_any_of_those_that_are_stored(tmp_path: Path) -> None:
    written(tmp_path / "skills", "folder/SKILL.md", "---\nname: other\n---\n")

    assert read_path(tmp_path / "skills").about[0] is None


def test_what_cannot_be_looked_at_is_refused_and_may_hold_any_skill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "skills"
    skill(root, "good")
    skill(root / "closed", "hidden")
    (root / "away").symlink_to(tmp_path / "unmounted")
    (root / "self").symlink_to(root / "self")
    scandir = os.scandir

    def closed(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    found = read_path(root)

    assert list(found.values) == ["good"]
    assert list(zip(sorted(found.refused), found.about, strict=True)) == [
        ("skills/away: is a link that leads nowhere: mend or delete it", None),
        ("skills/closed/: cannot be looked through: Permission denied", None),
        ("skills/self: is a link that leads nowhere: mend or delete it", None),
    ]


@pytest.mark.parametrize("path", ["skills", "skills/pipe"])
def test_a_skill_that_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, path: str) -> None:
    (tmp_path / "skills" / "pipe").mkdir(parents=True)
    os.mkfifo(tmp_path / "skills" / "pipe" / "SKILL.md")

    found = read_path(tmp_path / path)

    assert "skills/pipe/SKILL.md: is not a file that can be read" in found.refused


def test_a_link_to_a_great_many_folders_is_named_and_spoils_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill_folders, "MAX_LINKED", 3)
    for number in range(9):
        (tmp_path / "many" / str(number)).mkdir(parents=True)
    (tmp_path / "many" / "5" / "more").symlink_to(tmp_path)  # links behind a link are behind that one
    root = tmp_path / "skills"
    skill(root, "good")
    (root / "link").symlink_to(tmp_path / "many")
    skill(root, "very-good")

    found = read_path(root)

    assert list(found.values) == ["good", "very-good"]
    assert found.refused == ["skills/link/: is a link to more than 3 folders: link those that hold skills"]
    assert found.about == [None]
