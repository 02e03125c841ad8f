"""Servers and agents as their owners send them: read, or refused by name of the place; nothing in between."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.catalogue.model import ItemKey
from skillroute.catalogue.schemas import MAX_BYTES
from skillroute.core.errors.model import InvalidInput
from skillroute.core.hashing import content_hash
from skillroute.registry.model import AgentSkill
from skillroute.registry.schemas import read_agent, read_server
from skillroute.registry.shapes import MAX_TOOLS

SERVER_JSON = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    "name": "io.github.user/weather",
    "title": "Weather",
    "description": "Forecasts. ",
    "version": "1.0.2",
    "packages": [{"registryType": "npm", "identifier": "@user/weather", "transport": {"type": "stdio"}}],
    "remotes": [{"type": "streamable-http", "url": "https://weather.test/mcp"}],
    "_meta": {"io.modelcontextprotocol.registry/publisher-provided": {"any": 1}},
}
CARD = {
    "protocolVersion": "0.3.0",
    "name": "Recipe Agent",
    "description": "Finds recipes.",
    "url": "https://agents.test/recipes",
    "version": "1.0.0",
    "capabilities": {"streaming": True, "pushNotifications": False, "extensions": [{"uri": "https://x.test"}]},
    "skills": [{"id": "find", "name": "Find recipes", "description": " By what is there. ", "tags": ["food"]}],
    "provider": {"organization": "Test", "url": "https://test"},
}


def refused(read: Any, raw: object) -> str:
    with pytest.raises(InvalidInput) as error:
        read(raw)
    assert error.value.message
    return error.value.field


class TestServer:
    def test_plain_names_are_read_and_all_of_it_is_kept(self) -> None:
        raw = {"path": "/c7", "name": " Context7 ", "description": " Docs. ", "tags": ["docs"], "owner": {"a": None}}
        given = read_server({**raw, "is_enabled": False, "tools": []})
        content = given.content
        assert (content.kind, content.path, content.name, content.description) == ("server", "/c7", "Context7", "Docs.")
        assert (content.tags, content.tools_server, content.capabilities, content.skills) == (("docs",), "c7", (), ())
        assert (given.is_enabled, given.tools) == (False, ())
        assert content.document == raw  # tools live in the catalogue, is_enabled changes on its own

    def test_a_server_json_is_shown_by_its_title_and_known_by_its_name(self) -> None:
        given = read_server(SERVER_JSON)
        assert (given.content.name, given.content.path) == ("Weather", "/io.github.user/weather")
        assert given.content.document == SERVER_JSON
        assert (given.is_enabled, given.tools) == (None, None)
        without_title = {key: value for key, value in SERVER_JSON.items() if key != "title"}
        assert read_server(without_title).content.name == "io.github.user/weather"

    def test_a_registry_s_wrapper_is_opened_and_kept(self) -> None:
        wrapped = {"server": SERVER_JSON, "_meta": {"io.modelcontextprotocol.registry/official": {"isLatest": True}}}
        content = read_server(wrapped).content
        assert (content.name, content.path, content.document) == ("Weather", "/io.github.user/weather", wrapped)

    def test_what_is_ours_may_stand_beside_the_wrapped_server(self) -> None:
        ours = {"path": "weather", "tags": ["sky"], "is_enabled": True, "tools": [{"name": "now"}]}
        given = read_server({"server": SERVER_JSON, **ours})
        assert (given.content.path, given.content.tags, given.is_enabled) == ("/weather", ("sky",), True)
        assert [tool.key for tool in given.tools or ()] == [ItemKey("weather", "tool", "now")]
        assert given.content.document == {"server": SERVER_JSON, "path": "weather", "tags": ["sky"]}

    def test_what_is_wrong_in_a_wrapped_server_is_named_where_it_is(self) -> None:
        assert refused(read_server, {"server": {**SERVER_JSON, "description": 1}}) == "server.description"
        assert refused(read_server, {"server": SERVER_JSON, "path": 1}) == "path"
        assert refused(read_server, {"server": {}}) == "server.name"

    @pytest.mark.parametrize(
        ("inside", "beside", "field"),
        [
            ({"path": "/a b"}, {}, "server.path"),
            ({}, {"path": "/a b"}, "path"),
            ({"path": "/a b"}, {"path": "/c d"}, "path"),
            ({"tags": [""]}, {}, "server.tags.0"),
            ({"tools": [{"name": ""}]}, {}, "server.tools.0.name"),
            ({"tools": [7]}, {}, "server.tools.0"),
            ({"tools": {}}, {}, "server.tools"),
            ({}, {"tools": [{"name": ""}]}, "tools.0.name"),
            ({"tools": [{"name": "a"}]}, {"tools": [{"name": "b"}, {"name": ""}]}, "tools.1.name"),
            ({"tools": [{"name": "a", "metadata": {"x": float("nan")}}]}, {}, "server.tools.0.metadata.x"),
            ({"more": "y" * MAX_BYTES}, {}, "server"),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_it_is_named_inside_the_wrapper_or_beside_it_as_it_came(
        self, inside: dict[str, Any], beside: dict[str, Any], field: str
    ) -> None:
        assert refused(read_server, {"server": {**SERVER_JSON, **inside}, **beside}) == field

    @pytest.mark.parametrize("wrapped", [False, True])
    def test_tools_have_a_limit_of_their_own_each(self, wrapped: bool) -> None:
        large = {"name": "x", "tools": [{"name": n, "metadata": {"x": "y" * (MAX_BYTES - 100)}} for n in "ab"]}
        given = read_server({"server": large} if wrapped else large)
        assert [tool.key.name for tool in given.tools or ()] == ["a", "b"]
        assert given.content.document == ({"server": {"name": "x"}} if wrapped else {"name": "x"})

    def test_tools_come_as_tools_list_gives_them_and_get_the_server_s_name(self) -> None:
        listed = [
            {"name": "a", "description": "A.", "inputSchema": {"type": "object"}, "title": "The A"},
            {"name": "b", "server": "c7", "type": "tool"},
            {"name": "c", "server": "/c7"},
        ]
        tools = read_server({"path": "/c7", "name": "x", "tools": listed}).tools or ()
        assert [tool.key for tool in tools] == [ItemKey("c7", "tool", name) for name in "abc"]
        assert (tools[0].input_schema, tools[0].metadata) == ({"type": "object"}, {"title": "The A"})

    @pytest.mark.parametrize(
        ("tools", "field"),
        [
            ({}, "tools"),
            ([{"name": "a"}, 7], "tools.1"),
            ([{"name": "a"}, {"name": ""}], "tools.1.name"),
            ([{"name": "a"}, {"name": "b"}, {"name": "a"}], "tools.2.name"),
            ([{"name": "a", "input_schema": {"x": "\x00"}}], "tools.0.input_schema.x"),
            ([{"name": "a", "metadata": {"x": "y" * MAX_BYTES}}], "tools.0"),
            ([{"name": "a", "type": "prompt"}], "tools.0.type"),
            ([{"name": "a", "server": "other"}], "tools.0.server"),
            ([{"name": str(number)} for number in range(MAX_TOOLS + 1)], "tools"),
        ],
        ids=lambda value: str(value)[:30],
    )
    def test_a_tool_that_is_wrong_is_named_by_its_place(self, tools: Any, field: str) -> None:
        assert refused(read_server, {"path": "/c7", "name": "x", "tools": tools}) == field

    def test_as_many_tools_as_are_allowed_are_read(self) -> None:
        tools = [{"name": str(number)} for number in range(MAX_TOOLS)]
        assert len(read_server({"name": "x", "tools": tools}).tools or ()) == MAX_TOOLS


class TestAgent:
    def test_an_agent_card_is_read_and_kept(self) -> None:
        given = read_agent(CARD)
        content = given.content
        assert (content.kind, content.path, content.name) == ("agent", "/recipe-agent", "Recipe Agent")
        assert content.capabilities == ("streaming", "extensions")
        assert content.skills == (AgentSkill("Find recipes", "By what is there."),)
        assert content.document == CARD
        assert (given.is_enabled, given.tools) == (None, None)

    def test_capabilities_may_be_a_list_of_names(self) -> None:
        assert read_agent({**CARD, "capabilities": ["b", " a ", "b"]}).content.capabilities == ("b", "a")

    def test_a_card_s_own_field_called_tools_is_kept(self) -> None:
        assert read_agent({**CARD, "tools": [1]}).content.document["tools"] == [1]

    @pytest.mark.parametrize(
        ("changes", "field"),
        [
            ({"skills": {}}, "skills"),
            ({"skills": [{"description": "a"}]}, "skills.0.name"),
            ({"skills": [{"name": "a"}, {"name": "b", "description": 1}]}, "skills.1.description"),
            ({"capabilities": "streaming"}, "capabilities"),
            ({"capabilities": ["a", 1]}, "capabilities.1"),
            ({"capabilities": {"off": False, "on": True, "x" * 257: True}}, f"capabilities.{'x' * 64}"),
            ({"capabilities": {"on": True, " ": True}}, "capabilities. "),
            ({"capabilities": {str(number): True for number in range(101)}}, "capabilities"),
            ({"tags": "x"}, "tags"),
        ],
        ids=str,
    )
    def test_what_is_wrong_is_named(self, changes: dict[str, Any], field: str) -> None:
        assert refused(read_agent, {**CARD, **changes}) == field


@pytest.mark.parametrize("read", [read_server, read_agent], ids=["server", "agent"])
class TestBoth:
    @pytest.mark.parametrize(
        ("raw", "field"),
        [
            (None, None),
            ([], None),
            ("text", None),
            ({}, "name"),
            ({"name": ""}, "name"),
            ({"name": 5}, "name"),
            ({"name": "a\nb"}, "name"),
            ({"name": "x" * 257}, "name"),
            ({"name": "a", "description": 5}, "description"),
            ({"name": "a", "description": "x" * 50_001}, "description"),
            ({"name": "a", "tags": [""]}, "tags.0"),
            ({"name": "a", "tags": ["x" * 65]}, "tags.0"),
            ({"name": "a", "tags": ["x"] * 51}, "tags"),
            ({"name": "a", "is_enabled": "yes"}, "is_enabled"),
            ({"name": "a", "is_enabled": 1}, "is_enabled"),
            ({"name": "a", "more": {"deep": "\x00"}}, "more.deep"),
            ({"name": "a", "more": "\ud800"}, "more"),
            ({"name": "a", "more": float("nan")}, "more"),
            ({"name": "a", "more": "y" * MAX_BYTES}, None),
            ({"name": "a", "path": ""}, "path"),
            ({"name": "a", "path": "/"}, "path"),
            ({"name": "a", "path": "//"}, "path"),
            ({"name": "a", "path": "/a//b"}, "path"),
            ({"name": "a", "path": "/a b"}, "path"),
            ({"name": "a", "path": "/a\u00a0b"}, "path"),
            ({"name": "a", "path": "/a\u0085b"}, "path"),
            ({"name": "a", "path": "/a?b"}, "path"),
            ({"name": "a", "path": "/a#b"}, "path"),
            ({"name": "a", "path": "x" * 256}, "path"),
            ({"name": "a", "path": 7}, "path"),
            ({"name": "!?"}, "path"),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_what_is_wrong_is_named(self, read: Any, raw: object, field: str | None) -> None:
        assert refused(read, raw) == (field or ("server" if read is read_server else "agent"))

    @pytest.mark.parametrize(
        ("path", "read_as"),
        [("a", "/a"), ("/a", "/a"), ("/a/", "/a"), ("/A.b/c_d", "/A.b/c_d"), ("/天気", "/天気"), ("x" * 255, None)],
    )
    def test_a_path_that_is_given_is_taken(self, read: Any, path: str, read_as: str | None) -> None:
        assert read({"name": "n", "path": path}).content.path == (read_as or f"/{path}")

    @pytest.mark.parametrize("name", ["x" * 256, "\u0130" * 200], ids=["long", "longer in lower case"])
    def test_a_name_that_is_too_long_for_a_path_says_so_and_is_taken_with_one(self, read: Any, name: str) -> None:
        with pytest.raises(
            InvalidInput, match=r"derived from the name has .* at most 256 are allowed: give a shorter one"
        ) as error:
            read({"name": name})
        assert error.value.field == "path"
        assert read({"name": name, "path": "/x"}).content.path == "/x"
        assert read({"name": "x" * 255}).content.path == f"/{'x' * 255}"

    @pytest.mark.parametrize(
        ("name", "path"),
        [
            ("SQLite (Archived)", "/sqlite-archived"),
            ("Context7 MCP Server", "/context7-mcp-server"),
            ("io.github.User/Weather", "/io.github.user/weather"),
            (" a /  b ", "/a/b"),
            ("/a/", "/a"),
            ("snake_case", "/snake_case"),
            ("天気 予報", "/天気-予報"),
            ("C++ & friends!", "/c-friends"),
        ],
    )
    def test_a_path_is_made_of_the_name(self, read: Any, name: str, path: str) -> None:
        assert read({"name": name}).content.path == path

    def test_tags_are_trimmed_and_kept_once_as_they_were_first_spelt(self, read: Any) -> None:
        assert read({"name": "a", "tags": [" Docs ", "code", "DOCS", "docs"]}).content.tags == ("Docs", "code")


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "server"},
        {"path": "/other"},
        {"name": "Other"},
        {"description": "Other."},
        {"tags": ("other",)},
        {"capabilities": ()},
        {"skills": ()},
        {"skills": (AgentSkill("Find recipes", "Otherwise."),)},
        {"document": {}},
    ],
    ids=str,
)
def test_whatever_is_read_otherwise_of_the_same_document_is_a_change(change: dict[str, Any]) -> None:
    content = read_agent(CARD).content
    assert content_hash(replace(content, **change)) != content_hash(content)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
near_entities = st.builds(
    lambda base, extra: {**base, **extra},
    st.fixed_dictionaries({"name": st.text(max_size=8) | st.just("entity")}),
    st.dictionaries(
        st.sampled_from(["path", "title", "tags", "skills", "capabilities", "tools", "server", "is_enabled", "x"]),
        json_values,
        max_size=4,
    ),
)


@given(st.sampled_from([read_server, read_agent]), json_values | near_entities)
def test_any_json_value_is_read_or_refused_and_what_is_read_can_be_stored(read: Any, raw: object) -> None:
    try:
        given = read(raw)
    except InvalidInput as error:
        str(error).encode("utf-8")  # the refusal itself must reach the caller
        return
    content = given.content
    encoded = json.dumps([content.document, content.name, content.description, *content.tags], ensure_ascii=False)
    assert "\\u0000" not in encoded
    encoded.encode("utf-8")
    assert content.path.startswith("/")
    assert 2 <= len(content.path) <= 256
    # AND the same document is the same entity, the path that was made included
    again = read(raw).content
    assert (again.path, content_hash(again)) == (content.path, content_hash(content))
    assert read({"name": content.name, "path": content.path}).content.path == content.path
