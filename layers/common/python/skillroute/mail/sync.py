"""Writing agent mail: item by item, unchanged ones left alone, only new texts embedded.

Operators write for the whole organisation; what anybody else writes is bounded by what it may look at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace

from skillroute.core.bulk_write import write_all_but_refused
from skillroute.core.caller import Caller
from skillroute.core.clock import Clock
from skillroute.core.deadline import Deadline
from skillroute.core.documents.embed import (
    Embedded,
    claim_model,
    embed_committed,
    embed_within,
)
from skillroute.core.documents.model import Collection
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder
from skillroute.core.errors import InvalidInput
from skillroute.core.observability import Metric, count
from skillroute.core.postgres.database import Database, Session
from skillroute.mail.model import MailKind
from skillroute.mail.report import MailOutcome, MailReport
from skillroute.mail.repository import MailRepository
from skillroute.mail.rights import WriterRights
from skillroute.mail.rows import IncomingMail, MailWritten, Vectors
from skillroute.mail.schemas import read_mail
from skillroute.mail.write import write_mail

MAIL_KINDS: Sequence[MailKind] = ("project", "product", "agent", "message")
"""In the order in which they can be written: each names those before it."""

MAX_MAIL: Mapping[MailKind, int] = {"project": 100, "product": 100, "agent": 100, "message": 500}
"""The most of one call."""


def _now_ts() -> int:
    return time.time_ns() // 1000


class SyncMail:
    """`PUT /api/v1/mail/projects`, `/products`, `/agents` and `/messages`.

    Parameters
    ----------
    database, embedder
    after_commit : callable
        Called once something was written; brings an index server up to date.
    timeout_s : float
        All embedding of a call ends so many seconds after its begin; what did not fit is left to the relay.
    now_ts : callable
        Microseconds since the epoch: when messages were written that do not say.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        *,
        after_commit: Callable[[], object] = lambda: None,
        timeout_s: float = 60.0,
        clock: Clock = time.monotonic,
        now_ts: Callable[[], int] = _now_ts,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._after_commit = after_commit
        self._timeout_s = timeout_s
        self._clock = clock
        self._now_ts = now_ts

    def __call__(self, kind: MailKind, things: Sequence[object], caller: Caller) -> MailReport:
        """Create or change projects, products, agents or messages of the caller's organisation.

        Raises
        ------
        InvalidInput
            There are more than `MAX_MAIL`.
        DatabaseUnavailable
            Nothing was written.
        """
        most = MAX_MAIL[kind]
        if len(things) > most:
            raise InvalidInput(f"{kind}s", f"{len(things)} {kind}s; at most {most} in one call")
        deadline = Deadline(self._timeout_s, self._clock, callee=EMBEDDING_MODEL)
        incoming, outcomes = _read_all(kind, things, self._now_ts())
        vectors, all_embedded = self._embed_new(kind, incoming, caller, deadline)
        done = self._write(kind, incoming, vectors, caller)
        # Ids of products are other things' ids among the documents.
        documents = () if kind == "product" else done.ids
        embedded = self._finish(done, documents, deadline if all_embedded else None)
        outcomes |= {index: _told(each, embedded.refused) for index, each in done.outcomes.items()}
        in_order = [outcomes[index] for index in sorted(outcomes)]
        report = MailReport(
            in_order, embedding_unavailable=not embedded.complete, embedding_refused=bool(embedded.refused)
        )
        count(Metric.MAIL_WRITTEN, report.count("created") + report.count("updated"))
        count(Metric.MAIL_FAILED, report.count("failed"))
        return report

    def _embed_new(
        self, kind: MailKind, incoming: Sequence[IncomingMail], caller: Caller, deadline: Deadline
    ) -> tuple[Vectors, bool]:
        """Embed texts that are new, as far as that goes; tell whether it went to the end."""
        if kind == "product" or not incoming:
            return Vectors(), True

        def read(session: Session) -> dict[str, str]:
            # What the caller may not look at counts as new: that there is nothing to embed would tell what it says.
            states = WriterRights.of(session, caller).seen(
                MailRepository(session).states(kind, caller.org_id, [each.key for each in incoming])
            )
            return {
                each.document.text_hash: each.document.text.embedded
                for each in incoming
                if each.document is not None and each.has_new_text(states)
            }

        new = self._database.read(read)
        vectors = embed_within(self._embedder, [(text,) for text in new.values()], deadline, what="mail")
        if not vectors:
            return Vectors(), not new
        by_hash = dict(zip(new, vectors, strict=False))
        return Vectors(self._embedder.model, by_hash), len(vectors) == len(new)

    def _write(self, kind: MailKind, incoming: Sequence[IncomingMail], vectors: Vectors, caller: Caller) -> MailWritten:
        """Write all in one transaction, but for those that PostgreSQL refuses."""

        def write(session: Session, some: Sequence[IncomingMail]) -> MailWritten:
            if vectors.by_hash:
                claim_model(session, self._embedder.model)
            MailRepository(session).hold(caller.org_id)
            return write_mail(session, kind, caller, some, vectors)

        written, wrong = write_all_but_refused(self._database, incoming, write, what=kind)
        done = written or MailWritten()
        for place, reason in wrong.items():
            each = incoming[place]
            done.outcomes[each.index] = each.outcome("failed", error=InvalidInput(kind, reason))
        return done

    def _finish(self, done: MailWritten, documents: Sequence[int], deadline: Deadline | None) -> Embedded:
        """Embed documents that the commit left without a vector, unless the model is away, and pass the news on."""
        embedded = Embedded(complete=deadline is not None and not done.made)
        try:
            if documents:
                keys = [str(id_) for id_ in documents]
                embedded = embed_committed(self._database, self._embedder, Collection.MAIL, keys, deadline, what="mail")
        finally:
            if done.is_news or embedded.stored:
                self._after_commit()
        return embedded


def _told(outcome: MailOutcome, refused: Container[str]) -> MailOutcome:
    """Return an outcome that says whether its text is refused."""
    return replace(outcome, is_refused=outcome.id is not None and str(outcome.id) in refused)


def _read_all(
    kind: MailKind, things: Sequence[object], now_ts: int
) -> tuple[list[IncomingMail], dict[int, MailOutcome]]:
    """Read what can be read; the rest has failed already."""
    incoming: list[IncomingMail] = []
    failed: dict[int, MailOutcome] = {}
    first_place: dict[str, int] = {}
    for index, raw in enumerate(things):
        try:
            given = read_mail(kind, raw, now_ts=now_ts)
        except InvalidInput as error:
            failed[index] = MailOutcome(index, "failed", field=error.field, reason=error.message)
            continue
        each = IncomingMail.of(index, given)
        first = first_place.setdefault(each.key, index)
        if first == index:
            incoming.append(each)
        else:
            name = "name" if kind == "agent" else "key"
            twice = InvalidInput(name, f"the same {name} as {kind} {first} of this call")
            failed[index] = each.outcome("failed", error=twice)
    return incoming, failed
