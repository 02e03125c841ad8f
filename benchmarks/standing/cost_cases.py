"""The cases of every route: the largest that it takes, and the largest that it must refuse."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator

from benchmarks.standing import cost_searches as searches
from benchmarks.standing import cost_writes as writes
from benchmarks.standing.cost_case import LARGEST_ID, MIB, Body, Case, Route, filled, one_of, pages
from benchmarks.standing.cost_world import World, key, message


def cases_of(route: Route, world: World, *, has_body: bool) -> Iterator[Case]:
    """Yield the cases of a route; none at all where nobody has thought of it.

    Cases are made one after the other, between requests: what one deletes the next does not name.
    """
    own = _CASES.get(route)
    if own is None:
        return
    yield from own(route[1], world)
    if has_body:
        yield from _refused_bodies(filled(route[1], "nothing" if "{skill_id}" in route[1] else 1))
    if "_id}" in route[1]:
        yield from _unknown_ids(route, has_body=has_body)


def _refused_bodies(path: str) -> Iterator[Case]:
    """Yield bodies that must be refused before anything is done with them."""
    refused: dict[str, Callable[[], bytes]] = {
        "6 MB and a byte": lambda: b'"' + b"a" * (6 * MIB - 1) + b'"',
        "1 MB of brackets": lambda: b"[" * MIB,
        "6 MB of brackets": lambda: b"[" * (6 * MIB),
        "6 MB of closed brackets": lambda: b"[" + b"[]," * (2 * MIB - 1) + b"1]",
        "1 MB of lists in lists": lambda: b"[" * (MIB // 2) + b"]" * (MIB // 2),
        "6 MB of numbers": lambda: b"[" + b"1," * (3 * MIB - 1) + b"1]",
        "6 MB of empty texts": lambda: b"[" + b'"",' * (2 * MIB - 1) + b"1]",
        "6 MB of backslashes": lambda: b'{"' + b"\\" * (6 * MIB - 6) + b'":1}',
        "6 MB of quotes": lambda: b'"' * (6 * MIB),
        "1 MB of one number": lambda: b"1" * MIB,
        "1 MB that is no UTF-8": lambda: b"\xff" * MIB,
        "1,000 unknown fields": lambda: json.dumps({f"{n:03}" * 300: n for n in range(1000)}).encode(),
        "15,000 unknown fields": lambda: json.dumps({f"f{n}": n for n in range(15_000)}).encode(),
    }
    for name, make in refused.items():
        yield Case(f"refused: {name}", path, make, (400, 413, 422))


def _unknown_ids(route: Route, *, has_body: bool) -> Iterator[Case]:
    body: Body = {} if has_body else None
    numbers = LARGEST_ID if "{skill_id}" not in route[1] else "s" * 64
    for name, id_ in {"the largest id": numbers, "an id of 10,000 digits": "9" * 10_000}.items():
        yield Case(f"refused: {name}", filled(route[1], id_), body, (404, 409, 422))


def _plain(path: str, _: World) -> Iterator[Case]:
    yield Case("everything", path)


def _check(path: str, _: World) -> Iterator[Case]:
    yield Case("everything", path, work="check")


def _skills_of_tool(path: str, world: World) -> Iterator[Case]:
    yield Case("5 skills", filled(path, world.tools[0]))


def _published(path: str, _: World) -> Iterator[Case]:
    yield Case("large ones", path.format(server_name="local.skillroute/large-0", version="latest") + "?limit=100")


def _skill_file(path: str, world: World) -> Iterator[Case]:
    digest = f"sha256:{hashlib.sha256(b'0').hexdigest()}"
    yield Case("of 200", filled(filled(path, world.spare("agent_skill")), digest), statuses=(200, 404))


def _receipts(path: str, _: World) -> Iterator[Case]:
    yield Case("1,000 of a page", f"{path}?limit=1000")
    yield Case("of a caller whose name is as long as may be", f"{path}?limit=1000&caller={'a' * 1000}")
    yield Case("refused: a cursor of 2,000 characters", f"{path}?cursor={'a' * 2000}", statuses=(422,))


def _receipts_of_caller(path: str, _: World) -> Iterator[Case]:
    yield Case("of a caller whose name is as long as may be", f"{path}?caller={'a' * 1000}")
    yield Case("refused: a name that is too long", f"{path}?caller={'a' * 1001}", statuses=(422,))


def _learned(path: str, _: World) -> Iterator[Case]:
    yield Case("of no state", f"{filled(path)}?limit=1000", statuses=(404,))


_RULE = {
    "name": "n" * 256,
    "effect": "deny",
    "roles": ["nobody has this role"],
    **{field: [f"{number:03}{'v' * 500}" for number in range(100)] for field in ("servers", "tools")},
    "skills": [f"s{number}" for number in range(100)],
}


def _rule(path: str, _: World) -> Iterator[Case]:
    yield Case("of 300 unknown values", path, _RULE, (201, 422))


def _rule_of_none(path: str, _: World) -> Iterator[Case]:
    yield Case("none", filled(path, LARGEST_ID), statuses=(404,))


def _rule_replaced(path: str, _: World) -> Iterator[Case]:
    yield Case("none", filled(path, LARGEST_ID), _RULE, (404,))


def _explained(path: str, _: World) -> Iterator[Case]:
    yield Case("everything, by server", path, {"roles": ["r"] * 100, "groups": ["g"] * 100})
    yield Case("a name that nothing has", path, {"tool": "/" * 520}, (404,))


def _switched(path: str, _: World) -> Iterator[Case]:
    yield Case("off", path, {"state_id": None})
    yield Case("to no state", path, {"state_id": LARGEST_ID}, (404,))


def _identity(path: str, world: World) -> Iterator[Case]:
    own = filled(path, world.spare("server"))
    yield Case("none", own, {"kind": "none"})
    audiences = [f"{n:03}" * 170 for n in range(20)]
    yield Case("20 audiences", own, {"kind": "caller_token", "audiences": audiences}, (422,))
    yield Case("refused: 10,000 scopes", own, {"kind": "oauth", "scopes": ["a"] * 10_000}, (422,))


def _no_login(path: str, world: World) -> Iterator[Case]:
    yield Case("of no login", filled(path, world.spare("server")), statuses=(403, 404))


def _begun_login(path: str, world: World) -> Iterator[Case]:
    yield Case("of no login", filled(path, world.spare("server")), {"scopes": ["a" * 200] * 50}, (403, 409))


def _trusted(path: str, _: World) -> Iterator[Case]:
    yield Case("500 items", path, {"ids": [*range(1, 501)]})


_MAIL = "/api/v1/mail"
_LEARNING = "/api/v1/learning"
_ACCESS = "/api/v1/access"
_CASES: dict[Route, Callable[[str, World], Iterator[Case]]] = {
    ("POST", "/api/v1/search"): searches.search,
    ("POST", "/api/v1/search/batch"): searches.search_batch,
    ("GET", "/api/v1/search/skills"): searches.search_skills,
    ("GET", "/api/v1/search/tools"): searches.search_tools,
    ("POST", "/api/v1/search/registry"): searches.search_registry,
    ("POST", "/api/v1/search/messages"): searches.search_messages,
    ("POST", "/api/v1/tools/search_messages"): searches.message_tool({"project_key": key("p", 0)}),
    ("POST", "/api/v1/tools/search_messages_product"): searches.message_tool({"product_key": key("x", 0)}),
    ("PUT", "/api/v1/tools"): writes.put_tools,
    ("GET", "/api/v1/tools"): pages("server", "name", "tag", "skill_id"),
    ("GET", "/api/v1/tools/{item_id}"): one_of("tool"),
    ("DELETE", "/api/v1/tools/{item_id}"): one_of("tool", 204),
    ("GET", "/api/v1/tools/{item_id}/skills"): _skills_of_tool,
    ("PUT", "/api/v1/tools/{item_id}/skills"): writes.assign,
    ("PUT", "/api/v1/servers"): writes.put_servers,
    ("GET", "/api/v1/servers"): pages("path", "tag", is_enabled="true"),
    ("GET", "/api/v1/servers/{server_id}"): one_of("server"),
    ("DELETE", "/api/v1/servers/{server_id}"): one_of("server", 204),
    ("POST", "/api/v1/servers/{server_id}/enable"): one_of("server"),
    ("POST", "/api/v1/servers/{server_id}/disable"): one_of("server"),
    ("GET", "/api/v1/servers/{server_id}/identity"): one_of("server"),
    ("PUT", "/api/v1/servers/{server_id}/identity"): _identity,
    ("DELETE", "/api/v1/servers/{server_id}/identity"): one_of("server", 204),
    ("POST", "/api/v1/servers/{server_id}/login"): _begun_login,
    ("GET", "/api/v1/logins"): pages(),
    ("DELETE", "/api/v1/logins/{server_id}"): _no_login,
    ("GET", "/v0.1/servers"): _published,
    ("GET", "/v0.1/servers/{server_name}/versions"): _published,
    ("GET", "/v0.1/servers/{server_name}/versions/{version}"): _published,
    ("PUT", "/api/v1/agents"): writes.put_agents,
    ("GET", "/api/v1/agents"): pages("path", "tag", is_enabled="true"),
    ("GET", "/api/v1/agents/{agent_id}"): one_of("agent"),
    ("DELETE", "/api/v1/agents/{agent_id}"): one_of("agent", 204),
    ("POST", "/api/v1/agents/{agent_id}/enable"): one_of("agent"),
    ("POST", "/api/v1/agents/{agent_id}/disable"): one_of("agent"),
    ("POST", "/api/v1/search/agent-skills"): searches.search_agent_skills,
    ("PUT", "/api/v1/agent-skills"): writes.put_agent_skills,
    ("GET", "/api/v1/agent-skills"): pages("path", "name"),
    ("GET", "/api/v1/agent-skills/{agent_skill_id}"): one_of("agent_skill"),
    ("GET", "/api/v1/agent-skills/{agent_skill_id}/files/{digest}"): _skill_file,
    ("PATCH", "/api/v1/agent-skills/{agent_skill_id}"): one_of("agent_skill", body={"is_active": True}),
    ("DELETE", "/api/v1/agent-skills/{agent_skill_id}"): one_of("agent_skill", 204),
    ("PUT", f"{_MAIL}/projects"): writes.put_mail("projects", writes.PROJECTS),
    ("GET", f"{_MAIL}/projects"): pages("key"),
    ("GET", f"{_MAIL}/projects/{{project_id}}"): one_of("project"),
    ("DELETE", f"{_MAIL}/projects/{{project_id}}"): one_of("project", 204),
    ("PUT", f"{_MAIL}/products"): writes.put_mail("products", writes.PRODUCTS),
    ("GET", f"{_MAIL}/products"): pages("key"),
    ("GET", f"{_MAIL}/products/{{product_id}}"): one_of("product"),
    ("DELETE", f"{_MAIL}/products/{{product_id}}"): one_of("product", 204),
    ("PUT", f"{_MAIL}/agents"): writes.put_mail("agents", writes.AGENTS),
    ("GET", f"{_MAIL}/agents"): pages("name", project_id="1"),
    ("GET", f"{_MAIL}/agents/{{agent_id}}"): one_of("mail_agent"),
    ("DELETE", f"{_MAIL}/agents/{{agent_id}}"): one_of("mail_agent", 204),
    ("PUT", f"{_MAIL}/messages"): writes.put_mail("messages", writes.MESSAGES),
    ("GET", f"{_MAIL}/messages"): pages("key", "thread_id", "sender", "recipient", importance="urgent", project_id="1"),
    ("GET", f"{_MAIL}/messages/{{message_id}}"): one_of("message"),
    ("DELETE", f"{_MAIL}/messages/{{message_id}}"): one_of("message", 204),
    ("POST", f"{_MAIL}/messages/{{message_id}}/acknowledge"): one_of("message", body={"agent": message(0)["to"][0]}),
    ("POST", "/api/v1/skills"): writes.post_skill,
    ("GET", "/api/v1/skills"): pages("parent_domain", is_active="all"),
    ("POST", "/api/v1/skills/classify"): writes.classify,
    ("GET", "/api/v1/skills/{skill_id}"): writes.of_skill(0),
    ("PUT", "/api/v1/skills/{skill_id}"): writes.change_skill,
    ("PATCH", "/api/v1/skills/{skill_id}"): writes.change_skill,
    ("DELETE", "/api/v1/skills/{skill_id}"): writes.of_skill(1, 204),
    ("GET", "/api/v1/skills/{skill_id}/tools"): pages(),
    ("POST", "/api/v1/skills/{skill_id}/describe"): writes.of_skill(0, 201),
    ("GET", "/api/v1/skills/suggestions"): pages(),
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/approve"): writes.approve,
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/reject"): one_of("suggestion", body={"reason": '"' * 1000}),
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/merge"): writes.merge,
    ("GET", "/api/v1/trust/changed"): _plain,
    ("POST", "/api/v1/trust/approve"): _trusted,
    ("POST", "/api/v1/trust/reject"): _trusted,
    ("GET", f"{_ACCESS}/rules"): _plain,
    ("POST", f"{_ACCESS}/rules"): _rule,
    ("GET", f"{_ACCESS}/rules/{{rule_id}}"): _rule_of_none,
    ("PUT", f"{_ACCESS}/rules/{{rule_id}}"): _rule_replaced,
    ("DELETE", f"{_ACCESS}/rules/{{rule_id}}"): _rule_of_none,
    ("POST", f"{_ACCESS}/explain"): _explained,
    ("GET", _LEARNING): _plain,
    ("GET", f"{_LEARNING}/states/{{state_id}}/tools"): _learned,
    ("PUT", f"{_LEARNING}/live"): _switched,
    ("GET", f"{_LEARNING}/unserved"): pages(days="400"),
    ("GET", f"{_LEARNING}/judged"): pages(days="400"),
    ("GET", f"{_LEARNING}/receipts"): _receipts,
    ("DELETE", f"{_LEARNING}/receipts"): _receipts_of_caller,
    ("DELETE", f"{_LEARNING}/tools/{{item_id}}"): one_of("tool"),
    ("POST", "/api/v1/feedback"): writes.feedback,
    ("POST", "/api/v1/feedback/batch"): writes.feedback_batch,
    ("POST", "/mcp"): searches.mcp,
    ("GET", "/api/v1/verify"): _check,
    ("GET", "/health"): _plain,
    ("GET", "/ready"): _plain,
}
