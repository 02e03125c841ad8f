"""Writing agent mail: item by item, unchanged ones left alone, only new texts embedded.

Operators write for the whole organisation; what anybody else writes is bounded by what it may look at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Unpack

from skillroute.core.bulk.write import BulkWrite
from skillroute.core.bulk.writing import Writing
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import Embedded, JobOptions, embed_committed, embed_within
from skillroute.core.embedding.port import Embedder, message_embedder
from skillroute.core.errors.model import FieldProblem
from skillroute.core.observability import Metric
from skillroute.core.postgres.database import Database, Session
from skillroute.core.time.deadline import Deadline
from skillroute.mail.access import WriterRights
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.model import MailKind
from skillroute.mail.report import MailOutcome, MailReport
from skillroute.mail.repository import MailRepository
from skillroute.mail.rows import IncomingMail, MailWritten, Vectors
from skillroute.mail.schemas import MAIL_FIELDS, read_mail
from skillroute.mail.write import write_mail

MAIL_KINDS: Sequence[MailKind] = ("project", "product", "agent", "message")
"""In the order in which they can be written: each names those before it."""

MAX_MAIL: Mapping[MailKind, int] = {"project": 100, "product": 100, "agent": 100, "message": 500}
"""The most of one call."""


def _now_ts() -> int:
    return time.time_ns() // 1000


class SyncMail(BulkWrite):
    """`PUT /api/v1/mail/projects`, `/products`, `/agents` and `/messages`.

    Parameters
    ----------
    now_ts : callable
        Microseconds since the epoch: when messages were written that do not say.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        *,
        now_ts: Callable[[], int] = _now_ts,
        **options: Unpack[JobOptions],
    ) -> None:
        super().__init__(database, message_embedder(embedder), **options)
        self._now_ts = now_ts

    def __call__(
        self, kind: MailKind, things: Sequence[object], caller: Caller, *, dry_run: bool = False
    ) -> MailReport:
        """Create or change projects, products, agents or messages of the caller's organisation; see `BulkWrite`."""
        writing = MailWriting(kind, self._database, self._embedder, caller, self._now_ts())
        return self._carry_out(writing, things, dry_run=dry_run)


class MailWriting(Writing[IncomingMail, MailWritten, MailOutcome]):
    outcome_type = MailOutcome
    metrics: ClassVar = (Metric.MAIL_WRITTEN, Metric.MAIL_FAILED)

    def __init__(self, kind: MailKind, database: Database, embedder: Embedder, caller: Caller, now_ts: int) -> None:
        self.noun = kind
        self.most = MAX_MAIL[kind]
        self.identity = ("name", "name") if kind == "agent" else ("key", "key")
        self._kind: MailKind = kind
        self._database = database
        self._embedder = embedder
        self.caller = caller
        self._now_ts = now_ts
        self._vectors = Vectors()

    def warnings(self, raw: object) -> Sequence[FieldProblem]:
        return MAIL_FIELDS[self._kind].warnings(raw)

    def read(self, index: int, raw: object) -> IncomingMail:
        return IncomingMail.of(index, read_mail(self._kind, raw, now_ts=self._now_ts))

    def named(self, thing: IncomingMail) -> dict[str, object]:
        return {"key": thing.given.shown_key}

    def prepare(self, incoming: Sequence[IncomingMail], deadline: Deadline) -> bool:
        if self._kind == "product" or not incoming:
            return True
        new = self._database.read(lambda session: self._new_texts(session, incoming))
        vectors = embed_within(self._embedder, [(text,) for text in new.values()], deadline, what="mail")
        if vectors:
            self._vectors = Vectors(self._embedder.model, dict(zip(new, vectors, strict=False)))
        return len(vectors) == len(new)

    def store(self, session: Session, some: Sequence[IncomingMail]) -> MailWritten:
        MailRepository(session).lock(self.caller.org_id)
        return write_mail(session, self._kind, self.caller, some, self._vectors)

    def is_news(self, done: MailWritten) -> bool:
        return done.is_news

    def embed_committed(self, done: MailWritten, deadline: Deadline | None) -> tuple[Embedded, Embedded]:
        ids = () if self._kind == "product" else done.ids  # those of products are other things' among the documents
        mail = embed_committed(self._database, self._embedder, MAIL_DOCUMENTS, ids, deadline, what="mail")
        return mail, Embedded()

    def _new_texts(self, session: Session, incoming: Sequence[IncomingMail]) -> dict[str, str]:
        """Return by their hashes the texts that are new."""
        # What the caller may not look at counts as new: that there is nothing to embed would reveal its text.
        states = WriterRights.of(session, self.caller).seen(
            MailRepository(session).states(self._kind, self.caller.org_id, [thing.key for thing in incoming])
        )
        return {
            thing.document.text_hash: thing.document.text.embedded
            for thing in incoming
            if thing.document is not None and thing.has_new_text(states)
        }
