"""Rules of access over HTTP: who keeps them, what callers find by them at once, and what they say of callers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mangum import Mangum
from skillroute.core.http.app import create_app
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts
from skillroute_local.gateway import body_sent, http_event, with_claims

from tests.api.tokens import JWT, as_gateway_says
from tests.api.tokens import claims as good_claims
from tests.builders import System, of_org
from tests.doubles import proposing

RULES = "/api/v1/access/rules"
VOUCHED = as_gateway_says(good_claims(scope=None, sub=None))
KEEPER = {"org_id": "acme", "sub": "kim", "scope": "admin"}
ANALYST = {"org_id": "acme", "sub": "ann", "scope": "search skills", "roles": "[analyst reader]", "groups": "[eng]"}
OTHER = {"org_id": "globex", "sub": "gus", "scope": "search", "roles": "analyst"}
READS, DESTROYS = {"readOnlyHint": True}, {"destructiveHint": True}
Ask = Callable[..., tuple[int, Any]]


@pytest.fixture
def ask(system: System, database_url: str) -> Ask:
    """Ask as a caller with claims; one process, so that a rule counts from the next request on."""
    system.create("repositories")
    [create] = system.put("create_issue", server="github", description="Creates an issue.", annotations=DESTROYS)
    [list_] = system.put("list_issues", server="github", description="Lists issues.", annotations=READS)
    system.put("read_file", server="files", description="Reads a file.", annotations=READS)
    system.put("plan", server="files", description="Plans.", type="prompt")
    system.put("own", caller=of_org("acme"), description="Lists what acme owns.")
    for id_ in (create, list_):
        system.assign(id_, repositories=0.9)
    system.put_server("/github", name="GitHub")
    system.put_server("/files", name="Files")
    settings = LocalSettings(database_url=database_url, **JWT)
    parts = Parts(
        settings,
        embedder=system.embedder,
        replica=system.replica,
        database=system.database,
        classifier=system.classifier,
        chat=system.chat,
        notifier=system.notifier,
    )
    routers, use_cases = parts.served("skills", "search", "catalog", "mcp")
    handler = Mangum(create_app(routers, use_cases=use_cases), lifespan="off")

    def ask(claims: dict[str, str], method: str, path: str, body: Any = None) -> tuple[int, Any]:
        answer = handler(http_event(f"{method} {path}", body, with_claims(VOUCHED | claims)), None)  # type: ignore[arg-type]
        return answer["statusCode"], json.loads(body_sent(answer)) if answer["body"] else None

    return ask


def found(ask: Ask, caller: dict[str, str]) -> set[str]:
    """Return what a caller finds by a search, which is what it lists."""
    _, listed = ask(caller, "GET", "/api/v1/tools")
    names = {each["name"] for each in listed}
    _, answer = ask(caller, "POST", "/api/v1/search", {"query": "issue file plan acme", "limit": 50})
    _, prompts = ask(caller, "GET", "/api/v1/search/tools?query=plan&type=prompt")
    assert {each["name"] for each in answer["tools"]} <= names
    assert {each["name"] for each in prompts} == names & {"plan"}
    return names


def rule(ask: Ask, effect: str, caller: dict[str, str] = KEEPER, **about: Any) -> int:
    status, written = ask(caller, "POST", RULES, {"name": "a rule", "effect": effect, **about})
    assert status == 201, written
    id_: int = written["rule"]["id"]
    return id_


def test_only_who_has_scope_admin_keeps_rules(ask: Ask) -> None:
    for method, path, body in [
        ("GET", RULES, None),
        ("POST", RULES, {"name": "n", "effect": "deny"}),
        ("POST", "/api/v1/access/explain", {}),
    ]:
        assert ask(ANALYST, method, path, body)[0] == 403


def test_a_rule_counts_from_the_next_request_on_and_for_no_other_organisation(ask: Ask) -> None:
    everything = {"create_issue", "list_issues", "read_file", "plan", "own"}
    assert found(ask, ANALYST) == everything
    id_ = rule(ask, "deny", roles=["analyst"], hints=["destructive"])
    assert found(ask, ANALYST) == {"list_issues", "read_file", "plan"}  # `own` has no annotations
    assert found(ask, KEEPER) == everything
    assert found(ask, OTHER) == everything - {"own"}
    assert ask(KEEPER, "PUT", f"{RULES}/{id_}", {"name": "b", "effect": "deny", "servers": ["/github"]})[0] == 200
    assert found(ask, ANALYST) == {"read_file", "plan", "own"}
    assert ask(KEEPER, "DELETE", f"{RULES}/{id_}")[0] == 204
    assert found(ask, ANALYST) == everything


def test_what_is_denied_is_nowhere(ask: Ask) -> None:
    _, items = ask(KEEPER, "GET", "/api/v1/tools")
    ids = {each["name"]: each["id"] for each in items}
    _, before = ask(ANALYST, "GET", "/api/v1/skills/repositories")
    rule(ask, "deny", groups=["eng"], tools=["github/create_issue"])
    # by its id, in its skill, in the counts of both, in searches of servers
    assert ask(ANALYST, "GET", f"/api/v1/tools/{ids['create_issue']}")[0] == 404
    assert ask(ANALYST, "GET", f"/api/v1/tools/{ids['create_issue']}/skills")[0] == 404
    assert [tool["tool_name"] for tool in ask(ANALYST, "GET", "/api/v1/skills/repositories/tools")[1]] == [
        "list_issues"
    ]
    _, after = ask(ANALYST, "GET", "/api/v1/skills/repositories")
    assert (before["tool_count"], after["tool_count"]) == (2, 1)
    _, servers = ask(ANALYST, "GET", "/api/v1/servers?path=/github")
    assert [server["tool_count"] for server in servers] == [1]
    _, searched = ask(ANALYST, "POST", "/api/v1/search/registry", {"query": "create issue github"})
    assert "create_issue" not in json.dumps(searched)


def test_a_denied_skill_and_a_denied_server_are_not_there(ask: Ask) -> None:
    rule(ask, "deny", skills=["repositories"])
    assert ask(ANALYST, "GET", "/api/v1/skills/repositories")[0] == 404
    assert ask(ANALYST, "GET", "/api/v1/search/skills?query=repositories")[1] == []
    assert found(ask, ANALYST) == {"read_file", "plan", "own"}
    rule(ask, "deny", servers=["files"])
    assert [server["path"] for server in ask(ANALYST, "GET", "/api/v1/servers")[1]] == ["/github"]
    _, searched = ask(ANALYST, "POST", "/api/v1/search/registry", {"query": "files"})
    assert "/files" not in json.dumps(searched)
    assert found(ask, ANALYST) == {"own"}


def test_another_spelling_of_a_server_is_no_way_around_a_rule(ask: Ask, system: System) -> None:
    [id_] = system.put("merge", server="GITHUB", description="Merges an issue.")
    rule(ask, "deny", servers=["github"])
    assert found(ask, ANALYST) == {"read_file", "plan", "own"}
    assert ask(ANALYST, "GET", f"/api/v1/tools/{id_}")[0] == 404


def test_suggestions_for_denied_tools_are_not_there(ask: Ask, system: System) -> None:
    [id_] = system.put("fork", server="github")
    system.classifier.answers["fork"] = proposing("Forks")
    system.classify(id_)
    _, before = ask(ANALYST, "GET", "/api/v1/skills/suggestions")
    assert "fork" in json.dumps(before)
    rule(ask, "deny", servers=["github"])
    for path in ("", "/groups"):
        status, after = ask(ANALYST, "GET", f"/api/v1/skills/suggestions{path}")
        assert (status, "fork" in json.dumps(after)) == (200, False)
    assert "fork" in json.dumps(ask(KEEPER, "GET", "/api/v1/skills/suggestions")[1])


def test_agents_are_told_of_what_they_may_call_alone(ask: Ask) -> None:
    def told() -> str:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        return json.dumps(ask(ANALYST, "POST", "/mcp", call)[1])

    assert "repositories" in told()
    rule(ask, "allow", roles=["analyst"], servers=["files"])
    rule(ask, "deny", skills=["repositories"])
    assert "repositories" not in told()


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/list", {}),
        ("resources/list", {}),
        ("tools/list", {}),
        ("tools/call", {"name": "list_tool_groups", "arguments": {}}),
    ],
)
def test_no_list_for_agents_shows_what_is_denied(ask: Ask, method: str, params: dict[str, Any]) -> None:
    def told(caller: dict[str, str]) -> str:
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return json.dumps(ask(caller, "POST", "/mcp", asked)[1])

    word = "plan" if method == "prompts/list" else "repositories"
    other_before = told(OTHER)
    assert word in told(ANALYST)
    rule(ask, "deny", servers=["files"])
    rule(ask, "deny", skills=["repositories"])
    assert word not in told(ANALYST)
    assert told(OTHER) == other_before


def test_the_deployments_rules_apply_to_all_and_are_its_own_to_change(ask: Ask) -> None:
    operator = {"sub": "op", "scope": "admin"}
    id_ = rule(ask, "deny", operator, servers=["github"])
    assert "create_issue" not in found(ask, ANALYST) | found(ask, OTHER)
    assert [each["org_id"] for each in ask(KEEPER, "GET", RULES)[1]] == [None]
    assert ask(KEEPER, "GET", f"{RULES}/{id_}")[0] == 200
    assert ask(KEEPER, "DELETE", f"{RULES}/{id_}")[0] == 403
    own = rule(ask, "deny", servers=["files"])
    assert ask({**KEEPER, "org_id": "globex"}, "GET", f"{RULES}/{own}")[0] == 404


def test_without_the_database_nothing_is_found_that_rules_might_deny(ask: Ask, system: System) -> None:
    rule(ask, "deny", servers=["github"])
    system.database.down = True
    assert ask(ANALYST, "POST", "/api/v1/search", {"query": "issue"})[0] == 503


def test_unknown_values_are_taken_with_a_warning(ask: Ask) -> None:
    unknown = {"servers": ["nope"], "tools": ["github/nope", "list_issues"], "skills": ["no"]}
    status, written = ask(KEEPER, "POST", RULES, {"name": "n", "effect": "deny", **unknown})
    assert (status, written["warnings"]) == (201, [
        "'servers': nothing is called 'nope'; the rule applies as soon as something is",
        "'skills': nothing is called 'no'; the rule applies as soon as something is",
        "'tools': nothing is called 'github/nope'; the rule applies as soon as something is",
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"effect": "deny"}, "name"),
        ({"name": "n", "effect": "maybe"}, "effect"),
        ({"name": "n", "effect": "deny", "hints": ["safe"]}, "hints"),
        ({"name": "n", "effect": "deny", "skills": ["No Id"]}, "skills"),
        ({"name": "n", "effect": "deny", "servers": ["a\0"]}, "servers"),
        ({"name": "n", "effect": "deny", "tool": ["x"]}, "tool"),
    ],
)
def test_bad_input_is_named(ask: Ask, body: dict[str, Any], field: str) -> None:
    status, refused = ask(KEEPER, "POST", RULES, body)
    assert status in (400, 422)
    assert field in json.dumps(refused)


def test_explain_has_the_rule_that_decides_and_all_that_match(ask: Ask) -> None:
    allow = rule(ask, "allow", roles=["analyst"])
    deny = rule(ask, "deny", groups=["eng"], tools=["create_issue"])
    asked = {"roles": ["analyst"], "groups": ["eng"], "tool": "github/create_issue"}
    _, answer = ask(KEEPER, "POST", "/api/v1/access/explain", asked)
    assert (answer["allowed"], answer["rule"]["id"]) == (False, deny)
    assert [each["id"] for each in answer["matched"]] == [deny, allow]
    assert answer["sentence"] == (
        f"The caller may not find and call tool github/create_issue. Rule {deny} ('a rule') denies it."
    )
    _, nothing = ask(KEEPER, "POST", "/api/v1/access/explain", {"roles": ["other"], "server": "github"})
    assert (nothing["allowed"], nothing["rule"]) == (False, None)
    _, all_ = ask(KEEPER, "POST", "/api/v1/access/explain", {"roles": ["analyst"], "groups": ["eng"]})
    seen = {each["server"]: (each["seen"], each["items"]) for each in all_["servers"]}
    assert seen == {"": (1, 1), "files": (2, 2), "github": (1, 2)}
    _, exempt = ask(KEEPER, "POST", "/api/v1/access/explain", {**asked, "scopes": ["admin"]})
    assert exempt["allowed"] is True
    assert ask(KEEPER, "POST", "/api/v1/access/explain", {"tool": "none"})[0] == 404
    assert ask(KEEPER, "POST", "/api/v1/access/explain", {"org": "globex"})[0] == 403
