"""The options of `skillroute import`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

EXAMPLES = """\b
Examples:
  skillroute import tools.jsonl                   items, one a line
  skillroute import listed.json --server github   an answer to tools/list
  skillroute import petstore.yaml --dry-run       OpenAPI 3: what would change
  skillroute import ~/.claude/skills              folders with a SKILL.md
  skillroute import --git https://example.com/skills.git --server team
  skillroute import servers.json                  a registry's list of servers
  skillroute import .mcp.json --prune             all servers of an mcp.json
  skillroute import backup.ndjson                 an export; - is stdin
  skillroute import --mcp "uvx mcp-server-time" --server time
  skillroute import --mcp https://example.com/mcp --server docs --watch
"""

Sources = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[SOURCES]...",
        help="Files and folders: items as JSON or JSON Lines, a tools/list answer, an OpenAPI 3 document, an "
        "mcp.json, a registry's servers, Agent Skills, an export. The content shows which. - is standard input.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="The format of SOURCES, instead of what their content shows: jsonl, json, tools-list, openapi, "
        "agent-skills, mcp-registry, mcp-config, backup.",
    ),
]
Mcp = Annotated[
    str | None,
    typer.Option(help="An MCP server: its address, or the command that starts it. Needs --server."),
]
Git = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="A Git repository, for its Agent Skills: its URL or folder. May be repeated."),
]
OfServer = Annotated[
    str | None,
    typer.Option(
        help="The server that items are of, unless they name one; the first part of the paths of Agent Skills. Of "
        "an mcp.json: the one to import."
    ),
]
Register = Annotated[
    bool, typer.Option("--register", help="Write MCP servers that are listed into the registry as well.")
]
WithAddress = Annotated[
    bool, typer.Option("--with-address", help="The same, with the addresses by which calls reach them.")
]
Timeout = Annotated[
    float,
    # With the longer word that stands there otherwise, the column beside it is too narrow for a variable's name.
    typer.Option(min=1, max=600, metavar="SECONDS", help="How long an MCP server has to start, and again to list."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be created, updated and removed; change nothing.")
]


class PruneWhat(StrEnum):
    """How much may be removed."""

    SOME = "some"
    ALL = "all"


class ImportCommand(TyperCommand):
    """Takes ``--prune`` for ``--prune=some``: an option is a flag or has a value, and here nobody has to give one.

    A value is given with ``=`` alone, so that `import --prune tools.jsonl` names a file.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line."""
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [_with_value(arg) for arg in args[:end]] + args[end:])


def _with_value(arg: str) -> str:
    return f"--prune={PruneWhat.SOME}" if arg == "--prune" else arg


Prune = Annotated[
    PruneWhat | None,
    typer.Option(
        "--prune",
        metavar="[=all]",
        help="Remove items of the imported servers that their source no longer has: they are switched off, come back "
        "with their skills when it has them again, and are deleted later. Where more than a tenth of a server's would "
        "go, it takes --prune=all.",
    ),
]
PruneUpTo = Annotated[
    float,
    typer.Option(
        "--prune-up-to",
        min=0,
        max=100,
        metavar="PERCENT",
        envvar="SKILLROUTE_PRUNE_UP_TO",
        help="Of a server's items of a type, how many --prune removes without =all.",
    ),
]
PruneKeepDays = Annotated[
    float,
    typer.Option(
        "--prune-keep-days",
        min=0,
        metavar="DAYS",
        envvar="SKILLROUTE_PRUNE_KEEP_DAYS",
        help="How long what --prune switched off comes back, before the next --prune deletes it.",
    ),
]
Approve = Annotated[
    bool, typer.Option("--approve", help="Approve the definitions of the items that are written, as the caller.")
]
Watched = Annotated[
    bool,
    typer.Option("--watch", help="Import again whenever a source changes, and MCP servers every minute, until Ctrl-C."),
]
Servers = Annotated[
    list[Path] | None,
    typer.Option(help="MCP servers: JSON Lines, a server.json, or what a registry lists. May be repeated."),
]
Agents = Annotated[list[Path] | None, typer.Option(help="A2A agents: JSON Lines, or an agent card. May be repeated.")]
Projects = Annotated[
    list[Path] | None, typer.Option(help="Projects of agent mail: key, name, description. May be repeated.")
]
Products = Annotated[list[Path] | None, typer.Option(help="Products: key, name, projects, ... May be repeated.")]
MailAgents = Annotated[
    list[Path] | None, typer.Option(help="Who writes mail: name, contact, projects, ... May be repeated.")
]
Messages = Annotated[
    list[Path] | None, typer.Option(help="Messages: key, project, from, to, subject, body, ... May be repeated.")
]
