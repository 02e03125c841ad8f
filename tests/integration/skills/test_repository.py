"""The skill repository, and assignments: replaced whole, one primary, never a gap that somebody else can see."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.postgres.database import Database, Session
from skillroute.core.postgres.pool import Pool
from skillroute.core.rights.decide import EVERYTHING
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import Assignment, AssignmentSource, Skill, SkillFilter, SkillKey, skill_key
from skillroute.skills.repository import SkillRepository

from tests.integration.rows import (
    EAST,
    MODEL,
    NORTH,
    OTHER_MODEL,
    Sql,
    connected,
    insert_assignment,
    insert_skill,
    insert_tool,
    item_row,
    new_skill,
    put_document,
    skill_text,
)

DOCUMENTS = DocumentRepository.of(SKILL_DOCUMENTS)
KEYS = {id_: skill_key(id_, None) for id_ in "abc"}
LLM, HUMAN = AssignmentSource.LLM_AUTO, AssignmentSource.HUMAN_MANUAL


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    """Beside the pool: tool 1, and the skills a, b and c."""
    with connected(database_url) as sql:
        insert_tool(sql, "tool")
        for name in "abc":
            insert_skill(sql, name)
        yield sql


@pytest.fixture
def model(database: Database) -> None:
    """Vectors are kept of `MODEL`."""
    database.transact(lambda s: IndexStateRepository(s).claim(MODEL))


def ranked(*skills: tuple[str, float]) -> list[Assignment]:
    return [Assignment(*skill) for skill in skills]


def assign(
    database: Database, given: Sequence[Assignment], source: AssignmentSource = LLM, tool: int = 1
) -> set[SkillKey]:
    return database.transact(lambda s: AssignmentRepository(s).replace({tool: given}, KEYS, source))


def stored(sql: Sql, tool: int = 1) -> list[list[object]]:
    return sql(
        "SELECT skill_key, confidence, is_primary, source FROM mcp.tool_skill_assignments "
        "WHERE tool_id = :tool ORDER BY skill_key",
        tool=tool,
    )


class TestAssign:
    def test_the_first_is_primary_and_all_carry_their_confidence_and_source(self, database: Database, sql: Sql) -> None:
        assert assign(database, ranked(("b", 0.9), ("a", 0.5))) == {"a", "b"}
        assert stored(sql) == [["a", 0.5, False, "llm_auto"], ["b", 0.9, True, "llm_auto"]]

    def test_the_new_ones_replace_all_old_ones(self, database: Database, sql: Sql) -> None:
        assign(database, ranked(("a", 0.9), ("b", 0.5)))
        assert assign(database, ranked(("c", 0.8), ("b", 0.7))) == {"a", "b", "c"}
        assert stored(sql) == [["b", 0.7, False, "llm_auto"], ["c", 0.8, True, "llm_auto"]]

    def test_a_primary_that_is_outranked_is_demoted(self, database: Database, sql: Sql) -> None:
        assign(database, ranked(("a", 0.9), ("b", 0.5)))
        assert assign(database, ranked(("b", 0.9), ("a", 0.5))) == {"a", "b"}
        assert stored(sql) == [["a", 0.5, False, "llm_auto"], ["b", 0.9, True, "llm_auto"]]

    def test_the_same_again_changes_nothing(self, database: Database, sql: Sql) -> None:
        assign(database, ranked(("a", 0.9), ("b", 0.5)))
        before = sql("SELECT xmin::text, * FROM mcp.tool_skill_assignments ORDER BY id")
        assert assign(database, ranked(("a", 0.9), ("b", 0.5))) == set()
        assert sql("SELECT xmin::text, * FROM mcp.tool_skill_assignments ORDER BY id") == before

    def test_a_person_who_confirms_what_a_classifier_said_makes_it_theirs(self, database: Database, sql: Sql) -> None:
        assign(database, ranked(("a", 0.9)))
        assert assign(database, ranked(("a", 0.9)), HUMAN) == {"a"}
        assert stored(sql) == [["a", 0.9, True, "human_manual"]]

    def test_none_leave_the_item_without_skills_and_other_items_alone(self, database: Database, sql: Sql) -> None:
        other = insert_tool(sql, "other")
        assign(database, ranked(("a", 0.9)))
        assign(database, ranked(("a", 0.9)), tool=other)
        assert assign(database, []) == {"a"}
        assert stored(sql) == []
        assert stored(sql, other) == [["a", 0.9, True, "llm_auto"]]

    def test_several_items_at_once(self, database: Database, sql: Sql) -> None:
        other = insert_tool(sql, "other")
        given = {1: ranked(("a", 0.9), ("b", 0.8)), other: ranked(("b", 0.7))}
        assert database.transact(lambda s: AssignmentRepository(s).replace(given, KEYS, LLM)) == {"a", "b"}
        assert [row[0] for row in stored(sql)] == ["a", "b"]
        assert stored(sql, other) == [["b", 0.7, True, "llm_auto"]]

    def test_nobody_else_sees_a_gap_or_half_of_it(self, database: Database, pool: Pool, sql: Sql) -> None:
        # GIVEN one set of skills
        assign(database, ranked(("a", 0.9), ("b", 0.5)))
        old = stored(sql)
        seen: list[list[list[object]]] = []

        # WHEN it is replaced, and another connection looks between all of its statements
        def replace(session: Session) -> None:
            assignments = AssignmentRepository(session)
            run = assignments._run

            def watched(name: str, /, **params: object) -> list[list[object]]:
                rows = run(name, **params)
                seen.append(stored(sql))
                return rows

            assignments._run = watched
            assignments.replace({1: ranked(("c", 0.9), ("b", 0.8))}, KEYS, LLM)

        database.transact(replace)
        # THEN it has the old ones until the commit, and the new ones after it
        assert seen == [old] * 3
        assert [row[0] for row in stored(sql)] == ["b", "c"]

    def test_two_replacements_at_once_leave_one_of_the_two_sets(self, database: Database, sql: Sql) -> None:
        sets = [ranked(("c", 0.9), ("a", 0.5)), ranked(("a", 0.9), ("b", 0.5))]
        names = [{"a", "c"}, {"a", "b"}]
        for _ in range(10):
            gate = threading.Barrier(2)

            def replace(given: list[Assignment], gate: threading.Barrier = gate) -> None:
                gate.wait(10)

                def work(session: object) -> None:
                    AssignmentRepository(session).lock_items([1], None)  # type: ignore[attr-defined]
                    AssignmentRepository(session).replace({1: given}, KEYS, LLM)  # type: ignore[attr-defined]

                database.transact(work)

            threads = [threading.Thread(target=replace, args=(given,)) for given in sets]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            rows = stored(sql)
            assert {row[0] for row in rows} in names
            assert [row[2] for row in rows].count(True) == 1
            sql("DELETE FROM mcp.tool_skill_assignments")


class TestSkills:
    @pytest.mark.usefixtures("model")
    def test_what_is_created_comes_back(self, database: Database) -> None:
        new = new_skill("s", keywords=("k", "ä"), examples=("e1", "e2"), parent_domain="d", org_id="acme")
        assert database.transact(lambda s: SkillRepository(s).create(new, skill_text("s"), MODEL, EAST))
        skill = database.read(lambda s: SkillRepository(s).get("s", "acme", rights=EVERYTHING))
        assert isinstance(skill, Skill)
        assert (skill.keywords, skill.examples, skill.parent_domain) == (("k", "ä"), ("e1", "e2"), "d")
        assert (skill.org_id, skill.is_active, skill.tool_count) == ("acme", True, 0)
        assert database.read(lambda s: DOCUMENTS(s).vector(skill.key, MODEL)) == EAST
        assert database.read(lambda s: DOCUMENTS(s).vector(skill.key, OTHER_MODEL)) is None

    def test_a_taken_id_is_not_written_over(self, database: Database) -> None:
        first, second = new_skill("s", name="first"), new_skill("s", name="second")
        assert database.transact(lambda s: SkillRepository(s).create(first, skill_text("s"), None, None))
        assert not database.transact(lambda s: SkillRepository(s).create(second, skill_text("s"), None, None))
        skill = database.read(lambda s: SkillRepository(s).get("s", None, rights=EVERYTHING))
        assert skill is not None
        assert skill.name == "first"

    def test_an_organisation_sees_global_skills_and_its_own(self, database: Database) -> None:
        for org in (None, "acme", "umbrella"):
            skill_id = org or "everyone"
            new = new_skill(skill_id, org_id=org)
            database.transact(lambda s, new=new: SkillRepository(s).create(new, skill_text(new.id), None, None))  # type: ignore[misc]
        seen = [
            database.read(lambda s, i=i: SkillRepository(s).get(i, "acme", rights=EVERYTHING))
            for i in ("everyone", "acme", "umbrella")
        ]  # type: ignore[misc]
        assert [skill and skill.id for skill in seen] == ["everyone", "acme", None]

    def test_its_tools_are_counted_when_asked_and_only_active_ones(self, database: Database, sql: Sql) -> None:
        insert_assignment(sql, 1, "a")
        insert_assignment(sql, insert_tool(sql, "off"), "a")
        sql("UPDATE mcp.tools SET is_active = false WHERE name = 'off'")
        skill = database.read(lambda s: SkillRepository(s).get("a", None, rights=EVERYTHING))
        assert skill is not None
        assert skill.tool_count == 1

    @pytest.mark.usefixtures("model")
    def test_a_deleted_skill_is_gone_for_everyone_who_asks(self, database: Database, sql: Sql) -> None:
        sql("UPDATE mcp.skill_categories SET is_active = false, deleted_at = now() WHERE id = 'a'")
        assert database.read(lambda s: SkillRepository(s).get("a", None, rights=EVERYTHING)) is None
        assert database.read(lambda s: SkillRepository(s).keys()) == ["b", "c"]
        assert database.transact(lambda s: AssignmentRepository(s).keys_of_skills(["a", "b", "x"], None)) == {"b": "b"}
        assert not database.transact(lambda s: SkillRepository(s).lock("a"))
        assert (
            database.read(lambda s: SkillRepository(s).page(SkillFilter(), None, limit=9, offset=0, rights=EVERYTHING))[
                1
            ]
            == 2
        )
        assert [task.id for task in database.read(lambda s: DOCUMENTS(s).to_embed(MODEL, limit=9))] == ["b", "c"]

    def test_an_item_s_skills_are_its_active_ones_surest_first(self, database: Database, sql: Sql) -> None:
        assign(database, ranked(("b", 0.9), ("a", 0.5), ("c", 0.4)))
        item = database.read(lambda s: ItemRepository(s).get(1, None, rights=EVERYTHING))
        assert item is not None
        assert (item.skill_ids, item.primary_skill_id) == (("b", "a", "c"), "b")
        sql("UPDATE mcp.skill_categories SET is_active = false WHERE id = 'b'")
        item = database.read(lambda s: ItemRepository(s).get(1, None, rights=EVERYTHING))
        assert item is not None
        assert (item.skill_ids, item.primary_skill_id) == (("a", "c"), None)

    @pytest.mark.usefixtures("model")
    def test_members_come_in_pages_and_without_those_that_have_no_vector_of_the_model(
        self, database: Database, sql: Sql
    ) -> None:
        rows = [item_row(f"t{n}", EAST) for n in range(501)]
        database.transact(lambda s: ItemRepository(s).upsert(None, MODEL, rows))
        other = insert_tool(sql, "other")
        tools = DocumentRepository.of(TOOL_DOCUMENTS)
        [task] = database.read(lambda s: tools(s).tasks([str(other)], MODEL))
        database.transact(lambda s: IndexStateRepository(s).begin(OTHER_MODEL))
        database.transact(lambda s: tools(s).set_embeddings(OTHER_MODEL, [(task, NORTH)]))
        given = "(tool_id, skill_key, confidence) SELECT id, 'a', 0.5 FROM mcp.tools"
        sql(f"INSERT INTO mcp.tool_skill_assignments {given}")
        sql("UPDATE mcp.tools SET is_active = false WHERE name = 't7'")
        members = database.read(lambda s: list(SkillRepository(s).members("a", MODEL)))
        assert members == [(EAST, 0.5)] * 500
        assert database.read(lambda s: list(SkillRepository(s).members("a", OTHER_MODEL))) == [(NORTH, 0.5)]
        assert database.read(lambda s: AssignmentRepository(s).of_items([1, 2])) == {"a"}

    @pytest.mark.usefixtures("model")
    def test_a_new_embedding_is_told_from_the_same_again(self, database: Database) -> None:
        database.transact(lambda s: SkillRepository(s).create(new_skill("s"), skill_text("s"), MODEL, EAST))
        assert not database.transact(lambda s: DOCUMENTS(s).derive("s", MODEL, EAST))
        assert database.transact(lambda s: DOCUMENTS(s).derive("s", MODEL, NORTH))
        assert not database.transact(lambda s: DOCUMENTS(s).derive("s", MODEL, NORTH))
        assert not database.transact(lambda s: DOCUMENTS(s).derive("s", OTHER_MODEL, EAST))
        assert not database.transact(lambda s: DOCUMENTS(s).derive("gone", MODEL, EAST))
        assert database.read(lambda s: DOCUMENTS(s).vector("s", MODEL)) == EAST

    @pytest.mark.usefixtures("model")
    def test_a_late_description_embedding_is_stored_only_beside_its_text(self, database: Database, sql: Sql) -> None:
        tasks = database.read(lambda s: DOCUMENTS(s).to_embed(MODEL, limit=2))
        put_document(sql, SKILL_DOCUMENTS, "a", "newer")
        database.transact(lambda s: DOCUMENTS(s).set_embeddings(MODEL, [(task, EAST) for task in tasks]))
        left = database.read(lambda s: DOCUMENTS(s).to_reembed(MODEL, after="", limit=9))
        assert [task.id for task in left] == ["a", "c"]
