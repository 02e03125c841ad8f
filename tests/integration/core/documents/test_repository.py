"""Searchable documents and their vectors: what a write keeps, what follows a row, what the change feed is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from skillroute.agent_skills.collection import AGENT_SKILL_DOCUMENTS
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.embed import store_made
from skillroute.core.documents.feed import PostgresFeed
from skillroute.core.documents.index.postgres_replica import PostgresReplica
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.repository import DocumentRepository, DocumentText, PutDocument
from skillroute.core.documents.texts import EmbeddingTask, IndexedText
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.views import Refusal
from skillroute.core.hashing import text_hash
from skillroute.core.postgres.database import Database, Session
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import Assignment, AssignmentSource, skill_key

from tests.integration.rows import (
    EAST,
    INSERT_TOOL,
    MODEL,
    NORTH,
    OTHER_MODEL,
    Sql,
    claim,
    connected,
    insert_assignment,
    insert_skill,
    insert_tool,
    put_document,
    put_documents,
    vectors_of,
    waits_for_a_lock,
)

TOOLS, SKILLS = TOOL_DOCUMENTS, SKILL_DOCUMENTS
NEW, SAME = PutDocument(is_changed=True, is_embedded=False), PutDocument(is_changed=False, is_embedded=False)
REFUSED = PutDocument(is_changed=True, is_embedded=False, is_refused=True)


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        yield sql


@pytest.fixture
def other(database_url: str) -> Iterator[Sql]:
    """Another connection, which can hold a transaction open."""
    with connected(database_url) as sql:
        yield sql


@pytest.fixture
def tool(sql: Sql) -> str:
    """The key of a tool without a document; vectors are kept of `MODEL`."""
    claim(sql)
    return str(sql(INSERT_TOOL.format(name="tool") + " RETURNING id")[0][0])


@pytest.fixture
def skill(sql: Sql) -> str:
    """The key of a skill that is found by EAST."""
    claim(sql)
    insert_skill(sql, "s")
    put_document(sql, SKILLS, "s", "old", EAST)
    return "s"


def put(
    database: Database,
    key: str,
    text: str,
    vector: Vector | Refusal | None = None,
    *,
    words: str = "",
    model: EmbeddingModel = MODEL,
    collection: Collection = TOOLS,
    keep_derived: bool = False,
) -> PutDocument:
    document = DocumentText(key, IndexedText((text,), words, text_hash(text, words)), vector)
    given = None if vector is None else model

    def write(session: Session) -> dict[str, PutDocument]:
        return DocumentRepository(session, collection).put([document], given, keep_derived=keep_derived)

    return database.transact(write)[key]


def documents(sql: Sql, collection: Collection = TOOLS) -> dict[str, Any]:
    """Return documents by key: owner, whether it is searched, and the payload."""
    rows = sql(
        "SELECT key, org_id, is_searchable, payload FROM mcp.documents WHERE collection = :collection",
        collection=collection.value,
    )
    return {key: tuple(document) for key, *document in rows}


def logged(sql: Sql, work: Callable[[], object]) -> set[str]:
    """Return the keys that come into the change feed by some work."""
    sql("DELETE FROM mcp.index_changes")
    work()
    return {row[0] for row in sql("SELECT item_id FROM mcp.index_changes")}


class TestPut:
    def test_a_document_belongs_to_whom_its_row_does_and_says_what_the_row_says(
        self, database: Database, sql: Sql, tool: str
    ) -> None:
        sql("UPDATE mcp.tools SET org_id = 'acme', is_active = false")
        assert put(database, tool, "text") == NEW
        [(org, is_searchable, payload)] = documents(sql).values()
        assert (org, is_searchable) == ("acme", False)
        assert (payload["name"], payload["org_id"], payload["db_id"]) == ("tool", "acme", int(tool))

    def test_what_has_no_row_is_no_document(self, database: Database, sql: Sql, skill: str) -> None:
        sql("UPDATE mcp.skill_categories SET is_active = false, deleted_at = now()")
        for collection, key in ((TOOLS, "99"), (SKILLS, skill)):
            assert put(database, key, "text", EAST, collection=collection) == SAME
        assert sql("SELECT count(*) FROM mcp.documents") == [[0]]

    def test_a_vector_of_the_same_texts_stays_and_nobody_hears_of_it(
        self, database: Database, sql: Sql, tool: str
    ) -> None:
        put(database, tool, "text", EAST)
        again: list[PutDocument] = []
        assert logged(sql, lambda: again.append(put(database, tool, "text"))) == set()
        assert again == [PutDocument(is_changed=False, is_embedded=True)]
        assert vectors_of(sql, TOOLS, tool) == {"test": EAST}

    def test_a_vector_of_other_texts_goes(self, database: Database, sql: Sql, tool: str) -> None:
        put(database, tool, "old", EAST)
        assert logged(sql, lambda: put(database, tool, "new")) == {tool}
        assert vectors_of(sql, TOOLS, tool) == {"test": None}
        [task] = database.read(lambda s: DocumentRepository(s, TOOLS).to_embed(MODEL, limit=9))
        assert task == EmbeddingTask(tool, ("new",), text_hash("new", ""))

    def test_other_words_of_the_same_texts_keep_the_vector(self, database: Database, sql: Sql, tool: str) -> None:
        put(database, tool, "text", EAST)
        assert put(database, tool, "text", words="words") == PutDocument(is_changed=True, is_embedded=True)
        assert vectors_of(sql, TOOLS, tool) == {"test": EAST}
        # AND one that is made of them meanwhile is not too late
        assert sql("SELECT DISTINCT text_hash FROM mcp.document_vectors") == [[text_hash("text", "words")]]

    def test_a_new_vector_takes_the_place_of_the_old_one(self, database: Database, sql: Sql, tool: str) -> None:
        put(database, tool, "text", EAST)
        assert logged(sql, lambda: put(database, tool, "text", NORTH)) == {tool}
        assert vectors_of(sql, TOOLS, tool) == {"test": NORTH}

    def test_a_refusal_is_of_these_texts(self, database: Database, sql: Sql, tool: str) -> None:
        assert put(database, tool, "bad", Refusal("no")) == REFUSED
        assert put(database, tool, "bad") == PutDocument(is_changed=False, is_embedded=False, is_refused=True)
        assert put(database, tool, "bad", words="other words") == REFUSED
        assert database.read(lambda s: DocumentRepository(s, TOOLS).to_embed(MODEL, limit=9)) == []
        assert put(database, tool, "good") == NEW
        assert len(database.read(lambda s: DocumentRepository(s, TOOLS).to_embed(MODEL, limit=9))) == 1
        # AND a text that waits may turn out to be refused as well
        assert put(database, tool, "good", Refusal("no")) == REFUSED

    def test_a_refusal_takes_the_place_of_a_vector_of_other_texts_only(
        self, database: Database, sql: Sql, tool: str
    ) -> None:
        put(database, tool, "text", EAST)
        assert put(database, tool, "text", Refusal("no")) == PutDocument(is_changed=False, is_embedded=True)
        assert vectors_of(sql, TOOLS, tool) == {"test": EAST}
        assert put(database, tool, "bad", Refusal("no")) == REFUSED
        assert vectors_of(sql, TOOLS, tool) == {"test": None}
        # AND a vector ends it
        assert put(database, tool, "bad", NORTH) == PutDocument(is_changed=True, is_embedded=True)

    def test_a_refusal_is_of_its_model(self, database: Database, sql: Sql, tool: str) -> None:
        """Decision 37: another model may take what this one does not."""
        assert put(database, tool, "text", Refusal("no"), model=OTHER_MODEL) == NEW
        sql("UPDATE mcp.index_state SET next_model = 'other', next_dimension = 2")
        put(database, tool, "new", Refusal("no"), model=OTHER_MODEL)
        assert sql("SELECT model, refusal FROM mcp.document_vectors ORDER BY 1") == [["other", "no"], ["test", None]]

    def test_a_refusal_that_comes_late_is_stored_beside_the_text_it_is_of(
        self, database: Database, sql: Sql, tool: str
    ) -> None:
        def refuse(text: str) -> list[EmbeddingTask]:
            def store(session: Session) -> list[EmbeddingTask]:
                documents = DocumentRepository(session, TOOLS)
                documents.set_embeddings(MODEL, [(EmbeddingTask(tool, (text,), text_hash(text, "")), Refusal("no"))])
                return documents.to_embed(MODEL, limit=9)

            return database.transact(store)

        put(database, tool, "text")
        assert len(refuse("old")) == 1
        assert refuse("text") == []
        # AND not beside a vector of it
        put(database, tool, "text", EAST)
        refuse("text")
        assert vectors_of(sql, TOOLS, tool) == {"test": EAST}

    def test_vectors_are_kept_of_models_in_use_only(self, database: Database, sql: Sql, tool: str) -> None:
        assert put(database, tool, "text", EAST, model=OTHER_MODEL) == NEW
        assert vectors_of(sql, TOOLS, tool) == {"test": None}

    def test_while_a_model_is_about_to_take_over_documents_wait_for_both(
        self, database: Database, sql: Sql, tool: str
    ) -> None:
        """Those of the next model are nobody's news until it is the current one."""
        sql("UPDATE mcp.index_state SET next_model = 'other', next_dimension = 2")
        assert put(database, tool, "old", NORTH, model=OTHER_MODEL) == NEW
        assert vectors_of(sql, TOOLS, tool) == {"test": None, "other": NORTH}
        assert put(database, tool, "old", EAST) == PutDocument(is_changed=True, is_embedded=True)
        assert vectors_of(sql, TOOLS, tool) == {"test": EAST, "other": NORTH}
        put(database, tool, "new")
        assert vectors_of(sql, TOOLS, tool) == {"test": None, "other": None}

    def test_each_of_several_is_told_in_any_order(self, sql: Sql, tool: str) -> None:
        key = insert_tool(sql, "second")
        told = put_documents(sql, TOOLS, [key, 99, tool], "l", EAST)
        assert told == [[str(key), True, True, False], ["99", False, False, False], [tool, True, True, False]]


class TestKeepDerived:
    """A skill is found by what it was found by until there is a vector of its new text."""

    def state(self, sql: Sql) -> tuple[Vector | None, Vector | None]:
        """Its own vector, and the one that it is found by instead."""
        return vectors_of(sql, SKILLS, "s")["test"], vectors_of(sql, SKILLS, "s", "derived")["test"]

    def put(self, database: Database, text: str, vector: Vector | None = None, *, keep: bool = True) -> PutDocument:
        return put(database, "s", text, vector, collection=SKILLS, keep_derived=keep)

    def embed(self, database: Database, vector: Vector) -> None:
        def store(session: Session) -> None:
            skills = DocumentRepository(session, SKILLS)
            skills.set_embeddings(MODEL, [(task, vector) for task in skills.to_embed(MODEL, limit=9)])

        database.transact(store)

    def derive(self, database: Database, vector: Vector | None) -> bool:
        return database.transact(lambda s: DocumentRepository(s, SKILLS).derive("s", MODEL, vector))

    def test_the_former_vector_of_its_text_serves(self, database: Database, sql: Sql, skill: str) -> None:
        assert self.put(database, "new") == NEW
        assert self.state(sql) == (None, EAST)
        # AND it does so through a second change, and until somebody says what it is found by
        self.put(database, "newer")
        self.embed(database, NORTH)
        assert self.state(sql) == (NORTH, EAST)
        assert self.derive(database, None)
        assert self.state(sql) == (NORTH, None)

    def test_the_mean_of_its_tools_serves(self, database: Database, sql: Sql, skill: str) -> None:
        assert self.derive(database, NORTH)
        self.put(database, "new")
        assert self.state(sql) == (None, NORTH)

    def test_a_vector_of_the_new_text_takes_over_at_once(self, database: Database, sql: Sql, skill: str) -> None:
        self.put(database, "new", NORTH)
        assert self.state(sql) == (NORTH, None)

    def test_the_same_text_changes_nothing(self, database: Database, sql: Sql, skill: str) -> None:
        put_document(sql, SKILLS, skill, "old")
        assert put_documents(sql, SKILLS, [skill], "old", keep_derived=True) == [[skill, False, True, False]]
        assert self.state(sql) == (EAST, None)

    def test_without_it_the_skill_is_found_by_its_words_until_then(
        self, database: Database, sql: Sql, skill: str
    ) -> None:
        self.put(database, "new", keep=False)
        assert self.state(sql) == (None, None)

    def test_indexes_load_what_it_is_found_by(self, database: Database, sql: Sql, skill: str) -> None:
        self.put(database, "new")
        [record] = PostgresFeed(database).load(SKILLS, [skill], MODEL)
        assert record.vector == [1.0, 0.0]


def an_entity(sql: Sql) -> str:
    [[key]] = sql(
        "INSERT INTO mcp.registry_entities (kind, path, name, content_hash) VALUES ('agent', '/a', 'n', '') "
        "RETURNING id"
    )
    return str(key)


def a_project(sql: Sql) -> str:
    [[key]] = sql(
        "INSERT INTO mcp.mail_documents (kind, project_ids, created_ts, search_vector, text_hash) "
        "VALUES ('project', '{1}', 0, '', '') RETURNING id"
    )
    return str(key)


def a_piece(sql: Sql) -> str:
    [[key]] = sql(
        "WITH s AS (INSERT INTO mcp.agent_skills (path, name, description, frontmatter, content_hash) "
        "VALUES ('a', 'a', '', '{}', '') RETURNING id) "
        "INSERT INTO mcp.agent_skill_pieces (agent_skill_id, nth, heading, content) "
        "SELECT id, 1, '', 'c' FROM s RETURNING id"
    )
    return str(key)


def a_tool(sql: Sql) -> str:
    return str(insert_tool(sql, "t"))


def a_skill(sql: Sql) -> str:
    insert_skill(sql, "s")
    return "s"


# How a row comes; its table; a change that its document shows, and one that it does not.
KINDS = {
    TOOLS: (a_tool, "mcp.tools", "name = 'changed'", "tags = '{new}'"),
    SKILLS: (a_skill, "mcp.skill_categories", "name = 'changed'", "parent_domain = 'new'"),
    REGISTRY_DOCUMENTS: (an_entity, "mcp.registry_entities", "name = 'changed'", "description = 'new'"),
    AGENT_SKILL_DOCUMENTS: (a_piece, "mcp.agent_skill_pieces", "nth = 0", "heading = 'new'"),
    MAIL_DOCUMENTS: (a_project, "mcp.mail_documents", "created_ts = 7", "search_vector = 'new'"),
}


@pytest.mark.parametrize("collection", collections())
class TestOfEachKind:
    @pytest.fixture
    def key(self, sql: Sql, collection: Collection) -> str:
        """The key of a document that has a vector."""
        claim(sql)
        key = KINDS[collection][0](sql)
        put_document(sql, collection, key, "l", EAST)
        return key

    def test_it_follows_its_row(self, sql: Sql, collection: Collection, key: str) -> None:
        _, table, change, _ = KINDS[collection]
        assert logged(sql, lambda: sql(f"UPDATE {table} SET {change}")) >= {key}
        [(_, _, payload)] = documents(sql, collection).values()
        shown = {"name": "changed", "created_ts": 7, "part": "description"}
        assert any(payload.get(name) == value for name, value in shown.items())
        assert vectors_of(sql, collection, key) == {"test": EAST}

    def test_of_what_it_does_not_say_nobody_hears(self, sql: Sql, collection: Collection, key: str) -> None:
        _, table, _, change = KINDS[collection]
        assert logged(sql, lambda: sql(f"UPDATE {table} SET {change}")) == set()

    @pytest.mark.parametrize("way", ["DELETE FROM {}", "TRUNCATE {} CASCADE"])
    def test_it_vanishes_with_its_row_and_so_does_its_vector(
        self, sql: Sql, collection: Collection, key: str, way: str
    ) -> None:
        assert logged(sql, lambda: sql(way.format(KINDS[collection][1]))) == {key}
        assert documents(sql, collection) == {}
        assert vectors_of(sql, collection, key) == {}

    def test_one_that_is_not_what_its_row_says_is_found_and_mended(
        self, database: Database, sql: Sql, collection: Collection, key: str
    ) -> None:
        # GIVEN a document beside its row, and one without
        before = documents(sql, collection)
        sql("UPDATE mcp.documents SET org_id = 'acme', payload = '{}'")
        sql(
            "INSERT INTO mcp.documents (collection, key, is_searchable, texts, lexical_text, text_hash, payload) "
            "VALUES (:collection, '999', true, '{}', '', '', '{}')",
            collection=collection.value,
        )
        keys = ["999", key, "998"]
        assert set(database.read(lambda s: DocumentRepository(s, collection).stale(keys))) == {"999", key}
        # WHEN, THEN
        database.transact(lambda s: DocumentRepository(s, collection).project(keys))
        assert database.read(lambda s: DocumentRepository(s, collection).stale(keys)) == []
        assert documents(sql, collection) == before


class TestFollowing:
    def test_a_tool_is_searched_while_it_is_active_by_whom_it_belongs_to(self, sql: Sql) -> None:
        key = a_tool(sql)
        sql("UPDATE mcp.tools SET is_active = false, org_id = 'acme'")
        assert documents(sql)[key][:2] == ("acme", False)
        sql("UPDATE mcp.tools SET is_active = true, org_id = NULL")
        assert documents(sql)[key][:2] == (None, True)

    def test_a_tool_names_its_active_skills(self, sql: Sql) -> None:
        key, skill = a_tool(sql), a_skill(sql)

        def skills() -> tuple[list[str], str | None]:
            payload = documents(sql)[key][2]
            return payload["skill_keys"], payload["primary_skill_key"]

        insert_assignment(sql, int(key), skill, primary=True)
        assert skills() == (["s"], "s")
        sql("UPDATE mcp.skill_categories SET is_active = false")
        assert skills() == ([], None)
        sql("UPDATE mcp.skill_categories SET is_active = true")
        assert skills() == (["s"], "s")
        sql("TRUNCATE mcp.tool_skill_assignments")
        assert skills() == ([], None)

    def test_a_skill_that_is_marked_as_deleted_is_no_document_any_more(self, sql: Sql) -> None:
        key = a_skill(sql)
        assert logged(sql, lambda: sql("UPDATE mcp.skill_categories SET is_active = false, deleted_at = now()")) == {
            key
        }
        assert documents(sql, SKILLS) == {}

    def test_a_global_skill_is_hidden_from_whom_has_one_of_its_id(self, sql: Sql) -> None:
        key = a_skill(sql)
        insert_skill(sql, "s", "acme")
        assert documents(sql, SKILLS)[key][2]["hidden_from"] == ["acme"]
        sql("DELETE FROM mcp.skill_categories WHERE org_id = 'acme'")
        assert documents(sql, SKILLS)[key][2]["hidden_from"] == []

    @pytest.mark.parametrize("first", ["row", "skills"])
    def test_of_two_that_change_it_at_once_the_second_sees_the_first(
        self, database: Database, sql: Sql, other: Sql, first: str
    ) -> None:
        # GIVEN one who has changed a tool, or its skills, and is not through
        key, skill = a_tool(sql), a_skill(sql)

        def assign(session: Session) -> None:
            given = {int(key): [Assignment(skill_key("s", None), 0.9)]}
            AssignmentRepository(session).replace(given, {"s": skill_key("s", None)}, AssignmentSource.HUMAN_MANUAL)

        def change(session: Session) -> None:
            DocumentRepository(session, TOOLS).project([key])

        other("BEGIN")
        if first == "row":
            other("UPDATE mcp.tools SET description = 'changed'")
            second = assign
        else:
            insert_assignment(other, int(key), skill)
            # The row is changed by somebody whose document is not written yet.
            second = change
            sql("SET session_replication_role = 'replica'")
            sql("UPDATE mcp.tools SET description = 'changed'")
        # WHEN another one changes the other half, and waits
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(lambda: database.transact(second))
            while not waits_for_a_lock(sql):
                assert not waiting.done()
            other("COMMIT")
            waiting.result()
        # THEN the document says both
        payload = documents(sql)[key][2]
        assert (payload["description"], payload["skill_keys"]) == ("changed", ["s"])

    def test_who_derives_a_vector_waits_for_who_writes_its_document(
        self, database: Database, sql: Sql, other: Sql, skill: str
    ) -> None:
        """Else the point in PostgreSQL could have the vector of the one and the filters of before the other."""
        PostgresReplica(database, lambda: MODEL, {}).catch_up(60.0)
        other("BEGIN")
        other("UPDATE mcp.documents SET payload = payload || '{\"hidden_from\": [\"acme\"]}' WHERE key = 's'")
        derive = lambda s: DocumentRepository(s, SKILLS).derive(skill, MODEL, NORTH)  # noqa: E731
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(lambda: database.transact(derive))
            while not waits_for_a_lock(sql):
                assert not waiting.done()
            other("COMMIT")
            waiting.result()
        [[filters, distance]] = sql("SELECT filters, dense <-> '[0,1]' FROM mcp.search_vectors")
        assert ("hidden_from=acme" in filters, distance) == (True, pytest.approx(0.0))

    def test_documents_are_locked_in_the_order_of_their_keys(self, database: Database, sql: Sql, other: Sql) -> None:
        # GIVEN three of which somebody holds the second
        claim(sql)
        keys = [str(insert_tool(sql, name)) for name in "abc"]

        def write_texts(session: Session) -> None:
            texts = [DocumentText(key, IndexedText(("new",), "new", "new")) for key in reversed(keys)]
            DocumentRepository(session, TOOLS).put(texts)

        def follow_rows(session: Session) -> None:
            DocumentRepository(session, TOOLS).project(keys[::-1])

        def delete_rows(session: Session) -> None:
            session.run("delete_other_tools", org_id=None, server="", names=[])

        for work in (write_texts, follow_rows, delete_rows):
            other("BEGIN")
            other("SELECT FROM mcp.documents WHERE key = :key FOR NO KEY UPDATE", key=keys[1])
            # WHEN another one wants all of them, in any order
            with ThreadPoolExecutor(1) as thread:
                waiting = thread.submit(lambda work=work: database.transact(work))  # type: ignore[misc]
                while not waits_for_a_lock(sql):
                    assert not waiting.done(), work
                # THEN it holds the first, and not the last before it has the second
                free = sql("SELECT key FROM mcp.documents FOR NO KEY UPDATE SKIP LOCKED")
                assert (work, free) == (work, [[keys[2]]])
                other("COMMIT")
                waiting.result()
        assert documents(sql) == {}

    def test_vectors_are_stored_beside_a_writer_that_locks_documents_in_steps(
        self, database: Database, sql: Sql, other: Sql
    ) -> None:
        # GIVEN a writer that has locked the second of three documents
        claim(sql)
        keys = [str(insert_tool(sql, name)) for name in "abc"]
        for key in keys:
            put_document(sql, TOOLS, key, "l")
        made = [(EmbeddingTask(key, ("l",), text_hash("l")), EAST) for key in keys]
        other("BEGIN")
        lock = "SELECT FROM mcp.documents WHERE key = :key FOR NO KEY UPDATE"
        other(lock, key=keys[1])
        # WHEN vectors of all three are stored
        with ThreadPoolExecutor(1) as thread:
            rows = DocumentRepository.of(TOOLS)
            storing = thread.submit(lambda: store_made(database, rows, MODEL, made))
            while not waits_for_a_lock(sql):
                assert not storing.done()
            # THEN those that are free have theirs, nobody waits for the writer with one of them locked
            assert [vectors_of(sql, TOOLS, key) for key in keys] == [{"test": EAST}, {"test": None}, {"test": EAST}]
            other(lock, key=keys[0])
            other("COMMIT")
            storing.result()
        # THEN, once the writer is through, so has the last
        assert vectors_of(sql, TOOLS, keys[1]) == {"test": EAST}


class TestChangeFeed:
    def test_a_vector_of_another_model_is_no_change(self, database: Database, sql: Sql, tool: str) -> None:
        put_document(sql, TOOLS, tool, "l")
        task = EmbeddingTask(tool, ("l",), text_hash("l"))

        def store(model: EmbeddingModel, vector: Vector) -> set[str]:
            return logged(
                sql,
                lambda: database.transact(
                    lambda s: DocumentRepository(s, TOOLS).set_embeddings(model, [(task, vector)])
                ),
            )

        assert store(OTHER_MODEL, EAST) == set()
        assert vectors_of(sql, TOOLS, tool) == {"test": None}, "nobody asked for vectors of it"
        database.transact(lambda s: IndexStateRepository(s).begin(OTHER_MODEL))
        assert store(OTHER_MODEL, EAST) == set()
        assert store(OTHER_MODEL, NORTH) == set()
        assert store(MODEL, EAST) == {tool}
        assert store(MODEL, NORTH) == {tool}
        assert vectors_of(sql, TOOLS, tool) == {"test": NORTH, "other": NORTH}

    def test_what_a_skill_is_found_by_is_one(self, database: Database, sql: Sql, skill: str) -> None:
        def derive(vector: Vector | None) -> set[str]:
            return logged(
                sql,
                lambda: database.transact(lambda s: DocumentRepository(s, SKILLS).derive(skill, MODEL, vector)),
            )

        assert derive(NORTH) == {skill}
        assert derive(NORTH) == set()
        assert derive(None) == {skill}
        assert derive(EAST) == set()  # which is its own


class TestFirstModel:
    def test_what_was_written_before_anybody_knew_a_model_waits_from_then_on(
        self, database: Database, sql: Sql
    ) -> None:
        keys = [a_tool(sql), a_skill(sql)]
        assert sql("SELECT FROM mcp.document_vectors") == []
        # WHEN one is known, THEN they wait for vectors of it
        database.transact(lambda s: IndexStateRepository(s).claim(MODEL))
        for collection, key in zip((TOOLS, SKILLS), keys, strict=True):
            assert vectors_of(sql, collection, key) == {"test": None}
            [task] = database.read(lambda s, of=collection: DocumentRepository(s, of).to_embed(MODEL, limit=9))  # type: ignore[misc]
            assert task.id == key
        # AND a second claim changes nothing
        assert logged(sql, lambda: database.transact(lambda s: IndexStateRepository(s).claim(OTHER_MODEL))) == set()
        assert vectors_of(sql, TOOLS, keys[0]) == {"test": None}

    @pytest.mark.parametrize("first", ["the document", "the model"])
    def test_so_does_what_is_written_at_the_same_moment(
        self, database: Database, sql: Sql, other: Sql, first: str
    ) -> None:
        tool = str(sql(INSERT_TOOL.format(name="tool") + " RETURNING id")[0][0])
        other("BEGIN")
        if first == "the document":
            put_document(other, TOOLS, tool, "text")
            second: Callable[[], object] = lambda: database.transact(lambda s: IndexStateRepository(s).claim(MODEL))  # noqa: E731
        else:
            claim(other)
            second = lambda: put(database, tool, "text")  # noqa: E731
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(second)
            while not (waits_for_a_lock(sql) or waiting.done()):
                pass
            other("COMMIT")
            waiting.result()
        assert vectors_of(sql, TOOLS, tool) == {"test": None}
