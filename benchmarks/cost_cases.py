"""What `cost.py` asks each route: the largest that it takes, and the largest that it must refuse."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from cost_texts import HOSTILE
from cost_world import Json, World, key, large_tool, message, named, skill, wide_tool

Route = tuple[str, str]
Make = Callable[[], Json | list[Json] | bytes | None]

MIB = 1024 * 1024
LARGEST_ID = 2**63 - 1
SEARCH_TEXT, TEXT = 1_000, 10_000
"""Characters of a query of tool search, and of registry and mail."""


@dataclass(frozen=True, slots=True)
class Case:
    """One request.

    Attributes
    ----------
    target : str
        The path and its query.
    make : callable
        Makes the body, as JSON or in bytes; called when it is sent, since all of them together are large.
    statuses : tuple of int
        What may be answered.
    is_bulk : bool
        Whether it writes hundreds of things at once.
    embeds : bool
        Whether the model is asked for vectors; else they are drawn at random.
    """

    name: str
    target: str
    make: Make = lambda: None
    statuses: tuple[int, ...] = (200,)
    is_bulk: bool = False
    embeds: bool = True

    def body(self) -> bytes | None:
        """Return the body."""
        made = self.make()
        return made if made is None or isinstance(made, bytes) else json.dumps(made, ensure_ascii=False).encode()


def cases_of(route: Route, world: World, *, has_body: bool) -> Iterator[Case]:
    """Yield the cases of a route; none at all where nobody has thought of it.

    Cases are made one after the other, between requests: what one deletes the next does not name.
    """
    own = _CASES.get(route)
    if own is None:
        return
    yield from own(route[1], world)
    if has_body:
        path = route[1].replace("{skill_id}", "nothing").partition("{")
        yield from _refused_bodies(_filled(route[1]) if path[1] else route[1])
    if "_id}" in route[1]:
        yield from _unknown_ids(route, has_body=has_body)


def _filled(path: str, id_: object = 1) -> str:
    head, opened, rest = path.partition("{")
    return f"{head}{id_}{rest.partition('}')[2]}" if opened else path


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
        "6 MB of backslashes": lambda: b'["' + b"\\" * (6 * MIB - 4) + b'"]',
        "6 MB of quotes": lambda: b'"' * (6 * MIB),
        "1 MB of one number": lambda: b"1" * MIB,
        "1 MB that is no UTF-8": lambda: b"\xff" * MIB,
        "1,000 unknown fields": lambda: json.dumps({f"{n:03}" * 300: n for n in range(1000)}).encode(),
        "15,000 unknown fields": lambda: json.dumps({f"f{n}": n for n in range(15_000)}).encode(),
    }
    for name, make in refused.items():
        yield Case(f"refused: {name}", path, make, (413, 422))


def _unknown_ids(route: Route, *, has_body: bool) -> Iterator[Case]:
    make: Make = (lambda: {}) if has_body else (lambda: None)
    numbers = LARGEST_ID if "{skill_id}" not in route[1] else "s" * 64
    for name, id_ in {"the largest id": numbers, "an id of 10,000 digits": "9" * 10_000}.items():
        yield Case(f"refused: {name}", _filled(route[1], id_), make, (404, 409, 422))


# Searches


def _texts(length: int) -> Iterator[tuple[str, str]]:
    for name, make in HOSTILE.items():
        yield name, make(length)


def _search(path: str, _: World) -> Iterator[Case]:
    everything = {"limit": 50, "skill_limit": 10, "skill_threshold": 0.0, "tool_threshold": 0.0, "strategy": "hybrid"}
    for mode in ("semantic", "lexical"):
        for query in ("water", "large water", "long water"):
            yield Case(f"{query}, {mode}", path, lambda q=query, m=mode: {**everything, "query": q, "mode": m})  # type: ignore[misc]
        for name, text in _texts(SEARCH_TEXT):
            yield Case(f"{name}, {mode}", path, lambda t=text, m=mode: {**everything, "query": t, "mode": m})  # type: ignore[misc]


def _search_by_url(path: str, **more: object) -> Iterator[Case]:
    for mode in ("semantic", "lexical"):
        for name, text in [("water", "water"), ("long water", "long water"), *_texts(SEARCH_TEXT)]:
            asked = {"query": text, "limit": 50, "threshold": 0, "mode": mode, **more}
            yield Case(f"{name}, {mode}", f"{path}?{urlencode(asked)}")


def _search_skills(path: str, _: World) -> Iterator[Case]:
    yield from _search_by_url(path)


def _search_tools(path: str, _: World) -> Iterator[Case]:
    yield from _search_by_url(path)
    for name, ids in {"commas": "," * TEXT, "5,000 skills": "a," * 5_000, "unlike ids": "%/\\'" * 2_500}.items():
        yield Case(f"skill_ids: {name}", f"{path}?{urlencode({'query': 'water', 'skill_ids': ids})}")


def _search_registry(path: str, _: World) -> Iterator[Case]:
    most = {"max_results": 50, "include_disabled": True, "explain": True}
    for fusion in ("boost", "rrf", "coverage"):
        yield Case(f"water, {fusion}", path, lambda f=fusion: {**most, "query": "water", "fusion": f})  # type: ignore[misc]
    tags = [f"{n:02}".ljust(64, "%") for n in range(20)]
    yield Case("the most tags", path, lambda: {**most, "query": "water", "tags": tags})
    for name, text in _texts(TEXT):
        yield Case(name, path, lambda t=text: {**most, "query": t})  # type: ignore[misc]


_FILTERS: Json = {
    "importance": ["urgent"] * 16,
    "agent_name": "\ufdfa" * 14,
    "direction": "inbox",
    "sender_name": "writer",
    "recipient_name": "%_" * 128,
    "thread_id": "t" * 256,
    "ack_required": False,
    "time_range": {"min_ts": -(2**63), "max_ts": 2**63 - 1},
}


def _search_messages(path: str, _: World) -> Iterator[Case]:
    most: Json = {"limit": 1000, "explain": True}
    hidden = {"redact_agent_names": True, "redact_body": True, "redact_thread_ids": True, "placeholder": '"' * 256}
    scope = {"project_set": {"allowed_project_ids": list(range(1, 10_001))}}
    for mode in ("lexical", "semantic", "hybrid", "hybrid_rerank"):
        more = {**most, "mode": mode, "rerank_top_k": 1000}
        yield Case(f"water, {mode}", path, lambda m=more: {**m, "text": "water"})  # type: ignore[misc]
        yield Case(f"the most filters, {mode}", path, lambda m=more: {**m, "text": "water", **_FILTERS})  # type: ignore[misc]
        yield Case(f"10,000 projects, {mode}", path, lambda m=more: {**m, "text": "water", "scope": scope})  # type: ignore[misc]
    for kind in ("message", "agent", "project"):
        yield Case(f"every {kind}", path, lambda k=kind: {**most, "doc_kind": k})  # type: ignore[misc]
        yield Case(f"each {kind} of water", path, lambda k=kind: {**most, "text": "water", "doc_kind": k})  # type: ignore[misc]
    nothing = {"project_set": {"allowed_project_ids": []}}
    yield Case("all redacted", path, lambda: {**most, "text": "water", "scope": nothing, "redaction": hidden})
    for name in ("base64 without end", "digits", "open brackets"):
        yield Case(f"a cursor of {name}", path, lambda n=name: {"text": "water", "cursor": HOSTILE[n](900_000)})  # type: ignore[misc]
    for name, text in _texts(TEXT):
        for mode in ("lexical", "hybrid"):
            yield Case(f"{name}, {mode}", path, lambda t=text, m=mode: {**most, "text": t, "mode": m})  # type: ignore[misc]


def _message_tool(about: Json) -> Callable[[str, World], Iterator[Case]]:
    def cases(path: str, _: World) -> Iterator[Case]:
        most = {**about, "limit": 1000}
        for mode in ("lexical", "hybrid"):
            yield Case(f"water, {mode}", path, lambda m=mode: {**most, "query": "water", "mode": m}, (200, 422))  # type: ignore[misc]
        for name, text in _texts(TEXT):
            yield Case(name, path, lambda t=text: {**most, "query": t})  # type: ignore[misc]
        for name in ("digits", "words of a hyphen", "blanks in a word", "one letter with accents", "dots and letters"):
            for argument in ("date_start", "sender", "importance", "cursor", "unknown" * 40):
                wrong = {"query": "water", argument: HOSTILE[name](900_000)}
                yield Case(f"{argument[:16]} of {name}", path, lambda w=wrong: {**about, **w}, (200, 422))  # type: ignore[misc]

    return cases


# The catalogue and the registry


def _put_tools(path: str, _: World) -> Iterator[Case]:
    def put(name: str, make: Callable[[], list[Json]]) -> Case:
        return Case(name, path, lambda: {"items": make()}, is_bulk=True, embeds="text" in name)

    large = put("24 of 240 KB", lambda: [large_tool(n, "put") for n in range(24)])
    yield large
    yield Case("24 of 240 KB, unchanged", path, large.make, is_bulk=True, embeds=False)
    yield put("500 with the most tags", lambda: [wide_tool(n, "put") for n in range(500)])
    yield put("100 with the longest texts", lambda: [_described(f"put_{n}", "words", 50_000) for n in range(100)])
    yield put("each text, 50,000 characters", lambda: [_described(f"each {n}", n, 50_000) for n in HOSTILE])
    yield put("350,000 values", lambda: [_schema(f"v{n}", {"enum": [0] * 699}) for n in range(500)])
    yield put("as many objects", lambda: [_schema(f"o{n}", {"anyOf": [{}] * 699}) for n in range(500)])
    yield put("the most properties", lambda: [_properties(n) for n in range(500)])
    yield put("64 levels", lambda: [_schema(f"d{n}", _nested(60)) for n in range(500)])
    yield put("400 levels, refused", lambda: [_schema(f"x{n}", _nested(400)) for n in range(500)])
    yield put("all wrong", lambda: [{"name": "\x01" * 256, "type": "x", "tags": [1] * 100} for n in range(500)])
    yield put("unknown fields", lambda: [{"name": f"u{n}", **{f"f{m}": m for m in range(300)}} for n in range(500)])


def _described(name: str, text: str, length: int) -> Json:
    made = HOSTILE[text](length)
    return {"name": f"{name} {made[:200]}".replace("\x01", ".").replace("\t", "."), "description": made}


def _schema(name: str, value: Json) -> Json:
    return {"name": name, "description": "water", "input_schema": {"type": "object", "x": value}}


def _properties(number: int) -> Json:
    properties = {f"p{n}_{number}": {"type": "string", "description": "water"} for n in range(150)}
    return {"name": f"properties_{number}", "input_schema": {"type": "object", "properties": properties}}


def _nested(levels: int) -> Json:
    value: Json = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def _list(*filters: str, **largest: str) -> Callable[[str, World], Iterator[Case]]:
    """Return the cases of a list: the largest page, the last one, and the longest conditions."""

    def cases(path: str, _: World) -> Iterator[Case]:
        path = path.replace("{skill_id}", skill(0)["id"])
        yield Case("1,000 of a page", f"{path}?limit=1000")
        yield Case("the second page", f"{path}?limit=1000&offset=50")
        yield Case("far behind the end", f"{path}?limit=1000&offset={2**31 - 1}")
        asked = dict.fromkeys(filters, "%_'\\" * 16) | largest
        if asked:
            yield Case("the most filters", f"{path}?limit=1000&{urlencode(asked)}")
        yield Case("refused: 10,000 unknown parameters", f"{path}?{'&'.join('a%22=b' for _ in range(10_000))}")

    return cases


def _put_servers(path: str, _: World) -> Iterator[Case]:
    def put(name: str, make: Callable[[], list[Json]]) -> Case:
        return Case(name, path, lambda: {"servers": make()}, is_bulk=True, embeds="text" in name)

    tools = [{"name": named("put", n, 100), "description": "water"} for n in range(500)]
    most = put("4 with 500 tools", lambda: [{"name": f"put {n}", "tools": tools} for n in range(4)])
    yield most
    yield Case("4 with 500 tools, unchanged", path, most.make, is_bulk=True, embeds=False)
    yield put("4 without their tools", lambda: [{"name": f"put {n}", "tools": []} for n in range(4)])
    yield put("one with 24 tools of 240 KB", lambda: [{"name": "put l", "tools": [large_tool(n) for n in range(24)]}])
    yield put("100 of 50 KB", lambda: [{"name": f"put {n}", "description": "w" * 40_000} for n in range(100)])
    yield put("5 with 500 tools, one refused", lambda: [{"name": f"more {n}", "tools": tools} for n in range(5)])
    yield put("each text, 50,000 characters", lambda: [_entity(number, name) for number, name in enumerate(HOSTILE)])


def _entity(number: int, text: str) -> Json:
    return {**_described(f"{number}", text, 50_000), "path": f"/hostile/{number}", "tags": [f"t{n}" for n in range(50)]}


def _put_agents(path: str, _: World) -> Iterator[Case]:
    def put(name: str, make: Callable[[], list[Json]]) -> Case:
        return Case(name, path, lambda: {"agents": make()}, is_bulk=True, embeds="text" in name)

    skills = [{"name": named("put", n, 64)} for n in range(500)]
    names = {named("c", n): True for n in range(100)}
    yield put("90 with 500 skills", lambda: [{"name": f"put {n}", "skills": skills} for n in range(90)])
    yield put("100 with 100 capabilities", lambda: [{"name": f"c {n}", "capabilities": names} for n in range(100)])
    yield put("24 of 240 KB", lambda: [{"name": f"put l{n}", "x": "y" * 240_000} for n in range(24)])
    yield put("100 wrong", lambda: [{"name": f"w {n}", "skills": [{}] * 500} for n in range(100)])
    yield put("each text, 50,000 characters", lambda: [_entity(number, name) for number, name in enumerate(HOSTILE)])


def _one(kind: str, status: int = 200, body: Make = lambda: None) -> Callable[[str, World], Iterator[Case]]:
    """Return the case of a route about one thing, which is one that may be deleted."""

    def cases(path: str, world: World) -> Iterator[Case]:
        yield Case("the largest", _filled(path, world.spare(kind)), body, (status,))

    return cases


# Mail


def _put_mail(name: str, many: Mapping[str, Callable[[], list[Json]]]) -> Callable[[str, World], Iterator[Case]]:
    def cases(path: str, _: World) -> Iterator[Case]:
        for case, make in many.items():
            yield Case(case, path, lambda m=make: {name: m()}, is_bulk=True, embeds="text" in case)  # type: ignore[misc]

    return cases


def _each_text(make: Callable[[int, str], Json], per_call: int, most_bytes: int) -> dict[str, Callable[[], list[Json]]]:
    """Return calls that write one thing with each of the texts, as long as a call has room for."""
    starts = range(0, len(HOSTILE), per_call)
    return {
        f"texts {start} to {min(start + per_call, len(HOSTILE)) - 1}": lambda start=start: [  # type: ignore[misc]
            make(start + n, _within(text(most_bytes), most_bytes))
            for n, text in enumerate(list(HOSTILE.values())[start : start + per_call])
        ]
        for start in starts
    }


def _within(text: str, most_bytes: int) -> str:
    """Return as much of a text as has so many bytes in a body: what JSON escapes has two, or six."""
    share = most_bytes * len(text) // (len(json.dumps(text, ensure_ascii=False).encode()) - 2)
    return text[:share]


_SLOW = ("different words", "words of a hyphen", "tables", "open quotes after names", "names of secrets")
_MESSAGES: dict[str, Callable[[], list[Json]]] = {
    "3 to 300 agents": lambda: [message(n, "put") for n in range(3)],
    "400 to 3 agents": lambda: [_short(n, "water") for n in range(400)],
    "400 from new agents": lambda: [{**_short(n, "water"), "from": f"new {n}"} for n in range(400)],
    "2 from 600 new agents": lambda: [{**_short(n, ""), **_new_agents(n)} for n in range(2)],
    **_each_text(lambda n, text: _short(n, text), 10, 95_000),
    **{f"10 of {name}": lambda name=name: [_short(n, HOSTILE[name](95_000)) for n in range(10)] for name in _SLOW},  # type: ignore[misc]
    **{f"subjects: {name}": make for name, make in _each_text(lambda n, text: _short(n, "", text), 50, 1_000).items()},
}


def _short(number: int, body: str, subject: str = "water") -> Json:
    of = {"key": key("put", number), "project": key("p", 1), "from": "writer", "to": ["reader"]}
    return {**of, "subject": subject if subject.strip() else "water", "body": body}


def _new_agents(number: int) -> Json:
    names = [f"new {number} {each}" for each in range(300)]
    return {"to": names[:100], "cc": names[100:200], "bcc": names[200:]}


def _printable(text: str) -> str:
    return "".join(each for each in text[:14] if each.isprintable())


_KEYS = [key("p", n) for n in range(1000)]
_PROJECTS = {
    "100 of 9 KB": lambda: [{"key": key("q", n), "name": "n", "description": "w" * 9_000} for n in range(100)],
    **_each_text(lambda n, text: {"key": key("q", n), "name": "n", "description": text}, 20, 45_000),
}
_PRODUCTS = {"7 of 1,000 projects": lambda: [{"key": key("y", n), "name": "n", "projects": _KEYS} for n in range(7)]}
_AGENTS = {
    "7 in 1,000 projects": lambda: [{"name": f"put {n}", "projects": _KEYS} for n in range(7)],
    "100 of 9 KB": lambda: [{"name": f"put {n}", "description": "w" * 9_000} for n in range(100)],
    **_each_text(lambda n, text: {"name": f"{n} {_printable(text)}", "description": text}, 20, 45_000),
}


# Skills


def _post_skill(path: str, _: World) -> Iterator[Case]:
    yield Case("the largest", path, lambda: skill(0, "new"), (201,))
    yield Case("one that is there", path, lambda: skill(0, "new"), (409,))


def _change_skill(path: str, _: World) -> Iterator[Case]:
    whole = {name: value for name, value in skill(1).items() if name != "id"}
    yield Case("the largest", path.format(skill_id=skill(0)["id"]), lambda: whole)
    yield Case(
        "refused: 14,000 keywords", path.format(skill_id=skill(0)["id"]), lambda: {"keywords": ["k"] * 14_000}, (422,)
    )


def _of_skill(number: int, status: int = 200) -> Callable[[str, World], Iterator[Case]]:
    def cases(path: str, _: World) -> Iterator[Case]:
        yield Case("the largest", path.format(skill_id=skill(number)["id"]), statuses=(status,))

    return cases


def _assign(path: str, world: World) -> Iterator[Case]:
    given = [{"skill_id": skill(n)["id"], "reasoning": '"' * 1000} for n in range(100)]
    of_tool = _filled(path, world.tools[0])
    yield Case("5 skills", of_tool, lambda: {"skills": given[:5]})
    yield Case("refused: 100 skills", of_tool, lambda: {"skills": given}, (409, 422))


def _classify(path: str, world: World) -> Iterator[Case]:
    for number, name in enumerate(("a tool of 240 KB", "another")):
        yield Case(name, path, lambda n=number: {"tool_id": world.tools[10 + n], "force_reclassify": True})  # type: ignore[misc]


def _approve(path: str, world: World) -> Iterator[Case]:
    changed = {name: value for name, value in skill(0, "approved").items()}
    yield Case("one of 500 of its name", _filled(path, world.spare("suggestion")), lambda: changed)


def _merge(path: str, world: World) -> Iterator[Case]:
    yield Case("one of a name", _filled(path, world.spare("suggestion")), lambda: {"skill_id": skill(9)["id"]})


def _plain(path: str, _: World) -> Iterator[Case]:
    yield Case("everything", path)


_MAIL = "/api/v1/mail"
_CASES: dict[Route, Callable[[str, World], Iterator[Case]]] = {
    ("POST", "/api/v1/search"): _search,
    ("GET", "/api/v1/search/skills"): _search_skills,
    ("GET", "/api/v1/search/tools"): _search_tools,
    ("POST", "/api/v1/search/registry"): _search_registry,
    ("POST", "/api/v1/search/messages"): _search_messages,
    ("POST", "/api/v1/tools/search_messages"): _message_tool({"project_key": key("p", 0)}),
    ("POST", "/api/v1/tools/search_messages_product"): _message_tool({"product_key": key("x", 0)}),
    ("PUT", "/api/v1/tools"): _put_tools,
    ("GET", "/api/v1/tools"): _list("server", "name", "tag", "skill_id"),
    ("GET", "/api/v1/tools/{item_id}"): _one("tool"),
    ("DELETE", "/api/v1/tools/{item_id}"): _one("tool", 204),
    ("GET", "/api/v1/tools/{item_id}/skills"): lambda path, world: iter(
        [Case("5 skills", _filled(path, world.tools[0]))]
    ),
    ("PUT", "/api/v1/tools/{item_id}/skills"): _assign,
    ("PUT", "/api/v1/servers"): _put_servers,
    ("GET", "/api/v1/servers"): _list("path", "tag", is_enabled="true"),
    ("GET", "/api/v1/servers/{server_id}"): _one("server"),
    ("DELETE", "/api/v1/servers/{server_id}"): _one("server", 204),
    ("POST", "/api/v1/servers/{server_id}/enable"): _one("server"),
    ("POST", "/api/v1/servers/{server_id}/disable"): _one("server"),
    ("PUT", "/api/v1/agents"): _put_agents,
    ("GET", "/api/v1/agents"): _list("path", "tag", is_enabled="true"),
    ("GET", "/api/v1/agents/{agent_id}"): _one("agent"),
    ("DELETE", "/api/v1/agents/{agent_id}"): _one("agent", 204),
    ("POST", "/api/v1/agents/{agent_id}/enable"): _one("agent"),
    ("POST", "/api/v1/agents/{agent_id}/disable"): _one("agent"),
    ("PUT", f"{_MAIL}/projects"): _put_mail("projects", _PROJECTS),
    ("GET", f"{_MAIL}/projects"): _list("key"),
    ("GET", f"{_MAIL}/projects/{{project_id}}"): _one("project"),
    ("DELETE", f"{_MAIL}/projects/{{project_id}}"): _one("project", 204),
    ("PUT", f"{_MAIL}/products"): _put_mail("products", _PRODUCTS),
    ("GET", f"{_MAIL}/products"): _list("key"),
    ("GET", f"{_MAIL}/products/{{product_id}}"): _one("product"),
    ("DELETE", f"{_MAIL}/products/{{product_id}}"): _one("product", 204),
    ("PUT", f"{_MAIL}/agents"): _put_mail("agents", _AGENTS),
    ("GET", f"{_MAIL}/agents"): _list("name", project_id="1"),
    ("GET", f"{_MAIL}/agents/{{agent_id}}"): _one("mail_agent"),
    ("DELETE", f"{_MAIL}/agents/{{agent_id}}"): _one("mail_agent", 204),
    ("PUT", f"{_MAIL}/messages"): _put_mail("messages", _MESSAGES),
    ("GET", f"{_MAIL}/messages"): _list("key", "thread_id", "sender", "recipient", importance="urgent", project_id="1"),
    ("GET", f"{_MAIL}/messages/{{message_id}}"): _one("message"),
    ("DELETE", f"{_MAIL}/messages/{{message_id}}"): _one("message", 204),
    ("POST", f"{_MAIL}/messages/{{message_id}}/acknowledge"): _one(
        "message", body=lambda: {"agent": message(0)["to"][0]}
    ),
    ("POST", "/api/v1/skills"): _post_skill,
    ("GET", "/api/v1/skills"): _list("parent_domain", is_active="all"),
    ("POST", "/api/v1/skills/classify"): _classify,
    ("GET", "/api/v1/skills/{skill_id}"): _of_skill(0),
    ("PUT", "/api/v1/skills/{skill_id}"): _change_skill,
    ("PATCH", "/api/v1/skills/{skill_id}"): _change_skill,
    ("DELETE", "/api/v1/skills/{skill_id}"): _of_skill(1, 204),
    ("GET", "/api/v1/skills/{skill_id}/tools"): _list(),
    ("POST", "/api/v1/skills/{skill_id}/describe"): _of_skill(0, 201),
    ("GET", "/api/v1/skills/suggestions"): _list(),
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/approve"): _approve,
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/reject"): _one(
        "suggestion", body=lambda: {"reason": '"' * 1000}
    ),
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/merge"): _merge,
    ("GET", "/api/v1/verify"): _plain,
    ("GET", "/health"): _plain,
    ("GET", "/ready"): _plain,
}
