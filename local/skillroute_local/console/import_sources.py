"""Sources of an import from the page: a file that was sent, or an address; read once, and no program is started."""

from __future__ import annotations

import base64
import binascii
import shlex
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from skillroute_local.console.problems import Problem, Refused
from skillroute_local.errors import LocalError
from skillroute_local.importing.content import content_of
from skillroute_local.importing.formats import FORMATS, read
from skillroute_local.importing.model import About, Choices, Reading, Refuse, Row, Unreadable
from skillroute_local.importing.running import is_config, read_listings, read_one
from skillroute_local.mcp_servers.config import read_servers
from skillroute_local.mcp_servers.model import HttpServer, StdioServer

MAX_FILE_BYTES = 20 * 1024 * 1024
"""Of a file that is sent; it comes compressed, since a Skillroute takes bodies of 6 MB."""

_MAX_SENT = 8 * 1024 * 1024
_TIMEOUT_S = 60.0
_OF_NO_SERVER = ""

_TOO_LARGE = Problem(
    413,
    f"the file has more than {MAX_FILE_BYTES >> 20} MB",
    "Import it in a terminal: `skillroute import FILE --dry-run` shows the same.",
)
_NOT_REACHED = Problem(
    403,
    "this page reaches no address: who has a token could have this machine ask others for them",
    "Import it in a terminal (`skillroute import --mcp ADDRESS --server NAME`), or open the page with "
    "`skillroute console`.",
    "address_not_reached",
)
_BROKEN = Problem(422, "the file did not arrive as it was sent", "Choose it again.", "invalid_request")

Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=256)]
# Anything else would be a command line, which is started.
Address = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^https?://\S+$", max_length=2000)]


class Given(BaseModel):
    """The source of an import, as the page sends it.

    Attributes
    ----------
    file_name, file : str or None
        Of a file: its name, and its bytes by gzip and Base64.
    address : str or None
        Of an MCP server.
    server : str
        The server that items are of, unless they name one; empty for none.
    register_servers : bool
        Whether MCP servers that are reached are written into the registry, with their addresses.
    prune : str
        What becomes of that which a source no longer has.
    """

    file_name: Name | None = None
    file: Annotated[str, Field(max_length=_MAX_SENT)] | None = None
    address: Address | None = None
    server: Name = ""
    register_servers: bool = False
    prune: Literal["no", "some", "all"] = "no"


@dataclass(frozen=True, slots=True)
class NotStarted:
    """A server of an `mcp.json` that is a program, and the command that imports it in a terminal."""

    name: str
    program: str
    command: str


class ReadOnce:
    """Reads a source once, and gives the same rows and refusals each time: what is written is what was shown.

    Parameters
    ----------
    given : Given
    reaches : bool
        Whether the addresses that a file names are reached.

    Attributes
    ----------
    not_started : list of NotStarted
        The programs that its file names.
    """

    def __init__(self, given: Given, *, reaches: bool) -> None:
        self._reaches = reaches
        self.not_started: list[NotStarted] = []
        self._given = given
        self._reading: Reading | None = None
        self._failed: Unreadable | None = None
        self._refused: list[tuple[str, str, About]] = []
        self.rows: list[Row] = []

    @property
    def name(self) -> str:
        """The name of the source in notes."""
        return self._given.file_name or self._given.server or "the address"

    def read(self, refuse: Refuse) -> Reading:
        """Return the reading, from the source the first time. Raises `Unreadable`."""
        if self._reading is None and self._failed is None:
            try:
                self._reading = self._read(lambda *refused: self._refused.append((*refused, None)[:3]))
            except Unreadable as error:
                self._failed = error
        for refused in self._refused:
            refuse(*refused)
        if self._reading is None:
            raise self._failed or Unreadable(self.name, "cannot be read")
        return replace(self._reading, rows=iter(self.rows))

    def _read(self, refuse: Refuse) -> Reading:
        given = self._given
        register = given.register_servers
        choices = Choices(given.server or None, _TIMEOUT_S, register, register)
        if given.address is not None:
            return self._kept(read_one(given.address, choices, refuse))
        data = _inflated(given.file or "")
        with TemporaryDirectory(prefix="skillroute-import-") as folder:
            path = Path(folder) / _file_name(given.file_name or "")
            path.write_bytes(data)
            return self._kept(self._of_file(path, choices, refuse))

    def _kept(self, reading: Reading) -> Reading:
        self.rows = list(reading.rows)
        return reading

    def _of_file(self, path: Path, choices: Choices, refuse: Refuse) -> Reading:
        if not _is_config(path):
            return read(path, choices, refuse)
        try:
            file = read_servers(path, is_foreign=True)
        except LocalError as error:
            raise Unreadable(path.name, _within(path, str(error))) from None
        for problem in file.problems:
            refuse(path.name, _within(path, problem), _OF_NO_SERVER)
        chosen = [one for one in file.servers if choices.server in {None, one.name}]
        if choices.server and not chosen:
            raise Unreadable(path.name, f"names no server {choices.server!r} that is switched on: check its name")
        self.not_started = [_command(one, path.name) for one in chosen if isinstance(one, StdioServer)]
        for program in self.not_started:  # what it lists is not known, so that nothing of it is gone
            refuse(path.name, f"{program.name} is a program, which this page does not start", program.name)
        reached = [one for one in chosen if isinstance(one, HttpServer)]
        if not self._reaches:
            for one in reached:
                refuse(path.name, f"{one.name} is at an address, which this page does not reach", one.name)
            reached = []
        notes = [f"{name} is switched off in it, and left out" for name in file.disabled]
        return read_listings(reached, path.name, choices, refuse, notes)


def require_one(given: Given, *, reaches: bool) -> None:
    """Raise `Refused` where there is not one file or one address, or an address that is not reached."""
    if (given.file is None) == (given.address is None):
        raise Refused(Problem(422, "name a file or an address", "Choose one of both.", "invalid_request"))
    if given.address is not None and not reaches:
        raise Refused(_NOT_REACHED)
    if given.address is not None and not given.server:
        raise Refused(
            Problem(
                422,
                "server: an address needs the name by which the catalogue knows the server",
                "Enter it in the field Server.",
                "invalid_request",
            )
        )


def _is_config(path: Path) -> bool:
    """Return whether a file is an `mcp.json`: no format that is tried before has it, as the command tries them."""
    content = content_of(path)
    before = list(FORMATS)[: list(FORMATS).index("mcp-config")]
    return is_config(content) and not any(FORMATS[name].matches(content) for name in before)


def _inflated(sent: str) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    try:
        data = inflater.decompress(base64.b64decode(sent, validate=True), MAX_FILE_BYTES + 1)
    except (binascii.Error, zlib.error):
        raise Refused(_BROKEN) from None
    if len(data) > MAX_FILE_BYTES:
        raise Refused(_TOO_LARGE)
    if not inflater.eof:
        raise Refused(_BROKEN)
    return data


def _file_name(given: str) -> str:
    """Return a name without folders: it says what format a file has, and stands in messages."""
    name = given.replace("\\", "/").rpartition("/")[2].replace("\0", "")[:200]
    return name if name.strip(". ") else "file"


def _command(server: StdioServer, file: str) -> NotStarted:
    program = shlex.join([server.command, *server.args])
    if server.env or server.cwd:
        command = shlex.join(["skillroute", "import", file, "--format", "mcp-config", "--server", server.name])
    else:
        command = shlex.join(["skillroute", "import", "--mcp", program, "--server", server.name])
    return NotStarted(server.name, program, command)


def _within(path: Path, problem: str) -> str:
    return problem.replace(f"{path.as_posix()}", "").lstrip(": ")


def as_shown(programs: Sequence[NotStarted]) -> list[dict[str, str]]:
    """Return programs as the page shows them."""
    return [{"name": one.name, "program": one.program, "command": one.command} for one in programs]
