"""Organisations that speak the Model Context Protocol at one server: neither learns anything of the other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse
from pydantic import TypeAdapter
from skillroute.core.caller import Caller
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.bad_tokens import KEYS, OURS, bearer
from tests.api.mcp_calls import ask, call, error, result
from tests.api.mcp_noise import Noise
from tests.api.one_app import app_over
from tests.api.tokens import GARDENER, JWT, claims
from tests.builders import System, lent_system, of_org
from tests.conftest import fresh_database
from tests.soak import SOAK
from tests.worlds.agent_skills import agent_skill

ACME, GLOBEX = "acme", "globex"
SECRETS = {ACME: "zorblax", GLOBEX: "quimbly"}
"""A word that stands in everything that an organisation has, and in no request."""

REQUESTS = 10_000 if SOAK else 300
_ANSWER: TypeAdapter[Any] = TypeAdapter(JSONRPCResponse | JSONRPCError)


def settle(system: System, org: str) -> list[int]:
    """Store one of everything, with the organisation's secret in each; return the ids of its items."""
    mine, secret = of_org(org), SECRETS[org]
    name = "orchard" if org == ACME else "meadow"
    skill = system.create(name, mine, name=secret, description=f"All about the {secret} of the garden.")
    about: dict[str, Any] = {"description": f"Water the {secret}.", "caller": mine}
    schema = {"properties": {secret: {"type": "string"}}}
    tools = system.put("water", **about, input_schema=schema)
    prompts = system.put("plan", type="prompt", **about, arguments=[{"name": "season", "description": secret}])
    for item in (*tools, *prompts):
        system.assign(item, mine, **{skill.id: 0.9})
    server = {"name": name, "description": secret, "tools": [{"name": secret, "description": secret}]}
    system.parts.registry.sync("server", [server], mine)
    system.parts.registry.sync(
        "agent", [{"name": name, "description": f"Water {secret}.", "url": "https://a.test"}], mine
    )
    bees = agent_skill(
        f"{name}/bees", f"# {secret}\nWater the bees.", description=f"Water {secret}.", files={"a.md": secret}
    )
    shadowing = agent_skill("shared/bees", f"# {secret}", files={f"{secret}.md": "x"})
    system.put_agent_skills(bees, shadowing, caller=mine)
    mail(system, mine, name, secret)
    return [*tools, *prompts]


def mail(system: System, mine: Caller, key: str, secret: str) -> None:
    agents = [{"name": each, "projects": [key]} for each in (GARDENER, "planner")]
    message = {"key": key, "project": key, "from": GARDENER, "to": ["planner"], "subject": f"Water the {secret}"}
    system.parts.mail.sync("project", [{"key": key, "name": secret}], mine)
    system.parts.mail.sync("product", [{"key": key, "name": secret, "projects": [key]}], mine)
    system.parts.mail.sync("agent", agents, mine)
    system.parts.mail.sync("message", [message], mine)


@pytest.fixture(scope="module")
def world(postgres_server, migrated_template, edge_indexes) -> Iterator[tuple[TestClient, list[int], System]]:  # type: ignore[no-untyped-def]
    """Two organisations with everything, and what all share."""
    with (
        fresh_database(postgres_server, migrated_template) as url,
        lent_system(url, edge_indexes, embedder=HashingEmbedder(), **JWT, jwt_keys=KEYS) as system,
    ):
        system.create("shared", description="What every garden needs.")
        system.put_agent_skill("shared/bees", "What every garden needs.")
        ids = [*system.put("shared_tool"), *settle(system, ACME), *settle(system, GLOBEX)]
        yield TestClient(app_over(system), raise_server_exceptions=False), ids, system


def token(org: str) -> dict[str, str]:
    return dict(bearer(OURS.sign(claims("search", org))))


def test_agent_skills_of_others_list_no_search_for_them(world: Any) -> None:
    client, _, system = world
    read = system.parts.agent_skills.read
    shared = system.stored_agent_skill(system.put_agent_skill("shared/bees", "What every garden needs.").id)
    read.switch(shared.id, of_org(None), is_active=False)
    listed = {
        org: any(tool["name"] == "search_skills" for tool in result(client, "tools/list", **token(org))["tools"])
        for org in (ACME, GLOBEX, "initech")
    }
    read.switch(shared.id, of_org(None), is_active=True)
    assert listed == {ACME: True, GLOBEX: True, "initech": False}


def test_mail_of_others_lists_no_tools_of_mail(world: Any) -> None:
    client, _, _ = world
    listed = {}
    for who, said in (
        ("member", claims("search", ACME)),
        ("operator", claims("admin", ACME, agent="director")),
        ("stranger", claims("search", ACME, agent="stranger")),
        ("without agent", claims("search", ACME, agent=None)),
        ("elsewhere", claims("admin", "initech")),
        ("nowhere", claims("admin", None)),
    ):
        tools = result(client, "tools/list", **dict(bearer(OURS.sign(said))))["tools"]
        listed[who] = any(tool["name"] == "search_messages" for tool in tools)
    assert [who for who, is_listed in listed.items() if is_listed] == ["member", "operator"]


@pytest.mark.parametrize(("org", "other"), [(ACME, GLOBEX), (GLOBEX, ACME)])
def test_a_call_of_anothers_tool_is_of_no_tool(world: Any, org: str, other: str) -> None:
    client, _, system = world
    system.put("prune_" + org, server=org, caller=of_org(org))
    own = call(client, f"prune_{org}", **token(org))
    assert own["isError"]
    for name in (f"prune_{other}", f"{other}/prune_{other}", f"mcp__{other}__prune_{other}"):
        answers = [
            ask(client, "tools/call", {"name": each, "arguments": {}}, **token(org)).json()["error"]
            for each in (name, name.replace("prune", "prone"))
        ]
        assert answers[0] == {**answers[1], "message": answers[1]["message"].replace("prone", "prune")}


@pytest.mark.parametrize(("org", "other"), [(ACME, "meadow"), (GLOBEX, "orchard")])
def test_anothers_agent_skill_is_unknown(world: Any, org: str, other: str) -> None:
    client, _, _ = world
    for method, path in (
        ("skills/get", "bees/SKILL.md"),
        ("resources/read", "bees/SKILL.md"),
        ("resources/read", "bees/a.md"),
        ("resources/directory/read", "bees"),
    ):
        answers = [
            ask(client, method, {"uri": f"skill://{place}/{path}"}, **token(org)) for place in (other, "nowhere")
        ]
        assert [error(answer) for answer in answers] == [(400, -32602)] * 2
        said = [answer.json()["error"]["message"] for answer in answers]
        assert said[0] == said[1].replace("nowhere", other)


@pytest.mark.parametrize("org", [ACME, GLOBEX])
def test_noise_is_answered_by_the_protocol_and_reveals_nothing(world: Any, org: str) -> None:
    client, ids, _ = world
    noise, sent = Noise(7 if org == ACME else 8, [*ids, 10**6]), token(org)
    [foreign] = [secret for other, secret in SECRETS.items() if other != org]
    own, statuses = 0, set()
    for _ in range(REQUESTS // 2):
        body, headers = noise.request()
        answer = client.post("/mcp", content=body, headers={**headers, **sent})
        statuses.add(answer.status_code)
        assert answer.status_code < 500, (body, headers, answer.text)
        assert foreign not in answer.text, (body, headers, answer.text)
        own += SECRETS[org] in answer.text
        if answer.status_code != 202:
            found = answer.json()
            for each in found if isinstance(found, list) else [found]:
                _ANSWER.validate_python(each)
    assert {200, 202, 400} <= statuses
    assert own > REQUESTS // 60, "noise that finds nothing could not reveal anything"


def test_each_organisation_finds_its_own_by_every_door(world: Any) -> None:
    client, ids, _ = world
    for org, other in ((ACME, GLOBEX), (GLOBEX, ACME)):
        name, sent = "orchard" if org == ACME else "meadow", token(org)
        answers = {
            "tools/list": result(client, "tools/list", **sent)["tools"][0]["description"],
            "resources/list": result(client, "resources/list", **sent),
            "resources/read": result(client, "resources/read", {"uri": f"tool-group://{name}"}, **sent),
            "prompts/list": result(client, "prompts/list", **sent),
            "skills/list": ask(client, "skills/list", **sent).json(),
            "skills/get": ask(client, "skills/get", {"uri": f"skill://{name}/bees/SKILL.md"}, **sent).json(),
            "a file": result(client, "resources/read", {"uri": f"skill://{name}/bees/a.md"}, **sent),
            "a directory": ask(client, "resources/directory/read", {"uri": "skill://shared/bees"}, **sent).json(),
            "search_tools": call(client, "search_tools", {"query": "water", "detail": "full"}, **sent),
            "get_tool_details": call(client, "get_tool_details", {"ids": ids}, **sent),
            "search_skills": call(client, "search_skills", {"query": "water bees"}, **sent),
            "skills as tools": call(client, "search_tools", {"query": "water bees", "item_type": "skill"}, **sent),
            "search_servers_and_agents": call(client, "search_servers_and_agents", {"query": "water"}, **sent),
            "list_tool_groups": call(client, "list_tool_groups", **sent),
            "search_messages": call(client, "search_messages", {"project_key": name, "query": "water"}, **sent),
            "search_messages_product": call(
                client, "search_messages_product", {"product_key": name, "query": "water"}, **sent
            ),
        }
        for door, answer in answers.items():
            text = json.dumps(answer)
            assert (SECRETS[org] in text) or door == "tools/list", door
            assert SECRETS[other] not in text, door
        assert f"{name} 2" in answers["tools/list"]
        assert answers["get_tool_details"]["structuredContent"]["missing"], "the other's ids are nobody's"


def test_what_one_organisation_writes_changes_no_byte_of_what_the_other_reads(world: Any) -> None:
    client, _, system = world

    def read(org: str) -> list[Any]:
        kinds = ("tools", "resources", "prompts", "skills")
        lists = [ask(client, f"{each}/list", None, **token(org)) for each in kinds]
        called = call(client, "search_tools", {"query": "water", "limit": 50, "detail": "full"}, **token(org))
        return [*(each.json()["result"] for each in lists), called]

    globex, acme = read(GLOBEX), read(ACME)
    skill = system.create("pond", of_org(ACME)).id
    system.assign(system.put("water_lilies", caller=of_org(ACME))[0], of_org(ACME), **{skill: 0.9})
    system.put_agent_skill("pond/water-lilies", caller=of_org(ACME))
    assert read(GLOBEX) == globex
    tools, resources, prompts, skills, found = (after == before for after, before in zip(read(ACME), acme, strict=True))
    assert (tools, resources, prompts, skills, found) == (False, False, True, False, False)


@pytest.mark.parametrize("asked", [{}, {"authorization": "Bearer nonsense"}], ids=["no token", "a bad one"])
def test_who_has_no_token_learns_where_to_get_one(world: Any, asked: dict[str, str]) -> None:
    client, *_ = world
    refused = client.post("/mcp", content=b"not even read", headers=asked)
    assert refused.status_code == 401
    [url] = re.findall(r'resource_metadata="([^"]+)"', refused.headers["www-authenticate"])
    metadata = client.get(url)
    assert metadata.status_code == 200
    assert metadata.json() == {
        "resource": "http://testserver/mcp",
        "authorization_servers": [JWT["jwt_issuer"]],
        "scopes_supported": ["search"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Skillroute",
    }
    assert client.get("/.well-known/oauth-protected-resource").json() == metadata.json()


def test_where_no_tokens_let_anybody_in_there_is_no_such_metadata(client: TestClient) -> None:
    assert client.get("/.well-known/oauth-protected-resource").status_code == 404
