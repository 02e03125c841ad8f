"""The repository of agent mail: what is written comes back, to those who may see it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.hashing import content_hash, text_hash
from skillroute.core.postgres.database import Database, Session
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.documents import of_agent, of_message
from skillroute.mail.model import MailAgent, MailKind, Message, MessageFilter, Product, Project
from skillroute.mail.repository import MailRepository
from skillroute.mail.search.repository import MailSearchRepository
from skillroute.mail.text import SearchText

from tests.integration.mail_rows import T0, Mail
from tests.integration.rows import EAST, MODEL, NORTH, OTHER_MODEL, Sql, connected, waits_for_a_lock

ALL = MessageFilter()
DOCUMENTS = DocumentRepository.of(MAIL_DOCUMENTS)


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        yield sql


@pytest.fixture
def mail(database: Database) -> Mail:
    return Mail(database)


@pytest.fixture
def acme(database: Database) -> Mail:
    return Mail(database, "acme")


def keys(database: Database, where: MessageFilter = ALL, org: str | None = None, **page: object) -> list[str]:
    page = {"allowed": None, "limit": 100, **page}
    found, _ = database.read(lambda s: MailRepository(s).messages(where, org, **page))  # type: ignore[arg-type]
    return [message.content.key for message in found]


class TestWriting:
    def test_a_message_comes_back_as_it_was_written(self, database: Database, mail: Mail) -> None:
        message = Message(
            "m:1", "p", "Ann", ("Zoe", "Bob"), "Sübject '; --", "body %_\\ 天气 😀", T0 + 1, cc=("Cid",),
            bcc=("Eve", "Dan"), thread_id="T-1", importance="urgent", ack_required=True,
        )  # fmt: skip
        id_ = mail.message(
            "m:1", message.body, to=message.to, subject=message.subject, created_ts=T0 + 1, cc=message.cc,
            bcc=message.bcc, thread_id="T-1", importance="urgent", ack_required=True,
        )  # fmt: skip
        [stored], total = database.read(lambda s: MailRepository(s).messages(ALL, None, None, id_=id_))
        assert (stored.content, stored.id, stored.org_id, total) == (message, id_, None, 1)
        assert stored.project_id == mail.projects["p"]
        assert (stored.acknowledged, stored.is_embedded) == ({}, False)

    def test_projects_products_and_agents_come_back_too(self, database: Database, mail: Mail) -> None:
        first, second = mail.project("b/x", "Bé", "d"), mail.project("a")
        product = mail.product("prod", "b/x", "a")
        agent = mail.agent("Blue Lake", "b/x", "a", description="d", contact="c")
        [p], _ = database.read(lambda s: MailRepository(s).projects(None, None, id_=first))
        assert p.content == Project("b/x", "Bé", "d")
        [q], _ = database.read(lambda s: MailRepository(s).products(None, None, id_=product))
        assert (q.content, q.project_ids) == (Product("prod", "A product", "", ("a", "b/x")), (second, first))
        [a], _ = database.read(lambda s: MailRepository(s).agents(None, None, id_=agent))
        assert (a.content, a.project_ids) == (MailAgent("Blue Lake", "d", "c", ("a", "b/x")), (second, first))

    def test_what_is_written_again_is_changed_in_place(self, database: Database, mail: Mail) -> None:
        id_ = mail.message("m", "old", cc=["Cid", "Dan"])
        assert mail.message("m", "new", to=["Dan"], cc=["Bob"], project="q", created_ts=T0 + 5) == id_
        [stored], total = database.read(lambda s: MailRepository(s).messages(ALL, None, None, limit=9))
        assert total == 1
        assert stored.content == Message("m", "q", "Ann", ("Dan",), "", "new", T0 + 5, cc=("Bob",))
        mail.agent("Bob", "p", "q")
        mail.agent("BOB", "q", description="d")
        [agent], _ = database.read(lambda s: MailRepository(s).agents(None, None, name_key="bob"))
        assert agent.content == MailAgent("BOB", "d", "", ("q",))
        mail.product("x", "p", "q")
        assert mail.product("x", "q", name="n") == mail.product("x", "q", name="n")
        [product], _ = database.read(lambda s: MailRepository(s).products(None, None, key="x"))
        assert product.content == Product("x", "n", "", ("q",))

    def test_an_agent_or_project_keeps_the_time_it_was_first_written(self, database: Database, mail: Mail) -> None:
        id_ = mail.agent("Ann")
        before = database.read(lambda s: MailSearchRepository(s).created([id_]))
        mail.agent("Ann", description="changed")
        assert database.read(lambda s: MailSearchRepository(s).created([id_])) == before
        assert abs(before[id_] - T0) < 100 * 365 * 86_400 * 1_000_000

    def test_states_tell_what_is_stored_of_exactly_this_organisation(
        self, database: Database, mail: Mail, acme: Mail
    ) -> None:
        for writer in (mail, acme):
            writer.message("m", "text", vector=EAST)
            writer.product("x", "p")
        for kind, key in [("message", "m"), ("agent", "ann"), ("project", "p"), ("product", "x")]:
            ids = set()
            for org in (None, "acme"):
                found = database.read(lambda s, k=kind, o=org, y=key: MailRepository(s).states(k, o, [y, "other"]))  # type: ignore[misc]
                assert list(found) == [key]
                ids.add(found[key].id)
                assert found[key].is_embedded is (kind == "message")
                assert (found[key].text_hash is None) is (kind == "product")
                assert len(found[key].content_hash) == 64
            assert len(ids) == 2
            assert database.read(lambda s, k=kind, y=key: MailRepository(s).states(k, "other", [y])) == {}  # type: ignore[misc]

    def test_a_key_is_taken_once_an_organisation(self, database: Database, mail: Mail, acme: Mail) -> None:
        assert mail.message("m") != acme.message("m")
        with pytest.raises(StatementRejected) as refused:
            Mail(database).project("p")
        assert refused.value.constraint == "mail_projects_key"

    def test_new_ids_ascend_and_are_nobody_s(self, database: Database, mail: Mail) -> None:
        taken = mail.project("p")
        ids = database.transact(lambda s: MailRepository(s).new_ids(5))
        assert ids == sorted(set(ids)) and taken not in ids
        assert database.transact(lambda s: MailRepository(s).new_ids(1))[0] not in ids
        assert database.transact(lambda s: MailRepository(s).new_ids(0)) == []

    def test_an_agent_that_gets_it_in_two_roles_counts_in_the_first(self, database: Database, mail: Mail) -> None:
        id_ = mail.message("m", to=["Bob", "Cid", "BOB"], cc=["bob", "Dan"])
        [stored], _ = database.read(lambda s: MailRepository(s).messages(ALL, None, None, id_=id_))
        assert (stored.content.to, stored.content.cc) == (("Bob", "Cid"), ("Dan",))

    def test_writers_of_an_organisation_come_one_after_the_other_and_those_of_others_do_not_wait(
        self, database: Database, sql: Sql
    ) -> None:
        sql("BEGIN")
        sql("SELECT pg_advisory_xact_lock(hashtextextended('mcp.mail:acme', 0))")
        database.transact(lambda s: MailRepository(s).lock(None))
        database.transact(lambda s: MailRepository(s).lock("other"))
        with ThreadPoolExecutor(1) as other:
            held = other.submit(lambda: database.transact(lambda s: MailRepository(s).lock("acme")))
            while not waits_for_a_lock(sql):
                assert not held.done()
            sql("COMMIT")
            held.result()


class TestVectors:
    @pytest.fixture(autouse=True)
    def model(self, database: Database) -> None:
        database.transact(lambda s: IndexStateRepository(s).claim(MODEL))

    def embedded(self, database: Database, id_: int) -> bool:
        [stored], _ = database.read(lambda s: MailRepository(s).messages(ALL, None, None, id_=id_))
        return stored.is_embedded

    def test_a_vector_stays_while_the_text_is_the_same(self, database: Database, mail: Mail) -> None:
        id_ = mail.message("m", "token=a", vector=EAST)
        mail.message("m", "token=a", importance="high")
        assert self.embedded(database, id_)
        mail.message("m", "token=b")  # only the secret is another one
        assert self.embedded(database, id_)
        mail.message("m", "else")
        assert not self.embedded(database, id_)
        mail.message("m", "else", vector=NORTH)
        assert self.embedded(database, id_)

    def test_what_has_none_is_embedded_later_unless_it_changed_meanwhile(self, database: Database, mail: Mail) -> None:
        id_ = mail.message("m", "body", subject="subject")
        [task] = database.read(lambda s: DOCUMENTS(s).tasks([str(id_), "999"], MODEL))
        assert list(task.texts) == ["subject\n\nbody"]
        mail.message("m", "another")
        database.transact(lambda s: DOCUMENTS(s).set_embeddings(MODEL, [(task, EAST)]))
        assert not self.embedded(database, id_)
        [task] = database.read(lambda s: DOCUMENTS(s).tasks([str(id_)], MODEL))
        database.transact(lambda s: DOCUMENTS(s).set_embeddings(MODEL, [(task, EAST)]))
        assert self.embedded(database, id_)
        assert database.read(lambda s: DOCUMENTS(s).tasks([str(id_)], MODEL)) == []

    def test_what_is_to_embed_comes_by_key(self, database: Database, mail: Mail) -> None:
        keys = sorted(str(mail.project(f"p{number}")) for number in range(12))

        def pages(session: Session) -> list[str]:
            found: list[str] = []
            while page := DOCUMENTS(session).to_reembed(MODEL, after=found[-1] if found else "", limit=5):
                found += [task.id for task in page]
            return found

        assert database.read(pages) == keys
        assert [task.id for task in database.read(lambda s: DOCUMENTS(s).to_embed(MODEL, limit=5))] == keys[:5]
        assert database.read(lambda s: DOCUMENTS(s).count_to_reembed(MODEL)) == 12
        tasks = database.read(lambda s: DOCUMENTS(s).to_reembed(MODEL, after=keys[1], limit=2))
        assert [task.id for task in tasks] == keys[2:4]
        database.transact(lambda s: DOCUMENTS(s).set_embeddings(MODEL, [(task, EAST) for task in tasks]))
        assert database.read(lambda s: DOCUMENTS(s).count_to_reembed(MODEL)) == 10
        assert database.read(lambda s: DOCUMENTS(s).count_to_reembed(OTHER_MODEL)) == 12
        left = database.read(lambda s: DOCUMENTS(s).to_embed(MODEL, limit=3))
        assert [task.id for task in left] == [*keys[:2], keys[4]]

    def test_texts_are_stored_anew_from_what_was_said(self, database: Database, mail: Mail, sql: Sql) -> None:
        message = mail.message("m", "the body", subject="The subject", vector=EAST)
        agent, project = mail.agents["ann"], mail.projects["p"]
        said = database.read(lambda s: MailRepository(s).load_sources(after=0, limit=100))
        by_id = {each.id: (each.title, each.body) for each in said}
        assert by_id[message] == ("The subject", "the body")
        assert by_id[agent] == ("Ann", "")
        assert by_id[project] == ("A project", "p\n")
        assert list(by_id) == sorted(by_id)
        [again] = database.read(lambda s: MailRepository(s).load_sources(after=message - 1, limit=1))
        stored = text_hash("The subject", "the body")
        assert (again.id, again.text_hash, again.document_hash) == (message, stored, stored)

        def found_by() -> list[object]:
            return sql(
                "SELECT d.texts, d.lexical_text, d.text_hash, m.search_vector::text, m.text_hash "
                "FROM mcp.mail_documents m JOIN mcp.documents d ON d.collection = 'mcp_mail' AND d.key = m.id::text "
                f"WHERE m.id = {message}"
            )[0]

        before = found_by()
        database.transact(lambda s: MailRepository(s).set_texts([(message, SearchText.of(*by_id[message]), stored)]))
        assert found_by() == before
        assert self.embedded(database, message)
        # What was written meanwhile stays.
        database.transact(
            lambda s: MailRepository(s).set_texts([(message, SearchText("too", "late"), text_hash("an", "old one"))])
        )
        assert found_by() == before
        assert self.embedded(database, message)
        database.transact(lambda s: MailRepository(s).set_texts([(message, SearchText("other", "words"), stored)]))
        assert not self.embedded(database, message)
        other = text_hash("other", "words")
        assert found_by() == [["other\n\nwords"], "other\nwords", other, "'other':1A 'words':2", other]


class TestDeleting:
    def test_what_messages_refer_to_stays(self, database: Database, mail: Mail) -> None:
        id_ = mail.message("m")
        for kind, key, constraint in [
            ("project", mail.projects["p"], "mail_messages_project_id_fkey"),
            ("agent", mail.agents["ann"], "mail_messages_sender_id_fkey"),
            ("agent", mail.agents["bob"], "mail_recipients_agent_id_fkey"),
        ]:
            with pytest.raises(StatementRejected) as refused:
                database.transact(lambda s, k=kind, i=key: MailRepository(s).delete(k, i, None))  # type: ignore[misc]
            assert refused.value.constraint == constraint
        assert database.transact(lambda s: MailRepository(s).delete("message", id_, None))
        assert keys(database) == []
        for kind, key in [
            ("agent", mail.agents["bob"]),
            ("agent", mail.agents["ann"]),
            ("project", mail.projects["p"]),
        ]:
            assert database.transact(lambda s, k=kind, i=key: MailRepository(s).delete(k, i, None))  # type: ignore[misc]

    def test_only_the_owner_deletes_and_only_by_the_right_kind(self, database: Database, acme: Mail, sql: Sql) -> None:
        ids: dict[MailKind, int] = {
            "message": acme.message("m"), "agent": acme.agent("Zoe"), "project": acme.project("z"),
            "product": acme.product("x", "z"),
        }  # fmt: skip
        for kind, id_ in ids.items():
            for org in (None, "other"):
                assert not database.transact(lambda s, k=kind, i=id_, o=org: MailRepository(s).delete(k, i, o))  # type: ignore[misc]
        for wrong in ("message", "agent"):
            assert not database.transact(lambda s, k=wrong: MailRepository(s).delete(k, ids["project"], "acme"))  # type: ignore[misc]
        for kind, id_ in ids.items():
            assert database.transact(lambda s, k=kind, i=id_: MailRepository(s).delete(k, i, "acme"))  # type: ignore[misc]
            assert not database.transact(lambda s, k=kind, i=id_: MailRepository(s).delete(k, i, "acme"))  # type: ignore[misc]

    def test_a_deleted_project_is_forgotten_by_agents_and_products(
        self, database: Database, mail: Mail, sql: Sql
    ) -> None:
        agent, product = mail.agent("Ann", "p", "q"), mail.product("x", "p", "q")
        assert database.transact(lambda s: MailRepository(s).delete("project", mail.projects["p"], None))
        [a], _ = database.read(lambda s: MailRepository(s).agents(None, None, id_=agent))
        [x], _ = database.read(lambda s: MailRepository(s).products(None, None, id_=product))
        assert a.content.projects == x.content.projects == ("q",)
        assert sql(f"SELECT project_ids FROM mcp.mail_documents WHERE id = {agent}") == [[[mail.projects["q"]]]]


class TestAcknowledging:
    def test_the_first_time_counts_and_outlives_a_change(self, database: Database, mail: Mail) -> None:
        id_ = mail.message("m", to=["Bob", "Cid"], cc=["Dan"])

        def acknowledged() -> dict[str, object]:
            [stored], _ = database.read(lambda s: MailRepository(s).messages(ALL, None, None, id_=id_))
            return dict(stored.acknowledged)

        assert database.transact(lambda s: MailRepository(s).acknowledge(id_, "bob"))
        first = acknowledged()
        assert list(first) == ["Bob"]
        assert database.transact(lambda s: MailRepository(s).acknowledge(id_, "bob"))
        mail.message("m", "changed", to=["Dan"], cc=["Cid", "Bob"])
        assert acknowledged() == first
        for name_key in ("ann", "nobody", "Bob"):
            assert not database.transact(lambda s, key=name_key: MailRepository(s).acknowledge(id_, key))  # type: ignore[misc]
        assert not database.transact(lambda s: MailRepository(s).acknowledge(id_ + 1000, "bob"))
        mail.message("m", "changed", to=["Dan"])
        assert acknowledged() == {}


class TestListing:
    def test_pages_say_the_total_beyond_the_end_too(self, database: Database, mail: Mail) -> None:
        for number in (3, 1, 2):
            mail.message(f"m{number}", created_ts=T0 + number)
            mail.project(f"p{number}")
            mail.product(f"x{number}", "p1")
            mail.agent(f"A{number}", "p1")
        mail.message("m0", created_ts=T0 + 2)  # a tie: by id

        def messages(s: Session, limit: int, offset: int) -> tuple[list[str], int]:
            found, total = MailRepository(s).messages(ALL, None, None, limit=limit, offset=offset)
            return [each.content.key for each in found], total

        assert database.read(lambda s: messages(s, 2, 0)) == (["m3", "m2"], 4)
        assert database.read(lambda s: messages(s, 2, 2)) == (["m0", "m1"], 4)
        assert database.read(lambda s: messages(s, 2, 9)) == ([], 4)
        for kind, count in [("projects", 4), ("products", 3), ("agents", 5)]:
            for offset in (0, 2, 99):
                page, total = database.read(
                    lambda s, k=kind, o=offset: getattr(MailRepository(s), k)(None, None, limit=2, offset=o)  # type: ignore[misc]
                )
                assert (len(page), total) == (max(0, min(2, count - offset)), count)
        assert database.read(lambda s: MailRepository(s).projects(None, (), limit=2, offset=5)) == ([], 0)

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ({}, "abcd"), ({"thread_id": "T"}, "b"), ({"thread_id": "t"}, ""), ({"sender": "bob"}, "c"),
            ({"recipient": "cid"}, "ac"), ({"recipient": "ann"}, "c"), ({"importance": "high"}, "b"),
            ({"ack_required": True}, "d"), ({"ack_required": False}, "abc"), ({"key": "a"}, "a"), ({"key": "z"}, ""),
            ({"sender": "ann", "recipient": "cid"}, "a"),
        ],
    )  # fmt: skip
    def test_every_condition(self, database: Database, mail: Mail, where: dict[str, object], expected: str) -> None:
        mail.message("a", cc=["Cid"], created_ts=T0 + 9)
        mail.message("b", thread_id="T", importance="high", created_ts=T0 + 8)
        mail.message("c", sender="Bob", to=["ANN"], bcc=["cid"], created_ts=T0 + 7)
        mail.message("d", ack_required=True, project="q", created_ts=T0 + 6)
        assert keys(database, MessageFilter(**where)) == list(expected)  # type: ignore[arg-type]
        assert database.read(lambda s: MailRepository(s).messages(MessageFilter(**where), None, None))[1] == len(
            expected
        )  # type: ignore[arg-type]
        assert keys(database, MessageFilter(project_id=mail.projects["q"])) == ["d"]

    def test_an_organisation_sees_what_is_global_and_its_own(self, database: Database, mail: Mail, acme: Mail) -> None:
        mail.message("g", created_ts=T0 + 1)
        id_ = acme.message("a", created_ts=T0)
        acme.product("x", "p")
        assert keys(database, org="acme") == ["g", "a"]
        assert keys(database, org="other") == keys(database) == ["g"]
        assert database.read(lambda s: MailRepository(s).messages(ALL, "other", None, id_=id_)) == ([], 0)
        for org, seen in [("acme", 2), ("other", 1), (None, 1)]:
            assert database.read(lambda s, o=org: MailRepository(s).projects(o, None, key="p", limit=9))[1] == seen  # type: ignore[misc]
            assert database.read(lambda s, o=org: MailRepository(s).agents(o, None, name_key="ann", limit=9))[1] == seen  # type: ignore[misc]
            assert database.read(lambda s, o=org: MailRepository(s).products(o, None, limit=9))[1] == seen - 1  # type: ignore[misc]

    def test_what_is_not_allowed_is_neither_shown_nor_counted(self, database: Database, mail: Mail) -> None:
        mail.message("a", project="p")
        hidden = mail.message("b", project="q", to=["Zoe"])
        mail.agent("Both", "p", "q")
        mail.agent("Zoe", "q")
        both, only = mail.product("both", "p", "q"), mail.product("only", "q")
        p, q = mail.projects["p"], mail.projects["q"]

        def seen(allowed: list[int]) -> tuple[object, ...]:
            def look(s: Session) -> tuple[object, ...]:
                return (
                    [m.content.key for m in MailRepository(s).messages(ALL, None, allowed, limit=9)[0]],
                    MailRepository(s).messages(ALL, None, allowed)[1],
                    MailRepository(s).messages(ALL, None, allowed, id_=hidden)[1],
                    MailRepository(s).projects(None, allowed, limit=9)[1],
                    [
                        (a.content.name, a.project_ids, a.content.projects)
                        for a in MailRepository(s).agents(None, allowed, limit=9)[0]
                    ],
                    [(x.id, x.project_ids) for x in MailRepository(s).products(None, allowed, limit=9)[0]],
                )

            return database.read(look)

        assert seen([p]) == (["a"], 1, 0, 1, [("Both", (p,), ("p",))], [(both, (p,))])
        assert seen([]) == ([], 0, 0, 0, [], [])
        assert seen([p, q, 999])[3:] == (
            2, [("Both", (p, q), ("p", "q")), ("Zoe", (q,), ("q",))], [(both, (p, q)), (only, (q,))],
        )  # fmt: skip
        assert database.read(lambda s: MailRepository(s).agents(None, [p], project_id=q)) == ([], 0)
        assert database.read(lambda s: MailRepository(s).agents(None, None, project_id=q))[1] == 2


class TestRights:
    def test_an_operator_sees_all_and_anybody_else_what_its_agent_belongs_to(
        self, database: Database, mail: Mail, acme: Mail
    ) -> None:
        mail.agent("Ann", "p", "q")
        acme.agent("ANN", "own")
        Mail(database, "other").agent("ann", "theirs")
        own = [mail.projects["p"], mail.projects["q"], acme.projects["own"]]

        def may_see(caller: Caller) -> list[int] | None:
            return database.read(lambda s: MailRepository(s).may_see(caller))

        plain = Caller(org_id="acme", scopes=frozenset({Scope.SEARCH, Scope.CATALOG}))
        assert may_see(LAPTOP) is None
        assert may_see(Caller(org_id="acme", scopes=frozenset({Scope.ADMIN}))) is None
        assert may_see(plain) == []
        assert may_see(replace(plain, agent=" aNN ")) == sorted(own)
        assert may_see(replace(plain, agent="ann", org_id=None)) == sorted(own[:2])
        assert may_see(replace(plain, agent="nobody")) == []
        assert may_see(replace(plain, agent="")) == []

    def test_projects_of_a_product_are_those_of_one_that_the_caller_sees(self, database: Database, acme: Mail) -> None:
        product = acme.product("x", "b", "a")
        expected = sorted(acme.projects.values())
        assert database.read(lambda s: MailRepository(s).projects_of_product(product, "acme")) == expected
        assert database.read(lambda s: MailRepository(s).projects_of_product(product, None)) == []
        assert database.read(lambda s: MailRepository(s).projects_of_product(product + 1, "acme")) == []


def test_the_hash_of_what_comes_back_is_that_of_what_was_written(database: Database, mail: Mail) -> None:
    id_ = mail.message("m", "body", cc=["Cid"])
    [stored], _ = database.read(lambda s: MailRepository(s).messages(ALL, None, None, id_=id_))
    state = database.read(lambda s: MailRepository(s).states("message", None, ["m"]))["m"]
    assert state.content_hash == content_hash(stored.content)
    assert state.text_hash == of_message(id_, stored.content, stored.project_id).text_hash
    agent = database.read(lambda s: MailRepository(s).states("agent", None, ["ann"]))["ann"]
    assert agent.text_hash == of_agent(agent.id, MailAgent("Ann"), ()).text_hash
