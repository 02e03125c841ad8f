"""Every route, the scope that it asks for, and how to ask it: what the tests of access share."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.testclient import TestClient
from skillroute.core.caller import Caller, Scope
from skillroute.core.rights.model import Rule
from skillroute.mail.model import MailKind

from tests.api.bad_tokens import bearer
from tests.api.tokens import GARDENER
from tests.builders import System, of_org
from tests.doubles import proposing
from tests.worlds.agent_skills import agent_skill

Route = tuple[str, str]
Ids = dict[str, Any]
"""Ids by the names that `filled` takes them by."""

WATER_DIGEST = f"sha256:{hashlib.sha256(b'Water.').hexdigest()}"
"""Of a file of the Agent Skill that `fill` stores."""

SEARCH_ID = "6f2c1b0e-8f1d-4a51-9d59-0d6f4f2b7a10"
"""Of a search that outcomes are of."""

SCOPES: dict[Route, Scope | None] = {
    ("POST", "/api/v1/search"): Scope.SEARCH,
    ("POST", "/api/v1/search/batch"): Scope.SEARCH,
    ("GET", "/api/v1/search/skills"): Scope.SEARCH,
    ("GET", "/api/v1/search/tools"): Scope.SEARCH,
    ("POST", "/api/v1/search/registry"): Scope.SEARCH,
    ("POST", "/api/v1/search/agent-skills"): Scope.SEARCH,
    ("POST", "/api/v1/search/messages"): Scope.SEARCH,
    ("POST", "/api/v1/tools/search_messages"): Scope.SEARCH,
    ("POST", "/api/v1/tools/search_messages_product"): Scope.SEARCH,
    ("PUT", "/api/v1/tools"): Scope.CATALOG,
    ("GET", "/api/v1/tools"): Scope.SEARCH,
    ("GET", "/api/v1/tools/{item_id}"): Scope.SEARCH,
    ("PUT", "/api/v1/tools/{item_id}"): Scope.CATALOG,
    ("PATCH", "/api/v1/tools/{item_id}"): Scope.CATALOG,
    ("DELETE", "/api/v1/tools/{item_id}"): Scope.CATALOG,
    ("POST", "/api/v1/tools/delete"): Scope.CATALOG,
    ("GET", "/api/v1/tools/{item_id}/skills"): Scope.SEARCH,
    ("PUT", "/api/v1/tools/{item_id}/skills"): Scope.SKILLS,
    ("PUT", "/api/v1/servers"): Scope.CATALOG,
    ("GET", "/api/v1/servers"): Scope.SEARCH,
    ("GET", "/api/v1/servers/{server_id}"): Scope.SEARCH,
    ("PUT", "/api/v1/servers/{server_id}"): Scope.CATALOG,
    ("DELETE", "/api/v1/servers/{server_id}"): Scope.CATALOG,
    ("POST", "/api/v1/servers/{server_id}/enable"): Scope.CATALOG,
    ("POST", "/api/v1/servers/{server_id}/disable"): Scope.CATALOG,
    ("GET", "/api/v1/servers/{server_id}/identity"): Scope.CATALOG,
    ("PUT", "/api/v1/servers/{server_id}/identity"): Scope.CATALOG,
    ("DELETE", "/api/v1/servers/{server_id}/identity"): Scope.CATALOG,
    ("POST", "/api/v1/servers/{server_id}/login"): Scope.SEARCH,
    ("GET", "/api/v1/logins"): Scope.SEARCH,
    ("DELETE", "/api/v1/logins/{server_id}"): Scope.SEARCH,
    ("GET", "/v0.1/servers"): Scope.SEARCH,
    ("GET", "/v0.1/servers/{server_name}/versions"): Scope.SEARCH,
    ("GET", "/v0.1/servers/{server_name}/versions/{version}"): Scope.SEARCH,
    ("PUT", "/api/v1/agents"): Scope.CATALOG,
    ("GET", "/api/v1/agents"): Scope.SEARCH,
    ("GET", "/api/v1/agents/{agent_id}"): Scope.SEARCH,
    ("PUT", "/api/v1/agents/{agent_id}"): Scope.CATALOG,
    ("DELETE", "/api/v1/agents/{agent_id}"): Scope.CATALOG,
    ("POST", "/api/v1/agents/{agent_id}/enable"): Scope.CATALOG,
    ("POST", "/api/v1/agents/{agent_id}/disable"): Scope.CATALOG,
    ("PUT", "/api/v1/agent-skills"): Scope.CATALOG,
    ("GET", "/api/v1/agent-skills"): Scope.SEARCH,
    ("GET", "/api/v1/agent-skills/{agent_skill_id}"): Scope.SEARCH,
    ("GET", "/api/v1/agent-skills/{agent_skill_id}/files/{digest}"): Scope.SEARCH,
    ("PATCH", "/api/v1/agent-skills/{agent_skill_id}"): Scope.CATALOG,
    ("DELETE", "/api/v1/agent-skills/{agent_skill_id}"): Scope.CATALOG,
    ("PUT", "/api/v1/mail/projects"): Scope.CATALOG,
    ("GET", "/api/v1/mail/projects"): Scope.SEARCH,
    ("GET", "/api/v1/mail/projects/{project_id}"): Scope.SEARCH,
    ("DELETE", "/api/v1/mail/projects/{project_id}"): Scope.CATALOG,
    ("PUT", "/api/v1/mail/products"): Scope.CATALOG,
    ("GET", "/api/v1/mail/products"): Scope.SEARCH,
    ("GET", "/api/v1/mail/products/{product_id}"): Scope.SEARCH,
    ("DELETE", "/api/v1/mail/products/{product_id}"): Scope.CATALOG,
    ("PUT", "/api/v1/mail/agents"): Scope.CATALOG,
    ("GET", "/api/v1/mail/agents"): Scope.SEARCH,
    ("GET", "/api/v1/mail/agents/{agent_id}"): Scope.SEARCH,
    ("DELETE", "/api/v1/mail/agents/{agent_id}"): Scope.CATALOG,
    ("PUT", "/api/v1/mail/messages"): Scope.CATALOG,
    ("GET", "/api/v1/mail/messages"): Scope.SEARCH,
    ("GET", "/api/v1/mail/messages/{message_id}"): Scope.SEARCH,
    ("DELETE", "/api/v1/mail/messages/{message_id}"): Scope.CATALOG,
    ("POST", "/api/v1/mail/messages/{message_id}/acknowledge"): Scope.CATALOG,
    ("POST", "/api/v1/skills"): Scope.SKILLS,
    ("GET", "/api/v1/skills"): Scope.SEARCH,
    ("PUT", "/api/v1/skills"): Scope.SKILLS,
    ("POST", "/api/v1/skills/classify"): Scope.SKILLS,
    ("GET", "/api/v1/skills/{skill_id}"): Scope.SEARCH,
    ("PUT", "/api/v1/skills/{skill_id}"): Scope.SKILLS,
    ("PATCH", "/api/v1/skills/{skill_id}"): Scope.SKILLS,
    ("DELETE", "/api/v1/skills/{skill_id}"): Scope.SKILLS,
    ("GET", "/api/v1/skills/{skill_id}/tools"): Scope.SEARCH,
    ("POST", "/api/v1/skills/{skill_id}/describe"): Scope.SKILLS,
    ("GET", "/api/v1/skills/suggestions"): Scope.SKILLS,
    ("GET", "/api/v1/skills/suggestions/groups"): Scope.SKILLS,
    ("POST", "/api/v1/skills/suggestions/review"): Scope.SKILLS,
    ("GET", "/api/v1/skills/suggestions/{suggestion_id}"): Scope.SKILLS,
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/approve"): Scope.SKILLS,
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/reject"): Scope.SKILLS,
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/merge"): Scope.SKILLS,
    ("GET", "/api/v1/trust/changed"): Scope.CATALOG,
    ("POST", "/api/v1/trust/approve"): Scope.CATALOG,
    ("POST", "/api/v1/trust/reject"): Scope.CATALOG,
    ("GET", "/api/v1/access/rules"): Scope.ADMIN,
    ("POST", "/api/v1/access/rules"): Scope.ADMIN,
    ("GET", "/api/v1/access/rules/{rule_id}"): Scope.ADMIN,
    ("PUT", "/api/v1/access/rules/{rule_id}"): Scope.ADMIN,
    ("DELETE", "/api/v1/access/rules/{rule_id}"): Scope.ADMIN,
    ("POST", "/api/v1/access/explain"): Scope.ADMIN,
    ("GET", "/api/v1/learning"): Scope.SKILLS,
    ("GET", "/api/v1/learning/states/{state_id}/tools"): Scope.SKILLS,
    ("PUT", "/api/v1/learning/live"): Scope.SKILLS,
    ("GET", "/api/v1/learning/unserved"): Scope.SKILLS,
    ("GET", "/api/v1/learning/judged"): Scope.SKILLS,
    ("GET", "/api/v1/learning/receipts"): Scope.ADMIN,
    ("DELETE", "/api/v1/learning/receipts"): Scope.ADMIN,
    ("DELETE", "/api/v1/learning/tools/{item_id}"): Scope.SKILLS,
    ("POST", "/api/v1/feedback"): Scope.SEARCH,
    ("POST", "/api/v1/feedback/batch"): Scope.SEARCH,
    ("POST", "/mcp"): Scope.SEARCH,
    ("GET", "/api/v1/export"): Scope.ADMIN,
    ("POST", "/api/v1/import"): Scope.ADMIN,
    ("GET", "/api/v1/trace"): Scope.ADMIN,
    ("GET", "/api/v1/verify"): Scope.ADMIN,
    ("GET", "/health"): None,
    ("GET", "/ready"): None,
}
BODIES: dict[Route, Any] = {
    ("POST", "/api/v1/search"): {"query": "water"},
    ("POST", "/api/v1/search/batch"): {"searches": [{"query": "water"}]},
    ("POST", "/api/v1/search/registry"): {"query": "water"},
    ("POST", "/api/v1/search/agent-skills"): {"query": "water"},
    ("POST", "/api/v1/search/messages"): {"text": "water"},
    ("POST", "/api/v1/tools/search_messages"): {"project_key": "garden", "query": "water"},
    ("POST", "/api/v1/tools/search_messages_product"): {"product_key": "garden", "query": "water"},
    ("POST", "/mcp"): {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search_tools", "arguments": {"query": "water"}},
    },
    ("PUT", "/api/v1/tools"): {"items": [{"name": "new", "description": "New."}]},
    ("PUT", "/api/v1/tools/{item_id}"): {"description": "Something else."},
    ("PATCH", "/api/v1/tools/{item_id}"): {"is_active": False},
    ("POST", "/api/v1/tools/delete"): {"ids": [1]},
    ("PUT", "/api/v1/servers/{server_id}"): {"name": "garden", "description": "Something else."},
    ("PUT", "/api/v1/agents/{agent_id}"): {"name": "garden", "description": "Something else."},
    ("PUT", "/api/v1/servers"): {"servers": [{"name": "new", "tools": [{"name": "newer", "description": "New."}]}]},
    ("PUT", "/api/v1/agents"): {"agents": [{"name": "new", "description": "New.", "url": "https://new.test"}]},
    ("PUT", "/api/v1/agent-skills"): {"agent_skills": [agent_skill("new")]},
    ("PATCH", "/api/v1/agent-skills/{agent_skill_id}"): {"is_active": False},
    ("PUT", "/api/v1/mail/projects"): {"projects": [{"key": "new", "name": "New"}]},
    ("PUT", "/api/v1/mail/products"): {"products": [{"key": "new", "name": "New", "projects": []}]},
    ("PUT", "/api/v1/mail/agents"): {"agents": [{"name": "newcomer"}]},
    ("PUT", "/api/v1/mail/messages"): {
        "messages": [{"key": "new", "project": "garden", "from": "gardener", "to": ["newcomer"], "subject": "New"}]
    },
    ("POST", "/api/v1/mail/messages/{message_id}/acknowledge"): {"agent": GARDENER},
    ("PUT", "/api/v1/tools/{item_id}/skills"): {"skills": []},
    ("POST", "/api/v1/skills"): {"id": "new", "name": "New", "description": "Something that is new."},
    ("PUT", "/api/v1/skills"): {
        "skills": [{"id": "newer", "name": "Newer", "description": "Something that is newer."}]
    },
    ("POST", "/api/v1/skills/classify"): {"tool_id": 1},
    ("PUT", "/api/v1/skills/{skill_id}"): {"name": "Other", "description": "Something that is new."},
    ("PATCH", "/api/v1/skills/{skill_id}"): {"name": "Other"},
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/merge"): {"skill_id": "garden"},
    ("POST", "/api/v1/skills/suggestions/review"): {"decisions": [{"action": "reject", "name": "Video"}]},
    ("POST", "/api/v1/trust/approve"): {"ids": [1]},
    ("POST", "/api/v1/trust/reject"): {"ids": [1]},
    ("POST", "/api/v1/access/rules"): {"name": "none", "effect": "deny", "roles": ["intern"]},
    ("PUT", "/api/v1/access/rules/{rule_id}"): {"name": "none", "effect": "deny", "roles": ["trainee"]},
    ("POST", "/api/v1/access/explain"): {"roles": ["intern"], "server": "garden"},
    ("PUT", "/api/v1/servers/{server_id}/identity"): {"kind": "none"},
    ("PUT", "/api/v1/learning/live"): {"state_id": None},
    ("POST", "/api/v1/feedback"): {"search_id": SEARCH_ID, "tool_id": 1, "outcome": "called"},
    ("POST", "/api/v1/feedback/batch"): {"outcomes": [{"search_id": SEARCH_ID, "tool_id": 1, "outcome": "succeeded"}]},
    ("POST", "/api/v1/import"): {"lines": [{"kind": "tool", "name": "new", "description": "New."}]},
}
TABLES = (
    "tools",
    "skill_categories",
    "tool_skill_assignments",
    "skill_suggestions",
    "tool_classifications",
    "registry_entities",
    "registry_words",
    "agent_skills",
    "agent_skill_files",
    "agent_skill_pieces",
    "outbox",
    "mail_documents",
    "mail_projects",
    "mail_products",
    "mail_product_projects",
    "mail_agents",
    "mail_memberships",
    "mail_messages",
    "mail_recipients",
    "receipts",
    "outcomes",
    "learned_states",
    "learned_requests",
    "access_rules",
    "approvals",
    "server_identities",
    "person_tokens",
    "login_attempts",
)


def routes_of(app: FastAPI) -> list[Route]:
    """Return every route of the OpenAPI document; those that delete come last, what hangs on a thing before it."""
    paths = app.openapi()["paths"]
    routes = [(method.upper(), path) for path, methods in paths.items() for method in methods]
    # `~` is behind every other character.
    return sorted(routes, key=lambda route: (route[0] == "DELETE", route[1] + "~" * (route[0] == "DELETE"), route[0]))


def filled(
    path: str,
    *,
    item: int = 1,
    skill: str = "garden",
    suggestion: int = 1,
    server: int = 1,
    agent: int = 2,
    agent_skill: int = 1,
    project: int = 1,
    product: int = 1,
    mail_agent: int = 2,
    message: int = 4,
    state: int = 1,
    rule: int = 1,
    server_name: str = "local.skillroute/garden",
    version: str = "latest",
) -> str:
    """Return a path with ids, and with the query that searches, and deletions of receipts, need."""
    asked = "?query=water" if ("GET", path) in SCOPES and path.startswith("/api/v1/search/") else ""
    if path == "/api/v1/learning/receipts":
        asked = "?caller=gardener"
    ids = {"item_id": item, "skill_id": skill, "suggestion_id": suggestion, "server_id": server, "agent_id": agent}
    ids |= {"agent_skill_id": agent_skill, "digest": WATER_DIGEST}
    ids |= {"project_id": project, "product_id": product, "message_id": message, "state_id": state, "rule_id": rule}
    named = {"server_name": quote(server_name, safe=""), "version": version}
    if path.startswith("/api/v1/mail/"):
        ids["agent_id"] = mail_agent
    return path.format(**ids, **named) + asked


def stored(system: System) -> dict[str, Any]:
    """Return everything that is stored, to be compared."""
    return {
        table: system.rows(f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM mcp.{table} t")
        for table in TABLES
    }


def fill(system: System, org: str | None = None, suffix: str = "") -> Ids:
    """Store one of everything: a tool with a skill, a suggestion, a server with a tool of its own, an agent, mail,
    and what use leaves behind.

    Of mail there are a project, a product of it, two agents, one in it (`GARDENER`), and a message from it to both.
    """
    caller = of_org(org)
    skill = system.create(f"garden{suffix}", caller, description="Water the plants of the garden.").id
    tool, stray = system.put(f"water_plants{suffix}", f"encode_video{suffix}", caller=caller, description="Water.")
    system.assign(tool, caller, **{skill: 0.9})
    system.classifier.answers[f"encode_video{suffix}"] = proposing(f"Video{suffix}")
    system.classify(stray)
    suggestion = system.suggestions(caller=caller)[-1].id
    system.outcome(
        system.receipt(f"water{suffix}", tool, org=org, caller="gardener"), "called", tool, org=org, caller="gardener"
    )
    system.receipt(f"snow{suffix}", stray, org=org, caller="gardener", no_match=True)
    state = system.learned(tool, stray, org=org, is_live=False)
    rule = Rule(0, None, f"none{suffix}", "deny", roles=("nobody",))
    rules = system.parts.rights.manage.create(rule, caller)
    valves = {"name": f"open_valves{suffix}", "description": "Water."}
    servers = system.parts.registry.sync("server", [{"name": f"garden{suffix}", "tools": [valves]}], caller)
    agents = system.parts.registry.sync("agent", [{"name": f"garden{suffix}", "description": "Water."}], caller)
    system.rows(
        "INSERT INTO mcp.person_tokens (server_id, org_id, person, tokens) VALUES (:server, :org, 'ann', '')",
        server=servers.outcomes[0].id,
        org=org,
    )
    return {
        "item": tool,
        "skill": skill,
        "suggestion": suggestion,
        "state": state,
        "rule": rules.rule.id,
        "server": servers.outcomes[0].id,
        "server_name": f"local.skillroute/garden{suffix}",
        "version": "latest",
        "agent": agents.outcomes[0].id,
        "agent_skill": system.put_agent_skills(water_skill(suffix), caller=caller).outcomes[0].id,
        **_fill_mail(system, caller, suffix),
    }


def water_skill(suffix: str = "") -> dict[str, Any]:
    """Return an Agent Skill about water, with a file of `WATER_DIGEST`."""
    return agent_skill(
        f"garden{suffix.replace('_', '-')}",
        "# Water\nWater.",
        description=f"Water{suffix}",
        files={"notes.txt": "Water."},
    )


def _fill_mail(system: System, caller: Caller, suffix: str) -> Ids:
    key = f"garden{suffix}"
    agents: list[dict[str, Any]] = [{"name": name, "description": f"Water{suffix}"} for name in (GARDENER, "planner")]
    agents[0]["projects"] = [key]
    message = {"key": key, "project": key, "from": GARDENER, "to": ["planner", GARDENER], "subject": f"Water{suffix}"}
    written: dict[MailKind, list[dict[str, Any]]] = {
        "project": [{"key": key, "name": "Garden", "description": "Water."}],
        "product": [{"key": key, "name": "Garden", "projects": [key]}],
        "agent": agents,
        "message": [message],
    }
    ids = {kind: system.parts.mail.sync(kind, things, caller).outcomes[0].id for kind, things in written.items()}
    return {"project": ids["project"], "product": ids["product"], "mail_agent": ids["agent"], "message": ids["message"]}


def challenge_of(route: Route, challenge: str, host: str = "http://testserver") -> str:
    """Return a challenge as a route makes it: that of MCP says as well where to learn who issues tokens."""
    if route != ("POST", "/mcp"):
        return challenge
    scheme, _, parameters = challenge.partition(" ")
    named = f'resource_metadata="{host}/.well-known/oauth-protected-resource/mcp"'
    return f"{scheme} {parameters}, {named}" if parameters else f"{scheme} {named}"


def with_token(client: TestClient, route: Route, path: str, token: str) -> Any:
    """Ask a route with a token, and with a body that is right for it."""
    return client.request(route[0], path, headers=bearer(token), json=BODIES.get(route))


def version_in(tag: str) -> str:
    """Return an ETag without the hash of the answer that it came with."""
    return tag.partition(".")[0] + '"'
