"""Moving to another model, interrupted or not; and giving vectors to what was written without one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.embed import BATCH
from skillroute.core.documents.embed_missing import EmbedMissing
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.reindex import ReindexReport
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import EmbeddingModelMismatch, EmbeddingUnavailable
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import Assignment, AssignmentSource

from tests.doubles import FakeClock, WatchedEmbedder
from tests.worlds.desk import ACME, UMBRELLA, Desk, Renamed, tool

TOOLS, SKILLS = TOOL_DOCUMENTS, SKILL_DOCUMENTS
HUMAN = AssignmentSource.HUMAN_MANUAL


def filled(desk: Desk, number: int = 3) -> list[int]:
    """Items of which the first is the only member of a skill."""
    items = desk.ids(*(f"tool{n}" for n in range(number)))
    desk.skill("s")
    desk.assign({items[0]: [Assignment("s", 0.9)]}, LAPTOP, HUMAN)
    return items


def epoch(desk: Desk) -> tuple[object, object]:
    [[epoch, model]] = desk.sql("SELECT epoch, embedding_model FROM mcp.index_state")
    return epoch, model


class TestReindex:
    def test_everything_moves_to_the_new_model_and_every_index_is_told(self, desk: Desk) -> None:
        filled(desk)
        before = epoch(desk)
        desk.use(Renamed("second", 4))
        assert desk.reindex.remaining() == 4
        batches: list[int] = []
        assert desk.reindex(batches.append) == ReindexReport(Counter({TOOLS: 3, SKILLS: 1}))
        assert sorted(batches) == [1, 3]
        after = epoch(desk)
        assert after[1] == "second"
        assert after[0] != before[0]
        assert desk.reindex.remaining() == 0
        # AND a skill is found by its tools again, not by its description
        assert desk.vector(SKILLS, "s") == pytest.approx(desk.vector(TOOLS, "tool0"), abs=1e-6)
        assert desk.vector(SKILLS, "s") != desk.vector(SKILLS, "s", of_description=True)

    def test_on_the_same_model_nothing_is_embedded_and_every_index_is_told_all_the_same(self, desk: Desk) -> None:
        filled(desk)
        before, calls = epoch(desk), len(desk.embedder.calls)
        assert desk.reindex() == ReindexReport(Counter())
        assert epoch(desk)[0] != before[0]
        assert len(desk.embedder.calls) == calls

    def test_interrupted_it_leaves_the_old_model_in_place_and_goes_on_where_it_was(self, desk: Desk) -> None:
        # GIVEN two batches of items, and a model that goes away after the first
        filled(desk, BATCH + 10)
        before = epoch(desk)
        desk.use(Renamed("second", 4))

        def leave(number: int) -> None:
            desk.embedder.away = number == BATCH

        with pytest.raises(EmbeddingUnavailable):
            desk.reindex(leave)
        assert epoch(desk) == before
        assert desk.reindex.remaining() == 10
        # WHEN it runs again
        desk.embedder.away = False
        desk.embedder.calls.clear()
        # THEN only the rest is embedded
        assert desk.reindex() == ReindexReport(Counter({TOOLS: 10}))
        assert epoch(desk)[1] == "second"

    def test_what_is_written_on_the_old_model_meanwhile_is_moved_as_well(self, desk: Desk) -> None:
        filled(desk)
        old = desk.sync
        desk.use(Renamed("second", 4))
        wrote: list[int] = []

        def write(number: int) -> None:
            if number == 3:
                wrote.append(number)
                old([tool("late"), tool("tool0", "Changed meanwhile.")], LAPTOP)

        report = desk.reindex(write)
        assert wrote == [3]
        assert report.embedded[TOOLS] == 5
        assert desk.reindex.remaining() == 0
        assert all(desk.models_of(name) == {"first", "second"} for name in ("late", "tool0", "tool1", "tool2"))

    def test_after_it_who_is_configured_for_the_old_model_writes_vectors_of_it_and_the_new_one_s_wait(
        self, desk: Desk
    ) -> None:
        filled(desk)
        old = desk.sync
        desk.use(Renamed("second", 4))
        desk.reindex()
        assert not old([tool("late")], LAPTOP).embedding_unavailable
        assert desk.models_of("late") == {"first"}
        assert desk.embed_missing() == 1
        assert desk.models_of("late") == {"first", "second"}

    def test_what_is_written_while_it_runs_is_waiting_for_both_models(self, desk: Desk) -> None:
        filled(desk)
        sync = desk.sync
        desk.use(Renamed("second", 4))
        seen: list[list[Any]] = []

        def write(number: int) -> None:
            if number == 3:
                sync([tool("late")], LAPTOP)
                seen.extend(
                    desk.sql(
                        "SELECT v.model, v.embedding IS NULL FROM mcp.document_vectors v JOIN mcp.tools t "
                        "ON v.key = t.id::text WHERE t.name = 'late' AND v.collection = 'mcp_unified_search' ORDER BY 1"
                    )
                )

        desk.reindex(write)
        assert seen == [["first", False], ["second", True]]
        assert desk.models_of("late") == {"first", "second"}

    def test_skills_are_found_by_their_tools_in_the_new_model_before_it_is_searched(self, desk: Desk) -> None:
        filled(desk)
        desk.use(Renamed("second", 4))
        looked: list[list[Any]] = []
        switch = IndexStateRepository.switch

        def look(state: IndexStateRepository, model: EmbeddingModel) -> bool:
            looked.extend(
                desk.sql(
                    "SELECT derived IS NOT NULL FROM mcp.document_vectors "
                    "WHERE collection = 'mcp_skills' AND model = 'second'"
                )
            )
            return switch(state, model)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(IndexStateRepository, "switch", look)
            desk.reindex()
        assert looked == [[True]]

    def test_another_one_that_was_begun_meanwhile_goes_first(self, desk: Desk) -> None:
        filled(desk)
        before = epoch(desk)
        third = Renamed("third", 4).model
        desk.use(Renamed("second", 4))
        with pytest.raises(EmbeddingModelMismatch, match="third"):
            desk.reindex(lambda _: desk.database.transact(lambda s: IndexStateRepository(s).begin(third)))
        assert epoch(desk) == before

    def test_back_to_the_former_model_only_what_was_written_since_is_embedded(self, desk: Desk) -> None:
        filled(desk)
        first = desk.embedder
        desk.use(Renamed("second", 4))
        desk.reindex()
        desk.put(tool("late"))
        desk.use(first)
        assert desk.reindex() == ReindexReport(Counter({TOOLS: 1}))
        assert epoch(desk)[1] == "first"
        assert desk.sql("SELECT previous_model, next_model FROM mcp.index_state") == [["second", None]]


class TestOutOfUse:
    def test_the_former_model_s_vectors_go_a_day_after_the_switch(self, desk: Desk) -> None:
        filled(desk)
        desk.use(Renamed("second", 4))
        desk.reindex()

        def prune() -> set[str]:
            desk.database.transact(lambda s: IndexStateRepository(s).prune_models(older_than_s=86_400))
            return desk.models_of("tool0")

        assert prune() == {"first", "second"}
        desk.sql("UPDATE mcp.index_state SET switched_at = now() - interval '25 hours'")
        # first it is searched no more, then its vectors go, and then nobody looks for any
        assert [prune(), prune(), prune()] == [{"first", "second"}, {"second"}, {"second"}]
        assert desk.sql("SELECT previous_model, has_unused_vectors FROM mcp.index_state") == [[None, False]]

    def test_vectors_of_a_reindex_that_was_given_up_go(self, desk: Desk) -> None:
        filled(desk)
        first = desk.embedder
        desk.use(Renamed("second", 4))
        desk.embedder.away = True
        with pytest.raises(EmbeddingUnavailable):
            desk.reindex()
        desk.use(first)
        desk.put(tool("late"))
        assert desk.sql("SELECT count(*) FROM mcp.document_vectors WHERE model = 'second'") == [[1]]
        desk.reindex()
        desk.database.transact(lambda s: IndexStateRepository(s).prune_models(older_than_s=86_400))
        assert desk.sql("SELECT DISTINCT model FROM mcp.document_vectors") == [["first"]]

    def test_an_empty_database_takes_the_model(self, desk: Desk) -> None:
        assert desk.reindex() == ReindexReport(Counter())
        assert epoch(desk)[1] == "first"

    def test_it_is_announced_once(self, desk: Desk) -> None:
        filled(desk)
        before = desk.commits
        desk.reindex()
        assert desk.commits == before + 1


class TestEmbedMissing:
    def test_it_embeds_what_waits_and_nothing_else(self, desk: Desk) -> None:
        filled(desk)
        desk.embedder.away = True
        desk.put(tool("waiting"), tool("tool1", "New words."))
        desk.skill("waiting")
        desk.embedder.away = False
        desk.embedder.calls.clear()
        assert desk.embed_missing() == 3
        assert not any("tool2" in text for text in desk.embedder.texts)
        assert desk.sql("SELECT count(*) FROM mcp.document_vectors WHERE embedding IS NULL") == [[0]]
        assert desk.vector(SKILLS, "waiting") is not None
        assert desk.embed_missing() == 0

    def test_organisations_and_kinds_take_turns_and_what_there_is_no_time_for_waits(self, desk: Desk) -> None:
        # GIVEN a backlog of one organisation, and a little of another, of two kinds
        filled(desk)
        desk.embedder.away = True
        for first in range(0, 4 * BATCH, BATCH):
            desk.put(*(tool(f"t{n}") for n in range(first, first + BATCH)), caller=ACME)
        desk.put(tool("late"), caller=UMBRELLA)
        desk.skill("late", UMBRELLA)
        desk.embedder.away = False
        # WHEN the time is up after a turn of three batches, and one of the other kind
        clock = FakeClock()
        embedder = WatchedEmbedder(desk.embedder, clock)
        embedder.takes_s = 1.0
        embed_missing = EmbedMissing(desk.database, embedder, clock=clock)
        assert embed_missing(3.5) == 3 * BATCH + 1
        # THEN
        assert desk.vector(TOOLS, "late") is not None
        assert desk.vector(SKILLS, "late") is not None
        # AND the next run embeds the rest
        assert embed_missing() == BATCH + 1
        assert embed_missing() == 0

    def test_the_skills_of_what_it_embeds_are_aggregated_anew(self, desk: Desk) -> None:
        desk.skill("s")
        desk.embedder.away = True
        outcome = desk.put(tool("a")).outcomes[0]
        assert outcome.id is not None
        desk.assign({outcome.id: [Assignment("s", 0.9)]}, LAPTOP, HUMAN)
        desk.embedder.away = False
        desk.embed_missing()
        assert desk.vector(SKILLS, "s") == pytest.approx(desk.vector(TOOLS, "a"), abs=1e-6)

    def test_with_nothing_to_do_it_does_not_ask_the_model(self, desk: Desk) -> None:
        desk.embedder.away = True
        assert desk.embed_missing() == 0
        assert desk.embedder.calls == []
        assert desk.commits == 0

    def test_while_the_model_is_away_it_says_so_and_keeps_what_is_done(self, desk: Desk) -> None:
        desk.embedder.away = True
        desk.put(tool("a"))
        with pytest.raises(EmbeddingUnavailable):
            desk.embed_missing()
        assert desk.vector(TOOLS, "a") is None

    def test_a_batch_that_is_out_of_time_counts_as_a_model_that_is_away(self, desk: Desk) -> None:
        desk.embedder.away = True
        desk.put(tool("a"))
        desk.embedder.away = False
        with pytest.raises(EmbeddingUnavailable, match="did not answer within 0 s"):
            EmbedMissing(desk.database, desk.embedder, timeout_s=0.0)()
        assert desk.vector(TOOLS, "a") is None

    def test_another_model_than_the_stored_one_is_refused(self, desk: Desk) -> None:
        filled(desk)
        desk.embedder.away = True
        desk.put(tool("a"))
        desk.use(Renamed("second"))
        with pytest.raises(EmbeddingModelMismatch):
            desk.embed_missing()
        assert desk.vector(TOOLS, "a") is None

    def test_a_reindex_that_switches_meanwhile_keeps_its_vectors(self, desk: Desk) -> None:
        # GIVEN an item that waits, and a process on the old model that is embedding it
        filled(desk)
        desk.embedder.away = True
        desk.put(tool("a"))
        desk.embedder.away = False
        old, late = desk.embedder, desk.embed_missing
        real = old.embed
        desk.use(Renamed("second", 4))

        def embed(texts: list[str], *, timeout_s: float) -> list[list[float]]:
            desk.reindex()
            return real(texts, timeout_s=timeout_s)

        old.embed = embed  # type: ignore[method-assign, assignment]
        # WHEN a reindex is through before its vector is there
        late()
        # THEN both stay, each with its model
        assert desk.models_of("a") == {"first", "second"}
