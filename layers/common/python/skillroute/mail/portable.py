"""Projects, products, agents and messages as lines, and lines as mail (docs/adr/0052)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from skillroute.core.caller import Caller
from skillroute.core.embedding.port import Embedder
from skillroute.core.errors.model import FieldProblem, InvalidInput
from skillroute.core.portable.model import ExportedRow, Line, Slice, iso, moment, shown_moment
from skillroute.core.postgres.database import Database, Session
from skillroute.mail.model import MailKind, Message, agent_key
from skillroute.mail.report import MailReport
from skillroute.mail.rows import IncomingMail, MailWritten
from skillroute.mail.sync import MAX_MAIL, MailWriting, SyncMail

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


class RestoreMail(SyncMail):
    """Writes mail of lines, with who had acknowledged it."""

    def __call__(
        self, kind: MailKind, things: Sequence[object], caller: Caller, *, dry_run: bool = False
    ) -> MailReport:
        """Write lines of one kind, as many as a bulk write takes; see `BulkWrite`."""
        restoring = _Restoring(kind, self._database, self._embedder, caller, self._now_ts())
        return self._carry_out(restoring, things, dry_run=dry_run)


class _Restoring(MailWriting):
    def __init__(self, kind: MailKind, database: Database, embedder: Embedder, caller: Caller, now_ts: int) -> None:
        super().__init__(kind, database, embedder, caller, now_ts)
        self.noun = "line"
        self._acknowledged: dict[int, dict[str, datetime]] = {}

    def warnings(self, raw: object) -> Sequence[FieldProblem]:
        return super().warnings(_without_acknowledged(raw))

    def read(self, index: int, raw: object) -> IncomingMail:
        incoming = super().read(index, _without_acknowledged(raw))
        if isinstance(raw, Mapping) and isinstance(incoming.given.content, Message):
            self._acknowledged[index] = _acknowledged(raw.get(_ACKNOWLEDGED), incoming.given.content)
        return incoming

    def store(self, session: Session, some: Sequence[IncomingMail]) -> MailWritten:
        done = super().store(session, some)
        rows = [
            {"message_id": outcome.id, "name_key": name_key, "acknowledged_at": iso(at)}
            for index, outcome in done.outcomes.items()
            if outcome.id is not None
            for name_key, at in self._acknowledged.get(index, {}).items()
        ]
        if rows:
            written = {row[0] for row in session.run("restore_acknowledgements", rows=json.dumps(rows))}
            for index, outcome in done.outcomes.items():
                if outcome.status == "unchanged" and outcome.id in written:
                    done.outcomes[index] = replace(outcome, status="updated")
        return done


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
