"""The mail that a caller may write: mail that it may see, in the name of its agent (docs/adr/0022)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Forbidden, InvalidInput
from skillroute.core.postgres.database import Session
from skillroute.mail.model import (
    MailAgent,
    MailContent,
    MailKind,
    Message,
    StoredAgent,
    StoredMail,
    StoredMessage,
    StoredProject,
    agent_key,
)
from skillroute.mail.repository import MailRepository, MailState
from skillroute.mail.schemas import AgentName

_AGENT_NAME: TypeAdapter[str] = TypeAdapter(AgentName)

_WHO: Mapping[MailKind, str] = {"message": "from", "agent": "name", "project": "key", "product": "key"}
"""The field that an item is refused for when the caller has no agent."""


@dataclass(frozen=True, slots=True)
class WriterRights:
    """The limits of a caller's writing, read in the transaction that writes.

    Attributes
    ----------
    allowed : set of int or None
        Ids of projects. None stands for all: the caller is an operator.
    agent : str or None
        The agent that the token names, as names are compared; None without one.
    """

    allowed: frozenset[int] | None
    agent: str | None

    @classmethod
    def of(cls, session: Session, caller: Caller) -> WriterRights:
        """Return the rights of a caller."""
        allowed, name = MailRepository(session).may_see(caller), agent_of(caller)
        return cls(None if allowed is None else frozenset(allowed), None if name is None else agent_key(name))

    def sees(self, project_ids: Collection[int]) -> bool:
        """Return whether the caller may look at what belongs to these projects."""
        return self.allowed is None or not self.allowed.isdisjoint(project_ids)

    def seen(self, states: Mapping[str, MailState]) -> dict[str, MailState]:
        """Return those of some things that the caller may look at."""
        return {key: state for key, state in states.items() if self.sees(state.project_ids)}

    def is_other(self, name: str) -> bool:
        """Return whether an agent is another than the caller's own; to an operator none is."""
        return self.allowed is not None and agent_key(name) != self.agent

    def kept(self, content: MailContent, state: MailState | None) -> tuple[int, ...]:
        """Return the projects of something that stay, whatever is written of it.

        Those that the caller may not look at; of another agent all, since nobody takes another out of a project.
        """
        if self.allowed is None or state is None:
            return ()
        if isinstance(content, MailAgent) and self.is_other(content.name):
            return state.project_ids
        return tuple(id_ for id_ in state.project_ids if id_ not in self.allowed)

    def check(self, kind: MailKind, content: MailContent, state: MailState | None) -> None:
        """Refuse what the caller may not write.

        That is: everything without an agent; what is there and out of its sight, whatever is written of it; messages of
        others; and what other agents say of themselves.

        Raises
        ------
        InvalidInput
        """
        if self.allowed is None:
            return
        if self.agent is None:
            raise InvalidInput(_WHO[kind], "cannot be written: the token names no agent and lacks scope admin")
        # An agent of no project that nobody has described is nobody's yet: a message has named it.
        if state is not None and not self.sees(state.project_ids) and not self._is_open(state):
            raise InvalidInput("name" if kind == "agent" else "key", "is taken")
        if isinstance(content, Message):
            self._check_message(content, state)
        if isinstance(content, MailAgent) and self.is_other(content.name):
            for field in ("description", "contact"):
                if getattr(content, field):
                    raise InvalidInput(field, "can only be written by the agent itself")

    def _is_open(self, state: MailState) -> bool:
        agent = state.agent
        if agent is None or state.project_ids:
            return False
        return not self.is_other(agent.name) or not (agent.description or agent.contact)

    def _check_message(self, message: Message, state: MailState | None) -> None:
        if state is not None and state.sender_key != self.agent:
            raise InvalidInput("key", "is the key of another agent's message, which only its sender can change")
        if self.is_other(message.sender):
            raise InvalidInput("from", "must be the agent that the token names")

    def check_links(self, kind: MailKind, named: Collection[int]) -> None:
        """Refuse a product that names no project: its own writer would never see it again. Raises `InvalidInput`."""
        if kind == "product" and self.allowed is not None and not named:
            raise InvalidInput("projects", "must name a project that you may look at")

    def check_delete(self, session: Session, stored: StoredMail) -> None:
        """Refuse the deletion of what is in sight and others': messages, agents, and projects that others belong to.

        Raises
        ------
        Forbidden
        """
        if self.allowed is None:
            return
        match stored:
            case StoredMessage(id=id_, content=message) if self.is_other(message.sender):
                raise Forbidden(
                    f"message {id_} is another agent's; only its sender deletes it, or scope admin",
                    ErrorCode.OTHER_AGENT,
                )
            case StoredAgent(id=id_, content=agent) if self.is_other(agent.name):
                raise Forbidden(
                    f"agent {id_} is another's; it deletes itself, or scope admin does", ErrorCode.OTHER_AGENT
                )
            case StoredProject(id=id_, org_id=org_id) if MailRepository(session).has_other_members(
                id_, self.agent, org_id
            ):
                raise Forbidden(
                    f"other agents belong to project {id_}: deleting it takes scope admin", ErrorCode.OTHER_AGENT
                )

    def check_acknowledge(self, name: str) -> None:
        """Refuse an acknowledgement in another agent's name. Raises `Forbidden`."""
        if self.is_other(name):
            raise Forbidden(
                "an agent acknowledges for itself: the token names another one, or none", ErrorCode.OTHER_AGENT
            )


def agent_of(caller: Caller) -> str | None:
    """Return the name of the agent that a caller speaks for; None without one, or when no agent can have the name."""
    try:
        return None if caller.agent is None else _AGENT_NAME.validate_python(caller.agent)
    except ValidationError:
        return None
