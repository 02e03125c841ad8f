"""Whatever a caller sends wrong is answered with 4xx and a message that helps; never with 5xx."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.builders import item

SEARCH, SKILLS, TOOLS, CATALOGUE = "/api/v1/search", "/api/v1/search/skills", "/api/v1/search/tools", "/api/v1/tools"


@pytest.fixture
def client(shared_client: TestClient) -> TestClient:
    return shared_client


def refused(response: Any, *statuses: int) -> str:
    """Assert that an answer is a refusal with a message, and return the message."""
    assert response.status_code in (statuses or (422,)), response.text[:500]
    assert response.headers["content-type"] == "application/json"
    detail = response.json()["detail"]
    if isinstance(detail, list):
        assert detail
        for problem in detail:
            assert set(problem) == {"type", "loc", "msg"}
            assert problem["loc"][0] in {"body", "query", "path"}
        return "; ".join(problem["msg"] for problem in detail)
    assert isinstance(detail, str)
    assert detail
    assert "Traceback" not in detail
    return detail


def post(client: TestClient, **body: Any) -> Any:
    return client.post(SEARCH, json={"query": "a meeting", **body})


def raw(client: TestClient, body: bytes | str | Iterator[bytes], method: str = "POST", path: str = SEARCH) -> Any:
    return client.request(method, path, content=body, headers={"Content-Type": "application/json"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": ""},
        {"query": " \t\n"},
        {"query": "x" * 1001},
        {"query": None},
        {"query": 5},
        {"query": True},
        {"query": ["a"]},
        {"query": {"a": 1}},
        {"query": "nul\x00"},
        {"limit": 0},
        {"limit": 51},
        {"limit": -1},
        {"limit": "5"},
        {"limit": 5.0},
        {"limit": 5.5},
        {"limit": True},
        {"limit": [5]},
        {"limit": 10**30},
        {"skill_limit": 0},
        {"skill_limit": 11},
        {"skill_limit": "3"},
        {"skill_limit": False},
        {"skill_threshold": -0.1},
        {"skill_threshold": 1.1},
        {"skill_threshold": "0.4"},
        {"skill_threshold": True},
        {"tool_threshold": -0.1},
        {"tool_threshold": 1.1},
        {"tool_threshold": "0.3"},
        {"include_schemas": "true"},
        {"include_schemas": 1},
        {"strategy": "magic"},
        {"strategy": "Hierarchical"},
        {"strategy": 1},
        {"mode": "magic"},
        {"mode": 1},
        {"item_type": "agent"},
        {"item_type": ""},
        {"item_type": ["tool"]},
        {"unknown": 1},
        {"org_id": "b"},
        {"Query": "x"},
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_field_of_a_search_is_422_and_named(client: TestClient, wrong: dict[str, Any]) -> None:
    response = post(client, **wrong)
    assert refused(response)
    assert [problem["loc"] for problem in response.json()["detail"]] == [["body", *wrong]]


@pytest.mark.parametrize("body", [[], [{"query": "x"}], "text", 5, True, None])
def test_a_body_that_is_no_object_is_422(client: TestClient, body: Any) -> None:
    refused(raw(client, json.dumps(body)))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{'query': 'x'}",
        b'{"query": "x",}',
        b'{"query": "x"} trailing',
        b'{"query": x}',
        b"\x00",
        b"\xff\xfe\x00",
        b'{"query": "\xff"}',
        b'{"query": "\xed\xa0\x80"}',
        b'{"query": "\xc3"}',
        b'\xef\xbb\xbf{"query": "x"',
        b'{"query": "\n"}',
        b'{"query": "a meeting", "limit": ' + b"9" * 5000 + b"}",
        b'{"query": "a meeting", "limit": ' + b"9" * 4000 + b"}",
        b'{"query": "a meeting", "tool_threshold": 1e400}',
        b'{"query": "a meeting", "tool_threshold": NaN}',
        b'{"query": "a meeting", "skill_threshold": Infinity}',
        b'{"query": "a meeting", "skill_threshold": -Infinity}',
        b'{"query": "a meeting", "limit": NaN}',
        b'{"query": "lone \\ud800 surrogate"}',
        b'{"query": "\\udfff"}',
        b'{"query": "a meeting", "\\ud800": 1}',
        b'{"query": "a meeting", "strategy": "\\ud800"}',
        b'{"query": "a meeting", "item_type": "\\ud800"}',
        b'{"query": ' + b"[" * 2000 + b"]" * 2000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
    ids=lambda body: repr(body)[:50],
)
@pytest.mark.parametrize(("method", "path"), [("POST", SEARCH), ("PUT", CATALOGUE)])
def test_a_body_that_cannot_be_read_is_422(client: TestClient, method: str, path: str, body: bytes) -> None:
    refused(raw(client, body, method, path))


@pytest.mark.parametrize(("method", "path"), [("POST", SEARCH), ("PUT", CATALOGUE)])
def test_a_body_of_another_content_type_is_refused(client: TestClient, method: str, path: str) -> None:
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "application/xml"):
        response = client.request(method, path, content=b'{"query": "x"}', headers={"Content-Type": content_type})
        refused(response, 415, 422)


@pytest.mark.parametrize(("method", "path"), [("POST", SEARCH), ("PUT", CATALOGUE)])
def test_a_body_of_10_megabytes_is_413(client: TestClient, method: str, path: str) -> None:
    message = refused(raw(client, b'{"query": "' + b"x" * 10_000_000 + b'"}', method, path), 413)
    assert "larger than" in message


@pytest.mark.parametrize(("method", "path"), [("POST", SEARCH), ("PUT", CATALOGUE)])
def test_a_body_of_10_megabytes_whose_length_is_not_announced_is_413(
    client: TestClient, method: str, path: str
) -> None:
    def chunks() -> Iterator[bytes]:
        yield b'{"query": "'
        for _ in range(10):
            yield b"x" * 1_000_000
        yield b'"}'

    refused(raw(client, chunks(), method, path), 413)


@pytest.mark.parametrize(
    ("method", "path", "unit"),
    [
        ("PUT", CATALOGUE, "[0]"),
        ("PUT", "/api/v1/servers", "{}"),
        ("PUT", "/api/v1/mail/messages", '""'),
        ("POST", SEARCH, "0"),
        ("POST", "/api/v1/skills", "[[]]"),
    ],
)
def test_a_body_of_very_many_values_is_422_however_small_they_are(
    client: TestClient, method: str, path: str, unit: str
) -> None:
    """A value of one byte costs as much time as one of a hundred: decision 36."""
    body = f'{{"items": [{",".join([unit] * (1_000_000 // (len(unit) + 1)))}]}}'
    assert "values" in refused(raw(client, body, method, path))


def test_a_body_of_a_single_thing_is_smaller_than_one_of_many(client: TestClient) -> None:
    body = json.dumps({"query": "x" * 1_100_000})
    assert "1048576 bytes" in refused(raw(client, body), 413)
    assert raw(client, json.dumps([item(description="x" * 1_100_000)]), "PUT", CATALOGUE).status_code == 200


def test_an_object_of_thousands_of_fields_is_refused_as_one(client: TestClient) -> None:
    for method, path in (("POST", SEARCH), ("PUT", CATALOGUE)):
        response = raw(client, json.dumps({f"x{number}": 0 for number in range(5_000)}), method, path)
        assert "5000 fields" in refused(response)
        assert len(response.content) < 1_000


def test_of_very_many_wrong_fields_the_first_are_named(client: TestClient) -> None:
    response = post(client, **{f"x{number}": 0 for number in range(400)})
    assert "300 more problems" in refused(response)
    assert len(response.json()["detail"]) == 101


def test_the_name_of_a_wrong_field_is_shortened(client: TestClient) -> None:
    long = "x" * 900_000
    for response in (
        post(client, **{long: 0}),
        raw(client, json.dumps([{"name": "a", "tags": [], long: "\0"}]), "PUT", CATALOGUE),
    ):
        assert response.status_code in {200, 422}
        assert len(response.content) < 5_000


def test_a_message_of_thousands_of_fields_fails_as_one(client: TestClient) -> None:
    """Beside others, which are written."""
    message = {f"x{number}": 0 for number in range(1_000)}
    response = client.put("/api/v1/mail/messages", json={"messages": [message]})
    [result] = response.json()["results"]
    assert (result["status"], result["error"]["field"]) == ("failed", "message")
    assert "1000 fields" in result["error"]["message"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"query": ""},
        {"query": "  "},
        {"query": "x" * 1001},
        {"query": "nul\x00"},
        {"query": "x", "limit": "0"},
        {"query": "x", "limit": "51"},
        {"query": "x", "limit": "abc"},
        {"query": "x", "limit": "5.5"},
        {"query": "x", "limit": "true"},
        {"query": "x", "limit": ""},
        {"query": "x", "limit": "9" * 5000},
        {"query": "x", "threshold": "-0.1"},
        {"query": "x", "threshold": "1.1"},
        {"query": "x", "threshold": "nan"},
        {"query": "x", "threshold": "inf"},
        {"query": "x", "threshold": "-inf"},
        {"query": "x", "threshold": "1e400"},
        {"query": "x", "threshold": "abc"},
        {"query": "x", "mode": "magic"},
        {"query": "x", "mode": ""},
    ],
    ids=lambda value: str(value)[:40],
)
@pytest.mark.parametrize("path", [SKILLS, TOOLS])
def test_a_wrong_parameter_of_a_get_search_is_422(client: TestClient, path: str, params: dict[str, str]) -> None:
    refused(client.get(path, params=params))


@pytest.mark.parametrize(
    "params", [{"item_type": "agent"}, {"skill_ids": "nul\x00"}, {"skill_ids": "x" * 10_001}], ids=lambda v: str(v)[:30]
)
def test_a_wrong_parameter_of_the_tool_search_is_422(client: TestClient, params: dict[str, str]) -> None:
    refused(client.get(TOOLS, params={"query": "x", **params}))


@pytest.mark.parametrize("query", ["%ff", "%ed%a0%80", "%c3", "a%0ab"])
def test_a_query_string_that_is_not_utf_8_is_searched_as_what_can_be_read_of_it(client: TestClient, query: str) -> None:
    for path in (SKILLS, TOOLS):
        assert client.get(f"{path}?query={query}").status_code == 200


@pytest.mark.parametrize(
    "item_id", ["0", "-1", str(2**63), "9" * 30, "9" * 5000, "abc", "%00", "1.5", "1e3", "null", "%ff", "%20", "'"]
)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_id_that_cannot_be_one_is_422(client: TestClient, method: str, item_id: str) -> None:
    refused(client.request(method, f"{CATALOGUE}/{item_id}"), 422)


def test_the_largest_id_is_merely_unknown(client: TestClient) -> None:
    refused(client.get(f"{CATALOGUE}/{2**63 - 1}"), 404)


@pytest.mark.parametrize(
    "params",
    [
        {"limit": "0"},
        {"limit": "1001"},
        {"limit": "abc"},
        {"limit": "9" * 5000},
        {"offset": "-1"},
        {"offset": str(2**31)},
        {"offset": str(2**63)},
        {"offset": "nan"},
        {"type": "agent"},
        {"server": "x" * 257},
        {"server": "nul\x00"},
        {"name": "nul\x00"},
        {"tag": "nul\x00"},
        {"skill_id": "nul\x00"},
        {"tag": "x" * 65},
        {"skill_id": "x" * 65},
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_parameter_of_the_list_is_422(client: TestClient, params: dict[str, str]) -> None:
    refused(client.get(CATALOGUE, params=params))


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"item": []},
        {"items": None},
        {"items": {}},
        {"items": "x"},
        {"items": [], "more": 1},
        {"tools": [], "nextCursor": 5, "more": 1},
        {"tools": {}},
        5,
        "x",
        None,
        True,
    ],
    ids=str,
)
def test_a_body_without_items_is_422(client: TestClient, body: Any) -> None:
    refused(raw(client, json.dumps(body), "PUT", CATALOGUE))


@pytest.mark.parametrize(
    "field",
    [
        '"name": "lone \\ud800"',
        '"name": "nul \\u0000"',
        '"name": "a", "description": "\\udc00"',
        '"name": "a", "description": "\\u0000"',
        '"name": "a", "\\ud800": 1',
        '"name": "a", "\\u0000": 1',
        '"name": "a", "metadata": {"deep": {"\\ud800": 1}}',
        '"name": "a", "input_schema": {"properties": {"p": {"description": "\\ud800"}}}',
        '"name": "a", "server": "\\ud800"',
        '"name": "a", "tags": ["\\ud800"]',
        '"name": "a", "type": "\\ud800"',
        '"name": "a", "metadata": {"n": NaN}',
        '"name": "a", "metadata": {"n": [Infinity]}',
        '"name": "a", "metadata": {"n": 1e999}',
        '"name": "a", "input_schema": ' + '{"a":' * 70 + "1" + "}" * 70,
    ],
    ids=lambda field: field[:45],
)
def test_an_item_that_cannot_be_stored_fails_alone_with_its_place(client: TestClient, field: str) -> None:
    good = json.dumps(item("good", tags=[field[:3]]))
    response = raw(client, f"[{{{field}}}, {good}]", "PUT", CATALOGUE)
    assert response.status_code == 200, response.text
    bad, written = response.json()["results"]
    assert (bad["status"], written["status"] in {"created", "updated", "unchanged"}) == ("failed", True)
    assert bad["error"]["field"]
    assert bad["error"]["message"]


def test_a_schema_2000_levels_deep_is_refused(client: TestClient) -> None:
    deep = '{"a":' * 2000 + "1" + "}" * 2000
    response = raw(client, f'[{{"name": "deep", "input_schema": {deep}}}]', "PUT", CATALOGUE)
    # How deep the parser goes is the Python version's affair; what it reads the catalogue refuses.
    if response.status_code == 200:
        assert response.json()["results"][0]["error"]["message"] == "is nested deeper than 64 levels"
    else:
        assert "nested too deeply" in refused(response)


def test_an_integer_of_4000_digits_is_stored_and_comes_back(client: TestClient) -> None:
    big = "9" * 4000
    response = raw(client, f'[{{"name": "big", "metadata": {{"n": {big}}}}}]', "PUT", CATALOGUE)
    assert response.status_code == 200, response.text
    written = response.json()["results"][0]
    assert written["status"] in {"created", "unchanged"}
    stored = client.get(f"{CATALOGUE}/{written['id']}")
    assert stored.status_code == 200
    assert big in stored.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", SEARCH, 405),
        ("PUT", SEARCH, 405),
        ("POST", SKILLS, 405),
        ("DELETE", CATALOGUE, 405),
        ("POST", f"{CATALOGUE}/1", 405),
        ("GET", "/api/v1/unknown", 404),
        ("GET", "/api/v2/search", 404),
        ("GET", "/api/v1/tools/1/2", 404),
        ("GET", "/%00", 404),
    ],
)
def test_an_unknown_route_or_method_is_refused_with_a_sentence(
    client: TestClient, method: str, path: str, status: int
) -> None:
    refused(client.request(method, path), status)
