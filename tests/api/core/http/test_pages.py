"""Lists stay within what Lambda carries, whatever lies in them (decision 36); following the links loses nothing."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import pytest
from fastapi.testclient import TestClient
from skillroute.core.answer_size import MAX_ANSWER_BYTES, on_the_way
from skillroute.core.http import paging

from tests.api.one_app import app_over
from tests.api.routes import fill, filled, routes_of
from tests.builders import System, item

BY_CURSOR = {"/api/v1/learning/receipts"}
"""Lists that go on by a cursor alone."""

SHORT = {
    *("/api/v1/search/skills", "/api/v1/search/tools", "/api/v1/tools/{item_id}/skills"),
    # Few rules; events by the place that they are read from; and what `fill` has none of.
    *("/api/v1/access/rules", "/api/v1/trace", "/api/v1/logins", "/api/v1/trust/changed"),
}
"""Lists without pages: they have 50 rows at most, and are bounded by what a row may have."""


def lists_of(system: System) -> list[str]:
    """Return the paths of all lists that the OpenAPI document has."""
    app = app_over(system)
    document = app.openapi()

    def is_list(path: str) -> bool:
        [content] = document["paths"][path]["get"]["responses"]["200"]["content"].values()
        return content["schema"].get("type") == "array"  # an export's pages say in their last line how they go on

    return [path for method, path in routes_of(app) if method == "GET" and path != "/api/v1/export" and is_list(path)]


def pages(client: TestClient, url: str) -> list[list[dict[str, Any]]]:
    """Return all pages of a list, by its links."""
    found = []
    while True:
        response = client.get(url)
        assert response.status_code == 200, response.text
        assert on_the_way(response.content) < MAX_ANSWER_BYTES
        found.append(response.json())
        if "next" not in response.links:
            return found
        url = urljoin(url, response.links["next"]["url"])


def test_every_list_says_where_it_goes_on(system: System) -> None:
    document = app_over(system).openapi()
    for path in lists_of(system):
        headers = document["paths"][path]["get"]["responses"]["200"].get("headers", {})
        assert path in SHORT or {"Link", "X-Total-Count", "X-Page-Truncated"} <= set(headers), path


def test_every_list_is_cut_by_bytes_and_goes_on_with_the_same_conditions(
    system: System, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN two of everything, and pages with room for one
    for suffix in ("", "_too"):
        ids = fill(system, suffix=suffix)
    monkeypatch.setattr(paging, "PAGE_BYTES", 10)
    for path in set(lists_of(system)) - SHORT - BY_CURSOR:
        # WHEN a list is read by its links
        url = filled(path, **ids) + "?limit=7"
        found = pages(client, url)
        # THEN every row comes once, and a page that is not the last says that it was cut
        assert all(len(page) == 1 for page in found), url
        assert len({str(page) for page in found}) == len(found) == int(client.get(url).headers["X-Total-Count"])
        for number in range(len(found)):
            response = client.get(f"{url}&offset={number}")
            assert ("X-Page-Truncated" in response.headers) == (number < len(found) - 1)


@pytest.fixture(scope="module")
def large(shared_client: TestClient) -> TestClient:
    """Tools, servers, agents, and mail that are as large as they may be, 12 MB in all; tests only read them."""
    client = shared_client
    blob = {"x": "y" * 250_000}
    for start in (0, 20):
        items = [item(f"t{start + n}", metadata=blob, description='"' * 1_000, server="s") for n in range(20)]
        assert client.put("/api/v1/tools", json={"items": items}).json()["created"] == 20
        for kind in ("servers", "agents"):
            entities = [{"name": f"e{start + n}", "more": blob} for n in range(20)]
            assert client.put(f"/api/v1/{kind}", json={kind: entities}).json()["created"] == 20
    client.put("/api/v1/mail/projects", json={"projects": [{"key": "p", "name": "P"}]})
    for start in range(0, 20, 4):
        text = {"body": '"' * 90_000, "project": "p", "from": "a", "to": ["b"], "subject": "s"}
        messages = [{"key": f"m{start + n}", **text} for n in range(4)]
        assert client.put("/api/v1/mail/messages", json={"messages": messages}).json()["created"] == 4
        for kind in ("agents", "projects", "products"):
            key = "name" if kind == "agents" else "key"
            said = [{key: f"k{start + n}", "name": f"k{start + n}", "description": "\x01" * 40_000} for n in range(4)]
            assert client.put(f"/api/v1/mail/{kind}", json={kind: said}).json()["created"] == 4, kind
    return client


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("tools", 40),
        ("servers", 40),
        ("agents", 40),
        ("mail/messages", 20),
        ("mail/agents", 22),
        ("mail/projects", 21),
        ("mail/products", 20),
    ],
)
def test_a_page_of_the_largest_rows_is_below_6_mb(large: TestClient, path: str, number: int) -> None:
    found = pages(large, f"/api/v1/{path}?limit=1000")
    assert len(found) > 1
    ids = [row["id"] for page in found for row in page]
    assert len(ids) == len(set(ids)) == number
