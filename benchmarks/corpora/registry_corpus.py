"""Fill a database with N servers of ten realistic tools each, and a tenth as many agents; the same for the same seed.

Texts are those of real servers and tools, varied: 6,628 distinct tools of four sets make 662 families of ten tools that
stand side by side in a set, each under the name, description and tags of a real server. From the second round on a
family is somebody else's: company and product have names made up letter by letter after the texts' own words, half of
the tools carry the product in their names, and half of the descriptions go on with a sentence of another one. So common
words stay as common as they are, and rare ones keep coming as they do in the sets, whose vocabulary grows by 1.65 for
twice as many tools: 13,400 distinct words in all tools of the sets, 87,000 in 10,000 servers.

The first round is embedded with the real model; the others take the vector of their family or tool with Gaussian noise
of norm 0.4 added, scaled back to norm 1, as in corpus.py. Rows go through the repositories in batches.

    python -m benchmarks.corpora.registry_corpus --servers 1000 --data DATA --directory /tmp/registry

keeps PostgreSQL in that folder, and running until Ctrl-C; a folder that is filled already is only started.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from skillroute.catalogue.repository import ItemRepository, ItemRow
from skillroute.catalogue.rows import indexed_text
from skillroute.catalogue.schemas import read_item
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.documents.stored_model import claim_model
from skillroute.core.hashing import content_hash, text_hash
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.database import Session
from skillroute.core.postgres.migrate import migrate
from skillroute.core.settings import SearchSettings
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.model import AgentSkill, EntityContent, EntityKind
from skillroute.registry.refresh import refresh
from skillroute.registry.repository import RegistryRepository
from skillroute.wiring import Parts
from skillroute_local.postgres import EmbeddedPostgres

from benchmarks.harness import fresh_database, print_table, progress

_SETS = ("docker-mcp-catalog", "livemcp-catalog", "sealtools", "bfcl")
_BATCH = 50
_NOISE_NORM = 0.4
_NAMED_AFTER_PRODUCT = 0.5
_MORE_SAID = 0.5
_TOOL_NAME_CHARS = 64
_WORD = re.compile(r"[a-z]{4,12}")

Json = dict[str, Any]
Vectors = dict[int, list[float]]


def read_lines(file: Path) -> list[Json]:
    """Return the objects of a .jsonl file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _first_sentence(text: str) -> str:
    return text.strip().partition(". ")[0].rstrip(".")


class Names:
    """Names that nobody has, of letters that follow each other as they do in a text."""

    def __init__(self, text: str) -> None:
        self._after: dict[str, list[str]] = defaultdict(list)
        for word in sorted(set(_WORD.findall(text.lower()))):
            padded = f"  {word} "
            for place in range(2, len(padded)):
                self._after[padded[place - 2 : place]].append(padded[place])

    def make(self, rng: random.Random) -> str:
        """Return a name of five to ten letters."""
        while True:
            name = "  "
            while (letter := rng.choice(self._after[name[-2:]])) != " ":
                name += letter
            if 5 <= len(name.strip()) <= 10:
                return name.strip().capitalize()


class RegistryCorpus:
    """Server, agent and tools number i for every i, made when they are asked for."""

    def __init__(self, data: Path, *, seed: int = 7, tools_per_server: int = 10) -> None:
        self._seed = seed
        self._per_server = tools_per_server
        distinct: dict[tuple[str, str], Json] = {}
        for name in _SETS:
            for tool in read_lines(data / name / "tools.jsonl"):
                distinct.setdefault((tool["name"], tool["description"]), tool)
        self._tools = list(distinct.values())
        self._servers = [line for name in _SETS[:2] for line in read_lines(data / name / "servers.jsonl")]
        self._by_name = {key: line for line in self._servers for key in (line["path"][1:], line["name"])}
        self._names = Names(" ".join(f"{tool['name']} {tool['description']}" for tool in self._tools))
        self.families = len(self._tools) // tools_per_server

    def server(self, number: int) -> EntityContent:
        """Return a server. Those of the first round have the words of a real one and nothing else."""
        model, company, product, rng = self._of(number)
        slug = re.sub(r"[^\w.-]+", "-", model["path"][1:].lower())
        name, description, tags = model["name"], model["description"], list(model["tags"])
        if number >= self.families:
            other = rng.choice(self._servers)
            name = f"{company} {name}"
            description = f"{description} {product}: {_first_sentence(other['description'])}."
            tags += [rng.choice(other["tags"] or [product.lower()])]
        path = f"/{company.lower()}-{slug}-{number}"
        return EntityContent("server", path, name, description, tuple(tags), document={**model, "name": name})

    def agent(self, number: int) -> EntityContent:
        """Return an agent that can do what the server of this number can."""
        server = self.server(number)
        skills = tuple(AgentSkill(tool["name"], tool["description"]) for tool in self.tools(number))
        can = ("streaming", "pushNotifications")[: number % 3]
        return replace(server, kind="agent", name=f"{server.name} agent", capabilities=can, skills=skills)

    def tools(self, number: int) -> list[Json]:
        """Return a server's tools as `PUT /api/v1/tools` takes them."""
        _, _, product, rng = self._of(number)
        given: dict[str, Json] = {}
        for base in self.bases(number):
            tool = self._tools[base]
            name, description = tool["name"], tool["description"]
            if number >= self.families:
                if rng.random() < _NAMED_AFTER_PRODUCT:
                    joined = f"{product.lower()}_{name}" if "_" in name or "-" in name else f"{name}{product}"
                    name = joined if len(joined) <= _TOOL_NAME_CHARS else name
                if rng.random() < _MORE_SAID:
                    more = _first_sentence(rng.choice(self._tools)["description"])
                    description = f"{description} {product}: {more}."[:2000]
            while name in given:
                name += "2"
            given[name] = {"name": name, "description": description, "input_schema": tool.get("input_schema")}
        server = self.server(number).tools_server
        return [{**tool, "server": server} for tool in given.values()]

    def bases(self, number: int) -> range:
        """Return which real tools a server's tools are variations of."""
        first = number % self.families * self._per_server
        return range(first, first + self._per_server)

    def _of(self, number: int) -> tuple[Json, str, str, random.Random]:
        rng = random.Random(f"{self._seed}/{number}")
        family = number % self.families
        own = self._by_name.get(self._tools[family * self._per_server].get("server") or "")
        model = own or self._servers[family % len(self._servers)]
        return model, self._names.make(rng), self._names.make(rng), rng


class RegistryFiller:
    """Writes a corpus into a database."""

    def __init__(self, database_url: str, corpus: RegistryCorpus, seed: int = 7) -> None:
        self._parts = Parts(SearchSettings(database_url=database_url))
        self._corpus = corpus
        self._noise = np.random.default_rng([seed, 1])
        self._tool_vectors: Vectors = {}
        self._entity_vectors: dict[EntityKind, Vectors] = {"server": {}, "agent": {}}

    def fill(self, servers: int) -> float:
        """Write servers with their tools, and a tenth as many agents; return the seconds that took."""
        started = time.perf_counter()
        batches = [range(start, min(start + _BATCH, servers)) for start in range(0, servers, _BATCH)]
        with progress() as bar:
            for numbers in bar.track(batches, description=f"filling {servers} servers"):
                self._write_servers(numbers)
        for numbers in batches[: len(batches) // 10]:
            self._write("agent", {number: self._corpus.agent(number) for number in numbers}, [])
        self._parts.close()
        self._vacuum()
        return time.perf_counter() - started

    def _vacuum(self) -> None:
        """Do what autovacuum would otherwise do in the middle of a measurement."""
        connection = Connection(self._parts.address(), connect_timeout_s=10.0, statement_timeout_s=600.0)
        connection.script("VACUUM ANALYZE")
        connection.close()

    def _write_servers(self, numbers: Sequence[int]) -> None:
        rows = []
        for number in numbers:
            contents = [read_item(tool) for tool in self._corpus.tools(number)]
            texts = [indexed_text(content) for content in contents]
            whole = [text.embedding_texts[0] for text in texts]
            vectors = self._vectors(self._tool_vectors, self._corpus.bases(number), whole)
            rows += [ItemRow(c, content_hash(c), t, v) for c, t, v in zip(contents, texts, vectors, strict=True)]
        self._write("server", {number: self._corpus.server(number) for number in numbers}, rows)

    def _write(self, kind: EntityKind, contents: dict[int, EntityContent], rows: list[ItemRow]) -> None:
        model = self._parts.embedder.model

        def write(session: Session) -> None:
            claim_model(session, model)
            ids = {
                RegistryRepository(session).upsert(None, content, text_hash(repr(content)), is_enabled=None).id: number
                for number, content in contents.items()
            }
            if rows:
                ItemRepository(session).upsert(None, model, rows)
            refresh(session, list(ids))
            documents = DocumentRepository(session, REGISTRY_DOCUMENTS)
            tasks = documents.tasks([str(id_) for id_ in ids], model)
            bases = [ids[int(task.id)] % self._corpus.families for task in tasks]
            vectors = self._vectors(self._entity_vectors[kind], bases, [task.texts[0] for task in tasks])
            documents.set_embeddings(model, list(zip(tasks, vectors, strict=True)))

        self._parts.database.transact(write)

    def _vectors(self, known: Vectors, bases: Sequence[int], texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of texts: the model's of a base's first one, that with noise of its later ones."""
        new = {base: text for base, text in zip(bases, texts, strict=True) if base not in known}
        made = self._parts.embedder.embed(list(new.values()), timeout_s=600.0) if new else []
        known.update(zip(new, made, strict=True))
        vectors = np.array([known[base] for base in bases])
        noise = self._noise.normal(0.0, _NOISE_NORM / vectors.shape[1] ** 0.5, vectors.shape)
        noise[[place for place, base in enumerate(bases) if base in new]] = 0.0
        vectors += noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        result: list[list[float]] = vectors.tolist()
        return result


@contextmanager
def filled(args: Any) -> Iterator[str]:
    """Yield the URL of a database with the corpus that `args` ask for: in ``--directory``, or in a temporary folder."""
    if args.directory is None:
        with fresh_database() as url:
            _fill(url, args)
            yield url
        return
    with EmbeddedPostgres(args.directory, durable=False) as server:
        migrate(server.url)  # refuses a folder that was filled before a migration was edited
        done = args.directory / f"filled-{args.servers}-{args.tools_per_server}-{args.seed}"
        if not done.exists():
            _fill(server.url, args)
            done.touch()
        yield server.url


def _fill(url: str, args: Any) -> None:
    corpus = RegistryCorpus(args.data, seed=args.seed, tools_per_server=args.tools_per_server)
    seconds = RegistryFiller(url, corpus, args.seed).fill(args.servers)
    row = {"servers": args.servers, "tools": args.servers * args.tools_per_server, "seconds": seconds}
    print_table("Corpus", [row])


def add_corpus_options(parser: Any) -> None:
    """Add what tells which corpus, and where."""
    parser.add_argument("--servers", type=int, default=1000)
    parser.add_argument("--tools-per-server", type=int, default=10)
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--directory", type=Path, help="keep PostgreSQL here; filled already, it is only started")
