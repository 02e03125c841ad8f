"""Archives of Agent Skills: good ones are read, and those that are none harm nothing."""

from __future__ import annotations

import gc
import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from skillroute_local.importing import archives
from skillroute_local.importing.archives import Unpacked
from skillroute_local.importing.model import Unreadable

from tests.unit.local.importing.reading import read_path

TEXT = "---\nname: {}\ndescription: Does it.\n---\nBody.\n"
Packs = Callable[[Path, Mapping[str, bytes]], Path]


def zipped(folder: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(folder / "tools.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return folder / "tools.zip"


def tarred(folder: Path, files: Mapping[str, bytes]) -> Path:
    with tarfile.open(folder / "tools.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return folder / "tools.tar.gz"


both = pytest.mark.parametrize("pack", [zipped, tarred])


def skills(*paths: str) -> dict[str, bytes]:
    return {f"{path}/SKILL.md": TEXT.format(path.rpartition("/")[2]).encode() for path in paths}


@both
def test_skills_of_an_archive_are_read_as_those_of_a_folder(tmp_path: Path, pack: Packs) -> None:
    files = {**skills("a", "group/b"), "a/logo.png": b"\x89PNG\x00", "node_modules/c/SKILL.md": b"x"}
    found = read_path(pack(tmp_path, files))
    assert (list(found.values), found.refused, found.reading.left_out) == (["a", "group/b"], [], [])
    assert found.values["a"]["files"][1] == {"path": "logo.png", "base64": "iVBORwA="}


@both
def test_the_only_folder_at_the_top_is_none_of_the_path(tmp_path: Path, pack: Packs) -> None:
    files = {**skills("repository-1.2.0/skills/a", "repository-1.2.0/skills/b"), "repository-1.2.0/README.md": b"x"}
    assert list(read_path(pack(tmp_path, files)).values) == ["skills/a", "skills/b"]
    one = read_path(pack(tmp_path, {"SKILL.md": TEXT.format("tools").encode()}))
    assert (list(one.values), one.reading.notes) == (["tools"], [])


@both
@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "a\\..\\out", "C:out"])
def test_a_name_that_leads_out_refuses_the_archive(tmp_path: Path, pack: Packs, name: str) -> None:
    with pytest.raises(Unreadable, match="names a file outside itself"):
        Unpacked(pack(tmp_path, {**skills("a"), name: b"x"}))
    assert not (tmp_path / "out").exists()


def test_links_and_devices_are_left_out_and_named(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "t.tgz", "w:gz") as archive:
        for name, kind in (("a/link", tarfile.SYMTYPE), ("a/hard", tarfile.LNKTYPE), ("a/device", tarfile.CHRTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
        content = TEXT.format("a").encode()
        entry = tarfile.TarInfo("a/SKILL.md")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive_:
        linked = zipfile.ZipInfo("a/link")
        linked.create_system, linked.external_attr = 3, 0o120777 << 16
        archive_.writestr(linked, "/etc/passwd")
        archive_.writestr("a/SKILL.md", content)
    for name, count in (("t.tgz", 3), ("t.zip", 1)):
        found = read_path(tmp_path / name)
        assert [file["path"] for file in found.values["a"]["files"]] == ["SKILL.md"]
        assert len(found.reading.left_out) == count
        assert found.reading.left_out[0] == f"{name}: left out: 'a/link': is a link or no file"


def test_an_archive_with_links_lists_nothing_in_full(tmp_path: Path) -> None:
    packed = zipped(tmp_path, skills("a", "b"))
    assert read_path(packed).reading.partial is None
    with zipfile.ZipFile(packed, "a") as archive:
        linked = zipfile.ZipInfo("c/SKILL.md")
        linked.create_system, linked.external_attr = 3, 0o120777 << 16
        archive.writestr(linked, "../a/SKILL.md")
    found = read_path(packed)
    assert list(found.values) == ["a", "b"]
    assert found.reading.partial == "skills may be behind its links, which are left out"


@both
def test_more_than_the_bounds_is_refused_while_it_is_unpacked(
    tmp_path: Path, pack: Packs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 1 << 20)
    with pytest.raises(Unreadable, match="has more than 1 MB unpacked"):
        Unpacked(pack(tmp_path, {"a": b"\0" * (2 << 20)}))
    monkeypatch.setattr(archives, "MAX_MEMBERS", 2)
    with pytest.raises(Unreadable, match="has more than 2 files"):
        Unpacked(pack(tmp_path, {"a": b"", "b": b"", "c": b""}))


def test_a_header_that_claims_any_length_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 1 << 20)
    monkeypatch.setattr(archives, "MAX_MEMBERS", 1)
    with tarfile.open(tmp_path / "t.tgz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo("a")
        entry.pax_headers = {"comment": "x" * (3 << 20)}
        archive.addfile(entry)
    with pytest.raises(Unreadable, match="has more than 1 MB unpacked"):
        Unpacked(tmp_path / "t.tgz")


@both
def test_a_damaged_archive_is_refused(tmp_path: Path, pack: Packs) -> None:
    file = pack(tmp_path, {"a/SKILL.md": bytes(range(256)) * 40})
    whole = file.read_bytes()
    for broken in (whole[: len(whole) // 2], whole[:40] + b"\xff" * 60 + whole[100:], whole[:4]):
        file.write_bytes(broken)
        with pytest.raises(Unreadable, match="cannot be unpacked: "):
            Unpacked(file)


@both
def test_a_file_that_is_there_twice_or_is_a_folder_too_refuses_the_archive(tmp_path: Path, pack: Packs) -> None:
    with pytest.raises(Unreadable, match="has a file twice: a"):
        Unpacked(pack(tmp_path, {"a": b"1", "./a": b"2"}))
    with pytest.raises(Unreadable, match=r"has a file twice|cannot be unpacked"):
        Unpacked(pack(tmp_path, {"a": b"1", "a/b": b"2"}))


def test_what_was_unpacked_goes_with_its_last_user(tmp_path: Path) -> None:
    unpacked = Unpacked(zipped(tmp_path, skills("a")))
    root = unpacked.root
    assert root.exists()
    del unpacked
    gc.collect()
    assert not root.exists()
