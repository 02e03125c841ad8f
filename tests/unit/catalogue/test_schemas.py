"""Items as their owners send them: read, or refused by name of the place; nothing in between."""

from __future__ import annotations

import json
import math
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.catalogue.model import ItemContent, ItemKey, ToolRequest
from skillroute.catalogue.rows import indexed_text
from skillroute.catalogue.schemas import MAX_BYTES, read_item
from skillroute.core.errors.model import InvalidInput
from skillroute.core.hashing import content_hash
from skillroute.core.input.json_input import MAX_DEPTH, check_json

any_text = st.text(st.characters(), max_size=8)  # lone surrogates and NUL included
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(
    ["name", "type", "description", "input_schema", "inputSchema", "output_schema", "annotations", "server", "tags",
     "metadata", "title", "requests"]
)  # fmt: skip
near_items = st.builds(
    lambda base, extra: {**base, **extra},
    st.fixed_dictionaries({"name": any_text | st.just("tool")}),
    st.dictionaries(fields, json_values, max_size=4),
)


@given(json_values | near_items)
def test_any_json_value_is_read_or_refused_and_what_is_read_can_be_stored(raw: object) -> None:
    try:
        content = read_item(raw)
    except InvalidInput as error:
        str(error).encode("utf-8")  # the refusal itself must reach the caller
        return
    stored = [content.description, content.input_schema, content.output_schema, content.annotations, content.metadata]
    encoded = json.dumps(
        [*content.key, *content.tags, *(content.requests or ()), *stored], allow_nan=False, ensure_ascii=False
    ).encode("utf-8")
    assert b"\x00" not in encoded
    assert "\\u0000" not in encoded.decode()
    assert 1 <= len(content.key.name) <= 256
    assert len(content_hash(content)) == 64
    assert indexed_text(content).embedding_texts[0]


@given(json_values)
def test_checking_a_value_raises_nothing_but_invalid_input(value: object) -> None:
    try:
        check_json(value)
    except InvalidInput:
        return
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode("utf-8")


class TestRead:
    def test_a_name_is_enough(self) -> None:
        assert read_item({"name": "a"}) == ItemContent(ItemKey("", "tool", "a"))

    def test_a_tool_of_an_mcp_server_is_taken_as_it_is(self) -> None:
        content = read_item(
            {
                "name": " search ",
                "title": "Search",
                "description": " Finds. ",
                "inputSchema": {"type": "object"},
                "outputSchema": {"type": "array"},
                "annotations": {"readOnlyHint": True},
                "_meta": {"v": 1},
            }
        )
        assert content == ItemContent(
            ItemKey("", "tool", "search"),
            "Finds.",
            {"type": "object"},
            {"type": "array"},
            {"readOnlyHint": True},
            (),
            {"title": "Search", "_meta": {"v": 1}},
        )

    def test_our_own_names_serve_as_well(self) -> None:
        content = read_item(
            {
                "name": "a",
                "type": "prompt",
                "server": " s ",
                "input_schema": {},
                "output_schema": {},
                "tags": ["b", "a", "b"],
            }
        )
        assert content.key == ItemKey("s", "prompt", "a")
        assert (content.input_schema, content.output_schema, content.tags) == ({}, {}, ("b", "a"))

    def test_what_is_said_in_metadata_outranks_an_unknown_field_of_that_name(self) -> None:
        assert read_item({"name": "a", "x": 1, "metadata": {"x": 2}}).metadata == {"x": 2}

    def test_names_are_counted_in_characters(self) -> None:
        assert read_item({"name": "漢" * 256}).key.name == "漢" * 256


class TestRefused:
    @pytest.mark.parametrize(
        ("item", "field"),
        [
            ("text", "item"),
            (None, "item"),
            ([], "item"),
            ({}, "name"),
            ({"name": None}, "name"),
            ({"name": 1}, "name"),
            ({"name": "  "}, "name"),
            ({"name": "x" * 257}, "name"),
            ({"name": "a\nb"}, "name"),
            ({"name": "a\x7f"}, "name"),
            ({"name": "a", "type": "agent"}, "type"),
            ({"name": "a", "description": 1}, "description"),
            ({"name": "a", "description": "x" * 50_001}, "description"),
            ({"name": "a", "input_schema": []}, "input_schema"),
            ({"name": "a", "inputSchema": "{}"}, "inputSchema"),
            ({"name": "a", "output_schema": 1}, "output_schema"),
            ({"name": "a", "annotations": []}, "annotations"),
            ({"name": "a", "server": "s\tt"}, "server"),
            ({"name": "a", "tags": "t"}, "tags"),
            ({"name": "a", "tags": [""]}, "tags.0"),
            ({"name": "a", "tags": ["x" * 65]}, "tags.0"),
            ({"name": "a", "tags": ["t"] * 51}, "tags"),
            ({"name": "a", "metadata": []}, "metadata"),
            ({"name": "a\x00"}, "name"),
            ({"name": "\ud800"}, "name"),
            ({"name": "a", "input_schema": {"x": ["\x00"]}}, "input_schema.x.0"),
            ({"name": "a", "metadata": {"\udfff": 1}}, "metadata.<key>"),
            ({"name": "a", "metadata": {"x": math.nan}}, "metadata.x"),
            ({"name": "a", "metadata": {"x": math.inf}}, "metadata.x"),
        ],
    )
    def test_it_names_the_field_as_the_caller_knows_it(self, item: object, field: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            read_item(item)
        assert refused.value.field == field
        assert str(refused.value).startswith(f"{field}: ")

    def test_endless_nesting_is_refused_without_recursion(self) -> None:
        deep: dict[str, Any] = {}
        for _ in range(100_000):
            deep = {"a": deep}
        with pytest.raises(InvalidInput, match=f"deeper than {MAX_DEPTH}") as refused:
            read_item({"name": "a", "input_schema": deep})
        assert len(refused.value.field) < 100

    def test_nesting_up_to_the_limit_is_read(self) -> None:
        deep: object = 1
        for _ in range(MAX_DEPTH - 2):
            deep = [deep]
        assert read_item({"name": "a", "metadata": {"x": deep}}).metadata == {"x": deep}

    def test_bytes_are_counted_not_characters(self) -> None:
        fits = MAX_BYTES - len(json.dumps({"name": "a", "metadata": {"x": ""}}))
        assert read_item({"name": "a", "metadata": {"x": "x" * fits}})
        with pytest.raises(InvalidInput, match=f"at most {MAX_BYTES}"):
            read_item({"name": "a", "metadata": {"x": "x" * (fits + 1)}})
        with pytest.raises(InvalidInput, match="bytes as JSON"):
            read_item({"name": "a", "metadata": {"x": "é" * (fits // 2 + 1)}})

    def test_a_wide_value_under_a_long_key_is_checked_in_bounded_memory(self) -> None:
        # GIVEN 140 KB of JSON whose places, each spelt out, are 2 GB
        wide = {"k" * 40_000: [0] * 50_000}
        # WHEN
        tracemalloc.start()
        try:
            check_json(wide)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        # THEN
        assert peak < 50e6

    @pytest.mark.parametrize(
        ("value", "place"),
        [
            ("\x00", "item"),
            (math.nan, "item"),
            (["a", "\x00"], "1"),
            ({"a": {"b": [0, {"c": "\x00"}]}}, "a.b.1.c"),
            ({"a": {"b": [{"\ud800": 0}]}}, "a.b.0.<key>"),
            ({"a": [[[[math.inf]]]]}, "a.0.0.0.0"),
            ({"a": [[[[["\x00"]]]]]}, "a.0.0.0.0.0"),
            ({"a": {"b": {"c": {"d": {"e": {"f": {"g": "\x00"}}}}}}}, "a.b.c...."),
            ({"k" * 40_000: "\x00"}, "k" * 64),
        ],
    )
    def test_the_place_is_spelt_out_and_shortened_where_it_is_deep_or_long(self, value: object, place: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            check_json(value)
        assert refused.value.field == place


class TestRequests:
    def test_are_texts_or_texts_with_a_source_each_once_on_one_line_in_nfc_without_hidden_characters(self) -> None:
        given = [" cut\n a film ", {"text": "cafe\u0301", "source": "llm"}, "cut a fi\u200blm", {"text": "x"}]
        assert read_item({"name": "a", "requests": given}).requests == (
            ToolRequest("cut a film", "import"),
            ToolRequest("caf\u00e9", "llm"),
            ToolRequest("x", "import"),
        )

    def test_left_out_says_nothing_and_an_empty_list_says_none(self) -> None:
        said = [read_item({"name": "a", **more}).requests for more in ({}, {"requests": None}, {"requests": []})]
        assert said == [None, None, ()]

    @pytest.mark.parametrize(
        ("requests", "field"),
        [
            (["x"] * 9, "requests"),
            (["ok", " \u200b "], "requests.1.text"),
            (["x" * 301], "requests.0.text"),
            ([{"text": "x", "source": "rumour"}], "requests.0.source"),
            ([{"text": "x", "weight": 1}], "requests.0.weight"),
            ([7], "requests.0"),
            ("x", "requests"),
        ],
    )
    def test_what_is_none_is_refused_by_the_name_of_its_place(self, requests: Any, field: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            read_item({"name": "a", "requests": requests})
        assert refused.value.problems[0].field == field

    def test_do_not_change_what_the_item_is_known_by(self) -> None:
        one, other = read_item({"name": "a"}), read_item({"name": "a", "requests": ["x"]})
        assert content_hash(one) == content_hash(other)
        assert indexed_text(one).hash != indexed_text(other).hash
        assert indexed_text(one).lexical_text == indexed_text(other).lexical_text
