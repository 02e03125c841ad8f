"""Lists in any order, since a moment, and page by page behind a cursor."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote, urljoin

import pytest
from fastapi.testclient import TestClient

from tests.api.routes import fill
from tests.builders import System

LISTS = {
    "/api/v1/tools": ("name", "id"),
    "/api/v1/servers": ("name", "path"),
    "/api/v1/agents": ("name", "path"),
    "/api/v1/skills": ("name", "name"),
    "/api/v1/skills/suggestions": ("suggested_name", "id"),
}
"""Of each list the field that the order `name` goes by, and the order that it has by itself."""
SUFFIXES = ("_b", "_a", "_d", "_c")


@pytest.fixture
def filled(client: TestClient, system: System) -> TestClient:
    for suffix in SUFFIXES:
        fill(system, suffix=suffix)
    return client


def walk(client: TestClient, url: str) -> list[dict[str, Any]]:
    """Return all rows of a list by its links."""
    found: list[dict[str, Any]] = []
    while True:
        response = client.get(url)
        assert response.status_code == 200, response.text
        found += response.json()
        assert ("next" in response.links) == ("x-next-cursor" in response.headers)
        if "next" not in response.links:
            return found
        url = urljoin(url, response.links["next"]["url"])


def names(rows: list[dict[str, Any]], field: str) -> list[str]:
    return [row[field] for row in rows]


@pytest.mark.parametrize("path", LISTS)
def test_a_list_comes_in_each_order_whole_whichever_way_it_is_paged(filled: TestClient, path: str) -> None:
    name, default = LISTS[path]
    everything = filled.get(path).json()
    assert filled.get(f"{path}?sort={default}").json() == everything
    for sort, field in (("name", name), ("id", "id")):
        ordered = sorted(everything, key=lambda row: (row[field], row["id"]))
        assert filled.get(f"{path}?sort={sort}").json() == ordered
        assert filled.get(f"{path}?sort=-{sort}").json() == ordered[::-1]
    for sort in ("id", "-id", "name", "-name", "updated_at", "-updated_at"):
        whole = filled.get(f"{path}?sort={sort}").json()
        assert len(whole) == len(everything)
        assert walk(filled, f"{path}?sort={sort}&limit=2") == whole
        page = filled.get(f"{path}?sort={sort}&limit=3")
        assert filled.get(f"{path}?sort={sort}&limit=9&offset=3").json() == whole[3:]
        rest = filled.get(f"{path}?sort={sort}&cursor={page.headers['x-next-cursor']}")
        assert (rest.json(), rest.headers["x-total-count"]) == (whole[3:], str(len(whole)))


@pytest.mark.parametrize("path", LISTS)
def test_rows_that_come_and_go_between_pages_neither_repeat_nor_hide_others(
    filled: TestClient, system: System, path: str
) -> None:
    name, _ = LISTS[path]
    whole = filled.get(f"{path}?sort=name").json()
    first = filled.get(f"{path}?sort=name&limit=2")
    # WHEN more comes before the cursor, and its own row goes
    fill(system, suffix="_aa")
    if not path.endswith("suggestions"):
        assert filled.delete(f"{path}/{first.json()[-1]['id']}").status_code == 204
    rest = filled.get(f"{path}?sort=name&cursor={first.headers['x-next-cursor']}").json()
    kept = [row[name] for row in rest if not row[name].endswith("_aa")]
    assert kept == names(whole[2:], name)


@pytest.mark.parametrize("path", LISTS)
def test_since_a_moment_come_those_that_were_written_then_or_later(
    filled: TestClient, system: System, path: str
) -> None:
    [[moment]] = system.rows("SELECT clock_timestamp()")
    text = moment.isoformat()
    assert filled.get(path, params={"updated_since": text}).json() == []
    fill(system, suffix="_new")
    name, _ = LISTS[path]
    for spelt in (quote(text), text, text.replace("+00:00", "Z"), text.replace("T", "t")):
        found = filled.get(f"{path}?updated_since={spelt}&sort=updated_at&limit=1")
        assert int(found.headers["x-total-count"]) == len(walk(filled, f"{path}?updated_since={spelt}&limit=1"))
        assert all(row[name].endswith("_new") for row in found.json())


def test_a_change_is_listed_since_before_it(filled: TestClient, system: System) -> None:
    [[moment]] = system.rows("SELECT clock_timestamp()")
    [first, *_] = filled.get("/api/v1/tools").json()
    filled.patch(f"/api/v1/tools/{first['id']}", json={"is_active": False})
    [found] = filled.get("/api/v1/tools", params={"updated_since": moment.isoformat()}).json()
    assert (found["id"], found["is_active"]) == (first["id"], False)


def test_states_filter_alike_on_every_list(filled: TestClient) -> None:
    for path, what in (
        ("tools", "is_active"),
        ("servers", "is_enabled"),
        ("agents", "is_enabled"),
        ("skills", "is_active"),
    ):
        one = filled.get(f"/api/v1/{path}?sort=id").json()[-1]["id"]
        if what == "is_active":
            filled.patch(f"/api/v1/{path}/{one}", json={"is_active": False})
        else:
            filled.post(f"/api/v1/{path}/{one}/disable")
        for name in ("is_active", "is_enabled"):
            on, off, both = (
                names(filled.get(f"/api/v1/{path}?{name}={state}").json(), "id") for state in ("true", "false", "all")
            )
            assert one in off and one not in on, path
            assert sorted(map(str, [*on, *off])) == sorted(map(str, both)), path
        # A list shows all, but for skills, as skill-contract BR-007 has it.
        assert (one in names(filled.get(f"/api/v1/{path}").json(), "id")) == (path != "skills")


@pytest.mark.parametrize("path", LISTS)
def test_a_plain_list_goes_on_by_offset_as_before(filled: TestClient, path: str) -> None:
    response = filled.get(f"{path}?limit=1")
    assert response.links["next"]["url"] == "?offset=1&limit=1"
    assert "x-next-cursor" in response.headers


def test_the_next_page_by_cursor_has_the_filters_of_this_one(filled: TestClient) -> None:
    response = filled.get("/api/v1/tools?sort=-name&type=tool&is_active=all&limit=1")
    cursor = response.headers["x-next-cursor"]
    assert response.links["next"]["url"] == f"?sort=-name&type=tool&is_active=all&cursor={cursor}&limit=1"


def cursor_of(*value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    "query",
    [
        "sort=size",
        "sort=",
        "updated_since=yesterday",
        "updated_since=2026-01-01",
        "updated_since=2026-01-01T00:00:00",
        "updated_since=1700000000",
        "updated_since=2026-13-01T00:00:00Z",
        "updated_since=0001-01-01T00:00:00%2B23:00",
        "cursor=",
        "cursor=x",
        "cursor=ä",
        f"cursor={cursor_of('id', 7)}",
        f"sort=name&cursor={cursor_of('id', 7, None)}",
        f"sort=-name&cursor={cursor_of('name', 7, 'x')}",
        f"sort=-name&cursor={cursor_of('name', 'x', 'x')}",
        f"sort=id&cursor={cursor_of('id', True, None)}",
        f"sort=id&cursor={cursor_of('id', -1, None)}",
        f"sort=id&cursor={cursor_of('id', 2**63, None)}",
        f"sort=name&cursor={cursor_of('name', 7, chr(0))}",
        f"sort=name&cursor={cursor_of('name', 7, chr(0xD800))}",
        f"sort=updated_at&cursor={cursor_of('updated_at', 7, ['2026-01-01'])}",
        f"sort=id&offset=1&cursor={cursor_of('id', 7, None)}",
    ],
)
def test_what_no_list_has_made_is_422(shared_client: TestClient, path: str, query: str) -> None:
    response = shared_client.get(f"{path}?{query}")
    assert response.status_code == 422, response.text
    assert response.json()["detail"][0]["loc"][0] == "query"


def test_an_order_that_a_list_does_not_have_names_those_that_it_has(shared_client: TestClient) -> None:
    [found] = shared_client.get("/api/v1/servers?sort=size").json()["detail"]
    assert "'path', '-path', 'name', '-name', 'id', '-id', 'updated_at' or '-updated_at'" in found["msg"]


@pytest.mark.parametrize("path", LISTS)
def test_a_cursor_that_somebody_made_up_is_no_more_than_a_place(shared_client: TestClient, path: str) -> None:
    for value in (
        ["name", 7, None],
        ["name", "x' OR true --", "x' OR true --"],
        ["id", "text", None],
        ["id", 7, "text"],
        ["updated_at", 7, "text"],
        ["updated_at", "7", ["9999-12-31T23:59:59-23:59"]],
    ):
        response = shared_client.get(f"{path}?sort={value[0]}&cursor={cursor_of(*value)}")
        assert response.status_code in {200, 422}, response.text
