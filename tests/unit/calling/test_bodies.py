"""GIVEN a body, WHEN it is written by its media type, THEN servers can read it."""

from __future__ import annotations

import base64
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qsl

import pytest
from skillroute.calling.bodies import body_of
from skillroute.calling.model import CallFailed


def parts(value: Any, encoding: Any = None) -> list[tuple[str | None, str | None, str, bytes]]:
    """Return name, file name, type and content of each part, read by the standard library."""
    body, kind = body_of(value, {"name": "multipart/form-data", "encoding": encoding})
    message = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    return [
        (
            str(part.get_param("name", header="content-disposition")),
            part.get_filename(),
            part.get_content_type(),
            part.get_payload(decode=True),  # type: ignore[misc]
        )
        for part in message.get_payload()  # type: ignore[union-attr]
    ]


@pytest.mark.parametrize(
    "kind", ["application/json", "application/merge-patch+json", "application/json; charset=utf-8"]
)
def test_json(kind: str) -> None:
    assert body_of({"a": [1, None, "é"]}, {"name": kind}) == (b'{"a":[1,null,"\\u00e9"]}', kind)


def test_a_form() -> None:
    value = {"a": "x y&z", "list": [1, 2], "object": {"b": 1}, "none": None}
    body, kind = body_of(value, {"name": "application/x-www-form-urlencoded"})
    assert kind == "application/x-www-form-urlencoded"
    assert parse_qsl(body.decode()) == [("a", "x y&z"), ("list", "1"), ("list", "2"), ("object", '{"b":1}')]


def test_a_form_whose_document_says_how() -> None:
    place = {
        "name": "application/x-www-form-urlencoded",
        "encoding": {"a": {"style": "deepObject", "explode": True}, "b": {"style": "form", "explode": False}},
    }
    body, _ = body_of({"a": {"x": 1}, "b": [1, 2]}, place)
    assert parse_qsl(body.decode()) == [("a[x]", "1"), ("b", "1,2")]


def test_parts() -> None:
    image = base64.b64encode(b"\x89PNG").decode()
    found = parts(
        {"title": "a", "tags": ["x", "y"], "more": {"b": 1}, "image": image, 'q"\r\n': "v"},
        {"image": {"contentType": "image/png, image/jpeg"}},
    )
    assert found == [
        ("title", None, "text/plain", b"a"),
        ("tags", None, "text/plain", b"x"),
        ("tags", None, "text/plain", b"y"),
        ("more", None, "application/json", b'{"b":1}'),
        ("image", "image", "image/png", b"\x89PNG"),
        ("q%22%0D%0A", None, "text/plain", b"v"),
    ]


def test_texts_and_bytes() -> None:
    assert body_of("é", {"name": "text/plain"}) == ("é".encode(), "text/plain")
    assert body_of("<a/>", {"name": "application/xml"}) == (b"<a/>", "application/xml")
    assert body_of("AAE=", {"name": "application/octet-stream"}) == (b"\x00\x01", "application/octet-stream")
    assert body_of({"a": 1}, {"name": "*/*"}) == (b'{"a":1}', "application/json")


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "image/png"]
)
def test_a_value_that_a_type_cannot_carry_is_refused(kind: str) -> None:
    with pytest.raises(CallFailed, match="the argument body must be"):
        body_of([1], {"name": kind})
