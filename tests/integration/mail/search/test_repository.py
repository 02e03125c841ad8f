"""The questions of message search to PostgreSQL: what passes, in which order, and by which plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pg8000.native import to_statement
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.database import Database, Session
from skillroute.core.postgres.pool import Pool
from skillroute.core.postgres.queries import names, plan_cache_mode, statement
from skillroute.mail.model import DocKind
from skillroute.mail.repository import MailRepository
from skillroute.mail.search.model import SNIPPET, MailFilter
from skillroute.mail.search.repository import MailSearchRepository
from skillroute.mail.text import MAX_LEXEME_BYTES, SearchText, query_terms, search_query, search_vector, storable

from tests.integration.mail_rows import T0, Mail
from tests.integration.rows import Sql, connected

MESSAGES = MailFilter("message", None)


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        yield sql


@pytest.fixture
def mail(database: Database) -> Mail:
    return Mail(database)


def full_text(
    database: Database, *terms: str, where: MailFilter = MESSAGES, limit: int | None = 100
) -> list[tuple[int, float]]:
    return database.read(lambda s: MailSearchRepository(s).full_text(terms, where, limit=limit))


def containing(database: Database, *terms: str, where: MailFilter = MESSAGES, limit: int | None = 100) -> list[int]:
    found = database.read(lambda s: MailSearchRepository(s).containing(terms, where, limit=limit))
    assert all(score == 1.0 for _, score in found)
    return [id_ for id_, _ in found]


def listed(database: Database, where: MailFilter, **page: Any) -> list[int]:
    page = {"newest_first": False, "after": None, "limit": 100, **page}
    return [id_ for id_, _ in database.read(lambda s: MailSearchRepository(s).listed(where, **page))]


class TestFullText:
    def test_any_of_the_words_is_enough_and_more_of_them_rank_higher(self, database: Database, mail: Mail) -> None:
        one = mail.message("1", "rain in Oslo today")
        both = mail.message("2", "rain and wind today")
        mail.message("3", "nothing of it")
        hits = full_text(database, "rain", "wind")
        assert [id_ for id_, _ in hits] == [both, one]
        assert hits[0][1] > hits[1][1] > 0.0
        assert full_text(database, "snow") == []

    def test_a_word_of_the_subject_counts_for_more(self, database: Database, mail: Mail) -> None:
        body = mail.message("1", "rain", subject="today")
        subject = mail.message("2", "today", subject="rain")
        assert [id_ for id_, _ in full_text(database, "rain")] == [subject, body]

    def test_an_identifier_is_one_word(self, database: Database, mail: Mail) -> None:
        right = mail.message("1", "see POL-358.")
        mail.message("2", "POL 358 and SPOL-358, POL-3581")
        assert [id_ for id_, _ in full_text(database, *query_terms("pol-358"))] == [right]
        assert len(full_text(database, *query_terms("358"))) == 2

    def test_ties_come_by_id_up_to_the_limit(self, database: Database, mail: Mail) -> None:
        ids = [mail.message(str(number), "rain") for number in range(5)]
        assert [id_ for id_, _ in full_text(database, "rain", limit=3)] == ids[:3]
        assert [id_ for id_, _ in full_text(database, "rain", limit=None)] == ids

    def test_of_each_kind_its_own(self, database: Database, mail: Mail) -> None:
        ids = {
            "message": mail.message("1", "rain", project="rain"),
            "agent": mail.agent("Rain"),
            "project": mail.projects["rain"],
        }
        for kind, id_ in ids.items():
            assert [i for i, _ in full_text(database, "rain", where=MailFilter(kind, None))] == [id_]  # type: ignore[arg-type]

    def test_secrets_find_nothing(self, database: Database, mail: Mail) -> None:
        mail.message("1", "the password=hunter2 works")
        assert full_text(database, "hunter2") == []
        assert containing(database, "hunter2") == []
        assert len(full_text(database, "password")) == 1

    def test_a_word_that_is_too_long_is_refused_as_a_limit(self, database: Database) -> None:
        assert full_text(database, "x" * MAX_LEXEME_BYTES) == []
        with pytest.raises(StatementRejected) as refused:
            full_text(database, "x" * (MAX_LEXEME_BYTES + 1))
        assert refused.value.state is not None and refused.value.state.startswith("54")

    def test_a_refusal_leaves_the_next_question_its_plan(self, database: Database, mail: Mail) -> None:
        id_ = mail.message("1", "rain")

        def refused(session: Session) -> None:
            MailSearchRepository(session).full_text(["x" * 3000], MESSAGES, limit=1)

        for _ in range(3):
            with pytest.raises(StatementRejected):
                database.transact(refused)
            assert [found for found, _ in full_text(database, "rain")] == [id_]
            assert database.read(lambda s: MailRepository(s).projects_of_agent("ann", None)) == []


# PostgreSQL itself reads what is made of any text.

ANY_TEXT = st.text(max_size=200).map(
    lambda text: "".join(c for c in text if c != "\0" and not "\ud800" <= c <= "\udfff")
)


@given(title=ANY_TEXT, body=ANY_TEXT)
@example("'\\:*|&!()<->", "a'b\\c:1A d:B 'e'")
@example("é" * 1024, "x" * 2047 + " " + "x" * 2046)
@example("", " ".join(f"{number:0120}" for number in range(12_000)))
@example(" ".join(map(str, range(40_000))), "rain " * 20_000)
def test_every_text_can_be_stored_and_is_found_by_its_own_words(sql: Sql, title: str, body: str) -> None:
    text = SearchText(storable(title), storable(body))
    terms = list(query_terms(f"{title} {body}"))
    [[vector, number]] = sql(
        "SELECT v::text, length(v) FROM (SELECT CAST(:v AS tsvector) AS v) t", v=search_vector(text)
    )
    assert number == len(set(re.findall(r"'([^']*)':", search_vector(text))))
    for start in range(0, min(len(terms), 400), 100):
        some = [term for term in terms[start : start + 100] if len(term.encode()) <= MAX_LEXEME_BYTES]
        for query in {search_query(some), *map(search_query, ([term] for term in some[:3]))} - {""}:
            assert sql("SELECT CAST(:v AS tsvector) @@ CAST(:q AS tsquery)", v=vector, q=query) == [[True]], query


@given(text=ANY_TEXT)
@example("a" * 10_000)
@example(" ".join(f"w{number}" for number in range(3000)))
@example("x-" * 5000 + "x")
def test_every_query_is_answered_or_refused_as_a_limit(database: Database, text: str) -> None:
    terms = list(query_terms(text))
    try:
        assert full_text(database, *terms) == []
    except StatementRejected as error:
        assert error.state is not None and error.state.startswith("54")
        assert any(len(term.encode()) > MAX_LEXEME_BYTES for term in terms)


class TestContaining:
    def test_every_word_must_be_there_in_any_case_and_place(self, database: Database, mail: Mail) -> None:
        both = mail.message("1", "raining", subject="WINDY")
        mail.message("2", "rain")
        assert containing(database, "rain", "wind") == [both]
        assert containing(database, "RAIN", "Wind") == [both]
        assert len(containing(database, "rain")) == 2
        assert len(containing(database, "rain", limit=1)) == 1

    @pytest.mark.parametrize("odd", ["%", "_", "\\", "a%c", "a_c", "100%_\\", "'", "\\\\", "(a|b)*"])
    def test_what_ilike_would_take_for_a_pattern_is_literal(self, database: Database, mail: Mail, odd: str) -> None:
        mail.message("1", "abc 100")
        right = mail.message("2", f"x{odd}y")
        assert containing(database, odd) == [right]

    def test_of_a_very_long_word_what_tells_it_from_others_is_compared(self, database: Database, mail: Mail) -> None:
        right = mail.message("1", "x" * 3000)
        mail.message("2", f"{'x' * 100}y{'x' * 100}")
        assert containing(database, "x" * 2500) == [right]
        assert containing(database, f"{'x' * 128}%") == [right]


class TestFilters:
    @pytest.fixture(autouse=True)
    def rows(self, database: Database) -> None:
        mail, acme = Mail(database), Mail(database, "acme")
        self.ids = [
            mail.message("0", "rain", created_ts=T0),
            mail.message("1", "rain", created_ts=T0 + 1, project="q", importance="urgent", thread_id="T"),
            mail.message("2", "rain", created_ts=T0 + 2, sender="Bob", to=["Ann"], bcc=["Cid"], ack_required=True),
            acme.message("3", "rain", created_ts=T0 + 3, thread_id="t", importance="low"),
        ]
        self.p, self.q, self.own = mail.projects["p"], mail.projects["q"], acme.projects["p"]

    @pytest.mark.parametrize(
        ("conditions", "expected"),
        [
            ({}, "012"), ({"org_id": "acme"}, "0123"), ({"org_id": "other"}, "012"),
            ({"importance": ("urgent", "low")}, "1"),
            ({"sender": "bob"}, "2"), ({"sender": "Bob"}, ""), ({"recipient": "ann"}, "2"), ({"inbox": "cid"}, "2"),
            ({"recipient": "ann", "inbox": "cid"}, "2"), ({"recipient": "ann", "inbox": "bob"}, ""),
            ({"party": "cid"}, "2"),
            ({"party": "ann"}, "012"), ({"thread_id": "T"}, "1"), ({"thread_id": "t", "org_id": "acme"}, "3"),
            ({"ack_required": True}, "2"), ({"ack_required": False}, "01"), ({"min_ts": T0 + 1}, "12"),
            ({"max_ts": T0 + 1}, "01"), ({"min_ts": T0 + 1, "max_ts": T0 + 1}, "1"),
            ({"min_ts": T0 + 2, "max_ts": T0}, ""),
            ({"min_ts": -(2**63), "max_ts": 2**63 - 1}, "012"), ({"project_ids": ()}, ""),
            ({"party": "ann", "sender": "ann", "importance": ("normal",), "thread_id": None}, "0"),
        ],
    )  # fmt: skip
    def test_all_conditions_must_hold_in_every_question(
        self, database: Database, conditions: dict[str, Any], expected: str
    ) -> None:
        where = MailFilter("message", **{"org_id": None, **conditions})
        self.assert_passes(database, where, [self.ids[int(number)] for number in expected])

    def test_projects_are_those_of_the_message(self, database: Database) -> None:
        for projects, expected in [
            ((self.p,), [0, 2]),
            ((self.q,), [1]),
            ((self.p, self.q, 999), [0, 1, 2]),
            ((999,), []),
        ]:
            self.assert_passes(database, MailFilter("message", None, projects), [self.ids[n] for n in expected])
        self.assert_passes(database, MailFilter("message", None, (self.own,)), [])

    def assert_passes(self, database: Database, where: MailFilter, expected: Sequence[int]) -> None:
        # More than five times, for PostgreSQL may change its plan then.
        for _ in range(7):
            assert listed(database, where) == list(expected)
        assert listed(database, where, newest_first=True) == list(reversed(expected))
        assert [id_ for id_, _ in full_text(database, "rain", where=where)] == list(expected)
        assert containing(database, "rain", where=where) == list(expected)
        assert database.read(lambda s: MailSearchRepository(s).count(where)) == len(expected)


class TestListed:
    def test_pages_follow_each_other(self, database: Database, mail: Mail) -> None:
        moments = [T0 + 5, T0, T0 + 5, T0 + 5, T0 + 9, -T0, T0]
        ids = [mail.message(str(n), created_ts=created_ts) for n, created_ts in enumerate(moments)]
        created = dict(zip(ids, moments, strict=True))
        newest = sorted(ids, key=lambda id_: (-created[id_], id_))
        for newest_first, expected in [(False, ids), (True, newest)]:
            for size in (1, 2, 3, 50):
                found: list[int] = []
                while page := listed(
                    database, MESSAGES, newest_first=newest_first, limit=size,
                    after=(created[found[-1]], found[-1]) if found else None,
                ):  # fmt: skip
                    found += page
                assert found == expected
        rows = database.read(lambda s: MailSearchRepository(s).listed(MESSAGES, newest_first=True, after=None, limit=2))
        assert rows == [(id_, created[id_]) for id_ in newest[:2]]

    def test_a_page_begins_after_a_place_where_nothing_is(self, database: Database, mail: Mail) -> None:
        ids = [mail.message(str(n), created_ts=T0 + n) for n in range(4)]
        assert listed(database, MESSAGES, newest_first=True, after=(T0 + 2, ids[2] - 1)) == [ids[2], ids[1], ids[0]]
        assert listed(database, MESSAGES, newest_first=True, after=(T0 + 100, 0)) == ids[::-1]
        assert listed(database, MESSAGES, newest_first=True, after=(-(2**63), 0)) == []


class TestLookingUp:
    def test_what_results_show_of_a_message(self, database: Database, mail: Mail) -> None:
        id_ = mail.message(
            "m",
            "ä" * 400,
            subject="S",
            to=["Zoe", "Bob"],
            cc=["Cid"],
            thread_id="T",
            importance="low",
            ack_required=True,
        )
        found = database.read(lambda s: MailSearchRepository(s).found("message", [id_, 999], room=9_999))
        shown = {
            "id": id_, "bytes": 1 + 2 * 400 + len("zoe,bob,cid"), "key": "m", "project_id": mail.projects["p"],
            "thread_id": "T", "subject": "S", "snippet": "ä" * SNIPPET, "importance": "low", "ack_required": True,
            "created_ts": T0, "sender": "Ann", "to": ["Zoe", "Bob"], "cc": ["Cid"], "bcc": [],
        }  # fmt: skip
        assert found == ({id_: shown}, 2)
        assert database.read(lambda s: MailSearchRepository(s).found("agent", [id_], room=9)) == ({}, 1)
        assert database.read(lambda s: MailSearchRepository(s).found("message", [], room=9)) == ({}, 0)

    def test_what_results_show_of_agents_and_projects(self, database: Database, mail: Mail) -> None:
        project = mail.project("p", "Pé", "d")
        agent = mail.agent("Ann", "p", description="x", contact="c")
        [found] = database.read(lambda s: MailSearchRepository(s).found("agent", [agent, project], room=99))[0].values()
        created = database.read(lambda s: MailSearchRepository(s).created([agent, project, 999]))
        assert found == {
            "id": agent, "bytes": 5 + 8, "name": "Ann", "description": "x", "contact": "c",
            "created_ts": created[agent], "project_ids": [project],
        }  # fmt: skip
        [found] = database.read(lambda s: MailSearchRepository(s).found("project", [agent, project], room=99))[
            0
        ].values()
        assert found == {
            "id": project, "bytes": 5, "key": "p", "name": "Pé", "description": "d", "created_ts": created[project],
        }  # fmt: skip
        assert set(created) == {agent, project}

    @pytest.mark.parametrize("kind", ["message", "agent", "project"])
    def test_results_are_read_in_their_order_until_there_is_no_room(
        self, database: Database, mail: Mail, kind: DocKind
    ) -> None:
        write: dict[DocKind, Callable[[int], int]] = {
            "message": lambda n: mail.message(str(n), "x", subject="s" * 100),
            "agent": lambda n: mail.agent(str(n), description="x" * 100),
            "project": lambda n: mail.project(str(n), description="x" * 100),
        }
        first, *others, last = [write[kind](n) for n in range(5)]
        # WHEN there is room for two, and the first is gone
        order = [999, last, *others, first]
        found, number = database.read(lambda s: MailSearchRepository(s).found(kind, order, room=260))
        # THEN two are there, and three ids were looked at
        assert (sorted(found), number) == (sorted([last, others[0]]), 3)
        # AND the first has room whatever it has
        assert database.read(lambda s: MailSearchRepository(s).found(kind, order[1:], room=1))[1] == 1

    def test_which_belong_to_none_of_the_allowed_projects(self, database: Database, mail: Mail) -> None:
        inside, outside = mail.message("1", project="p"), mail.message("2", project="q")
        both, none = mail.agent("Both", "p", "q"), mail.agent("None")
        ids, p = [inside, outside, both, none, 999], mail.projects["p"]
        assert database.read(lambda s: MailSearchRepository(s).outside(ids, [p])) == {outside, none}
        assert database.read(lambda s: MailSearchRepository(s).outside(ids, [])) == {inside, outside, both, none}
        assert database.read(lambda s: MailSearchRepository(s).outside([], [p])) == set()

    def test_texts_hold_no_secrets(self, database: Database, mail: Mail) -> None:
        id_ = mail.message("m", "password=hunter2", subject="S")
        assert database.read(lambda s: MailSearchRepository(s).texts([id_, 999])) == {id_: "S\n\npassword= …"}

    def test_explained_statements_hold_placeholders_only(self, database: Database) -> None:
        shown = database.read(lambda s: dict(MailSearchRepository(s).sql))
        assert set(shown) == {"text_match", "like_fallback", "filter_only", "newest"}
        assert all(":org_id" in text and "'" not in text.replace("'mcp_mail'", "") for text in shown.values())


# Plans

DOCUMENTS = 20_000


@pytest.fixture
def large(database: Database, sql: Sql) -> Sql:
    """20,000 messages of 200 projects and 2,000 threads, a word that is in all of them and one that is in forty."""
    Mail(database).message("m", "common")
    sql(
        "INSERT INTO mcp.mail_documents (kind, project_ids, sender_key, recipient_keys, thread_id, importance, "
        "ack_required, created_ts, search_vector, text_hash) "
        "SELECT 'message', ARRAY[1000 + n % 200], 'agent' || n % 100, ARRAY['agent' || n % 77], 't' || n % 2000, "
        f"'normal', false, {T0} + n, ('common w' || n % 500)::tsvector, '' "
        f"FROM generate_series(1, {DOCUMENTS}) AS n"
    )
    sql(
        "INSERT INTO mcp.documents (collection, key, is_searchable, texts, lexical_text, text_hash, payload) "
        "SELECT 'mcp_mail', d.id::text, true, ARRAY[said.words], said.words, '', '{}' "
        "FROM (SELECT repeat('common words ', 30) AS words) AS said, mcp.mail_documents d "
        "WHERE d.sender_key LIKE 'agent%'"
    )
    sql(
        "INSERT INTO mcp.mail_messages (id, key, project_id, sender_id, subject, body, content_hash) "
        "SELECT d.id, 'k' || d.id, (SELECT min(id) FROM mcp.mail_projects), (SELECT min(id) FROM mcp.mail_agents), "
        "'', '', '' "
        "FROM mcp.mail_documents d WHERE d.sender_key LIKE 'agent%'"
    )
    for table in ("mail_documents", "mail_messages", "documents"):
        sql(f"ANALYZE mcp.{table}")
    return sql


_ANYTHING = {
    "kind": "'message'", "org_id": "NULL", "project_ids": "NULL", "importance": "NULL", "sender": "NULL",
    "recipients": "NULL", "party": "NULL", "thread_id": "NULL", "ack_required": "NULL", "min_ts": "NULL",
    "max_ts": "NULL", "limit": "50", "after_id": "NULL", "after_ts": "NULL", "query": "'''w7'''",
    "id": "NULL", "key": "NULL", "allowed": "NULL", "project_id": "NULL", "recipient": "NULL", "offset": "0",
    "patterns": "'{%w7%}'", "max_bytes": "1000",
}  # fmt: skip
_PROJECT = {"project_ids": "'{1007}'"}
_THREAD = {"thread_id": "'t7'"}
_DEEP = {"after_ts": str(T0 + 10_000), "after_id": "5"}


PLANS: list[tuple[str, dict[str, str], str]] = [
    ("mail_full_text", {}, "mail_documents_search_vector"),
    ("mail_full_text", {"query": "'''common'''", **_PROJECT}, "mail_documents_project_ids"),
    ("mail_full_text", {"query": "'''common'''", **_THREAD}, "mail_documents_thread"),
    ("mail_containing", _PROJECT, "mail_documents_project_ids"),
    ("mail_containing", _THREAD, "documents_pkey"),
    ("mail_texts", {"ids": "'{7,8}'"}, "documents_pkey"),
    ("mail_listed", {}, "mail_documents_pkey"),
    ("mail_listed", _PROJECT, "mail_documents_project_ids"),
    ("mail_listed", _THREAD, "mail_documents_thread"),
    ("mail_listed", {"min_ts": str(T0 + 50), "max_ts": str(T0 + 90)}, "mail_documents_newest"),
    ("mail_newest", {}, "mail_documents_newest"),
    ("mail_newest", _DEEP, "mail_documents_newest"),
    ("mail_newest", _PROJECT, "mail_documents_project_ids"),
    ("mail_newest", _THREAD, "mail_documents_thread"),
    ("mail_count", _PROJECT, "mail_documents_project_ids"),
    ("mail_count", _THREAD, "mail_documents_thread"),
    ("list_messages", {}, "mail_documents_newest"),
    ("list_messages", {"project_id": "1007"}, "mail_documents_project_ids"),
    ("list_messages", {"allowed": "'{1007}'"}, "mail_documents_project_ids"),
    ("list_messages", {"id": "77"}, "mail_documents_pkey"),
    ("list_messages", {"key": "'k77'"}, "mail_messages_key"),
    ("count_messages", {"key": "'k77'"}, "mail_messages_key"),
]


def test_plans_read_what_is_asked_for_and_no_more(large: Sql) -> None:
    for name, values, index in PLANS:
        assert plan_cache_mode(name) == ("auto" if name == "mail_texts" else "force_custom_plan")
        plan = plan_of(large, name, {**_ANYTHING, **values}, plan_cache_mode(name))
        assert index in plan, (name, values, plan)
        assert not re.search(r"Seq Scan on (mail_)?documents", plan), (name, values, plan)
        if values is _DEEP:
            assert re.search(r"Index Cond:.*created_ts <=", plan), plan
    # The reason why: one plan for all values finds no use for the index.
    plan = plan_of(large, "mail_count", {**_ANYTHING, **_THREAD}, "force_generic_plan")
    assert "mail_documents_thread" not in plan, plan


def plan_of(sql: Sql, name: str, values: dict[str, str], mode: str) -> str:
    query, in_order = to_statement(statement(name))  # as pg8000 numbers parameters
    used = set(re.findall(r"(?<!:):([a-z_]+)", statement(name)))
    sql("DEALLOCATE ALL")
    sql(f"PREPARE asked AS {query}")
    sql(f"SET plan_cache_mode = {mode}")
    arguments = in_order({key: value for key, value in values.items() if key in used})
    return "\n".join(row[0] for row in sql(f"EXPLAIN EXECUTE asked ({', '.join(arguments)})"))


def test_a_connection_goes_back_to_one_plan_for_all_values(pool: Pool) -> None:
    conditions = dict.fromkeys(set(re.findall(r"(?<!:):([a-z_]+)", statement("mail_count"))))
    with pool.borrowed() as connection:

        def mode_after(name: str, **params: object) -> object:
            connection.run(name, **params)
            return connection._native.run("SHOW plan_cache_mode")[0][0]

        assert mode_after("mail_count", **conditions) == "force_custom_plan"
        assert mode_after("models") == "auto"
        # What is set in a transaction is gone after a rollback.
        with pytest.raises(ZeroDivisionError), connection.transaction():
            assert mode_after("mail_count", **conditions) == "force_custom_plan"
            raise ZeroDivisionError
        assert mode_after("mail_count", **conditions) == "force_custom_plan"


def test_what_has_many_optional_conditions_is_planned_for_their_values() -> None:
    many = [
        name for name in names() if "mail_passing" in statement(name) or name in ("list_messages", "count_messages")
    ]
    assert len(many) == 7
    assert {plan_cache_mode(name) for name in many} == {"force_custom_plan"}
