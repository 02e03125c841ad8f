"""What an organisation can ask, and what of two answers must be the same: all but ids of rows and times.

Numbers of rows count up for all organisations together (docs/adr/0024): how far they have come tells how much is
written, and nothing else may differ by it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

Request = tuple[str, str, Any]
"""Method, path and body."""

NAMES = ("email", "files", "weather")
"""Of tools, skills, servers, agents, projects and all else: everybody has the same few."""


def _questions() -> Iterator[Request]:
    lists = ("/tools", "/skills?is_active=all", "/servers", "/agents", "/mail/projects", "/mail/products")
    lists += ("/mail/agents", "/mail/messages", "/tools?name=email", "/tools?skill_id=files", "/servers?tag=weather")
    lists += tuple(f"/skills/suggestions?status={each}" for each in ("pending", "approved", "rejected", "merged"))
    lists += tuple(f"/skills/{name}{rest}" for name in NAMES for rest in ("", "/tools"))
    yield from (("GET", path, None) for path in (*lists, "/health", "/ready"))
    everything = {"query": "zebra rain email 天气", "limit": 50, "skill_limit": 10}
    for mode in ("semantic", "lexical", "hybrid"):
        for path in ("/search/skills", "/search/tools"):
            yield "GET", f"{path}?query=rain%20invoice&limit=50&threshold=0&mode={mode}", None
        for strategy in ("hierarchical", "direct", "hybrid"):
            least = {"skill_threshold": 0.0, "tool_threshold": 0.0}
            yield "POST", "/search", {**everything, **least, "strategy": strategy, "mode": mode}
    for fusion in ("boost", "rrf", "coverage"):
        more = {"max_results": 50, "include_disabled": True, "explain": True, "fusion": fusion}
        yield "POST", "/search/registry", {"query": "merge rain files", **more}
    yield "POST", "/search/registry", {"query": "zebra #weather", "max_results": 50, "explain": True}
    for mode in ("lexical", "semantic", "hybrid"):
        for kind in ("message", "agent", "project"):
            asked = {"text": "rain email 天气", "mode": mode, "doc_kind": kind}
            yield "POST", "/search/messages", {**asked, "explain": True}
    yield "POST", "/search/messages", {"text": "", "ack_required": False, "sender_name": "email", "explain": True}
    yield "POST", "/tools/search_messages", {"project_key": "files", "query": "rain from:email"}
    yield "POST", "/tools/search_messages_product", {"product_key": "email", "query": "rain"}


QUESTIONS = tuple(_questions())

# What is compared

_IDS = re.compile(r"(^|_)ids?$")
_LEFT_OUT = re.compile(r"_(ms|us|ts|at)$|^classification_timestamp$|^request_id$")
_TOLERANCE = 1e-5
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_HEADERS = ("X-Total-Count", "X-Degraded", "X-Search-Mode", "X-Page-Truncated", "Link")


def shown(response: Any) -> Any:
    """Return what is compared of a response."""
    headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
    return response.status_code, headers, without_ids(response.json()) if response.content else None


def without_ids(value: Any, name: str = "") -> Any:
    """Return JSON without ids of rows and requests, and without times. Skills' ids, which owners choose, stay."""
    if isinstance(value, dict):
        return {key: without_ids(each, key) for key, each in value.items() if not _LEFT_OUT.search(key)}
    if isinstance(value, list):
        return [without_ids(each, name) for each in value]
    if name == "next_cursor" or (_IDS.search(name) and re.fullmatch(r"\d+", str(value))):
        return f"<{name}>"
    if isinstance(value, str) and _TIME.fullmatch(value):
        return "<time>"
    if isinstance(value, str) and name in {"detail", "message", "reason", "next"}:
        return re.sub(r"\d+", "#", value)
    return value


def difference(one: Any, other: Any, place: str = "") -> tuple[str, Any, Any] | None:
    """Return the first place where two answers differ, with what stands there; None where there is none.

    Of a sum of float32 the last digits are another's when its terms come in another order, as an index likes.
    """
    if isinstance(one, float) and isinstance(other, float) and math.isclose(one, other, rel_tol=_TOLERANCE):
        return None
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        pairs = [(f"{place}.{key}", one[key], other[key]) for key in one]
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        pairs = [(f"{place}.{number}", *pair) for number, pair in enumerate(zip(one, other, strict=True))]
    else:
        return None if one == other else (place, one, other)
    return next((found for where, a, b in pairs if (found := difference(a, b, where))), None)
