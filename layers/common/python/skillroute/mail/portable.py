"""Projects, products, agents and messages as lines, and lines as mail (docs/adr/0052)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from skillroute.core.bulk.write import Diff, Stored, Vectors, Writer, write_many
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.portable.model import ExportedRow, Line, Slice, iso, moment, shown_moment
from skillroute.core.postgres.database import Session
from skillroute.mail.model import MailKind, Message, agent_key
from skillroute.mail.rows import IncomingMail, MailOutcome, MailReport
from skillroute.mail.sync import MAX_MAIL, MailSteps, kind_of, now_ts

_ACKNOWLEDGED = "acknowledged"


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a kind of mail is read.

    Attributes
    ----------
    lines : str
        What its lines are called: agents of mail are others than the registry's.
    read, version : str
        The names of its statements.
    """

    lines: str
    read: str
    version: str
    line: Callable[[Sequence[Any]], dict[str, Any]]


class PortableMail:
    """Lines of kind `project`, `product`, `mail_agent` or `message`."""

    def __init__(self, kind: MailKind, restore: RestoreMail) -> None:
        self._kind: MailKind = kind
        self._restore = restore

    @property
    def kind(self) -> str:
        return _KINDS[self._kind].lines

    @property
    def most(self) -> int:
        return MAX_MAIL[self._kind]

    def version(self, session: Session, org_id: str | None) -> str:
        found: str = session.run(_KINDS[self._kind].version, org_id=org_id)[0][0]
        return found

    def page(self, session: Session, where: Slice) -> list[ExportedRow]:
        params = where.params
        if self._kind != "message":
            del params["max_bytes"]  # they are small
        kind = _KINDS[self._kind]
        return [ExportedRow(row[0], kind.line(row)) for row in session.run(kind.read, **params)]

    def write(self, lines: Sequence[Line], caller: Caller, *, dry_run: bool) -> MailReport:
        return self._restore(self._kind, lines, caller, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class RestoreMail:
    """Writes mail of lines, with who had acknowledged it; see `SyncMail`."""

    writer: Writer

    def __call__(
        self, kind: MailKind, things: Sequence[object], caller: Caller, *, dry_run: bool = False
    ) -> MailReport:
        """Write lines of one kind, as many as a bulk write takes; see `write_many`."""
        of_mail = kind_of(kind)
        lines = replace(of_mail, noun="line", warnings=lambda raw: of_mail.warnings(_without_acknowledged(raw)))
        steps = _RestoreSteps(MailSteps(kind, self.writer.database, caller, now_ts()))
        return write_many(self.writer, lines, things, steps, caller, dry_run=dry_run)


class _RestoreSteps:
    def __init__(self, mail: MailSteps) -> None:
        self._mail = mail
        self._acknowledged: dict[int, dict[str, datetime]] = {}

    def decode(self, index: int, raw: object) -> IncomingMail:
        incoming = self._mail.decode(index, _without_acknowledged(raw))
        if isinstance(raw, Mapping) and isinstance(incoming.given.content, Message):
            self._acknowledged[index] = _acknowledged(raw.get(_ACKNOWLEDGED), incoming.given.content)
        return incoming

    def diff(self, incoming: Sequence[IncomingMail]) -> Diff[MailOutcome]:
        return self._mail.diff(incoming)

    def store(self, session: Session, some: Sequence[IncomingMail], vectors: Vectors) -> Stored[MailOutcome]:
        stored = self._mail.store(session, some, vectors)
        rows = [
            {"message_id": outcome.id, "name_key": name_key, "acknowledged_at": iso(at)}
            for index, outcome in stored.outcomes.items()
            if outcome.id is not None
            for name_key, at in self._acknowledged.get(index, {}).items()
        ]
        if rows:
            written = {row[0] for row in session.run("restore_acknowledgements", rows=json.dumps(rows))}
            for index, outcome in stored.outcomes.items():
                if outcome.status == "unchanged" and outcome.id in written:
                    stored.outcomes[index] = replace(outcome, status="updated")
                    stored.is_news = True
        return stored


def _without_acknowledged(raw: object) -> object:
    if not isinstance(raw, Mapping):
        return raw
    return {name: value for name, value in raw.items() if name != _ACKNOWLEDGED}


def _acknowledged(raw: object, message: Message) -> dict[str, datetime]:
    """Return who has acknowledged a message, by the keys of names. Raises `InvalidInput`."""
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise InvalidInput(_ACKNOWLEDGED, "must be an object of recipients and the times at which they acknowledged")
    recipients = {agent_key(name) for _, name in message.recipients}
    found = {}
    for name in raw:
        if agent_key(name) not in recipients:
            raise InvalidInput(f"{_ACKNOWLEDGED}.{name[:64]}", "is not a recipient of the message")
        try:
            at = moment(raw, name)
        except InvalidInput as error:
            raise error.moved(lambda field: f"{_ACKNOWLEDGED}.{field[:64]}") from None
        if at is not None:
            found[agent_key(name)] = at
    return found


def _project(row: Sequence[Any]) -> dict[str, Any]:
    _, key, name, description = row
    return {"key": key, "name": name, "description": description}


def _product(row: Sequence[Any]) -> dict[str, Any]:
    *project, projects = row
    return {**_project(project), "projects": projects}


def _agent(row: Sequence[Any]) -> dict[str, Any]:
    _, name, description, contact, projects = row
    return {"name": name, "description": description, "contact": contact, "projects": projects}


def _message(row: Sequence[Any]) -> dict[str, Any]:
    (_, key, project, sender, subject, body, thread_id, importance, ack_required, created_ts, recipients) = row
    roles: dict[str, list[str]] = {"to": [], "cc": [], "bcc": []}
    acknowledged = {}
    for role, name, at in recipients or ():
        roles[role].append(name)
        if at is not None:
            acknowledged[name] = shown_moment(datetime.fromisoformat(at))
    return {
        "key": key,
        "project": project,
        "from": sender,
        **roles,
        "subject": subject,
        "body": body,
        "thread_id": thread_id,
        "importance": importance,
        "ack_required": ack_required,
        "created_ts": created_ts,
        _ACKNOWLEDGED: acknowledged,
    }


_KINDS: Mapping[MailKind, _Kind] = {
    "project": _Kind("project", "exported_projects", "version_of_projects", _project),
    "product": _Kind("product", "exported_products", "version_of_products", _product),
    "agent": _Kind("mail_agent", "exported_mail_agents", "version_of_mail_agents", _agent),
    "message": _Kind("message", "exported_messages", "version_of_messages", _message),
}
