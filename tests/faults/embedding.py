"""A Skillroute whose embedding model refuses texts, goes away and is switched, and whose indexes break for good.

Two processes share one database. Each is configured with a model of its own, so that a reindex of one is a change of
model to the other, in the middle of whatever it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.bulk.outcomes import Report
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.documents.collection import Collection, collection_named
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.errors.model import EmbeddingUnavailable, IndexUnavailable
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.search.model import MessageSearchRequest
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.search.model import RegistrySearchRequest

from tests.builders import System, item, lent_system, of_org
from tests.doubles import DIMENSION, EdgeIndexes
from tests.worlds.mail import message

SUBJECTS = ("antidote", "bridge", "candle")
CALLERS = (LAPTOP, of_org("acme"), of_org("globex"))
MODELS = ("first", "second")

_DOCUMENTS = """
SELECT d.collection, d.key, d.org_id, array_to_string(d.texts, ' '),
       array_agg(v.model) FILTER (WHERE v.embedding IS NOT NULL),
       array_agg(v.model) FILTER (WHERE v.refusal IS NOT NULL)
FROM mcp.documents d
LEFT JOIN mcp.document_vectors v USING (collection, key)
GROUP BY d.collection, d.key
"""


class SubjectEmbedder:
    """Gives a text the axis of the subject that it names, and all others the last one.

    Each model has axes of its own, at right angles to the other's: mixed, their vectors would find nothing.
    """

    def __init__(self, name: str) -> None:
        self._model = EmbeddingModel(name, DIMENSION)
        self._axes = range(MODELS.index(name) * len(SUBJECTS), DIMENSION)

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        return [self._vector(text.casefold()) for text in texts]

    def _vector(self, text: str) -> Vector:
        axes = zip(self._axes, SUBJECTS, strict=False)
        axis = next((place for place, subject in axes if subject in text), DIMENSION - 1)
        return [1.0 if place == axis else 0.0 for place in range(DIMENSION)]


def is_poison(text: str) -> bool:
    """Whether the models refuse a text for good."""
    return "poison" in text.casefold()


@dataclass(frozen=True)
class Stored:
    """A document, the models that it has vectors of, and those that refuse it."""

    collection: Collection
    key: str
    org_id: str | None
    text: str
    embedded_by: frozenset[str]
    refused_by: frozenset[str]


@dataclass
class EmbeddingChaos:
    """The two processes, which of them acts, and what must hold of every answer (decisions 9 and 37).

    Every method that is no assertion is a step: it takes a number, which chooses what is written, asked or broken.
    """

    processes: Sequence[System]
    acting: int = 0
    versions: int = 0
    seen: set[str] = field(default_factory=set)

    @property
    def system(self) -> System:
        """The process that acts."""
        return self.processes[self.acting]

    # What goes wrong

    def model_goes(self, number: int) -> None:
        self.system.embedder.away = True

    def model_refuses_everything(self, number: int) -> None:
        """Let its name be wrong."""
        self.system.embedder.refuses = lambda text: True

    def model_returns(self, number: int) -> None:
        self.system.embedder.away = False
        self.system.embedder.refuses = is_poison
        self.system.clock.advance(31.0 * (number % 2))  # or its failure is still remembered

    def engine_breaks(self, number: int) -> None:
        """Let the index fail for good after some more calls; another that is built instead is sound."""
        if self.system._index is not None:
            self.system._index.calls_left = number % 6

    def no_engine_can_be_made(self, number: int) -> None:
        self.system.index_fault = IndexUnavailable("no space left") if number % 2 else None

    def other_process(self, number: int) -> None:
        """Let the next steps happen in the process of the other model."""
        self.acting = 1 - self.acting

    def reindex(self, number: int) -> None:
        """Switch to this process's model; between any two batches the other one writes and searches."""
        # Without its model it ends as it began, and is run again.
        with self._rebuilt(), suppress(EmbeddingUnavailable):
            self.system.parts.reindex(lambda _: self._in_between(number))

    def _in_between(self, number: int) -> None:
        self.other_process(number)
        self.write_tools(number)
        self.search_tools(number)
        self.other_process(number)

    # What is written

    def relay(self, number: int) -> None:
        self.system.parts.relay()

    def write_tools(self, number: int) -> None:
        """Write two tools, of which one may be poison."""
        caller = CALLERS[number % 3]
        items = [item(f"tool{place}", description=self._text(number + place)) for place in range(2)]
        with self._rebuilt():
            self._check_report(TOOL_DOCUMENTS, self.system.parts.catalogue.sync(items, caller))

    def write_server(self, number: int) -> None:
        server = {"path": f"/s{number % 2}", "name": "Server", "description": self._text(number), "tools": []}
        with self._rebuilt():
            report = self.system.parts.registry.sync("server", [server], CALLERS[number % 3])
            self._check_report(REGISTRY_DOCUMENTS, report)

    def write_message(self, number: int) -> None:
        with self._rebuilt():
            self.system.parts.mail.sync("project", [{"key": "atlas", "name": "Atlas"}], LAPTOP)
            report = self.system.parts.mail.sync(
                "message", [message(f"m{number % 3}", body=self._text(number))], LAPTOP
            )
            self._check_report(MAIL_DOCUMENTS, report)

    def _text(self, number: int) -> str:
        self.versions += 1
        taste = "Poison and" if number % 4 == 3 else "Good for"
        return f"{taste} a {SUBJECTS[number % len(SUBJECTS)]}, version {self.versions}."

    def _check_report(self, collection: Collection, report: Report[Any]) -> None:
        """Each row has a vector that is searched, or the answer says that it waits, or that it is refused."""
        documents, models = {each.key: each for each in self.stored(collection)}, set(self.models())
        for outcome in report.outcomes:
            document = documents[str(outcome.id)]
            assert is_poison(document.text) or not outcome.is_refused, (outcome, document)
            assert report.embedding_refused or not outcome.is_refused
            is_found = bool(document.embedded_by & models)
            assert is_found or outcome.is_refused or report.embedding_unavailable, (outcome, document)

    # What is asked

    def search_tools(self, number: int) -> None:
        caller, query = CALLERS[number % 3], self._query(number)
        with self._rebuilt():
            strategy = ("direct", "hybrid", "hierarchical")[number // 3 % 3]
            answer = self.system.search(query, caller=caller, strategy=strategy, limit=50)
            degraded = answer.metadata.degraded
            self.seen |= {*degraded, answer.metadata.search_mode}
            self._check_ranking(TOOL_DOCUMENTS, query, caller, {tool.id for tool in answer.tools}, degraded)
            by_meaning = answer.metadata.search_mode == "semantic"
            assert degraded or (by_meaning and all(tool.similarity is not None for tool in answer.tools))

    def search_registry(self, number: int) -> None:
        caller, query = CALLERS[number % 3], self._query(number)
        request = RegistrySearchRequest(query=query, entity_types=["mcp_server"], max_results=50)
        with self._rebuilt():
            answer = self.system.parts.registry_search(request, caller)
            degraded = answer.metadata.degraded
            self.seen |= {*degraded}
            found = {str(each.id) for each in answer.servers}
            self._check_ranking(REGISTRY_DOCUMENTS, query, caller, found, degraded)
            assert degraded or answer.search_mode == "hybrid"

    def search_mail(self, number: int) -> None:
        """Its answers name the mode that was served; PostgreSQL finds words whatever is away."""
        query, mode = self._query(number), ("lexical", "semantic", "hybrid")[number % 3]
        request = MessageSearchRequest(text=query, mode=mode, limit=50)  # type: ignore[arg-type]
        with self._rebuilt():
            answer = self.system.parts.messages.search(request, LAPTOP)
            lost = [] if answer.mode == mode else [answer.mode]
            self.seen |= {f"mail {each}" for each in lost}
            found = {str(each.id) for each in answer.results}
            self._check_ranking(MAIL_DOCUMENTS, query, LAPTOP, found, lost)
            assert found or not self._matching(MAIL_DOCUMENTS, query, LAPTOP)

    def _query(self, number: int) -> str:
        return f"poison {SUBJECTS[number % 3]}" if number % 5 == 4 else SUBJECTS[number % 3]

    def _check_ranking(
        self, collection: Collection, query: str, caller: Caller, found: set[str], degraded: Sequence[str]
    ) -> None:
        """An answer with nothing degraded has all that matches and has a vector, and is not empty if anything does."""
        matching = self._matching(collection, query, caller)
        if not degraded:
            assert found or not matching, (query, matching)
            # Which of two models is searched, the answer does not say.
            models = set(self.models())
            assert found >= {each.key for each in matching if each.embedded_by >= models}, (query, found, matching)

    def _matching(self, collection: Collection, query: str, caller: Caller) -> list[Stored]:
        """Return what the caller sees and the query is about, by words and by meaning alike."""
        subject = query.rsplit(maxsplit=1)[-1]
        return [
            each
            for each in self.stored(collection)
            if each.org_id in (None, caller.org_id) and subject in each.text.casefold() and "version" in each.text
        ]

    # How it stands

    def stored(self, collection: Collection | None = None) -> list[Stored]:
        """Return the documents of a collection, or all."""
        found = [
            Stored(collection_named(name), *said, frozenset(embedded or ()), frozenset(refused or ()))
            for name, *said, embedded, refused in self.system.rows(_DOCUMENTS)
        ]
        return [each for each in found if collection in (None, each.collection)]

    def models(self) -> list[str]:
        """Return the models whose vectors are searched: the current one, and the one before it."""
        [row] = self.system.rows("SELECT embedding_model, previous_model FROM mcp.index_state")
        return [model for model in row if model is not None]

    def heal(self) -> None:
        """Let everything work again, in the process of the current model."""
        [model, *_] = [*self.models(), MODELS[0]]
        self.acting = MODELS.index(model)
        self.model_returns(1)
        self.no_engine_can_be_made(0)

    @contextmanager
    def _rebuilt(self) -> Iterator[None]:
        """Wait for an index that a step began to build: what the next one finds is then no matter of time."""
        try:
            yield
        finally:
            self.system.replica.wait_for_rebuild()


@contextmanager
def embedding_chaos(url: str, edges: EdgeIndexes, index: str = "embedded") -> Iterator[EmbeddingChaos]:
    """Lend two processes over one database, whose models take everything but poison."""
    with ExitStack() as stack:
        processes = [
            stack.enter_context(lent_system(url, edges, embedder=SubjectEmbedder(model), index=index))
            for model in MODELS
        ]
        for each in processes:
            each.embedder.refuses = is_poison
        yield EmbeddingChaos(processes)
