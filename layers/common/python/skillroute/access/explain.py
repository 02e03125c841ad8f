"""The answer of rules about callers that do not ask themselves: for who keeps the rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skillroute.catalogue.facts import facts_of_item
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.access import not_found
from skillroute.core.caller import Caller, Scope
from skillroute.core.errors.model import Forbidden, InvalidInput
from skillroute.core.postgres.database import Database, Session
from skillroute.core.rights.decide import EVERYTHING, Decision, Rights, denies_servers, denies_skills, rights_of
from skillroute.core.rights.model import Rule
from skillroute.core.rights.repository import RuleRepository

_MAX_NAMESAKES = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A caller as it might be, and one object or none: `tool` by id or name, `server` by name, `skill` by id."""

    roles: frozenset[str]
    groups: frozenset[str]
    scopes: frozenset[Scope]
    org: str | None
    tool: str | None = None
    server: str | None = None
    skill: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """How many active tools, prompts and resources a server has, and how many of them the caller would find."""

    server: str
    items: int
    seen: int


@dataclass(frozen=True, slots=True)
class Explained:
    """The decision about an object, with the rules that are about both; without an object what is seen by server."""

    decision: Decision | None
    matched: Sequence[Rule]
    about: str | None
    seen: Sequence[Seen] = ()


class ExplainAccess:
    """`POST /api/v1/access/explain`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __call__(self, asked: Asked, caller: Caller) -> Explained:
        """Return what rules say of a caller of an organisation, by default the one's who asks.

        Raises
        ------
        Forbidden
            It is asked of another organisation, by an operator who belongs to one.
        NotFound
            There is no such tool.
        InvalidInput
            Several tools have the name.
        """
        org_id = asked.org if asked.org is not None else caller.org_id
        if caller.org_id not in (None, org_id):
            raise Forbidden("an organisation's operator asks of its own rules alone: leave out 'org'")
        return self._database.read(lambda session: _explained(session, asked, org_id))


def _explained(session: Session, asked: Asked, org_id: str | None) -> Explained:
    repository = RuleRepository(session)
    rules = repository.in_force(org_id)
    rights = rights_of(
        rules,
        roles=asked.roles,
        groups=asked.groups,
        is_exempt=Scope.ADMIN in asked.scopes,
        own_keys=repository.own_keys(org_id, rules),
    )
    if asked.tool is not None:
        item_id = _id_of(repository, asked.tool, org_id)
        item = ItemRepository(session).get(item_id, org_id, rights=EVERYTHING)
        if item is None:
            raise not_found("item", item_id)
        facts = facts_of_item(item, ItemRepository(session).rule_servers(item))
        called = f"{item.content.key.server}/{item.content.key.name}".removeprefix("/")
        return _of(asked, rights, rights.allows(facts), lambda rule: rule.covers(facts), f"tool {called}")
    if asked.server is not None:
        name = asked.server.removeprefix("/")
        return _of(
            asked,
            rights,
            rights.allows_server(name),
            lambda rule: (
                (rule.effect == "allow" or denies_servers(rule))
                and (not rule.about.servers or name in rule.about.servers)
            ),
            f"server {name}",
        )
    if asked.skill is not None:
        skill = asked.skill
        return _of(
            asked,
            rights,
            rights.allows_skill(skill),
            lambda rule: (
                (rule.effect == "allow" or denies_skills(rule))
                and (not rule.about.skills or skill in rule.about.skills)
            ),
            f"skill {skill}",
        )
    seen = repository.seen_by_server(org_id, rights.as_json())
    return Explained(None, [*rights.denying, *rights.allowing], None, [Seen(*row) for row in seen])


def _of(asked: Asked, rights: Rights, decision: Decision, is_about: Callable[[Rule], bool], about: str) -> Explained:
    if Scope.ADMIN in asked.scopes:
        decision = Decision(True, None, "No rule applies to callers with scope admin, who keep the rules.")
    matched = [rule for rule in (*rights.denying, *rights.allowing) if is_about(rule)]
    return Explained(decision, matched, about)


def _id_of(repository: RuleRepository, tool: str, org_id: str | None) -> int:
    if tool.isascii() and tool.isdigit() and len(tool) < 19:
        return int(tool)
    found = repository.items_called(tool, org_id, limit=_MAX_NAMESAKES)
    if not found:
        raise not_found("item", tool)
    if len(found) > 1:
        ids = ", ".join(map(str, found))
        raise InvalidInput("tool", f"several are called {tool}: name one as server/name, or by its id ({ids})")
    return found[0]
