"""Texts and words of mail, derived from what was written: documents that differ are found and rewritten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillroute.core.documents.checks import MAX_FINDINGS, Finding
from skillroute.core.hashing import text_hash
from skillroute.core.postgres.database import Database, Session
from skillroute.mail.document_repository import MailText
from skillroute.mail.repository import MailRepository
from skillroute.mail.text import SearchText

_PAGE = 500
_CHECKED = 2000

NotFoundBy = tuple[int, SearchText, str]
"""The id of a document, what it should be found by, and the hash that is stored of what it is found by."""


def stale_mail(database: Database, *, most: int | None = None) -> Iterator[list[NotFoundBy]]:
    """Yield documents of all organisations that are searched by something else, by id, in pages of bounded size.

    Parameters
    ----------
    most : int or None
        Look at about so many only, always the same ones; None looks at all.
    """
    every = 1 if most is None else max(1, database.read(lambda session: MailRepository(session).count()) // most)
    after = 0

    def next_page(session: Session) -> list[MailText]:
        return MailRepository(session).load_sources(after=after, limit=_PAGE, every=every)

    while page := database.read(next_page):
        after = page[-1].id
        if wrong := _wrong(database, page):
            yield wrong


def check_mail(database: Database) -> list[Finding]:
    """Return what breaks a rule, and documents not found by what was written: of very many, a part is looked at.

    Taking the secrets out of one takes 0.26 ms; a reindex looks at all. Raises `DatabaseUnavailable`.
    """
    found = database.read(lambda session: MailRepository(session).broken_rules(MAX_FINDINGS))
    return found + [
        # What was written and what is searched of it are read in one statement, and written in one transaction.
        Finding("mail is found by what was written", str(id_), "its words or its text are others")
        for page in stale_mail(database, most=_CHECKED)
        for id_, _, _ in page
    ]


def _wrong(database: Database, page: Sequence[MailText]) -> list[NotFoundBy]:
    texts = {mail.id: SearchText.of(mail.title, mail.body) for mail in page}
    # What was written in the meantime has another text, and is not compared.
    other_words = database.read(lambda session: MailRepository(session).with_other_words(list(texts.items())))
    return [
        (mail.id, text, mail.text_hash)
        for mail, text in zip(page, texts.values(), strict=True)
        if {mail.text_hash, mail.document_hash} != {text_hash(text.title, text.body)} or mail.id in other_words
    ]


def refresh_mail(database: Database) -> None:
    """Derive again what mail is found by where it is something else, as it is after the rules for secrets changed."""
    for wrong in stale_mail(database):
        database.transact(lambda session, texts=wrong: MailRepository(session).set_texts(texts))  # type: ignore[misc]
