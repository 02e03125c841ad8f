"""Reading, deleting and acknowledging agent mail, within what the caller may look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillroute.core.access import not_found, own
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, InvalidInput
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.database import Database, Session
from skillroute.mail.access import WriterRights
from skillroute.mail.model import (
    MailKind,
    MessageFilter,
    StoredAgent,
    StoredMail,
    StoredMessage,
    StoredProduct,
    StoredProject,
    agent_key,
)
from skillroute.mail.repository import MailRepository

_OneOf = Callable[[MailRepository, int, str | None, Sequence[int] | None], Sequence[StoredMail]]

_BY_ID: Mapping[MailKind, _OneOf] = {
    "project": lambda mail, id_, org_id, allowed: mail.projects(org_id, allowed, id_=id_)[0],
    "product": lambda mail, id_, org_id, allowed: mail.products(org_id, allowed, id_=id_)[0],
    "agent": lambda mail, id_, org_id, allowed: mail.agents(org_id, allowed, id_=id_)[0],
    "message": lambda mail, id_, org_id, allowed: mail.messages(MessageFilter(), org_id, allowed, id_=id_)[0],
}

_REFERRED_TO = {
    "mail_messages_project_id_fkey": "messages belong to project {}: delete them first",
    "mail_messages_sender_id_fkey": "agent {} has sent messages: delete them first",
    "mail_recipients_agent_id_fkey": "agent {} has been sent messages: delete them first",
}


class Mail:
    """`/api/v1/mail/...`, but for writing. What a caller may not look at is not there for it, its own or not.

    Parameters
    ----------
    database
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def projects(
        self, caller: Caller, *, key: str | None = None, limit: int, offset: int
    ) -> tuple[list[StoredProject], int]:
        """Return a page of the projects that the caller sees, by key, and how many there are in all."""
        return self._database.read(
            lambda s: MailRepository(s).projects(
                caller.org_id, MailRepository(s).may_see(caller), key=key, limit=limit, offset=offset
            )
        )

    def has_any(self, caller: Caller) -> bool:
        """Return whether the caller sees any project, without which it sees no message either."""
        return self.projects(caller, limit=1, offset=0)[1] > 0

    def products(
        self, caller: Caller, *, key: str | None = None, limit: int, offset: int
    ) -> tuple[list[StoredProduct], int]:
        """Return a page of the products that the caller sees, by key, and how many there are in all."""
        return self._database.read(
            lambda s: MailRepository(s).products(
                caller.org_id, MailRepository(s).may_see(caller), key=key, limit=limit, offset=offset
            )
        )

    def agents(
        self, caller: Caller, *, name: str | None = None, project_id: int | None = None, limit: int, offset: int
    ) -> tuple[list[StoredAgent], int]:
        """Return a page of the agents that the caller sees, by name, and how many there are in all."""
        return self._database.read(
            lambda s: MailRepository(s).agents(
                caller.org_id,
                MailRepository(s).may_see(caller),
                name_key=None if name is None else agent_key(name),
                project_id=project_id,
                limit=limit,
                offset=offset,
            )
        )

    def messages(
        self, where: MessageFilter, caller: Caller, *, limit: int, offset: int
    ) -> tuple[list[StoredMessage], int]:
        """Return a page of the messages that the caller sees, the newest first, and how many there are in all."""
        return self._database.read(
            lambda s: MailRepository(s).messages(
                where, caller.org_id, MailRepository(s).may_see(caller), limit=limit, offset=offset
            )
        )

    def get(self, kind: MailKind, id_: int, caller: Caller) -> Any:
        """Return the stored one of a kind. Raises `NotFound`, also when the caller may not look at it."""
        return self._database.read(lambda session: _visible(session, kind, id_, caller))

    def delete(self, kind: MailKind, id_: int, caller: Caller) -> None:
        """Delete what is the caller's organisation's.

        A product that has projects that the caller may not look at keeps those alone.

        Raises
        ------
        NotFound
            Nothing of the kind has the id, or the caller may not look at it.
        Forbidden
            It is global and the caller belongs to an organisation, or others' (`WriterRights.check_delete`).
        Conflict
            Messages refer to it.
        """

        def delete(session: Session) -> None:
            MailRepository(session).lock(caller.org_id)
            stored = _own(session, kind, id_, caller)
            rights = WriterRights.of(session, caller)
            rights.check_delete(session, stored)
            hidden = _hidden_links(session, stored, rights)
            if hidden:
                MailRepository(session).unlink_product(id_, hidden)
            elif not MailRepository(session).delete(kind, id_, caller.org_id):
                raise not_found(kind, id_)
            session.note_news()

        try:
            self._database.transact(delete)
        except StatementRejected as error:
            if error.constraint not in _REFERRED_TO:
                raise
            raise Conflict(_REFERRED_TO[error.constraint].format(id_), ErrorCode.STILL_REFERRED_TO) from error

    def acknowledge(self, message_id: int, agent: str, caller: Caller) -> StoredMessage:
        """Store an agent's acknowledgement of a message, and return it; the first time counts.

        Raises
        ------
        NotFound
            No message has the id, or the caller may not look at it.
        Forbidden
            It is global and the caller belongs to an organisation, or the agent is not the caller's.
        InvalidInput
            The message was not sent to the agent.
        """

        def acknowledge(session: Session) -> StoredMessage:
            MailRepository(session).lock(caller.org_id)
            _own(session, "message", message_id, caller)
            WriterRights.of(session, caller).check_acknowledge(agent)
            if not MailRepository(session).acknowledge(message_id, agent_key(agent)):
                raise InvalidInput("agent", "is not a recipient of the message")
            [message], _ = MailRepository(session).messages(MessageFilter(), caller.org_id, None, id_=message_id)
            return message

        return self._database.transact(acknowledge)


def _visible(session: Session, kind: MailKind, id_: int, caller: Caller) -> StoredMail:
    for found in _BY_ID[kind](MailRepository(session), id_, caller.org_id, MailRepository(session).may_see(caller)):
        return found
    raise not_found(kind, id_)


def _own(session: Session, kind: MailKind, id_: int, caller: Caller) -> StoredMail:
    return own(_visible(session, kind, id_, caller), caller, kind, id_)


def _hidden_links(session: Session, stored: StoredMail, rights: WriterRights) -> tuple[int, ...]:
    """Return the projects of a product that the caller may not look at: they stay as they are."""
    if not isinstance(stored, StoredProduct):
        return ()
    product = stored.content
    return rights.kept(
        product, MailRepository(session).states("product", stored.org_id, [product.key]).get(product.key)
    )
