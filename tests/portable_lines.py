"""Exporting and importing over the API, as tests do it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fastapi.testclient import TestClient
from skillroute.core.portable.restore import MAX_LINES

from tests.api.routes import fill
from tests.builders import System, of_org
from tests.doubles import proposing

Lines = list[dict[str, Any]]


def page(client: TestClient, **params: Any) -> Lines:
    """Return the lines of a page, its last one included."""
    response = client.get("/api/v1/export", params={name: given for name, given in params.items() if given is not None})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/jsonl"
    return [json.loads(line) for line in response.text.splitlines()]


def exported(client: TestClient, **params: Any) -> Lines:
    """Return all lines of an export that are rows."""
    rows: Lines = []
    after: str | None = None
    while True:
        *lines, last = page(client, **{**params, "after": after})
        rows += lines
        if last["kind"] == "end":
            assert last["changed"] == []
            return rows
        after = last["after"]


def imported(client: TestClient, lines: Sequence[Any]) -> Lines:
    """Import lines, and return what became of each."""
    results: Lines = []
    for start in range(0, len(lines), MAX_LINES):
        response = client.post("/api/v1/import", json={"lines": lines[start : start + MAX_LINES]})
        assert response.status_code == 200, response.text
        results += response.json()["results"]
    return results


def of_kind(lines: Lines, kind: str) -> Lines:
    """Return the lines of a kind."""
    return [line for line in lines if line["kind"] == kind]


def statuses(results: Lines) -> set[str]:
    """Return how results ended; a failed one fails the test, with all that is wrong."""
    assert [result for result in results if result["status"] == "failed"] == []
    return {result["status"] for result in results}


def filled(system: System, org: str | None = None) -> None:
    """Store all that an organisation may have, decided and not: by people, by a classifier, and by nobody."""
    caller = of_org(org)
    fill(system, org)
    system.create("video", caller, description="Cut and encode films.", keywords=["film"], parent_domain="media")
    system.create("asleep", caller, description="Nobody needs it now.")
    system.change("asleep", caller, is_active=False)
    first, second, _ = system.put(
        "cut_film", "merge_films", "rest", caller=caller, server="film", tags=["a", "b"], requests=["cut this"]
    )
    system.classifier.answers["cut_film"] = proposing("Films")
    system.classify(first)
    system.parts.skills.review.approve(system.suggestions(caller=caller)[-1].id, {}, caller)
    system.classifier.answers["merge_films"] = proposing("Silly")
    system.classify(second)
    system.parts.skills.review.reject(system.suggestions(caller=caller)[-1].id, "silly", caller)
    film = {"name": "film", "description": "Films.", "version": "1.2", "is_enabled": False}
    system.parts.registry.sync("server", [film], caller)
    [[message]] = system.rows("SELECT id FROM mcp.mail_messages WHERE org_id IS NOT DISTINCT FROM :org", org=org)
    system.parts.mail.read.acknowledge(message, "planner", caller)
