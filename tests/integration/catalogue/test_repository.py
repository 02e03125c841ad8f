"""The item repository: created, updated or unchanged; and a vector that never stays with another text."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.model import ItemFilter, ItemKey, ItemSchemas
from skillroute.catalogue.repository import ItemRepository, ItemRow, Written
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.documents.texts import EmbeddingTask
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.postgres.database import Database, Session
from skillroute.core.postgres.pool import Pool
from skillroute.core.rights.decide import EVERYTHING

from tests.doubles import in_threads
from tests.integration.rows import (
    EAST,
    MODEL,
    NORTH,
    OTHER_MODEL,
    Sql,
    connected,
    item_row,
    vectors_of,
    waits_for_a_lock,
)

DOCUMENTS = DocumentRepository.of(TOOL_DOCUMENTS)


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        yield sql


def put(
    database: Database, *rows: ItemRow, org: str | None = None, model: EmbeddingModel | None = MODEL
) -> list[Written]:
    def write(session: Session) -> dict[ItemKey, Written]:
        if model is not None:
            IndexStateRepository(session).claim(model)
        return ItemRepository(session).upsert(org, model, rows)

    written = database.transact(write)
    return [written[row.content.key] for row in rows if row.content.key in written]


class TestUpsert:
    def test_a_new_item_is_created_and_the_same_again_is_left_alone(self, database: Database) -> None:
        [first] = put(database, item_row("a"))
        assert first.created and not first.is_embedded
        assert put(database, item_row("a")) == []

    def test_a_changed_item_is_updated_under_its_id(self, database: Database) -> None:
        [first] = put(database, item_row("a"))
        [second] = put(database, item_row("a", description="new", tags=("x",)))
        assert second == Written(first.id, created=False, is_embedded=False, is_refused=False)
        item = database.read(lambda s: ItemRepository(s).get(first.id, None, rights=EVERYTHING))
        assert item is not None
        assert (item.content.description, item.content.tags) == ("new", ("x",))
        assert item.updated_at > item.created_at

    @pytest.mark.parametrize("org", [None, "acme"])
    def test_one_that_is_deleted_meanwhile_is_written_anew_with_its_document(
        self, database: Database, sql: Sql, org: str | None
    ) -> None:
        # GIVEN an item that is being deleted
        [former, other] = put(database, item_row("a", EAST), item_row("b", EAST), org=org)
        sql("BEGIN")
        sql("DELETE FROM mcp.tools WHERE id = :id", id=former.id)
        # WHEN it is written, and waits for that
        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(lambda: put(database, item_row("a", EAST), item_row("b", EAST), org=org))
            while not waits_for_a_lock(sql):
                assert not writing.done()
            sql("COMMIT")
            [written] = writing.result()
        # THEN it is another one, which is found as the first was
        assert written == Written(written.id, created=True, is_embedded=True, is_refused=False)
        tool_ids = [[other.id], [written.id]]
        assert sql("SELECT id FROM mcp.tools ORDER BY id") == tool_ids
        assert sql("SELECT key::bigint FROM mcp.documents ORDER BY 1") == tool_ids
        assert vectors_of(sql, TOOL_DOCUMENTS, written.id) == {MODEL.name: EAST}

    def test_everything_an_owner_says_comes_back_as_it_was_said(self, database: Database) -> None:
        row = item_row(
            "näme ☃ '; DROP TABLE", type="prompt", server="srv", description="d\n\"e\"\\",
            input_schema={"z": [1, 2.5, None, True], "a": {"é": "ü"}}, output_schema={}, annotations={"x": True},
            tags=("b", "a", 'with "quotes", {braces}'), metadata={"x": {"y": []}},
        )  # fmt: skip
        [written] = put(database, row, org="acme")
        item = database.read(lambda s: ItemRepository(s).get(written.id, "acme", rights=EVERYTHING))
        assert item is not None
        assert item.content == row.content
        assert list(item.content.input_schema or {}) == ["z", "a"]
        assert (item.org_id, item.is_active, item.is_embedded, item.skill_ids) == ("acme", True, False, ())
        schemas = database.read(lambda s: ItemRepository(s).schemas([written.id, 99], room=1_000))
        content = row.content
        expected = ItemSchemas(content.input_schema, content.output_schema, content.annotations)
        assert list(schemas) == [written.id]
        assert (schemas[written.id].content_hash, schemas[written.id].schemas) == (row.content_hash, expected)

    def test_of_schemas_the_first_are_loaded_that_have_room_together(self, database: Database) -> None:
        rows = [item_row(f"t{n}", input_schema={"x": "é" * n}, annotations={"y": 1}) for n in (10, 500, 20, 0)]
        ids = [written.id for written in sorted(put(database, *rows), key=lambda written: written.id)]
        # WHEN there is room for the first two, in the order that they are asked for
        order = [ids[0], ids[2], ids[1], ids[3]]
        found = database.read(lambda s: ItemRepository(s).schemas(order, room=150))
        # THEN they are there, each with its bytes, and of the others it is told how many they would have
        assert set(found) == set(ids)
        loaded = [id_ for id_ in order if found[id_].schemas is not None]
        assert loaded == [id_ for at, id_ in enumerate(order) if sum(found[i].size for i in order[: at + 1]) <= 150]
        assert 0 < len(loaded) < 4
        sizes = {len(json.dumps(row.content.input_schema, ensure_ascii=False).encode()) + 8 for row in rows}
        assert {each.size for each in found.values()} == sizes

    def test_the_loading_of_schemas_is_planned_once(self, pool: Pool, sql: Sql) -> None:
        # GIVEN so many items that PostgreSQL reads a few of them by their ids
        sql("INSERT INTO mcp.tools (type, name, content_hash) SELECT 'tool', n, '' FROM generate_series(1, 2000) AS n")
        sql("ANALYZE mcp.tools")
        with pool.borrowed() as connection:
            for _ in range(10):
                connection.run("item_schemas", ids=[1, 2, 3], room=1000)
            # PostgreSQL makes five plans for the values of a run before it decides.
            assert connection.script("SELECT generic_plans FROM pg_prepared_statements") == [[5]]

    def test_what_schemas_take_of_memory_goes_by_their_values_as_well(self, database: Database) -> None:
        flat, dense = {"x": "y" * 4_000}, {"x": [[[]]] * 600}
        put(database, item_row("flat", input_schema=flat), item_row("dense", input_schema=dense))
        ids = [
            row.id
            for row in database.read(
                lambda s: ItemRepository(s).page(ItemFilter(), None, limit=9, offset=0, rights=EVERYTHING)
            )[0]
        ]
        found = [each.memory for each in database.read(lambda s: ItemRepository(s).schemas(ids, room=10_000)).values()]
        smaller, larger = sorted(found)
        assert smaller < 5_000
        assert larger > 180_000

    def test_the_same_key_under_another_organisation_is_another_item(self, database: Database) -> None:
        ids = {put(database, item_row("a"), org=org)[0].id for org in (None, "acme", "umbrella")}
        assert len(ids) == 3
        states = database.read(lambda s: ItemRepository(s).states("acme", [ItemKey("", "tool", "a")]))
        assert len(states) == 1

    def test_nothing_to_write_is_no_error(self, database: Database) -> None:
        assert put(database) == []
        assert database.read(lambda s: ItemRepository(s).states(None, [])) == {}
        assert database.read(lambda s: ItemRepository(s).schemas([], room=10)) == {}

    def test_of_writers_at_the_same_moment_one_creates(self, database: Database) -> None:
        rows = [item_row(f"t{n}", EAST) for n in range(20)]
        # every other one sends them the other way round
        written = in_threads(4, lambda n: put(database, *(rows if n % 2 else rows[::-1])))
        assert sum(w.created for batch in written for w in batch) == 20
        assert len({w.id for batch in written for w in batch}) == 20


class TestEmbedding:
    def test_it_is_kept_while_the_text_is_the_same(self, database: Database, sql: Sql) -> None:
        [first] = put(database, item_row("a", EAST, text="same"))
        [written] = put(database, item_row("a", text="same", tags=("new",)), model=None)
        assert written.is_embedded
        assert vectors_of(sql, TOOL_DOCUMENTS, first.id) == {"test": EAST}

    def test_it_is_dropped_when_the_text_changed_and_no_new_one_came(self, database: Database, sql: Sql) -> None:
        [first] = put(database, item_row("a", EAST, text="old"))
        [written] = put(database, item_row("a", text="new"), model=None)
        assert not written.is_embedded
        assert vectors_of(sql, TOOL_DOCUMENTS, first.id) == {"test": None}

    def test_a_new_one_replaces_it(self, database: Database, sql: Sql) -> None:
        put(database, item_row("a", EAST))
        [written] = put(database, item_row("a", NORTH))
        assert (written.created, written.is_embedded) == (False, True)
        assert vectors_of(sql, TOOL_DOCUMENTS, written.id) == {"test": NORTH}

    def test_one_batch_holds_items_with_and_without(self, database: Database) -> None:
        written = put(database, item_row("a", EAST), item_row("b"))
        assert [w.is_embedded for w in written] == [True, False]
        listed, _ = database.read(
            lambda s: ItemRepository(s).page(ItemFilter(), None, limit=10, offset=0, rights=EVERYTHING)
        )
        assert sorted(item.is_embedded for item in listed) == [False, True]

    def test_a_late_one_is_stored_only_beside_the_text_it_was_made_of(self, database: Database, sql: Sql) -> None:
        # GIVEN a task that was taken before the text changed
        a, b = put(database, item_row("a", text="old"), item_row("b", text="b"))
        tasks = database.read(lambda s: DOCUMENTS(s).to_embed(MODEL, limit=10))
        put(database, item_row("a", text="new"))
        # WHEN its vector comes
        database.transact(lambda s: DOCUMENTS(s).set_embeddings(MODEL, [(task, EAST) for task in tasks]))
        # THEN
        assert vectors_of(sql, TOOL_DOCUMENTS, a.id) == {"test": None}
        assert vectors_of(sql, TOOL_DOCUMENTS, b.id) == {"test": EAST}

    def test_a_late_one_for_a_deleted_item_is_no_error(self, database: Database, sql: Sql) -> None:
        late = EmbeddingTask("99", ("t",), "h")
        database.transact(lambda s: DOCUMENTS(s).set_embeddings(MODEL, [(late, EAST)]))
        assert sql("SELECT FROM mcp.document_vectors") == []

    def test_what_waits_is_read_by_key_and_by_organisation_in_turn(self, database: Database) -> None:
        names = {str(put(database, item_row(f"t{n}"))[0].id): f"t{n}" for n in range(12)}
        put(database, item_row("done", EAST))
        for org_id in ("acme", "globex"):
            put(database, item_row(f"{org_id}1"), org=org_id)
        first, *others = (names[key] for key in sorted(names))
        tasks = database.read(lambda s: DOCUMENTS(s).to_embed(MODEL, limit=10))
        assert [task.texts[0].strip() for task in tasks] == [first, "acme1", "globex1", *others[:7]]

    def test_what_has_another_model_or_none_is_to_be_embedded_again(self, database: Database) -> None:
        put(database, item_row("mine", EAST), item_row("none"), item_row("other"))
        tasks = database.read(lambda s: DOCUMENTS(s).to_embed(MODEL, limit=10))
        other = [(task, EAST) for task in tasks if task.texts[0].strip() == "other"]
        database.transact(lambda s: IndexStateRepository(s).begin(OTHER_MODEL))
        database.transact(lambda s: DOCUMENTS(s).set_embeddings(OTHER_MODEL, other))
        tasks = database.read(lambda s: DOCUMENTS(s).to_reembed(MODEL, after="", limit=10))
        assert {task.texts[0].strip() for task in tasks} == {"none", "other"}
        assert database.read(lambda s: DOCUMENTS(s).count_to_reembed(MODEL)) == 2
        assert database.read(lambda s: DOCUMENTS(s).count_to_reembed(OTHER_MODEL)) == 2
        wider = EmbeddingModel(MODEL.name, 3)
        assert database.read(lambda s: DOCUMENTS(s).count_to_reembed(wider)) == 3


class TestReading:
    def test_a_listing_filters_pages_and_counts(self, database: Database) -> None:
        put(database, *(item_row(f"t{n}", tags=("even",) if n % 2 == 0 else ()) for n in range(5)))
        put(database, item_row("p", type="prompt", server="s"), org="acme")
        put(database, item_row("hidden"), org="umbrella")

        def names(where: ItemFilter, limit: int = 10, offset: int = 0) -> tuple[list[str], int]:
            items, total = database.read(
                lambda s: ItemRepository(s).page(where, "acme", limit=limit, offset=offset, rights=EVERYTHING)
            )
            return [item.content.key.name for item in items], total

        assert names(ItemFilter()) == (["t0", "t1", "t2", "t3", "t4", "p"], 6)
        assert names(ItemFilter(tag="even"), limit=2) == (["t0", "t2"], 3)
        assert names(ItemFilter(tag="even"), limit=2, offset=2) == (["t4"], 3)
        assert names(ItemFilter(), offset=6) == ([], 6)
        assert names(ItemFilter(type="prompt")) == (["p"], 1)
        assert names(ItemFilter(server="s")) == (["p"], 1)
        assert names(ItemFilter(server="")) == (["t0", "t1", "t2", "t3", "t4"], 5)
        assert names(ItemFilter(name="t3")) == (["t3"], 1)
        assert names(ItemFilter(name="t%")) == ([], 0)
        assert names(ItemFilter(skill_id="none")) == ([], 0)

    def test_an_organisation_deletes_only_its_own(self, database: Database) -> None:
        ids = {org: put(database, item_row("a"), org=org)[0].id for org in (None, "acme", "umbrella")}

        def delete(org: str | None, item_id: int) -> bool:
            return database.transact(lambda s: ItemRepository(s).delete(item_id, org))

        assert not delete("acme", ids[None])
        assert not delete("acme", ids["umbrella"])
        assert not delete(None, ids["acme"])
        assert delete("acme", ids["acme"])
        assert not delete("acme", ids["acme"])


class TestIndexState:
    def test_the_first_claim_decides_and_later_ones_change_nothing(self, database: Database) -> None:
        assert database.read(lambda s: IndexStateRepository(s).models().current) is None
        database.transact(lambda s: IndexStateRepository(s).claim(MODEL))
        database.transact(lambda s: IndexStateRepository(s).claim(OTHER_MODEL))
        assert database.read(lambda s: IndexStateRepository(s).models().current) == MODEL

    def test_of_two_first_claims_at_once_the_later_one_waits_and_sees_the_earlier_one(self, database: Database) -> None:
        runs: list[int] = []

        def claim(place: int) -> EmbeddingModel | None:
            def work(session: Session) -> EmbeddingModel | None:
                runs.append(place)
                IndexStateRepository(session).claim([MODEL, OTHER_MODEL][place])
                return IndexStateRepository(session).locked_models().current

            return database.transact(work)

        seen = in_threads(2, claim)
        assert seen[0] == seen[1]
        assert seen[0] in (MODEL, OTHER_MODEL)
        assert len(runs) == 2  # nobody was rolled back

    def test_a_model_is_begun_after_the_end_of_who_writes_vectors_without_knowing_of_it(
        self, database: Database, sql: Sql
    ) -> None:
        # GIVEN a transaction that has written an item, and a reindex that begins
        database.transact(lambda s: IndexStateRepository(s).claim(MODEL))
        begin = threading.Thread(
            target=lambda: database.transact(lambda s: IndexStateRepository(s).begin(OTHER_MODEL)), daemon=True
        )

        def write(session: Session) -> None:
            ItemRepository(session).upsert(None, None, [item_row("a")])
            begin.start()
            while not waits_for_a_lock(sql):
                assert begin.is_alive()

        # WHEN it goes on
        database.transact(write)
        begin.join()
        # THEN the item is there to be embedded, and the next one waits for both models
        assert database.read(lambda s: DOCUMENTS(s).count_to_reembed(OTHER_MODEL)) == 1
        put(database, item_row("b"))
        assert sorted(sql("SELECT model FROM mcp.document_vectors")) == [[OTHER_MODEL.name], [MODEL.name], [MODEL.name]]

    def test_a_switch_waits_for_the_writer_that_looked_at_the_model(self, database: Database, sql: Sql) -> None:
        database.transact(lambda s: IndexStateRepository(s).claim(MODEL))
        database.transact(lambda s: IndexStateRepository(s).begin(OTHER_MODEL))
        switch = threading.Thread(
            target=lambda: database.transact(lambda s: IndexStateRepository(s).switch(OTHER_MODEL)), daemon=True
        )

        def write(session: Session) -> EmbeddingModel | None:
            assert IndexStateRepository(session).locked_models().current == MODEL
            switch.start()
            while not waits_for_a_lock(sql):
                assert switch.is_alive()
            return IndexStateRepository(session).locked_models().current

        assert database.transact(write) == MODEL
        switch.join()
        assert database.read(lambda s: IndexStateRepository(s).models().current) == OTHER_MODEL
