"""Servers and agents: written, read, enabled, disabled and deleted, each by those who may."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.errors.model import DatabaseUnavailable, Forbidden, InvalidInput, NotFound
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.database import Session
from skillroute.core.postgres.follow_up import FollowedDatabase
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.model import AgentSkill, EntityContent, EntityFilter, EntityKind
from skillroute.registry.read import Registry
from skillroute.registry.refresh import refresh
from skillroute.registry.report import RegistryReport
from skillroute.registry.repository import EntityWritten, RegistryRepository
from skillroute.registry.schemas import MAX_ENTITIES

from tests.builders import System, of_org
from tests.doubles import once
from tests.integration.rows import connected, item_row, waits_for_a_lock
from tests.worlds.registry import DOCS

ACME, UMBRELLA = of_org("acme"), of_org("umbrella")
BOTH = pytest.mark.parametrize("kind", ["server", "agent"])


def statuses(report: RegistryReport) -> list[str]:
    return [outcome.status for outcome in report.outcomes]


def one(system: System, kind: EntityKind, caller: Caller = LAPTOP, **said: Any) -> int:
    [outcome] = system.put_entities({"name": "Thing", **said}, caller=caller, kind=kind).outcomes
    assert outcome.id is not None, outcome
    return outcome.id


# PUT


@BOTH
def test_each_is_created_then_unchanged_then_updated_under_its_id(system: System, kind: EntityKind) -> None:
    first = system.put_entities({"name": "a"}, {"name": "b"}, kind=kind)
    assert statuses(first) == ["created", "created"]
    before = system.entity(first.outcomes[0].id, kind)
    again = system.put_entities({"name": "b", "description": "New."}, {"name": "a"}, kind=kind)
    assert statuses(again) == ["updated", "unchanged"]
    assert [each.id for each in again.outcomes] == [each.id for each in first.outcomes][::-1]
    assert (again.count("updated"), again.count("unchanged"), again.count("created")) == (1, 1, 0)
    assert system.entity(first.outcomes[0].id, kind) == before


def test_a_server_and_an_agent_of_one_path_are_two(system: System) -> None:
    server, agent = one(system, "server", path="/x"), one(system, "agent", path="/x")
    assert server != agent
    with pytest.raises(NotFound):
        system.entity(server, "agent")
    with pytest.raises(NotFound):
        system.entity(agent, "server")


@BOTH
def test_what_is_not_searched_is_kept_and_changes_it_all_the_same(system: System, kind: EntityKind) -> None:
    id_ = one(system, kind, version="1", _meta={"b": [1, None], "a": 0.5})
    kept = {"name": "Thing", "version": "1", "_meta": {"b": [1, None], "a": 0.5}}
    assert system.entity(id_, kind).content.document == kept
    calls = len(system.embedder.calls)
    assert statuses(system.put_entities({"name": "Thing", "version": "2"}, kind=kind)) == ["updated"]
    assert system.entity(id_, kind).content.document["version"] == "2"
    assert len(system.embedder.calls) == calls
    assert system.entity(id_, kind).is_embedded


def test_an_agent_s_card_is_read_and_given_back(system: System) -> None:
    card = {
        "name": "Planner",
        "url": "https://x.test",
        "capabilities": {"streaming": True, "pushNotifications": False},
        "skills": [{"id": "1", "name": "Plan", "description": "Plans.", "tags": ["t"], "examples": ["e"]}],
    }
    id_ = one(system, "agent", **card)
    entity = system.entity(id_, "agent")
    assert (entity.content.capabilities, entity.content.skills) == (("streaming",), (AgentSkill("Plan", "Plans."),))
    assert (entity.content.document, entity.tool_count) == (card, 0)
    assert system.entity_text(id_) == "Planner\nCapabilities: streaming\nPlan: Plans."


@BOTH
def test_each_is_judged_by_itself_in_the_order_of_the_call(system: System, kind: EntityKind) -> None:
    report = system.put_entities({"name": "a"}, {"name": ""}, 7, {"name": "b", "path": "/a"}, {"name": "c"}, kind=kind)
    assert statuses(report) == ["created", "failed", "failed", "failed", "created"]
    assert [each.index for each in report.outcomes] == list(range(5))
    assert [each.field for each in report.outcomes] == [None, "name", kind, "path", None]
    twice = report.outcomes[3]
    assert (twice.id, twice.path, twice.name) == (None, "/a", "b")
    assert f"{kind} 0" in str(twice.reason)
    assert system.paths(kind) == ["/a", "/c"]


@BOTH
def test_too_many_are_refused_before_anything_is_written(system: System, kind: EntityKind) -> None:
    with pytest.raises(InvalidInput, match=f"101 {kind}s; at most 100"):
        system.put_entities(*({"name": f"n{number}"} for number in range(MAX_ENTITIES + 1)), kind=kind)
    assert system.paths(kind) == []


@BOTH
def test_nothing_to_write_is_no_error(system: System, kind: EntityKind) -> None:
    assert system.put_entities(kind=kind).outcomes == []


def test_one_that_postgresql_refuses_takes_its_tools_with_it_and_nobody_else(system: System) -> None:
    system.sql("ALTER TABLE mcp.tools ADD CONSTRAINT no_cursed CHECK (name <> 'cursed')")
    try:
        report = system.put_entities(
            {"name": "a", "tools": [DOCS]},
            {"name": "b", "tools": [DOCS, {"name": "cursed"}]},
            {"name": "c", "tools": [DOCS]},
        )
    finally:
        system.sql("ALTER TABLE mcp.tools DROP CONSTRAINT no_cursed")
    assert statuses(report) == ["created", "failed", "created"]
    bad = report.outcomes[1]
    assert (bad.field, bad.id, bad.path, bad.tools) == ("server", None, "/b", None)
    assert "no_cursed" in str(bad.reason)
    assert system.paths() == ["/a", "/c"]
    assert [len(system.tools_of(server)) for server in "abc"] == [1, 0, 1]
    assert all(system.is_entity_embedded(report.outcomes[place].id) for place in (0, 2))


def test_a_statement_that_is_refused_for_other_reasons_is_nobody_s_fault(system: System) -> None:
    system.sql(
        "CREATE FUNCTION mcp.refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '55000'; END $$;"
        "CREATE TRIGGER refuse BEFORE INSERT ON mcp.registry_entities EXECUTE FUNCTION mcp.refuse()"
    )
    try:
        with pytest.raises(StatementRejected, match="not now"):
            system.put_entities({"name": "a"}, {"name": "b"})
    finally:
        system.sql("DROP TRIGGER refuse ON mcp.registry_entities; DROP FUNCTION mcp.refuse()")


def test_without_a_database_nothing_is_reported_as_written(system: System) -> None:
    system.database.down = True
    with pytest.raises(DatabaseUnavailable):
        system.put_server()


def test_a_model_that_is_switched_before_the_tools_are_written_gets_no_vectors_of_the_old_one(system: System) -> None:
    # GIVEN tools that have been embedded, and a reindex that switches the model before they are written
    system.put_server(tools=[DOCS])
    switch = "UPDATE mcp.index_state SET embedding_model = 'other', epoch = gen_random_uuid()"
    system.database.before_transact = once(lambda: system.sql(switch))
    # WHEN they are THEN they wait for one of the new one
    report = system.put_entities(
        {"path": "/c7", "name": "Context7", "description": "New.", "tools": [DOCS, {"name": "new"}]}
    )
    assert (report.count("updated"), report.embedding_unavailable) == (1, True)
    assert sorted(system.tools_of()) == ["new", "query-docs"]
    models = system.rows(
        "SELECT DISTINCT v.model FROM mcp.document_vectors v JOIN mcp.tools t ON t.id::text = v.key "
        "WHERE t.name = 'new'"
    )
    assert models == [["other"]]


@BOTH
def test_two_that_write_the_same_in_opposite_order_at_once_wait_for_each_other(
    system: System, kind: EntityKind
) -> None:
    system.put_entities({"name": "a"}, {"name": "b"}, kind=kind)
    real = RegistryRepository.upsert
    written: list[str] = []
    others: list[Future[RegistryReport]] = []

    def upsert(
        repository: RegistryRepository, org_id: str | None, content: EntityContent, *rest: Any, **more: Any
    ) -> Any:
        result: EntityWritten = real(repository, org_id, content, *rest, **more)
        written.append(content.path)
        if len(written) == 1:
            # WHEN the second writer comes as soon as the first has written one of them
            others.append(pool.submit(lambda: system.put_entities({"name": "b"}, {"name": "a", "x": 2}, kind=kind)))
            while not waits_for_a_lock(watcher):
                assert not others[0].done()
        return result

    with ThreadPoolExecutor(1) as pool, connected(system.url) as watcher, pytest.MonkeyPatch.context() as patch:
        patch.setattr(RegistryRepository, "upsert", upsert)
        first = system.put_entities({"name": "a", "x": 1}, {"name": "b"}, kind=kind)
        [second] = [other.result() for other in others]
    # THEN each has written each once, without a deadlock
    assert (statuses(first), statuses(second)) == (["updated", "unchanged"], ["unchanged", "updated"])
    assert written == ["/a", "/b", "/a", "/b"]


@BOTH
def test_what_was_written_and_what_failed_is_counted(
    system: System, kind: EntityKind, counted: Callable[[str], float]
) -> None:
    system.put_entities({"name": "a"}, {"name": ""}, {"name": "b"}, kind=kind)
    system.put_entities({"name": "a"}, kind=kind)
    assert (counted("EntitiesWritten"), counted("EntitiesFailed")) == (2, 1)


# Enabled or not


@BOTH
def test_what_is_new_is_enabled_unless_it_says_otherwise_and_a_put_that_says_nothing_leaves_it(
    system: System, kind: EntityKind
) -> None:
    on, off = one(system, kind, path="/on"), one(system, kind, path="/off", is_enabled=False)
    assert (system.entity(on, kind).is_enabled, system.entity(off, kind).is_enabled) == (True, False)
    one(system, kind, path="/off", description="New.")
    assert not system.entity(off, kind).is_enabled
    assert statuses(system.put_entities({"name": "Thing", "path": "/on", "is_enabled": False}, kind=kind)) == [
        "updated"
    ]
    assert not system.entity(on, kind).is_enabled


@BOTH
def test_it_is_disabled_and_enabled_again_as_often_as_one_likes(system: System, kind: EntityKind) -> None:
    id_ = one(system, kind, x=1)
    change = system.parts.registry.read.set_enabled
    for is_enabled in (False, False, True, True):
        assert change(kind, id_, LAPTOP, is_enabled=is_enabled).is_enabled is is_enabled
        with system.replica.current() as index:
            payload = index.payloads(REGISTRY_DOCUMENTS, [str(id_)])[str(id_)]
        assert payload["is_enabled"] == str(is_enabled).lower()
        assert system.paths(kind, is_enabled=is_enabled) == ["/thing"]
        assert system.paths(kind, is_enabled=not is_enabled) == []
    assert dict(system.entity(id_, kind).content.document) == {"name": "Thing", "x": 1}


@BOTH
def test_a_change_is_passed_on_once_it_is_committed_and_only_then(system: System, kind: EntityKind) -> None:
    id_ = one(system, kind)
    seen: list[list[list[Any]]] = []
    stored = "SELECT is_enabled FROM mcp.registry_entities"
    registry = Registry(FollowedDatabase(system.database, lambda: seen.append(system.rows(stored))))
    registry.set_enabled(kind, id_, LAPTOP, is_enabled=False)
    assert seen == [[[False]]]
    for change in (registry.delete, lambda *whose: registry.set_enabled(*whose, is_enabled=True)):
        with pytest.raises(NotFound):
            change(kind, id_ + 1, LAPTOP)
    assert len(seen) == 1
    registry.delete(kind, id_, LAPTOP)
    assert seen == [[[False]], []]


# Deleting


def test_a_tool_that_is_deleted_while_another_is_written_leaves_the_server_with_that_one(system: System) -> None:
    # GIVEN a tool that is written and not committed
    id_ = system.put_server(tools=[DOCS]).id
    [(gone, _, _)] = system.tools_of().values()
    with ThreadPoolExecutor(1) as other, connected(system.url) as watcher:

        def write(session: Session) -> Future[None]:
            assert RegistryRepository(session).lock_servers(None, ["c7"]) == [id_]
            ItemRepository(session).upsert(None, None, [item_row("draw", server="c7")])
            refresh(session, [id_] if id_ else [])
            # WHEN another one of its server is deleted just then
            deleted = other.submit(system.parts.catalogue.read.delete, gone, LAPTOP)
            while not waits_for_a_lock(watcher):
                assert not deleted.done()
            return deleted

        system.pool.transact(write).result()
    # THEN the server says the one that is left
    assert list(system.tools_of()) == ["draw"]
    assert "draw" in system.entity_text(id_)
    assert "query-docs" not in system.entity_text(id_)
    assert system.parts.verify().findings == []


def test_a_deleted_server_takes_its_tools_and_words_with_it_and_nothing_else(system: System) -> None:
    kept = system.put_server("/kept", tools=[DOCS]).id
    gone = system.put_server("/c7", tools=[DOCS]).id
    system.put("query-docs", server="c7", type="prompt")
    system.put("query-docs", server="c7", caller=ACME)
    assert gone is not None
    system.parts.registry.read.delete("server", gone, LAPTOP)
    assert system.paths() == ["/kept"]
    left = system.rows("SELECT server, type, org_id FROM mcp.tools ORDER BY server, type")
    assert left == [["c7", "prompt", None], ["c7", "tool", "acme"], ["kept", "tool", None]]
    assert system.rows("SELECT DISTINCT entity_id FROM mcp.registry_words") == [[kept]]
    with system.replica.current() as index:
        assert index.count(REGISTRY_DOCUMENTS) == 1
        assert index.count(TOOL_DOCUMENTS) == 3
    with pytest.raises(NotFound):
        system.parts.registry.read.delete("server", gone, LAPTOP)


def test_a_deleted_agent_leaves_the_tools_of_a_server_of_its_path(system: System) -> None:
    system.put_server("/x", tools=[DOCS])
    system.parts.registry.read.delete("agent", one(system, "agent", path="/x"), LAPTOP)
    assert (system.paths(), system.paths("agent"), len(system.tools_of("x"))) == (["/x"], [], 1)


# Whose they are (decision 26)


@BOTH
def test_a_caller_sees_global_ones_and_its_own_and_changes_its_own(system: System, kind: EntityKind) -> None:
    ids = {caller.org_id: one(system, kind, caller, path=f"/{caller.org_id}") for caller in (LAPTOP, ACME, UMBRELLA)}
    assert system.paths(kind, ACME) == ["/None", "/acme"]
    assert system.entity(ids["acme"], kind, ACME).org_id == "acme"
    registry = system.parts.registry.read
    for change in (registry.delete, lambda *whose: registry.set_enabled(*whose, is_enabled=False)):
        with pytest.raises(Forbidden, match="global"):
            change(kind, ids[None], ACME)
        with pytest.raises(NotFound):
            change(kind, ids["umbrella"], ACME)
        with pytest.raises(NotFound):
            change(kind, ids["acme"], LAPTOP)
    with pytest.raises(NotFound, match=f"no {kind} with id"):
        system.entity(ids["umbrella"], kind, ACME)
    assert all(system.entity(ids[caller.org_id], kind, caller).is_enabled for caller in (LAPTOP, ACME, UMBRELLA))
    registry.delete(kind, ids["acme"], ACME)
    assert system.paths(kind, ACME) == ["/None"]


def test_an_organisation_s_server_of_a_global_one_s_path_is_another_with_tools_of_its_own(system: System) -> None:
    shared = system.put_server(tools=[DOCS])
    own = system.put_server(caller=ACME, tools=[{"name": "secret"}], org_id="umbrella")
    assert own.status == "created"
    assert own.id != shared.id
    assert system.entity(own.id, caller=ACME).org_id == "acme"
    assert (system.entity_text(shared.id), system.entity_text(own.id)) == (
        "Context7\nquery-docs: Query the docs.",
        "Context7\nsecret",
    )
    system.put_server(caller=ACME, tools=[])
    assert list(system.tools_of()) == ["query-docs"]


# Listing


@BOTH
def test_a_list_is_by_path_and_shows_what_meets_all_conditions(system: System, kind: EntityKind) -> None:
    system.put_entities(
        {"path": "/b", "name": "x", "tags": ["Docs", "code"]},
        {"path": "/a", "name": "x", "tags": ["docs"], "is_enabled": False},
        {"path": "/c", "name": "x"},
        kind=kind,
    )
    assert system.paths(kind) == ["/a", "/b", "/c"]
    assert system.paths(kind, tag=" DOCS ") == ["/a", "/b"]
    assert system.paths(kind, tag="docs", is_enabled=True) == ["/b"]
    assert system.paths(kind, path="/b") == ["/b"]
    assert system.paths(kind, tag="doc") == []
    page, total = system.parts.registry.read.page(EntityFilter(kind), LAPTOP, limit=1, offset=1)
    assert ([each.content.path for each in page], total) == (["/b"], 3)


def test_the_index_holds_it_at_once(system: System) -> None:
    id_ = system.put_server(tools=[DOCS], tags=["Docs"]).id
    with system.replica.current() as index:
        assert index.payloads(REGISTRY_DOCUMENTS, [str(id_)])[str(id_)] == {
            "entity_id": str(id_),
            "kind": "server",
            "org_id": "",
            "is_enabled": "true",
            "tags": ["docs"],
            "path": "/c7",
            "name": "Context7",
            "rule_names": ["c7", "Context7"],
        }
