"""`skillroute skills edit`, with an editor that a test writes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from skillroute_local.errors import Unreachable

from tests.e2e.processes import answered
from tests.integration.local.commands.conftest import CommandLine

SKILL = {"id": "mail", "name": "Mail", "description": "Letters to people.", "keywords": ["letter"], "examples": []}
Editor = Callable[[str], dict[str, str]]


@pytest.fixture(autouse=True)
def skill(api: httpx.Client) -> None:
    answered(api.post("/api/v1/skills", json=SKILL), 201)


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    """Return the environment of an editor that runs Python on `text`, the file's content."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def made(code: str) -> dict[str, str]:
        program = tmp_path / "editor.py"
        program.write_text(
            "import pathlib, sys, httpx\n"
            "file = pathlib.Path(sys.argv[1])\ntext = file.read_text()\n"
            f"{code}\nfile.write_text(text)\n",
            "utf-8",
        )
        return {"EDITOR": shlex.join([sys.executable, str(program)])}

    return made


def drafts(tmp_path: Path) -> list[Path]:
    return list(tmp_path.glob("skill-*.yaml"))


def test_what_is_saved_is_written(run: CommandLine, editor: Editor, tmp_path: Path) -> None:
    done = run("skills", "edit", "mail", **editor("text = text.replace('Letters', 'Letters and parcels')"))

    assert (done.exit_code, done.stdout) == (0, "skill mail changed\n"), done.output
    changed = run.json("get", "skill", "mail")
    assert (changed["description"], changed["keywords"]) == ("Letters and parcels to people.", ["letter"])
    assert drafts(tmp_path) == []


def test_what_is_left_as_it_was_changes_nothing(run: CommandLine, editor: Editor, tmp_path: Path) -> None:
    before = run.json("get", "skill", "mail")
    done = run("skills", "edit", "mail", **editor(""))
    assert (done.exit_code, done.stdout) == (0, "nothing was changed\n")
    assert run.json("get", "skill", "mail") == before
    assert drafts(tmp_path) == []


def test_two_people_lose_nothing(run: CommandLine, editor: Editor, api: httpx.Client, tmp_path: Path) -> None:
    # GIVEN somebody else who changes the name while an editor is open
    url = f"{api.base_url}/api/v1/skills/mail"
    code = (
        f"httpx.patch({url!r}, json={{'name': 'Post'}}, trust_env=False).raise_for_status()\n"
        "text = text.replace('Letters', 'Parcels')"
    )

    done = run("skills", "edit", "mail", **editor(code))

    # THEN theirs stays, it is shown, and what was written is kept
    assert done.exit_code == 1
    assert "-name: Mail\n+name: Post\n" in done.stderr
    assert "another user changed skill mail since you opened it; nothing was stored" in done.stderr
    assert (run.json("get", "skill", "mail")["name"], run.json("get", "skill", "mail")["description"]) == (
        "Post",
        "Letters to people.",
    )
    [draft] = drafts(tmp_path)
    assert str(draft) in done.stderr

    # WHEN both are brought together in that file
    draft.write_text(draft.read_text("utf-8").replace("name: Mail", "name: Post"), "utf-8")
    assert run("skills", "edit", "mail", "--file", str(draft)).exit_code == 0
    merged = run.json("get", "skill", "mail")
    assert (merged["name"], merged["description"]) == ("Post", "Parcels to people.")


def test_the_error_of_a_lost_race_is_the_apis(run: CommandLine, editor: Editor, api: httpx.Client) -> None:
    code = f"httpx.patch('{api.base_url}/api/v1/skills/mail', json={{'name': 'Post'}}, trust_env=False)\ntext += '# x'"
    done = run("skills", "edit", "mail", "--json", **editor(code))
    assert '"code": "version_conflict"' in done.stderr
    assert '"status": 412' in done.stderr


@pytest.mark.parametrize(
    ("code", "status", "reason"),
    [
        ("text = 'name: [open'", 2, "is not YAML, and nothing was changed"),
        ("text = '- a list'", 2, "must have the fields of a skill"),
        ("text = text.replace('keywords:', 'keyword:')", 1, "what you wrote is in"),
        ("file.write_bytes(b'name: \\xff'); sys.exit(0)", 2, "what you wrote is in"),
        ("file.write_text(text + '# mine'); sys.exit(3)", 1, "what you wrote is in"),
        ("sys.exit(3)", 1, "ended with status 3, and nothing was changed\n"),
        ("file.unlink(); sys.exit(0)", 2, "cannot be read"),
    ],
    ids=["no YAML", "no skill", "refused", "no text", "ended badly", "given up", "removed"],
)
def test_what_cannot_be_written_changes_nothing(
    run: CommandLine, editor: Editor, tmp_path: Path, code: str, status: int, reason: str
) -> None:
    before = run.json("get", "skill", "mail")

    done = run("skills", "edit", "mail", **editor(code))

    assert (done.exit_code, done.stdout) == (status, "")
    assert reason in done.stderr
    assert run.json("get", "skill", "mail") == before
    # What somebody typed is never thrown away; a draft that nobody changed is.
    kept = code not in {"sys.exit(3)", "file.unlink(); sys.exit(0)"}
    assert [str(draft) in done.stderr for draft in drafts(tmp_path)] == [True] * kept


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize(("spoil", "status"), [(Unreachable("away"), 3), (KeyboardInterrupt(), 130)])
def test_what_was_typed_is_kept_when_nobody_can_be_reached(
    run: CommandLine,
    editor: Editor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: BaseException,
    status: int,
    form: tuple[str, ...],
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise spoil

    monkeypatch.setattr("skillroute_local.client.Client.replace_skill", fails)
    done = run("skills", "edit", "mail", *form, **editor("text = text.replace('Letters', 'Parcels')"))

    assert (done.exit_code, done.stdout) == (status, "")
    [draft] = drafts(tmp_path)
    assert f"`skillroute skills edit mail --file {draft}` writes it" in done.stderr
    monkeypatch.undo()
    assert run("skills", "edit", "mail", "--file", str(draft)).exit_code == 0
    assert run.json("get", "skill", "mail")["description"] == "Parcels to people."


def test_what_came_from_a_pipe_is_kept_as_well(run: CommandLine, editor: Editor, tmp_path: Path) -> None:
    editor("")
    text = '{"name": "Post", "description": "Too few"}'
    done = run("skills", "edit", "mail", "--file", "-", text=text)
    [draft] = drafts(tmp_path)
    assert (done.exit_code, str(draft) in done.stderr, draft.read_text("utf-8")) == (1, True, text)
    draft.unlink()
    assert run("skills", "edit", "mail", "--file", "-", text=text.replace("few", "few letters")).exit_code == 0
    assert drafts(tmp_path) == []


def test_a_pipe_takes_the_place_of_an_editor(run: CommandLine) -> None:
    text = '{"name": "Post", "description": "Letters to people.", "keywords": [], "examples": []}'
    done = run("skills", "edit", "mail", "--file", "-", text=text)
    assert done.exit_code == 0, done.output
    assert run.json("get", "skill", "mail")["name"] == "Post"


def test_an_editor_that_is_not_there_is_named(run: CommandLine, editor: Editor) -> None:
    editor("")
    done = run("skills", "edit", "mail", EDITOR="/no/such/editor --wait")
    assert done.exit_code == 2
    assert "the editor '/no/such/editor --wait' cannot be started" in done.stderr
