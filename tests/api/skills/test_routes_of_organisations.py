"""Decisions 29 and 30 over HTTP: ids, limits and counts of skills tell an organisation nothing of another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.bad_tokens import KEYS, OURS, bearer
from tests.api.one_app import app_over
from tests.api.tokens import JWT, claims
from tests.builders import System, lent_system, of_org

Ask = Callable[..., Any]
EMAIL = {"id": "email", "name": "Email", "description": "Writing and reading letters."}


@pytest.fixture
def system(database_url: str, edge_indexes: Any) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), **JWT, jwt_keys=KEYS) as system:
        yield system


@pytest.fixture
def ask(system: System) -> Ask:
    """Ask as an organisation, or as nobody's: ``ask("acme", "GET", "/skills")``."""
    client = TestClient(app_over(system), raise_server_exceptions=False)

    def asked(org: str | None, method: str, path: str, body: Any = None) -> Any:
        token = bearer(OURS.sign(claims("admin", org)))
        return client.request(method, f"/api/v1{path}", headers=token, json=body)

    return asked


def put_tool(ask: Ask, org: str | None, name: str, *skill_ids: str) -> int:
    item = {"name": name, "description": "Writes and reads letters.", "type": "tool"}
    [result] = ask(org, "PUT", "/tools", {"items": [item]}).json()["results"]
    if skill_ids:
        given = {"skills": [{"skill_id": skill_id} for skill_id in skill_ids]}
        assert ask(org, "PUT", f"/tools/{result['id']}/skills", given).status_code == 200
    return int(result["id"])


def test_the_id_of_another_organisations_skill_is_neither_taken_nor_there(ask: Ask) -> None:
    assert ask("acme", "POST", "/skills", EMAIL).status_code == 201
    assert ask("globex", "GET", "/skills/email").status_code == 404
    created = ask("globex", "POST", "/skills", EMAIL | {"name": "Ours"})
    assert (created.status_code, created.json()["id"], created.json()["org_id"]) == (201, "email", "globex")
    assert {org: ask(org, "GET", "/skills/email").json()["name"] for org in ("acme", "globex")} == {
        "acme": "Email",
        "globex": "Ours",
    }
    again = ask("globex", "POST", "/skills", EMAIL)
    assert (again.status_code, again.json()["detail"]) == (409, "Skill already exists: email")


def test_a_global_skill_is_created_whatever_organisations_have(ask: Ask) -> None:
    ask("acme", "POST", "/skills", EMAIL | {"name": "Ours"})
    assert ask(None, "POST", "/skills", EMAIL).status_code == 201
    names = {org: ask(org, "GET", "/skills/email").json()["name"] for org in ("acme", "globex", None)}
    assert names == {"acme": "Ours", "globex": "Email", None: "Email"}
    for org in ("acme", "globex", None):
        answer = ask(org, "GET", "/skills")
        assert ([each["name"] for each in answer.json()], answer.headers["x-total-count"]) == ([names[org]], "1")
        matched = ask(org, "POST", "/search", {"query": "letters", "mode": "lexical"}).json()["matched_skills"]
        assert [each["name"] for each in matched] == [names[org]]


def test_the_id_of_a_global_skill_is_refused_in_words(ask: Ask) -> None:
    ask(None, "POST", "/skills", EMAIL)
    refused = ask("acme", "POST", "/skills", EMAIL)
    says = "Skill already exists: email is global, and every organisation sees it; choose another id"
    assert (refused.status_code, refused.json()["detail"]) == (409, says)


def test_a_skill_that_one_organisation_has_filled_takes_the_tools_of_another(
    ask: Ask, system: System, most_tools: int
) -> None:
    ask(None, "POST", "/skills", EMAIL)
    put_tool(ask, "acme", "own", "email")
    system.sql(
        "INSERT INTO mcp.tools (org_id, name, type, content_hash) "
        f"SELECT 'acme', 'filler_' || n, 'tool', 'c' FROM generate_series(2, {most_tools}) n;"
        "INSERT INTO mcp.tool_skill_assignments (tool_id, skill_key, confidence, is_primary) "
        "SELECT id, 'email', 0.6, true FROM mcp.tools WHERE name LIKE 'filler_%'"
    )
    given = {"skills": [{"skill_id": "email"}]}
    statuses = {
        org: ask(org, "PUT", f"/tools/{put_tool(ask, org, 'late')}/skills", given).status_code
        for org in ("acme", "globex", None)
    }
    assert statuses == {"acme": 409, "globex": 200, None: 200}


def test_a_skill_has_the_tools_that_the_caller_sees_in_every_answer(ask: Ask) -> None:
    ask(None, "POST", "/skills", EMAIL)
    put_tool(ask, None, "shared", "email")
    for name in ("a1", "a2"):
        put_tool(ask, "acme", name, "email")
    for org, count in (("acme", 3), ("globex", 1), (None, 1)):
        query = {"query": "letters", "mode": "lexical", "limit": 50}
        answer = ask(org, "POST", "/search", query).json()
        searched = ask(org, "GET", "/search/skills?query=letters&mode=lexical").json()
        shown = [
            ask(org, "GET", "/skills/email").json(),
            *ask(org, "GET", "/skills").json(),
            *answer["matched_skills"],
            *searched,
        ]
        assert [each["tool_count"] for each in shown] == [count] * 4
        assert len(answer["tools"]) == int(ask(org, "GET", "/skills/email/tools").headers["x-total-count"]) == count


def test_filters_by_skill_mean_what_the_caller_calls_by_the_id(ask: Ask) -> None:
    for org in ("acme", None):
        ask(org, "POST", "/skills", EMAIL)
        put_tool(ask, org, f"of_{org}", "email")
    put_tool(ask, "globex", "of_globex", "email")
    expected = {"acme": ["of_acme"], "globex": ["of_None", "of_globex"], None: ["of_None"]}
    for org, names in expected.items():
        found = ask(org, "GET", "/search/tools?query=letters&mode=lexical&skill_ids=email,unknown").json()
        assert sorted(each["name"] for each in found) == names
        assert sorted(each["name"] for each in ask(org, "GET", "/tools?skill_id=email").json()) == names
        for key in ("email%2Facme", "email%2Fglobex"):
            assert ask(org, "GET", f"/search/tools?query=letters&mode=lexical&skill_ids={key}").json() == []
            assert ask(org, "GET", f"/tools?skill_id={key}").json() == []
            assert ask(org, "GET", f"/skills/{key}").status_code in {404, 422}


def test_a_suggested_skill_whose_id_another_organisation_has_is_approved(ask: Ask, system: System) -> None:
    ask("globex", "POST", "/skills", EMAIL | {"id": "video_tools"})
    [tool_id] = system.put("encode", caller=of_org("acme"), description="Encodes videos.")
    system.rows(
        "INSERT INTO mcp.skill_suggestions (org_id, suggested_name, suggested_description, source_tool_id) "
        "VALUES ('acme', 'Video tools', 'Everything with videos.', :id) RETURNING id",
        id=tool_id,
    )
    [suggestion] = ask("acme", "GET", "/skills/suggestions").json()
    approved = ask("acme", "POST", f"/skills/suggestions/{suggestion['id']}/approve")
    assert (approved.status_code, approved.json()["skill"]["org_id"]) == (200, "acme")
    assert approved.json()["suggestion"]["resolved_skill_id"] == "video_tools"
    assert [each["skill_id"] for each in ask("acme", "GET", f"/tools/{tool_id}/skills").json()] == ["video_tools"]


def test_what_is_global_is_refused_in_one_way_wherever_it_is_written_back(ask: Ask) -> None:
    ask(None, "POST", "/skills", EMAIL)
    put_tool(ask, None, "shared", "email")
    for kind, thing in (("servers", {"name": "post"}), ("agents", {"name": "postman"})):
        ask(None, "PUT", f"/{kind}", [thing])
    for kind in ("skills", "tools", "servers", "agents"):
        [read] = ask("acme", "GET", f"/{kind}").json()
        [result] = ask("acme", "PUT", f"/{kind}", [read]).json()["results"]
        assert [(error["field"], error["type"]) for error in result["errors"]] == [("org_id", "global_item")], kind
        alone = ask("acme", "PUT", f"/{kind}/{read['id']}", read)
        code = alone.json()["code"]
        kinds = [found["type"] for found in alone.json()["detail"]] if code == "invalid_request" else [code]
        assert kinds == ["global_item"]
    [named] = ask("acme", "PUT", "/skills", [EMAIL]).json()["results"]
    assert named["errors"][0]["type"] == "global_item"
