"""`skillroute search`: tools for a request; with --registry servers, their tools, and agents."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from skillroute_local.commands.search_options import ItemTypeOption, ModeOption, StrategyOption, search_fields
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, out, print_json
from skillroute_local.errors import LocalError

_TOOLS = 5
_OF_EACH_TYPE = 3
_SHOWN = 100


def search(
    query: Annotated[str, typer.Argument(help="What is needed, in plain words.")],
    limit: Annotated[
        int | None,
        typer.Option(
            help=f"How many at most; default: {_TOOLS}, with --registry {_OF_EACH_TYPE} of each type.", min=1, max=50
        ),
    ] = None,
    strategy: StrategyOption = None,
    mode: ModeOption = None,
    item_type: ItemTypeOption = None,
    server: Annotated[
        list[str] | None, typer.Option("--server", help="Only of this MCP server; may be given several times.")
    ] = None,
    registry: Annotated[
        bool,
        typer.Option("--registry", help="Find MCP servers, their tools and A2A agents; `#tag` in the query filters."),
    ] = False,
    schemas: Annotated[bool, typer.Option(help="Show input schemas.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
    collapse: Annotated[
        bool, typer.Option("--collapse-duplicates", help="Of one tool from several servers show the best.")
    ] = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Find the tools that fit a request; with --registry the servers and agents, too."""
    request: dict[str, Any] = {"query": query}
    if registry:
        if strategy or mode or item_type or server or explain or collapse:
            raise LocalError(
                "--strategy, --mode, --type, --server, --explain and --collapse-duplicates are about searches without "
                "--registry"
            )
        request |= {"max_results": limit or _OF_EACH_TYPE}
    else:
        request |= {"limit": limit or _TOOLS, "include_schemas": schemas or as_json}
        request |= search_fields(strategy, mode, item_type)
        # Only where it is asked for: a deployment may be older than the command line.
        request |= {"server": server} if server else {}
        request |= {"explain": True} if explain else {}
        request |= {"collapse_duplicates": True} if collapse else {}
    with client_for(url, token, sign_region) as client:
        answer = client.search_registry(request) if registry else client.search(request)
    if as_json:
        print_json(answer)
    elif registry:
        _show_registry(answer, schemas=schemas)
    else:
        _show_tools(answer, schemas=schemas)


def _show_tools(answer: dict[str, Any], *, schemas: bool) -> None:
    skills = ", ".join(f"{skill['id']} {skill['score']:.2f}" for skill in answer["matched_skills"])
    metadata = answer["metadata"]
    out.print(f"skills: {skills or metadata['fallback_reason'] or 'not asked'}", highlight=False, markup=False)
    table = Table("score", "server", "name", "description", box=None, pad_edge=False)
    for tool in answer["tools"]:
        # What others wrote is no markup of ours, whatever brackets stand in it.
        cells = map(escape, (tool["server"] or "", tool["name"], _first_line(tool["description"])))
        table.add_row(f"{tool['score']:.3f}", *cells)
        if schemas:
            table.add_row("", "", "", _schema(tool["input_schema"]))
        if tool.get("explain"):
            table.add_row("", "", "", escape(_parts(tool["explain"])))
        if tool.get("duplicates"):
            servers = ", ".join(other["server"] or other["name"] for other in tool["duplicates"])
            table.add_row("", "", "", escape(f"also of {servers}"))
    if unknown := answer.get("unknown_servers"):
        out.print(f"nothing is known of {', '.join(unknown)}", highlight=False, markup=False)
    if metadata.get("no_match") and answer["tools"]:  # a deployment may be older than the command line
        out.print("nothing seems to fit; these are the nearest:", highlight=False)
    out.print(table)
    out.print(
        f"{metadata['final_count']} of {metadata['stage2_candidate_count']} in {metadata['total_time_ms']:.1f} ms, "
        f"{metadata['search_mode']}{_confidence(metadata)}{_degraded(metadata)}",
        highlight=False,
    )


def _show_registry(answer: dict[str, Any], *, schemas: bool) -> None:
    table = Table("score", "type", "path", "name", "description", box=None, pad_edge=False)

    def add(type_: str, found: dict[str, Any], path: str, name: str) -> None:
        cells = map(escape, (path, name, _first_line(found["description"])))
        table.add_row(f"{found['relevance_score']:.3f}", type_, *cells)

    for server in answer["servers"]:
        add("server", server, server["path"], server["server_name"])
    for tool in answer["tools"]:
        add("tool", tool, tool["server_path"], tool["tool_name"])
        if schemas:
            table.add_row("", "", "", "", _schema(tool["inputSchema"]))
    for agent in answer["agents"]:
        add("agent", agent, agent["path"], agent["agent_name"])
    out.print(table)
    metadata = answer["metadata"]
    out.print(
        f"best of {metadata['candidate_count']} servers and agents in {metadata['total_time_ms']:.1f} ms, "
        f"{answer['search_mode']}{_degraded(metadata)}",
        highlight=False,
    )


def _first_line(description: str) -> str:
    return description.partition("\n")[0][:_SHOWN]


def _schema(schema: object) -> str:
    return escape(json.dumps(schema, ensure_ascii=False))


def _parts(explanation: dict[str, Any]) -> str:
    """Return the parts of a score that are there, those of a sum by what they contribute to it."""
    features = (explanation.get("features") or {}).items()
    shown = {name: f"{part['contribution']:.3f}" for name, part in features}
    shown |= {
        name: f"{value:.3f}" if isinstance(value, float) else str(value)
        for name, value in explanation.items()
        if isinstance(value, int | float) and value
    }
    return ", ".join(f"{name} {value}" for name, value in shown.items())


def _confidence(metadata: dict[str, Any]) -> str:
    confidence = metadata.get("confidence")
    return "" if confidence is None else f", confidence {confidence:.2f}"


def _degraded(metadata: dict[str, Any]) -> str:
    return f", degraded: {', '.join(metadata['degraded'])}" if metadata["degraded"] else ""
