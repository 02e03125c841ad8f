"""`skillroute search`: tools for a request; with --registry servers, their tools, and agents; with --mail messages."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from skillroute_local.commands.nearest import explain_nothing
from skillroute_local.commands.output import without_schemas
from skillroute_local.commands.search_options import (
    ItemTypeOption,
    Mode,
    ModeOption,
    SkillThresholdOption,
    StrategyOption,
    ToolThresholdOption,
    search_fields,
)
from skillroute_local.commands.search_shown import show_messages, show_registry, show_tools
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.errors import Misused

_TOOLS = 5
_MESSAGES = 10
_OF_EACH_TYPE = 3


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What is needed, in plain words.")],
    limit: Annotated[
        int | None,
        typer.Option(
            help=f"How many at most; default: {_TOOLS}, with --registry {_OF_EACH_TYPE} of each type, with --mail "
            f"{_MESSAGES}.",
            min=1,
            max=50,
        ),
    ] = None,
    strategy: StrategyOption = None,
    mode: ModeOption = None,
    item_type: ItemTypeOption = None,
    server: Annotated[
        list[str] | None, typer.Option("--server", help="Only of this MCP server; may be given several times.")
    ] = None,
    skill_threshold: SkillThresholdOption = None,
    tool_threshold: ToolThresholdOption = None,
    registry: Annotated[
        bool,
        typer.Option("--registry", help="Find MCP servers, their tools and A2A agents; `#tag` in the query filters."),
    ] = False,
    mail: Annotated[bool, typer.Option("--mail", help="Find messages of agent mail; takes --mode too.")] = False,
    schemas: Annotated[
        bool | None, typer.Option(help="Show input schemas, or not; default: with --json alone.", show_default=False)
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
    collapse: Annotated[
        bool, typer.Option("--collapse-duplicates", help="Of one tool from several servers show the best.")
    ] = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Find the tools that fit a request; with --registry servers and agents too, with --mail messages."""
    of_tools: dict[str, object] = {
        "--strategy": strategy, "--type": item_type, "--skill-threshold": skill_threshold,
        "--tool-threshold": tool_threshold, "--collapse-duplicates": collapse, "--server": server,
    }  # fmt: skip
    _require_one_search(of_tools, {"--mode": mode, "--explain": explain}, registry=registry, mail=mail)
    with_schemas = as_json if schemas is None else schemas
    if registry:
        request: dict[str, Any] = {"query": query, "max_results": limit or _OF_EACH_TYPE}
    elif mail:
        request = {"text": query, "limit": limit or _MESSAGES} | _of_mode(mode, explain=explain)
    else:
        request = {"query": query, "limit": limit or _TOOLS, "include_schemas": with_schemas}
        request |= search_fields(strategy, mode, item_type) | ({"explain": True} if explain else {})
        numbers = {"skill_threshold": skill_threshold, "tool_threshold": tool_threshold}
        request |= {name: value for name, value in numbers.items() if value is not None}
        # Only where it is asked for: a deployment may be older than the command line.
        request |= {"server": server} if server else {}
        request |= {"collapse_duplicates": True} if collapse else {}
    with client_for(url, token, sign_region) as client:
        if registry:
            answer = client.search_registry(request)
        else:
            answer = client.search_messages(request) if mail else client.search(request)
        if as_json:
            print_json(answer if with_schemas else without_schemas(answer))
        elif registry:
            show_registry(answer, schemas=with_schemas)
        elif mail:
            show_messages(answer)
        else:
            show_tools(answer, schemas=with_schemas)
            if not answer["tools"]:
                explain_nothing(client, request, answer)


def _require_one_search(
    of_tools: dict[str, object], of_mail_too: dict[str, object], *, registry: bool, mail: bool
) -> None:
    """Raise `Misused` where options are given that the search does not have."""
    if registry and mail:
        raise Misused("--registry and --mail are different searches: give one of them")
    foreign = (of_tools if registry or mail else {}) | (of_mail_too if registry else {})
    if given := [option for option, value in foreign.items() if value]:
        kind = "registry" if registry else "mail"
        raise Misused(f"searches with --{kind} have no {', '.join(given)}: leave that out")


def _of_mode(mode: Mode | None, *, explain: bool) -> dict[str, Any]:
    return ({"mode": mode.value} if mode else {}) | ({"explain": True} if explain else {})
