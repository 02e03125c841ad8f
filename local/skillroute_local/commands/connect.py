"""`skillroute connect`: all servers of an `mcp.json` behind one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skillroute_local.connect.offer import AUTO_TOOLS, Called, Exposed, Offer
from skillroute_local.errors import Misused

_DEFAULT_FILES = (".mcp.json", "mcp.json", ".cursor/mcp.json", ".vscode/mcp.json")

_PinFound = Annotated[
    int,
    typer.Option(
        help="How many of the tools that a session found or called last are listed under their own names, for the rest "
        "of it.",
        min=0,
        max=50,
    ),
]
_Expose = Annotated[
    Exposed,
    typer.Option(
        help="Which tools are listed: only those that search (search), all of the servers' too (all), or all while "
        f"they are {AUTO_TOOLS} at most (auto)."
    ),
]
_Calls = Annotated[
    Called,
    typer.Option(
        help="Which tools call those that are found: call_tool (one), in its place call_tool_read and "
        "call_tool_write, which a client can permit separately (split), or all three (both)."
    ),
]
_MaxShown = Annotated[
    int | None,
    typer.Option(
        help="Characters of an answer that an agent gets at once; of a longer one it reads on by read_answer. "
        "Default: all.",
        min=1_000,
        max=10_000_000,
    ),
]
_IdleStop = Annotated[
    float | None,
    typer.Option(
        help="Seconds after which a server is stopped that no call goes to; the next call starts it again. "
        "Default: it runs on.",
        min=1,
        max=86_400,
    ),
]


def connect(
    config: Annotated[
        list[Path] | None,
        typer.Option(
            help=f"A file with MCP servers; may be given again. Default: the first there is of "
            f"{', '.join(_DEFAULT_FILES)} in the working directory."
        ),
    ] = None,
    http: Annotated[
        int | None,
        typer.Option(help="Serve over HTTP on this port of loopback instead of standard input and output; 0: any."),
    ] = None,
    pin: Annotated[
        list[str] | None,
        typer.Option(help="A tool that stays visible: its id, its name, or a server's name for all of its tools."),
    ] = None,
    pin_found: _PinFound = 0,
    expose: _Expose = "search",
    calls: _Calls = "one",
    max_shown_chars: _MaxShown = None,
    idle_stop: _IdleStop = None,
    timeout: Annotated[float, typer.Option(help="Seconds that a call may take.", min=1, max=3600)] = 120.0,
    max_answer_mb: Annotated[
        int, typer.Option(help="Megabytes that an answer of a server's program may have.", min=1, max=1024)
    ] = 16,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show what the servers write, on standard error.")] = False,
) -> None:
    """Offer the tools of all MCP servers of a file as one server: search_tools, get_tool_details, call_tool.

    Nothing needs to run for it. Standard output is the protocol's; messages go to standard error.
    """
    from skillroute_local.connect.start import start  # noqa: PLC0415 (0.8 s that no other command needs)
    from skillroute_local.mcp_servers.model import Limits  # noqa: PLC0415

    limits = Limits(call_s=timeout, message_bytes=max_answer_mb * 1_000_000, idle_s=idle_stop)
    offer = Offer(tuple(pin or ()), expose, calls, max_shown_chars, pin_found)
    start(_files(config), port=http, offer=offer, limits=limits, verbose=verbose)


def _files(given: list[Path] | None) -> list[Path]:
    if given:
        return given
    there = [path for name in _DEFAULT_FILES if (path := Path(name)).is_file()]
    if not there:
        raise Misused(f"there is none of {', '.join(_DEFAULT_FILES)} here: name a file with --config")
    return there[:1]
