"""`search_tools`: the tools that fit a request, as many and as much of each as the caller has room for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationInfo, field_validator

from skillroute.catalogue.model import ItemType
from skillroute.core.caller import Caller
from skillroute.core.input.json_schema import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    described,
    list_of,
    object_of,
    one_of,
)
from skillroute.mcp.arguments import Arguments, input_schema, parsed
from skillroute.mcp.elsewhere import HOW_TO_CALL
from skillroute.mcp.fit import Json, Limit, byte_limit, fit, token_limit
from skillroute.mcp.shown import STEPS, WITHOUT_SCHEMAS, Detail, forms, stubs_of
from skillroute.mcp.tool import Asked, Marked, Tool, ToolError
from skillroute.mcp.tools.search_skills import PIECE_FIELDS, FindSkills, skills_in_place_of_tools
from skillroute.search.answer.explanation import LimitedSearchResponse
from skillroute.search.answer.language_names import name_of_language
from skillroute.search.candidates.server_names import ServerList
from skillroute.search.model import Fit, Needs, Query, SearchMetadata, SearchRequest, SearchResponse
from skillroute.search.needs.answer import NeedsSearchResponse

MIN_TOKENS = 100
"""Of a budget: an answer without results, with everything that may be said about it, has fewer."""

SEARCH_ID = "skillroute/search_id"
"""The key of a search's id in the `_meta` of its answer."""

TOKENS_OF_A_NEED = 12
"""The maximum number of names of each that an answer lists in addition to its results."""

MAX_TOKENS = 20_000
"""Of a budget: whole schemas of 100 tools are fewer, and to count many more takes long."""

_DESCRIPTION = """\
Find the tools, prompts and resources that fit a task, best first, out of everything that is connected here. Call it \
before you say that something cannot be done, and whenever the task needs an action or live data that none of your \
tools gives. Not for what you know already, and not twice with the same words. State needs: one for each step that \
the task takes, as verb, object and the kind of source or app. For a trip to Oslo: needs ["search flights by date on a \
travel site", "read the weather forecast of a city", "add an event to a calendar"]. One call finds the tools of all. \
Then get_tool_details(ids) has the whole schemas."""

TOOL_FIELDS: Json = {
    "id": described(INTEGER, "For get_tool_details."),
    "name": STRING,
    "server": described(STRING, "The MCP server that offers it."),
    "type": described(STRING, "prompt or resource; absent for a tool."),
    "needs": described(list_of(INTEGER), "Places of the needs that it serves, from 0."),
    "score": described(NUMBER, "How likely it fits, 0..1."),
    "signature": STRING,
    "stub": described(STRING, "A typed function, with detail typescript or python."),
    "description": STRING,
    "input_schema": OBJECT,
    "output_schema": OBJECT,
    "annotations": OBJECT,
}
_FOUND_FIELDS: Json = {
    **TOOL_FIELDS,
    "type": described(STRING, "prompt, resource or skill; absent for a tool."),
    "uri": described(STRING, "Of an Agent Skill: what to read as a resource of this server."),
    **PIECE_FIELDS,
}
_OUTPUT = object_of(
    {
        "tools": list_of(object_of(_FOUND_FIELDS, "name"), "Best first."),
        "how_to_call": described(STRING, "Where these are called."),
        "omitted": described(INTEGER, "Results that had no room."),
        "shortened": described(INTEGER, "Results of which less is shown than asked for: lower limit."),
        "schemas_omitted": described(INTEGER, "Tools without schema for lack of room: get_tool_details has it."),
        "descriptions_cut": described(BOOLEAN, "The longest descriptions were cut."),
        "degraded": list_of(STRING, "What failed on the way."),
        "fit": described(one_of(get_args(Fit)), "Whether the first five serve the request."),
        "confidence": list_of({"type": ["number", "null"]}, "Of each need: how likely its best tool fits, 0..1."),
        "no_match": list_of(INTEGER, "Places of the needs that nothing fits: what is there for them is the nearest."),
        "language": described(STRING, "Of the request, where it is not English (ISO 639-1)."),
        "hint": described(STRING, "What to do where nothing fits."),
    },
    "tools",
)


Search = Callable[[SearchRequest, Caller], SearchResponse]


_SEARCHED = ("needs", "query", "limit", "item_type", "server")


class SearchToolsArguments(Arguments):
    """The arguments of `search_tools`."""

    needs: Annotated[Needs, Field(description="What the task needs, one by one; rather than query.")] | None = None
    query: Annotated[Query, Field(description="What is needed, in plain words.")] | None = Field(
        None, validate_default=True
    )
    limit: int = Field(5, ge=1, le=50, description="How many at most; with needs 2 for each unless it is given.")
    item_type: ItemType | None = Field(None, description="Only these.")
    server: ServerList | None = Field(None, description="Only of these servers.")
    detail: Detail | None = Field(
        None,
        description="The most that is shown of each; signature, or with budget_tokens what fits; or a typed function.",
    )
    budget_tokens: int | None = Field(
        None, ge=MIN_TOKENS, le=MAX_TOKENS, description="The answer is never longer than this."
    )

    @field_validator("query")
    @classmethod
    def _query_or_needs(cls, query: str | None, info: ValidationInfo) -> str | None:
        if query is None and info.data.get("needs", ...) is None:
            raise ValueError("is missing, and so is needs: give one of them")
        return query

    @property
    def most(self) -> Detail:
        """The most that is shown of each result."""
        return self.detail or ("full" if self.budget_tokens is not None else "signature")

    def check_budget(self) -> None:
        """Raise `ToolError` where the budget has no room for the parts of an answer that all needs have."""
        least = MIN_TOKENS + TOKENS_OF_A_NEED * len(self.needs or ())
        if self.budget_tokens is not None and self.budget_tokens < least:
            raise ToolError(f"budget_tokens must be {least} or more with {len(self.needs or ())} needs")

    def search_request(self, **more: Any) -> SearchRequest:
        """Return the search that they ask for.

        Raises
        ------
        ToolError
            The budget has no room for what is said of so many needs.
        """
        self.check_budget()
        given = {name: getattr(self, name) for name in _SEARCHED if name in self.model_fields_set}
        return SearchRequest(**given, include_schemas=self.most not in WITHOUT_SCHEMAS, **more)


class ToolsOrSkillsArguments(SearchToolsArguments):
    """The arguments of `search_tools` where there are Agent Skills as well."""

    # Wider than the field that it overrides, which has the types of a catalogue alone.
    item_type: Literal[ItemType, "skill"] | None = Field(  # type: ignore[assignment]
        None, description="Only these. Agent Skills are found with skill alone."
    )

    def skills(self, find: FindSkills, caller: Caller, limits: list[Limit]) -> Json:
        """Return the Agent Skills that they ask for. Raises `ToolError`."""
        self.check_budget()
        if self.server is not None:
            raise ToolError("server must be left out with item_type skill: Agent Skills are of no server")
        limit = self.limit if self.needs is None or "limit" in self.model_fields_set else 2 * len(self.needs)
        query = None if self.needs is not None else self.query
        return skills_in_place_of_tools(
            find, query or self.needs or (), caller, limit=limit, most=self.most, limits=limits
        )


def search_tools(
    search: Search,
    summary: Callable[[Caller], str],
    count_tokens: Callable[[str], int],
    find_skills: FindSkills,
    how: str = HOW_TO_CALL,
) -> Tool:
    """Return the tool over a tool search, and over one for Agent Skills; `how` says where what is found is called."""

    def call(arguments: Mapping[str, Any], asked: Asked) -> Json | Marked:
        given = parsed(ToolsOrSkillsArguments, arguments)
        limits = [byte_limit()]
        if given.budget_tokens is not None:
            limits.append(token_limit(count_tokens, given.budget_tokens))
        if given.item_type == "skill":
            return given.skills(find_skills, asked.caller, limits)
        found = search(given.search_request(), asked.caller)
        by_budget = given.budget_tokens is not None
        shown = answer(found, given.most, limits, by_budget=by_budget, item_type=given.item_type, how=how)
        search_id = found.metadata.search_id
        return shown if search_id is None else Marked(shown, {SEARCH_ID: search_id})

    return Tool(
        "search_tools",
        "Search tools",
        _DESCRIPTION,
        input_schema(ToolsOrSkillsArguments),
        _OUTPUT,
        call,
        hint="find tools, prompts and resources for a task across all connected servers",
        is_always_shown=True,
        more=summary,
    )


def answer(
    found: SearchResponse,
    most: Detail,
    limits: list[Limit],
    *,
    by_budget: bool,
    item_type: ItemType | None = None,
    how: str = HOW_TO_CALL,
) -> Json:
    """Return what is shown of a search within limits; says so where a budget is not why less is shown than asked."""
    write_stub = stubs_of(most)
    results = [forms(tool, most, write_stub) for tool in found.tools]
    whole = {id(shown[-1]) for shown in results}

    def envelope(tools: list[Json], calls: str = how if results else "") -> Json:
        omitted = len(results) - len(tools)
        shortened = 0 if by_budget else sum(id(tool) not in whole for tool in tools)
        notes = {
            "how_to_call": calls,
            "omitted": omitted,
            "shortened": shortened,
            "schemas_omitted": len(found.metadata.schemas_omitted) if results else 0,
            "descriptions_cut": bool(results) and found.metadata.descriptions_cut,
            "degraded": list(dict.fromkeys(found.metadata.degraded)),
            **how_sure(found),
            "language": found.metadata.language,
            "hint": _hint(found, item_type),
        }
        return {"tools": tools, **{name: note for name, note in notes.items() if note}}

    shown = fit(results, envelope, limits, STEPS)
    if shown["tools"] or not results:
        return shown
    for least, *_ in results:  # one that has room alone goes before how it is called
        shown = fit([[least]], partial(envelope, calls=""), limits)
        if shown["tools"]:
            return shown
    return {**shown, "hint": "No result has room: raise budget_tokens."}


def how_sure(found: SearchResponse) -> Json:
    """Return how sure the answer is; with needs of each, with the places of those that nothing fits."""
    if not isinstance(found, NeedsSearchResponse):
        return {"fit": found.metadata.fit}
    confidences = [None if need.confidence is None else round(need.confidence, 2) for need in found.metadata.needs]
    return {
        "confidence": confidences if any(confidence is not None for confidence in confidences) else [],
        "no_match": [place for place, need in enumerate(found.metadata.needs) if need.no_match],
    }


def doubt(found: SearchResponse) -> str | None:
    """Return what to do with results that hardly fit; None where they may."""
    metadata = found.metadata
    if in_english := ask_in_english(metadata):
        return in_english
    if not metadata.no_match and metadata.fit != "unlikely":
        return None
    whether = "No tool fits" if metadata.no_match else "Probably no tool fits"
    return f"{whether}, these are the nearest: ask in other words, or do without."


def ask_in_english(metadata: SearchMetadata) -> str | None:
    """Return what to do with a request in a language that the embedding model does not know; None with any other."""
    if metadata.language is None or not metadata.language_unknown_to_model:
        return None
    return f"This seems to be {name_of_language(metadata.language)}; only English is understood: ask in English."


def _hint(found: SearchResponse, item_type: ItemType | None) -> str | None:
    """Return what to do where nothing is found, or nothing that fits."""
    if found.tools:
        return doubt(found)
    if found.metadata.degraded:
        return "The search did not fully work: try again in a minute."
    if isinstance(found, LimitedSearchResponse | NeedsSearchResponse) and found.unknown_servers:
        return f"No server is called {', '.join(found.unknown_servers)}: leave server out, or see list_tool_groups."
    if item_type is not None:
        return f"Nothing of type {item_type} is found: without item_type there may be something."
    if found.matched_skills and not found.metadata.language_unknown_to_model:
        return f"No tool fits; nearest is the tool group {found.matched_skills[0].id}: ask for what it does."
    return (
        ask_in_english(found.metadata) or "No tool fits: ask in other words, or see list_tool_groups for what there is."
    )
