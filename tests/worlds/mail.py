"""Agent mail of a world, written and read as the routes do it, and what is stored of it."""

from __future__ import annotations

from typing import Any

from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.model import MailKind, Message, MessageFilter, StoredAgent, StoredMessage
from skillroute.mail.rows import MailOutcome, MailReport

from tests.worlds.core import Core

DOCUMENT = """
SELECT {} FROM (
    SELECT d.*, split_part(s.lexical_text, E'\n', 1) AS title,
           substr(s.lexical_text, strpos(s.lexical_text, E'\n') + 1) AS body
    FROM mcp.mail_documents d JOIN mcp.documents s ON s.collection = 'mcp_mail' AND s.key = d.id::text
) AS document WHERE id = :id
"""


def reader(agent: str | None, org: str | None = None, *scopes: Scope) -> Caller:
    """Return a caller who may look at what an agent may."""
    return Caller(org_id=org, scopes=frozenset(scopes or {Scope.SEARCH, Scope.CATALOG}), agent=agent)


def statuses(report: MailReport) -> list[str]:
    return [each.status for each in report.outcomes]


class MailWorld(Core):
    """Writes mail, and returns what is stored of it."""

    def put_mail(self, kind: MailKind, *things: Any, caller: Caller = LAPTOP) -> MailReport:
        """Write things of a kind as one call."""
        return self.parts.mail.sync(kind, list(things), caller)

    def mail_outcome(self, kind: MailKind, caller: Caller = LAPTOP, **said: Any) -> MailOutcome:
        """Write one thing and return what became of it."""
        [outcome] = self.put_mail(kind, said, caller=caller).outcomes
        return outcome

    def mail_id(self, kind: MailKind, caller: Caller = LAPTOP, **said: Any) -> int:
        """Write one thing that must not fail and return its id."""
        outcome = self.mail_outcome(kind, caller, **said)
        assert outcome.id is not None, outcome
        return outcome.id

    def put_message(self, key: str = "m1", caller: Caller = LAPTOP, **said: Any) -> int:
        """Write a message from BlueLake to GreenHill in `atlas`, and return its id."""
        return self.mail_id("message", caller, **message(key, **said))

    def stored_message(self, id_: int, caller: Caller = LAPTOP) -> StoredMessage:
        found = self.parts.mail.read.get("message", id_, caller)
        assert isinstance(found, StoredMessage)
        return found

    def message_content(self, id_: int) -> Message:
        return self.stored_message(id_).content

    def stored_agent(self, id_: int, caller: Caller = LAPTOP) -> StoredAgent:
        found = self.parts.mail.read.get("agent", id_, caller)
        assert isinstance(found, StoredAgent)
        return found

    def mail_keys(self, kind: MailKind, caller: Caller = LAPTOP) -> list[str]:
        """Return the keys, or names, of what a caller sees, in the order of the list."""
        mail = self.parts.mail.read
        pages: dict[MailKind, Any] = {
            "project": lambda: mail.projects(caller, limit=100, offset=0),
            "product": lambda: mail.products(caller, limit=100, offset=0),
            "agent": lambda: mail.agents(caller, limit=100, offset=0),
            "message": lambda: mail.messages(MessageFilter(), caller, limit=100, offset=0),
        }
        found, total = pages[kind]()
        assert total == len(found)
        return [each.content.name if kind == "agent" else each.content.key for each in found]

    def mail_document(self, id_: int, columns: str) -> list[Any]:
        [row] = self.rows(DOCUMENT.format(columns), id=id_)
        return row

    def is_mail_embedded(self, id_: int) -> bool:
        return self.is_embedded(MAIL_DOCUMENTS, id_)

    def mail_payload(self, id_: int) -> dict[str, Any]:
        """Return what the index holds of a document."""
        with self.replica.current() as index:
            return dict(index.payloads(MAIL_DOCUMENTS, [str(id_)])[str(id_)])

    def findings(self) -> list[tuple[str, str]]:
        """Return the rules that are broken, and by what."""
        return [(each.rule, each.subject) for each in self.parts.verify().findings]


def message(key: str = "m1", **said: Any) -> dict[str, Any]:
    """Return a message as `PUT /api/v1/mail/messages` takes it."""
    return {
        "key": key,
        "project": "atlas",
        "from": "BlueLake",
        "to": ["GreenHill"],
        "subject": "Status of POL-358",
        "body": "The totals are right now.",
        "created_ts": 1_767_604_320_000_000,
        **said,
    }
