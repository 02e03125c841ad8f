"""Projects, products, agents and messages on their way in, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from skillroute.core.bulk.outcomes import Outcome, Report, Status
from skillroute.core.errors.model import InvalidInput
from skillroute.mail.documents import MailDocument, of_agent, of_message, of_project
from skillroute.mail.model import MailAgent, MailContent, Message, Product, Project
from skillroute.mail.repository import MailState
from skillroute.mail.schemas import MailGiven

States = Mapping[str, MailState]


@dataclass(frozen=True, slots=True)
class MailOutcome(Outcome):
    """The outcome of one of them.

    Attributes
    ----------
    key : str or None
        The writer's own id of it, an agent's name; None when it could not be read.
    """

    key: str | None = None


MailReport = Report[MailOutcome]


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

    @property
    def names(self) -> dict[str, object]:
        return {"key": self.given.shown_key}

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
