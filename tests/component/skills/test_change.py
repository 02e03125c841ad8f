"""Creating skills, assigning them, and what they are found by (skill-contract BR-001, BR-003 and BR-004)."""

from __future__ import annotations

import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import Conflict, InvalidInput, NotFound
from skillroute.core.rights.decide import EVERYTHING
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.create import CreateSkill, PrepareSkill
from skillroute.skills.model import Assignment, AssignmentSource, NewSkill
from skillroute.skills.repository import SkillRepository

from tests.doubles import in_threads
from tests.integration.rows import put_documents, put_vectors
from tests.worlds.desk import ACME, UMBRELLA, Desk, Renamed, tool

TOOLS, SKILLS = TOOL_DOCUMENTS, SKILL_DOCUMENTS
HUMAN = AssignmentSource.HUMAN_MANUAL


class TestCreate:
    def test_it_is_stored_with_the_embedding_of_its_description_and_no_tools(self, desk: Desk) -> None:
        skill = desk.skill("mail", keywords=("inbox",), examples=("send_mail",))
        assert (skill.id, skill.tool_count, skill.is_active, skill.org_id) == ("mail", 0, True, None)
        assert any("All about mail" in text for text in desk.embedder.texts)
        vector = desk.vector(SKILLS, "mail")
        assert vector is not None
        assert vector == desk.vector(SKILLS, "mail", of_description=True)
        assert desk.commits == 1

    def test_keywords_and_examples_are_found_by_their_words(self, desk: Desk) -> None:
        desk.skill("mail", keywords=("inbox",), examples=("sendMail",))
        [[words]] = desk.sql("SELECT lexical_text FROM mcp.documents")
        assert {"mail", "inbox", "sendMail", "send"} <= set(words.split())

    def test_its_organisation_is_the_caller_s(self, desk: Desk) -> None:
        assert desk.skill("mail", ACME, org_id="umbrella").org_id == "acme"

    def test_a_taken_id_is_a_conflict_that_names_it(self, desk: Desk) -> None:
        desk.skill("mail")
        for caller, says in ((LAPTOP, "mail$"), (ACME, "mail is global, and every")):
            with pytest.raises(Conflict, match=f"^Skill already exists: {says}"):
                desk.skill("mail", caller)
        assert desk.commits == 1

    def test_of_two_that_create_the_same_at_once_one_succeeds(self, desk: Desk) -> None:
        def create(_: int) -> bool:
            try:
                desk.skill("mail")
            except Conflict:
                return False
            return True

        assert sorted(in_threads(2, create)) == [False, True]

    def test_without_the_model_it_is_stored_and_gets_its_vector_later(self, desk: Desk) -> None:
        desk.embedder.away = True
        desk.skill("mail")
        assert desk.vector(SKILLS, "mail") is None
        desk.embedder.away = False
        assert desk.embed_missing() == 1
        assert desk.vector(SKILLS, "mail") is not None

    def test_where_no_time_is_left_for_the_model_it_is_stored_without_a_vector(self, desk: Desk) -> None:
        CreateSkill(desk.database, PrepareSkill(desk.embedder, timeout_s=0.0))(
            NewSkill(id="mail", name="mail", description="Reads mail."), LAPTOP
        )
        assert desk.vector(SKILLS, "mail") is None

    def test_with_another_model_than_the_stored_one_it_is_stored_without_a_vector(self, desk: Desk) -> None:
        desk.skill("mail")
        desk.use(Renamed("second"))
        desk.skill("calendar")
        assert desk.sql("SELECT id FROM mcp.skill_categories ORDER BY id") == [["calendar"], ["mail"]]
        assert desk.sql("SELECT DISTINCT model FROM mcp.document_vectors") == [["first"]]
        assert desk.vector(SKILLS, "calendar") is None

    def test_a_text_that_postgresql_cannot_hold_is_the_caller_s_mistake(self, desk: Desk) -> None:
        for fields in ({"description": "ten and more \x00"}, {"keywords": ("\x00",)}):
            with pytest.raises(InvalidInput, match="NUL"):
                desk.skill("mail", **fields)


class TestAssign:
    def test_the_surest_becomes_primary_and_the_item_shows_it(self, desk: Desk) -> None:
        [item] = desk.ids("a")
        for skill in ("one", "two"):
            desk.skill(skill)
        changed = desk.assign({item: [Assignment("one", 0.6), Assignment("two", 0.9)]}, LAPTOP, HUMAN)
        assert changed == {"one", "two"}
        stored = desk.catalogue.get(item, LAPTOP)
        assert (stored.skill_ids, stored.primary_skill_id) == (("two", "one"), "two")

    def test_the_skills_that_gain_and_lose_an_item_are_aggregated_anew(self, desk: Desk) -> None:
        [item] = desk.ids("a")
        for skill in ("one", "two"):
            desk.skill(skill)
        description = desk.vector(SKILLS, "one")
        desk.assign({item: [Assignment("one", 0.6)]}, LAPTOP, HUMAN)
        assert desk.vector(SKILLS, "one") == pytest.approx(desk.vector(TOOLS, "a"), abs=1e-6)
        desk.assign({item: [Assignment("two", 0.6)]}, LAPTOP, HUMAN)
        assert desk.vector(SKILLS, "one") == description
        assert desk.vector(SKILLS, "two") == pytest.approx(desk.vector(TOOLS, "a"), abs=1e-6)

    def test_the_same_again_changes_nothing(self, desk: Desk) -> None:
        [item] = desk.ids("a")
        desk.skill("one")
        desk.assign({item: [Assignment("one", 0.6)]}, LAPTOP, HUMAN)
        assert desk.assign({item: [Assignment("one", 0.6)]}, LAPTOP, HUMAN) == set()

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ([Assignment(f"s{n}", 0.5) for n in range(6)], "6 skills; at most 5"),
            ([Assignment("one", 0.5), Assignment("one", 0.6)], "named twice"),
            ([Assignment("one", 1.01)], "not within 0..1"),
            ([Assignment("one", -0.01)], "not within 0..1"),
            ([Assignment("one", float("nan"))], "not within 0..1"),
        ],
    )
    def test_what_is_out_of_bounds_is_refused(self, desk: Desk, given: list[Assignment], says: str) -> None:
        with pytest.raises(InvalidInput, match=says):
            desk.assign({1: given}, LAPTOP, HUMAN)

    def test_an_unknown_item_or_skill_leaves_everything_as_it_was(self, desk: Desk) -> None:
        [item] = desk.ids("a")
        desk.skill("one")
        desk.assign({item: [Assignment("one", 0.6)]}, LAPTOP, HUMAN)
        with pytest.raises(NotFound, match="no skill with id ghost"):
            desk.assign({item: [Assignment("one", 0.9), Assignment("ghost", 0.5)]}, LAPTOP, HUMAN)
        with pytest.raises(NotFound, match="no item with id 999"):
            desk.assign({item: [], 999: [Assignment("one", 0.5)]}, LAPTOP, HUMAN)
        assert desk.catalogue.get(item, LAPTOP).skill_ids == ("one",)

    def test_items_and_skills_that_are_not_the_caller_s_to_use_are_not_found(self, desk: Desk) -> None:
        # GIVEN an item and a skill for everyone, and each organisation's own
        owners = {"all": LAPTOP, "acme": ACME, "umbrella": UMBRELLA}
        items: dict[str, int] = {}
        for name, owner in owners.items():
            [outcome] = desk.put(tool(f"of_{name}"), caller=owner).outcomes
            assert outcome.id is not None
            items[name] = outcome.id
            desk.skill(f"of_{name}", owner)
        # WHEN each of them assigns each to each
        done, refused = set(), []
        for name, caller in owners.items():
            for item, item_id in items.items():
                for skill in owners:
                    try:
                        desk.assign({item_id: [Assignment(f"of_{skill}", 0.5)]}, caller, HUMAN)
                        done.add((name, item, skill))
                    except NotFound as error:
                        refused.append((item == name, str(error)))
        # THEN only one's own items go into global skills and one's own
        own = {(name, name, name) for name in owners}
        assert done == own | {("acme", "acme", "all"), ("umbrella", "umbrella", "all")}
        for is_own_item, message in refused:
            assert message.startswith("no skill with id of_" if is_own_item else "no item with id ")
        assert desk.sql("SELECT count(*) FROM mcp.tool_skill_assignments") == [[3]]

    def test_replacements_at_the_same_moment_leave_one_whole_set_with_one_primary(self, desk: Desk) -> None:
        [item] = desk.ids("a")
        for skill in ("one", "two", "three"):
            desk.skill(skill)
        sets = [
            [Assignment("three", 0.9), Assignment("one", 0.5)],
            [Assignment("one", 0.9), Assignment("two", 0.5)],
            [Assignment("two", 0.9)],
        ]
        for _ in range(5):
            in_threads(3, lambda n: desk.assign({item: sets[n]}, LAPTOP, HUMAN))
            stored = desk.catalogue.get(item, LAPTOP)
            assert stored.skill_ids in [("three", "one"), ("one", "two"), ("two",)]
            assert stored.primary_skill_id == stored.skill_ids[0]
            desk.assign({item: []}, LAPTOP, HUMAN)

    def test_an_item_that_is_deleted_at_the_same_moment_is_assigned_before_or_not_found(self, desk: Desk) -> None:
        desk.skill("one")
        for number in range(5):
            [item] = desk.ids(f"t{number}")

            def assign_or_delete(place: int, item: int = item) -> str:
                if place:
                    desk.catalogue.delete(item, LAPTOP)
                    return "deleted"
                try:
                    desk.assign({item: [Assignment("one", 0.5)]}, LAPTOP, HUMAN)
                except NotFound:
                    return "not found"
                return "assigned"

            assert in_threads(2, assign_or_delete)[0] in {"assigned", "not found"}
        assert desk.sql("SELECT count(*) FROM mcp.tool_skill_assignments") == [[0]]


class TestAggregate:
    def members(self, desk: Desk, *confidences: float) -> list[int]:
        items = desk.ids(*(f"word{n} tool{n * 7}" for n in range(len(confidences))))
        desk.skill("s")
        desk.assign({i: [Assignment("s", c)] for i, c in zip(items, confidences, strict=True)}, LAPTOP, HUMAN)
        return items

    def expected(self, desk: Desk, *members: tuple[int, float]) -> list[float]:
        vectors = np.array([desk.vector(TOOLS, f"word{n} tool{n * 7}") for n, _ in members], dtype=np.float64)
        weights = np.array([weight for _, weight in members])
        mean = (vectors * weights[:, None]).sum(0) / weights.sum()
        return [float(x) for x in mean / np.linalg.norm(mean)]

    def test_it_is_the_mean_of_the_tools_weighted_by_confidence_and_of_norm_1(self, desk: Desk) -> None:
        self.members(desk, 1.0, 0.5, 0.25, 0.9)
        vector = desk.vector(SKILLS, "s")
        assert vector == pytest.approx(self.expected(desk, (0, 1.0), (1, 0.5), (2, 0.25), (3, 0.9)), abs=1e-6)
        assert np.linalg.norm(np.array(vector)) == pytest.approx(1.0, abs=1e-6)

    def test_one_tool_is_its_own_mean_whatever_the_confidence(self, desk: Desk) -> None:
        self.members(desk, 0.1)
        assert desk.vector(SKILLS, "s") == pytest.approx(self.expected(desk, (0, 1.0)), abs=1e-6)

    def test_it_follows_a_member_whose_text_changes(self, desk: Desk) -> None:
        self.members(desk, 0.5)
        before = desk.vector(SKILLS, "s")
        desk.put(tool("word0 tool0", "Draws a unicorn."))
        after = desk.vector(SKILLS, "s")
        assert after == pytest.approx(desk.vector(TOOLS, "word0 tool0"), abs=1e-6)
        assert after != pytest.approx(before, abs=1e-3)

    def test_it_follows_members_that_are_deleted_down_to_the_description_s(self, desk: Desk) -> None:
        items = self.members(desk, 0.5, 0.9)
        desk.catalogue.delete(items[0], LAPTOP)
        last = desk.vector(TOOLS, "word1 tool7")
        assert desk.vector(SKILLS, "s") == pytest.approx(last, abs=1e-6)
        desk.catalogue.delete(items[1], LAPTOP)
        assert desk.vector(SKILLS, "s") == desk.vector(SKILLS, "s", of_description=True)

    def test_without_tools_it_is_the_description_s(self, desk: Desk) -> None:
        items = self.members(desk, 0.5)
        desk.assign({items[0]: []}, LAPTOP, HUMAN)
        assert desk.vector(SKILLS, "s") == desk.vector(SKILLS, "s", of_description=True)

    def test_tools_without_a_vector_are_skipped(self, desk: Desk) -> None:
        self.members(desk, 1.0, 0.5)
        desk.embedder.away = True
        outcome = desk.put(tool("vectorless")).outcomes[0]
        assert outcome.id is not None
        desk.assign({outcome.id: [Assignment("s", 1.0)]}, LAPTOP, HUMAN)
        assert desk.vector(SKILLS, "s") == pytest.approx(self.expected(desk, (0, 1.0), (1, 0.5)), abs=1e-6)

    def test_inactive_tools_and_those_of_no_confidence_do_not_count(self, desk: Desk) -> None:
        items = self.members(desk, 1.0, 0.5, 0.0)
        desk.sql(f"UPDATE mcp.tools SET is_active = false WHERE id = {items[1]}")
        assert desk.aggregate("s")
        assert desk.vector(SKILLS, "s") == pytest.approx(self.expected(desk, (0, 1.0)), abs=1e-6)

    def test_tools_that_cancel_out_leave_the_description_s(self, desk: Desk) -> None:
        items = self.members(desk, 0.5, 0.5)
        one = [0.0] * 8
        for item, sign in zip(items, (1.0, -1.0), strict=True):
            one[0] = sign
            data = np.array(one, dtype="<f4").tobytes().hex()
            desk.sql(
                f"UPDATE mcp.document_vectors SET embedding = '\\x{data}' "
                f"WHERE collection = 'mcp_unified_search' AND key = '{item}'"
            )
        desk.aggregate("s")
        assert desk.vector(SKILLS, "s") == desk.vector(SKILLS, "s", of_description=True)

    def test_it_tells_whether_anything_changed(self, desk: Desk) -> None:
        items = self.members(desk, 1.0, 0.5)
        assert not desk.aggregate("s")
        desk.sql(f"UPDATE mcp.tools SET is_active = false WHERE id = {items[0]}")
        assert desk.aggregate("s")
        assert not desk.aggregate("s")

    def test_a_skill_that_is_gone_is_no_error(self, desk: Desk) -> None:
        assert not desk.aggregate("ghost")
        self.members(desk, 1.0)
        desk.sql("UPDATE mcp.skill_categories SET is_active = false, deleted_at = now()")
        assert not desk.aggregate("s")

    def test_two_thousand_tools_take_the_memory_of_a_page(self, desk: Desk) -> None:
        self.members(desk, 1.0)
        vector = [0.0] * 383 + [1.0]
        desk.sql("UPDATE mcp.index_state SET embedding_dimension = 384")
        tools = desk.sql(
            "INSERT INTO mcp.tools (name, type, content_hash) "
            "SELECT 't' || n, 'tool', 'c' FROM generate_series(1, 2000) n RETURNING id"
        )
        put_documents(desk.sql, TOOLS, [row[0] for row in tools])
        put_vectors(desk.sql, EmbeddingModel("first", 384), vector)
        desk.sql(
            "INSERT INTO mcp.tool_skill_assignments (tool_id, skill_key, confidence) "
            "SELECT id, 's', 0.5 FROM mcp.tools WHERE content_hash = 'c'"
        )
        desk.aggregate("s")
        tracemalloc.start()
        try:
            desk.aggregate("s")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        # All 2,000 as lists of floats are 24 MB.
        assert peak < 10e6
        assert desk.vector(SKILLS, "s") == vector

    def test_of_two_aggregations_the_later_one_has_seen_more(self, desk: Desk) -> None:
        items = self.members(desk, 1.0, 0.5)
        holder = desk.sql
        holder("BEGIN")
        holder("SELECT FROM mcp.skill_categories WHERE id = 's' FOR UPDATE")
        thread = threading.Thread(target=desk.aggregate, args=("s",))
        thread.start()
        holder(f"UPDATE mcp.tools SET is_active = false WHERE id = {items[1]}")
        holder("COMMIT")
        thread.join()
        assert desk.vector(SKILLS, "s") == pytest.approx(self.expected(desk, (0, 1.0)), abs=1e-6)


class TestTheContractsValidationRules:
    VALID: dict[str, Any] = {"id": "mail_2", "name": "Mail", "description": "0123456789"}  # noqa: RUF012

    def test_another_organisation_does_not_see_it(self, desk: Desk) -> None:
        desk.skill("mail", ACME)
        seen = desk.database.read(lambda s: SkillRepository(s).get("mail", UMBRELLA.org_id, rights=EVERYTHING))
        assert seen is None

    @pytest.mark.parametrize("bad", ["", "Mail", "1mail", "_mail", "ma-il", "ma il", "mail\n", "ä", "x" * 65])
    def test_an_id_that_is_not_lower_case_letters_digits_and_underscores_is_refused(self, bad: str) -> None:
        with pytest.raises(ValidationError):
            NewSkill(**{**self.VALID, "id": bad})
