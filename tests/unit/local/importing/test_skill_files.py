"""The files of a skill: what the catalogue has no room for, or must not follow, is left out and named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.agent_skills.schemas import MAX_FILE_BYTES, MAX_FILES, MAX_SKILL_BYTES, FileInput
from skillroute_local.importing import skill_files
from skillroute_local.importing.skill_files import Room, file_value, files_of

from tests.unit.local.importing.reading import read_path, written


def room_of(folder: Path) -> Room:
    return files_of(folder, folder, (folder / "SKILL.md").stat().st_size)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path, "pdf/SKILL.md", "---\nname: pdf\ndescription: Fill.\n---\nBody.\n").parent


def test_what_there_is_no_room_for_is_left_out_with_the_bound(folder: Path) -> None:
    for nth in range(MAX_FILES + 4):
        written(folder, f"many/{nth:03}", "x")
    (folder / "a-large").write_bytes(b"x" * (MAX_FILE_BYTES + 1))

    found = room_of(folder)

    assert len(found.sizes) == MAX_FILES
    assert found.reasons() == [
        "left out: a-large: a file may have 1 MB",
        "left out: many/199, many/200, many/201 and 2 more: a skill may have 200 files",
    ]
    shown = read_path(folder)
    assert shown.refused == []
    assert shown.reading.left_out[0].endswith("/pdf/SKILL.md: left out: a-large: a file may have 1 MB")


def test_smaller_files_go_in_behind_one_that_is_too_much_together(folder: Path) -> None:
    for name in ("a", "b", "c"):
        (folder / name).write_bytes(b"x" * MAX_FILE_BYTES)
    written(folder, "d", "x")

    found = room_of(folder)

    assert (list(found.sizes), sum(found.sizes.values()) <= MAX_SKILL_BYTES) == (["SKILL.md", "a", "b", "d"], True)
    assert found.reasons() == ["left out: c: the files of a skill may have 3 MB together"]


def test_a_link_is_followed_within_the_folder_that_is_imported_and_not_out_of_it(folder: Path) -> None:
    written(folder.parent, "shared.md", "shared")
    secret = written(folder.parent.parent, f"{folder.parent.name}-secret", "secret")
    (folder / "shared").symlink_to(folder.parent / "shared.md")
    (folder / "secret").symlink_to(secret)
    (folder / "all").symlink_to(folder.parent)
    (folder / "nowhere").symlink_to("nothing")

    found = files_of(folder, folder.parent, 1)

    assert list(found.sizes) == ["SKILL.md", "shared"]
    assert sorted(found.reasons()) == [
        "left out: all: a link to a folder is not followed in a skill",
        "left out: nowhere: is not a file that can be read",
        "left out: secret: a link out of the folder that is imported is not followed",
    ]


def test_a_pipe_is_not_waited_for_and_odd_names_are_left_out(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    written(folder, "new\nline", "x")
    found = room_of(folder)
    assert list(found.sizes) == ["SKILL.md"]
    assert len(found.reasons()) == 2


def test_a_folder_of_a_great_many_files_is_looked_at_within_bounds(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill_files, "MAX_LOOKED_AT", 3)
    for name in "abcdef":
        written(folder, name, "x")
    found = room_of(folder)
    assert len(found.sizes) < 5
    assert "only 3 files of a folder are looked at" in found.reasons()[0]


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_a_file_comes_back_byte_for_byte_and_is_never_much_longer_than_its_base64(content: bytes) -> None:
    value = file_value("a", content)
    assert FileInput.model_validate(json.loads(json.dumps(value))).content() == content
    assert len(json.dumps(value)) <= len(content) * 4 / 3 + 40
