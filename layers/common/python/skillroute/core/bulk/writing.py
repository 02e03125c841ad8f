"""The steps of a bulk write: decoding, embedding and storing its items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from skillroute.core.bulk.outcomes import Outcome
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import Embedded
from skillroute.core.errors.model import FieldProblem, InvalidInput
from skillroute.core.observability import Metric
from skillroute.core.postgres.database import Session
from skillroute.core.time.deadline import Deadline


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
