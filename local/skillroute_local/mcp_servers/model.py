"""MCP servers as a file names them, and what one of them lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from skillroute_local.errors import LocalError

ListedKind = Literal["tool", "prompt", "resource"]
EVERY_KIND: frozenset[ListedKind] = frozenset(("tool", "prompt", "resource"))

LISTS: dict[ListedKind, tuple[str, str]] = {
    "tool": ("tools/list", "tools"),
    "prompt": ("prompts/list", "prompts"),
    "resource": ("resources/list", "resources"),
}
"""The method that lists each kind, and the field of its answer."""


class ServerError(LocalError):
    """An MCP server did not start, does not answer, or answers what MCP does not know; begins with its name.

    Attributes
    ----------
    brief : str
        Without what its program wrote, which may hold secrets and is for the person alone.
    last_line : str
        The last line that it wrote, empty where there is none.
    """

    def __init__(self, brief: str, last_line: str = "") -> None:
        super().__init__(brief + (f"; its last line was: {last_line}" if last_line else ""))
        self.brief = brief
        self.last_line = last_line


class LoginNeededError(ServerError):
    """A server wants another login than there is; the error names the command that makes one."""


@dataclass(frozen=True, slots=True)
class ToolFilter:
    """Which of a server's tools its entry takes; patterns may have `*`.

    Attributes
    ----------
    only : tuple of str
        Those that are taken; all where it is empty.
    but : tuple of str
        Those of them that are left out.
    """

    only: tuple[str, ...] = ()
    but: tuple[str, ...] = ()

    def takes(self, name: str) -> bool:
        """Return whether a tool is taken."""
        if any(fnmatchcase(name, pattern) for pattern in self.but):
            return False
        return not self.only or any(fnmatchcase(name, pattern) for pattern in self.only)


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A server that is started as a program and spoken to over its standard input and output.

    Attributes
    ----------
    where : str
        The file and the field that name it, for messages.
    env : mapping
        What is added to the environment. It may hold secrets, so it is not shown.
    inherits : bool
        Whether it gets the whole environment of this process, and not only the few variables that every program needs.
    """

    name: str
    where: str
    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None
    inherits: bool = False
    tools: ToolFilter = ToolFilter()


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server that runs elsewhere, reached by streamable HTTP, or by the older SSE. Headers may hold secrets.

    Attributes
    ----------
    transport : str
        ``auto``: streamable HTTP, and SSE where a server answers that it knows no such thing.
    config : Path or None
        The file that names it, where one does: `skillroute login` is given it.
    """

    name: str
    where: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    transport: Literal["auto", "http", "sse"] = "auto"
    tools: ToolFilter = ToolFilter()
    config: Path | None = None


McpServer = StdioServer | HttpServer


@dataclass(frozen=True, slots=True)
class ServersFile:
    """The content of an `mcp.json`.

    Attributes
    ----------
    servers : tuple of McpServer
        Those that can be used.
    disabled : tuple of str
        The names of those that are switched off.
    problems : tuple of str
        What is wrong with the others: file, field and remedy.
    """

    servers: tuple[McpServer, ...]
    disabled: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a server is waited for, and how much of it is read.

    Attributes
    ----------
    connect_s : float
        From the start of its program to the end of the handshake. Programs that `npx` or `uvx` must fetch take long.
    list_s : float
        For all pages of all its lists together.
    call_s : float
        For the answer to one call. Progress does not lengthen it.
    write_s : float
        The longest that a program may leave a message unread before it counts as ended.
    items : int
        The most tools, prompts and resources that are taken, of each kind.
    pages : int
        The most pages that are asked for, of each kind.
    message_bytes : int
        The longest message of a program that is read; a longer answer is an error of the call.
    idle_s : float or None
        How long a server is kept that no call goes to; None: as long as its client runs.
    """

    connect_s: float = 60.0
    list_s: float = 30.0
    call_s: float = 120.0
    write_s: float = 10.0
    items: int = 5_000
    pages: int = 200
    message_bytes: int = 16_000_000
    idle_s: float | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool, prompt or resource as its server lists it, every field of it."""

    kind: ListedKind
    name: str
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ServedSkill:
    """A skill that a server serves.

    Attributes
    ----------
    uri : str
        Of its `SKILL.md`.
    path : str
        Its place on the server: `acme/billing/refunds` of ``skill://acme/billing/refunds/SKILL.md``.
    frontmatter : mapping
        As the server says; the importer compares it with the file.
    files : mapping of str to bytes
        By path, `SKILL.md` first.
    left_out : tuple of str
        What is missing of it, and why.
    uris : frozenset of str
        Of all its files, those that were left out among them.
    """

    uri: str
    path: str
    frontmatter: Mapping[str, Any]
    files: Mapping[str, bytes]
    left_out: tuple[str, ...]
    uris: frozenset[str]


@dataclass(frozen=True, slots=True)
class Listing:
    """The listing of a server.

    Attributes
    ----------
    title, version, instructions : str
        What it says of itself; empty where it does not.
    problems : tuple of str
        What was left out, and why; each begins with the server's name.
    complete : frozenset of str
        The kinds that were listed; of the others nothing is known, for their list failed.
    skills : tuple of ServedSkill
        Its Agent Skills, where they were asked for.
    """

    items: tuple[Listed, ...]
    title: str = ""
    version: str = ""
    instructions: str = ""
    problems: tuple[str, ...] = ()
    complete: frozenset[ListedKind] = EVERY_KIND
    skills: tuple[ServedSkill, ...] = ()
