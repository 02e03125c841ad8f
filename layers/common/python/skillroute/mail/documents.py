"""The searched documents of agent mail: one for each message, agent and project."""

from __future__ import annotations

from dataclasses import dataclass

from skillroute.core.hashing import text_hash
from skillroute.mail.model import DocKind, Importance, MailAgent, Message, Project, agent_key
from skillroute.mail.text import SearchText


@dataclass(frozen=True, slots=True)
class MailDocument:
    """A document as it is stored to be searched.

    Attributes
    ----------
    project_ids : tuple of int
        A message's project, an agent's projects, a project itself.
    sender_key, recipient_keys, thread_id, importance, ack_required
        Of messages only.
    created_ts : int or None
        Microseconds since the epoch; None for now, and once it is stored for what it was.
    """

    id: int
    kind: DocKind
    project_ids: tuple[int, ...]
    text: SearchText
    created_ts: int | None = None
    sender_key: str | None = None
    recipient_keys: tuple[str, ...] | None = None
    thread_id: str | None = None
    importance: Importance | None = None
    ack_required: bool | None = None

    @property
    def text_hash(self) -> str:
        """The hash of the text, which a vector of it is stored with."""
        return text_hash(self.text.title, self.text.body)


def text_of(content: Message | MailAgent | Project) -> SearchText:
    """Return what is searched of something, without its secrets."""
    match content:
        case Message():
            return SearchText.of(content.subject, content.body)
        case MailAgent():
            return SearchText.of(content.name, content.description)
        case Project():
            return SearchText.of(content.name, f"{content.key}\n{content.description}")


def of_message(id_: int, message: Message, project_id: int) -> MailDocument:
    """Return the document of a message."""
    return MailDocument(
        id=id_,
        kind="message",
        project_ids=(project_id,),
        text=text_of(message),
        created_ts=message.created_ts,
        sender_key=agent_key(message.sender),
        recipient_keys=tuple(dict.fromkeys(agent_key(name) for _, name in message.recipients)),
        thread_id=message.thread_id,
        importance=message.importance,
        ack_required=message.ack_required,
    )


def of_agent(id_: int, agent: MailAgent, project_ids: tuple[int, ...]) -> MailDocument:
    """Return the document of an agent. Its contact is not searched."""
    return MailDocument(id=id_, kind="agent", project_ids=tuple(sorted(project_ids)), text=text_of(agent))


def of_project(id_: int, project: Project) -> MailDocument:
    """Return the document of a project."""
    return MailDocument(id=id_, kind="project", project_ids=(id_,), text=text_of(project))
