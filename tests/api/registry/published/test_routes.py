"""`/v0.1/servers`, judged by the schemas of the API of MCP registries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.registry.published import read
from skillroute.registry.published.entries import Entry, Registered, entries_of

from tests.api.bad_tokens import KEYS, OURS, bearer
from tests.api.one_app import app_over
from tests.api.registry.test_routes import put
from tests.api.tokens import JWT, claims
from tests.builders import lent_system
from tests.doubles import EdgeIndexes

SCHEMAS = json.loads((Path(__file__).parents[3] / "data/mcp_registry_2025_12_01.json").read_text())
OFFICIAL = "io.modelcontextprotocol.registry/official"
LISTED = {
    "name": "io.test/context7",
    "title": "Context7",
    "description": "Docs of libraries.",
    "version": "1.0.2",
    "repository": {"url": "https://github.com/test/context7", "source": "github"},
    "packages": [{"registryType": "npm", "identifier": "@test/context7", "transport": {"type": "stdio"}}],
    "remotes": [{"type": "streamable-http", "url": "https://context7.test/mcp"}],
}


def judged(answer: Any, kind: str) -> None:
    schema = {"$ref": f"#/$defs/{kind}", "$defs": SCHEMAS["$defs"]}
    jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker()).validate(answer)


def page(client: TestClient, **params: Any) -> dict[str, Any]:
    response = client.get("/v0.1/servers", params=params)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    judged(answer, "ServerList")
    return answer


def names(answer: dict[str, Any]) -> list[str]:
    return [each["server"]["name"] for each in answer["servers"]]


def test_a_server_json_comes_back_as_registries_list_it(client: TestClient) -> None:
    put(client, "servers", LISTED)
    [shown] = page(client)["servers"]
    assert {key: shown["server"][key] for key in LISTED} == LISTED
    assert (shown["_meta"][OFFICIAL]["status"], shown["_meta"][OFFICIAL]["isLatest"]) == ("active", True)


def test_pages_hold_each_server_once_whatever_they_are_called(client: TestClient) -> None:
    put(client, "servers", *({"path": f"/team/{n}", "name": f"Server {n}"} for n in range(7)), LISTED)
    seen, cursor = [], None
    while True:
        answer = page(client, limit=3, **({"cursor": cursor} if cursor else {}))
        seen += names(answer)
        cursor = answer["metadata"].get("nextCursor")
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 8


def test_search_takes_a_part_of_the_name_or_title(client: TestClient) -> None:
    put(client, "servers", LISTED, {"path": "/garden", "name": "Garden"})
    assert names(page(client, search="CONTEXT")) == ["io.test/context7"]
    assert names(page(client, search="gard")) == ["local.skillroute/garden"]
    assert names(page(client, search="nothing")) == []


def test_versions_of_one_name_are_listed_the_newest_first(client: TestClient) -> None:
    put(client, "servers", {**LISTED, "path": "/old", "version": "1.0.0"}, {**LISTED, "path": "/new"})
    path = "/v0.1/servers/io.test%2Fcontext7/versions"
    answer = client.get(path).json()
    judged(answer, "ServerList")
    assert [each["server"]["version"] for each in answer["servers"]] == ["1.0.2", "1.0.0"]
    for version, expected in (("latest", "1.0.2"), ("1.0.0", "1.0.0")):
        one = client.get(f"{path}/{version}").json()
        judged(one, "ServerResponse")
        assert one["server"]["version"] == expected
    assert [each["server"]["version"] for each in page(client, version="latest")["servers"]] == ["1.0.2"]
    assert client.get(f"{path}/3.0.0").status_code == 404
    assert client.get("/v0.1/servers/io.test/unknown/versions").status_code == 404


def test_versions_that_have_no_room_in_an_answer_are_left_out_the_oldest_first(client: TestClient) -> None:
    arguments = [{"type": "positional", "value": "x" * 1000}] * 200
    package = {**LISTED["packages"][0], "packageArguments": arguments}
    for start in (0, 10, 20):
        servers = [
            {**LISTED, "path": f"/v{n}", "version": f"1.{n}.0", "packages": [package]} for n in range(start, start + 10)
        ]
        put(client, "servers", *servers)
    answer = client.get("/v0.1/servers/io.test%2Fcontext7/versions")
    versions = [each["server"]["version"] for each in answer.json()["servers"]]
    assert len(answer.content) < 5_000_000
    assert 10 < len(versions) < 30
    assert versions == [f"1.{n}.0" for n in range(29, 29 - len(versions), -1)]


def test_a_disabled_server_is_shown_as_deleted_and_only_when_asked_for(client: TestClient) -> None:
    [written] = put(client, "servers", LISTED)["results"]
    before = "2020-01-01T00:00:00Z"
    client.post(f"/api/v1/servers/{written['id']}/disable")
    assert page(client)["servers"] == []
    assert client.get("/v0.1/servers/io.test%2Fcontext7/versions/latest").status_code == 404
    for params in ({"include_deleted": "true"}, {"updated_since": before}):
        [shown] = page(client, **params)["servers"]
        assert shown["_meta"][OFFICIAL]["status"] == "deleted"


def test_every_write_is_seen_by_the_next_request(client: TestClient) -> None:
    assert page(client)["servers"] == []
    [written] = put(client, "servers", LISTED)["results"]
    assert names(page(client)) == [LISTED["name"]]
    put(client, "servers", {**LISTED, "version": "2.0.0", "path": client.get("/api/v1/servers").json()[0]["path"]})
    assert [each["server"]["version"] for each in page(client)["servers"]] == ["2.0.0"]
    client.post(f"/api/v1/servers/{written['id']}/disable")
    assert page(client)["servers"] == []
    client.post(f"/api/v1/servers/{written['id']}/enable")
    assert names(page(client)) == [LISTED["name"]]
    client.delete(f"/api/v1/servers/{written['id']}")
    assert page(client)["servers"] == []


def test_documents_are_read_anew_only_when_a_server_was_written(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[list[Entry]] = []

    def counted(servers: Iterable[Registered]) -> list[Entry]:
        made.append(entries_of(servers))
        return made[-1]

    monkeypatch.setattr(read, "entries_of", counted)
    put(client, "servers", LISTED)
    for _ in range(3):
        assert names(page(client)) == [LISTED["name"]]
    assert len(made) == 1


def test_a_version_that_is_deleted_while_it_is_read_is_not_found(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    [written] = put(client, "servers", LISTED)["results"]

    def late(servers: Iterable[Registered]) -> list[Entry]:
        assert client.delete(f"/api/v1/servers/{written['id']}").status_code == 204
        return entries_of(servers)

    monkeypatch.setattr(read, "entries_of", late)
    assert client.get("/v0.1/servers/io.test%2Fcontext7/versions/latest").status_code == 404


def test_an_answer_that_is_kept_is_asked_for_by_its_tag(client: TestClient) -> None:
    put(client, "servers", LISTED)
    first = client.get("/v0.1/servers")
    assert "max-age=" in first.headers["cache-control"]
    again = client.get("/v0.1/servers", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_parameters_of_later_revisions_are_passed_over(client: TestClient) -> None:
    assert page(client, sort="newest")["servers"] == []


@pytest.mark.parametrize("params", [{"limit": 0}, {"limit": 101}, {"cursor": "x"}, {"updated_since": "monday"}])
def test_wrong_parameters_are_refused_by_name(client: TestClient, params: dict[str, Any]) -> None:
    response = client.get("/v0.1/servers", params=params)
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["query", next(iter(params))]


@pytest.fixture(params=[False, True], ids=["closed", "open"])
def guarded(request: pytest.FixtureRequest, database_url: str, edge_indexes: EdgeIndexes) -> Iterator[TestClient]:
    """Behind tokens, with a global server and one of acme's; open to visitors or not."""
    settings = {**JWT, "jwt_keys": KEYS, "public_registry": request.param}
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), **settings) as system:
        client = TestClient(app_over(system), raise_server_exceptions=False)
        for org, path in ((None, "/everyone"), ("acme", "/secret-project")):
            body = {"servers": [{"path": path, "name": path.strip("/")}]}
            answer = client.put("/api/v1/servers", json=body, headers=dict(bearer(OURS.sign(claims("catalog", org)))))
            assert answer.status_code == 200, answer.text
        yield client


GLOBAL, ALL = ["local.skillroute/everyone"], ["local.skillroute/everyone", "local.skillroute/secret-project"]


def test_an_organisation_sees_its_own_and_what_is_global(guarded: TestClient) -> None:
    for org, expected in (("acme", ALL), ("globex", GLOBAL)):
        response = guarded.get("/v0.1/servers", headers=dict(bearer(OURS.sign(claims(org=org)))))
        assert names(response.json()) == expected
        assert response.headers["cache-control"].startswith("private")
    foreign = "/v0.1/servers/local.skillroute%2Fsecret-project/versions"
    assert guarded.get(foreign, headers=dict(bearer(OURS.sign(claims(org="globex"))))).status_code == 404


def test_a_caller_without_an_organisation_shares_no_cache_and_a_wrong_token_is_no_visitor(guarded: TestClient) -> None:
    known = guarded.get("/v0.1/servers", headers=dict(bearer(OURS.sign(claims()))))
    assert names(known.json()) == GLOBAL
    assert known.headers["cache-control"].startswith("private")
    expired = guarded.get("/v0.1/servers", headers=dict(bearer(OURS.sign({**claims(), "exp": 1}))))
    assert (expired.status_code, expired.json()["code"]) == (401, "invalid_token")


def test_visitors_see_what_is_global_where_the_registry_is_open_and_nothing_else(
    guarded: TestClient, request: pytest.FixtureRequest
) -> None:
    is_open = request.node.callspec.params["guarded"]
    response = guarded.get("/v0.1/servers")
    if is_open:
        assert names(response.json()) == GLOBAL
        assert response.headers["cache-control"].startswith("public")
        assert "Authorization" in response.headers["vary"]
    else:
        assert response.status_code == 401
    assert guarded.get("/v0.1/servers/local.skillroute%2Fsecret-project/versions").status_code == (
        404 if is_open else 401
    )
    assert guarded.get("/api/v1/servers").status_code == 401
    assert guarded.post("/api/v1/search", json={"query": "x"}).status_code == 401


def test_pages_of_any_site_may_read_it_where_it_is_open(guarded: TestClient, request: pytest.FixtureRequest) -> None:
    is_open = request.node.callspec.params["guarded"]
    page = {"Origin": "https://editor.test"}
    asked = {**page, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    allowed = "*" if is_open else None
    for path in ("/v0.1/servers", "/v0.1/servers/io.test%2Funknown/versions/latest"):
        assert guarded.get(path, headers=page).headers.get("access-control-allow-origin") == allowed
    preflight = guarded.options("/v0.1/servers", headers=asked)
    assert (preflight.status_code == 204) is is_open
    assert guarded.get("/api/v1/servers", headers=page).headers.get("access-control-allow-origin") is None
