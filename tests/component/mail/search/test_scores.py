"""Scores, order and pages on the real engines (message-search, sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skillroute.mail.search import model as message_search
from skillroute.mail.search import recency
from skillroute.mail.search.cursor import Cursor
from skillroute.mail.search.search import MessageSearch

from tests.builders import System
from tests.doubles import LogRecords, at

ENGINES = ("postgres", "bm25", "semantic", "hybrid")


def on(system: System, engine: str) -> dict[str, str]:
    """Make a system's searches run on an engine; return what a query must say for it."""
    parts = system.parts
    system.message_search = MessageSearch(
        parts.replica, parts.query_embedder, parts.database, setting="postgres" if engine == "postgres" else None
    )
    return {"mode": engine if engine in ("semantic", "hybrid") else "lexical"}


@pytest.fixture
def small_pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(message_search, "POOL", 6)
    yield 6


@pytest.mark.parametrize("engine", ["postgres", "bm25"])
class TestLexical:
    def test_min_max_over_the_pool(self, system: System, engine: str) -> None:
        """A subject counts more than a body, and both more than a body that is long."""
        mode = on(system, engine)
        ids = [
            system.store_message("water", "for the garden"),
            system.store_message("garden", "water for it"),
            system.store_message("garden", "water for it, and so on and on and on and on and on and on, for ever"),
        ]
        results = system.mail_results("water", explain=True, **mode)

        raw = {id_: result.raw_score for id_, result in results.items()}
        least, most = min(raw.values()), max(raw.values())  # type: ignore[type-var]
        assert list(results) == ids
        assert [results[id_].score for id_ in ids] == [
            pytest.approx((raw[id_] - least) / (most - least), abs=1e-9)  # type: ignore[operator]
            for id_ in ids
        ]
        assert (results[ids[0]].score, results[ids[2]].score) == (1.0, 0.0)
        assert 0.0 < results[ids[1]].score < 1.0

    def test_one_alone_scores_1(self, system: System, engine: str) -> None:
        mode = on(system, engine)
        id_ = system.store_message("water")
        system.store_message("fire")

        assert system.mail_scores("water", **mode) == {id_: 1.0}

    def test_equals_score_1_and_come_by_id(self, system: System, engine: str) -> None:
        mode = on(system, engine)
        ids = [system.store_message("water", "garden") for _ in range(4)]

        assert system.mail_scores("water", **mode) == dict.fromkeys(ids, 1.0)
        assert system.found_mail("water", **mode) == ids

    def test_neither_limit_nor_cursor_changes_a_score(self, system: System, engine: str, small_pool: int) -> None:
        mode = on(system, engine)
        for number in range(9):
            system.store_message("water " * (number % 4 + 1), "garden " * number)
        scores = system.mail_scores("water", **mode)
        assert len(scores) == 9

        for limit in (1, 2, 5):
            cursor, seen = None, {}
            while True:
                answer = system.search_mail("water", limit=limit, cursor=cursor, **mode)
                seen |= {result.id: result.score for result in answer.results}
                cursor = answer.next_cursor
                if cursor is None:
                    break
            assert seen == scores
            assert list(seen) == list(scores)

    def test_more_matches_than_the_pool_holds_are_all_found(self, system: System, engine: str, small_pool: int) -> None:
        mode = on(system, engine)
        ids = [system.store_message("water " * (1 + number % 5), "garden " * (number % 3)) for number in range(20)]

        for limit in (1, 3, 7, 50):
            found = [id_ for page in system.mail_pages("water", limit=limit, **mode) for id_ in page]
            assert sorted(found) == ids
            assert found == system.found_mail("water", **mode)


class TestEveryEngine:
    @pytest.mark.parametrize("engine", ENGINES)
    def test_ten_matches_at_limit_3(self, system: System, engine: str) -> None:
        mode = on(system, engine)
        for number in range(10):
            system.store_message("water " * (number + 1), "", at(0.05 * (number + 1)))

        assert [len(page) for page in system.mail_pages("water", limit=3, **mode)] == [3, 3, 3, 1]
        assert [id_ for page in system.mail_pages("water", limit=3, **mode) for id_ in page] == system.found_mail(
            "water", **mode
        )

    @pytest.mark.parametrize("engine", ENGINES)
    def test_recency_is_newest_first_then_by_id_and_keeps_the_scores(self, system: System, engine: str) -> None:
        mode = on(system, engine)
        ids = [
            system.store_message("water " * (1 + number % 3), "", at(0.1 * (number + 1)), created_ts=1000 + number // 2)
            for number in range(8)
        ]
        newest = [ids[at_] for at_ in (6, 7, 4, 5, 2, 3, 0, 1)]

        assert system.found_mail("water", ranking="recency", **mode) == newest
        assert system.mail_pages("water", ranking="recency", limit=3, **mode) == [newest[:3], newest[3:6], newest[6:]]
        assert system.mail_scores("water", ranking="recency", **mode) == system.mail_scores("water", **mode)
        cursor = Cursor.parse(system.search_mail("water", ranking="recency", limit=3, **mode).next_cursor)
        assert cursor is not None
        assert cursor.score == -1002.0

    @pytest.mark.parametrize("engine", ["postgres", "bm25"])
    def test_recency_knows_more_matches_than_the_pool_holds(self, system: System, engine: str, small_pool: int) -> None:
        mode = on(system, engine)
        ids = [system.store_message("water", "garden " * number, created_ts=number) for number in range(12)]

        pages = system.mail_pages("water", ranking="recency", limit=5, **mode)
        assert [id_ for page in pages for id_ in page] == ids[::-1]

    @pytest.mark.parametrize("engine", ["postgres", "bm25"])
    @pytest.mark.parametrize("windows", [(2, 4, 8, 16, 32), (3, 4), (100,)])
    @pytest.mark.parametrize("more", [{}, {"min_score": 0.3}, {"time_range": {"min_ts": 2, "max_ts": 6}}], ids=str)
    def test_walking_back_in_time_finds_what_a_look_at_everything_finds(
        self, system: System, engine: str, small_pool: int, monkeypatch: pytest.MonkeyPatch,
        windows: tuple[int, ...], more: dict[str, object],
    ) -> None:  # fmt: skip
        """With explain, which tells ranks, everything is looked at."""
        mode = on(system, engine)
        monkeypatch.setattr(recency, "WINDOWS", windows)
        for number in range(30):
            system.store_message("water" if number % 3 else "fire", "garden " * (number % 7), created_ts=number // 4)

        request = {"ranking": "recency", "limit": 4, **mode, **more}
        assert system.mail_pages("water", **request) == system.mail_pages("water", explain=True, **request)
        request["limit"] = 50
        assert system.mail_scores("water", **request) == system.mail_scores("water", explain=True, **request)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_a_minimum_score_is_inclusive_and_comes_before_the_pages(self, system: System, engine: str) -> None:
        mode = on(system, engine)
        for number in range(6):
            system.store_message("water " * (number + 1), "", at(0.15 * (number + 1)))
        scores = system.mail_scores("water", **mode)
        least = sorted(scores.values())[3]
        good = [id_ for id_, score in scores.items() if score >= least]

        assert system.found_mail("water", min_score=least, **mode) == good
        pages = system.mail_pages("water", min_score=least, limit=2, **mode)
        assert [id_ for page in pages for id_ in page] == good
        newest = system.found_mail("water", min_score=least, ranking="recency", **mode)
        assert sorted(newest) == sorted(good)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_the_same_query_on_the_same_data_gives_the_same_answer(self, system: System, engine: str) -> None:
        mode = on(system, engine)
        for number in range(12):
            system.store_message("water " * (1 + number % 3), "", at(0.3 + 0.1 * (number % 3)))

        one, two = (system.search_mail("water", limit=5, **mode).to_json() for _ in range(2))
        assert one == two
        places = [(-score, id_) for id_, score in system.mail_scores("water", **mode).items()]
        assert places == sorted(places)

    @pytest.mark.parametrize("engine", ENGINES)
    def test_negative_cosines_score_0(self, system: System, engine: str) -> None:
        mode = on(system, engine)
        ids = [system.store_message("water", "", at(cosine)) for cosine in (-0.5, -0.1, 0.5)]

        scores = system.mail_scores("water", **mode)
        assert all(0.0 <= score <= 1.0 for score in scores.values())
        if engine == "semantic":
            assert scores == {ids[2]: 0.5, ids[0]: 0.0, ids[1]: 0.0}
            assert [id_ for page in system.mail_pages("water", limit=1, **mode) for id_ in page] == list(scores)


class TestCursors:
    @pytest.mark.parametrize(
        ("engine", "wire"), list(zip(ENGINES, ("fts5", "tantivy", "hybrid", "hybrid"), strict=True))
    )
    def test_a_token_names_its_engine(self, system: System, engine: str, wire: str) -> None:
        mode = on(system, engine)
        system.store_message("water", "", at(0.5))

        token = system.search_mail("water", limit=1, **mode).next_cursor

        assert token is not None
        assert token.endswith(f":e{wire}")

    @pytest.mark.parametrize("engine", ENGINES)
    def test_a_token_without_an_engine_goes_with_every_engine(self, system: System, engine: str) -> None:
        mode = on(system, engine)
        for number in range(5):
            system.store_message("water " * (number + 1), "", at(0.1 * number))
        answer = system.search_mail("water", limit=2, **mode)
        assert answer.next_cursor is not None

        bare = answer.next_cursor.rpartition(":")[0]

        assert system.found_mail("water", cursor=bare, **mode) == system.found_mail(
            "water", cursor=answer.next_cursor, **mode
        )
        assert not system.explain_mail("water", cursor=bare, **mode).cursor_invalidated

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("other", ["fts5", "tantivy", "hybrid"])
    def test_a_token_of_another_engine_gives_page_1(
        self, system: System, engine: str, other: str, log: LogRecords
    ) -> None:
        mode = on(system, engine)
        for number in range(5):
            system.store_message("water " * (number + 1), "", at(0.1 * number))
        answer = system.search_mail("water", limit=2, **mode)
        assert answer.engine is not None
        token = f"{Cursor(0.0, 10**9).token()}:e{other}"

        explain = system.explain_mail("water", limit=2, cursor=token, **mode)

        is_other = answer.engine != other
        assert explain.cursor_invalidated == is_other
        assert (system.found_mail("water", limit=2, cursor=token, **mode) == [r.id for r in answer.results]) == is_other
        events = log.having("search.cursor.invalidated")
        assert [(r.cursor_engine, r.current_engine) for r in events] == [(other, answer.engine)] * 2 * is_other  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        "token",
        ["", "x", "s3ff0000000000000", "s3FF0000000000000:i1", "s7ff0000000000000:i1", "s7ff8000000000000:i1",
         "s3ff0000000000000:i1:eother", "s3ff0000000000000:i1 ", "s3ff0000000000000:i99999999999999999999"],
    )  # fmt: skip
    def test_a_malformed_token_counts_as_none(self, system: System, token: str) -> None:
        for _ in range(3):
            system.store_message("water")

        explain = system.explain_mail("water", cursor=token)

        assert not explain.cursor_invalidated
        assert system.found_mail("water", cursor=token) == system.found_mail("water")

    @pytest.mark.parametrize("engine", ENGINES)
    def test_whoever_is_deleted_between_pages_is_skipped(self, system: System, engine: str) -> None:
        mode = on(system, engine)
        for number in range(6):
            system.store_message("water " * (number + 1), "", at(0.1 * (number + 1)))
        everything = system.found_mail("water", **mode)
        first = system.search_mail("water", limit=2, **mode)

        system.delete_messages(*everything[1:3])  # the cursor's own and the next

        assert system.found_mail("water", cursor=first.next_cursor, **mode) == everything[3:]

    @settings(max_examples=settings.default.max_examples // 4, derandomize=True)
    @pytest.mark.parametrize("engine", ["postgres", "bm25", "semantic"])
    @given(data=st.data())
    def test_each_match_comes_once_under_inserts_and_deletes(
        self, system: System, small_pool: int, engine: str, data: st.DataObject
    ) -> None:
        """What is there from the first page to the last is found once, and nothing twice.

        Semantic search finds the nearest, so what comes must not push out what was: the pool holds all there.
        """
        mode = on(system, engine)
        system.delete_messages(*system.found_mail("", time_range={"min_ts": 0}, limit=1000))
        count = st.integers(0, 3) if engine == "semantic" else st.integers(3, 10)
        words = st.integers(1, 6)
        lasting = {self._put(system, data.draw(words)) for _ in range(data.draw(count))}
        limit, seen, cursor, inserted = data.draw(st.integers(1, 3)), list[int](), None, set[int]()
        while True:
            answer = system.search_mail("water", limit=limit, cursor=cursor, **mode)
            seen += [result.id for result in answer.results]
            cursor = answer.next_cursor
            if cursor is None:
                break
            if lasting and data.draw(st.booleans()):
                gone = data.draw(st.sampled_from(sorted(lasting)))
                system.delete_messages(gone)
                lasting.discard(gone)
            if len(inserted) < 3 and data.draw(st.booleans()):
                inserted.add(self._put(system, data.draw(words)))
        assert len(seen) == len(set(seen))
        assert lasting <= set(seen)

    @settings(max_examples=settings.default.max_examples // 4, derandomize=True)
    @given(data=st.data())
    def test_hybrid_finds_nothing_twice_while_things_only_go(self, system: System, data: st.DataObject) -> None:
        """Fused scores move with every rank, so a page goes on after its cursor's document, wherever that is now.

        What goes keeps the others in their order in each list, but can turn two of them around in the fused one: a
        match can then be missed or come twice. With everything in the same order in both lists none can.
        """
        mode = on(system, "hybrid")
        system.delete_messages(*system.found_mail("", time_range={"min_ts": 0}, limit=1000))
        numbers = data.draw(st.lists(st.integers(1, 30), min_size=3, max_size=9, unique=True))
        lasting = {system.store_message("water " * number, "", at(number / 31)) for number in numbers}
        limit, seen, cursor = data.draw(st.integers(1, 3)), list[int](), None
        while True:
            answer = system.search_mail("water", limit=limit, cursor=cursor, **mode)
            seen += [result.id for result in answer.results]
            cursor = answer.next_cursor
            if cursor is None:
                break
            others = sorted(lasting - {seen[-1]})
            if others and data.draw(st.booleans()):
                gone = data.draw(st.sampled_from(others))
                system.delete_messages(gone)
                lasting.discard(gone)
        assert len(seen) == len(set(seen))
        assert lasting <= set(seen)

    @staticmethod
    def _put(system: System, number: int) -> int:
        return system.store_message("water " * number, "garden " * (number % 3), at(0.1 * number))
