"""Reading an Agent Skill as its owner sends it: front matter as JSON, and the bytes of its files.

Each is read on its own, so that one that is wrong never spoils the others.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from skillroute.agent_skills.mime_types import mime_type_of
from skillroute.agent_skills.model import SKILL_MD, AgentSkillContent, SkillFile
from skillroute.agent_skills.skill_md import MAX_PIECES, Piece, body_of, pieces_of
from skillroute.core.errors.model import InvalidInput
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.hidden_text import HIDDEN_CHARACTERS, visible
from skillroute.core.input.json_input import MAX_PROBLEMS, examined_json, together, validated
from skillroute.core.input.known_fields import KnownFields
from skillroute.core.input.shown_as import ShownAs

MAX_FILES = 200
MAX_FILE_BYTES = 1024 * 1024
MAX_SKILL_BYTES = 3 * 1024 * 1024
"""Of all files together: as base64 they fit into one line of an export, which is an answer of Lambda (6 MB)."""

MAX_FRONTMATTER_BYTES = 64 * 1024
MAX_PATH = 256
MAX_NAME = 64
MAX_DESCRIPTION = 1024
"""Characters, as the specification of Agent Skills has it."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._~-]+")
_FILE_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[^/\\\x00-\x1f\x7f]+")
_MIME_TYPE = r"^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(; ?charset=[A-Za-z0-9_-]+)?$"


class FileInput(BaseModel):
    """A file of an Agent Skill: its content is either text or base64."""

    model_config = ConfigDict(extra="forbid", strict=True)

    path: str = Field(description="Within the folder, with slashes: `references/FORMS.md`.", max_length=MAX_PATH)
    text: str | None = Field(None, description="The content, where it is UTF-8.")
    base64: str | None = Field(None, description="The content in base64 (RFC 4648), for any bytes.")
    mime_type: Annotated[str, StringConstraints(pattern=_MIME_TYPE, max_length=128)] | None = Field(
        None, description="Left out, the ending of the path says it."
    )

    def content(self) -> bytes:
        """Return its bytes. Raises `InvalidInput`."""
        if (self.text is None) == (self.base64 is None):
            raise InvalidInput("text", "give either text or base64: the content of the file")
        if self.text is not None:
            try:
                return self.text.encode("utf-8")
            except UnicodeEncodeError:
                raise InvalidInput("text", "must not contain lone surrogates: send the bytes as base64") from None
        try:
            return base64.b64decode((self.base64 or "").encode("ascii"), validate=True)
        except (binascii.Error, UnicodeEncodeError):
            raise InvalidInput("base64", "is not base64 (RFC 4648): encode the bytes of the file with it") from None


class AgentSkillInput(BaseModel):
    """An Agent Skill as `PUT /api/v1/agent-skills` takes it: a folder with a `SKILL.md`."""

    model_config = ConfigDict(extra="allow", strict=True)

    path: str | None = Field(
        None,
        description="Its place in its source, unique within the organisation: `acme/billing/refunds`. The last segment "
        "is its name; left out, the path is the name.",
    )
    frontmatter: dict[str, Any] = Field(
        description="The front matter of `SKILL.md` as JSON, all of it: `name`, `description`, ..."
    )
    files: list[Annotated[FileInput, ShownAs(FileInput, "SkillFolderFile")]] = Field(
        max_length=MAX_FILES, min_length=1, description="All files of the folder, `SKILL.md` among them."
    )


AGENT_SKILL_FIELDS = KnownFields.of(
    AgentSkillInput,
    ["id", "org_id", "name", "description", "is_active", "is_embedded", "content_hash", "created_at", "updated_at"],
    keeps_others=False,
)


@dataclass(frozen=True, slots=True)
class AgentSkillGiven:
    """An Agent Skill as it was read.

    Attributes
    ----------
    description : str
        Without invisible characters.
    pieces : sequence of Piece
        What is searched: first name and description, then the body.
    warnings : sequence of FieldProblem
        What is questionable about it.
    """

    content: AgentSkillContent
    description: str
    pieces: Sequence[Piece]
    warnings: Sequence[FieldProblem]


def read_agent_skill(raw: object) -> AgentSkillGiven:
    """Check one Agent Skill and return it. What only answers have of it is left aside.

    Raises
    ------
    InvalidInput
        Something is wrong with it; `field` is relative to the skill, such as ``files.3.path``.
    """
    if not isinstance(raw, Mapping):
        raise InvalidInput("agent skill", "must be an object")
    fields = AGENT_SKILL_FIELDS.without_shown(raw)
    # The contents of files may have NUL, and are checked as bytes.
    _, problems = examined_json(
        {name: value for name, value in fields.items() if name != "files"},
        whole="agent skill",
        most_bytes=MAX_FRONTMATTER_BYTES,
    )
    return together(problems, lambda: _given(validated(AgentSkillInput, fields, whole="agent skill")))


def _given(skill: AgentSkillInput) -> AgentSkillGiven:
    name, description = _name(skill.frontmatter), _description(skill.frontmatter)
    path = name if skill.path is None else skill.path
    _check_path(path, name)
    files, contents = _files(skill.files)
    place = next((nth for nth, file in enumerate(skill.files) if file.path == SKILL_MD), None)
    if place is None:
        raise InvalidInput("files", f"has no {SKILL_MD}: each Agent Skill has one at the top of its folder")
    text = _text(contents[_digest(skill.files[place].content())], place)
    body = body_of(text)
    if body is None:
        raise InvalidInput(f"files.{place}", "must begin with front matter: --- above and below it on lines of its own")
    pieces = [Piece("", description), *pieces_of(body)]
    warnings = _warnings(pieces, text, place)
    content = AgentSkillContent(path, skill.frontmatter, files, contents)
    return AgentSkillGiven(content, description, pieces[: MAX_PIECES + 1], warnings)


def _warnings(pieces: Sequence[Piece], text: str, place: int) -> list[FieldProblem]:
    found = []
    if len(pieces) > MAX_PIECES + 1:
        message = f"has {len(pieces) - 1} pieces of text, of which the first {MAX_PIECES} are found: split the skill"
        found.append(FieldProblem(f"files.{place}", message, "not_all_indexed"))
    if visible(text) != text:
        message = "has invisible characters, which agents read and people do not see: they are served as they came"
        found.append(FieldProblem(f"files.{place}", message, HIDDEN_CHARACTERS))
    return found


def is_skill_name(text: str) -> bool:
    """Return whether an Agent Skill can have a name, as the specification has it."""
    return len(text) <= MAX_NAME and _NAME.fullmatch(text) is not None


def _name(frontmatter: Mapping[str, Any]) -> str:
    name = frontmatter.get("name")
    if not isinstance(name, str) or not is_skill_name(name):
        raise InvalidInput(
            "frontmatter.name",
            f"must be 1 to {MAX_NAME} small letters, digits and single hyphens between them, such as pdf-processing",
        )
    return name


def _description(frontmatter: Mapping[str, Any]) -> str:
    given = frontmatter.get("description")
    description = visible(given).strip() if isinstance(given, str) else ""
    if not description or len(description) > MAX_DESCRIPTION:
        raise InvalidInput(
            "frontmatter.description",
            f"must be a text of 1 to {MAX_DESCRIPTION} characters: what the skill does and when to use it",
        )
    return description


def _check_path(path: str, name: str) -> None:
    first, *others = path.split("/")
    if len(path) > MAX_PATH or first != first.lower() or not all(map(_SEGMENT.fullmatch, (first, *others))):
        raise InvalidInput(
            "path",
            f"must be 1 to {MAX_PATH} letters, digits, hyphens, full stops, _ and ~ in segments with single slashes "
            "between them, the first segment in small letters, such as acme/billing/refunds",
        )
    if (others or [first])[-1] != name:
        raise InvalidInput("path", f"must end in the name of the skill, {name}")


def _files(given: Sequence[FileInput]) -> tuple[tuple[SkillFile, ...], dict[str, bytes]]:
    files: dict[str, SkillFile] = {}
    contents: dict[str, bytes] = {}
    problems: list[FieldProblem] = []
    for place, file in enumerate(given):
        try:
            content = file.content()
            _check_file(file.path, content, files)
        except InvalidInput as error:
            problems += error.moved(lambda field, place=place: f"files.{place}.{field}").problems  # type: ignore[misc]
            continue
        digest = _digest(content)
        contents[digest] = content
        files[file.path] = SkillFile(file.path, len(content), digest, file.mime_type or mime_type_of(file.path))
    total = sum(file.size for file in files.values())
    if total > MAX_SKILL_BYTES:
        problems.append(FieldProblem("files", f"are {total} bytes together; at most {MAX_SKILL_BYTES} are allowed"))
    if problems:
        raise InvalidInput.of(problems[:MAX_PROBLEMS])
    return tuple(files[path] for path in sorted(files)), contents


def path_problem(path: str) -> str | None:
    """Return why a file of an Agent Skill cannot have a path; None where it can."""
    if not all(map(_FILE_SEGMENT.fullmatch, path.split("/"))):
        return "must be relative to the folder, with single slashes, without . and .. segments"
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "lone surrogates are not allowed"
    return None


def _check_file(path: str, content: bytes, others: Mapping[str, SkillFile]) -> None:
    if problem := path_problem(path):
        raise InvalidInput("path", problem)
    if path in others:
        raise InvalidInput("path", "is the path of another file of the skill: each path can occur once")
    if len(content) > MAX_FILE_BYTES:
        raise InvalidInput("path", f"has {len(content)} bytes; at most {MAX_FILE_BYTES} of a file are allowed")


def _text(content: bytes, place: int) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(f"files.{place}", f"{SKILL_MD} must be UTF-8") from None
    if "\x00" in text:
        raise InvalidInput(f"files.{place}", f"NUL characters are not allowed in {SKILL_MD}")
    return text


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
