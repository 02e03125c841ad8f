"""GIVEN a value, WHEN it is written by a style of OpenAPI, THEN it is as the table of the Parameter Object has it."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.calling.styles import in_cookie, in_header, in_path, in_query

LIST: Any = ["blue", "black", "brown"]
OBJECT: Any = {"R": 100, "G": 200, "B": 150}

# https://spec.openapis.org/oas/v3.1.1.html#style-examples
PATHS = [
    ("simple", False, "blue", "blue"),
    ("simple", False, LIST, "blue,black,brown"),
    ("simple", False, OBJECT, "R,100,G,200,B,150"),
    ("simple", True, LIST, "blue,black,brown"),
    ("simple", True, OBJECT, "R=100,G=200,B=150"),
    ("label", False, "blue", ".blue"),
    ("label", False, LIST, ".blue,black,brown"),
    ("label", False, OBJECT, ".R,100,G,200,B,150"),
    ("label", True, LIST, ".blue.black.brown"),
    ("label", True, OBJECT, ".R=100.G=200.B=150"),
    ("matrix", False, "", ";color"),
    ("matrix", False, "blue", ";color=blue"),
    ("matrix", False, LIST, ";color=blue,black,brown"),
    ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
    ("matrix", True, LIST, ";color=blue;color=black;color=brown"),
    ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
]
QUERIES = [
    ("form", False, "", "color="),
    ("form", False, "blue", "color=blue"),
    ("form", False, LIST, "color=blue,black,brown"),
    ("form", False, OBJECT, "color=R,100,G,200,B,150"),
    ("form", True, LIST, "color=blue&color=black&color=brown"),
    ("form", True, OBJECT, "R=100&G=200&B=150"),
    ("spaceDelimited", False, LIST, "color=blue%20black%20brown"),
    ("spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150"),
    ("pipeDelimited", False, LIST, "color=blue%7Cblack%7Cbrown"),
    ("pipeDelimited", False, OBJECT, "color=R%7C100%7CG%7C200%7CB%7C150"),
    ("deepObject", True, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
    ("deepObject", True, {"a": {"b": [1, 2]}, "c": None}, "color%5Ba%5D%5Bb%5D=1&color%5Ba%5D%5Bb%5D=2"),
]


@pytest.mark.parametrize(("style", "explode", "value", "written"), PATHS)
def test_a_value_in_a_path(style: str, explode: bool, value: Any, written: str) -> None:
    assert in_path(value, {"name": "color", "style": style, "explode": explode}) == written


@pytest.mark.parametrize(("style", "explode", "value", "written"), QUERIES)
def test_a_value_in_a_query(style: str, explode: bool, value: Any, written: str) -> None:
    pairs = in_query(value, {"name": "color", "style": style, "explode": explode})
    assert "&".join(f"{name}={text}" for name, text in pairs) == written


def test_without_a_style_paths_are_simple_and_queries_are_exploded_forms() -> None:
    assert in_path(LIST, {"name": "c"}) == "blue,black,brown"
    assert in_query([1, True], {"name": "c"}) == [("c", "1"), ("c", "true")]
    assert in_cookie([1, 2], {"name": "c", "explode": False}) == [("c", "1,2")]


def test_what_ends_a_value_is_encoded() -> None:
    assert in_path("a/b?c#d%2e;é", {"name": "c"}) == "a%2Fb%3Fc%23d%252e%3B%C3%A9"
    assert in_query("a&b=c#d+e f", {"name": "x&y"}) == [("x%26y", "a%26b%3Dc%23d%2Be%20f")]
    assert in_query("https://a.example/?b&c#d", {"name": "u", "allowReserved": True}) == [
        ("u", "https://a.example/?b%26c%23d")
    ]
    assert in_cookie("a; b=c", {"name": "c"}) == [("c", "a%3B%20b%3Dc")]


def test_a_value_that_is_a_document_is_json() -> None:
    assert in_query({"a": [1]}, {"name": "f", "contentType": "application/json"}) == [("f", "%7B%22a%22%3A%5B1%5D%7D")]
    assert in_header({"a": 1}, {"name": "f", "contentType": "application/json"}) == '{"a":1}'
