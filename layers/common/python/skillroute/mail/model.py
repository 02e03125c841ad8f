"""Agent mail: messages, the agents that write them, the projects they belong to, and products that join projects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from skillroute.core.input.normal_form import nfkc

MailKind = Literal["message", "agent", "project", "product"]


DocKind = Literal["message", "agent", "project"]
Importance = Literal["low", "normal", "high", "urgent"]
RecipientRole = Literal["to", "cc", "bcc"]

IMPORTANCES: tuple[Importance, ...] = ("low", "normal", "high", "urgent")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Project:
    """A project, to which messages belong. `key` is the caller's own id of it, unique within an organisation."""

    key: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Product:
    """Projects that belong together, by their keys."""

    key: str
    name: str
    description: str = ""
    projects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MailAgent:
    """Who writes and gets messages.

    Attributes
    ----------
    name : str
        In the spelling that everybody sees; another spelling of it is the same agent (`agent_key`).
    contact : str
        How to reach the people who run it: an address, a URL, a channel.
    projects : tuple of str
        The keys of the projects that it belongs to.
    """

    name: str
    description: str = ""
    contact: str = ""
    projects: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key that identifies an agent within its organisation."""
        return agent_key(self.name)


@dataclass(frozen=True, slots=True)
class Message:
    """A message as its writer gives it.

    Attributes
    ----------
    key : str
        The writer's own id of it, one within an organisation: writing it twice changes nothing.
    project : str
        The key of its project.
    sender, to, cc, bcc
        Names of agents; one that is not known yet is made.
    created_ts : int
        Microseconds since the epoch.
    """

    key: str
    project: str
    sender: str
    to: tuple[str, ...]
    subject: str
    body: str
    created_ts: int
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    thread_id: str | None = None
    importance: Importance = "normal"
    ack_required: bool = False

    @property
    def recipients(self) -> tuple[tuple[RecipientRole, str], ...]:
        """Return everybody that gets it, with their role, in order."""
        roles: tuple[tuple[RecipientRole, tuple[str, ...]], ...] = (("to", self.to), ("cc", self.cc), ("bcc", self.bcc))
        return tuple((role, name) for role, names in roles for name in names)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all agents that it names, the sender first."""
        return (self.sender, *(name for _, name in self.recipients))


MailContent = Project | Product | MailAgent | Message


@dataclass(frozen=True, slots=True)
class StoredProject:
    """A project as it is stored."""

    id: int
    org_id: str | None
    content: Project
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class StoredProduct:
    """A product as it is stored, with the ids of its projects that the caller may see."""

    id: int
    org_id: str | None
    content: Product
    project_ids: tuple[int, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class StoredAgent:
    """An agent as it is stored, with the ids of its projects that the caller may see."""

    id: int
    org_id: str | None
    content: MailAgent
    project_ids: tuple[int, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as it is stored.

    Attributes
    ----------
    content : Message
        Names in the spelling that everybody sees.
    acknowledged : mapping of name to time
        Who has acknowledged it, and when.
    """

    id: int
    org_id: str | None
    project_id: int
    content: Message
    acknowledged: dict[str, datetime]
    is_embedded: bool
    updated_at: datetime


StoredMail = StoredProject | StoredProduct | StoredAgent | StoredMessage


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Which messages a listing shows; None is no condition. Names as keys (`agent_key`)."""

    project_id: int | None = None
    thread_id: str | None = None
    sender: str | None = None
    recipient: str | None = None
    importance: Importance | None = None
    ack_required: bool | None = None
    key: str | None = None


def agent_key(name: str) -> str:
    """Return what names of agents are compared by: case and the many ways of writing a letter do not count.

    Examples
    --------
    >>> agent_key("BlueLake") == agent_key(" bluelake ")
    True
    """
    return nfkc(nfkc(name).casefold()).strip()


def to_ts(moment: datetime) -> int:
    """Return a time with a zone as microseconds since the epoch."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment_of(created_ts: int) -> datetime:
    """Return microseconds since the epoch as a time in UTC; every time within `MAX_TS` is one.

    Examples
    --------
    >>> moment_of(1_767_604_320_000_000).isoformat()
    '2026-01-05T09:12:00+00:00'
    """
    return _EPOCH + timedelta(microseconds=created_ts)


MAX_TS = 2**53
"""The last moment of a message, in the year 2255; the first is its negative. Cursors and the index hold times as
doubles, which are exact so far: beyond, the end of one page would not be the beginning of the next."""
