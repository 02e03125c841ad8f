"""Answers for the agent: tools that were found, and details of tools."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from pydantic import Field
from skillroute.mcp.arguments import Arguments
from skillroute.mcp.fit import Json, byte_limit, fit, token_limit
from skillroute.mcp.shown import STEPS, DetailOfOne, forms, stubs_of
from skillroute.mcp.stubs import WriteStub
from skillroute.mcp.tools.search_tools import SearchToolsArguments, ask_in_english, doubt, how_sure
from skillroute.search.answer.explanation import LimitedSearchResponse
from skillroute.search.model import SearchRequest, SearchResponse
from skillroute.search.needs.answer import NeedsSearchResponse

from skillroute_local.connect.catalogue import Catalogue, Item
from skillroute_local.connect.use import Asked, ShownItem

MAX_IDS = 20
_IN_THE_ID = ("name", "server", "type")


class DetailsArguments(Arguments):
    """The arguments of `get_tool_details`."""

    ids: list[str] = Field(min_length=1, max_length=MAX_IDS, description="Of search_tools' answer.")
    detail: DetailOfOne | None = None


def search_request(given: SearchToolsArguments) -> SearchRequest:
    """Return the search that arguments ask for."""
    return given.search_request(strategy="direct")  # there are no skills


def asked(response: SearchResponse, ids: Sequence[str], content_hash: Callable[[str], str]) -> list[Asked]:
    """Return each text of a search with what was shown for it: its needs, then the query."""
    shown = [ShownItem(id_, content_hash(id_), tool.score) for id_, tool in zip(ids, response.tools, strict=True)]
    texts: list[Asked] = []
    if isinstance(response, NeedsSearchResponse):
        for place, need in enumerate(response.metadata.needs):
            serving = [one for one, tool in zip(shown, response.tools, strict=True) if place in tool.needs]
            texts.append(Asked(need.need, serving, need.no_match))
    if response.query:
        texts.append(Asked(response.query, shown, response.metadata.no_match))
    return texts


def found(
    response: SearchResponse,
    ids: Sequence[str],
    given: SearchToolsArguments,
    notes: Json,
    count_tokens: Callable[[str], int],
    reading: Container[str] = (),
) -> Json:
    """Return what is shown of a search: the ids say what each is, and of which server.

    Parameters
    ----------
    notes : dict
        What else there is to say, such as which servers still start.
    reading : container of str
        The ids of those that are shown to change nothing.
    """
    write_stub = stubs_of(given.most)
    results = [
        [
            {"id": id_, **({"read_only": True} if id_ in reading else {}), **_without(form)}
            for form in forms(tool, given.most, write_stub)
        ]
        for id_, tool in zip(ids, response.tools, strict=True)
    ]
    limits = [byte_limit()]
    if given.budget_tokens is not None:
        limits.append(token_limit(count_tokens, given.budget_tokens))
    degraded = list(dict.fromkeys(response.metadata.degraded))

    hint = doubt(response) if results else _hint(response)

    def envelope(tools: list[Json]) -> Json:
        omitted = len(results) - len(tools)
        return {
            "tools": tools,
            **({"omitted": omitted} if omitted else {}),
            **({"degraded": degraded} if degraded else {}),
            **{name: note for name, note in how_sure(response).items() if note},
            **({"language": response.metadata.language} if response.metadata.language else {}),
            **({"hint": hint} if hint else {}),
            **notes,
        }

    return fit(results, envelope, limits, STEPS)


def _hint(response: SearchResponse) -> str:
    if isinstance(response, LimitedSearchResponse | NeedsSearchResponse) and response.unknown_servers:
        return f"No server is called {', '.join(response.unknown_servers)}, or it has nothing: leave server out."
    return ask_in_english(response.metadata) or "No tool fits: rephrase the request, with one task in each of needs."


def details(catalogue: Catalogue, given: DetailsArguments, unknown: Callable[[str], str]) -> tuple[Json, bool]:
    """Return everything about items, and whether at least one is there."""
    items = [(id_, catalogue.item(id_)) for id_ in dict.fromkeys(given.ids)]
    write_stub = stubs_of(given.detail or "full")
    there = [[_whole(item, write_stub)] for _, item in items if item is not None]
    missing = [unknown(id_) for id_, item in items if item is None]

    def envelope(tools: list[Json]) -> Json:
        omitted = len(there) - len(tools)
        return {
            "tools": tools,
            **({"missing": missing} if missing else {}),
            **({"omitted": omitted} if omitted else {}),
        }

    return fit(there, envelope, [byte_limit()]), bool(there)


def _whole(item: Item, write_stub: WriteStub | None) -> Json:
    """Return an item as its server lists it, under its id. Nothing that is shown elsewhere, or to people, is in it."""
    content = item.content
    if write_stub is not None and content.key.type == "tool":
        about = content.description, content.input_schema, content.output_schema
        return {"id": item.id, "stub": write_stub(content.key.name, *about)}
    value: Mapping[str, Any] = item.listed.value
    return {"id": item.id, **{name: value[name] for name in value if name not in {"name", "icons", "execution"}}}


def _without(form: Json) -> Json:
    return {name: value for name, value in form.items() if name not in {"id", *_IN_THE_ID}}
