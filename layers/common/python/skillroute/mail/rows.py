"""Projects, products, agents and messages on their way in, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillroute.core.bulk.outcomes import Status
from skillroute.core.bulk.writing import Done
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.views import Refusal
from skillroute.core.errors.model import InvalidInput
from skillroute.mail.documents import MailDocument, of_agent, of_message, of_project
from skillroute.mail.model import MailAgent, MailContent, Message, Product, Project
from skillroute.mail.report import MailOutcome
from skillroute.mail.repository import MailState
from skillroute.mail.schemas import MailGiven

States = Mapping[str, MailState]


@dataclass(frozen=True, slots=True)
class IncomingMail:
    """Something as it was read, and its document before it has an id; a product has none."""

    index: int
    given: MailGiven
    document: MailDocument | None

    @classmethod
    def of(cls, index: int, given: MailGiven) -> IncomingMail:
        """Return what comes in at a place of a call."""
        match given.content:
            case Message() as message:
                return cls(index, given, of_message(0, message, 0))
            case MailAgent() as agent:
                return cls(index, given, of_agent(0, agent, ()))
            case Project() as project:
                return cls(index, given, of_project(0, project))
            case Product():
                return cls(index, given, None)

    def with_content(self, content: MailContent) -> IncomingMail:
        """Return the same place of a call with something else to write."""
        return IncomingMail.of(self.index, replace(self.given, content=content))

    @property
    def key(self) -> str:
        return self.given.key

    def has_new_text(self, states: States) -> bool:
        """Return whether its text is not the one that is stored."""
        if self.document is None:
            return False
        state = states.get(self.key)
        return state is None or state.text_hash != self.document.text_hash

    def outcome(self, status: Status, id_: int | None = None, error: InvalidInput | None = None) -> MailOutcome:
        """Return what became of it."""
        problems = tuple(error.problems) if error else ()
        return MailOutcome(self.index, status, id_, problems, key=self.given.shown_key)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of new texts, or why there is none, by the texts' hash, and the model that they are of."""

    model: EmbeddingModel | None = None
    by_hash: Mapping[str, Vector | Refusal] = field(default_factory=dict)


@dataclass(slots=True)
class MailWritten(Done[MailOutcome]):
    """The outcomes of those that the database took; `made` are agents that were only named."""

    made: Sequence[int] = ()

    @property
    def ids(self) -> list[int]:
        """Return the ids of all that is stored now, whether it was before or not."""
        return sorted({*self.made, *(outcome.id for outcome in self.outcomes.values() if outcome.id is not None)})

    @property
    def is_news(self) -> bool:
        """Whether anything was written that others see."""
        return bool(self.made) or any(outcome.status in {"created", "updated"} for outcome in self.outcomes.values())
