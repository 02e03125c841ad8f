"""Agent Skills: folders with a SKILL.md become resources."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from skillroute.catalogue.model import ItemKey
from skillroute_local.importing import agent_skills, skill_folders
from skillroute_local.importing.model import Scope, Unreadable

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


def test_a_skill_becomes_a_resource_with_all_that_it_says(tmp_path: Path) -> None:
    folder = skill(tmp_path / "skills", "pdf", PDF)
    written(folder, "scripts/fill.py", "pass")
    written(folder, "node_modules/left.js", "out")

    found = read_path(tmp_path / "skills")

    assert found.refused == []
    assert [(row.where, row.value) for row in found.rows] == [
        (
            "skills/pdf/SKILL.md",
            {
                "type": "resource",
                "server": "skills",
                "name": "pdf",
                "description": "Read and fill PDF forms.",
                "tags": ["agent-skill"],
                "metadata": {
                    "uri": "skill://pdf/SKILL.md",
                    "mimeType": "text/markdown",
                    "instructions": "# PDF\n\nRun scripts/fill.py.",
                    "files": ["scripts/fill.py"],
                    "license": "Apache-2.0",
                    "allowed_tools": "Bash(python:*) Read",
                    "metadata": {"version": 1.1, "since": "2026-01-02"},
                },
            },
        )
    ]
    assert found.reading.scopes == (Scope("skills", "resource", "agent-skill"),)


def test_skills_are_found_in_folders_of_folders_and_behind_links_once(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    skill(root, "top")
    skill(root / "group" / "deeper", "below")
    skill(skill(root, "outer"), "within-a-skill")
    skill(root / "node_modules", "of-a-package")
    skill(tmp_path / "elsewhere", "linked")
    (root / "link").symlink_to(tmp_path / "elsewhere")
    (root / "group" / "round").symlink_to(root)

    found = read_path(root)

    assert (sorted(found.values), found.refused) == (["below", "linked", "outer", "top"], [])


def test_one_skill_is_the_same_resource_as_among_the_others_and_lists_nothing_in_full(tmp_path: Path) -> None:
    one = skill(tmp_path / "skills", "pdf", PDF)
    skill(tmp_path / "skills", "xlsx")

    alone, of_file, all_ = (read_path(path) for path in (one, one / "SKILL.md", one.parent))

    assert alone.values["pdf"] == of_file.values["pdf"] == all_.values["pdf"]
    assert (len(alone.rows), alone.reading.scopes, alone.reading.partial) == (1, (), "it is one skill")


def test_a_server_that_is_chosen_goes_before_the_folders_name(tmp_path: Path) -> None:
    skill(tmp_path / "skills", "pdf")

    assert read_path(tmp_path / "skills", server="mine").values["pdf"]["server"] == "mine"


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
        ("---\nname: a\ndescription: " + "b" * 50_001 + "\n---\n", ": description: must have at most"),
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
    assert found.about[0] in {None, ItemKey("skills", "resource", "a")}


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("description: Make pages ready: handle errors", {"description": "Make pages ready: handle errors"}),
        ("description: @mention people", {"description": "@mention people"}),
        ('description: "Use to "write docs" or edit"', {"description": 'Use to "write docs" or edit'}),
        ("description: Fix\nargument-hint: [a] [b]", {"description": "Fix", "argument_hint": "[a] [b]"}),
        (
            "description: Use `x`: it is good\n  for all\nversion: 1.2",
            {"description": "Use `x`: it is good for all", "version": 1.2},
        ),
        ("description: |\n  One: two\n  three\nmodel: %fast", {"description": "One: two\nthree", "model": "%fast"}),
        ("description: A: b\nmetadata:\n  tags: [x, y]", {"description": "A: b", "metadata": {"tags": ["x", "y"]}}),
        ("description: *all* of it", {"description": "*all* of it"}),
    ],
)  # fmt: skip
def test_front_matter_that_is_no_yaml_is_read_line_by_line(
    tmp_path: Path, front: str, expected: dict[str, object]
) -> None:
    skill(tmp_path / "skills", "odd", f"---\nname: odd\n{front}\n---\nBody\n")

    found = read_path(tmp_path / "skills")

    value = found.values["odd"]
    assert found.refused == []
    assert {key: value["metadata"].get(key, value.get(key)) for key in expected} == {
        key: text.rstrip() if isinstance(text, str) else text for key, text in expected.items()
    }
    assert found.reading.notes[0].startswith(
        "skills/odd/SKILL.md: its front matter is not YAML, and was read line by line: "
    )


@pytest.mark.parametrize(
    ("text", "expected", "lacks"),
    [
        ("---\ndescription: Do it.\n---\n", ("odd", "Do it."), ["name"]),
        ("---\nname: a\n---\n# Title\n\nDo this\nand that.\n\nMore.", ("a", "Do this and that."), ["description"]),
        ("# Title\nDo it.\n", ("odd", "Do it."), ["name", "description"]),
        ("---\nname: 7\ndescription: Seven.\n---\n", ("7", "Seven."), []),
    ],
)
def test_what_front_matter_lacks_is_taken_from_where_claude_code_takes_it(
    tmp_path: Path, text: str, expected: tuple[str, str], lacks: list[str]
) -> None:
    skill(tmp_path / "skills", "odd", text)

    found = read_path(tmp_path / "skills")

    [row] = found.rows
    assert ((row.value["name"], row.value["description"]), found.refused) == (expected, [])
    assert [note.split("no ")[1].split(":")[0] for note in found.reading.notes] == lacks


def test_a_folder_whose_skills_are_all_refused_is_not_said_to_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill(tmp_path, "bad", "---\nname: [a]\ndescription: b\n---\n")
    monkeypatch.chdir(tmp_path)

    found = read_path(Path())

    assert found.refused == [f"{tmp_path.name}/bad/SKILL.md: name: must be a text in the front matter"]


def test_a_skill_that_is_too_large_is_refused_and_long_instructions_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_skills, "MAX_INSTRUCTIONS", 10)
    long = "---\nname: long\ndescription: Long.\n---\n" + "x" * 1_000
    skill(tmp_path / "skills", "long", long)
    skill(tmp_path / "skills", "huge", long + "x" * agent_skills.MAX_SKILL_BYTES)

    found = read_path(tmp_path / "skills")

    metadata = found.values["long"]["metadata"]
    assert (metadata["instructions"], metadata["instructions_cut"]) == ("x" * 10, True)
    assert found.reading.left_out == ["skills/long/SKILL.md: left out: what its instructions have beyond 10 bytes"]
    assert found.refused == ["skills/huge/SKILL.md: is larger than 1 MB: split it, or write one object a line"]


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


@pytest.mark.parametrize("character", ["x", "\u00e9", "\u6f22", "\U0001f600"])
def test_long_instructions_of_any_script_are_cut_and_not_refused(tmp_path: Path, character: str) -> None:
    skill(tmp_path / "skills", "long", "---\nname: long\ndescription: Long.\n---\n" + character * 110_000)

    found = read_path(tmp_path / "skills")

    assert found.refused == []
    metadata = found.values["long"]["metadata"]
    assert metadata["instructions_cut"]
    assert len(metadata["instructions"].encode()) == 100_000 // len(character.encode()) * len(character.encode())
