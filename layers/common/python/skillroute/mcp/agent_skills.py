"""The Skills extension of MCP (`io.modelcontextprotocol/skills`): Agent Skills, and their files as resources."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from skillroute.agent_skills.model import SKILL_MD
from skillroute.agent_skills.served import Child, ServedAgentSkills, ServedFile, ServedSkill, skill_path_of
from skillroute.core.answer_size import PAGE_BYTES, size_of
from skillroute.core.caller import Caller
from skillroute.core.listing import Cursor, InvalidCursor
from skillroute.mcp.fit import Json
from skillroute.mcp.pages import PAGE, next_cursor, offset_of
from skillroute.mcp.rpc import INVALID_PARAMS, RpcError, quoted

SCHEME = "skill://"
DIRECTORY = "inode/directory"

LIST_BYTES = 400_000
"""Of a page of skills as JSON; a skill that is larger comes alone."""

_MAX_URI = 8_192  # characters: no path of a skill and of a file in it has more
_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[^/\\\x00-\x1f\x7f\ud800-\udfff]+")
_ORDER = "path"


class AgentSkillResources:
    """Answers the methods of the extension, and reads the files of skills."""

    def __init__(self, served: ServedAgentSkills) -> None:
        self._served = served

    def page(self, params: Mapping[str, Any], caller: Caller) -> Json:
        """Answer `skills/list`: active skills by path, each with all its files. Raises `RpcError` for a wrong cursor.

        A skill that is too large with those within it is left out, as the extension asks.
        """
        found = self._served.page(caller, after=_after(params), limit=PAGE + 1)
        shown: list[Json] = []
        size, last = 0, None
        for skill in found[:PAGE]:
            if skill.is_within_limits:
                entry = _entry(skill)
                size += size_of(entry)
                if shown and size > LIST_BYTES:
                    break
                shown.append(entry)
            last = skill.path
        is_end = not found or last == found[-1].path
        return {"skills": shown, **({} if is_end or last is None else {"nextCursor": _cursor(last)})}

    def get(self, params: Mapping[str, Any], caller: Caller) -> Json:
        """Answer `skills/get`. Raises `RpcError` where the caller is served no skill at the URI."""
        uri = _uri_in(params)
        place = place_of(uri)
        path = None if place is None else skill_path_of(place)
        skill = None if path is None else self._served.get(path, caller)
        if skill is None:
            raise RpcError(INVALID_PARAMS, f"No skill is served at {quoted(uri)}; skills/list has those that there are")
        if not skill.is_within_limits:
            raise RpcError(
                INVALID_PARAMS,
                f"The skill at {quoted(uri)} has {len(skill.files)} files with those of the skills within it, more or "
                "larger ones than hosts take: get these skills one by one",
            )
        return {"skill": _entry(skill)}

    def read(self, uri: str, caller: Caller) -> Json | None:
        """Return the contents that `resources/read` answers with; None where the caller is served no such file."""
        place = place_of(uri)
        file = None if place is None else self._served.file(place, caller)
        return None if file is None else {"uri": uri, "mimeType": file.mime_type, **_content(file)}

    def directory(self, params: Mapping[str, Any], caller: Caller) -> Json:
        """Answer `resources/directory/read`. Raises `RpcError` where the URI is no directory of a skill."""
        uri, offset = _uri_in(params), offset_of(params)
        place = place_of(uri)
        found = [] if place is None else self._served.children(place, caller, limit=PAGE + 1, offset=offset)
        if not found and offset == 0:
            raise RpcError(INVALID_PARAMS, f"{quoted(uri)} is not a directory resource")
        total = offset + len(found)
        listed = [_child(place or "", child) for child in found[:PAGE]]
        return {"resources": listed, **next_cursor(offset + PAGE, total)}


def uri_of(place: str) -> str:
    """Return the URI of a file or a directory by the path of its skill and its own.

    Examples
    --------
    >>> uri_of("acme/refunds/references/price list.txt")
    'skill://acme/refunds/references/price%20list.txt'
    """
    return f"{SCHEME}{quote(place)}"


def place_of(uri: str) -> str | None:
    """Return the place that a URI names; None where it is none of a skill.

    Examples
    --------
    >>> place_of("skill://acme/refunds/price%20list.txt"), place_of("skill://a/../b"), place_of("file:///a")
    ('acme/refunds/price list.txt', None, None)
    """
    if not uri.startswith(SCHEME) or len(uri) > _MAX_URI:
        return None
    try:
        segments = [unquote(segment, errors="strict") for segment in uri.removeprefix(SCHEME).split("/")]
    except UnicodeDecodeError:
        return None
    return "/".join(segments) if all(map(_SEGMENT.fullmatch, segments)) else None


def _entry(skill: ServedSkill) -> Json:
    files = [{"uri": uri_of(file.path), "digest": file.digest, "size": file.size} for file in skill.files]
    return {"uri": uri_of(f"{skill.path}/{SKILL_MD}"), "frontmatter": skill.frontmatter, "resources": files}


def _content(file: ServedFile) -> Json:
    """Return the bytes of a file as text where they are UTF-8, which is these bytes again, else in base64."""
    try:
        text = file.content.decode("utf-8")
    except UnicodeDecodeError:
        text = "\x00"
    # Control characters take seven bytes each on the way: a megabyte of them is no answer that Lambda carries.
    if "\x00" in text or size_of(text) > PAGE_BYTES:
        return {"blob": base64.b64encode(file.content).decode("ascii")}
    return {"text": text}


def _child(directory: str, child: Child) -> Json:
    uri = uri_of(f"{directory}/{child.name}")
    if child.is_directory:
        return {"uri": uri, "name": child.name, "mimeType": DIRECTORY}
    about = {"mimeType": child.mime_type, "size": child.size}
    if child.description is None:
        return {"uri": uri, "name": child.name, **about}
    # The metadata of a skill's SKILL.md: its name is the last segment of its path.
    return {"uri": uri, "name": directory.rpartition("/")[2], "description": child.description, **about}


def _uri_in(params: Mapping[str, Any]) -> str:
    uri = params.get("uri")
    if not isinstance(uri, str):
        raise RpcError(INVALID_PARAMS, "params.uri must be the URI of a resource")
    return uri


def _after(params: Mapping[str, Any]) -> str | None:
    cursor = params.get("cursor")
    if cursor is None:
        return None
    try:
        found = Cursor.decoded(cursor, _ORDER, int).value if isinstance(cursor, str) else None
    except InvalidCursor:
        found = None
    if not isinstance(found, str):
        raise RpcError(INVALID_PARAMS, "params.cursor must be the nextCursor of the page before")
    return found


def _cursor(path: str) -> str:
    return Cursor(_ORDER, 0, path).encoded()  # paths are unique among the skills that a caller is served
