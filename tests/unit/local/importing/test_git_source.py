"""Agent Skills of a Git repository, cloned from this computer."""

from __future__ import annotations

import gc
import shutil
import subprocess
from pathlib import Path

import pytest
from skillroute_local.errors import Misused
from skillroute_local.importing import git_source
from skillroute_local.importing.check import checked
from skillroute_local.importing.git_source import Clone, read_repository, shown
from skillroute_local.importing.model import Choices, Unreadable

from tests.unit.local.importing.reading import written

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")


def git(folder: Path, *args: str) -> None:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "skills-of-acme"
    text = "---\nname: pdf\ndescription: Fill forms.\n---\nBody.\n"
    written(root, "skills/pdf/SKILL.md", text)
    (root / "skills/pdf/passwd").symlink_to("/etc/passwd")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "First")
    written(root, "skills/pdf/SKILL.md", text + "Newer.\n")
    git(root, "commit", "--quiet", "-am", "Second")
    written(root, "skills/pdf/SKILL.md", "not committed")
    return root


@pytest.mark.parametrize("as_url", [True, False])
def test_the_newest_commit_is_read_and_no_link_is_followed(repository: Path, as_url: bool) -> None:
    refused: list[object] = []
    address = repository.as_uri() if as_url else str(repository)
    reading = read_repository(address, Choices(server="acme"), lambda *said: refused.append(said))
    [row] = [each.row for each in checked(reading.rows, lambda *said: refused.append(said))]
    assert (row.value["path"], refused) == ("acme/skills/pdf", [])
    [file] = row.value["files"]
    assert file["text"].endswith("Body.\nNewer.\n")
    assert reading.left_out == ["skills-of-acme: left out: 'skills/pdf/passwd': is a link"]
    assert reading.partial is not None, "a skill may be behind a link, and must not be pruned for that"


def test_a_hook_of_another_repository_can_import(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    git(tmp_path / "other", "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert (Clone(repository.as_uri()).root / "skills/pdf/SKILL.md").exists()


def test_why_git_cannot_clone_is_said_and_not_its_advice(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"cannot be cloned: fatal: .*does not appear to be a git repository"):
        Clone(str(tmp_path))


def test_a_clone_goes_with_its_last_user(repository: Path) -> None:
    clone = Clone(str(repository))
    root = clone.root
    assert (root / "skills/pdf/SKILL.md").exists()
    del clone
    gc.collect()
    assert not root.parent.exists()


@pytest.mark.parametrize("address", ["ext::sh -c x", "--upload-pack=x", "http://example.com/x.git", "nowhere"])
def test_addresses_that_run_something_or_are_none_are_refused(address: str) -> None:
    with pytest.raises(Misused, match="--git: must be https://"):
        Clone(address)


def test_what_cannot_be_cloned_is_refused_without_its_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unreadable, match=r"^file:///.*/nothing: cannot be cloned: "):
        Clone((tmp_path / "nothing").as_uri())
    assert shown("https://me:secret@example.com/x.git") == "https://example.com/x.git"
    monkeypatch.setattr(git_source.shutil, "which", lambda name: None)
    with pytest.raises(Unreadable, match="there is no git here: install it"):
        Clone((tmp_path / "nothing").as_uri())
