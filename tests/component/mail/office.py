"""Agent mail written and read as the routes do it, and what is stored of it."""

from __future__ import annotations

from typing import Any

from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.model import MailKind, Message, MessageFilter, StoredAgent, StoredMessage
from skillroute.mail.report import MailOutcome, MailReport

from tests.builders import System

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


class Office:
    """The use cases of mail over a system."""

    def __init__(self, system: System) -> None:
        self.system = system

    def put(self, kind: MailKind, *things: Any, caller: Caller = LAPTOP) -> MailReport:
        """Write things of a kind as one call."""
        return self.system.parts.mail.sync(kind, list(things), caller)

    def one(self, kind: MailKind, caller: Caller = LAPTOP, **said: Any) -> MailOutcome:
        """Write one thing and return what became of it."""
        [outcome] = self.put(kind, said, caller=caller).outcomes
        return outcome

    def id(self, kind: MailKind, caller: Caller = LAPTOP, **said: Any) -> int:
        """Write one thing that must not fail and return its id."""
        outcome = self.one(kind, caller, **said)
        assert outcome.id is not None, outcome
        return outcome.id

    def message(self, key: str = "m1", caller: Caller = LAPTOP, **said: Any) -> int:
        """Write a message from BlueLake to GreenHill in `atlas`, and return its id."""
        return self.id("message", caller, **message(key, **said))

    def get(self, id_: int, caller: Caller = LAPTOP) -> StoredMessage:
        found = self.system.parts.mail.read.get("message", id_, caller)
        assert isinstance(found, StoredMessage)
        return found

    def content(self, id_: int) -> Message:
        return self.get(id_).content

    def agent(self, id_: int, caller: Caller = LAPTOP) -> StoredAgent:
        found = self.system.parts.mail.read.get("agent", id_, caller)
        assert isinstance(found, StoredAgent)
        return found

    def keys(self, kind: MailKind, caller: Caller = LAPTOP) -> list[str]:
        """Return the keys, or names, of what a caller sees, in the order of the list."""
        mail = self.system.parts.mail.read
        pages: dict[MailKind, Any] = {
            "project": lambda: mail.projects(caller, limit=100, offset=0),
            "product": lambda: mail.products(caller, limit=100, offset=0),
            "agent": lambda: mail.agents(caller, limit=100, offset=0),
            "message": lambda: mail.messages(MessageFilter(), caller, limit=100, offset=0),
        }
        found, total = pages[kind]()
        assert total == len(found)
        return [each.content.name if kind == "agent" else each.content.key for each in found]

    def document(self, id_: int, columns: str) -> list[Any]:
        [row] = self.system.rows(DOCUMENT.format(columns), id=id_)
        return row

    def embedded(self, id_: int) -> bool:
        return self.system.is_embedded(MAIL_DOCUMENTS, id_)

    def payload(self, id_: int) -> dict[str, Any]:
        """Return what the index holds of a document."""
        with self.system.replica.current() as index:
            return dict(index.payloads(MAIL_DOCUMENTS, [str(id_)])[str(id_)])

    def findings(self) -> list[tuple[str, str]]:
        """Return the rules that are broken, and by what."""
        return [(each.rule, each.subject) for each in self.system.parts.verify().findings]


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
