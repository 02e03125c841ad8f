"""Requests of the Model Context Protocol that nobody would send on purpose: half right, and wrong in every place."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.api.mcp_calls import META, REVISIONS, STATELESS

_METHODS = (
    "initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/read",
    "resources/templates/list", "prompts/list", "prompts/get", "notifications/initialized", "logging/setLevel", "x", "",
    "skills/list", "skills/get", "resources/directory/read",
)  # fmt: skip
_TOOLS = (
    "search_tools", "get_tool_details", "search_servers_and_agents", "list_tool_groups", "list_skills",
    "search_skills", "search_messages", "search_messages_product", "read_message", "nothing",
)  # fmt: skip
# The first four are what organisations have.
_WORDS = (
    "water",
    "garden",
    "orchard",
    "meadow",
    "天气",
    "\x00",
    "\ud800",
    "🙂",
    "' OR 1=1 --",
    "%s",
    "{}",
    "x" * 2000,
    " ",
    "",
)
_NUMBERS = (0, 1, -1, 2, 5, 50, 99, 2**31, 2**63, 10**30, 1.5, 1e308)
_NAMES = (
    "query", "limit", "item_type", "detail", "budget_tokens", "ids", "kind", "offset", "project_key", "product_key",
    "name", "arguments", "uri", "cursor", "_meta", "season", "explain", "after", "mode",
)  # fmt: skip


class Noise:
    """Makes requests, the same ones for the same seed.

    Parameters
    ----------
    ids : sequence of int
        Of things that there are, whoever's they are.
    """

    def __init__(self, seed: int, ids: list[int]) -> None:
        self._random = random.Random(seed)
        self._ids = ids

    def request(self) -> tuple[bytes, dict[str, str]]:
        """Return body and headers of a request."""
        chance = self._random
        revision = chance.choice(REVISIONS)
        body = self._body(revision)
        text = json.dumps([body] * chance.randint(0, 3) if chance.random() < 0.05 else body).encode()
        if chance.random() < 0.1:
            text = self._damaged(text)
        return text, self._headers(body, revision)

    def _body(self, revision: str) -> dict[str, Any]:
        chance = self._random
        method = chance.choice((*_METHODS, *("tools/call",) * 10, *("resources/read", "prompts/get") * 3))
        params = self._params(method)
        if revision == STATELESS and chance.random() < 0.95:
            params["_meta"] = META
        body = {"jsonrpc": "2.0", "id": chance.randint(1, 99), "method": method, "params": params}
        if chance.random() < 0.1:
            body[chance.choice(list(body))] = self._value(2)
        if chance.random() < 0.1:
            del body[chance.choice(list(body))]
        return body

    def _params(self, method: str) -> dict[str, Any]:
        chance, number = self._random, self._random.choice(self._ids)
        params: dict[str, Any] = {}
        if method == "tools/call":
            params = {"name": chance.choice(_TOOLS), "arguments": self._arguments()}
        elif method in {"resources/read", "skills/get", "resources/directory/read"}:
            skills = [f"skill://{chance.choice(['orchard', 'meadow'])}/bees{end}" for end in ("/SKILL.md", "/a.md", "")]
            groups = ["tool-group://orchard", "tool-group://meadow"]
            params = {"uri": chance.choice([*groups, *skills, f"skill://{self._word()}", self._word()])}
        elif method == "prompts/get":
            params = {"name": chance.choice([f"plan-{number}", f"water-{number}", self._word()]), "arguments": {}}
        elif chance.random() < 0.3:
            params = {"cursor": chance.choice(["after-1", "after-100", self._value(1)])}
        if chance.random() < 0.1:
            params[chance.choice(_NAMES)] = self._value(3)
        return params

    def _arguments(self) -> Any:
        chance = self._random
        arguments: dict[str, Any] = chance.choice(
            [
                {"query": self._word()},
                {"query": self._word(), "limit": chance.choice(_NUMBERS), "detail": chance.choice(["full", "name"])},
                {"query": self._word(), "budget_tokens": chance.randint(90, 2000)},
                {"query": self._word(), "item_type": "skill"},
                {"needs": [self._word(), self._word()], "item_type": chance.choice(["skill", "tool"])},
                {"ids": chance.sample(self._ids, min(len(self._ids), chance.randint(1, 5)))},
                {"query": self._word(), "project_key": chance.choice(["orchard", "meadow", self._word()])},
                {"query": self._word(), "product_key": chance.choice(["orchard", "meadow", self._word()])},
                {"offset": chance.choice(_NUMBERS)},
            ]
        )
        if chance.random() < 0.2:
            arguments[chance.choice((*_NAMES, self._word()))] = self._value(3)
        return arguments if chance.random() < 0.95 else self._value(2)

    def _headers(self, body: dict[str, Any], revision: str) -> dict[str, str]:
        chance = self._random
        sent = {"content-type": "application/json", "mcp-protocol-version": revision}
        if revision == STATELESS:
            method, params = body.get("method"), body.get("params")
            sent["mcp-method"] = method if isinstance(method, str) and method.isascii() else "x"
            named = (params.get("name") or params.get("uri")) if isinstance(params, dict) else None
            if isinstance(named, str) and named.isascii() and named.isprintable():
                sent["mcp-name"] = named
        if chance.random() < 0.1:
            sent.pop(chance.choice(list(sent)))
        if chance.random() < 0.05:
            sent[chance.choice(["accept", "mcp-protocol-version", "origin", "mcp-name"])] = chance.choice(
                ["x", "", "*/*"]
            )
        return sent

    def _damaged(self, text: bytes) -> bytes:
        place = self._random.randrange(len(text))
        bad = self._random.choice([b"", b"\xff", b"\x00", b'"', b"[[[[", b"}", b"\\ud800", b"1e999", b"NaN"])
        return text[:place] + bad + text[place + self._random.randint(0, 3) :]

    def _word(self) -> str:
        return self._random.choice(_WORDS if self._random.random() < 0.5 else _WORDS[:4])

    def _value(self, levels: int) -> Any:
        chance = self._random
        if levels == 0 or chance.random() < 0.6:
            return chance.choice([None, True, self._word(), chance.choice(_NUMBERS), [], {}])
        if chance.random() < 0.5:
            return [self._value(levels - 1) for _ in range(chance.randint(1, 3))]
        return {chance.choice((*_NAMES, self._word())): self._value(levels - 1) for _ in range(chance.randint(1, 3))}
