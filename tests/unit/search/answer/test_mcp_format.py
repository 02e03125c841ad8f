"""`format: "mcp"`: the tools of an answer as MCP lists them, ready to be handed to a model."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from skillroute.core.search_run import Degradation
from skillroute.search.answer.mcp_format import as_mcp, unique_names
from skillroute.search.model import EnrichedTool, SearchMetadata, SearchRequest, SearchResponse


def tool(number: int, name: str, server: str | None = "files", **more: Any) -> EnrichedTool:
    return EnrichedTool(
        id=str(number),
        db_id=number,
        tool_id=number,
        type="tool",
        name=name,
        description=f"What {name} does.",
        server=server,
        server_path=None,
        server_is_enabled=None,
        score=0.5,
        similarity=0.4,
        skill_ids=[],
        primary_skill_id=None,
        **more,
    )


def answer(*tools: EnrichedTool, omitted: tuple[str, ...] = (), degraded: tuple[Degradation, ...] = ()) -> Any:
    metadata = SearchMetadata.model_construct(
        schemas_omitted=list(omitted), degraded=list(degraded), final_count=len(tools)
    )
    return as_mcp(SearchResponse.model_construct(query="read", tools=tools, matched_skills=[], metadata=metadata))


def test_a_tool_is_what_mcp_lists_with_what_calls_it_beside() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string", "default": None}}}
    [shown] = answer(
        tool(7, "read", input_schema=schema, output_schema={"type": "object"}, annotations={"readOnlyHint": True})
    ).tools
    assert shown == {
        "name": "read",
        "description": "What read does.",
        "inputSchema": schema,
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
        "_meta": {
            "skillroute/tool_id": 7,
            "skillroute/server": "files",
            "skillroute/name": "read",
            "skillroute/score": 0.5,
        },
    }


def test_what_a_tool_does_not_have_is_absent_and_its_input_an_object() -> None:
    bare, untyped = answer(tool(1, "bare"), tool(2, "untyped", input_schema={"properties": {}})).tools
    assert bare["inputSchema"] == {"type": "object"}
    assert not {"outputSchema", "annotations"} & bare.keys()
    assert untyped["inputSchema"] == {"type": "object", "properties": {}}


def test_names_are_unique_and_the_servers_own_name_stays_at_hand() -> None:
    tools = [tool(1, "read", "files"), tool(2, "read", "mail"), tool(3, "write"), tool(4, "list", None)]
    assert unique_names(tools) == ["files__read", "mail__read", "write", "list"]
    assert [shown["_meta"]["skillroute/name"] for shown in answer(*tools).tools] == ["read", "read", "write", "list"]
    # One organisation's server may be called as a global one is.
    twice = [tool(1, "read", "files"), tool(2, "read", "files"), tool(3, "read", None)]
    assert unique_names(twice) == ["files__read__1", "files__read__2", "read"]


def test_no_name_is_that_of_another_tool_and_none_gets_letters_that_models_refuse() -> None:
    tools = [tool(1, "read", "a"), tool(2, "read", "b"), tool(3, "a__read", "c"), tool(4, "a__read__1", "d")]
    assert unique_names(tools) == ["a__read__1__1", "b__read", "a__read__3", "a__read__1__4"]
    assert unique_names([tool(1, "read", "io.github/files"), tool(2, "read", "天气")]) == [
        "io_github_files__read",
        "read",
    ]
    assert unique_names([]) == []


def test_a_tool_without_its_schema_is_left_out_and_named() -> None:
    shown = answer(tool(1, "read", input_schema={"type": "object"}), tool(2, "large"), omitted=("2",))
    assert [one["name"] for one in shown.tools] == ["read"]
    assert (shown.metadata.schemas_omitted, shown.metadata.final_count) == (["2"], 1)
    failed = answer(tool(1, "read"), tool(2, "write"), degraded=("schema_load_failed",))
    assert (failed.tools, failed.metadata.schemas_omitted) == ([], ["1", "2"])


@pytest.mark.parametrize(
    ("beside", "remedy"),
    [
        ({"item_type": "prompt"}, "leave item_type prompt or the format out"),
        ({"include_schemas": False}, "leave include_schemas or the format out"),
        ({"explain": True}, "leave explain or the format out"),
    ],
)
def test_what_the_format_has_no_place_for_is_refused_with_the_remedy(beside: dict[str, Any], remedy: str) -> None:
    with pytest.raises(ValidationError, match=remedy):
        SearchRequest(query="read", format="mcp", **beside)
    assert SearchRequest(query="read", format="mcp", item_type="tool").searched_type == "tool"
