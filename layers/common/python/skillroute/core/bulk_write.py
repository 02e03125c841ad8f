"""Writing many things in one call: read one by one, stored in one transaction, and each reported by itself.

What is wrong with one never keeps the others from being written: neither what cannot be read, nor what PostgreSQL
refuses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from skillroute.core.caller import Caller
from skillroute.core.deadline import Deadline
from skillroute.core.documents.embed import Embedded, EmbeddingJob
from skillroute.core.embedding.port import EMBEDDING_MODEL
from skillroute.core.errors import FieldProblem, InvalidInput, StatementRejected
from skillroute.core.known_fields import refuse_of_others
from skillroute.core.observability import Metric, count, logger
from skillroute.core.outcomes import Outcome, Report
from skillroute.core.postgres.database import Database, Session


class Incoming(Protocol):
    """Something as it was read: its place in the call, from 0, and what makes it one thing."""

    @property
    def index(self) -> int: ...

    @property
    def key(self) -> Hashable: ...


InT = TypeVar("InT", bound=Incoming)
OutT = TypeVar("OutT", bound=Outcome)


@dataclass(slots=True)
class Done(Generic[OutT]):
    """The outcomes of one transaction, of those that it had to write, by their places in the call."""

    outcomes: dict[int, OutT] = field(default_factory=dict)


DoneT = TypeVar("DoneT", bound=Done[Any])


class Writing(ABC, Generic[InT, DoneT, OutT]):
    """One call: what is written, and how.

    Attributes
    ----------
    noun : str
        What one of them is called: ``item``.
    most : int
        Of one call.
    identity : tuple of str
        The field that says which one it is, and its name in a sentence.
    outcome_type : callable
        Makes an `Outcome`, of its fields and those that `named` returns.
    metrics : tuple of Metric
        Of what was written, and of what failed.
    caller : Caller
        Who writes.
    """

    noun: str
    most: int
    identity: tuple[str, str]
    outcome_type: Callable[..., OutT]
    metrics: ClassVar[tuple[Metric, Metric]]
    caller: Caller

    def warnings(self, raw: object) -> Sequence[FieldProblem]:
        """Return what is questionable about one that is to be read."""
        return ()

    @abstractmethod
    def read(self, index: int, raw: object) -> InT:
        """Return what can be stored. Raises `InvalidInput`."""

    def admit(self, thing: InT) -> None:
        """Refuse one for the sake of those before it. Raises `InvalidInput`."""
        return

    @abstractmethod
    def named(self, thing: InT) -> Mapping[str, object]:
        """Return the fields of an outcome that say which one it is, whatever became of it."""

    @abstractmethod
    def prepare(self, incoming: Sequence[InT], deadline: Deadline) -> bool:
        """Look at what is stored and embed what is new, as far as that goes; return whether it went to the end."""

    def settled(self, thing: InT) -> OutT | None:
        """Return what became of one that needs no transaction; None is to be stored."""
        return None

    @abstractmethod
    def store(self, session: Session, some: Sequence[InT]) -> DoneT:
        """Write some of them within a transaction."""

    def attempt(self, session: Session, some: Sequence[InT]) -> object:
        """Write as much of some of them as PostgreSQL may refuse. It is rolled back."""
        return self.store(session, some)

    @abstractmethod
    def is_news(self, done: DoneT) -> bool:
        """Return whether anything was written that others see."""

    @abstractmethod
    def embed_committed(self, done: DoneT, deadline: Deadline | None) -> tuple[Embedded, Embedded]:
        """Embed what the commit left without a vector: the things themselves, by their ids, and what belongs to them.

        Without a deadline the model has just failed: all is left to the relay.
        """

    def failed(self, index: int, error: InvalidInput, thing: InT | None = None) -> OutT:
        """Return the outcome of one that failed; None could not be read."""
        names = {} if thing is None else self.named(thing)
        return self.outcome_type(index, "failed", problems=tuple(error.problems), **names)


class BulkWrite(EmbeddingJob):
    """Carries out a `Writing`. All embedding of a call ends `timeout_s` seconds after its begin.

    Raises
    ------
    InvalidInput
        A call has too many things.
    DatabaseUnavailable
        Nothing was written.
    """

    def _carry_out(
        self, writing: Writing[InT, DoneT, OutT], things: Sequence[object], *, dry_run: bool = False
    ) -> Report[OutT]:
        """Write things, and return what became of each, in the order of the call.

        With `dry_run` return what would become of each: all is done in a transaction that is taken back, so that what
        PostgreSQL refuses shows as well. Nothing is embedded, and what would be created has no id.
        """
        if len(things) > writing.most:
            nouns = f"{writing.noun}s"
            raise InvalidInput(nouns, f"{len(things)} {nouns}; at most {writing.most} in one call")
        if dry_run:
            return self._try(writing, things)
        deadline = Deadline(self._timeout_s, self._clock, callee=EMBEDDING_MODEL)
        incoming, outcomes = _read_all(writing, things)
        warnings = [writing.warnings(raw) for raw in things]  # before anything is stored: many take seconds
        all_embedded = writing.prepare(incoming, deadline)
        settled = {thing.index: outcome for thing in incoming if (outcome := writing.settled(thing)) is not None}
        done, wrong = _store(self._database, writing, [thing for thing in incoming if thing.index not in settled])
        for thing, reason in wrong:
            outcomes[thing.index] = writing.failed(thing.index, InvalidInput(writing.noun, reason), thing)
        themselves, others = self._finish(writing, done, deadline if all_embedded else None)
        outcomes |= settled | ({} if done is None else _with_refusals(done.outcomes, themselves.refused))
        in_order = [_with_warnings(outcomes[index], warnings[index]) for index in sorted(outcomes)]
        report = Report(
            in_order,
            embedding_unavailable=not (all_embedded and themselves.complete and others.complete),
            embedding_refused=any(outcome.has_refusal for outcome in in_order)
            or bool(themselves.refused or others.refused),
        )
        written, failed = writing.metrics
        count(written, report.count("created") + report.count("updated"))
        count(failed, report.count("failed"))
        return report

    def _try(self, writing: Writing[InT, DoneT, OutT], things: Sequence[object]) -> Report[OutT]:
        """Return what would become of things."""
        incoming, outcomes = _read_all(writing, things)
        writing.prepare(incoming, Deadline(0.0, self._clock))
        settled = {thing.index: outcome for thing in incoming if (outcome := writing.settled(thing)) is not None}
        left = [thing for thing in incoming if thing.index not in settled]
        done, wrong = _store(self._database, writing, left, keep=False)
        for thing, reason in wrong:
            outcomes[thing.index] = writing.failed(thing.index, InvalidInput(writing.noun, reason), thing)
        outcomes |= settled | ({} if done is None else done.outcomes)
        in_order = [_with_warnings(outcomes[index], writing.warnings(things[index])) for index in sorted(outcomes)]
        without_ids = [replace(one, id=None) if one.status == "created" else one for one in in_order]
        return Report(without_ids, embedding_unavailable=False)

    def _finish(
        self, writing: Writing[InT, DoneT, OutT], done: DoneT | None, deadline: Deadline | None
    ) -> tuple[Embedded, Embedded]:
        """Embed what the commit left without a vector, and pass the news on."""
        themselves = others = Embedded()
        if done is None:
            return themselves, others
        try:
            themselves, others = writing.embed_committed(done, deadline)
        finally:
            if writing.is_news(done) or themselves.stored or others.stored:
                self._after_commit()
        return themselves, others


def _with_refusals(outcomes: Mapping[int, OutT], refused: Container[str]) -> dict[int, OutT]:
    """Return outcomes that say whose text the model refuses: known before, or one of these ids."""
    return {
        index: replace(outcome, is_refused=True) if str(outcome.id) in refused else outcome
        for index, outcome in outcomes.items()
    }


def _with_warnings(outcome: OutT, warnings: Sequence[FieldProblem]) -> OutT:
    return replace(outcome, warnings=tuple(warnings)) if warnings else outcome


def _read_all(writing: Writing[InT, DoneT, OutT], things: Sequence[object]) -> tuple[list[InT], dict[int, OutT]]:
    """Read what can be read; the rest has failed already."""
    incoming: list[InT] = []
    failed: dict[int, OutT] = {}
    first_place: dict[Hashable, int] = {}
    field, words = writing.identity
    for index, raw in enumerate(things):
        thing: InT | None = None
        try:
            refuse_of_others(raw, writing.caller.org_id)
            thing = writing.read(index, raw)
            first = first_place.setdefault(thing.key, index)
            if first != index:
                raise InvalidInput(field, f"the same {words} as {writing.noun} {first} of this call")
            writing.admit(thing)
        except InvalidInput as error:
            failed[index] = writing.failed(index, error, thing)
        else:
            incoming.append(thing)
    return incoming, failed


class _TakenBack(Exception):
    """Rolls back what was only tried."""


def _store(
    database: Database, writing: Writing[InT, DoneT, OutT], rows: Sequence[InT], *, keep: bool = True
) -> tuple[DoneT | None, list[tuple[InT, str]]]:
    """Store rows in one transaction, all but those that PostgreSQL refuses; return these with the reason.

    Without `keep` the transaction is taken back.

    Raises
    ------
    StatementRejected
        A refusal that is not about data.
    DatabaseUnavailable
    """
    if not rows:
        return None, []
    try:
        return _stored(database, writing, rows, keep), []
    except StatementRejected as error:
        if not error.is_about_data:
            raise
    wrong = _refused(database, writing, rows)
    for reason in wrong.values():
        logger.warning("%s rejected by the database", writing.noun, extra={"reason": reason})
    left = [row for place, row in enumerate(rows) if place not in wrong]
    done = _stored(database, writing, left, keep) if left else None
    return done, [(rows[place], reason) for place, reason in wrong.items()]


def _stored(database: Database, writing: Writing[InT, DoneT, OutT], rows: Sequence[InT], keep: bool) -> DoneT:
    """Store rows in one transaction, which is taken back unless they are to be kept; return what was done."""
    if keep:
        return database.transact(lambda session: writing.store(session, rows))
    tried: list[DoneT] = []

    def attempt(session: Session) -> None:
        tried.append(writing.store(session, rows))
        raise _TakenBack

    with suppress(_TakenBack):
        database.transact(attempt)
    return tried[-1]


def _refused(database: Database, writing: Writing[InT, DoneT, OutT], rows: Sequence[InT]) -> dict[int, str]:
    """Return which of some rows PostgreSQL refuses, by place, and why, when it refused them together.

    They are written and rolled back, half by half, so that the others can then be written in one transaction: nothing
    is ever stored in part, and one bad row among 500 costs some 20 attempts, not 500.
    """

    def attempt(session: Session, part: Sequence[InT]) -> None:
        writing.attempt(session, part)
        raise _TakenBack

    found: dict[int, str] = {}
    untried = [range(len(rows))]
    while untried:
        part = untried.pop()
        try:
            database.transact(lambda session, part=part: attempt(session, rows[part.start : part.stop]))  # type: ignore[misc]
        except _TakenBack:
            continue
        except StatementRejected as error:
            if not error.is_about_data:
                raise
            if len(part) == 1:
                found[part.start] = str(error)
            else:
                middle = len(part) // 2
                untried += [part[:middle], part[middle:]]
    return found
