"""How values of arguments are written into paths, queries, headers and cookies (OpenAPI 3.1, Parameter Object).

``simple``, ``label`` and ``matrix`` in paths, ``form``, ``spaceDelimited``, ``pipeDelimited`` and ``deepObject`` in
queries, ``simple`` in headers, ``form`` in cookies. Values within lists and objects are texts; deeper ones are JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

Pairs = list[tuple[str, str]]
Encode = Callable[[str], str]

_DELIMITERS = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}
# `allowReserved` leaves these as they are; not what would end a value or the query: & # + and what is no URL.
_RESERVED = ":/?@!$'()*,;"


def as_text(value: Any) -> str:
    """Return a value as text: JSON, of a text the text itself.

    Examples
    --------
    >>> as_text("a b"), as_text(True), as_text(1.5), as_text([1, "x"])
    ('a b', 'true', '1.5', '[1,"x"]')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def encoded(text: str, allowed: str = "") -> str:
    """Return a text as a URL can carry it, halves of surrogate pairs replaced."""
    return quote(text.encode("utf-8", "replace"), safe=allowed)


def in_path(value: Any, place: Mapping[str, Any]) -> str:
    """Return what stands for ``{name}`` in a path; no character of a value ends the segment.

    Examples
    --------
    >>> in_path(["a/b", "c"], {"name": "id"}), in_path({"x": 1}, {"name": "at", "style": "matrix", "explode": True})
    ('a%2Fb,c', ';x=1')
    """
    style, explode, name = place.get("style", "simple"), place.get("explode", False) is True, encoded(place["name"])
    value = _documented(value, place)
    if style == "label":
        return "." + _joined(value, "." if explode else ",", "=" if explode else ",", encoded)
    if style != "matrix":
        return _joined(value, ",", "=" if explode else ",", encoded)
    if isinstance(value, dict) and explode:
        return "".join(f";{key}={inner}" for key, inner in _items(value, encoded))
    if isinstance(value, list) and explode:
        return "".join(f";{name}={encoded(as_text(inner))}" for inner in value)
    text = _joined(value, ",", ",", encoded)
    return f";{name}={text}" if text else f";{name}"


def in_query(value: Any, place: Mapping[str, Any]) -> Pairs:
    """Return the pairs that an argument is in a query, encoded.

    Examples
    --------
    >>> in_query({"min": 1}, {"name": "price", "style": "deepObject"}), in_query([1, 2], {"name": "id"})
    ([('price%5Bmin%5D', '1')], [('id', '1'), ('id', '2')])
    """
    style = place.get("style", "form")
    explode = place.get("explode", style == "form") is True
    encode: Encode = (lambda text: encoded(text, _RESERVED)) if place.get("allowReserved") is True else encoded
    name, value = encoded(place["name"]), _documented(value, place)
    if style == "deepObject" and isinstance(value, dict):
        return _deep(place["name"], value, encode)
    if explode and isinstance(value, dict) and style == "form":
        return [(encoded(str(key)), encode(as_text(inner))) for key, inner in value.items() if inner is not None]
    if explode and isinstance(value, list):
        return [(name, encode(as_text(inner))) for inner in value]
    delimiter = _DELIMITERS.get(style, ",")
    return [(name, _joined(value, delimiter, delimiter, encode))]


def in_header(value: Any, place: Mapping[str, Any]) -> str:
    """Return the value of a header: as it is, which has to be checked.

    Examples
    --------
    >>> in_header({"a": 1, "b": 2}, {"name": "X-Of", "explode": True})
    'a=1,b=2'
    """
    value = _documented(value, place)
    return _joined(value, ",", "=" if place.get("explode") is True else ",", lambda text: text)


def in_cookie(value: Any, place: Mapping[str, Any]) -> Pairs:
    """Return the pairs that an argument is in the header `Cookie`, encoded."""
    return in_query(value, {**place, "style": "form", "allowReserved": False})


def _documented(value: Any, place: Mapping[str, Any]) -> Any:
    """Return a value as the document that its place wants, where it wants one (`contentType`)."""
    return as_text(value) if "contentType" in place else value


def _joined(value: Any, delimiter: str, between: str, encode: Encode) -> str:
    """Return a value in one text; `between` parts names from values of an object."""
    if isinstance(value, list):
        return delimiter.join(encode(as_text(inner)) for inner in value)
    if isinstance(value, dict):
        return delimiter.join(f"{key}{between}{inner}" for key, inner in _items(value, encode))
    return encode(as_text(value))


def _items(value: dict[str, Any], encode: Encode) -> Pairs:
    return [(encode(str(key)), encode(as_text(inner))) for key, inner in value.items() if inner is not None]


def _deep(name: str, value: dict[str, Any], encode: Encode) -> Pairs:
    pairs: Pairs = []
    for key, inner in value.items():
        below = f"{name}[{key}]"
        if isinstance(inner, dict):
            pairs += _deep(below, inner, encode)
        elif inner is not None:
            each = inner if isinstance(inner, list) else [inner]
            pairs += [(encoded(below), encode(as_text(one))) for one in each]
    return pairs
