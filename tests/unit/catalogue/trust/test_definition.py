"""How two definitions differ."""

from __future__ import annotations

from skillroute.catalogue.trust.definition import differences


def test_only_the_parts_that_differ_are_shown_with_their_lines() -> None:
    before = {"description": "Adds numbers.\nQuickly.", "input_schema": {"a": 1}, "title": None}
    after = {"description": "Adds numbers.\nSlowly.", "input_schema": {"a": 1}, "title": "Adder"}
    found = {each.field: list(each.diff) for each in differences(before, after)}
    assert found["title"] == ["@@ -0,0 +1 @@", "+Adder"]
    assert found["description"] == ["@@ -1,2 +1,2 @@", " Adds numbers.", "-Quickly.", "+Slowly."]
    assert found.keys() == {"title", "description"}


def test_the_order_of_names_in_a_schema_is_no_difference() -> None:
    assert differences({"input_schema": {"a": 1, "b": [2, 3]}}, {"input_schema": {"b": [2, 3], "a": 1}}) == []
    assert differences({"input_schema": {"b": [2, 3]}}, {"input_schema": {"b": [3, 2]}})


def test_hidden_characters_are_named() -> None:
    [found] = differences({"description": "Adds."}, {"description": "Adds.\u200b\U000e0041"})
    assert list(found.diff)[1:] == ["-Adds.", "+Adds.<U+200B><U+E0041>"]


def test_what_is_long_is_cut() -> None:
    [found] = differences({"description": "x" * 100_000}, {"description": "\n".join(map(str, range(50_000)))})
    assert len(found.diff) == 201
    assert found.diff[-1] == "..."
    assert max(map(len, found.diff)) < 600
