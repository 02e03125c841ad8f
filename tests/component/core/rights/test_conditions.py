"""For random rules, callers and items: what searches find, what reads list, and what calls may is the same set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.facts import facts_of_item
from skillroute.catalogue.model import ItemFilter
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.caller import Caller, Scope
from skillroute.core.documents.index.postgres import PostgresIndex
from skillroute.core.documents.model import IndexFilter, IndexRecord
from skillroute.core.documents.visibility import visible_to
from skillroute.core.rights.conditions import seen_items, seen_servers, seen_skills
from skillroute.core.rights.decide import EVERYTHING, rights_of
from skillroute.core.rights.model import HINTS, About, Rule
from skillroute.core.rights.repository import RuleRepository
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.model import EntityFilter
from skillroute.registry.repository import RegistryRepository
from skillroute.search.plan import skills_where, tools_where
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import SkillFilter
from skillroute.skills.repository import SkillRepository
from skillroute_local.connect.memory_index import MemoryIndex

from tests.builders import System
from tests.searched_documents import search_in

SERVERS = ["github", "files", "io.acme/mail", "/odd", "GitHub", "Elsewhere", "post"]
NAMES = ["list", "delete", "a/b", "send"]
SKILLS = ["code", "post"]
ROLES, GROUPS = ["analyst", "boss"], ["eng", "ops"]
ORGS = [None, "acme", "globex"]
ANNOTATIONS: list[Any] = [
    None,
    {"readOnlyHint": True},
    {"destructiveHint": False},
    {"readOnlyHint": True, "destructiveHint": True},
]


def some(values: list[str], at_most: int = 2) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=at_most, unique=True).map(tuple)


rules = st.builds(
    Rule,
    id=st.integers(1, 1000),
    org_id=st.sampled_from(ORGS),
    name=st.just("a rule"),
    effect=st.sampled_from(["allow", "deny"]),
    roles=some(ROLES, 1),
    groups=some(GROUPS, 1),
    about=st.builds(
        About,
        servers=some(["github", "files", "io.acme/mail", "odd", "elsewhere", "post", "post-office", "none"]),
        tools=some([*NAMES, "github/list", "odd/send", "files/a/b", "elsewhere/send", "post-office/list", "none"]),
        skills=some([*SKILLS, "none"], 1),
        hints=some(list(HINTS), 1),
    ),
)
callers = st.builds(
    Caller,
    org_id=st.sampled_from(ORGS),
    scopes=st.just(frozenset({Scope.SEARCH})),
    roles=st.frozensets(st.sampled_from(ROLES), max_size=2),
    groups=st.frozensets(st.sampled_from(GROUPS), max_size=1),
)


@dataclass
class World:
    """One catalogue for all examples: items of three owners, of servers, kinds, hints and groups."""

    system: System
    indexes: dict[str, Any]
    registered_as: dict[int, list[str]]


@pytest.fixture
def world(system: System) -> Iterator[World]:
    for org in (None, "acme"):
        for skill in SKILLS if org is None else SKILLS[:1]:  # acme's own stands in the place of the global one
            system.skill(skill, None, org=org)
    number = 0
    for org in ORGS:
        for place, server in enumerate(["", *SERVERS]):
            for name in NAMES:
                number += 1
                system.tool(
                    name,
                    skills=[[], ["code"], ["post"], ["code", "post"]][number % 4],
                    server=server,
                    org=org,
                    type="prompt" if (number + place) % 7 == 0 else "tool",
                    annotations=ANNOTATIONS[(number + place) % 4],
                )
        keeper = Caller(org_id=org, scopes=frozenset({Scope.ADMIN}))
        system.put_server(f"/{SERVERS[0]}", caller=keeper)
        system.put_server("/elsewhere", caller=keeper, name="files")
        system.put_server("/post", caller=keeper, name="letters")
        system.put_server("/post", caller=keeper, name="post-office")  # called another name since
    search_in(system.pool)
    with system.replica.current() as edge:
        memory = MemoryIndex()
        for collection in (TOOL_DOCUMENTS, SKILL_DOCUMENTS, REGISTRY_DOCUMENTS):
            keys = edge.match(collection, where=IndexFilter(), limit=10_000)
            payloads = edge.payloads(collection, keys)
            memory.upsert(collection, [IndexRecord(key, None, "text", payloads[key]) for key in keys])
        stored = PostgresIndex(system.pool, system.embedder.model)
        registered_as = system.pool.read(
            lambda session: {
                item.id: ItemRepository(session).rule_servers(item)
                for org in ORGS
                for item in ItemRepository(session).page(ItemFilter(), org, limit=1000, offset=0, rights=EVERYTHING)[0]
            }
        )
        assert {"github", "GitHub"} <= {name for names in registered_as.values() for name in names}
        assert ["post", "post", "post-office"] in registered_as.values()
        yield World(system, {"edge": edge, "memory": memory, "postgres": stored}, registered_as)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_rules=st.lists(rules, max_size=4), caller=callers)
def test_what_is_found_is_what_is_listed_and_what_may_be_called(
    world: World, given_rules: list[Rule], caller: Caller
) -> None:
    # GIVEN the rules that apply to the caller's organisation
    read, org = world.system.pool.read, caller.org_id
    applying = [rule for rule in given_rules if rule.org_id in (None, org)]
    rights = rights_of(
        applying,
        roles=caller.roles,
        groups=caller.groups,
        own_keys=read(lambda session: RuleRepository(session).own_keys(org, applying)),
    )
    caller = replace(caller, rights=rights)

    # WHEN every item is judged by itself
    items, _ = read(
        lambda session: ItemRepository(session).page(ItemFilter(), org, limit=1000, offset=0, rights=EVERYTHING)
    )
    callable_ = {item.id for item in items if rights.allows(facts_of_item(item, world.registered_as[item.id])).allowed}

    # THEN reads list these, count these, and searches in any index find these
    listed, total = read(
        lambda session: ItemRepository(session).page(ItemFilter(), org, limit=1000, offset=0, rights=rights)
    )
    assert {item.id for item in listed} == callable_
    assert total == len(callable_)
    assert sum(read(lambda s: ItemRepository(s).counts(org, rights=rights)).values()) == len(callable_)
    for name, index in world.indexes.items():
        found = index.match(TOOL_DOCUMENTS, where=tools_where(caller), limit=1000)
        assert {int(key) for key in found} == callable_, name

    # AND tool groups and servers are found where they are listed
    skills, _ = read(lambda s: SkillRepository(s).page(SkillFilter(), org, limit=100, offset=0, rights=rights))
    all_skills, _ = read(lambda s: SkillRepository(s).page(SkillFilter(), org, limit=100, offset=0, rights=EVERYTHING))
    assert {skill.key for skill in skills} == {s.key for s in all_skills if rights.allows_skill(s.id).allowed}
    servers, _ = read(
        lambda s: RegistryRepository(s).page(EntityFilter("server"), org, limit=100, offset=0, rights=rights)
    )
    for name, index in world.indexes.items():
        found = index.match(SKILL_DOCUMENTS, where=skills_where(caller), limit=100)
        assert set(found) == {skill.key for skill in skills}, name
        found = index.match(REGISTRY_DOCUMENTS, where=server_condition(caller), limit=100)
        assert {int(key) for key in found} == {server.id for server in servers}, name
    for skill in skills:
        mine = {item.id for item in listed if skill.id in item.skill_ids}
        assert skill.tool_count == len(mine), skill.id


def server_condition(caller: Caller) -> IndexFilter:
    return seen_servers(caller.rights, IndexFilter({"kind": ["server"], **visible_to(caller).any_of}))


def test_without_rules_conditions_stay_as_they_are() -> None:
    where = IndexFilter({"type": ["tool"]})
    assert seen_items(rights_of([], roles=frozenset(), groups=frozenset()), where) is where
    assert seen_skills(rights_of([], roles=frozenset(), groups=frozenset()), where) is where
