"""What a caller may write of agent mail: what it may look at, and what is not there yet (docs/adr/0022)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from skillroute.domain.caller import Caller
from skillroute.domain.mail import MailContent, Product
from skillroute.errors import InvalidInput
from skillroute.ports import MailKind, MailState, Session
from skillroute.services.mail_input import AgentName

_AGENT_NAME: TypeAdapter[str] = TypeAdapter(AgentName)


@dataclass(frozen=True, slots=True)
class WriterRights:
    """The projects that a caller's writing is bounded by, read in the transaction that writes.

    Attributes
    ----------
    allowed : set of int or None
        None stands for all: the caller is an operator.
    """

    allowed: frozenset[int] | None

    @classmethod
    def of(cls, session: Session, caller: Caller) -> WriterRights:
        """Return the rights of a caller."""
        allowed = session.mail.may_see(caller)
        return cls(None if allowed is None else frozenset(allowed))

    def sees(self, project_ids: Collection[int]) -> bool:
        """Tell whether the caller may look at what belongs to these projects."""
        return self.allowed is None or not self.allowed.isdisjoint(project_ids)

    def seen(self, states: Mapping[str, MailState]) -> dict[str, MailState]:
        """Return those of some things that the caller may look at."""
        return {key: state for key, state in states.items() if self.sees(state.project_ids)}

    def unseen(self, state: MailState | None) -> tuple[int, ...]:
        """Return the projects of something that the caller may not look at: they stay as they are."""
        if self.allowed is None or state is None:
            return ()
        return tuple(id_ for id_ in state.project_ids if id_ not in self.allowed)

    def check(self, kind: MailKind, content: MailContent, named: Collection[int], state: MailState | None) -> None:
        """Refuse what the caller may not write: what is there and out of its sight, whatever that says.

        Parameters
        ----------
        named : ids
            The projects that it names.

        Raises
        ------
        InvalidInput
        """
        if self.allowed is None:
            return
        if state is not None and not self.sees(state.project_ids):
            # An agent of no project is nobody's yet: a message has named it.
            if kind != "agent":
                raise InvalidInput("key", "is taken")
            if state.project_ids:
                raise InvalidInput("name", "is taken")
        if isinstance(content, Product) and not named:
            # Its own writer would never see it again.
            raise InvalidInput("projects", "must name a project that you may look at")


def agent_of(caller: Caller) -> str | None:
    """Return the name of the agent that a caller speaks for; None without one, or when no agent can have the name."""
    try:
        return None if caller.agent is None else _AGENT_NAME.validate_python(caller.agent)
    except ValidationError:
        return None
