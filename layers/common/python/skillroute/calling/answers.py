"""The answer of an HTTP operation, in the form of ``tools/call``."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx

from skillroute.calling.bodies import is_json, is_text
from skillroute.calling.exchange import media_type, quoted
from skillroute.calling.model import JsonObject, Limits
from skillroute.core.http.json_values import TooManyValues, UnreadableJson, read_json

_MAX_VALUES = 300_000


def answer_of(response: httpx.Response, body: bytes, limits: Limits) -> JsonObject:
    """Return an answer: JSON as text and as structured content, texts, images, and other bytes as a resource.

    Structured content is an object: other values of JSON are its `result`. Where an answer would be larger twice, or in
    base64, than what is passed on, the text goes alone, or a sentence.
    """
    kind, status = media_type(response.headers), response.status_code
    answer: JsonObject = {"content": [_content(response, kind, body, limits)]}
    if status >= 400:
        reason = {"type": "text", "text": f"The server answers with status {status} {response.reason_phrase}".rstrip()}
        return {"content": [reason, *(answer["content"] if body else [])], "isError": True}
    if is_json(kind) and 2 * len(body) <= limits.answer_bytes:
        try:
            value = read_json(body, _MAX_VALUES, _no_number)
        except (TooManyValues, UnreadableJson, json.JSONDecodeError):
            return answer
        answer["structuredContent"] = value if isinstance(value, dict) else {"result": value}
    return answer


def _content(response: httpx.Response, kind: str, body: bytes, limits: Limits) -> JsonObject:
    if not body:
        return {"type": "text", "text": f"The server answers with status {response.status_code} and no content."}
    if not kind or is_json(kind) or is_text(kind):
        return {"type": "text", "text": _text(response, body)}
    if 4 * len(body) > 3 * limits.answer_bytes:
        return {"type": "text", "text": f"The server answers with {len(body):,} bytes of {quoted(kind)}."}
    data = base64.b64encode(body).decode("ascii")
    group = kind.partition("/")[0]
    if group in {"image", "audio"}:
        return {"type": group, "data": data, "mimeType": kind}
    uri = str(response.request.url.copy_with(query=None))
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "blob": data}}


def _text(response: httpx.Response, body: bytes) -> str:
    try:
        return body.decode(response.charset_encoding or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _no_number(name: str) -> Any:
    raise UnreadableJson(name)
