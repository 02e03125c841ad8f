"""`skillroute skills edit`: a skill as text, in an editor."""

from __future__ import annotations

import difflib
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import yaml

from skillroute_local.commands import completion
from skillroute_local.commands.get import as_yaml
from skillroute_local.commands.output import note, print_line
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.errors import LocalError, Misused, Refused

if TYPE_CHECKING:
    from skillroute_local.client import Client, Found

_FIELDS = ("name", "description", "keywords", "examples", "parent_domain", "is_active")
_STALE = 412
_WIDTH = 100


def edit(
    skill_id: Annotated[str, typer.Argument(metavar="ID", help="Of the skill.", autocompletion=completion.skill_ids)],
    file: Annotated[
        str | None,
        typer.Option(help="Write what this file says, as YAML or JSON, without an editor; - reads it from a pipe."),
    ] = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Change a skill in $VISUAL or $EDITOR, as YAML; what is saved is written, unless nothing was changed.

    No change is lost: when another user has changed the skill meanwhile, nothing is stored, what they changed
    is shown, and what you wrote stays in a file. So it does whatever else fails.
    """
    with client_for(url, token, sign_region) as client:
        found = client.get("skills", skill_id)
        if file is None:
            written = _edited(client, skill_id, found)
        elif file == "-":
            written = _piped(client, skill_id, found)
        else:
            written = _put(client, skill_id, _parsed(_read(file), file), found, file)
    if as_json:
        print_json(written.value)
    elif written.version == found.version:
        print_line("nothing was changed")
    else:
        print_line(f"skill {skill_id} changed")


def _edited(client: Client, skill_id: str, found: Found) -> Found:
    path = _draft(_text_of(skill_id, found))
    before = path.read_bytes()
    with _kept(path, skill_id, before):
        _open_editor(path)
        if path.exists() and path.read_bytes() == before:
            return found
        return _put(client, skill_id, _parsed(_read(str(path)), str(path)), found, str(path))


def _piped(client: Client, skill_id: str, found: Found) -> Found:
    text = _read("-")
    path = _draft(text)  # a pipe cannot be read again
    with _kept(path, skill_id):
        return _put(client, skill_id, _parsed(text, "standard input"), found, str(path))


@contextmanager
def _kept(path: Path, skill_id: str, before: bytes | None = None) -> Iterator[None]:
    """Remove a draft once it is written. Whatever keeps it from that, the draft stays and is named.

    Parameters
    ----------
    before : bytes or None
        A draft that is still so is nobody's work.
    """
    try:
        yield
    except BaseException as error:
        if not path.exists() or path.read_bytes() == before:
            path.unlink(missing_ok=True)
            raise
        hint = f"what you wrote is in {path}: `skillroute skills edit {skill_id} --file {path}` writes it"
        if isinstance(error, LocalError):
            raise (error if f"--file {path}" in str(error) else error.extended(hint)) from error
        note(hint)
        raise
    path.unlink(missing_ok=True)


def _text_of(skill_id: str, found: Found) -> str:
    lines = [
        f"# Skill {skill_id}. Save and close to write it; leave it as it is to change nothing.",
        "# keywords and examples are lists of texts; an inactive skill is not searched.",
    ]
    content = {field: found.value.get(field) for field in _FIELDS}
    return "\n".join(lines) + "\n" + as_yaml(content, _WIDTH)


def _draft(text: str) -> Path:
    handle, name = tempfile.mkstemp(prefix="skill-", suffix=".yaml")
    with os.fdopen(handle, "w", encoding="utf-8") as draft:
        draft.write(text)
    return Path(name)


def _open_editor(path: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        done = subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603 (the user's own editor)
    except (OSError, ValueError) as error:
        raise Misused(f"the editor {editor!r} cannot be started ({error}): set EDITOR") from error
    if done.returncode:
        raise LocalError(f"the editor {editor!r} ended with status {done.returncode}, and nothing was changed")


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Misused(f"{file} cannot be read ({error})") from error


def _parsed(text: str, place: str) -> dict[str, Any]:
    """Return the skill that a text describes. YAML is read, and JSON, which is YAML as well."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Misused(f"{place} is not YAML, and nothing was changed: {' '.join(str(error).split())}") from error
    if not isinstance(value, dict):
        raise Misused(f"{place} must have the fields of a skill, and nothing was changed: {', '.join(_FIELDS)}")
    return value


def _put(client: Client, skill_id: str, value: dict[str, Any], found: Found, place: str) -> Found:
    try:
        return client.replace_skill(skill_id, value, version=found.version)
    except Refused as error:
        if error.status != _STALE:
            raise
        _show_theirs(client, skill_id, found)
        message = (
            f"another user changed skill {skill_id} since you opened it; nothing was stored: your text is "
            f"in {place}; bring it together with their change, then `skillroute skills edit {skill_id} --file {place}`"
        )
        raise error.replaced(message, message) from error


def _show_theirs(client: Client, skill_id: str, found: Found) -> None:
    """Show what others changed meanwhile."""
    try:
        now = client.get("skills", skill_id)
    except LocalError as error:
        note(f"what they changed cannot be shown: {error}")
        return
    before, after = (
        as_yaml({field: of.value.get(field) for field in _FIELDS}, _WIDTH).splitlines() for of in (found, now)
    )
    changes = difflib.unified_diff(before, after, "as you opened it", "as it is now", n=0, lineterm="")
    for line in changes:
        note(line)
