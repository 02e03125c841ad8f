"""Writing agent mail: item by item, unchanged ones left alone, only new texts embedded.

Operators write for the whole organisation; what anybody else writes is bounded by what it may look at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from skillroute.core.bulk.write import Diff, Kind, Stored, Vectors, Writer, write_many
from skillroute.core.caller import Caller
from skillroute.core.observability import Metric
from skillroute.core.postgres.database import Database, Session
from skillroute.mail.access import WriterRights
from skillroute.mail.model import MailKind
from skillroute.mail.repository import MailRepository
from skillroute.mail.rows import IncomingMail, MailOutcome, MailReport
from skillroute.mail.schemas import MAIL_FIELDS, read_mail
from skillroute.mail.write import write_mail

MAIL_KINDS: Sequence[MailKind] = ("project", "product", "agent", "message")
"""In the order in which they can be written: each names those before it."""

MAX_MAIL: Mapping[MailKind, int] = {"project": 100, "product": 100, "agent": 100, "message": 500}
"""The most of one call."""


def now_ts() -> int:
    """Return the microseconds since the epoch."""
    return time.time_ns() // 1000


def kind_of(kind: MailKind) -> Kind[MailOutcome]:
    """Return what is written of one kind of mail."""
    return Kind(
        noun=kind,
        most=MAX_MAIL[kind],
        identity=("name", "name") if kind == "agent" else ("key", "key"),
        outcome=MailOutcome,
        metrics=(Metric.MAIL_WRITTEN, Metric.MAIL_FAILED),
        texts="mail",
        warnings=MAIL_FIELDS[kind].warnings,
    )


@dataclass(frozen=True, slots=True)
class SyncMail:
    """`PUT /api/v1/mail/projects`, `/products`, `/agents` and `/messages`.

    Attributes
    ----------
    writer : Writer
        With the embedder of messages.
    now_ts : callable
        Microseconds since the epoch: when messages were written that do not say.
    """

    writer: Writer
    now_ts: Callable[[], int] = now_ts

    def __call__(
        self, kind: MailKind, things: Sequence[object], caller: Caller, *, dry_run: bool = False
    ) -> MailReport:
        """Create or change projects, products, agents or messages of the caller's organisation; see `write_many`."""
        steps = MailSteps(kind, self.writer.database, caller, self.now_ts())
        return write_many(self.writer, kind_of(kind), things, steps, caller, dry_run=dry_run)


class MailSteps:
    """Writes mail of one kind."""

    def __init__(self, kind: MailKind, database: Database, caller: Caller, now_ts: int) -> None:
        self._kind: MailKind = kind
        self._database = database
        self._caller = caller
        self._now_ts = now_ts

    def decode(self, index: int, raw: object) -> IncomingMail:
        return IncomingMail.of(index, read_mail(self._kind, raw, now_ts=self._now_ts))

    def diff(self, incoming: Sequence[IncomingMail]) -> Diff[MailOutcome]:
        if self._kind == "product" or not incoming:
            return Diff({})
        return Diff({}, self._database.read(lambda session: self._new_texts(session, incoming)))

    def store(self, session: Session, some: Sequence[IncomingMail], vectors: Vectors) -> Stored[MailOutcome]:
        MailRepository(session).lock(self._caller.org_id)
        return write_mail(session, self._kind, self._caller, some, vectors)

    def _new_texts(self, session: Session, incoming: Sequence[IncomingMail]) -> dict[str, Sequence[str]]:
        """Return by their hashes the texts that are new."""
        # What the caller may not look at counts as new: that there is nothing to embed would reveal its text.
        states = WriterRights.of(session, self._caller).seen(
            MailRepository(session).states(self._kind, self._caller.org_id, [thing.key for thing in incoming])
        )
        return {
            thing.document.text_hash: (thing.document.text.embedded,)
            for thing in incoming
            if thing.document is not None and thing.has_new_text(states)
        }
