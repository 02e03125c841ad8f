"""The three routes of search-contract, API Contracts: what they take, what they answer, what they refuse."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from fastapi.testclient import TestClient
from mangum import Mangum
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.collection import Collection
from skillroute.core.errors.model import IndexUnavailable
from skillroute.core.http.app import create_app
from skillroute.core.observability import counts
from skillroute.core.settings import SearchSettings
from skillroute.search.model import SearchRequest
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.wiring import Parts
from skillroute_local.gateway import body_sent, http_event, with_claims

from tests.api.one_app import app_over
from tests.api.tokens import JWT, as_gateway_says
from tests.api.tokens import claims as good_claims
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes, LogRecords, TableEmbedder, at
from tests.integration.rows import connected

QUERY = "schedule a meeting with John"


@pytest.fixture
def filled(system: System, client: TestClient) -> TestClient:
    """A catalogue written over HTTP, and two skills, one of them fitting the query."""
    from skillroute.core.caller import LAPTOP
    from skillroute.skills.model import Assignment, NewSkill

    tool = {
        "server": "google-calendar",
        "name": "create_calendar_event",
        "description": "Schedule a meeting with people",
        "input_schema": {"type": "object", "properties": {"title": {"type": "string"}, "at": {"type": "string"}}},
        "output_schema": {"type": "object"},
        "annotations": {"readOnlyHint": False},
    }
    plain = {"name": "meeting_prompt", "type": "prompt", "description": "Schedule a meeting with a person"}
    far = {"name": "zip_files", "description": "Compress folders"}
    ids = [r["id"] for r in client.put("/api/v1/tools", json=[tool, plain, far]).json()["results"]]
    for skill_id, description in [
        ("calendar_management", "Schedule a meeting with people"),
        ("archives", "Compress folders and unpack them"),
    ]:
        system.parts.skills.create(
            NewSkill(id=skill_id, name=skill_id.replace("_", " ").title(), description=description), LAPTOP
        )
    system.parts.skills.assign(
        {
            ids[0]: [Assignment("calendar_management", 0.9)],
            ids[1]: [Assignment("calendar_management", 0.8)],
            ids[2]: [Assignment("archives", 0.9)],
        },
        LAPTOP,
    )
    return client


def search(client: TestClient, **body: Any) -> dict[str, Any]:
    response = client.post("/api/v1/search", json={"query": QUERY, **body})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


# POST /api/v1/search


def test_search_takes_the_contracts_request_and_answers_in_its_shape(filled: TestClient) -> None:
    response = filled.post(
        "/api/v1/search",
        json={
            "query": QUERY,
            "item_type": "tool",
            "limit": 5,
            "skill_limit": 3,
            "skill_threshold": 0.4,
            "tool_threshold": 0.3,
            "include_schemas": True,
            "strategy": "hierarchical",
        },
    )
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    answer = response.json()
    assert list(answer) == ["query", "tools", "matched_skills", "metadata"]
    assert answer["query"] == QUERY
    (tool,) = answer["tools"]
    score = tool["score"]
    assert 0.3 <= score <= 1.0
    assert tool == {
        "id": "3",  # ids are given in order of server, type and name
        "db_id": 3,
        "tool_id": 3,
        "type": "tool",
        "name": "create_calendar_event",
        "description": "Schedule a meeting with people",
        "server": "google-calendar",
        "server_path": None,  # the registry has no such server
        "server_is_enabled": None,
        "score": score,
        "similarity": score,
        "skill_ids": ["calendar_management"],
        "primary_skill_id": "calendar_management",
        "input_schema": {"type": "object", "properties": {"title": {"type": "string"}, "at": {"type": "string"}}},
        "output_schema": {"type": "object"},
        "annotations": {"readOnlyHint": False},
    }
    (skill,) = answer["matched_skills"]
    assert skill == {
        "id": "calendar_management",
        "name": "Calendar Management",
        "description": "Schedule a meeting with people",
        "score": skill["score"],
        "tool_count": 2,
    }
    metadata = answer["metadata"]
    assert metadata.pop("rerank_time_ms") == 0.0
    assert metadata.pop("search_id") is None
    times = {name: value for name, value in metadata.items() if name.endswith("_time_ms")}
    assert set(times) == {
        "query_embedding_time_ms",
        "skill_search_time_ms",
        "tool_search_time_ms",
        "schema_load_time_ms",
        "index_sync_time_ms",
        "total_time_ms",
    }
    assert all(isinstance(value, float) and value > 0.0 for value in times.values())
    assert {name: value for name, value in metadata.items() if name not in times} == {
        "strategy_used": "hierarchical",
        "search_mode": "semantic",
        "index": "embedded",
        "skill_ids_used": ["calendar_management"],
        "fallback_reason": None,
        "degraded": [],
        "confidence": None,
        "confidence_first_five": None,
        "no_match": False,
        "fit": None,
        "language": None,
        "language_unknown_to_model": False,
        "schemas_omitted": [],
        "descriptions_cut": False,
        "stage1_skill_count": 1,
        "stage2_candidate_count": 1,
        "final_count": 1,
    }


def test_search_needs_nothing_but_a_query(filled: TestClient) -> None:
    answer = search(filled)
    assert answer["metadata"]["strategy_used"] == "hierarchical"
    assert {tool["type"] for tool in answer["tools"]} == {"tool", "prompt"}
    assert [tool["input_schema"] is not None for tool in answer["tools"] if tool["type"] == "tool"] == [True]


def test_search_answers_with_the_trimmed_query(filled: TestClient) -> None:
    assert search(filled, query=f"  {QUERY}\n")["query"] == QUERY


def test_search_takes_null_for_whatever_may_be_left_out(filled: TestClient) -> None:
    fields = set(SearchRequest.model_fields) - {"query"}
    plain, nulls = search(filled), search(filled, **dict.fromkeys(fields))
    assert [tool["id"] for tool in nulls["tools"]] == [tool["id"] for tool in plain["tools"]] != []
    assert nulls["metadata"]["strategy_used"] == "hierarchical"


def test_search_takes_whole_numbers_as_thresholds(filled: TestClient) -> None:
    assert search(filled, tool_threshold=0, skill_threshold=1)["matched_skills"] == []


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
def test_search_takes_every_strategy(filled: TestClient, strategy: str) -> None:
    answer = search(filled, strategy=strategy)
    assert answer["metadata"]["strategy_used"] == strategy
    assert answer["tools"]


def test_search_keeps_the_order_of_a_schemas_properties(filled: TestClient) -> None:
    (tool,) = search(filled, item_type="tool")["tools"]
    assert list(tool["input_schema"]["properties"]) == ["title", "at"]


def test_search_without_schemas_says_null_three_times(filled: TestClient) -> None:
    for tool in search(filled, include_schemas=False)["tools"]:
        assert (tool["input_schema"], tool["output_schema"], tool["annotations"]) == (None, None, None)


def test_search_with_an_item_without_a_server_says_null(filled: TestClient) -> None:
    (prompt,) = search(filled, item_type="prompt")["tools"]
    assert prompt["server"] is None


def test_search_in_lexical_mode_has_no_similarity(filled: TestClient) -> None:
    answer = search(filled, mode="lexical")
    assert answer["metadata"]["search_mode"] == "lexical"
    assert {tool["similarity"] for tool in answer["tools"]} == {None}


def test_search_answers_unicode_as_it_came(filled: TestClient) -> None:
    assert search(filled, query="会議 🗓️ é")["query"] == "会議 🗓️ é"


# GET /api/v1/search/skills


def test_skills_answers_in_the_contracts_shape(filled: TestClient) -> None:
    response = filled.get("/api/v1/search/skills", params={"query": QUERY})
    assert response.status_code == 200
    assert response.headers["X-Search-Mode"] == "semantic"
    (skill,) = response.json()
    assert skill == {
        "id": "calendar_management",
        "name": "Calendar Management",
        "description": "Schedule a meeting with people",
        "score": skill["score"],
        "tool_count": 2,
    }
    assert 0.4 <= skill["score"] <= 1.0


def test_skills_has_the_contracts_defaults(system: System, client: TestClient) -> None:
    def asked() -> list[Any]:
        # Where nothing is found, the words are looked for among what has no vector.
        return [call for call in system.index.searches(SKILL_DOCUMENTS) if call.method == "search"]

    client.get("/api/v1/search/skills", params={"query": QUERY})
    assert [(call.limit, call.threshold) for call in asked()] == [(5, 0.4)]
    client.get("/api/v1/search/skills", params={"query": QUERY, "limit": 7, "threshold": 0.25})
    assert [(call.limit, call.threshold) for call in asked()][1:] == [(7, 0.25)]


def test_skills_takes_limit_threshold_and_mode(filled: TestClient) -> None:
    def ids(**params: Any) -> list[str]:
        return [s["id"] for s in filled.get("/api/v1/search/skills", params={"query": QUERY, **params}).json()]

    assert ids(threshold=0.0) == ["calendar_management", "archives"]
    assert ids(threshold=0.0, limit=1) == ["calendar_management"]
    assert ids(threshold=1.0) == []
    response = filled.get("/api/v1/search/skills", params={"query": "folders", "mode": "lexical"})
    assert ([s["id"] for s in response.json()], response.headers["X-Search-Mode"]) == (["archives"], "lexical")


# GET /api/v1/search/tools


def test_tools_answers_in_the_contracts_shape_without_schemas(filled: TestClient) -> None:
    response = filled.get("/api/v1/search/tools", params={"query": QUERY, "item_type": "tool"})
    assert response.status_code == 200
    assert response.headers["X-Search-Mode"] == "semantic"
    (tool,) = response.json()
    assert tool == {
        "id": "3",
        "db_id": 3,
        "tool_id": 3,
        "type": "tool",
        "name": "create_calendar_event",
        "description": "Schedule a meeting with people",
        "server": "google-calendar",
        "server_path": None,  # the registry has no such server
        "server_is_enabled": None,
        "score": tool["score"],
        "similarity": tool["score"],
        "skill_ids": ["calendar_management"],
        "primary_skill_id": "calendar_management",
        "annotations": {"readOnlyHint": False},
    }


def test_tools_has_the_contracts_defaults(system: System, client: TestClient) -> None:
    client.put("/api/v1/tools", json=[{"name": f"meeting_{n}", "description": QUERY} for n in range(15)])
    assert len(client.get("/api/v1/search/tools", params={"query": QUERY}).json()) == 10
    (stage2,) = system.index.searches(TOOL_DOCUMENTS)
    assert stage2.threshold == 0.3


def test_tools_filters_by_skills(filled: TestClient) -> None:
    def names(skill_ids: str) -> list[str]:
        params = {"query": QUERY, "skill_ids": skill_ids, "threshold": 0}
        return sorted(tool["name"] for tool in filled.get("/api/v1/search/tools", params=params).json())

    calendar = ["create_calendar_event", "meeting_prompt"]
    assert names("calendar_management") == calendar
    assert names("archives") == ["zip_files"]
    assert names("archives,calendar_management") == [*calendar, "zip_files"]
    assert names(" archives , unknown ,,") == ["zip_files"]


@pytest.mark.parametrize("skill_ids", ["unknown", "CALENDAR_MANAGEMENT", "'; --", "a/b", "*", "%", "é", "x" * 10_000])
def test_tools_of_an_unknown_or_oddly_spelt_skill_are_none(filled: TestClient, skill_ids: str) -> None:
    response = filled.get("/api/v1/search/tools", params={"query": QUERY, "skill_ids": skill_ids, "threshold": 0})
    assert (response.status_code, response.json()) == (200, [])


@pytest.mark.parametrize("skill_ids", ["", ",", " , "])
def test_skill_ids_that_name_no_skill_match_nothing(filled: TestClient, skill_ids: str) -> None:
    response = filled.get("/api/v1/search/tools", params={"query": QUERY, "skill_ids": skill_ids, "threshold": 0})
    assert response.json() == []


def test_tools_takes_type_limit_threshold_and_mode(filled: TestClient) -> None:
    def get(**params: Any) -> Any:
        return filled.get("/api/v1/search/tools", params={"query": QUERY, **params})

    assert [tool["name"] for tool in get(item_type="prompt").json()] == ["meeting_prompt"]
    assert len(get(limit=1).json()) == 1
    assert get(threshold=1.0).json() == []
    lexical = get(mode="lexical")
    assert lexical.headers["X-Search-Mode"] == "lexical"
    assert {tool["similarity"] for tool in lexical.json()} == {None}


# Limits (decision 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": ""},
        {"query": "   "},
        {"query": "x" * 1001},
        {"limit": 0},
        {"limit": 51},
        {"skill_limit": 0},
        {"skill_limit": 11},
        {"skill_threshold": -0.1},
        {"skill_threshold": 1.1},
        {"tool_threshold": -0.1},
        {"tool_threshold": 1.1},
        {"item_type": "agent"},
        {"strategy": "magic"},
        {"mode": "magic"},
    ],
    ids=str,
)
def test_search_refuses_with_422_and_names_the_field(shared_client: TestClient, wrong: dict[str, Any]) -> None:
    response = shared_client.post("/api/v1/search", json={"query": QUERY, **wrong})
    assert response.status_code == 422
    (problem,) = response.json()["detail"]
    assert problem["loc"] == ["body", *wrong]
    assert set(problem) == {"type", "loc", "msg"}
    assert problem["msg"]


@pytest.mark.parametrize("route", ["skills", "tools"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"query": ""},
        {"query": "  "},
        {"query": "x" * 1001},
        {"limit": 0},
        {"limit": 51},
        {"threshold": -0.1},
        {"threshold": 1.1},
        {"mode": "magic"},
    ],
    ids=str,
)
def test_the_get_routes_refuse_with_422_and_name_the_parameter(
    shared_client: TestClient, route: str, wrong: dict[str, Any]
) -> None:
    response = shared_client.get(f"/api/v1/search/{route}", params={"query": QUERY, **wrong})
    assert response.status_code == 422
    (problem,) = response.json()["detail"]
    assert problem["loc"] == ["query", *wrong]


@pytest.mark.parametrize("route", ["skills", "tools"])
def test_the_get_routes_need_a_query(shared_client: TestClient, route: str) -> None:
    response = shared_client.get(f"/api/v1/search/{route}")
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["query", "query"]


def test_the_bounds_themselves_are_allowed(client: TestClient) -> None:
    low = {"limit": 1, "skill_limit": 1, "skill_threshold": 0.0, "tool_threshold": 0.0}
    high = {"limit": 50, "skill_limit": 10, "skill_threshold": 1.0, "tool_threshold": 1.0}
    for bounds in (low, high, {"query": "x"}, {"query": "x" * 1000}):
        assert client.post("/api/v1/search", json={"query": QUERY, **bounds}).status_code == 200


# What fits, and what is merely nearest


def test_the_route_of_tools_tells_confidence_and_no_match_in_headers(
    database_url: str, edge_indexes: EdgeIndexes
) -> None:
    embedder = TableEmbedder(name="all-minilm-l6-v2-int8-v1")
    with lent_system(database_url, edge_indexes, embedder=embedder, default_mode="hybrid") as system:
        client = TestClient(app_over(system))

        def headers_of(route: str = "tools", **parameters: str) -> tuple[str | None, str | None]:
            headers = client.get(f"/api/v1/search/{route}", params={"query": QUERY, **parameters}).headers
            return headers.get("X-Confidence"), headers.get("X-No-Match")

        assert headers_of() == (None, "true"), "nothing was found"
        system.tools([(f"far_{n}", at(0.1)) for n in range(20)], description="nothing in common")
        confidence, no_match = headers_of()
        assert (confidence, no_match) == (f"{search(client)['metadata']['confidence']:.4f}", "true")
        assert headers_of("skills") == (None, None)
        assert headers_of(mode="lexical", query="nothing") == (None, None)


# Explanations and near-duplicates


def test_details_are_in_the_answer_where_they_are_asked_for_and_nowhere_else(filled: TestClient) -> None:
    plain = search(filled, mode="hybrid")
    assert "explain" not in plain
    assert plain["tools"]
    assert all(not tool.keys() & {"explain", "duplicates"} for tool in plain["tools"])
    asked = search(filled, mode="hybrid", explain=True)
    assert list(asked) == [*plain, "explain"]
    for tool in asked["tools"]:
        assert tool["explain"]["score"] == tool["score"]
        assert tool["duplicates"] is None
    collapsed = search(filled, mode="hybrid", collapse_duplicates=True)
    assert collapsed["explain"] is None
    assert [(tool["explain"], tool["duplicates"]) for tool in collapsed["tools"]] == [(None, [])] * len(plain["tools"])


@pytest.mark.parametrize("field", ["explain", "collapse_duplicates", "used_with"])
def test_details_are_asked_for_by_a_boolean(shared_client: TestClient, field: str) -> None:
    response = shared_client.post("/api/v1/search", json={"query": QUERY, field: "yes"})
    assert response.status_code == 422
    (problem,) = response.json()["detail"]
    assert problem["loc"] == ["body", field]


# Degradation, as a caller sees it


def test_with_the_database_down_every_search_route_answers_503_and_says_why(system: System, client: TestClient) -> None:
    system.feed.down = system.database.down = True
    before = counts().get("DatabaseUnavailable", 0)
    with LogRecords().attached() as log:
        responses = [
            client.post("/api/v1/search", json={"query": QUERY}),
            client.get("/api/v1/search/skills", params={"query": QUERY}),
            client.get("/api/v1/search/tools", params={"query": QUERY}),
        ]
    for response in responses:
        assert response.status_code == 503
        assert response.json()["detail"] == "PostgreSQL cannot be reached"
        assert response.headers["Retry-After"]
    assert counts()["DatabaseUnavailable"] == before + 3
    assert [record.levelname for record in log.having("dependency unavailable")] == ["WARNING"] * 3


def test_without_the_model_the_get_routes_say_lexical_only(system: System, filled: TestClient) -> None:
    system.embedder.away = True
    for route in ("skills", "tools"):
        response = filled.get(f"/api/v1/search/{route}", params={"query": "a new query"})
        assert (response.status_code, response.headers["X-Search-Mode"]) == (200, "lexical-only")
    answer = search(filled, query="meeting")
    assert answer["metadata"]["search_mode"] == "lexical-only"
    assert answer["metadata"]["degraded"] == ["embedding_unavailable"]
    assert answer["tools"]


@pytest.mark.parametrize(
    ("route", "collection", "degradation"),
    [
        ("skills", SKILL_DOCUMENTS, "index_unavailable"),
        ("tools", TOOL_DOCUMENTS, "tool_search_failed"),
    ],
)
def test_the_get_routes_say_what_failed_and_nothing_when_nothing_did(
    system: System, filled: TestClient, route: str, collection: Collection, degradation: str
) -> None:
    def get(query: str) -> tuple[int, bool, str | None]:
        response = filled.get(f"/api/v1/search/{route}", params={"query": query})
        return response.status_code, bool(response.json()), response.headers.get("X-Degraded")

    assert get(QUERY) == (200, True, None)
    system.index.fail(collection, IndexUnavailable("broken"))
    assert get(QUERY) == (200, False, degradation)
    system.embedder.away = True
    assert get("another meeting") == (200, False, f"embedding_unavailable, {degradation}")
    system.index.faults.clear()
    assert get("another meeting") == (200, True, "embedding_unavailable")
    system.embedder.away = False
    system.clock.advance(30.0)
    assert get("another meeting with people") == (200, True, None)


def test_ready_tells_the_database_from_the_index(system: System, filled: TestClient) -> None:
    def ready() -> tuple[int, dict[str, bool], dict[str, str | None]]:
        response = filled.get("/ready")
        parts = response.json()["dependencies"]
        return response.status_code, {n: p["ok"] for n, p in parts.items()}, {n: p["detail"] for n, p in parts.items()}

    everything = {"database": True, "index": True, "embedding_model": True}
    assert ready() == (200, everything, dict.fromkeys(everything))
    # WHEN the index cannot take what was written
    system.index.faults["upsert", TOOL_DOCUMENTS] = IndexUnavailable("disk full")
    system.tool("late", None)
    assert ready() == (
        503,
        {**everything, "index": False},
        {**dict.fromkeys(everything), "index": IndexUnavailable.public_message},
    )
    system.index.faults.clear()
    assert ready() == (200, everything, dict.fromkeys(everything))
    # WHEN the database is down, nothing can be said for the index either
    system.feed.down = True
    down = "PostgreSQL cannot be reached"
    assert ready() == (
        503,
        {**everything, "database": False, "index": False},
        {**dict.fromkeys(everything), "database": down, "index": down},
    )


def test_ready_tells_how_far_the_index_was_behind_when_it_was_asked(
    system: System, filled: TestClient, database_url: str
) -> None:
    def lag() -> int:
        behind: int = filled.get("/ready").json()["index_lag"]
        return behind

    lag()
    assert lag() == 0
    # WHEN another connection writes
    with connected(database_url) as sql:
        sql("UPDATE mcp.tools SET description = 'new'")
        assert lag() == 3
    # THEN asking has brought it up to date
    assert lag() == 0


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_health_names_the_mode_of_searches_that_name_none(
    database_url: str, edge_indexes: EdgeIndexes, path: str, mode: Literal["semantic", "lexical", "hybrid"]
) -> None:
    with lent_system(database_url, edge_indexes, default_mode=mode) as system:
        client = TestClient(app_over(system))
        for is_away in (False, True):
            system.embedder.away = is_away
            served = search(client, query=f"away: {is_away}")["metadata"]["search_mode"]
            assert client.get(path).json()["search_mode"] == served
            assert served == ("lexical-only" if is_away and mode != "lexical" else mode)


def test_health_tells_how_the_parts_stand(system: System, filled: TestClient) -> None:
    health = filled.get("/health").json()
    assert (health["status"], health["search_mode"], health["index_items"], health["index_skills"]) == (
        "ok",
        "semantic",
        3,
        2,
    )
    assert filled.get("/ready").status_code == 200
    system.embedder.away = True
    search(filled)
    health = filled.get("/health").json()
    assert (health["status"], health["search_mode"]) == ("degraded", "lexical-only")
    assert filled.get("/ready").status_code == 200, "searches are answered"
    system.feed.down = True
    assert filled.get("/health").json()["status"] == "unavailable"
    assert filled.get("/ready").status_code == 503


# Identity, as API Gateway hands it over


VOUCHED = as_gateway_says(good_claims(scope=None, sub=None))


def invoke(app: Any, method: str, path: str, claims: dict[str, str] | None, body: Any = None) -> tuple[int, Any]:
    event = http_event(f"{method} {path}", body, None if claims is None else with_claims(VOUCHED | claims))
    answer = Mangum(app, lifespan="off")(event, None)  # type: ignore[arg-type]
    return answer["statusCode"], json.loads(body_sent(answer)) if answer["body"] else None


@pytest.fixture
def gateway_app(system: System, database_url: str) -> Any:
    settings = SearchSettings(database_url=database_url, **JWT)
    parts = Parts(settings, embedder=system.embedder, replica=system.replica, database=system.database)
    routers, use_cases = parts.served("search", "catalog")
    return create_app(routers, use_cases=use_cases)


def test_the_organisation_and_the_scopes_come_from_the_verified_claims(gateway_app: Any) -> None:
    of_a = {"org_id": "a", "scope": "search catalog"}
    of_b = {"org_id": "b", "scope": "search"}
    body = [{"name": "tool_of_a", "description": QUERY, "org_id": "b"}]
    assert invoke(gateway_app, "PUT", "/api/v1/tools", of_a, body)[1]["created"] == 1

    def found(claims: dict[str, str]) -> list[str]:
        status, answer = invoke(gateway_app, "POST", "/api/v1/search", claims, {"query": QUERY})
        assert status == 200
        return [tool["name"] for tool in answer["tools"]]

    assert found(of_a) == ["tool_of_a"]
    assert found(of_b) == []
    assert invoke(gateway_app, "GET", "/api/v1/tools/1", of_a)[0] == 200
    assert invoke(gateway_app, "GET", "/api/v1/tools/1", of_b)[0] == 404
    status, refused = invoke(gateway_app, "PUT", "/api/v1/tools", of_b, body)
    assert (status, refused["detail"]) == (403, "the token lacks the scope 'catalog'")


def test_an_organisation_gets_403_for_a_global_item_and_404_for_anothers(gateway_app: Any, system: System) -> None:
    shared, of_b = system.tool("shared", None), system.tool("of_b", None, org="b")
    of_a = {"org_id": "a", "scope": "search catalog"}
    assert invoke(gateway_app, "GET", f"/api/v1/tools/{shared}", of_a)[0] == 200
    status, refused = invoke(gateway_app, "DELETE", f"/api/v1/tools/{shared}", of_a)
    assert (status, refused["detail"]) == (403, f"item {shared} is global; organisations change only their own")
    assert invoke(gateway_app, "DELETE", f"/api/v1/tools/{of_b}", of_a)[0] == 404
    assert invoke(gateway_app, "DELETE", f"/api/v1/tools/{of_b}", {**of_a, "org_id": "b"})[0] == 204
    assert invoke(gateway_app, "GET", "/api/v1/tools", of_a)[1][0]["name"] == "shared"


def test_without_a_verified_identity_every_route_answers_401(gateway_app: Any) -> None:
    for method, path in [("POST", "/api/v1/search"), ("GET", "/api/v1/tools"), ("GET", "/api/v1/tools/1")]:
        status, refused = invoke(gateway_app, method, path, None, {"query": QUERY} if method == "POST" else None)
        assert (status, refused["detail"]) == (401, "the request carries no verified identity")


def test_a_header_that_claims_an_identity_is_not_believed(gateway_app: Any) -> None:
    response = TestClient(gateway_app).post(
        "/api/v1/search", json={"query": QUERY}, headers={"Authorization": "Bearer x", "X-Org-Id": "a"}
    )
    assert response.status_code == 401


def test_without_a_reranker_hybrid_rerank_says_in_its_headers_what_served_it(shared_client: TestClient) -> None:
    asked = {"query": QUERY, "mode": "hybrid_rerank"}
    for answer in (
        shared_client.post("/api/v1/search", json=asked),
        shared_client.get("/api/v1/search/tools", params=asked),
        shared_client.get("/api/v1/search/skills", params=asked),
        shared_client.post("/api/v1/search/registry", json=asked),
    ):
        assert (answer.status_code, answer.headers["X-Search-Mode"]) == (200, "hybrid")
        assert answer.headers["X-Degraded"] == "reranker_unavailable"


def test_health_offers_hybrid_rerank_only_where_a_reranker_is_configured(
    client: TestClient, database_url: str, edge_indexes: EdgeIndexes
) -> None:
    without = ["semantic", "lexical", "hybrid"]
    assert client.get("/health").json()["modes"] == without
    with lent_system(database_url, edge_indexes, rerank_provider="bedrock", rerank_model="cohere.rerank") as system:
        health = TestClient(app_over(system)).get("/health").json()
    assert health["modes"] == [*without, "hybrid_rerank"]


def test_health_tells_the_operator_of_the_last_searches(client: TestClient) -> None:
    assert client.get("/health").json()["latency"] == {}
    for _ in range(2):
        found = client.post("/api/v1/search", json={"query": "brew a pot of tea"}).json()
        assert found["metadata"]["no_match"]

    health = client.get("/health").json()

    assert health["latency"]["total"]["searches"] == 2
    assert 0 < health["latency"]["query_embedding"]["p50_ms"] <= health["latency"]["total"]["p95_ms"]
    [nothing] = health["found_nothing"]
    assert (nothing["query"], nothing["times"]) == ("brew a pot of tea", 2)
