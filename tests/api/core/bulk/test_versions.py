"""ETag, If-Match and If-None-Match: nobody writes over what they have not read, or reads again what they have."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.routes import SCOPES, fill, version_in
from tests.builders import System
from tests.portable_lines import exported
from tests.soak import SOAK

ROUNDS = 1000 if SOAK else 25
WHAT = ("skills", "tools", "servers", "agents")
PLACES = {"skills": "skill", "tools": "item", "servers": "server", "agents": "agent"}


@pytest.fixture
def ids(client: TestClient, system: System) -> dict[str, Any]:
    return fill(system)


def path_of(what: str, ids: dict[str, Any]) -> str:
    return f"/api/v1/{what}/{ids[PLACES[what]]}"


def read(client: TestClient, path: str) -> tuple[dict[str, Any], str]:
    response = client.get(path)
    assert response.status_code == 200, response.text
    return response.json(), response.headers["etag"]


def put(client: TestClient, path: str, body: dict[str, Any], version: str | None = None) -> Any:
    return client.put(path, json=body, headers={} if version is None else {"If-Match": version})


@pytest.mark.parametrize("what", WHAT)
def test_the_version_changes_with_what_is_written_and_only_then(
    client: TestClient, ids: dict[str, Any], what: str
) -> None:
    path = path_of(what, ids)
    before, version = read(client, path)
    same = put(client, path, before, version)
    assert (same.status_code, same.json(), same.headers["etag"]) == (200, before, version)
    changed = put(client, path, before | {"description": "Something else."}, version)
    assert (changed.status_code, changed.json()["description"]) == (200, "Something else.")
    assert changed.headers["etag"] != version
    assert read(client, path)[1] == changed.headers["etag"]


@pytest.mark.parametrize("what", WHAT)
def test_a_change_from_an_old_version_is_412_with_the_one_now(
    client: TestClient, ids: dict[str, Any], what: str
) -> None:
    path = path_of(what, ids)
    before, version = read(client, path)
    now = put(client, path, before | {"description": "Theirs, and first."}, version).headers["etag"]
    attempts = [
        put(client, path, before | {"description": "Mine, and second."}, version),
        put(client, path, before, version),  # what it said then
        client.delete(path, headers={"If-Match": version}),
    ]
    if what == "skills":
        attempts.append(client.patch(path, json={"name": "Mine"}, headers={"If-Match": version}))
    if what in {"servers", "agents"}:
        attempts.append(client.post(f"{path}/disable", headers={"If-Match": version}))
    for refused in attempts:
        assert (refused.status_code, refused.headers["etag"]) == (412, version_in(now))
        answer = refused.json()
        assert (answer["code"], answer["current"]) == ("version_conflict", version_in(now))
        assert "read it again" in answer["detail"]
    after, current = read(client, path)
    assert (after["description"], current) == ("Theirs, and first.", now)


@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("spelt", [None, "*", "{}", "W/{}", '"other", {}', "bare"])
def test_a_change_goes_through_without_a_version_or_with_the_right_one(
    client: TestClient, ids: dict[str, Any], what: str, spelt: str | None
) -> None:
    path = path_of(what, ids)
    before, version = read(client, path)
    given = version.strip('"') if spelt == "bare" else spelt and spelt.format(version)
    assert put(client, path, before | {"description": "Something else."}, given).status_code == 200
    given = read(client, path)[1] if given not in {None, "*"} else given
    assert client.delete(path, headers={} if given is None else {"If-Match": given}).status_code == 204


@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("version", ['""', "ä", "a" * 1000, 'W/"a", "b" , c'])
def test_a_version_that_never_was_is_412(client: TestClient, ids: dict[str, Any], what: str, version: str) -> None:
    path = path_of(what, ids)
    before, _ = read(client, path)
    response = client.put(path, json=before, headers=[(b"If-Match", version.encode("latin-1"))])
    assert response.status_code == 412


@pytest.mark.parametrize("version", ["", " ", '"', ",", "W/", '"a" "b', '"a""b"', '"a" "b"', 'W/, "a"', '"a",'])
def test_what_is_no_version_is_422_and_nothing_is_changed(
    client: TestClient, ids: dict[str, Any], version: str
) -> None:
    before, _ = read(client, "/api/v1/skills/garden")
    response = put(client, "/api/v1/skills/garden", before | {"name": "Another"}, version)
    [found] = response.json()["detail"]
    assert (response.status_code, found["loc"]) == (422, ["header", "If-Match"])
    assert "is not an entity tag" in found["msg"]
    assert read(client, "/api/v1/skills/garden")[0] == before


def test_a_version_of_thousands_of_characters_is_422(client: TestClient, ids: dict[str, Any]) -> None:
    response = client.delete("/api/v1/skills/garden", headers={"If-Match": "a" * 1001})
    assert (response.status_code, response.json()["detail"][0]["loc"]) == (422, ["header", "If-Match"])


VERSIONED = {
    *((verb, f"/api/v1/{what}/{{{PLACES[what]}_id}}") for what in WHAT for verb in ("PUT", "DELETE")),
    *((("PATCH", f"/api/v1/{what}/{{{PLACES[what]}_id}}")) for what in ("skills", "tools")),
    *(("POST", f"/api/v1/{w}s/{{{w}_id}}/{verb}") for w in ("server", "agent") for verb in ("enable", "disable")),
    ("PUT", "/api/v1/tools/{item_id}/skills"),
    *((method, "/api/v1/agent-skills/{agent_skill_id}") for method in ("PATCH", "DELETE")),
}


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
def test_conditions_are_refused_where_nobody_compares_them(
    client: TestClient, ids: dict[str, Any], header: str
) -> None:
    takes = {("PUT", "/api/v1/skills/{skill_id}")} if header == "If-None-Match" else VERSIONED
    routes = [route for route in SCOPES if route[0] != "GET" and route not in takes and route[1] != "/mcp"]
    assert len(routes) > 20
    before = exported(client)
    for method, path in routes:
        known = {f"{kind}_id": id_ for kind, id_ in ids.items()} | {"project_id": 1, "product_id": 1}
        response = client.request(method, path.format(**known), json={}, headers={header: '"63c9"'})
        assert (response.status_code, response.json()["detail"][0]["loc"]) == (422, ["header", header]), (method, path)
        assert "compares no versions" in response.json()["detail"][0]["msg"]
    assert exported(client) == before


def test_a_skill_is_only_created_where_that_is_asked_for(client: TestClient) -> None:
    body = {"name": "Mail", "description": "Reading and writing mail."}
    path, only_new = "/api/v1/skills/mail", {"If-None-Match": "*"}
    created = client.put(path, json=body, headers=only_new)
    assert created.status_code == 201
    again = client.put(path, json=body | {"name": "Other"}, headers=only_new)
    assert (again.status_code, again.json()["code"], again.json()["detail"]) == (
        412,
        "version_conflict",
        "skill mail is there already",
    )
    assert again.json()["current"] == again.headers["etag"] == version_in(created.headers["etag"])
    assert client.get(path).json() == created.json()
    for headers in ({"If-None-Match": '"a"'}, only_new | {"If-Match": "*"}):
        assert client.put(path, json=body, headers=headers).status_code == 422
    client.delete(path)
    assert client.put(path, json=body, headers=only_new).status_code == 201


def test_a_skill_that_is_not_there_is_not_created_from_a_version(client: TestClient) -> None:
    body = {"name": "Mail", "description": "Reading and writing mail."}
    for version in ("*", '"63c9"'):
        response = put(client, "/api/v1/skills/mail", body, version)
        assert (response.status_code, response.json()["current"], "etag" in response.headers) == (412, None, False)
    assert client.get("/api/v1/skills/mail").status_code == 404


def test_the_version_of_a_skill_does_not_depend_on_its_tools(client: TestClient, system: System) -> None:
    system.create("mail")
    _, version = read(client, "/api/v1/skills/mail")
    system.assign(*system.put("t"), mail=1.0)
    after, same = read(client, "/api/v1/skills/mail")
    assert (after["tool_count"], version_in(same)) == (1, version_in(version))


def test_what_was_created_tells_its_version(client: TestClient) -> None:
    created = client.post("/api/v1/skills", json={"id": "mail", "name": "Mail", "description": "All about mail."})
    assert created.headers["etag"] == read(client, "/api/v1/skills/mail")[1]


@pytest.mark.parametrize(
    ("what", "body", "field"),
    [
        ("tools", {"name": "other"}, "name"),
        ("tools", {"type": "prompt"}, "type"),
        ("tools", {"server": "elsewhere"}, "server"),
        ("servers", {"name": "garden", "path": "/other"}, "path"),
        ("agents", {"name": "a", "path": "/other"}, "path"),
    ],
)
def test_an_id_is_not_written_over_with_another_thing(
    client: TestClient, ids: dict[str, Any], what: str, body: dict[str, Any], field: str
) -> None:
    path = path_of(what, ids)
    before, version = read(client, path)
    response = put(client, path, body)
    assert (response.status_code, response.json()["detail"][0]["loc"]) == (422, ["body", field])
    assert read(client, path) == (before, version)


@pytest.mark.parametrize("what", ["servers", "agents"])
def test_another_name_leaves_the_path(client: TestClient, ids: dict[str, Any], what: str) -> None:
    path = path_of(what, ids)
    before, _ = read(client, path)
    for body in ({"name": "Orchard"}, before | {"name": "Park"}):
        after = put(client, path, body).json()
        assert (after["name"], after["path"], after["id"]) == (body["name"], before["path"], before["id"])
        assert put(client, path, after).json() == after


@pytest.mark.parametrize(
    ("what", "body", "fields"),
    [
        ("tools", {"description": 3, "tags": [""]}, ["description", "tags"]),
        ("servers", {"name": "garden", "tools": [{"name": ""}]}, ["tools"]),
        ("agents", {"name": "garden", "skills": 3}, ["skills"]),
    ],
)
def test_one_that_is_wrong_names_all_that_is(
    client: TestClient, ids: dict[str, Any], what: str, body: dict[str, Any], fields: list[str]
) -> None:
    response = put(client, path_of(what, ids), body)
    assert (response.status_code, [found["loc"][1] for found in response.json()["detail"]]) == (422, fields)


@pytest.mark.parametrize("what", WHAT)
def test_of_two_writers_neither_loses_what_the_other_wrote(client: TestClient, ids: dict[str, Any], what: str) -> None:
    """Both count up the number that they have read: a write that is lost is one that is not counted."""
    path = path_of(what, ids)
    before, _ = read(client, path)
    put(client, path, before | {"description": "The count is 0"})

    def count_up(_: int) -> None:
        for _ in range(ROUNDS):
            while True:
                found, version = read(client, path)
                number = int(found["description"].rpartition(" ")[2])
                response = put(client, path, found | {"description": f"The count is {number + 1}"}, version)
                if response.status_code == 200:
                    break
                assert response.status_code == 412, response.text

    with ThreadPoolExecutor(2) as both:
        list(both.map(count_up, range(2)))
    assert read(client, path)[0]["description"] == f"The count is {2 * ROUNDS}"


LISTS = (
    "/api/v1/skills",
    "/api/v1/skills/{skill}/tools",
    "/api/v1/skills/suggestions",
    "/api/v1/tools?limit=1",
    "/api/v1/tools/{item}/skills",
    "/api/v1/servers",
    "/api/v1/agents",
)
SINGLE = tuple(f"/api/v1/{what}/{{{place}}}" for what, place in PLACES.items())


@pytest.mark.parametrize("path", LISTS + SINGLE)
def test_what_was_read_and_has_not_changed_is_304_without_a_body(
    client: TestClient, ids: dict[str, Any], path: str
) -> None:
    path = path.format(**ids)
    read_once = client.get(path)
    tag = read_once.headers["etag"]
    assert (read_once.status_code, read_once.headers["cache-control"]) == (200, "private, no-cache")
    for kept in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = client.get(path, headers={"If-None-Match": kept})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert again.headers.get("x-total-count") == read_once.headers.get("x-total-count")
    for other in ('"other"', "no tag, at all", '"' + tag.strip('"').partition(".")[0] + '"'):
        assert client.get(path, headers={"If-None-Match": other}).status_code == 200


def test_a_skill_whose_number_of_tools_changed_is_read_anew_and_still_written_from_what_was_read(
    client: TestClient, ids: dict[str, Any], system: System
) -> None:
    path = path_of("skills", ids)
    before, tag = read(client, path)
    (more,) = system.put("water_trees", description="Water trees.")
    system.assign(more, **{ids["skill"]: 0.9})
    for changed in (path, "/api/v1/skills"):
        now = client.get(changed, headers={"If-None-Match": tag})
        assert now.status_code == 200
    after, other = read(client, path)
    assert (after["tool_count"], other == tag) == (before["tool_count"] + 1, False)
    assert put(client, path, after | {"description": "Water the trees."}, tag).status_code == 200


def test_a_list_that_grew_behind_its_page_is_read_anew(client: TestClient, ids: dict[str, Any], system: System) -> None:
    path = "/api/v1/tools?limit=1"
    first = client.get(path)
    system.put("water_trees", description="Water trees.")
    again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["x-total-count"] != first.headers["x-total-count"]
