"""The requests of the scenario, by name, each to one of the routes: what is asked, and who asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_PAGE = "limit=20&offset=0"
_SKILL = "/api/v1/skills/calendar_management"
_MEETING = "query=schedule%20a%20meeting%20with%20John%20tomorrow&limit=3&threshold=0.3"
_FREE = (
    "query=find%20a%20time%20next%20week%20when%20everyone%20is%20free&skill_ids=calendar_management%2Ccommunication"
)
_SKILL_MD = "sha256:149e68baec6a3b12d4db7c70c3344809cabaa76d4d7ce4a0b2bddde8001d33f1"
"""The digest of the file in agent_skills_put."""

SIGNED = {
    "agent_skills_delete": "DELETE /api/v1/agent-skills/1",
    "trust_approve": "POST /api/v1/trust/approve",
    "trust_changed": "GET /api/v1/trust/changed?limit=20",
    "trust_reject": "POST /api/v1/trust/reject",
    "access_explain": "POST /api/v1/access/explain",
    "access_rules_create": "POST /api/v1/access/rules",
    "access_rules_delete": "DELETE /api/v1/access/rules/1",
    "access_rules_get": "GET /api/v1/access/rules/1",
    "access_rules_list": "GET /api/v1/access/rules",
    "access_rules_put": "PUT /api/v1/access/rules/1",
    "agent_skills_file": f"GET /api/v1/agent-skills/1/files/{_SKILL_MD}",
    "agent_skills_get": "GET /api/v1/agent-skills/1",
    "agent_skills_list": "GET /api/v1/agent-skills?name=refunds&limit=20&offset=0",
    "agent_skills_patch": "PATCH /api/v1/agent-skills/1",
    "agent_skills_put": "PUT /api/v1/agent-skills",
    "agents_delete": "DELETE /api/v1/agents/2",
    "agents_disable": "POST /api/v1/agents/2/disable",
    "agents_enable": "POST /api/v1/agents/2/enable",
    "agents_get": "GET /api/v1/agents/2",
    "agents_list": "GET /api/v1/agents?tag=dependencies&is_enabled=true&limit=20&offset=0",
    "agents_put": "PUT /api/v1/agents",
    "agents_put_one": "PUT /api/v1/agents/2",
    "catalog_delete": "DELETE /api/v1/tools/1",
    "catalog_delete_many": "POST /api/v1/tools/delete",
    "catalog_get": "GET /api/v1/tools/1",
    "catalog_list": "GET /api/v1/tools?server=calendar&type=tool&limit=20&offset=0",
    "catalog_patch": "PATCH /api/v1/tools/1",
    "catalog_put": "PUT /api/v1/tools",
    "catalog_put_one": "PUT /api/v1/tools/1",
    "export": "GET /api/v1/export?kind=product&limit=20",
    "feedback": "POST /api/v1/feedback",
    "feedback_many": "POST /api/v1/feedback/batch",
    "import": "POST /api/v1/import",
    "learning_forget": "DELETE /api/v1/learning/tools/1",
    "learning_judged": "GET /api/v1/learning/judged?days=7&limit=20",
    "learning_live": "PUT /api/v1/learning/live",
    "learning_receipts": "GET /api/v1/learning/receipts?limit=20",
    "learning_receipts_delete": "DELETE /api/v1/learning/receipts?caller=agent-gateway",
    "learning_states_tools": "GET /api/v1/learning/states/1/tools?limit=20",
    "learning_status": "GET /api/v1/learning",
    "learning_unserved": "GET /api/v1/learning/unserved?days=7&limit=20",
    "mail_agents_delete": "DELETE /api/v1/mail/agents/3",
    "mail_agents_get": "GET /api/v1/mail/agents/3",
    "mail_agents_list": "GET /api/v1/mail/agents?project_id=2&limit=20&offset=0",
    "mail_agents_put": "PUT /api/v1/mail/agents",
    "mail_messages_acknowledge": "POST /api/v1/mail/messages/6/acknowledge",
    "mail_messages_delete": "DELETE /api/v1/mail/messages/6",
    "mail_messages_get": "GET /api/v1/mail/messages/6",
    "mail_messages_list": f"GET /api/v1/mail/messages?project_id=2&thread_id=OPS-77&recipient=goldenreed&{_PAGE}",
    "mail_messages_put": "PUT /api/v1/mail/messages",
    "mail_messages_put_partly_bad": "PUT /api/v1/mail/messages",
    "mail_products_delete": "DELETE /api/v1/mail/products/1",
    "mail_products_get": "GET /api/v1/mail/products/1",
    "mail_products_list": "GET /api/v1/mail/products?key=atlas",
    "mail_products_put": "PUT /api/v1/mail/products",
    "mail_projects_delete": "DELETE /api/v1/mail/projects/1",
    "mail_projects_get": "GET /api/v1/mail/projects/1",
    "mail_projects_list": "GET /api/v1/mail/projects?limit=20&offset=0",
    "mail_projects_put": "PUT /api/v1/mail/projects",
    "mcp_call": "POST /mcp",
    "mcp_card": "GET /.well-known/mcp/server-card.json",
    "mcp_card_beside": "GET /mcp/server-card",
    "mcp_metadata": "GET /.well-known/oauth-protected-resource",
    "mcp_metadata_of_path": "GET /.well-known/oauth-protected-resource/mcp",
    "search": "POST /api/v1/search",
    "search_agent_skills": "POST /api/v1/search/agent-skills",
    "search_batch": "POST /api/v1/search/batch",
    "search_messages": "POST /api/v1/search/messages",
    "search_messages_explain": "POST /api/v1/search/messages",
    "search_messages_filtered": "POST /api/v1/search/messages",
    "search_messages_product_tool": "POST /api/v1/tools/search_messages_product",
    "search_messages_tool": "POST /api/v1/tools/search_messages",
    "search_registry": "POST /api/v1/search/registry",
    "search_registry_disabled": "POST /api/v1/search/registry",
    "search_skills": f"GET /api/v1/search/skills?{_MEETING}",
    "search_tools": f"GET /api/v1/search/tools?{_FREE}&item_type=tool&limit=10&threshold=0.3",
    "servers_delete": "DELETE /api/v1/servers/1",
    "servers_disable": "POST /api/v1/servers/1/disable",
    "servers_enable": "POST /api/v1/servers/1/enable",
    "servers_get": "GET /api/v1/servers/1",
    "servers_list": "GET /api/v1/servers?tag=documentation&is_enabled=all&limit=20&offset=0",
    "servers_published": "GET /v0.1/servers?search=context7&version=latest&limit=30",
    "servers_published_version": "GET /v0.1/servers/io.github.upstash%2Fcontext7/versions/latest",
    "servers_published_versions": "GET /v0.1/servers/io.github.upstash%2Fcontext7/versions",
    "logins_delete": "DELETE /api/v1/logins/1",
    "logins_list": "GET /api/v1/logins?limit=20&offset=0",
    "servers_identity_delete": "DELETE /api/v1/servers/1/identity",
    "servers_identity_get": "GET /api/v1/servers/1/identity",
    "servers_identity_put": "PUT /api/v1/servers/1/identity",
    "servers_login": "POST /api/v1/servers/1/login",
    "servers_put": "PUT /api/v1/servers",
    "servers_put_fewer_tools": "PUT /api/v1/servers",
    "servers_put_one": "PUT /api/v1/servers/1",
    "servers_tools": "GET /api/v1/tools?server=context7&type=tool",
    "skills_classify": "POST /api/v1/skills/classify",
    "skills_create": "POST /api/v1/skills",
    "skills_delete": "DELETE /api/v1/skills/calendar_management",
    "skills_describe": "POST /api/v1/skills/calendar_management/describe",
    "skills_get": "GET /api/v1/skills/calendar_management",
    "skills_list": "GET /api/v1/skills?is_active=all&limit=50",
    "skills_patch": "PATCH /api/v1/skills/calendar_management",
    "skills_put": "PUT /api/v1/skills/calendar_management",
    "skills_put_many": "PUT /api/v1/skills?dry_run=true",
    "skills_tools": "GET /api/v1/skills/calendar_management/tools",
    "suggestions_approve": "POST /api/v1/skills/suggestions/1/approve",
    "suggestions_get": "GET /api/v1/skills/suggestions/1",
    "suggestions_groups": "GET /api/v1/skills/suggestions/groups?status=pending&limit=20",
    "suggestions_list": "GET /api/v1/skills/suggestions?status=pending",
    "suggestions_merge": "POST /api/v1/skills/suggestions/1/merge",
    "suggestions_reject": "POST /api/v1/skills/suggestions/1/reject",
    "suggestions_review": "POST /api/v1/skills/suggestions/review",
    "tool_skills_get": "GET /api/v1/tools/1/skills",
    "tool_skills_put": "PUT /api/v1/tools/1/skills",
    "trace": "GET /api/v1/trace?kind=change&limit=20",
    "verify": "GET /api/v1/verify",
}
"""Requests that are signed; the body is the one of the name, where there is one."""


def _token(
    scope: str, sub: str = "agent-gateway", org_id: str | None = "acme", agent: str | None = None
) -> dict[str, str]:
    """Return the claims that differ from token to token."""
    return {name: each for name, each in (("agent", agent), ("org_id", org_id)) if each} | {"scope": scope, "sub": sub}


_SEARCH = _token("search")
_SEARCH_ELSEWHERE = _token("search", org_id="globex")
_OF_BLUE_LAKE = _token("search", agent="BlueLake")
_OF_AMBER_HILL = _token("search", agent="AmberHill")
_REGISTERS = _token("catalog", "tool-registry")
_REGISTERS_NOTHING = _token("search", "tool-registry")
_DELIVERS = _token("catalog admin", "mail-gateway")
_MESSAGES = f"GET /api/v1/mail/messages?{_PAGE}"
_SERVERS = f"GET /api/v1/servers?{_PAGE}"
_ASK_TOOL = "POST /api/v1/tools/search_messages"

OF_OTHERS: dict[str, tuple[str, dict[str, str] | None]] = {
    "access_rules_list_jwt_missing_scope": ("access_rules_list", _token("search catalog skills", "operator")),
    "agents_put_jwt": ("agents_put", _REGISTERS),
    "catalog_list_jwt": ("catalog_list", _SEARCH),
    "catalog_list_jwt_other_org": ("catalog_list", _SEARCH_ELSEWHERE),
    "catalog_put_anonymous": ("catalog_put", None),
    "catalog_put_jwt": ("catalog_put", _REGISTERS),
    "catalog_put_jwt_missing_scope": ("catalog_put", _REGISTERS_NOTHING),
    "export_jwt": ("export", _token("admin", "operator", org_id="globex")),
    "export_jwt_missing_scope": ("export", _token("search catalog skills", "operator")),
    "feedback_jwt": ("feedback", _SEARCH),
    "feedback_jwt_missing_scope": ("feedback", _REGISTERS),
    "import_jwt_missing_scope": ("import", _token("search catalog skills", "operator")),
    "learning_live_jwt_missing_scope": ("learning_live", _token("search catalog", "operator")),
    "learning_receipts_jwt_missing_scope": ("learning_receipts", _token("search catalog skills", "operator")),
    "learning_unserved_jwt": ("learning_unserved", _token("skills", "curator")),
    "learning_unserved_jwt_missing_scope": ("learning_unserved", _SEARCH),
    "mail_agents_put_jwt": ("mail_agents_put", _DELIVERS),
    "mail_messages_list_jwt": (_MESSAGES, _OF_BLUE_LAKE),
    "mail_messages_list_jwt_no_agent": (_MESSAGES, _SEARCH),
    "mail_messages_put_jwt": ("mail_messages_put", _DELIVERS),
    "mail_messages_put_jwt_missing_scope": ("mail_messages_put", _SEARCH),
    "mail_projects_put_jwt": ("mail_projects_put", _DELIVERS),
    "mcp_call_anonymous": ("mcp_call", None),
    "mcp_call_jwt": ("mcp_call", _SEARCH),
    "mcp_call_jwt_missing_scope": ("mcp_call", _REGISTERS),
    "mcp_card_anonymous": ("mcp_card", None),
    "mcp_metadata_anonymous": ("mcp_metadata", None),
    "search_anonymous": ("search", None),
    "search_jwt": ("search", _token("search profile")),
    "search_jwt_missing_scope": ("search", _token("profile")),
    "search_jwt_no_org": ("search", _token("search", org_id=None)),
    "search_jwt_other_org": ("search", _SEARCH_ELSEWHERE),
    "search_messages_jwt": ("search_messages", _OF_BLUE_LAKE),
    "search_messages_jwt_missing_scope": ("search_messages", _token("catalog", agent="BlueLake")),
    "search_messages_jwt_no_agent": ("search_messages", _SEARCH),
    "search_messages_jwt_other_agent": ("search_messages", _OF_AMBER_HILL),
    "search_messages_jwt_other_org": ("search_messages", _token("search", org_id="globex", agent="BlueLake")),
    "search_messages_tool_jwt": (_ASK_TOOL, _OF_BLUE_LAKE),
    "search_messages_tool_jwt_other_agent": (_ASK_TOOL, _OF_AMBER_HILL),
    "search_registry_jwt": ("search_registry", _token("search profile")),
    "search_registry_jwt_missing_scope": ("search_registry", _token("profile")),
    "search_registry_jwt_other_org": ("search_registry", _SEARCH_ELSEWHERE),
    "servers_list_jwt": (_SERVERS, _SEARCH),
    "servers_list_jwt_other_org": (_SERVERS, _SEARCH_ELSEWHERE),
    "servers_published_anonymous": ("servers_published", None),
    "servers_published_jwt": ("servers_published", _SEARCH),
    "servers_published_jwt_other_org": ("servers_published", _SEARCH_ELSEWHERE),
    "servers_put_jwt": ("servers_put", _REGISTERS),
    "servers_put_jwt_missing_scope": ("servers_put", _REGISTERS_NOTHING),
    "skills_create_anonymous": ("skills_create", None),
    "skills_create_jwt": ("skills_create", _token("skills search", "curator")),
    "skills_create_jwt_missing_scope": ("skills_create", _token("search", "curator")),
    "skills_list_jwt": ("skills_list", _SEARCH),
    "trace_jwt_missing_scope": ("trace", _token("search catalog skills", "operator")),
    "verify_jwt": ("verify", _token("admin", "operator", org_id=None)),
    "verify_jwt_missing_scope": ("verify", _token("search catalog skills", "operator")),
}
"""Requests with a token, by the claims that its authorizer passed on, and without any; each repeats a request."""

_BODIES: dict[str, Any] = json.loads(Path(__file__).with_name("bodies.json").read_text(encoding="utf-8"))


def body_of(name: str) -> Any:
    """Return what a request of `SIGNED`, or one of its own in `OF_OTHERS`, carries; None where it carries nothing."""
    if name == "servers_put_fewer_tools":
        [server] = _BODIES["servers_put"]["servers"]
        return {"servers": [{**server, "version": "1.0.32", "tools": server["tools"][:2]}]}
    if name.endswith("_put_one"):
        # What is there already; a server's tools stay.
        [(_, (first, *_))] = _BODIES[name.removesuffix("_one")].items()
        return {field: value for field, value in first.items() if field != "tools"}
    if name == "search_registry_disabled":
        return {**_BODIES["search_registry"], "include_disabled": True, "explain": True}
    if name == "skills_put":
        return {field: value for field, value in _BODIES["skills_create"].items() if field != "id"}
    return _BODIES.get(name)
