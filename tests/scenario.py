"""Every event of tests/events.py in an order that makes sense, from an empty database on, and what must come of each.

Run through the handlers in tests/component, and through warm containers in tests/sam: the one is cheap, the other
has the layers, the containers and Lambda's runtime around it. Both embed with the real model.
"""

from __future__ import annotations

import json
from typing import Any

from skillroute import __version__

from tests.events import message_id
from tests.scenario_mail import MAIL, MAIL_GONE, MAIL_WITH_TOKENS
from tests.scenario_step import Check, Step

__all__ = ["OF_NO_ORGANISATION", "POISON", "SIGNED", "WITH_TOKENS", "Step"]

POISON = message_id(3)
"""The message of sqs_classify_mixed that fails for ever."""


def _names(items: list[dict[str, Any]]) -> set[str]:
    return {item["name"] for item in items}


def _tools(answer: dict[str, Any]) -> set[str]:
    return _names(answer["tools"])


def _finds_the_event(answer: dict[str, Any]) -> bool:
    """The right tool comes first, and nothing stood in for what was asked."""
    metadata = answer["metadata"]
    seen = (answer["tools"][0]["name"], metadata["search_mode"], metadata["degraded"])
    return seen == ("create_event", "hybrid", [])


def _finds_the_event_twice(answer: dict[str, Any]) -> bool:
    """Two searches of a batch were answered, the second in MCP's format, and the third was refused."""
    whole, mcp, refused = answer["results"]
    tool = mcp["answer"]["tools"][0]
    found = (whole["answer"]["tools"][0]["name"], tool["name"], tool["inputSchema"]["type"])
    return found == ("create_event", "create_event", "object") and refused["error"]["status"] == 422


def _written(status: str) -> Check:
    """Return a check that exactly one entity was written, with this outcome and its vector."""
    return lambda answer: (answer[status], answer["failed"], answer["degraded"]) == (1, 0, [])


def _finds_server_tools_and_agent(answer: dict[str, Any]) -> bool:
    """Both searches answered: the server and the agent are there, and the server's tools with their schemas."""
    [server], tools = answer["servers"], answer["tools"]
    found = (answer["search_mode"], server["path"], [each["path"] for each in answer["agents"]])
    of_the_server = {(each["server_path"], each["inputSchema"]["type"]) for each in tools}
    return found == ("hybrid", "/context7", ["/upgrade-planner"]) and of_the_server == {("/context7", "object")}


def _publishes(*names: str) -> Check:
    """Return a check that these servers are listed, as an MCP registry lists them."""
    return lambda answer: [each["server"]["name"] for each in answer["servers"]] == list(names)


def _finds_with_tools(*names: str) -> Check:
    """Return a check that the registry finds everything, and exactly these tools."""
    return lambda answer: (
        _finds_server_tools_and_agent(answer) and {each["tool_name"] for each in answer["tools"]} == set(names)
    )


def _finds_nothing(answer: dict[str, Any]) -> bool:
    return (answer["servers"], answer["tools"], answer["agents"]) == ([], [], [])


def _finds_them_disabled(answer: dict[str, Any]) -> bool:
    enabled = {each["is_enabled"] for each in (*answer["servers"], *answer["agents"])}
    return _finds_server_tools_and_agent(answer) and enabled == {False} and len(answer["explain"]) >= 2


def _finds_the_piece(answer: dict[str, Any]) -> bool:
    """The skill was found by its body, by both engines."""
    [skill] = answer["agent_skills"]
    return (skill["path"], skill["matched"]["part"], answer["search_mode"]) == (
        "acme/billing/refunds",
        "body",
        "hybrid",
    )


def _paths(*paths: str) -> Check:
    return lambda entities: [each["path"] for each in entities] == list(paths)


def _failed(*message_ids: str) -> Check:
    return lambda answer: answer == {"batchItemFailures": [{"itemIdentifier": each} for each in message_ids]}


def _tells_the_agent_of_the_event(answer: dict[str, Any]) -> bool:
    """The right tool comes first, with its signature."""
    [content] = answer["result"]["content"]
    first = json.loads(content["text"])["tools"][0]
    return "isError" not in answer["result"] and first["signature"].startswith("create_event(")


def _names_the_issuer(metadata: dict[str, Any]) -> bool:
    [issuer] = metadata["authorization_servers"]
    return bool(issuer) and metadata["resource"].endswith("/mcp")


def _is_401(answer: dict[str, Any]) -> bool:
    return set(answer) == {"detail", "code", "request_id"}


CALENDAR = {"create_event", "find_free_time"}
KEPT = ("resolve-library-id", "get-library-docs")
LIBRARY = (*KEPT, "list-library-versions")
"""The tools of the server of servers_put; servers_put_fewer_tools keeps two."""

REGISTRY = (
    Step("catalog", "servers_put", 200, _written("created")),
    Step("catalog", "agents_put", 200, _written("created")),
    Step("catalog", "servers_put", 200, _written("unchanged")),
    Step("search", "search_registry", 200, _finds_with_tools(*LIBRARY)),
    Step("catalog", "servers_get", 200, lambda server: (server["path"], server["tool_count"]) == ("/context7", 3)),
    Step("catalog", "servers_identity_put", 200, lambda identity: identity["kind"] == "none"),
    Step("catalog", "servers_identity_get", 200, lambda identity: identity["kind"] == "none"),
    # Who signs is a role, which many share: it logs in nowhere.
    Step("catalog", "servers_login", 403),
    Step("catalog", "logins_list", 403),
    Step("catalog", "logins_delete", 403),
    Step("catalog", "servers_identity_delete", 204),
    Step("catalog", "servers_put_one", 200, lambda server: (server["path"], server["tool_count"]) == ("/context7", 3)),
    Step("catalog", "agents_get", 200, lambda agent: agent["path"] == "/upgrade-planner"),
    Step("catalog", "agents_put_one", 200, lambda agent: agent["path"] == "/upgrade-planner"),
    Step("catalog", "servers_list", 200, _paths("/context7")),
    Step("catalog", "servers_published", 200, _publishes("io.github.upstash/context7")),
    Step("catalog", "servers_published_versions", 200, _publishes("io.github.upstash/context7")),
    Step("catalog", "servers_published_version", 200, lambda answer: answer["server"]["version"] == "1.0.31"),
    Step("catalog", "agents_list", 200, _paths("/upgrade-planner")),
    Step("catalog", "servers_tools", 200, lambda items: _names(items) == set(LIBRARY)),
    Step("catalog", "servers_disable", 200, lambda server: server["is_enabled"] is False),
    Step("catalog", "agents_disable", 200, lambda agent: agent["is_enabled"] is False),
    Step("search", "search_registry", 200, _finds_nothing),
    Step("search", "search_registry_disabled", 200, _finds_them_disabled),
    Step("catalog", "servers_list", 200, _paths("/context7")),  # it asks for those that are disabled too
    Step("catalog", "agents_list", 200, _paths()),
    Step("catalog", "servers_published", 200, _publishes()),
    Step("catalog", "servers_enable", 200, lambda server: server["is_enabled"] is True),
    Step("catalog", "agents_enable", 200, lambda agent: agent["is_enabled"] is True),
    Step("catalog", "servers_put_fewer_tools", 200, _written("updated")),
    Step("catalog", "servers_tools", 200, lambda items: _names(items) == set(KEPT)),
    Step("search", "search_registry", 200, _finds_with_tools(*KEPT)),
)
"""A server with its tools, and an agent: written, found, disabled, enabled and changed."""

AGENT_SKILLS = (
    Step("catalog", "agent_skills_put", 200, _written("created")),
    Step("catalog", "agent_skills_put", 200, _written("unchanged")),
    Step("catalog", "agent_skills_get", 200, lambda skill: skill["frontmatter"]["license"] == "Apache-2.0"),
    Step("catalog", "agent_skills_list", 200, _paths("acme/billing/refunds")),
    Step("catalog", "agent_skills_patch", 200, lambda skill: skill["is_active"]),
    Step("search", "search_agent_skills", 200, _finds_the_piece),
)
"""An Agent Skill: written, read and found."""

SIGNED = (
    Step("catalog", "catalog_put", 200, lambda answer: (answer["created"], answer["failed"]) == (2, 0)),
    Step("catalog", "catalog_list", 200, lambda items: _names(items) == CALENDAR),
    Step("catalog", "catalog_get", 200, lambda item: item["name"] == "create_event"),
    Step("catalog", "catalog_put_one", 200, lambda item: item["name"] == "create_event"),
    Step("catalog", "catalog_patch", 200, lambda item: item["is_active"]),
    Step("catalog", "catalog_delete_many", 200, lambda answer: (answer["deleted"], answer["failed"]) == (0, 1)),
    Step("skills", "skills_create", 201, lambda skill: skill["id"] == "calendar_management"),
    Step("skills", "skills_create", 409),
    Step("skills", "skills_list", 200, lambda skills: [each["id"] for each in skills] == ["calendar_management"]),
    Step("skills", "skills_put", 200),
    Step("skills", "skills_put_many", 200, lambda answer: (answer["created"], answer["failed"]) == (1, 0)),
    Step("skills", "skills_patch", 200, lambda skill: skill["keywords"][-1] == "appointment"),
    Step("skills", "skills_classify", 200, lambda answer: answer["tool_name"] == "create_event"),
    Step("skills", "tool_skills_put", 200, lambda skills: [each["source"] for each in skills] == ["human_override"]),
    Step("skills", "tool_skills_get", 200, lambda skills: [each["source"] for each in skills] == ["human_override"]),
    Step("skills", "skills_tools", 200, lambda tools: "create_event" in {each["tool_name"] for each in tools}),
    Step("skills", "skills_get", 200, lambda skill: skill["tool_count"] >= 1),
    Step("skills", "skills_describe", 409),  # without a language model
    Step("skills", "suggestions_get", 404),
    Step("skills", "suggestions_approve", 404),
    Step("skills", "suggestions_reject", 404),
    Step("skills", "suggestions_merge", 404),
    Step("classify", "sqs_classify", None, _failed()),
    Step("classify", "sqs_classify_mixed", None, _failed(POISON)),
    Step("classify", "sqs_classify_poisoned", None, lambda answer: len(answer["batchItemFailures"]) == 3),
    # One of the two skills does not exist, which is no failure: there is nothing to be done.
    Step("aggregate", "sqs_aggregate", None, _failed()),
    Step("aggregate", "sqs_aggregate_mixed", None, _failed(message_id(1))),
    # Nothing waits for it, as nobody reported an outcome: there is nothing to be done.
    Step("learn", "sqs_learn", None, _failed()),
    Step("learn", "sqs_learn_poisoned", None, _failed(message_id(0))),
    Step("relay", "schedule_relay", None, lambda report: report["failed"] == []),
    # Its server is not registered with an address.
    Step("call", "call_see_again", None, lambda answer: set(answer) == {"servers"}),
    Step("call", "call_tool", None, lambda answer: answer["result"]["isError"] is True),
    Step("skills", "suggestions_list", 200, lambda found: isinstance(found, list)),
    Step("skills", "suggestions_groups", 200, lambda found: isinstance(found, list)),
    Step("skills", "suggestions_review", 200, lambda answer: len(answer["results"]) == 1),
    Step("search", "search", 200, _finds_the_event),
    Step("search", "search_batch", 200, _finds_the_event_twice),
    Step("catalog", "feedback", 200, lambda answer: answer["kept"]),
    Step("catalog", "feedback_many", 200, lambda answer: (answer["accepted"], answer["failed"]) == (2, 1)),
    Step("mcp", "mcp_call", 200, _tells_the_agent_of_the_event),
    Step("mcp", "mcp_metadata", 404),
    Step("mcp", "mcp_metadata_of_path", 404),
    Step("mcp", "mcp_card", 200, lambda card: card["version"] == __version__),
    Step("mcp", "mcp_card_beside", 200, lambda card: card["version"] == __version__),
    Step("search", "search_skills", 200, lambda skills: [each["id"] for each in skills] == ["calendar_management"]),
    Step("search", "search_tools", 200, lambda tools: "find_free_time" in _names(tools)),
    *REGISTRY,
    *AGENT_SKILLS,
    *MAIL,
    Step("catalog", "trust_changed", 200, lambda changed: isinstance(changed, list)),
    Step("catalog", "trust_approve", 200, lambda decided: decided == [{"id": 1, "status": "approved"}]),
    Step("catalog", "trust_reject", 200, lambda decided: decided == [{"id": 1, "status": "unchanged"}]),
    Step("catalog", "access_rules_create", 201, lambda written: written["rule"]["id"] == 1),
    Step("catalog", "access_rules_list", 200, lambda rules: [rule["name"] for rule in rules] == ["no deletions"]),
    Step("catalog", "access_rules_put", 200, lambda written: written["rule"]["groups"] == ["interns"]),
    Step("catalog", "access_rules_get", 200, lambda rule: rule["effect"] == "deny"),
    Step("catalog", "access_explain", 200, lambda explained: explained["allowed"] is False),
    Step("catalog", "access_rules_delete", 204),
    Step("catalog", "learning_unserved", 200, lambda groups: isinstance(groups, list)),
    Step("catalog", "learning_judged", 200, lambda judged: isinstance(judged, list)),
    Step("catalog", "learning_receipts", 200, lambda receipts: isinstance(receipts, list)),
    Step("catalog", "learning_status", 200, lambda status: (status["live"], status["states"]) == (None, [])),
    Step("catalog", "learning_live", 200, lambda status: status["live"] is None),
    Step("catalog", "learning_states_tools", 404),
    Step("catalog", "learning_forget", 200, lambda answer: answer["requests"] == 0),
    Step("catalog", "learning_receipts_delete", 200, lambda gone: set(gone) == {"receipts", "outcomes", "requests"}),
    Step("catalog", "trace", 200, lambda events: {event["kind"] for event in events} <= {"change"}),
    Step("search", "verify", 200, lambda report: report["ok"]),
    # Callers that nobody vouched for, or somebody else than this deployment asks.
    Step("search", "search_anonymous", 401, _is_401),
    Step("search", "search_jwt", 401, _is_401),
    Step("mcp", "mcp_call_anonymous", 401, _is_401),
    Step("mcp", "mcp_call_jwt", 401, _is_401),
    Step("catalog", "catalog_put_anonymous", 401, _is_401),
    Step("catalog", "catalog_put_jwt", 401, _is_401),
    Step("skills", "skills_create_anonymous", 401, _is_401),
    Step("skills", "skills_create_jwt", 401, _is_401),
    Step("catalog", "servers_delete", 204),
    Step("catalog", "servers_get", 404),
    Step("catalog", "servers_published_version", 404),
    Step("catalog", "servers_enable", 404),
    Step("catalog", "servers_tools", 200, lambda items: items == []),
    Step("catalog", "agents_delete", 204),
    Step("catalog", "agents_get", 404),
    Step("search", "search_registry", 200, _finds_nothing),
    Step("catalog", "agent_skills_delete", 204),
    Step("catalog", "agent_skills_get", 404),
    Step("catalog", "agent_skills_file", 404),
    *MAIL_GONE,
    Step("catalog", "catalog_delete", 204),
    Step("catalog", "catalog_get", 404),
    Step("skills", "skills_delete", 204),
    Step("skills", "skills_get", 404),
    Step("search", "search", 200, lambda answer: "create_event" not in _tools(answer)),
    Step("catalog", "export", 200, lambda line: (line["kind"], line["changed"]) == ("end", [])),
    Step("catalog", "import", 200, lambda answer: (answer["created"], answer["failed"]) == (1, 0)),
)
"""Requests that IAM vouches for, and those that it does not; the queues and the schedule, where nobody is asked."""

WITH_TOKENS = (
    Step("catalog", "catalog_put_jwt", 200, lambda answer: (answer["created"], answer["failed"]) == (2, 0)),
    Step("catalog", "catalog_put_jwt_missing_scope", 403),
    Step("catalog", "catalog_list_jwt", 200, lambda items: {item["org_id"] for item in items} == {"acme"}),
    Step("catalog", "catalog_list_jwt_other_org", 200, lambda items: items == []),
    Step("skills", "skills_create_jwt", 201, lambda skill: skill["org_id"] == "acme"),
    Step("skills", "skills_create_jwt_missing_scope", 403),
    Step("skills", "skills_list_jwt", 200, lambda skills: [each["id"] for each in skills] == ["calendar_management"]),
    Step("search", "search_jwt", 200, _finds_the_event),
    Step("search", "search_jwt_other_org", 200, lambda answer: not _tools(answer)),
    Step("mcp", "mcp_call_jwt", 200, _tells_the_agent_of_the_event),
    Step("mcp", "mcp_call_jwt_missing_scope", 403),
    Step("mcp", "mcp_metadata_anonymous", 200, _names_the_issuer),
    Step("mcp", "mcp_card_anonymous", 200, lambda card: card["remotes"][0]["url"].endswith("/mcp")),
    Step("search", "search_jwt_no_org", 401, _is_401),
    Step("search", "search_jwt_missing_scope", 403),
    Step("catalog", "servers_put_jwt", 200, _written("created")),
    Step("catalog", "servers_put_jwt_missing_scope", 403),
    Step("catalog", "agents_put_jwt", 200, _written("created")),
    Step("catalog", "servers_list_jwt", 200, lambda servers: [each["org_id"] for each in servers] == ["acme"]),
    Step("catalog", "servers_list_jwt_other_org", 200, lambda servers: servers == []),
    Step("catalog", "servers_published_jwt", 200, _publishes("io.github.upstash/context7")),
    Step("catalog", "servers_published_jwt_other_org", 200, _publishes()),
    Step("catalog", "servers_published_anonymous", 401, _is_401),
    Step("search", "search_registry_jwt", 200, _finds_with_tools(*LIBRARY)),
    Step("search", "search_registry_jwt_other_org", 200, _finds_nothing),
    Step("search", "search_registry_jwt_missing_scope", 403),
    *MAIL_WITH_TOKENS,
    Step("catalog", "access_rules_list_jwt_missing_scope", 403),
    Step("catalog", "learning_unserved_jwt", 200, lambda groups: isinstance(groups, list)),
    Step("catalog", "learning_unserved_jwt_missing_scope", 403),
    Step("catalog", "learning_receipts_jwt_missing_scope", 403),
    Step("catalog", "trace_jwt_missing_scope", 403),
    Step("catalog", "learning_live_jwt_missing_scope", 403),
    Step("catalog", "feedback_jwt", 200, lambda answer: answer == {"kept": True}),
    Step("catalog", "feedback_jwt_missing_scope", 403),
    Step("catalog", "export_jwt", 200, lambda line: (line["kind"], line["changed"]) == ("end", [])),
    Step("catalog", "export_jwt_missing_scope", 403),
    Step("catalog", "import_jwt_missing_scope", 403),
    Step("search", "verify_jwt", 401, _is_401),
    Step("search", "verify_jwt_missing_scope", 403),
    Step("search", "search_anonymous", 401, _is_401),
    Step("search", "search", 401, _is_401),  # IAM's word does not count here
    Step("catalog", "catalog_put_anonymous", 401, _is_401),
    Step("skills", "skills_create_anonymous", 401, _is_401),
)
"""Requests with the claims that API Gateway's JWT authorizer checked, and without; all callers are of organisations."""

OF_NO_ORGANISATION = (
    Step("search", "search_jwt_no_org", 200, lambda answer: not _tools(answer)),
    Step("search", "verify_jwt", 200, lambda report: report["ok"]),
)
"""Requests of callers that belong to none, where they are taken for global ones."""
