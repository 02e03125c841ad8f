"""Writing many things in one call: decoded one by one, stored in one transaction, and each reported by itself.

What is wrong with one never keeps the others from being written: neither what cannot be decoded, nor what PostgreSQL
refuses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from skillroute.core.bulk.outcomes import Outcome, Report
from skillroute.core.bulk.store import store_all
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import Embedded, Waiting, embed_committed, embed_within
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder
from skillroute.core.embedding.views import Refusal
from skillroute.core.errors.model import InvalidInput
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.known_fields import refuse_of_others
from skillroute.core.observability import Metric, count
from skillroute.core.postgres.database import Database, Session
from skillroute.core.time.clock import Clock
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.time_left import left_s

_STORING_S = 5.0
"""Of an invocation, kept free for storing what was embedded: an import is several writes, each of which embeds."""


class Incoming(Protocol):
    """Something as it was decoded: its place in the call, from 0, and what makes it one thing."""

    @property
    def index(self) -> int: ...

    @property
    def key(self) -> Hashable: ...

    @property
    def names(self) -> Mapping[str, object]:
        """The fields of an outcome that say which one it is, also where it failed."""
        ...


InT = TypeVar("InT", bound=Incoming)
OutT = TypeVar("OutT", bound=Outcome)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of new texts, or why there is none, by the keys of the texts, and the model that they are of."""

    model: EmbeddingModel | None = None
    by_key: Mapping[str, Vector | Refusal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Diff(Generic[OutT]):
    """Differences from the stored state.

    Attributes
    ----------
    outcomes : mapping of int to Outcome
        Of those that need no transaction, by their places in the call.
    texts : mapping of str to sequence of str
        The views to be embedded before the rest is stored, by keys that `Steps.store` finds the vectors under.
    """

    outcomes: Mapping[int, OutT]
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(slots=True)
class Stored(Generic[OutT]):
    """The outcome of one transaction.

    Attributes
    ----------
    outcomes : dict of int to Outcome
        Of those that it had to write, by their places in the call.
    is_news : bool
        Whether anything was written that others see.
    waiting : sequence of Waiting
        Documents to be embedded after the commit, in this order.
    derive : callable or None
        Derives, at the end of the transaction, what others are found by. It is not called in search of what PostgreSQL
        refuses: it may take longer than the rest.
    """

    outcomes: dict[int, OutT] = field(default_factory=dict)
    is_news: bool = False
    waiting: Sequence[Waiting] = ()
    derive: Callable[[Session], object] | None = None


class Steps(Protocol[InT, OutT]):
    """The steps of one call, in their order."""

    def decode(self, index: int, raw: object) -> InT:
        """Return what can be stored. Raises `InvalidInput`."""
        ...

    def diff(self, incoming: Sequence[InT]) -> Diff[OutT]:
        """Return what differs from what is stored, and what needs embedding."""
        ...

    def store(self, session: Session, some: Sequence[InT], vectors: Vectors) -> Stored[OutT]:
        """Write some of them within a transaction, which may be taken back."""
        ...


@dataclass(frozen=True, slots=True)
class Kind(Generic[OutT]):
    """The things to write.

    Attributes
    ----------
    noun : str
        What one of them is called: ``item``.
    most : int
        Of one call.
    identity : tuple of str
        The field that says which one it is, and its name in a sentence.
    outcome : callable
        Makes an `Outcome`, of its fields and `Incoming.names`.
    metrics : tuple of Metric
        Of what was written, and of what failed.
    texts : str
        What is embedded of them, for the log: ``items``.
    warnings : callable
        Returns what is questionable about one before it is decoded.
    """

    noun: str
    most: int
    identity: tuple[str, str]
    outcome: Callable[..., OutT]
    metrics: tuple[Metric, Metric]
    texts: str
    warnings: Callable[[object], Sequence[FieldProblem]]

    def failed(self, index: int, problems: Sequence[FieldProblem], thing: Incoming | None = None) -> OutT:
        """Return the outcome of one that failed; None could not be decoded."""
        return self.outcome(index, "failed", problems=tuple(problems), **({} if thing is None else thing.names))

    def count(self, outcomes: Sequence[OutT]) -> None:
        """Add to the metrics what was written, and what failed."""
        written, failed = self.metrics
        count(written, sum(outcome.status in {"created", "updated"} for outcome in outcomes))
        count(failed, sum(outcome.status == "failed" for outcome in outcomes))


@dataclass(frozen=True, slots=True)
class Writer:
    """Where things are written, and by which model they are embedded.

    Attributes
    ----------
    timeout_s : float
        The most that one call may embed, less on Lambda; what did not fit is left to the relay.
    """

    database: Database
    embedder: Embedder
    timeout_s: float = 60.0
    clock: Clock = time.monotonic


def write_many(
    writer: Writer,
    kind: Kind[OutT],
    things: Sequence[object],
    steps: Steps[InT, OutT],
    caller: Caller,
    *,
    dry_run: bool = False,
) -> Report[OutT]:
    """Write things, and return what became of each, in the order of the call.

    With `dry_run` return what would become of each: all is done in a transaction that is taken back, so that what
    PostgreSQL refuses shows as well. Nothing is embedded, and what would be created has no id.

    Raises
    ------
    InvalidInput
        A call has too many things.
    DatabaseUnavailable
        Nothing was written.
    """
    if len(things) > kind.most:
        nouns = f"{kind.noun}s"
        raise InvalidInput(nouns, f"{len(things)} {nouns}; at most {kind.most} in one call")
    deadline = Deadline(0.0 if dry_run else _embedding_s(writer.timeout_s), writer.clock, callee=EMBEDDING_MODEL)
    incoming, outcomes = _decode_all(kind, steps, things, caller)
    warnings = [kind.warnings(raw) for raw in things]  # before anything is stored: many take seconds
    diff = steps.diff(incoming)
    made = embed_within(writer.embedder, list(diff.texts.values()), deadline, what=kind.texts)
    vectors = Vectors(writer.embedder.model, dict(zip(diff.texts, made, strict=False))) if made else Vectors()
    left = [thing for thing in incoming if thing.index not in diff.outcomes]
    is_complete = len(made) == len(diff.texts)
    own = others = Embedded()
    with writer.database.together():
        stored = _store(writer.database, kind, steps, left, vectors, keep=not dry_run)
        if not dry_run:
            own, others = _finish(writer, stored, deadline if is_complete else None)
    outcomes |= {**diff.outcomes, **stored.outcomes}
    in_order = [_with_warnings(outcomes[index], warnings[index]) for index in sorted(outcomes)]
    if dry_run:
        without_ids = [replace(one, id=None) if one.status == "created" else one for one in in_order]
        return Report(without_ids, embedding_unavailable=False)
    # The model refuses them now, or has before.
    in_order = [replace(one, is_refused=True) if str(one.id) in own.refused else one for one in in_order]
    kind.count(in_order)
    return Report(
        in_order,
        embedding_unavailable=not (is_complete and own.complete and others.complete),
        embedding_refused=any(one.has_refusal for one in in_order) or bool(own.refused or others.refused),
    )


def _embedding_s(most_s: float) -> float:
    """Return the seconds for which a write may embed: `most_s`, or what the invocation leaves it."""
    left = left_s()
    return most_s if left is None else min(most_s, max(0.0, left - _STORING_S))


def _decode_all(
    kind: Kind[OutT], steps: Steps[InT, OutT], things: Sequence[object], caller: Caller
) -> tuple[list[InT], dict[int, OutT]]:
    """Decode what can be decoded; the rest has failed already."""
    incoming: list[InT] = []
    failed: dict[int, OutT] = {}
    first_place: dict[Hashable, int] = {}
    field_, words = kind.identity
    for index, raw in enumerate(things):
        thing: InT | None = None
        try:
            refuse_of_others(raw, caller.org_id)
            thing = steps.decode(index, raw)
            first = first_place.setdefault(thing.key, index)
            if first != index:
                raise InvalidInput(field_, f"the same {words} as {kind.noun} {first} of this call")
        except InvalidInput as error:
            failed[index] = kind.failed(index, error.problems, thing)
        else:
            incoming.append(thing)
    return incoming, failed


def _store(
    database: Database, kind: Kind[OutT], steps: Steps[InT, OutT], some: Sequence[InT], vectors: Vectors, *, keep: bool
) -> Stored[OutT]:
    """Store things in one transaction; among the outcomes are those of things that PostgreSQL refuses."""

    def store(session: Session, some: Sequence[InT]) -> Stored[OutT]:
        done = steps.store(session, some, vectors)
        if done.derive is not None:
            done.derive(session)
        if done.is_news:
            session.note_news()
        return done

    def attempt(session: Session, some: Sequence[InT]) -> object:
        return steps.store(session, some, vectors)

    done, refused = store_all(database, store, some, attempt=attempt, noun=kind.noun, keep=keep)
    failed = {
        thing.index: kind.failed(thing.index, [FieldProblem(kind.noun, reason)], thing) for thing, reason in refused
    }
    return Stored(failed) if done is None else replace(done, outcomes=done.outcomes | failed)


def _finish(writer: Writer, stored: Stored[OutT], deadline: Deadline | None) -> tuple[Embedded, Embedded]:
    """Embed what the commit left without a vector: what was written, and what belongs to it."""
    own = others = Embedded()
    for each in stored.waiting:
        left = deadline if own.complete and others.complete else None
        if each.is_own:
            own = embed_committed(writer.database, writer.embedder, each, left)
        elif left is not None:
            others = embed_committed(writer.database, writer.embedder, each, left)
        else:
            others = Embedded(complete=False)
    return own, others


def _with_warnings(outcome: OutT, warnings: Sequence[FieldProblem]) -> OutT:
    return replace(outcome, warnings=(*outcome.warnings, *warnings)) if warnings else outcome
