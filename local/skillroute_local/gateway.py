"""The routes of template.yaml's API, and which of them API Gateway takes for a request."""

from __future__ import annotations

import re
from collections.abc import Iterable

ROUTES = {
    "ANY /api/v1/search": "search",
    "ANY /api/v1/search/{proxy+}": "search",
    "ANY /api/v1/tools/search_messages": "search",
    "ANY /api/v1/tools/search_messages_product": "search",
    "ANY /api/v1/verify": "search",
    "GET /health": "search",
    "GET /ready": "search",
    "ANY /api/v1/skills": "skills",
    "ANY /api/v1/skills/{proxy+}": "skills",
    "ANY /api/v1/tools/{id}/skills": "skills",
    "ANY /api/v1/{proxy+}": "catalog",
}
"""The function behind each route."""

_VARIABLE = re.compile(r"{(\w+)(\+?)}")


def route_of(method: str, path: str, routes: Iterable[str] = tuple(ROUTES)) -> tuple[str, dict[str, str]] | None:
    """Return the route that takes a request, with its path parameters; None where the API has none.

    A path that is matched whole goes before a greedy one, words before variables, more of the path before less, and a
    method before ANY (API Gateway's "Routing API requests" for HTTP APIs).
    """
    found = []
    for key in routes:
        its_method, its_path = key.split(" ")
        match = re.fullmatch(
            _VARIABLE.sub(lambda name: f"(?P<{name[1]}>{'.+' if name[2] else '[^/]+'})", its_path), path
        )
        if match and its_method in {method, "ANY"}:
            words = [not _VARIABLE.fullmatch(each) for each in its_path.split("/")]
            found.append(("+}" not in its_path, words, its_method != "ANY", key, match.groupdict()))
    if not found:
        return None
    *_, key, parameters = max(found, key=lambda each: each[:4])
    return key, parameters
