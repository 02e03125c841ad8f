"""Servers and agents in the index: all of them, with what searches filter by, and never behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.replica_port import IndexReplica
from skillroute.registry.collection import REGISTRY_DOCUMENTS

from tests.integration.core.documents.index.replica_world import ALL, World
from tests.integration.rows import EAST, MODEL, Sql, put_document

REGISTRY = REGISTRY_DOCUMENTS
_INSERT = (
    "INSERT INTO mcp.registry_entities (org_id, kind, path, name, tags, tag_keys, content_hash) "
    "VALUES (:org, :kind, :path, 'A name', '{Docs,b}', '{docs,b}', '') RETURNING id"
)


def insert(sql: Sql, path: str, *, kind: str = "server", org: str | None = None) -> int:
    entity_id: int = sql(_INSERT, path=path, kind=kind, org=org)[0][0]
    put_document(sql, REGISTRY, str(entity_id))
    return entity_id


def held(replica: IndexReplica) -> dict[str, Mapping[str, Any]]:
    with replica.current() as index:
        return index.payloads(REGISTRY, index.match(REGISTRY, where=ALL, limit=100))


def test_what_is_written_after_the_index_was_built_is_in_it(world: World) -> None:
    sql = world.connect()
    before = insert(sql, "/before")
    replica = world.replica()
    assert set(held(replica)) == {str(before)}
    after = insert(sql, "/after", kind="agent", org="acme")
    assert held(replica)[str(after)] == {
        "entity_id": str(after), "kind": "agent", "path": "/after", "name": "A name", "tags": ["docs", "b"],
        "org_id": "acme", "is_enabled": "true", "rule_names": ["after", "A name"],
    }  # fmt: skip
    assert replica.status().counts[REGISTRY_DOCUMENTS] == 2


def test_a_disabled_one_stays_and_says_so_and_a_deleted_one_goes(world: World) -> None:
    sql = world.connect()
    first, second = insert(sql, "/first"), insert(sql, "/second")
    replica = world.replica()
    assert len(held(replica)) == 2
    sql("UPDATE mcp.registry_entities SET is_enabled = false WHERE path = '/first'")
    assert held(replica)[str(first)]["is_enabled"] == "false"
    sql("DELETE FROM mcp.registry_entities WHERE path = '/first'")
    assert set(held(replica)) == {str(second)}


def test_emptying_the_table_tells_every_index_to_read_anew(world: World) -> None:
    sql = world.connect()
    before = sql("SELECT epoch FROM mcp.index_state")
    sql("TRUNCATE mcp.registry_entities CASCADE")
    assert sql("SELECT epoch FROM mcp.index_state") != before


def test_changes_of_those_that_are_gone_are_forgotten_and_of_the_others_kept(world: World) -> None:
    sql = world.connect()
    insert(sql, "/gone")
    stays = insert(sql, "/stays")
    sql("DELETE FROM mcp.registry_entities WHERE path = '/gone'")
    assert world.database.transact(lambda session: IndexStateRepository(session).prune(older_than_s=0)) == 1
    assert sql("SELECT item_id FROM mcp.index_changes WHERE collection = 'mcp_registry'") == [[str(stays)]]


def test_changes_of_a_collection_that_a_newer_version_added_are_passed_over(world: World) -> None:
    replica = world.replica()
    assert held(replica) == {}
    sql = world.connect()
    sql("INSERT INTO mcp.index_changes (collection, item_id) VALUES ('mcp_of_tomorrow', '1')")
    entity = insert(sql, "/known")
    assert set(held(replica)) == {str(entity)}


def test_vectors_of_another_model_are_in_no_index(world: World) -> None:
    sql = world.connect()
    world.database.transact(lambda session: IndexStateRepository(session).claim(MODEL))

    def write(folder: str) -> set[str]:
        """Write one of each: of the model, of another one, of another dimension, and one without a vector."""
        insert(sql, f"{folder}/none")
        for name, model, dimension in [("same", "test", 2), ("other", "other", 2), ("longer", "test", 3)]:
            sql(
                "INSERT INTO mcp.document_vectors (collection, key, model, dimension, text_hash, embedding) "
                "VALUES ('mcp_registry', :key, :model, :dimension, '', decode(repeat('0000803f', :dimension), 'hex')) "
                "ON CONFLICT (collection, key, model, dimension) DO UPDATE SET embedding = excluded.embedding",
                key=str(insert(sql, f"{folder}/{name}")), model=model, dimension=dimension,
            )  # fmt: skip
        return {f"{folder}/{name}" for name in ("same", "other", "longer", "none")}

    def near(replica: IndexReplica) -> list[str]:
        payloads = held(replica)
        with replica.current() as index:
            return [payloads[hit.key]["path"] for hit in index.search(REGISTRY, EAST, where=ALL, limit=10)]

    # WHEN they are read as all are, THEN all are there and one has a vector
    paths = write("/all")
    replica = world.replica()
    assert {payload["path"] for payload in held(replica).values()} == paths
    assert near(replica) == ["/all/same"]
    # AND so when they are read as changes
    paths |= write("/changed")
    assert {payload["path"] for payload in held(replica).values()} == paths
    assert near(replica) == ["/all/same", "/changed/same"]


def test_a_server_that_holds_nothing_but_servers_and_agents_is_not_filled_again(shared: World) -> None:
    # GIVEN an index server that one process has brought up to date
    sql = shared.connect()
    insert(sql, "/a")
    assert len(held(shared.replica())) == 1
    shared.forget()
    # WHEN another process starts
    replica = shared.replica()
    loads: list[int] = []
    shared.feeds[-1].before_load_all = lambda: loads.append(1)
    insert(sql, "/b")
    # THEN it reads what is new and nothing else
    assert len(held(replica)) == 2
    assert loads == []
    assert len(shared.upserts) == 1
