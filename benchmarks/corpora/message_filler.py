"""Fills a database with the mail of message_corpus.py, through the service that `PUT /api/v1/mail/messages` calls.

The model embeds the first 10,000 messages. What comes after them gets the vector of one of those with noise, and its
own words: good for time and memory, meaningless for quality, which `message_quality.py` measures on the shipped mail.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from skillroute.core.bulk.write import Writer
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.packaged import default_model
from skillroute.core.embedding.port import Embedder, message_embedder
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.migrate import migrate
from skillroute.core.settings import SearchSettings
from skillroute.mail.model import MailKind
from skillroute.mail.sync import MAX_MAIL, SyncMail
from skillroute.wiring import Parts
from skillroute_local.postgres import EmbeddedPostgres

from benchmarks.corpora.message_corpus import agents, generate, products, projects
from benchmarks.harness import fresh_database, print_table, progress

EMBEDDED = 10_000
_NOISE_NORM = 0.6  # the cosine of a message and one made of it is about 0.86, as within a thread
_TIMEOUT_S = 600.0


class NoisyEmbedder:
    """An `Embedder` whose first texts the model embeds; all others get one of their vectors with noise."""

    def __init__(self, model: Embedder, *, embedded: int, seed: int) -> None:
        self._model = model
        self._embedded = embedded
        self._drawn = np.random.default_rng(seed)
        self._known: list[Vector] = []

    @property
    def model(self) -> EmbeddingModel:
        return self._model.model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        real = texts[: max(0, self._embedded - len(self._known))]
        vectors = self._model.embed(real, timeout_s=timeout_s) if real else []
        self._known += vectors
        return vectors + self._noisy(len(texts) - len(real))

    def _noisy(self, count: int) -> list[Vector]:
        if not count:
            return []
        chosen = np.array([self._known[base] for base in self._drawn.integers(0, len(self._known), count)])
        chosen += self._drawn.normal(0.0, _NOISE_NORM / chosen.shape[1] ** 0.5, chosen.shape)
        chosen /= np.linalg.norm(chosen, axis=1, keepdims=True)
        vectors: list[Vector] = chosen.tolist()
        return vectors


def add_corpus_options(parser: argparse.ArgumentParser) -> None:
    """Add what tells which corpus, and where."""
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--directory", type=Path, help="keep PostgreSQL here; filled already, it is only started")


@contextmanager
def filled(args: Any) -> Iterator[str]:
    """Yield the URL of a database with the corpus that `args` ask for: in ``--directory``, or in a temporary folder."""
    if args.directory is None:
        with fresh_database() as url:
            fill(url, args.messages, args.seed)
            yield url
        return
    with EmbeddedPostgres(args.directory, durable=False) as server:
        migrate(server.url)  # refuses a folder that was filled before a migration was edited
        done = args.directory / f"filled-{args.messages}-{args.seed}-{default_model()}"
        if not done.exists():
            fill(server.url, args.messages, args.seed)
            done.touch()
        yield server.url


def fill(url: str, messages: int, seed: int) -> None:
    """Write the corpus, and tell how long it took."""
    parts = Parts(SearchSettings(database_url=url))
    started = time.perf_counter()
    try:
        embedder = NoisyEmbedder(message_embedder(parts.embedder), embedded=EMBEDDED, seed=seed)
        sync = SyncMail(Writer(parts.database, embedder, timeout_s=_TIMEOUT_S))
        for kind, things in (("project", projects()), ("product", products()), ("agent", agents())):
            write(sync, kind, things)
        with progress() as bar:
            made = generate(messages, seed)
            lines = iter(bar.track(made, total=messages, description=f"filling {messages} messages"))
            while some := list(islice(lines, MAX_MAIL["message"])):
                write(sync, "message", some)
    finally:
        parts.close()
    _vacuum(parts)
    print_table("Corpus", [{"messages": messages, "seconds": time.perf_counter() - started}])


def write(sync: SyncMail, kind: MailKind, things: Sequence[object]) -> None:
    """Write mail of one kind, as often as it takes. Raises `RuntimeError` where some of it is refused."""
    for start in range(0, len(things), MAX_MAIL[kind]):
        report = sync(kind, things[start : start + MAX_MAIL[kind]], LAPTOP)
        if refused := [outcome for outcome in report.outcomes if outcome.status != "created"]:
            raise RuntimeError(f"{kind} {refused[0].key} was refused: {refused[0].field}: {refused[0].reason}")


def _vacuum(parts: Parts) -> None:
    """Do what autovacuum would otherwise do in the middle of a measurement."""
    connection = Connection(parts.address(), connect_timeout_s=10.0, statement_timeout_s=600.0)
    connection.script("VACUUM ANALYZE")
    connection.close()
