"""The stored data of `cost.py`: as much and as large as the API takes, and some of everything to delete."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import Embedder
from skillroute.core.postgres.database import Session
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.model import SkillDraft
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.model import Assignment, AssignmentSource, skill_key
from skillroute.skills.suggestions.repository import SuggestionRepository
from skillroute.wiring import Parts

from benchmarks.harness import progress
from benchmarks.standing.cost_meter import Caller
from benchmarks.standing.cost_texts import HOSTILE

Json = dict[str, Any]

SCHEMA_BYTES = 240_000
DESCRIPTION = "water " + "\x01" * 34_000
"""Seven times as long on the way; with the rest of a tool just below its 256 KB."""
NAME = 256
SKILLS = 1_000
ITEMS = 1_000
MEMBERS = 1_000
"""Tools of each of five skills."""

_PER_CALL = {
    "items": 500,
    "servers": 100,
    "agents": 100,
    "projects": 100,
    "products": 100,
    "messages": 500,
    "agent_skills": 100,
}


def named(prefix: str, number: int, length: int = NAME) -> str:
    """Return a name of that length that no other number has."""
    return f"{prefix} {number:05} water ".replace(" ", "_") + '"' * (length - len(prefix) - 13)


def key(prefix: str, number: int) -> str:
    """Return the longest key of mail that there is."""
    return f"{prefix}{number:05}".ljust(128, "k")


def large_tool(number: int, prefix: str = "large") -> Json:
    """Return a tool with the largest schema."""
    schema = {"type": "object", "properties": {"x": {"description": "y" * SCHEMA_BYTES}}}
    return {"name": f"{prefix}_{number}", "description": "water", "input_schema": schema}


def wide_tool(number: int, prefix: str = "wide") -> Json:
    """Return a small tool with the longest name and the most tags."""
    tags = [f"{tag:02}".ljust(64, '"') for tag in range(50)]
    return {"name": named(prefix, number), "server": named("server", number % 7), "description": "water", "tags": tags}


def skill(number: int, prefix: str = "s") -> Json:
    """Return the largest skill."""
    return {
        "id": f"{prefix}{number:04}".ljust(64, "_"),
        "name": f"Skill {number} ".ljust(255, '"'),
        "description": f"Water {number} ".ljust(1000, '"'),
        "keywords": [f"{word:02} water {number} ".ljust(64, "\x01") for word in range(20)],
        "examples": [f"{word:02} {number} ".ljust(256, "\x01") for word in range(10)],
        "parent_domain": "d" * 64,
    }


def message(number: int, prefix: str = "m", body: str = "water", recipients: int = 100) -> Json:
    """Return a message to the most agents there can be, whose names are a kilobyte each."""
    names = [f"{name:03}".ljust(250, "\U0001d518") for name in range(3 * recipients)]
    roles = {role: names[start * recipients :][:recipients] for start, role in enumerate(("to", "cc", "bcc"))}
    about = {"key": key(prefix, number), "project": key("p", 0), "from": "writer", "thread_id": "t" * 256}
    return {**about, **roles, "subject": f"water {number} ".ljust(1000, "s"), "body": body, "importance": "urgent"}


class MadeUpVectors:
    """The model, or vectors drawn at random in its place: most of a bulk write is the model, see `ingest.py`.

    Attributes
    ----------
    is_real : bool
        Whether the model is asked.
    """

    def __init__(self, real: Embedder) -> None:
        self._real = real
        self._rng = np.random.default_rng(7)
        self.is_real = False

    @property
    def model(self) -> EmbeddingModel:
        return self._real.model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        if self.is_real:
            return self._real.embed(texts, timeout_s=timeout_s)
        vectors = self._rng.normal(size=(len(texts), self.model.dimension))
        made: list[Vector] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).tolist()
        return made


def skill_folder(path: str, body: str, *, files: int = 0) -> Json:
    """Return an Agent Skill with a body and small files."""
    frontmatter = {"name": path.rpartition("/")[2], "description": "water"}
    skill_md = {"path": "SKILL.md", "text": f"---\nname: {frontmatter['name']}\n---\n{body}"}
    others = [{"path": f"{n}.txt", "text": f"{n}"} for n in range(files)]
    return {"path": path, "frontmatter": frontmatter, "files": [skill_md, *others]}


class World:
    """Fills an application through its own routes, and knows the ids of what it wrote."""

    def __init__(self, ask: Caller, parts: Parts) -> None:
        self._ask = ask
        self._parts = parts
        self._spare: dict[str, list[int]] = {}
        self.tools: list[int] = []
        self._wide: list[int] = []
        self._members: list[int] = []

    def put(self, path: str, name: str, rows: Sequence[Json]) -> list[int]:
        """Write rows in as few calls as they fit into; return their ids."""
        ids: list[int] = []
        most_bytes = 1_000_000 if "/mail/" in path else 5_500_000
        for batch in _batches(rows, _PER_CALL[name], most_bytes):
            body = json.dumps({name: batch}, ensure_ascii=False).encode()
            report = json.loads(self._ask("PUT", path, body).body)
            failed = [
                result for result in report.get("results", [report]) if result.get("error") or "status" not in result
            ]
            if failed:
                raise SystemExit(f"{path} refused what it should take: {str(failed[0])[:500]}")
            ids += [result["id"] for result in report["results"]]
        return ids

    def spare(self, kind: str) -> int:
        """Return the id of one that a case may delete."""
        return self._spare[kind].pop()

    def settle(self) -> None:
        """Bring the index up to date, so that no search pays for the writes before it."""
        with self._parts.replica.current():
            pass

    def fill(self) -> None:
        """Write everything."""
        steps = (self._tools, self._registry, self._agent_skills, self._mail, self._skills, self._suggestions)
        with progress() as bar:
            for step in bar.track(steps, description="filling"):
                step()
        self._parts.pool.transact(lambda connection: connection.script("DELETE FROM mcp.outbox; ANALYZE"))
        self.settle()

    def _tools(self) -> None:
        self.tools = self.put("/api/v1/tools", "items", [large_tool(n) for n in range(50)])
        self._spare["tool"] = self.put("/api/v1/tools", "items", [large_tool(n, "spare") for n in range(2)])
        long = [{"name": f"long_{n}", "description": DESCRIPTION} for n in range(50)]
        self.put("/api/v1/tools", "items", long)
        self._wide = self.put("/api/v1/tools", "items", [wide_tool(n) for n in range(ITEMS)])
        members = [{"name": f"member_{n}", "server": "members", "description": f"water {n}"} for n in range(MEMBERS)]
        self._members = self.put("/api/v1/tools", "items", members)

    def _registry(self) -> None:
        large = [{"name": f"large {n}", "description": "water", "x": '"' * 120_000} for n in range(50)]
        path, name = "/api/v1/servers", "servers"
        self._spare["server"] = []
        self.put(path, name, [{**server, "tools": [{"name": "t", "description": DESCRIPTION}]} for server in large])
        for number in range(4):
            tools = [{"name": named("t", n, 200), "description": "water " + "\x01" * 800} for n in range(500)]
            full = {"name": f"full {number}", "path": f"/{'p' * 250}{number}", "description": DESCRIPTION}
            self._spare["server"] += self.put(path, name, [{**full, "tags": ["water"] * 50, "tools": tools}])
        path, name = "/api/v1/agents", "agents"
        self._spare["agent"] = self.put(path, name, large)
        skills = [{"name": named("s", n, 200), "description": "water"} for n in range(500)]
        full = {"description": "water", "skills": skills, "tags": ["water"] * 50}
        self.put(path, name, [{**full, "name": f"full {n}"} for n in range(50)])
        self.put(path, name, [{"name": f"small {n}", "description": "water"} for n in range(ITEMS)])

    def _agent_skills(self) -> None:
        many = [skill_folder(f"many-{n}", "water\n\n" + "word " * 200, files=199) for n in range(20)]
        long = [skill_folder(f"long-{n}", ("# Water\n" + "word " * 200 + "\n") * 64) for n in range(20)]
        self._spare["agent_skill"] = self.put("/api/v1/agent-skills", "agent_skills", [*many, *long])

    def _mail(self) -> None:
        mail = "/api/v1/mail"
        keys = [key("p", n) for n in range(1_000)]
        projects = [{"key": project, "name": "n" * NAME, "description": "water"} for project in keys]
        self._spare["project"] = self.put(f"{mail}/projects", "projects", projects)
        long = [{"key": key("long", n), "name": "n", "description": DESCRIPTION} for n in range(50)]
        self._spare["project"] += self.put(f"{mail}/projects", "projects", long)
        products = [{"key": key("x", n), "name": "n", "description": "water", "projects": keys} for n in range(20)]
        self._spare["product"] = self.put(f"{mail}/products", "products", products)
        agents = [{"name": "writer", "projects": keys}, {"name": "reader", "projects": keys}]
        agents += [{"name": f"agent {n}", "description": DESCRIPTION, "projects": keys[:50]} for n in range(25)]
        self._spare["mail_agent"] = self.put(f"{mail}/agents", "agents", agents)
        to_many = self.put(f"{mail}/messages", "messages", [message(n) for n in range(30)])
        bodies = [HOSTILE[name](100_000) for name in ("words", "different words", "tables")]
        long = [message(n, "long", "water " + bodies[n % 3][6:], recipients=1) for n in range(30)]
        self.put(f"{mail}/messages", "messages", long)
        short = [message(n, "short", recipients=1) for n in range(ITEMS)]
        self.put(f"{mail}/messages", "messages", short)
        self._spare["message"] = to_many

    def _skills(self) -> None:
        for number in range(SKILLS - 10):  # as many as there may be, but for those that cases create
            answer = self._ask("POST", "/api/v1/skills", json.dumps(skill(number)).encode())
            if answer.status != 201:
                raise SystemExit(f"a skill was refused: {answer.body[:500]!r}")
        ids = [skill(n)["id"] for n in range(5)]
        given = {tool: [Assignment(id_, 0.9, "r" * 1000) for id_ in ids] for tool in self._members}
        keys = {id_: skill_key(id_, None) for id_ in ids}
        # At once: by hand each would have its skills' vectors made again.
        self._parts.database.transact(
            lambda session: AssignmentRepository(session).replace(given, keys, AssignmentSource.HUMAN_MANUAL)
        )

    def _suggestions(self) -> None:
        """Store what a language model may suggest, of one name for 500 tools, and of many names."""

        def suggest(session: Session) -> list[int]:
            tools = ClassificationRepository(session).tools(self._wide, None)
            ids = []
            for number, seen in enumerate(tools.values()):
                name = "Same" if number % 2 else f"Name {number} "
                draft = SkillDraft(name.ljust(255, "n"), "Water ".ljust(1000, '"'), "r" * 1000)
                ids.append(SuggestionRepository(session).add(draft, seen.tool, AssignmentSource.LLM_AUTO)[0])
            return ids

        ids = self._parts.database.transact(suggest)
        self._spare["suggestion"] = [*ids[::2], ids[1]]  # one of them has the name that so many have
        # The first classification embeds the texts of all skills, which `classification.py` measures.
        self._ask("POST", "/api/v1/skills/classify", json.dumps({"tool_id": self.tools[0]}).encode())


def _batches(rows: Iterable[Json], most: int, most_bytes: int) -> Iterable[list[Json]]:
    batch: list[Json] = []
    left = most_bytes
    for row in rows:
        size = len(json.dumps(row, ensure_ascii=False).encode()) + 2
        if batch and (len(batch) == most or size > left):
            yield batch
            batch, left = [], most_bytes
        batch.append(row)
        left -= size
    if batch:
        yield batch
