"""PostgreSQL as the index: with and without the extension, filled before and after, beside a replica (ADR 61, 62)."""

from __future__ import annotations

import builtins
import hashlib
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.check_points import RULE, check_points, mend_points
from skillroute.core.documents.index.auto import AutoReplica
from skillroute.core.documents.index.embedded import EmbeddedReplica
from skillroute.core.documents.index.postgres_replica import PostgresReplica
from skillroute.core.documents.index.room import Room
from skillroute.core.documents.index.scripts import CUT
from skillroute.core.documents.model import IndexFilter
from skillroute.core.documents.repository import DocumentRepository, DocumentText
from skillroute.core.documents.texts import IndexedText
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexNoRoom, IndexNotReady
from skillroute.core.hashing import text_hash
from skillroute.core.postgres import extensions
from skillroute.core.postgres.migrate import migrate
from skillroute.core.postgres.pool import Pool
from skillroute.wiring.index import cutters, make_feed
from skillroute_local.postgres import EmbeddedPostgres

from tests.conftest import fresh_database
from tests.doubles import EdgeIndexes, LogRecords, until
from tests.integration.rows import EAST, MODEL, NORTH, claim, connected

TOOLS, ALL = TOOL_DOCUMENTS, IndexFilter()
UNSEEN = "SET LOCAL session_replication_role = 'replica'; "
"""What follows is done without triggers."""


@pytest.fixture
def pool(database_url: str) -> Iterator[Pool]:
    with closing(Pool(database_url)) as pool:
        yield pool


@pytest.fixture
def replica(pool: Pool) -> PostgresReplica:
    return PostgresReplica(pool, lambda: MODEL, cutters())


@pytest.fixture
def log() -> Iterator[LogRecords]:
    with LogRecords().attached() as records:
        yield records


def write(pool: Pool, texts: dict[str, str], vector: list[float] | None = None) -> None:
    """Write tools of these names and texts, as the catalogue does."""
    with_ids = pool.transact(
        lambda c: c.script(
            "INSERT INTO mcp.tools (name, type, content_hash) "
            f"SELECT n, 'tool', 'c' FROM unnest('{{{','.join(texts)}}}'::text[]) AS n "
            "WHERE NOT EXISTS (SELECT FROM mcp.tools t WHERE t.name = n); SELECT id, name FROM mcp.tools"
        )
    )
    ids = {name: str(id_) for id_, name in with_ids}
    documents = [
        DocumentText(ids[name], IndexedText((text,), text, text_hash(text)), vector) for name, text in texts.items()
    ]
    pool.transact(lambda c: DocumentRepository(c, TOOLS).put(documents, MODEL))


def by_words(replica: PostgresReplica, text: str) -> list[str]:
    with replica.current() as index:
        return [hit.key for hit in index.search_text(TOOLS, text, where=ALL, limit=10)]


def rows_read(pool: Pool) -> int:
    """Return how many rows of what is searched have been read so far, one by one or by an index."""
    tables = "('search_points', 'search_vectors', 'document_vectors')"
    read = "sum(seq_tup_read + coalesce(idx_tup_fetch, 0))"
    statement = f"SELECT pg_stat_force_next_flush(), {read} FROM pg_stat_user_tables WHERE relname IN {tables}"

    def ask(connection: Any) -> int:
        connection.script(statement)
        return int(connection.script(statement)[0][1])

    return pool.read(ask)


def points(pool: Pool) -> int:
    count: int = pool.read(lambda c: c.script("SELECT count(*) FROM mcp.search_points"))[0][0]
    return count


@pytest.fixture
def claimed(database_url: str) -> None:
    with connected(database_url) as sql:
        claim(sql)


class TestTheExtension:
    """It is optional: without it everything else works, and what says so names what to do."""

    @pytest.fixture
    def without(self, postgres_server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
        """A database on a server that does not have the extension, migrated."""
        version = extensions._version
        with fresh_database(postgres_server, "template1") as url:
            with monkeypatch.context() as patch:
                patch.setattr(extensions, "_version", lambda connection, _: version(connection, "no_such_extension"))
                said: list[str] = []
                assert "vector/0001_nearest" not in migrate(url, missing=said.append)
                assert len(said) == 1
                assert "install" in said[0]
                assert "skillroute migrate" in said[0]
            yield url

    def test_what_is_written_is_written_and_the_index_says_what_to_do(self, without: str) -> None:
        with closing(Pool(without)) as pool, connected(without) as sql:
            claim(sql)
            write(pool, {"a": "weather"}, EAST)
            replica = PostgresReplica(pool, lambda: MODEL, cutters())
            replica.catch_up(10.0, check=True)  # changes nothing, and is no error
            with pytest.raises(IndexNotReady, match=r"extension vector .*skillroute migrate.*skillroute reindex"):
                replica.lent()
            assert replica.status().ready is False

    def test_one_that_is_installed_later_is_used_from_the_next_migration_on(self, without: str) -> None:
        with closing(Pool(without)) as pool, connected(without) as sql:
            # GIVEN documents of the time before
            claim(sql)
            write(pool, {"a": "weather", "b": "stocks"}, EAST)
            # WHEN
            assert migrate(without) == ["vector/0001_nearest", "vector/0002_cut_of_words"]
            replica = PostgresReplica(pool, lambda: MODEL, cutters())
            with pytest.raises(IndexNotReady, match="still being filled"):
                replica.lent()
            replica.catch_up(10.0)
            # THEN
            with replica.current() as index:
                assert [hit.score for hit in index.search(TOOLS, EAST, where=ALL, limit=5)] == [1.0, 1.0]
            assert len(by_words(replica, "weather")) == 1

    @pytest.mark.parametrize(
        ("version", "is_enough"), [("0.7.4", False), ("0.8.0", True), ("0.10", True), ("1.0", True)]
    )
    def test_an_old_one_is_none(
        self, postgres_server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch, version: str, is_enough: bool
    ) -> None:
        monkeypatch.setattr(extensions, "_version", lambda *_: version)
        said: list[str] = []
        with fresh_database(postgres_server, "template1") as url:
            assert ("vector/0001_nearest" in migrate(url, missing=said.append)) == is_enough
        assert [version in each and "ALTER EXTENSION vector UPDATE" in each for each in said] == [True] * (
            not is_enough
        )

    def test_without_it_after_all_writes_go_on(self, pool: Pool, replica: PostgresReplica, claimed: None) -> None:
        """As after a restore into a server that lacks it."""
        replica.catch_up(60.0)
        write(pool, {"a": "weather"}, EAST)
        with pool.borrowed() as connection:  # rolled back, for the database is the next test's as well
            connection.script("BEGIN; DROP EXTENSION vector CASCADE")
            documents = DocumentRepository(connection, TOOLS)
            documents.put([DocumentText("1", IndexedText(("rain",), "rain", text_hash("rain")), NORTH)], MODEL)
            connection.script("DELETE FROM mcp.documents")
            [[has_vectors, *_]] = connection.run("search_state")
            assert not has_vectors
            connection.script("ROLLBACK")

    def test_a_login_that_may_not_create_it_is_told_who_may(self, postgres_server: EmbeddedPostgres) -> None:
        with fresh_database(postgres_server, "template1") as url, connected(url) as sql:
            sql("CREATE ROLE modest LOGIN CREATEROLE PASSWORD 'of-no-secret'")
            sql(f"GRANT CREATE ON DATABASE {url.rpartition('/')[2]} TO modest")
            try:
                said: list[str] = []
                host = url.rpartition("@")[2]
                applied = migrate(f"postgresql://modest:of-no-secret@{host}", missing=said.append)
                assert [name for name in applied if name.startswith("vector/")] == []
                assert len(said) == 1
                assert "CREATE EXTENSION vector" in said[0]
            finally:
                sql("DROP OWNED BY modest CASCADE")
                sql("DROP ROLE modest")


@pytest.mark.usefixtures("claimed")
class TestFilling:
    def test_what_was_there_before_is_filled_page_by_page_from_where_the_last_process_was(
        self, pool: Pool, replica: PostgresReplica, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("skillroute.core.documents.index.postgres_replica._PAGE", 2)
        write(pool, {f"t{n}": "weather" for n in range(5)}, EAST)
        assert points(pool) == 0  # nothing is kept where nobody searches it
        # WHEN a process has time for one page
        replica.catch_up(0.0)
        assert points(pool) == 2
        assert replica.lag() == 3
        with pytest.raises(IndexNotReady, match="still being filled"):
            replica.lent()
        # AND another one goes on, and is told of each page
        pages: list[int] = []
        replica.fill(60.0, progress=pages.append)
        # THEN
        assert pages == [2, 1]
        assert points(pool) == 5
        assert len(by_words(replica, "weather")) == 5

    def test_what_is_written_while_it_is_filled_is_there(
        self, pool: Pool, replica: PostgresReplica, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("skillroute.core.documents.index.postgres_replica._PAGE", 1)
        write(pool, {"a": "weather", "b": "weather"}, EAST)
        replica.catch_up(0.0)
        write(pool, {"c": "weather"}, NORTH)  # after what is filled
        write(pool, {"a": "stocks"}, NORTH)  # before it
        replica.catch_up(60.0)
        assert len(by_words(replica, "weather")) == 2
        assert len(by_words(replica, "stocks")) == 1
        with replica.current() as index:
            assert [hit.score for hit in index.search(TOOLS, EAST, where=ALL, limit=5)] == [1.0, 0.0, 0.0]

    def test_who_fills_already_is_not_waited_for(self, pool: Pool, replica: PostgresReplica) -> None:
        write(pool, {"a": "weather"}, EAST)
        pool.transact(lambda c: c.run("keep_search_points"))
        with pool.borrowed() as busy:
            busy.script("BEGIN; SELECT FROM mcp.search_state FOR UPDATE")
            replica.catch_up(60.0)
            assert points(pool) == 0
            busy.script("ROLLBACK")
        replica.catch_up(60.0)
        assert points(pool) == 1

    def test_words_that_a_writer_cannot_cut_are_cut_by_the_relay(
        self, pool: Pool, replica: PostgresReplica, monkeypatch: pytest.MonkeyPatch, log: LogRecords
    ) -> None:
        """A function without the layer of the index."""
        replica.catch_up(60.0)
        real = builtins.__import__

        def without(name: str, *args: Any, **kwargs: Any) -> Any:
            if name.startswith("skillroute.core.documents.index."):
                raise ImportError("no qdrant_edge")
            return real(name, *args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(builtins, "__import__", without)
            write(pool, {"a": "weather"}, EAST)
        assert len(log.having("words left to the relay")) == 1
        assert by_words(replica, "weather") == []
        with replica.current() as index:  # by meaning it is there
            assert len(index.search(TOOLS, EAST, where=ALL, limit=5)) == 1
        replica.catch_up(60.0)
        assert by_words(replica, "weather") == []
        replica.catch_up(60.0, check=True)
        assert len(by_words(replica, "weather")) == 1

    def test_words_of_an_older_cut_are_cut_again_and_others_are_left_as_they_are(
        self, pool: Pool, replica: PostgresReplica
    ) -> None:
        """As after an upgrade, and where an older version still writes beside this one."""
        # GIVEN points whose words an older version has cut, which had no word of a Korean particle
        replica.catch_up(60.0)
        write(pool, {"a": "mail_send 이메일을 보냅니다", "b": "weather"}, EAST)
        pool.transact(lambda c: c.script("UPDATE mcp.search_points SET terms = NULL, impacts = NULL"))
        pool.transact(lambda c: c.script("TRUNCATE mcp.search_postings"))
        older = (
            "json_build_array(json_build_object("
            "'key', key, 'text_hash', text_hash, 'terms', ARRAY[7], 'impacts', ARRAY[1.0]))"
        )
        pool.transact(
            lambda c: c.script(f"SELECT mcp.set_search_words(collection, {older}) FROM mcp.search_points ORDER BY key")
        )
        assert by_words(replica, "이메일") == []
        assert pool.read(lambda c: c.script("SELECT DISTINCT cut FROM mcp.search_points")) == [[1]]
        # WHEN the relay looks
        replica.catch_up(60.0, check=True)
        # THEN
        assert len(by_words(replica, "이메일")) == 1
        assert len(by_words(replica, "weather")) == 1
        assert pool.read(lambda c: c.script("SELECT DISTINCT cut FROM mcp.search_points")) == [[CUT]]
        left = "SELECT count(*) FROM mcp.search_postings WHERE term = 7"
        assert pool.read(lambda c: c.script(left)) == [[0]]
        # AND WHEN an older one gives words that are there already
        pool.transact(
            lambda c: c.script(f"SELECT mcp.set_search_words(collection, {older}) FROM mcp.search_points ORDER BY key")
        )
        assert len(by_words(replica, "이메일")) == 1

    def test_what_is_deleted_leaves_nothing(self, pool: Pool, replica: PostgresReplica) -> None:
        replica.catch_up(60.0)
        write(pool, {"a": "weather", "b": "weather"}, EAST)
        pool.transact(lambda c: c.script("DELETE FROM mcp.tools WHERE name = 'a'"))
        assert len(by_words(replica, "weather")) == 1
        pool.transact(lambda c: c.script("TRUNCATE mcp.tools CASCADE"))
        counts = "SELECT (SELECT count(*) FROM mcp.search_{}), (SELECT count(*) FROM mcp.search_{})"
        assert pool.read(lambda c: c.script(counts.format("points", "postings"))) == [[0, 0]]
        assert pool.read(lambda c: c.script(counts.format("points", "vectors"))) == [[0, 0]]


@pytest.mark.usefixtures("claimed")
class TestFillingWhatWasNeverFilled:
    @pytest.fixture
    def database_url(self, fresh_database_url: str) -> str:
        """A database of its own: an emptied one keeps the statistics of earlier tests' rows, which change the plans."""
        return fresh_database_url

    def test_an_import_into_empty_tables_does_not_read_all_of_them_for_each_key(
        self, pool: Pool, replica: PostgresReplica
    ) -> None:
        """One connection writes, which planned its statements when there was nothing."""
        replica.catch_up(60.0)
        names = [f"t{n}" for n in range(400)]
        write(pool, {name: f"weather {name}" for name in names[:1]}, EAST)
        for start in range(0, 400, 50):
            write(pool, {name: f"weather {name}" for name in names[start : start + 50]}, EAST)
        before = rows_read(pool)
        write(pool, {name: f"other weather {name}" for name in names[:50]}, NORTH)
        pool.transact(lambda c: c.script("UPDATE mcp.tools SET description = 'd' WHERE name LIKE 't1%'"))
        assert rows_read(pool) - before < 50 * 400


WIDE = EmbeddingModel("wide", 16)


class TestLists:
    """Large collections are searched by lists; what they miss, and what a filter leaves of them."""

    COUNT = 16_000

    @pytest.fixture
    def replica(self, pool: Pool) -> PostgresReplica:
        pool.transact(lambda c: c.run("claim_model", name=WIDE.name, dimension=WIDE.dimension))
        return PostgresReplica(pool, lambda: WIDE, cutters())

    @pytest.fixture
    def listed(self, pool: Pool, replica: PostgresReplica) -> Iterator[PostgresReplica]:
        """Vectors in 400 heaps, of which one in a thousand is of the server `rare`."""
        replica.catch_up(60.0)
        pool.transact(
            lambda c: c.script(
                "INSERT INTO mcp.search_vectors (collection, key, model, dimension, org_id, filters, source, dense) "
                "SELECT 'mcp_unified_search', n::text, 'wide', 16, '', "
                "CASE WHEN n % 1000 = 0 THEN '{type=tool,server=rare}' ELSE '{type=tool,server=many}' END::text[], "
                "gen_random_uuid(), ARRAY(SELECT sin(n % 400 * (k + sqrt(k))) + 0.2 * sin(n * (k + sqrt(k + 1))) "
                "FROM generate_series(1, 16) k)::real[]::vector "
                f"FROM generate_series(1, {self.COUNT}) n; ANALYZE mcp.search_vectors"
            )
        )
        replica.fill(60.0, check=True, whole=True)
        yield replica
        dropped = f"DROP INDEX mcp.search_lists_{hashlib.md5(TOOLS.value.encode()).hexdigest()[:8]}_16_160"
        pool.transact(lambda c: c.script(dropped))  # the database is the next test's as well

    def exact(self, pool: Pool, vector: list[float], where: str, limit: int) -> list[tuple[str, float]]:
        asked = ",".join(map(str, vector))
        ordered = f"1 - (dense <=> '[{asked}]'::vector) AS score FROM mcp.search_vectors WHERE {where} ORDER BY 2 DESC"
        return [
            (key, round(score, 6))
            for key, score in pool.read(lambda c: c.script(f"SELECT key, {ordered} LIMIT {limit}"))
        ]

    def test_they_are_built_where_there_are_many_and_not_again(self, pool: Pool, listed: PostgresReplica) -> None:
        lists = "SELECT mcp.search_lists('mcp_unified_search', 16), mcp.search_lists('mcp_skills', 16)"
        assert pool.read(lambda c: c.script(lists)) == [[160, None]]
        defined = "SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'search_lists%'"
        [[definition]] = pool.read(lambda c: c.script(defined))
        assert "(dense)::halfvec(16)" in definition
        assert "lists='160'" in definition
        assert "(collection = 'mcp_unified_search'::text) AND (dimension = 16)" in definition
        build = "build_search_lists"
        assert pool.transact(lambda c: c.run(build, collection=TOOLS.value, dimension=16, most=10**9)) == [[False]]

    def test_searches_of_many_read_them(self, pool: Pool, listed: PostgresReplica) -> None:
        scans = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname LIKE 'search_lists%'"
        with pool.borrowed() as connection, listed.current() as index:
            [[before]] = connection.script(scans)
            index.search(TOOLS, AXES[0], where=ALL, limit=5)
            until(lambda: connection.script(scans) > [[before]])

    @pytest.mark.parametrize("axis", [0, 5, 15])
    def test_most_of_the_nearest_are_found_and_their_scores_are_exact(
        self, pool: Pool, listed: PostgresReplica, axis: int
    ) -> None:
        exact = self.exact(pool, AXES[axis], "true", 50)
        with listed.current() as index:
            hits = index.search(TOOLS, AXES[axis], where=ALL, limit=50)
        assert len(hits) == 50
        # Lists begin with vectors that are drawn by chance.
        assert len({(hit.key, hit.score) for hit in hits} & set(exact)) >= 35
        assert hits == sorted(hits, key=lambda hit: (-hit.score, int(hit.key)))

    def test_a_filter_that_few_pass_is_answered_whole_and_exactly(self, pool: Pool, listed: PostgresReplica) -> None:
        with listed.current() as index:
            hits = index.search(TOOLS, AXES[0], where=IndexFilter({"server": ["rare"]}), limit=100)
        assert [(hit.key, hit.score) for hit in hits] == self.exact(pool, AXES[0], "'server=rare' = ANY (filters)", 100)
        assert len(hits) == 16

    def test_a_filter_that_most_pass_is_answered_by_them(self, listed: PostgresReplica) -> None:
        where = IndexFilter({"type": ["tool"], "server": ["many", "rare"]})
        with listed.current() as index:
            alone = index.search(TOOLS, AXES[1], where=ALL, limit=30)
            assert index.search(TOOLS, AXES[1], where=where, limit=30) == alone
            assert index.search_each(TOOLS, [AXES[1], AXES[0]], where=where, limit=30)[0] == alone

    def test_while_there_are_few_vectors_none_are_built(self, pool: Pool, replica: PostgresReplica) -> None:
        replica.catch_up(60.0, check=True)
        assert pool.read(lambda c: c.script("SELECT mcp.search_lists('mcp_unified_search', 16)")) == [[None]]


AXES = [[float(place == axis) for place in range(16)] for axis in range(16)]


@pytest.mark.usefixtures("claimed")
class TestChecks:
    """What verify finds, and a reindex mends."""

    @pytest.mark.parametrize(
        "broken",
        [
            "UPDATE mcp.search_points SET org_id = 'acme'",
            "UPDATE mcp.search_points SET filters = '{}'",
            "UPDATE mcp.search_points SET is_searchable = false",
            "UPDATE mcp.search_vectors SET org_id = 'acme'",
            "UPDATE mcp.search_vectors SET filters = '{}'",
            "DELETE FROM mcp.search_points",
            "DELETE FROM mcp.search_vectors",
            UNSEEN + 'UPDATE mcp.documents SET payload = payload || \'{"type": "x"}\'',
            UNSEEN + "UPDATE mcp.document_vectors SET embedding = '\\x0000803f0000803f'",
            UNSEEN + "DELETE FROM mcp.document_vectors",
        ],
    )
    def test_a_point_that_says_something_else_is_found_and_mended(
        self, pool: Pool, replica: PostgresReplica, broken: str
    ) -> None:
        replica.catch_up(60.0)
        write(pool, {"a": "weather"}, EAST)
        assert check_points(pool) == []
        pool.transact(lambda c: c.script(broken))
        [finding] = check_points(pool)
        assert finding.rule == RULE
        mend_points(pool)
        assert check_points(pool) == []

    def test_where_no_points_are_kept_there_is_nothing_to_find(self, pool: Pool) -> None:
        write(pool, {"a": "weather"}, EAST)
        assert check_points(pool) == []


@pytest.mark.usefixtures("claimed")
class TestAuto:
    """PostgreSQL answers until the process has a replica of its own."""

    @pytest.fixture
    def auto(self, pool: Pool, replica: PostgresReplica, edge_indexes: EdgeIndexes) -> Iterator[AutoReplica]:
        self.free = 2**40
        room = Room(None, free=lambda _: self.free)
        made = EmbeddedReplica(make_feed(pool), edge_indexes.lend, lambda: MODEL, room=room)
        auto = AutoReplica(replica, lambda: made, lambda most: min(most, points(pool)), build_up_to=3)
        yield auto
        made.wait_for_rebuild()
        auto.close()

    def kind(self, auto: AutoReplica) -> str:
        with auto.current() as index:
            assert len(index.search(TOOLS, EAST, where=ALL, limit=5)) > 0
            return index.kind

    def test_the_first_search_is_answered_by_postgresql_and_later_ones_by_a_replica(
        self, pool: Pool, replica: PostgresReplica, auto: AutoReplica
    ) -> None:
        replica.catch_up(60.0)
        write(pool, {"a": "weather"}, EAST)
        assert self.kind(auto) == "postgres"
        assert auto.status().kind in ("postgres", "embedded")  # it may be built by now
        auto.embedded.wait_for_rebuild()
        assert self.kind(auto) == "embedded"
        assert auto.status().kind == "embedded"
        # AND it sees what is written
        write(pool, {"b": "stocks"}, EAST)
        with auto.current() as index:
            assert len(index.search_text(TOOLS, "stocks", where=ALL, limit=5)) == 1

    def test_a_large_catalogue_is_never_copied(self, pool: Pool, replica: PostgresReplica, auto: AutoReplica) -> None:
        replica.catch_up(60.0)
        write(pool, {f"t{n}": "weather" for n in range(4)}, EAST)
        for _ in range(3):
            assert self.kind(auto) == "postgres"
            auto.embedded.wait_for_rebuild()
        assert not auto.embedded.is_ready

    def test_while_postgresql_cannot_answer_the_replica_is_built_first(
        self, pool: Pool, auto: AutoReplica, log: LogRecords
    ) -> None:
        write(pool, {f"t{n}": "weather" for n in range(4)}, EAST)
        assert not auto.is_ready
        assert self.kind(auto) == "embedded"
        assert auto.is_ready
        assert len(log.having("index in PostgreSQL not ready")) == 1

    def test_the_replica_is_begun_when_the_search_is_over(
        self, pool: Pool, replica: PostgresReplica, auto: AutoReplica
    ) -> None:
        replica.catch_up(60.0)
        write(pool, {"a": "weather"}, EAST)
        with auto.current():
            assert "embedded" not in vars(auto)
        assert "embedded" in vars(auto)
        auto.embedded.wait_for_rebuild()
        assert auto.embedded.is_ready

    def test_a_search_that_outlasts_it_begins_no_replica(
        self, pool: Pool, replica: PostgresReplica, auto: AutoReplica
    ) -> None:
        replica.catch_up(60.0)
        write(pool, {"a": "weather"}, EAST)
        with auto.current():
            auto.close()
        assert "embedded" not in vars(auto)

    def test_building_lets_searches_go_first(self, pool: Pool, replica: PostgresReplica, auto: AutoReplica) -> None:
        replica.catch_up(60.0)
        write(pool, {"a": "weather"}, EAST)
        with auto.current() as index:
            assert index.kind == "postgres"
            assert auto._searching == 1
        assert auto._searching == 0

    def test_postgresql_answers_while_the_replica_has_no_room_for_what_was_changed(
        self, pool: Pool, replica: PostgresReplica, auto: AutoReplica
    ) -> None:
        replica.catch_up(60.0)
        write(pool, {"a": "weather"}, EAST)
        assert self.kind(auto) == "postgres"
        auto.embedded.wait_for_rebuild()
        assert self.kind(auto) == "embedded"
        self.free = 0
        write(pool, {"b": "stocks"}, EAST)
        stale: list[None] = []
        with auto.current(lambda: stale.append(None)) as index:
            assert index.kind == "postgres"
            assert len(index.search_text(TOOLS, "stocks", where=ALL, limit=5)) == 1
        assert (stale, auto.status().kind, auto.status().stale) == ([], "postgres", False)
        self.free = 2**40
        assert self.kind(auto) == "embedded"

    def test_where_postgresql_cannot_answer_a_replica_without_room_does_without_what_is_new(
        self, pool: Pool, auto: AutoReplica
    ) -> None:
        write(pool, {"a": "weather"}, EAST)
        assert self.kind(auto) == "embedded"
        self.free = 0
        write(pool, {"b": "stocks"}, EAST)
        stale: list[None] = []
        with auto.current(lambda: stale.append(None)) as index:
            assert (index.kind, index.search_text(TOOLS, "stocks", where=ALL, limit=5)) == ("embedded", [])
        assert len(stale) == 1
        assert auto.status().stale
        pool.transact(lambda c: c.script("DELETE FROM mcp.tools WHERE name = 'a'"))
        with pytest.raises(IndexNoRoom), auto.current():
            pytest.fail("what was deleted was shown")
