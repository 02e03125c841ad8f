"""The events of agent mail in an order that makes sense, and what must come of each; part of `tests.scenario`."""

from __future__ import annotations

from typing import Any

from tests.scenario_step import Check, Step


def _all_written(status: str, count: int) -> Check:
    """Return a check that so many were written with this outcome and their vectors, and none failed."""
    return lambda answer: (answer[status], answer["failed"], answer["degraded"]) == (count, 0, [])


def _one_of_three(answer: dict[str, Any]) -> bool:
    """One is written; of the others, one is for no project, and one would reach somebody twice."""
    wrong = [result["error"]["field"] for result in answer["results"] if result["status"] == "failed"]
    return (answer["created"], answer["failed"], wrong) == (1, 2, ["project", "cc.0"])


def _keys(*keys: str) -> Check:
    return lambda entities: [each["key"] for each in entities] == list(keys)


def _named(*names: str) -> Check:
    return lambda agents: [each["name"] for each in agents] == list(names)


def _finds_messages(mode: str, engine: str, *keys: str) -> Check:
    """Return a check that exactly these messages are found, in this order, by what was asked for."""
    return lambda answer: (
        (answer["mode"], answer["engine"], [each["key"] for each in answer["results"]]) == (mode, engine, list(keys))
    )


def _finds_no_mail(answer: dict[str, Any]) -> bool:
    return answer["results"] == [] and "next_cursor" not in answer


def _explains_the_missing_reranker(answer: dict[str, Any]) -> bool:
    """Meaning finds what shares no word with the question; nobody reranks, and the answer says so."""
    explain, first = answer["explain"], answer["results"][0]
    run = (explain["requested_mode"], explain["actual_mode"], explain["downgrade_reason"])
    # The two messages of the other project are outside of what the scope allows.
    found = (first["key"], "raw_score" in first, explain["scope_policy"], explain["denied_count"])
    return (run, found) == (
        ("hybrid_rerank", "hybrid", "feature_unavailable"),
        ("atlas-0001", True, "caller_scoped", 2),
    )


def _subjects(*subjects: str) -> Check:
    """Return a check that a tool's answer has exactly these messages, by the beginnings of their subjects."""
    return lambda answer: [each["subject"].split(":")[0] for each in answer["result"]] == list(subjects)


def _tool_explains(answer: dict[str, Any]) -> bool:
    hints = answer["assistance"]["applied_filter_hints"]
    seen = ([each["field"] for each in hints], "explain" in answer, "diagnostics" in answer)
    return bool(_subjects("POL-358")(answer)) and seen == (["from"], True, False)


def _product_tool_answers(answer: dict[str, Any]) -> bool:
    return {each["project_id"] for each in answer["result"]} == {2} and not {"explain", "guidance"} & set(answer)


READER = "GoldenReed"

MAIL = (
    Step("catalog", "mail_projects_put", 200, _all_written("created", 2)),
    Step("catalog", "mail_products_put", 200, lambda answer: (answer["created"], answer["failed"]) == (1, 0)),
    Step("catalog", "mail_agents_put", 200, _all_written("created", 3)),
    Step("catalog", "mail_messages_put", 200, _all_written("created", 2)),
    Step("catalog", "mail_messages_put", 200, _all_written("unchanged", 2)),
    Step("catalog", "mail_messages_put_partly_bad", 200, _one_of_three),
    Step("catalog", "mail_projects_list", 200, _keys("atlas-billing", "platform-ops")),
    Step("catalog", "mail_projects_get", 200, lambda project: project["key"] == "atlas-billing"),
    Step("catalog", "mail_products_list", 200, _keys("atlas")),
    Step("catalog", "mail_products_get", 200, lambda product: product["key"] == "atlas"),
    Step("catalog", "mail_agents_list", 200, _named("AmberHill", "GoldenReed")),
    Step("catalog", "mail_agents_get", 200, lambda agent: agent["name"] == "BlueLake"),
    Step("catalog", "mail_messages_list", 200, _keys("ops-0002")),
    Step(
        "catalog", "mail_messages_get", 200, lambda message: (message["from"], message["to"]) == ("BlueLake", [READER])
    ),
    Step("catalog", "mail_messages_acknowledge", 200, lambda message: set(message["acknowledged"]) == {READER}),
    Step("search", "search_messages", 200, _finds_messages("lexical", "tantivy", "atlas-0001")),
    Step("search", "search_messages_filtered", 200, _finds_messages("lexical", "fts5", "atlas-0001")),
    Step("search", "search_messages_explain", 200, _explains_the_missing_reranker),
    Step("search", "search_messages_tool", 200, _tool_explains),
    Step("search", "search_messages_product_tool", 200, _product_tool_answers),
)
"""Projects, a product, agents and messages: written, read, acknowledged and found."""

MAIL_GONE = (
    # What a message refers to stays as long as the message.
    Step("catalog", "mail_projects_delete", 409),
    Step("catalog", "mail_agents_delete", 409),
    Step("catalog", "mail_messages_delete", 204),
    Step("catalog", "mail_messages_get", 404),
    Step("catalog", "mail_messages_acknowledge", 404),
    Step("search", "search_messages", 200, _finds_no_mail),
    Step("catalog", "mail_agents_delete", 204),
    Step("catalog", "mail_agents_get", 404),
    Step("catalog", "mail_projects_delete", 204),
    Step("catalog", "mail_projects_get", 404),
    Step("catalog", "mail_products_delete", 204),
    Step("catalog", "mail_products_get", 404),
    Step("search", "search_messages_tool", 422),
)
"""Deleted one by one, and gone from reading and search."""

MAIL_WITH_TOKENS = (
    Step("catalog", "mail_projects_put_jwt", 200, _all_written("created", 2)),
    Step("catalog", "mail_agents_put_jwt", 200, _all_written("created", 3)),
    Step("catalog", "mail_messages_put_jwt", 200, _all_written("created", 2)),
    Step("catalog", "mail_messages_put_jwt_missing_scope", 403),
    # An agent sees the mail of its projects, whether it got it or not; who speaks for none sees none.
    Step("catalog", "mail_messages_list_jwt", 200, _keys("atlas-0001")),
    Step("catalog", "mail_messages_list_jwt_no_agent", 200, _keys()),
    Step("search", "search_messages_jwt", 200, _finds_messages("lexical", "tantivy", "atlas-0001")),
    Step("search", "search_messages_jwt_other_agent", 200, _finds_no_mail),
    Step("search", "search_messages_jwt_no_agent", 200, _finds_no_mail),
    Step("search", "search_messages_jwt_other_org", 200, _finds_no_mail),
    Step("search", "search_messages_jwt_missing_scope", 403),
    Step("search", "search_messages_tool_jwt", 200, _subjects("POL-358")),
    Step("search", "search_messages_tool_jwt_other_agent", 422),
)
"""An organisation's mail, and who of it may look at what."""
