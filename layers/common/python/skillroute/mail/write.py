"""Writing projects, products, agents and messages within a transaction that has locked the organisation's mail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from skillroute.core.bulk.outcomes import Status
from skillroute.core.bulk.write import Stored, Vectors
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import Waiting
from skillroute.core.errors.model import InvalidInput
from skillroute.core.hashing import content_hash, text_hash
from skillroute.core.postgres.database import Session
from skillroute.mail.access import WriterRights, agent_of
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.documents import MailDocument, of_agent
from skillroute.mail.model import MailAgent, MailContent, MailKind, Message, Product, Project, agent_key
from skillroute.mail.repository import MailRepository, MailState, MessageRow
from skillroute.mail.rows import IncomingMail, MailOutcome
from skillroute.mail.search.repository import MailSearchRepository


@dataclass(slots=True)
class _Row:
    """A thing that can be written, with the ids of its projects and the hash of its content.

    Attributes
    ----------
    project_ids : tuple of int
        Those that it names, and those that it belonged to and its writer may not look at.
    id : int
        0 until it has one.
    is_seen : bool
        Whether its writer may look at what is stored: else not even that it is the same is shown.
    """

    incoming: IncomingMail
    content: MailContent
    project_ids: tuple[int, ...]
    hash: str
    state: MailState | None
    id: int
    is_seen: bool

    @property
    def status(self) -> Status:
        if self.state is None:
            return "created"
        return "unchanged" if self.is_seen and self.state.content_hash == self.hash else "updated"

    def document(self) -> MailDocument:
        """Return the document under its id."""
        assert self.incoming.document is not None  # noqa: S101 (only products have none)
        project_ids = (self.id,) if isinstance(self.content, Project) else tuple(sorted(self.project_ids))
        document = replace(self.incoming.document, id=self.id, project_ids=project_ids)
        # A message that says nothing of when it was written stays of when it was.
        return replace(document, created_ts=self.content.created_ts) if isinstance(self.content, Message) else document


def write_mail(
    session: Session, kind: MailKind, caller: Caller, incoming: Sequence[IncomingMail], vectors: Vectors
) -> Stored[MailOutcome]:
    """Write things of one kind as the caller's organisation's: those that differ from what is stored.

    One that names a project that is not there, or that the caller may not look at, has failed, and so has one that is
    there and out of the caller's sight. The caller has locked the organisation's mail.
    """
    outcomes: dict[int, MailOutcome] = {}
    made: Sequence[int] = ()  # agents that were only named
    org_id = caller.org_id
    rows = _rows(session, kind, caller, incoming, outcomes)
    changed = [row for row in rows if row.status != "unchanged"]
    products = [(row.content, row.hash, row.project_ids) for row in changed if isinstance(row.content, Product)]
    if products:
        ids = MailRepository(session).put_products(org_id, products)
        for row, id_ in zip(changed, ids, strict=True):
            row.id = id_
    elif kind != "product":
        new = [row for row in changed if row.state is None]
        for row, id_ in zip(new, MailRepository(session).new_ids(len(new)) if new else (), strict=True):
            row.id = id_
        _store(session, org_id, [row.document() for row in changed], vectors)
        made = _put(session, org_id, changed)
        agent = None if caller.is_operator else agent_of(caller)
        if kind == "project" and new and agent is not None:
            made = _join(session, org_id, agent, [row.id for row in new])
    for row in rows:
        outcomes[row.incoming.index] = row.incoming.outcome(row.status, row.id)
    # The ids of products are other things' among the documents.
    waiting = () if kind == "product" else sorted({*made, *(row.id for row in rows)})
    return Stored(outcomes, bool(made or changed), [Waiting(MAIL_DOCUMENTS, waiting, "mail")])


def _rows(
    session: Session, kind: MailKind, caller: Caller, incoming: Sequence[IncomingMail], outcomes: dict[int, MailOutcome]
) -> list[_Row]:
    rights = WriterRights.of(session, caller)
    states = MailRepository(session).states(kind, caller.org_id, [thing.key for thing in incoming])
    project_ids = _ProjectIds.of(session, caller.org_id, incoming, rights)
    undated = [states[thing.key].id for thing in incoming if not thing.given.is_dated and thing.key in states]
    dates = MailSearchRepository(session).created(undated) if undated else {}
    rows = []
    for thing in incoming:
        try:
            rows.append(_row(kind, thing, states.get(thing.key), rights, project_ids, dates))
        except InvalidInput as error:
            outcomes[thing.index] = thing.outcome("failed", error=error)
    return rows


def _row(
    kind: MailKind,
    incoming: IncomingMail,
    state: MailState | None,
    rights: WriterRights,
    project_ids: _ProjectIds,
    dates: Mapping[int, int],
) -> _Row:
    """Return what one thing becomes. Raises `InvalidInput` when its writer may not, or names what is not there."""
    content = incoming.given.content
    rights.check(kind, content, state)
    ids = project_ids.named_by(content)
    rights.check_links(kind, ids)
    if isinstance(content, Product | MailAgent):
        ids = tuple(dict.fromkeys((*ids, *rights.kept(content, state))))
    if state is not None:
        if isinstance(content, Message) and not incoming.given.is_dated:
            content = replace(content, created_ts=dates.get(state.id, content.created_ts))
        if isinstance(content, MailAgent) and state.agent is not None and rights.is_other(content.name):
            # Another agent is brought into projects, and keeps its name, description and contact.
            content = replace(state.agent, projects=content.projects)
            incoming = incoming.with_content(content)
    is_seen = state is None or rights.sees(state.project_ids)
    return _Row(incoming, content, ids, _hash(content, ids), state, state.id if state else 0, is_seen)


def _hash(content: MailContent, project_ids: Sequence[int]) -> str:
    """Return the hash of what something says: of whom and what it names, rather than of how it spells that."""
    match content:
        case Message():
            return content_hash(
                replace(
                    content,
                    sender=agent_key(content.sender),
                    to=tuple(map(agent_key, content.to)),
                    cc=tuple(map(agent_key, content.cc)),
                    bcc=tuple(map(agent_key, content.bcc)),
                )
            )
        case Product() | MailAgent():
            # A project that was deleted and made again is another one.
            return text_hash(content_hash(replace(content, projects=())), *map(str, sorted(project_ids)))
        case Project():
            return content_hash(content)


@dataclass(frozen=True, slots=True)
class _ProjectIds:
    """The ids of projects by key: the organisation's own, and global ones, which are anybody's to link.

    What the writer may not look at is not among them: it is as unknown as what never was.
    """

    own: Mapping[str, int]
    shared: Mapping[str, int]

    @classmethod
    def of(
        cls, session: Session, org_id: str | None, incoming: Iterable[IncomingMail], rights: WriterRights
    ) -> _ProjectIds:
        """Look up all projects that are named."""
        contents = [content.given.content for content in incoming]
        linked = {key for content in contents if isinstance(content, Product | MailAgent) for key in content.projects}
        written_to = {content.project for content in contents if isinstance(content, Message)}

        def ids(of: str | None, keys: set[str]) -> dict[str, int]:
            states = MailRepository(session).states("project", of, sorted(keys)) if keys else {}
            return {key: state.id for key, state in rights.seen(states).items()}

        return cls(ids(org_id, linked | written_to), ids(None, linked) if org_id is not None else {})

    def named_by(self, content: MailContent) -> tuple[int, ...]:
        """Return the ids of the projects that something names. Raises `InvalidInput` for one that is not there."""
        match content:
            case Project():
                return ()
            case Message():
                if content.project not in self.own:
                    raise InvalidInput("project", f"there is no project {content.project} of your own")
                return (self.own[content.project],)
            case Product() | MailAgent():
                ids = [self.own.get(key) or self.shared.get(key) for key in content.projects]
                for place, (key, id_) in enumerate(zip(content.projects, ids, strict=True)):
                    if id_ is None:
                        raise InvalidInput(f"projects.{place}", f"there is no project {key}")
                return tuple(id_ for id_ in ids if id_ is not None)


def _put(session: Session, org_id: str | None, rows: Sequence[_Row]) -> Sequence[int]:
    """Write contents whose documents are there, and return the ids of agents that were made for it."""
    projects = [(row.id, row.content, row.hash) for row in rows if isinstance(row.content, Project)]
    if projects:
        MailRepository(session).put_projects(org_id, projects)
    agents = [(row.id, row.content, row.hash, row.project_ids) for row in rows if isinstance(row.content, MailAgent)]
    if agents:
        MailRepository(session).put_agents(org_id, agents)
    messages = [(row, row.content) for row in rows if isinstance(row.content, Message)]
    if not messages:
        return ()
    id_of, made = _agent_ids(session, org_id, [name for _, message in messages for name in message.names])
    MailRepository(session).put_messages(
        org_id,
        [
            MessageRow(
                id=row.id,
                content=message,
                content_hash=row.hash,
                project_id=row.project_ids[0],
                sender_id=id_of[agent_key(message.sender)],
                recipients=tuple((role, id_of[agent_key(name)]) for role, name in message.recipients),
            )
            for row, message in messages
        ],
    )
    return made


def _agent_ids(session: Session, org_id: str | None, names: Sequence[str]) -> tuple[dict[str, int], list[int]]:
    """Return the ids of agents by key, and which of them were made, in the first spelling that came."""
    spelling: dict[str, str] = {}
    for name in names:
        spelling.setdefault(agent_key(name), name)
    id_of = {key: state.id for key, state in MailRepository(session).states("agent", org_id, list(spelling)).items()}
    unknown = [MailAgent(name) for key, name in spelling.items() if key not in id_of]
    if not unknown:
        return id_of, []
    made = MailRepository(session).new_ids(len(unknown))
    _store(session, org_id, [of_agent(id_, agent, ()) for id_, agent in zip(made, unknown, strict=True)], Vectors())
    # Nothing is known of them but the name: the first write of one changes it.
    MailRepository(session).put_agents(org_id, [(id_, agent, "", ()) for id_, agent in zip(made, unknown, strict=True)])
    return id_of | {agent.key: id_ for id_, agent in zip(made, unknown, strict=True)}, made


def _join(session: Session, org_id: str | None, name: str, project_ids: Sequence[int]) -> list[int]:
    """Let the caller's agent belong to projects that the caller has just made, and return its id if it was made, too.

    Else nobody but an operator could write into them.
    """
    id_of, made = _agent_ids(session, org_id, [name])
    MailRepository(session).join_projects(id_of[agent_key(name)], project_ids)
    return made


def _store(session: Session, org_id: str | None, documents: Sequence[MailDocument], vectors: Vectors) -> None:
    if documents:
        beside = [(document, vectors.by_key.get(document.text_hash)) for document in documents]
        MailRepository(session).put_documents(org_id, vectors.model, beside)
