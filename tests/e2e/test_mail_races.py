"""Many clients of two servers change messages, agents, projects and products at once: no error, and all agrees."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.load import RandomCalls, race
from tests.e2e.processes import HASHING, SOAK, Processes, answered, eventually
from tests.e2e.work import every_page, put_mail, verified
from tests.integration.rows import Sql, connected

CLIENTS = 8
FOR_S = 60.0 if SOAK else 3.0
AT_MOST_S = FOR_S + 30.0
OFTEN = 4
"""How often every kind of change must have succeeded; a busy machine gets the time for it."""

_PROJECTS = ("orchard", "barn", "cellar")
# Four agents that write messages, each in two spellings, and some that seldom do: those can be deleted.
_IDLE = ("Drone", "Moth", "Snail", "Sloth")
_NAMES = (*_IDLE, "BlueLake", "bluelake", "RedFox", "REDFOX", "GoldenReed", "goldenReed", "Ann", "ａｎｎ")
_WORDS = ("apples", "ledger", "baskets", "harvest", "ladder", "cider")
_CHANGES = (
    "put_messages", "put_agents", "put_projects", "put_products", "delete_message", "delete_agent", "delete_project",
    "delete_product", "acknowledge",
)  # fmt: skip
_MODES = ("lexical", "semantic", "hybrid", "hybrid_rerank")


class Client(RandomCalls):
    """Changes mail and searches it."""

    def __init__(self, http: httpx.Client, seed: int) -> None:
        super().__init__(http, seed)
        self._calls = (
            (8, self.put_messages, {200}),
            (5, self.put_agents, {200}),
            (3, self.put_projects, {200}),
            (3, self.put_products, {200}),
            (3, self.delete_message, {204, 404}),
            (3, self.delete_agent, {204, 404, 409}),
            (2, self.delete_project, {204, 404, 409}),
            (2, self.delete_product, {204, 404}),
            # 422: the message is another one by now, and was not sent to that agent.
            (3, self.acknowledge, {200, 404, 422}),
            (8, self.search, {200}),
            (2, self.read, {200, 404}),
        )

    def put_messages(self) -> httpx.Response:
        keys = self._random.sample(range(20), self._random.randint(1, 6))
        return self._written("message", [self._message(f"m{key}") for key in keys])

    def put_agents(self) -> httpx.Response:
        chosen = {name.casefold(): name for name in self._random.sample(_NAMES, 3) if name != "ａｎｎ"}
        return self._written("agent", [{"name": name, **self._linked()} for name in chosen.values()])

    def put_projects(self) -> httpx.Response:
        keys = self._random.sample(_PROJECTS, 2)
        return self._written("project", [{"key": key, "name": key, "description": self._text(3)} for key in keys])

    def put_products(self) -> httpx.Response:
        return self._written("product", [{"key": f"p{at}", "name": self._text(1), **self._linked()} for at in range(2)])

    def delete_message(self) -> httpx.Response:
        return self._http.delete(f"/api/v1/mail/messages/{self._one_of('message')}")

    def delete_agent(self) -> httpx.Response:
        name = self._random.choice([*_IDLE, *_IDLE, "redFox"])
        found = answered(self._http.get("/api/v1/mail/agents", params={"name": name})) or [{"id": 1}]
        return self._http.delete(f"/api/v1/mail/agents/{found[0]['id']}")

    def delete_project(self) -> httpx.Response:
        return self._http.delete(f"/api/v1/mail/projects/{self._one_of('project')}")

    def delete_product(self) -> httpx.Response:
        return self._http.delete(f"/api/v1/mail/products/{self._one_of('product')}")

    def acknowledge(self) -> httpx.Response:
        messages = answered(self._http.get("/api/v1/mail/messages", params={"limit": 20}))
        message = self._random.choice(messages or [{"id": 1, "to": ["Ann"]}])
        url = f"/api/v1/mail/messages/{message['id']}/acknowledge"
        return self._http.post(url, json={"agent": message["to"][0]})

    def search(self) -> httpx.Response:
        request = {
            "text": self._text(self._random.randint(0, 3)),
            "mode": self._random.choice(_MODES),
            "doc_kind": self._random.choice(["message", "message", "agent", "project"]),
            "ranking": self._random.choice(["relevance", "recency"]),
            "sender_name": self._random.choice([*_NAMES, None, None, None]),
            "explain": True,
            "limit": 5,
        }
        return self._http.post("/api/v1/search/messages", json={k: v for k, v in request.items() if v is not None})

    def read(self) -> httpx.Response:
        kind = self._random.choice(["message", "agent", "project", "product"])
        return self._http.get(f"/api/v1/mail/{kind}s/{self._one_of(kind)}")

    def _written(self, kind: str, things: list[dict[str, Any]]) -> httpx.Response:
        response = self._http.put(f"/api/v1/mail/{kind}s", json={f"{kind}s": things})
        if response.is_success:
            failed = [result for result in response.json()["results"] if result["status"] == "failed"]
            # A project may have been deleted meanwhile; nothing else may go wrong.
            self.wrong += [f"{kind}: {each}" for each in failed if not each["error"]["field"].startswith("project")]
        return response

    def _message(self, key: str) -> dict[str, Any]:
        sender, *others = self._random.sample(("BlueLake", "redfox", "GoldenReed", "ANN"), self._random.randint(2, 4))
        if self._random.random() < 0.05:
            others[-1] = self._random.choice(_IDLE)
        return {
            "key": key,
            "project": self._random.choice(_PROJECTS[:2]),  # the third can be deleted, as no message refers to it
            "from": sender,
            "to": others[:1],
            "cc": others[1:2],
            "bcc": others[2:],
            "subject": self._text(2),
            "body": self._text(5),
            "importance": self._random.choice(["low", "normal", "high", "urgent"]),
        }

    def _linked(self) -> dict[str, Any]:
        projects = self._random.sample(_PROJECTS, self._random.randint(0, 3))
        return {"description": self._text(3), "projects": projects}

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(_WORDS, k=words))

    def _one_of(self, kind: str) -> int:
        found = answered(self._http.get(f"/api/v1/mail/{kind}s", params={"limit": 1000}))
        ids: list[int] = [each["id"] for each in found]
        return self._random.choice(ids or [1])


def test_nobody_sees_an_error_and_afterwards_all_agree(home: Path, processes: Processes, database_url: str) -> None:
    pair = [processes.bare(home, database_url, "--relay-every-s", "0.5", **HASHING) for _ in range(2)]
    for server in pair:
        server.ready()
    put_mail(pair[0].http, "project", *({"key": key, "name": key} for key in _PROJECTS))
    clients = [Client(server.client(), seed) for seed, server in zip(range(CLIENTS), itertools.cycle(pair))]
    race(clients, _CHANGES, often=OFTEN, for_s=FOR_S, at_most_s=AT_MOST_S)

    with connected(database_url) as sql:
        [[deadlocks]] = sql("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        assert deadlocks == 0, "each is retried, and costs everybody who waits a second"
        eventually(lambda: waiting(sql) == 0, "everything has its vector")
        assert wrongly_stored(sql) == []
        stored = dict(sql("SELECT kind, count(*) FROM mcp.mail_documents GROUP BY kind"))
    for server in pair:
        verified(server)
        assert "Traceback" not in server.output
        found = every_page(server.http, " ".join(_WORDS), limit=7)
        assert sum(len(page["results"]) for page in found) == stored["message"]


def waiting(sql: Sql) -> int:
    [[number]] = sql("SELECT count(*) FROM mcp.document_vectors WHERE embedding IS NULL")
    return int(number)


def wrongly_stored(sql: Sql) -> list[list[Any]]:
    """Return documents that do not say what the rows say, however the code would derive them."""
    return sql(
        "SELECT d.id, d.kind, d.project_ids, d.sender_key, d.recipient_keys FROM mcp.mail_documents d "
        "LEFT JOIN mcp.documents t ON t.collection = 'mcp_mail' AND t.key = d.id::text "
        "LEFT JOIN mcp.mail_messages m ON m.id = d.id "
        "LEFT JOIN mcp.mail_agents a ON a.id = d.id "
        "LEFT JOIN mcp.mail_projects p ON p.id = d.id "
        "CROSS JOIN LATERAL (SELECT coalesce(array_agg(k.project_id ORDER BY k.project_id), '{}') AS ids "
        "  FROM mcp.mail_memberships k WHERE k.agent_id = a.id) member "
        "CROSS JOIN LATERAL (SELECT coalesce(array_agg(r.name_key ORDER BY r.name_key), '{}') AS keys "
        "  FROM mcp.mail_recipients o JOIN mcp.mail_agents r ON r.id = o.agent_id WHERE o.message_id = m.id) got "
        "WHERE num_nonnulls(m.id, a.id, p.id) <> 1 OR t.key IS NULL "
        "   OR m.id IS NOT NULL AND (d.kind <> 'message' OR t.lexical_text <> concat_ws(chr(10), m.subject, m.body) "
        "      OR d.project_ids <> ARRAY[m.project_id] "
        "      OR d.sender_key <> (SELECT s.name_key FROM mcp.mail_agents s WHERE s.id = m.sender_id) "
        "      OR (SELECT array_agg(key ORDER BY key) FROM unnest(d.recipient_keys) key) <> got.keys) "
        "   OR a.id IS NOT NULL AND (d.kind <> 'agent' OR t.lexical_text <> concat_ws(chr(10), a.name, a.description) "
        "      OR (SELECT coalesce(array_agg(i ORDER BY i), '{}') FROM unnest(d.project_ids) i) <> member.ids) "
        "   OR p.id IS NOT NULL AND (d.kind <> 'project' OR NOT starts_with(t.lexical_text, p.name || chr(10)) "
        "      OR d.project_ids <> ARRAY[p.id])"
    )
