"""Fill a database with N realistic tools, 100 skills and their assignments; the same ones for the same seed.

A tool is one of 4,000 base tools (25 domains x 10 objects x 16 verbs, and real tools first where --data is given) of
one of many makers: its own server, description and schema, on the base tool's subject. The base tools are embedded
with the real model; the others take their base tool's vector with Gaussian noise of norm 0.4 added, scaled back to
norm 1 (cosine to the base about 0.93, as near as paraphrases are). Rows go through the repositories in batches of 500,
so triggers, change feed and constraints are the real ones. Texts, BM25 and schemas are each tool's own.

    python -m benchmarks.corpora.corpus --tools 1000 --database-url postgresql://...
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from skillroute.catalogue.model import ItemKey
from skillroute.catalogue.repository import ItemRepository, ItemRow
from skillroute.catalogue.rows import indexed_text
from skillroute.catalogue.schemas import read_item
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.stored_model import claim_model
from skillroute.core.hashing import content_hash
from skillroute.core.postgres.database import Session
from skillroute.core.settings import SearchSettings
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.model import Assignment, AssignmentSource, skill_key
from skillroute.wiring import Parts

from benchmarks.corpora.vocabulary import ACTIONS, ARGUMENTS, ASKS, DETAILS, DOMAINS, MAKERS, PEOPLE, TIMES, skills
from benchmarks.harness import progress

BASE_TOOLS = 4000
_BATCH = 500
_NOISE_NORM = 0.4
_SECOND_SKILL_SHARE = 0.2

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Template:
    """The subject of a generated base tool."""

    domain: str
    kind: str
    verb: str
    object: str

    @property
    def skill_id(self) -> str:
        return f"{self.domain}_{self.kind}"


_TEMPLATES = [
    Template(domain, kind, verb, thing)
    for domain, objects in DOMAINS.items()
    for kind, verbs in ACTIONS.items()
    for verb in verbs
    for thing in objects
]


class Corpus:
    """Tool number i for every i, made when it is asked for.

    Parameters
    ----------
    seed : int
    data : Path or None
        A folder of folders with ``tools.jsonl``; the tools of those with servers come first.
    """

    def __init__(self, seed: int = 7, data: Path | None = None) -> None:
        self.seed = seed
        templates: list[Template | Json] = random.Random(seed).sample(_TEMPLATES, len(_TEMPLATES))
        self._base = [*_real_tools(data), *templates][:BASE_TOOLS]

    def item(self, number: int) -> Json:
        """Return a tool as `PUT /api/v1/tools` takes it."""
        variant, base = divmod(number, len(self._base))
        rng = random.Random(f"{self.seed}/{number}")
        name = MAKERS[(base * 7 + variant) % len(MAKERS)]
        if variant >= len(MAKERS):
            name += str(variant // len(MAKERS) + 1)
        subject = self._base[base]
        if isinstance(subject, Template):
            return _made_up(subject, name, rng)
        if variant == 0:
            return subject
        return {
            **subject,
            "server": f"{subject['server']}-{name}",
            "description": f"{subject['description']} {rng.choice(DETAILS)}"[:2000],
        }

    def base_of(self, number: int) -> int:
        """Return which base tool a tool is a variation of; the first ones are their own."""
        return number % len(self._base)

    def assignments(self, number: int) -> list[Assignment]:
        """Return a tool's skills: one, every fifth time two. Those of a real tool are drawn by chance."""
        rng = random.Random(f"{self.seed}/skills/{number}")
        subject = self._base[self.base_of(number)]
        first = subject.skill_id if isinstance(subject, Template) else rng.choice(_TEMPLATES).skill_id
        given = [Assignment(first, round(rng.uniform(0.7, 0.99), 2))]
        second = f"{first.rpartition('_')[0]}_{rng.choice(list(ACTIONS))}"
        if rng.random() < _SECOND_SKILL_SHARE and second != first:
            given.append(Assignment(second, round(rng.uniform(0.5, 0.69), 2)))
        return given

    def queries(self, count: int) -> Iterator[str]:
        """Yield queries that are all different: each has a number of its own, or more than one."""
        rng = random.Random(f"{self.seed}/queries")
        for number in range(count):
            about = rng.choice(_TEMPLATES)
            ask = rng.choice(ASKS).format(
                verb=about.verb,
                object=about.object,
                domain=about.domain.replace("_", " "),
                person=rng.choice(PEOPLE),
                time=rng.choice(TIMES),
                number=number + 1000,
            )
            yield ask if str(number + 1000) in ask else f"{ask} ({number + 1000})"


def _real_tools(data: Path | None) -> list[Json]:
    tools: dict[tuple[str, str], Json] = {}
    for file in sorted(data.glob("*/tools.jsonl")) if data else []:
        for line in file.read_text(encoding="utf-8").splitlines():
            tool = json.loads(line)
            if tool.get("server"):
                kept = {name: tool[name] for name in ("name", "description", "server", "input_schema")}
                tools.setdefault((tool["server"], tool["name"]), kept)
    return list(tools.values())


def _made_up(about: Template, maker: str, rng: random.Random) -> Json:
    thing = about.object.replace(" ", "_").replace("-", "_")
    details = " ".join(rng.sample(DETAILS, rng.randint(1, 3)))
    chosen = rng.sample(ARGUMENTS, rng.randint(2, 9))
    properties = {
        name: {"type": kind, "description": text.format(object=about.object)}
        | ({"items": {"type": "string"}} if kind == "array" else {})
        for name, kind, text in chosen
    }
    field = about.domain.replace("_", " ")
    item: Json = {
        "name": f"{about.verb}_{thing}",
        "server": f"{maker}-{about.domain}",
        "description": f"{about.verb.capitalize()} a {about.object} of the {field} of {maker.capitalize()}. {details}",
        "input_schema": {"type": "object", "properties": properties, "required": [chosen[0][0]]},
        "annotations": {"readOnlyHint": about.kind in {"lookup", "analysis"}},
    }
    if rng.random() < 0.4:
        result = {"id": {"type": "string"}, thing: {"type": "object"}, "changed_at": {"type": "string"}}
        item["output_schema"] = {"type": "object", "properties": result}
    return item


class Filler:
    """Writes tools of a corpus into a database; more of them later, if asked to.

    Parameters
    ----------
    owner_of : callable
        Returns the organisation of each batch of 500; None is global.

    Attributes
    ----------
    store_s : float
        How long its transactions took, all together.
    """

    def __init__(
        self, database_url: str, corpus: Corpus, *, owner_of: Callable[[int], str | None] = lambda _: None
    ) -> None:
        self.store_s = 0.0
        self._owner_of = owner_of
        self._parts = Parts(SearchSettings(database_url=database_url))
        self._corpus = corpus
        self._count = 0
        self._base_vectors: list[list[float]] = []

    def fill(self, count: int) -> float:
        """Bring the database to `count` tools and return the seconds that took."""
        started = time.perf_counter()
        if self._count == 0:
            for skill in skills():
                self._parts.skills.create(skill, LAPTOP)
        with progress() as bar:
            task = bar.add_task(f"filling {count} tools", total=count, completed=self._count)
            while self._count < count:
                numbers = range(self._count, min(self._count + _BATCH, count))
                self._write(numbers)
                self._count = numbers.stop
                bar.update(task, completed=self._count)
        for skill in skills():
            self._parts.aggregate_skill(skill.key)
        self._parts.pool.transact(lambda connection: connection.script("ANALYZE"))
        return time.perf_counter() - started

    def close(self) -> None:
        self._parts.close()

    def _write(self, numbers: range) -> None:
        model = self._parts.embedder.model
        contents = [read_item(self._corpus.item(number)) for number in numbers]
        texts = [indexed_text(content) for content in contents]
        vectors = self._vectors(numbers, [text.embedding_texts[0] for text in texts])
        rows = [
            ItemRow(content, content_hash(content), text, vector)
            for content, text, vector in zip(contents, texts, vectors, strict=True)
        ]
        number_of: dict[ItemKey, int] = {content.key: n for content, n in zip(contents, numbers, strict=True)}

        def write(session: Session) -> None:
            claim_model(session, model)
            written = ItemRepository(session).upsert(self._owner_of(numbers.start // _BATCH), model, rows)
            given = {row.id: self._corpus.assignments(number_of[key]) for key, row in written.items()}
            keys = {
                assignment.skill_id: skill_key(assignment.skill_id, None)
                for named in given.values()
                for assignment in named
            }
            AssignmentRepository(session).replace(given, keys, AssignmentSource.SIMILARITY)

        started = time.perf_counter()
        self._parts.database.transact(write)
        self.store_s += time.perf_counter() - started

    def _vectors(self, numbers: range, texts: list[str]) -> list[list[float]]:
        own = [text for number, text in zip(numbers, texts, strict=True) if self._corpus.base_of(number) == number]
        self._base_vectors += self._parts.embedder.embed(own, timeout_s=600.0) if own else []
        vectors = np.array([self._base_vectors[self._corpus.base_of(number)] for number in numbers])
        dimension = vectors.shape[1]
        noise = np.random.default_rng([self._corpus.seed, numbers.start]).normal(
            0.0, _NOISE_NORM / dimension**0.5, vectors.shape
        )
        noise[: len(own)] = 0.0  # the base tools come first, and so do they in a batch
        vectors += noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        result: list[list[float]] = vectors.tolist()
        return result
