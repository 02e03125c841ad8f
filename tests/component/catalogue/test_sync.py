"""PUT /api/v1/tools: item by item, only what changed is embedded, and one bad item spoils no other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.model import ItemKey
from skillroute.catalogue.sync import MAX_ITEMS, SyncReport, SyncTools
from skillroute.core.bulk.write import Writer
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import DatabaseUnavailable, InvalidInput
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.database import Database, Session
from skillroute.core.postgres.follow_up import FollowedDatabase
from skillroute.core.postgres.pool import Pool
from skillroute.registry.servers import RegisteredServers
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import Assignment, AssignmentSource

from tests.doubles import in_threads, once
from tests.integration.rows import connected, waits_for_a_lock
from tests.worlds.desk import ACME, Desk, Renamed, statuses, tool

T = TypeVar("T")
TOOLS, SKILLS = TOOL_DOCUMENTS, SKILL_DOCUMENTS


@pytest.fixture
def database_url(fresh_database_url: str) -> str:
    """A database for each test: one adds a trigger."""
    return fresh_database_url


class Overtaken:
    """A database in which something else happens before each transaction, once everything has been read."""

    def __init__(self, database: Database, before: Callable[[], None]) -> None:
        self._database = database
        self._before = before

    def read(self, work: Callable[[Session], T]) -> T:
        return self._database.read(work)

    def snapshot(self, work: Callable[[Session], T]) -> T:
        return self._database.snapshot(work)

    def transact(self, work: Callable[[Session], T]) -> T:
        self._before()
        return self._database.transact(work)

    def taken_back(self, work: Callable[[Session], T]) -> T:
        return self._database.taken_back(work)

    def together(self) -> AbstractContextManager[None]:
        return self._database.together()


class TestWhatChanged:
    def test_new_items_are_created_and_the_same_again_are_unchanged_under_their_ids(self, desk: Desk) -> None:
        first = desk.put(tool("a"), tool("b"))
        assert statuses(first) == ["created", "created"]
        embedded = len(desk.embedder.calls)
        second = desk.put(tool("b"), tool("a"))
        assert statuses(second) == ["unchanged", "unchanged"]
        assert [o.id for o in second.outcomes] == [o.id for o in first.outcomes][::-1]
        assert len(desk.embedder.calls) == embedded
        assert desk.commits == 1

    def test_only_what_changed_is_embedded(self, desk: Desk) -> None:
        desk.put(tool("a"), tool("b"), tool("c"))
        desk.embedder.calls.clear()
        report = desk.put(tool("a"), tool("b", "Draws a unicorn."), tool("c"))
        assert statuses(report) == ["unchanged", "updated", "unchanged"]
        assert len(desk.embedder.calls) == 1
        assert all("c:" not in text and "a:" not in text for text in desk.embedder.texts)
        assert any("unicorn" in text for text in desk.embedder.texts)

    def test_what_is_not_embedded_changes_without_the_model(self, desk: Desk) -> None:
        desk.put(tool("a"))
        before, desk.embedder.away = desk.vector(TOOLS, "a"), True
        report = desk.put(tool("a", tags=["new"], annotations={"readOnlyHint": True}, metadata={"v": 2}))
        assert statuses(report) == ["updated"]
        assert not report.embedding_unavailable
        assert desk.vector(TOOLS, "a") == before

    def test_the_order_of_a_schema_s_keys_is_no_change_of_its_text(self, desk: Desk) -> None:
        desk.put(tool("a", input_schema={"type": "object", "x": 1}))
        assert statuses(desk.put(tool("a", input_schema={"x": 1, "type": "object"}))) == ["unchanged"]

    def test_an_organisation_writes_its_own_and_never_a_global_one(self, desk: Desk) -> None:
        [shared] = desk.put(tool("a")).outcomes
        [own] = desk.put(tool("a"), caller=ACME).outcomes
        assert own.status == "created"
        assert own.id != shared.id

    def test_nothing_to_write_is_no_error(self, desk: Desk) -> None:
        assert desk.put().outcomes == []
        assert desk.commits == 0


class TestWhatIsWrong:
    def test_each_item_is_judged_by_itself_in_the_order_of_the_call(self, desk: Desk) -> None:
        report = desk.put(tool("a"), {"name": ""}, "text", tool("b"), tool("a"), tool("c", type="agent"))
        assert statuses(report) == ["created", "failed", "failed", "created", "failed", "failed"]
        assert [o.index for o in report.outcomes] == list(range(6))
        assert [o.field for o in report.outcomes] == [None, "name", "item", None, "name", "type"]
        assert "item 0" in str(report.outcomes[4].reason)
        assert (report.count("created"), report.count("failed")) == (2, 4)

    def test_too_many_are_refused_before_anything_is_written(self, desk: Desk) -> None:
        with pytest.raises(InvalidInput, match="501 items; at most 500"):
            desk.put(*(tool(f"t{n}") for n in range(MAX_ITEMS + 1)))
        assert desk.sql("SELECT count(*) FROM mcp.tools") == [[0]]

    def test_an_item_that_postgresql_refuses_does_not_spoil_the_others(self, desk: Desk) -> None:
        desk.sql("ALTER TABLE mcp.tools ADD CONSTRAINT no_cursed CHECK (name <> 'cursed')")
        report = desk.put(tool("a"), tool("cursed"), tool("b"))
        assert statuses(report) == ["created", "failed", "created"]
        bad = report.outcomes[1]
        assert (bad.field, bad.key, bad.id) == ("item", ItemKey("", "tool", "cursed"), None)
        assert "no_cursed" in str(bad.reason)
        assert desk.vector(TOOLS, "b") is not None
        assert len(desk.embedder.calls) == 1

    def test_a_single_item_that_is_refused_leaves_nothing(self, desk: Desk) -> None:
        desk.sql("ALTER TABLE mcp.tools ADD CONSTRAINT no_cursed CHECK (name <> 'cursed')")
        assert statuses(desk.put(tool("cursed"))) == ["failed"]
        assert desk.commits == 0

    def test_a_statement_that_is_refused_for_other_reasons_is_no_item_s_fault(self, desk: Desk) -> None:
        # GIVEN a refusal that is not about a value
        desk.sql(
            "CREATE FUNCTION mcp.refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '55000'; END $$"
        )
        desk.sql("CREATE TRIGGER refuse BEFORE INSERT ON mcp.tools EXECUTE FUNCTION mcp.refuse()")
        # WHEN, THEN
        for items in ([tool("a")], [tool("a"), tool("b")]):
            with pytest.raises(StatementRejected, match="not now") as refused:
                desk.put(*items)
            assert refused.value.state == "55000"
        assert desk.commits == 0

    def test_without_a_database_nothing_is_reported_as_written(self, desk: Desk) -> None:
        unreachable = Pool("postgresql://u:p@127.0.0.1:1/db")
        away = SyncTools(Writer(unreachable, desk.embedder), RegisteredServers())
        with pytest.raises(DatabaseUnavailable):
            away([tool("a")], ACME)


class TestModel:
    def test_without_it_items_are_stored_and_found_by_words_until_they_come_again(self, desk: Desk) -> None:
        desk.embedder.away = True
        report = desk.put(tool("a"))
        assert statuses(report) == ["created"]
        assert report.embedding_unavailable
        assert desk.vector(TOOLS, "a") is None
        # WHEN it is back, and the same item comes again
        desk.embedder.away = False
        again = desk.put(tool("a"))
        # THEN the item gets its vector, which is no change to its owner
        assert statuses(again) == ["unchanged"]
        assert again.outcomes[0].id == report.outcomes[0].id
        assert desk.vector(TOOLS, "a") is not None

    def test_a_changed_text_does_not_keep_the_old_vector_while_it_is_away(self, desk: Desk) -> None:
        desk.put(tool("a"))
        desk.embedder.away = True
        assert statuses(desk.put(tool("a", "Something else entirely."))) == ["updated"]
        assert desk.vector(TOOLS, "a") is None

    def test_the_first_vector_decides_and_what_has_another_model_stores_without_one(self, desk: Desk) -> None:
        desk.put(tool("a"))
        desk.use(Renamed("second", 4))
        report = desk.put(tool("b"))
        assert (statuses(report), report.embedding_unavailable) == (["created"], True)
        assert desk.embedder.calls == []
        assert desk.models_of("b") == set()

    def test_a_model_that_goes_out_of_use_while_items_are_embedded_leaves_no_vector(self, desk: Desk) -> None:
        desk.put(tool("a"))
        real = desk.embedder.embed

        def embed(texts: list[str], *, timeout_s: float) -> list[list[float]]:
            desk.sql("UPDATE mcp.index_state SET embedding_model = 'second', epoch = gen_random_uuid()")
            desk.embedder.embed = real  # type: ignore[method-assign]
            return real(texts, timeout_s=timeout_s)

        desk.embedder.embed = embed  # type: ignore[method-assign, assignment]
        report = desk.put(tool("b"))
        assert (statuses(report), report.embedding_unavailable) == (["created"], True)
        assert desk.models_of("b") == set()


def test_a_first_writer_waits_for_another_one_without_holding_it_up(desk: Desk) -> None:
    # GIVEN a transaction that has looked at the model of an empty database, and a writer that wants to claim it
    other = desk.sql
    other("SET deadlock_timeout = '10ms'")
    other("BEGIN")
    other("SELECT FROM mcp.index_state FOR SHARE")
    reports: list[SyncReport] = []
    writer = threading.Thread(target=lambda: reports.append(desk.put(tool("a"))))
    writer.start()
    with connected(desk.url) as watcher:
        while not waits_for_a_lock(watcher):
            assert writer.is_alive()
    # WHEN the first one claims it
    other("UPDATE mcp.index_state SET embedding_model = 'other', embedding_dimension = 2")
    other("COMMIT")
    # THEN there is no deadlock, and the second one's vector is none of that model
    writer.join()
    assert (statuses(reports[0]), reports[0].embedding_unavailable) == (["created"], True)
    assert desk.sql("SELECT model, embedding FROM mcp.document_vectors") == [["other", None]]


def test_of_two_that_put_different_texts_at_once_one_is_whole(desk: Desk) -> None:
    for number in range(5):
        in_threads(2, lambda n, number=number: desk.put(tool("a", f"Version {number} by writer {n}.")))  # type: ignore[misc]
        [[description, texts]] = desk.sql(
            "SELECT t.description, d.texts FROM mcp.tools t JOIN mcp.documents d ON d.key = t.id::text"
        )
        assert description.rstrip(".") in texts[0]
        writer = f"Version {number} by writer"
        assert description.startswith(writer)


class TestRequests:
    """Requests that a tool serves."""

    def test_new_ones_are_embedded_with_the_text_and_the_same_again_are_not(self, desk: Desk) -> None:
        desk.put(tool("a"), tool("b"))
        before = desk.vector(TOOLS, "a")
        desk.embedder.calls.clear()
        assert statuses(desk.put(tool("a", requests=["cut my film"]), tool("b"))) == ["updated", "unchanged"]
        assert "cut my film" in desk.embedder.texts
        assert desk.vector(TOOLS, "a") != before
        desk.embedder.calls.clear()
        assert statuses(desk.put(tool("a", requests=["cut my film"]))) == ["unchanged"]
        assert desk.embedder.calls == []
        assert statuses(desk.put(tool("a", requests=[]))) == ["updated"]
        assert desk.vector(TOOLS, "a") == before

    def test_an_item_that_says_nothing_of_them_keeps_them_and_their_part_of_its_vector(self, desk: Desk) -> None:
        desk.put(tool("a", requests=["cut my film"]))
        with_requests = desk.vector(TOOLS, "a")
        assert statuses(desk.put(tool("a"))) == ["unchanged"]
        assert statuses(desk.put(tool("a", tags=["new"]))) == ["updated"]
        assert desk.vector(TOOLS, "a") == with_requests
        desk.put(tool("a", "Draws a unicorn."))
        assert desk.vector(TOOLS, "a") != with_requests
        assert {"Draws a unicorn", "cut my film"} <= {*desk.embedder.calls[-1].texts}
        assert requests_of(desk, "a") == ["cut my film"]

    def test_another_source_is_written_and_embeds_nothing(self, desk: Desk) -> None:
        desk.put(tool("a", requests=["cut my film"]))
        desk.embedder.calls.clear()
        by_person = [{"text": "cut my film", "source": "person"}]
        assert statuses(desk.put(tool("a", requests=by_person))) == ["updated"]
        assert desk.embedder.calls == []

    def test_an_organisation_s_are_no_one_else_s(self, desk: Desk) -> None:
        desk.put(tool("a"))
        desk.put(tool("a", requests=["cut my film"]), caller=ACME)
        assert desk.sql("SELECT org_id FROM mcp.tools WHERE requests IS NOT NULL") == [["acme"]]
        [[global_texts]] = desk.sql(
            "SELECT d.texts FROM mcp.documents d JOIN mcp.tools t ON t.id::text = d.key AND t.org_id IS NULL"
        )
        assert "cut my film" not in global_texts

    def test_those_that_somebody_else_wrote_meanwhile_stay_and_are_embedded(self, desk: Desk, other: Desk) -> None:
        desk.put(tool("a"))
        write = once(lambda: other.put(tool("a", requests=["cut my film"])))
        database = FollowedDatabase(Overtaken(desk.pool, write), desk.after_commit)
        sync = SyncTools(Writer(database, desk.embedder), RegisteredServers())
        assert statuses(sync([tool("a", "Draws a unicorn.")], LAPTOP)) == ["updated"]
        assert requests_of(desk, "a") == ["cut my film"]
        found_by = desk.vector(TOOLS, "a")
        desk.put(tool("b", "Draws a unicorn.", requests=["cut my film"]))
        [[texts, of_b]] = desk.sql(
            "SELECT a.texts, b.texts FROM mcp.documents a JOIN mcp.tools t ON t.id::text = a.key AND t.name = 'a', "
            "mcp.documents b JOIN mcp.tools u ON u.id::text = b.key AND u.name = 'b'"
        )
        assert texts[-1] == of_b[-1] == "cut my film"
        assert found_by is not None


def requests_of(desk: Desk, name: str) -> list[str]:
    [[requests]] = desk.sql("SELECT requests FROM mcp.tools WHERE name = :name", name=name)
    return [request["text"] for request in requests]


class TestOvertaken:
    def overtaken(self, desk: Desk, other: Desk) -> SyncTools:
        """Return the use case, and another process that writes a newer text after its look and before its write."""
        write = once(lambda: other.put(tool("a", "Draws a unicorn.")))
        database = FollowedDatabase(Overtaken(desk.pool, write), desk.after_commit)
        servers = RegisteredServers()
        return SyncTools(Writer(database, desk.embedder), servers)

    def test_a_vector_that_another_one_s_newer_text_threw_away_is_made_again(self, desk: Desk, other: Desk) -> None:
        # GIVEN an item in a skill, and a writer that changes what is not embedded
        [item] = desk.ids("a")
        desk.skill("s")
        desk.assign({item: [Assignment("s", 0.5)]}, LAPTOP, AssignmentSource.HUMAN_MANUAL)
        before = desk.vector(TOOLS, "a")
        sync = self.overtaken(desk, other)
        # WHEN another one writes a newer text in between
        report = sync([tool("a", tags=["new"])], LAPTOP)
        # THEN the one that wrote last is whole: its text, its vector, and its skill
        assert statuses(report) == ["updated"]
        assert not report.embedding_unavailable
        assert desk.sql("SELECT description, tags FROM mcp.tools") == [["Does what a test wants.", ["new"]]]
        assert desk.vector(TOOLS, "a") == before
        assert desk.models_of("a") == {"first"}
        assert desk.vector(SKILLS, "s") == pytest.approx(before, abs=1e-6)

    def test_without_the_model_it_waits_for_its_vector(self, desk: Desk, other: Desk) -> None:
        desk.put(tool("a"))
        before = desk.vector(TOOLS, "a")
        sync = self.overtaken(desk, other)
        desk.embedder.away = True
        assert statuses(sync([tool("a", tags=["new"])], LAPTOP)) == ["updated"]
        assert desk.vector(TOOLS, "a") is None
        desk.embedder.away = False
        desk.embed_missing()
        assert desk.vector(TOOLS, "a") == before
