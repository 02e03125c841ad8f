"""Reading projects, products, agents and messages as their writers send them, so that the result can be stored.

Each is read on its own, so that one that is wrong never spoils the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, StringConstraints

from skillroute.core.errors.model import InvalidInput
from skillroute.core.errors.sentences import spelt
from skillroute.core.input.hidden_text import seen_name
from skillroute.core.input.json_input import examined_json, together, validated
from skillroute.core.input.known_fields import KnownFields
from skillroute.mail.model import (
    MAX_TS,
    Importance,
    MailAgent,
    MailContent,
    MailKind,
    Message,
    Product,
    Project,
    RecipientRole,
    agent_key,
)

MAX_NAME = 256
"""Characters of a name, of an agent's also in the form that names are compared by: NFKC can make 18 of one."""

MAX_RECIPIENTS = 100
"""Agents of one role."""

_MAX_PROJECTS = 1000
_MAX_FIELDS = 50


def _agent_name(name: str) -> str:
    name = seen_name(name)
    key = agent_key(name)
    if not key:
        raise ValueError("must not be blank")
    if len(key) > MAX_NAME:
        raise ValueError(f"has {len(key)} characters as names are compared; at most {MAX_NAME} are allowed")
    return name


_Key = Annotated[
    str,
    StringConstraints(max_length=128),
    spelt(r"^[A-Za-z0-9][A-Za-z0-9._/-]*$", "must begin with a letter or digit, then take letters, digits and ._/-"),
]
_MessageKey = Annotated[
    str,
    StringConstraints(max_length=128),
    spelt(r"^[A-Za-z0-9][A-Za-z0-9._:/-]*$", "must begin with a letter or digit, then take letters, digits and ._:/-"),
]
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME)]
_Description = Annotated[str, StringConstraints(strip_whitespace=True, max_length=50_000)]
_Projects = Annotated[list[_Key], Field(max_length=_MAX_PROJECTS)]

AgentName = Annotated[_Name, AfterValidator(_agent_name)]
Recipients = Annotated[list[AgentName], Field(max_length=MAX_RECIPIENTS)]


@dataclass(frozen=True, slots=True)
class MailGiven:
    """The content of a project, product, agent or message as it was read.

    Attributes
    ----------
    is_dated : bool
        Whether the writer says when a message was written; `created_ts` is else the moment it was read.
    """

    content: MailContent
    is_dated: bool = True

    @property
    def key(self) -> str:
        """Return what it is stored under."""
        return self.content.key

    @property
    def shown_key(self) -> str:
        """Return what its writer calls it by."""
        return self.content.name if isinstance(self.content, MailAgent) else self.content.key


class _Input(BaseModel):
    # An unknown field is left out, with a warning (`MAIL_FIELDS`).
    model_config = ConfigDict(extra="ignore", strict=True)


class ProjectInput(_Input):
    """A project as `PUT /api/v1/mail/projects` takes it."""

    key: _Key = Field(description="The writer's own id of it, one within the organisation.")
    name: _Name
    description: _Description | None = None

    def given(self, now_ts: int) -> MailGiven:
        """Return the project. The time does not matter."""
        return MailGiven(Project(self.key, self.name, self.description or ""))


class ProductInput(_Input):
    """A product as `PUT /api/v1/mail/products` takes it."""

    key: _Key = Field(description="The writer's own id of it, one within the organisation.")
    name: _Name
    description: _Description | None = None
    projects: _Projects | None = Field(None, description="Keys of the projects that it joins.")

    def given(self, now_ts: int) -> MailGiven:
        """Return the product. The time does not matter."""
        return MailGiven(Product(self.key, self.name, self.description or "", _distinct(self.projects)))


class MailAgentInput(_Input):
    """An agent as `PUT /api/v1/mail/agents` takes it."""

    name: AgentName = Field(description="As everybody shall see it; another spelling of it is the same agent.")
    description: _Description | None = None
    contact: Annotated[str, StringConstraints(strip_whitespace=True, max_length=1024)] | None = Field(
        None, description="How to reach the person who runs it."
    )
    projects: _Projects | None = Field(None, description="Keys of the projects that it belongs to.")

    def given(self, now_ts: int) -> MailGiven:
        """Return the agent. The time does not matter."""
        return MailGiven(MailAgent(self.name, self.description or "", self.contact or "", _distinct(self.projects)))


class MessageInput(_Input):
    """A message as `PUT /api/v1/mail/messages` takes it."""

    key: _MessageKey = Field(description="The writer's own id of it: writing it twice changes nothing.")
    project: _Key = Field(description="The key of its project.")
    sender: AgentName = Field(
        validation_alias=AliasChoices("from", "sender"), description="An agent; one that is not known yet is made."
    )
    to: Annotated[list[AgentName], Field(min_length=1, max_length=MAX_RECIPIENTS)]
    cc: Recipients | None = None
    bcc: Recipients | None = None
    subject: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
    body: Annotated[str, StringConstraints(max_length=100_000)] = ""
    thread_id: Annotated[str, StringConstraints(min_length=1, max_length=256)] | None = None
    importance: Importance = "normal"
    ack_required: bool = False
    created_ts: Annotated[int, Field(ge=-MAX_TS, le=MAX_TS)] | None = Field(
        None,
        description="Microseconds since the epoch. Without it a new message is of now, and one that is there stays of "
        "when it was.",
    )

    def given(self, now_ts: int) -> MailGiven:
        """Return the message. Raises `InvalidInput` for an agent that gets it twice."""
        cc, bcc = self.cc or (), self.bcc or ()
        _refuse_twice({"to": self.to, "cc": cc, "bcc": bcc})
        message = Message(
            key=self.key,
            project=self.project,
            sender=self.sender,
            to=tuple(self.to),
            cc=tuple(cc),
            bcc=tuple(bcc),
            subject=self.subject,
            body=self.body,
            created_ts=now_ts if self.created_ts is None else self.created_ts,
            thread_id=self.thread_id,
            importance=self.importance,
            ack_required=self.ack_required,
        )
        return MailGiven(message, is_dated=self.created_ts is not None)


MailInput = ProjectInput | ProductInput | MailAgentInput | MessageInput

INPUTS: Mapping[MailKind, type[MailInput]] = {
    "project": ProjectInput,
    "product": ProductInput,
    "agent": MailAgentInput,
    "message": MessageInput,
}


_SHOWN = [
    "id",
    "org_id",
    "created_at",
    "updated_at",
    "project_id",
    "project_ids",
    "project_count",
    "is_embedded",
    "acknowledged",
]
MAIL_FIELDS: Mapping[MailKind, KnownFields] = {
    kind: KnownFields.of(model, _SHOWN, keeps_others=False) for kind, model in INPUTS.items()
}


def read_mail(kind: MailKind, raw: object, *, now_ts: int) -> MailGiven:
    """Check one project, product, agent or message and return it.

    Parameters
    ----------
    now_ts : int
        Microseconds since the epoch: when a message was written that does not say.

    Raises
    ------
    InvalidInput
        Something is wrong with it; `field` is relative to it, such as ``to.1``.
    """
    if not isinstance(raw, Mapping):
        raise InvalidInput(kind, "must be an object")
    if len(raw) > _MAX_FIELDS:  # each unknown one would be an error of its own
        raise InvalidInput(kind, f"has {len(raw)} fields; none takes more than {_MAX_FIELDS}")
    named, problems = MAIL_FIELDS[kind].with_one_name(raw)
    _, unfit = examined_json(named, whole=kind)

    def read() -> MailGiven:
        given: Any = validated(INPUTS[kind], named, whole=kind)
        found: MailGiven = given.given(now_ts)
        return found

    return together([*problems, *unfit], read)


def _distinct(keys: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(keys or ()))


def _refuse_twice(roles: Mapping[RecipientRole, Sequence[str]]) -> None:
    places: dict[str, str] = {}
    for role, names in roles.items():
        for number, name in enumerate(names):
            place = f"{role}.{number}"
            first = places.setdefault(agent_key(name), place)
            if first != place:
                raise InvalidInput(place, f"is the same agent as {first}: name each recipient once")
