"""`skillroute search`: tools for a request; with --registry servers, their tools, and agents; with --mail messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillroute_local.commands.nearest import explain_nothing
from skillroute_local.commands.output import NoSchemas, without_schemas
from skillroute_local.commands.search_options import (
    MESSAGES,
    OF_EACH_TYPE,
    TOOLS,
    CollapseOption,
    ExplainOption,
    ItemTypeOption,
    LimitOption,
    MailOption,
    Mode,
    ModeOption,
    NeedOption,
    RegistryOption,
    SchemasOption,
    ServerOption,
    SkillThresholdOption,
    StrategyOption,
    ToolThresholdOption,
    search_fields,
)
from skillroute_local.commands.search_shown import show_messages, show_registry, show_tools
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.errors import Misused

if TYPE_CHECKING:
    from skillroute_local.client import Client


def search(
    query: Annotated[str | None, typer.Argument(metavar="QUERY", help="What is needed, in plain words.")] = None,
    need: NeedOption = None,
    limit: LimitOption = None,
    strategy: StrategyOption = None,
    mode: ModeOption = None,
    item_type: ItemTypeOption = None,
    server: ServerOption = None,
    skill_threshold: SkillThresholdOption = None,
    tool_threshold: ToolThresholdOption = None,
    registry: RegistryOption = False,
    mail: MailOption = False,
    schemas: SchemasOption = False,
    no_schemas: NoSchemas = False,
    explain: ExplainOption = False,
    collapse: CollapseOption = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Find the tools that fit a request; with --registry servers and agents too, with --mail messages.

    With --need, given once for each need of a task, one answer serves all of them.
    """
    of_tools: dict[str, object] = {
        "--strategy": strategy, "--type": item_type, "--skill-threshold": skill_threshold,
        "--tool-threshold": tool_threshold, "--collapse-duplicates": collapse, "--server": server,
        "--need": need,
    }  # fmt: skip
    if query is None and not need:
        raise Misused("nothing to search for: give QUERY, or --need once for each need of a task")
    _require_one_search(of_tools, {"--mode": mode, "--explain": explain}, registry=registry, mail=mail)
    if schemas and no_schemas:
        raise Misused("--schemas and --no-schemas contradict each other: give one of them")
    with_schemas = schemas or (as_json and not no_schemas)
    if registry:
        chosen = _of_registry(query or "", limit, schemas=with_schemas)
    elif mail:
        chosen = _of_mail(query or "", limit, mode, explain=explain)
    else:
        fields = search_fields(strategy, mode, item_type)
        numbers = {"skill_threshold": skill_threshold, "tool_threshold": tool_threshold}
        fields |= {name: value for name, value in numbers.items() if value is not None}
        # Only where they are asked for: a deployment may be older than the command line.
        asked = {"explain": explain, "server": server, "collapse_duplicates": collapse, "needs": need}
        fields |= {name: value for name, value in asked.items() if value}
        fields |= {name: value for name, value in {"query": query, "limit": limit}.items() if value is not None}
        chosen = _of_tools(({} if need else {"limit": TOOLS}) | fields, schemas=with_schemas)
    with client_for(url, token, sign_region) as client:
        answer = chosen.ask(client)
        if as_json:
            print_json(answer if with_schemas else without_schemas(answer))
        else:
            chosen.show(client, answer)


@dataclass(frozen=True, slots=True)
class _Search:
    """One of the three searches: how it is asked, and how its answer is shown."""

    ask: Callable[[Client], dict[str, Any]]
    show: Callable[[Client, dict[str, Any]], None]


def _of_registry(query: str, limit: int | None, *, schemas: bool) -> _Search:
    request = {"query": query, "max_results": limit or OF_EACH_TYPE}
    return _Search(
        lambda client: client.search_registry(request), lambda _, answer: show_registry(answer, schemas=schemas)
    )


def _of_mail(query: str, limit: int | None, mode: Mode | None, *, explain: bool) -> _Search:
    request: dict[str, Any] = {"text": query, "limit": limit or MESSAGES}
    request |= ({"mode": mode.value} if mode else {}) | ({"explain": True} if explain else {})
    return _Search(lambda client: client.search_messages(request), lambda _, answer: show_messages(answer))


def _of_tools(fields: dict[str, Any], *, schemas: bool) -> _Search:
    request = {"include_schemas": schemas} | fields

    def show(client: Client, answer: dict[str, Any]) -> None:
        show_tools(answer, schemas=schemas)
        if not answer["tools"]:
            explain_nothing(client, request, answer)

    return _Search(lambda client: client.search(request), show)


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
