"""`/api/v1/agent-skills` and the search for Agent Skills over HTTP."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.one_app import app_over
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes
from tests.worlds.agent_skills import agent_skill

PATH = "/api/v1/agent-skills"


@pytest.fixture
def system(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder()) as system:
        yield system


@pytest.fixture
def client(system: System) -> TestClient:
    return TestClient(app_over(system))


def put(client: TestClient, *skills: Any, **params: Any) -> Any:
    response = client.put(PATH, json={"agent_skills": list(skills)}, params=params)
    assert response.status_code == 200, response.text
    return response.json()


def test_a_skill_is_written_read_and_deleted(client: TestClient) -> None:
    # GIVEN
    skill = agent_skill(license="MIT", files={"notes.txt": "A"})
    logo = b"\x89PNG\x00\xff"
    skill["files"].append({"path": "logo.png", "base64": base64.b64encode(logo).decode()})
    # WHEN
    answer = put(client, skill)
    # THEN
    [result] = answer["results"]
    assert (answer["created"], answer["degraded"], result["path"]) == (1, [], skill["path"])
    read = client.get(f"{PATH}/{result['id']}")
    stored = read.json()
    assert (stored["frontmatter"], stored["is_embedded"]) == (skill["frontmatter"], True)
    assert [(file["path"], file["mime_type"]) for file in stored["files"]] == [
        ("SKILL.md", "text/markdown"),
        ("logo.png", "image/png"),
        ("notes.txt", "text/plain"),
    ]
    assert client.get(PATH).json() == [stored]
    changed = client.patch(
        f"{PATH}/{result['id']}", json={"is_active": False}, headers={"If-Match": read.headers["etag"]}
    )
    assert changed.json()["is_active"] is False
    stale = client.delete(f"{PATH}/{result['id']}", headers={"If-Match": read.headers["etag"]})
    assert stale.status_code == 412
    assert client.delete(f"{PATH}/{result['id']}").status_code == 204
    gone = client.get(f"{PATH}/{result['id']}")
    assert (gone.status_code, gone.json()["code"]) == (404, "agent_skill_not_found")


def test_a_file_is_served_as_bytes_that_no_browser_shows(client: TestClient) -> None:
    # GIVEN
    page = b"<script>alert(1)</script>"
    skill = agent_skill("a")
    skill["files"].append({"path": "a.html", "base64": base64.b64encode(page).decode()})
    [result] = put(client, skill)["results"]
    url = f"{PATH}/{result['id']}/files/sha256:{hashlib.sha256(page).hexdigest()}"
    # WHEN
    file = client.get(url)
    # THEN
    assert (file.status_code, file.content) == (200, page)
    headers = file.headers
    assert (headers["content-type"], headers["x-content-type-options"]) == ("application/octet-stream", "nosniff")
    assert headers["content-disposition"] == "attachment"
    assert client.get(url, headers={"If-None-Match": headers["etag"]}).status_code == 304
    unknown = client.get(f"{PATH}/{result['id']}/files/sha256:{'0' * 64}")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "agent_skill_file_not_found")
    assert client.get(f"{PATH}/{result['id']}/files/a.html").status_code == 422


def test_lists_go_on_by_offset_and_by_cursor(client: TestClient) -> None:
    put(client, *(agent_skill(path) for path in ("b", "x/a", "a")))
    assert [skill["path"] for skill in client.get(PATH).json()] == ["a", "b", "x/a"]
    first = client.get(PATH, params={"limit": 2, "sort": "-path"})
    assert ([skill["path"] for skill in first.json()], first.headers["x-total-count"]) == (["x/a", "b"], "3")
    rest = client.get(PATH, params={"limit": 2, "sort": "-path", "cursor": first.headers["x-next-cursor"]})
    assert [skill["path"] for skill in rest.json()] == ["a"]
    for sort in ("id", "-id", "updated_at", "-updated_at"):
        assert len(client.get(PATH, params={"sort": sort}).json()) == 3
    assert [skill["path"] for skill in client.get(PATH, params={"name": "a"}).json()] == ["a", "x/a"]
    assert client.get(PATH, params={"is_active": "false"}).json() == []


def test_a_page_is_no_larger_than_answers_may_be_however_long_paths_are(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 100_000
    monkeypatch.setattr("skillroute.agent_skills.repository.PAGE_BYTES", most)
    for name in ("a", "b"):
        put(client, agent_skill(name, files={f"{number:03}{'語' * 250}": "" for number in range(60)}))
    page = client.get(PATH)
    assert [skill["path"] for skill in page.json()] == ["a"]
    assert len(page.content) < most


def test_a_search_answers_with_the_piece_that_fits(client: TestClient) -> None:
    # GIVEN
    put(client, agent_skill(), agent_skill("bees", "# Bees\nHives."))
    # WHEN
    answer = client.post("/api/v1/search/agent-skills", json={"query": "whole cents"})
    # THEN
    assert answer.headers["x-search-mode"] == "hybrid"
    first = answer.json()["agent_skills"][0]
    assert (first["path"], first["matched"]["part"], first["matched"]["heading"]) == (
        "acme/billing/refunds",
        "body",
        "Refunds",
    )
    for wrong in ({"query": " "}, {"query": "x", "limit": 51}, {"query": "x", "parts": ["body"]}):
        assert client.post("/api/v1/search/agent-skills", json=wrong).status_code == 422


def test_health_and_the_check_count_pieces(client: TestClient) -> None:
    put(client, agent_skill())
    assert client.get("/health").json()["index_agent_skills"] == 2  # the description, and the body
    report = client.get("/api/v1/verify").json()
    assert (report["ok"], report["agent_skills"]) == (True, 2)


def test_what_is_exported_is_restored_byte_for_byte_and_switched_as_it_was(client: TestClient, system: System) -> None:
    # GIVEN
    skill = agent_skill(files={"a.bin": "\x00\x01"})
    [result] = put(client, skill)["results"]
    client.patch(f"{PATH}/{result['id']}", json={"is_active": False})
    line = client.get("/api/v1/export?kind=agent_skill").text.splitlines()[0]
    before = client.get(PATH).json()[0]
    client.delete(f"{PATH}/{result['id']}")
    # WHEN
    body = f'{{"lines": [{line}]}}'
    restored = client.post("/api/v1/import", content=body, headers={"Content-Type": "application/json"}).json()
    again = client.post("/api/v1/import", content=body, headers={"Content-Type": "application/json"}).json()
    # THEN
    assert ([restored["results"][0]["status"], again["results"][0]["status"]]) == ["created", "unchanged"]
    after = client.get(PATH).json()[0]
    for field in ("frontmatter", "files", "is_active", "content_hash", "path"):
        assert after[field] == before[field]
    assert system.find_agent_skills("refunds").agent_skills == []
