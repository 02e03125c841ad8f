"""Search requests of `cost.py`: texts made to be slow, most filters, largest answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlencode

from benchmarks.standing.cost_case import Case, within
from benchmarks.standing.cost_texts import HOSTILE
from benchmarks.standing.cost_world import Json, World

SEARCH_TEXT, TEXT = 1_000, 10_000
"""Characters of a query of tool search, and of registry and mail."""


def _texts(length: int) -> Iterator[tuple[str, str]]:
    for name, make in HOSTILE.items():
        yield name, make(length)


def search(path: str, _: World) -> Iterator[Case]:
    """Yield searches for tools with their schemas."""
    everything = {"limit": 50, "skill_limit": 10, "skill_threshold": 0.0, "tool_threshold": 0.0, "strategy": "hybrid"}
    for mode in ("semantic", "lexical", "hybrid"):
        for query in ("water", "large water", "long water"):
            yield Case(f"{query}, {mode}", path, {**everything, "query": query, "mode": mode})
        for name, text in _texts(SEARCH_TEXT):
            yield Case(f"{name}, {mode}", path, {**everything, "query": text, "mode": mode})


def search_batch(path: str, _: World) -> Iterator[Case]:
    """Yield batches of as many searches as one may have."""
    everything = {"limit": 50, "skill_limit": 10, "skill_threshold": 0.0, "tool_threshold": 0.0, "strategy": "hybrid"}
    for mode in ("semantic", "lexical", "hybrid"):
        searches = [{**everything, "query": f"long water {number}", "mode": mode} for number in range(20)]
        yield Case(f"20 searches, {mode}", path, {"searches": searches}, work="bulk")


def _search_by_url(path: str, **more: object) -> Iterator[Case]:
    for mode in ("semantic", "lexical", "hybrid"):
        for name, text in [("water", "water"), ("long water", "long water"), *_texts(SEARCH_TEXT)]:
            asked = {"query": text, "limit": 50, "threshold": 0, "mode": mode, **more}
            yield Case(f"{name}, {mode}", f"{path}?{urlencode(asked)}")


def search_skills(path: str, _: World) -> Iterator[Case]:
    """Yield searches for skills."""
    yield from _search_by_url(path)


def search_tools(path: str, _: World) -> Iterator[Case]:
    """Yield searches for tools without their schemas."""
    yield from _search_by_url(path)
    for name, ids in {"commas": "," * TEXT, "5,000 skills": "a," * 5_000, "unlike ids": "%/\\'" * 2_500}.items():
        yield Case(f"skill_ids: {name}", f"{path}?{urlencode({'query': 'water', 'skill_ids': ids})}")


def search_agent_skills(path: str, _: World) -> Iterator[Case]:
    """Yield searches for Agent Skills."""
    yield Case("water", path, {"query": "water", "limit": 50})
    for name, text in _texts(1_000):
        yield Case(name, path, {"query": text, "limit": 50})


def search_registry(path: str, _: World) -> Iterator[Case]:
    """Yield searches for servers, their tools and agents."""
    most = {"max_results": 50, "include_disabled": True, "explain": True}
    for fusion in ("boost", "rrf", "coverage"):
        yield Case(f"water, {fusion}", path, {**most, "query": "water", "fusion": fusion})
    tags = [f"{n:02}".ljust(64, "%") for n in range(20)]
    yield Case("the most tags", path, {**most, "query": "water", "tags": tags})
    for name, text in _texts(TEXT):
        yield Case(name, path, {**most, "query": text})


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


def search_messages(path: str, _: World) -> Iterator[Case]:
    """Yield searches for mail."""
    most: Json = {"limit": 1000, "explain": True}
    hidden = {"redact_agent_names": True, "redact_body": True, "redact_thread_ids": True, "placeholder": '"' * 256}
    scope = {"project_set": {"allowed_project_ids": list(range(1, 10_001))}}
    for mode in ("lexical", "semantic", "hybrid", "hybrid_rerank"):
        more = {**most, "mode": mode, "rerank_top_k": 1000}
        yield Case(f"water, {mode}", path, {**more, "text": "water"})
        yield Case(f"the most filters, {mode}", path, {**more, "text": "water", **_FILTERS})
        yield Case(f"10,000 projects, {mode}", path, {**more, "text": "water", "scope": scope})
    for kind in ("message", "agent", "project"):
        yield Case(f"every {kind}", path, {**most, "doc_kind": kind})
        yield Case(f"each {kind} of water", path, {**most, "text": "water", "doc_kind": kind})
    nothing = {"project_set": {"allowed_project_ids": []}}
    yield Case("all redacted", path, {**most, "text": "water", "scope": nothing, "redaction": hidden})
    for name in ("base64 without end", "digits", "open brackets"):
        yield Case(f"a cursor of {name}", path, {"text": "water", "cursor": HOSTILE[name](900_000)})
    for name, text in _texts(TEXT):
        for mode in ("lexical", "hybrid"):
            yield Case(f"{name}, {mode}", path, {**most, "text": text, "mode": mode})


def message_tool(about: Json) -> Callable[[str, World], Iterator[Case]]:
    """Return the cases of a tool that searches mail, with the argument that says where."""

    def cases(path: str, _: World) -> Iterator[Case]:
        most = {**about, "limit": 1000}
        for mode in ("lexical", "hybrid"):
            yield Case(f"water, {mode}", path, {**most, "query": "water", "mode": mode}, (200, 422))
        for name, text in _texts(TEXT):
            yield Case(name, path, {**most, "query": text})
        for name in ("digits", "words of a hyphen", "blanks in a word", "one letter with accents", "dots and letters"):
            for argument in ("date_start", "sender", "importance", "cursor", "unknown" * 40):
                wrong = {"query": "water", argument: within(HOSTILE[name](900_000), 900_000)}
                yield Case(f"{argument[:16]} of {name}", path, {**about, **wrong}, (200, 422))

    return cases


def mcp(path: str, world: World) -> Iterator[Case]:
    """Yield calls of tools by agents: the largest answers, cut to budgets small and large, and every list."""
    asked: list[tuple[str, str, Json]] = [("tools/list", "tools/list", {}), ("prompts/list", "prompts/list", {})]
    asked += [("resources/list", "resources/list", {})]
    for query in ("water", "large water", "long water"):
        for name, more in (
            ("whole", {"detail": "full"}),
            ("signatures", {"detail": "signature"}),
            ("20,000 tokens", {"budget_tokens": 20_000}),
            ("100 tokens", {"budget_tokens": 100}),
        ):
            arguments = {"query": query, "limit": 50, **more}
            asked.append((f"{query}, {name}", "tools/call", {"name": "search_tools", "arguments": arguments}))
    for name, text in _texts(SEARCH_TEXT):
        asked.append((name, "tools/call", {"name": "search_tools", "arguments": {"query": text, "limit": 50}}))
    details = {"name": "get_tool_details", "arguments": {"ids": world.tools[:20]}}
    asked.append(("20 tools", "tools/call", details))
    for name, method, params in asked:
        yield Case(name, path, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    query = {"name": "search_tools", "arguments": {"query": "large water", "limit": 50, "detail": "full"}}
    calls = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": query} for number in range(10)]
    yield Case("a batch of 10", path, calls)
