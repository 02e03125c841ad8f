"""Scores to the figure (message-search, section 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.mail.search import scores as fuse
from skillroute.mail.search.cursor import Cursor
from skillroute.mail.search.scores import Ranked, Scale


def figures(ranked: Ranked) -> list[tuple[int, float]]:
    return [(match.id, match.score) for match in ranked.matches]


class TestMinMax:
    def test_the_best_of_the_pool_scores_1_and_its_last_0(self) -> None:
        scale = Scale.over([12.5, 7.5, 2.5])

        assert [scale(12.5), scale(7.5), scale(2.5)] == [1.0, 0.5, 0.0]

    @pytest.mark.parametrize("pool", [[3.0], [3.0, 3.0, 3.0]])
    def test_one_alone_and_all_alike_score_1(self, pool: list[float]) -> None:
        assert Scale.over(pool)(3.0) == 1.0

    def test_what_lies_outside_the_pool_is_clamped(self) -> None:
        scale = Scale.over([2.0, 1.0])

        assert (scale(5.0), scale(0.5)) == (1.0, 0.0)
        assert Scale.over([2.0])(1.0) == 0.0

    def test_scores_have_nine_decimals(self) -> None:
        assert Scale.over([0.0, 1.0, 3.0])(1.0) == 0.333333333


class TestCosine:
    def test_negatives_are_clamped_and_tie_by_id(self) -> None:
        ranked = fuse.semantic([(4, 0.5), (3, -0.1), (2, -0.7)])

        assert figures(ranked) == [(4, 0.5), (2, 0.0), (3, 0.0)]
        assert [match.raw for match in ranked.matches] == [0.5, -0.7, -0.1]

    def test_a_cosine_a_hair_above_1_scores_1(self) -> None:
        assert figures(fuse.semantic([(1, 1.0000001)])) == [(1, 1.0)]


class TestCoverage:
    """What decision 35 asks for: the default is what is measured best (docs/adr/0040)."""

    def test_the_formula(self) -> None:
        """(cosine + 0.4 * coverage) / 1.4, the coverage a share of what the query's words could give."""
        ranked = fuse.by_coverage([(1, 20.0), (2, 10.0)], [(3, 0.7), (1, 0.5)], 40.0, pool=1000)

        expected = {1: (0.5 + 0.4 * 0.5) / 1.4, 3: 0.7 / 1.4, 2: 0.25}
        assert dict(figures(ranked)) == {id_: round(value, 9) for id_, value in expected.items()}
        assert [id_ for id_, _ in figures(ranked)] == [1, 3, 2], "of equal scores the lower id"
        assert [match[3:5] for match in ranked.matches] == [(1, 2), (None, 1), (2, None)]

    def test_what_is_not_among_so_many_nearest_counts_as_the_last_of_them(self) -> None:
        ranked = fuse.by_coverage([(9, 10.0)], [(1, 0.8), (2, 0.6)], 10.0, pool=2)

        assert dict(figures(ranked))[9] == round((0.6 + 0.4) / 1.4, 9)

    def test_what_has_no_vector_is_ranked_by_its_words_alone(self) -> None:
        """Fewer than were asked for are all that have one: a message that waits for its vector is not buried."""
        ranked = fuse.by_coverage([(9, 9.0), (8, 1.0)], [(1, 0.8), (8, 0.1)], 10.0, pool=3)

        assert figures(ranked)[0] == (9, 0.9)
        assert dict(figures(ranked))[8] == round((0.1 + 0.4 * 0.1) / 1.4, 9)

    def test_both_at_their_most_is_1_and_negative_cosines_count_nothing(self) -> None:
        assert figures(fuse.by_coverage([(1, 12.0)], [(1, 1.0000001)], 11.0, pool=10)) == [(1, 1.0)]
        assert figures(fuse.by_coverage([], [(1, -0.5)], 0.0, pool=10)) == [(1, 0.0)]


class TestReciprocalRanks:
    def test_the_formula(self) -> None:
        """1/(60 + 1) + 1/(60 + 1), times 61/2, is 1.0; second in one only: 61/2/62."""
        ranked = fuse.by_ranks([(1, 9.0), (2, 8.0)], [(1, 0.9), (3, 0.8)], 60)

        half = round(61 / 2 / 62, 9)
        assert figures(ranked) == [(1, 1.0), (2, half), (3, half)]
        assert ranked.matches[0].raw == pytest.approx(2 / 61)
        assert [match[3:5] for match in ranked.matches] == [(1, 1), (2, None), (None, 2)]

    @pytest.mark.parametrize("k", [1, 60, 1000])
    def test_first_in_both_is_1_whatever_k(self, k: int) -> None:
        assert figures(fuse.by_ranks([(5, 1.0)], [(5, 0.1)], k)) == [(5, 1.0)]

    def test_ranks_count_from_1_and_figures_do_not(self) -> None:
        ranked = fuse.by_ranks([(1, 100.0), (2, 99.0), (3, 1.0)], [], 1)

        assert figures(ranked) == [(1, 0.5), (2, round(1 / 3, 9)), (3, 0.25)]

    @given(st.permutations(range(12)), st.permutations(range(12)), st.integers(1, 1000))
    def test_scores_are_within_0_and_1_and_the_order_is_total(self, one: list[int], two: list[int], k: int) -> None:
        ranked = fuse.by_ranks([(id_, 0.0) for id_ in one[:8]], [(id_, 0.0) for id_ in two[:8]], k)

        places = [match[:2] for match in ranked.matches]
        assert all(0.0 < match.score <= 1.0 for match in ranked.matches)
        assert places == sorted(set(places))
        assert {match.id for match in ranked.matches} == {*one[:8], *two[:8]}


class TestRerank:
    FUSED = fuse.by_ranks([(id_, 0.0) for id_ in (1, 2, 3, 4)], [(id_, 0.0) for id_ in (1, 2, 3, 4)], 60)

    def test_the_head_is_ordered_by_the_sigmoid_of_its_logits(self) -> None:
        ranked = fuse.reranked(self.FUSED, [-1.0, 0.0, 2.0, 1.0])

        assert figures(ranked) == [
            (id_, round(1 / (1 + math.exp(-logit)), 9)) for id_, logit in [(3, 2.0), (4, 1.0), (2, 0.0), (1, -1.0)]
        ]
        assert [match.raw for match in ranked.matches] == [2.0, 1.0, 0.0, -1.0]
        assert all(match.is_reranked for match in ranked.matches)

    def test_the_tail_keeps_its_order_below_the_head(self) -> None:
        ranked = fuse.reranked(self.FUSED, [-1.0, 0.0])

        assert [match.id for match in ranked.matches] == [2, 1, 3, 4]
        floor = ranked.matches[1].score
        assert [match.score for match in ranked.matches[2:]] == [
            round(match.score * floor, 9) for match in self.FUSED.matches[2:]
        ]
        assert floor > ranked.matches[2].score > ranked.matches[3].score
        assert [match.is_reranked for match in ranked.matches] == [True, True, False, False]

    @given(st.lists(st.floats(-800, 800), max_size=4))
    def test_any_logits_give_scores_in_order_within_0_and_1(self, logits: list[float]) -> None:
        scores = [match.score for match in fuse.reranked(self.FUSED, logits).matches]

        assert all(0.0 <= score <= 1.0 for score in scores)
        assert scores == sorted(scores, reverse=True)
        assert len(scores) == 4


def alike(ids: Sequence[int]) -> Ranked:
    """Return the ranking of two lists that agree."""
    return fuse.by_ranks([(id_, 0.0) for id_ in ids], [(id_, 0.0) for id_ in ids], 60)


def cut(ranked: Ranked, limit: int, token: str | None) -> tuple[list[int], str]:
    """Return the ids of a page, and the cursor to the next."""
    found = ranked.after(Cursor.parse(token), limit)[:limit]
    return [match.id for match in found], Cursor(ranked.raw_score(found[-1]), found[-1].id, "hybrid").token()


class TestTheCursorsOwnIsGone:
    def test_who_moves_up_into_its_rank_is_not_passed_over(self) -> None:
        """3 has the fused score of 4 then, and a smaller id."""
        first, token = cut(alike([5, 4, 3, 2, 1]), 2, None)

        assert first == [5, 4]
        assert cut(alike([5, 3, 2, 1]), 2, token)[0] == [3, 2]

    @pytest.mark.parametrize("ids", [range(1, 301), range(300, 0, -1)], ids=["up", "down"])
    @pytest.mark.parametrize("gone", [False, True])
    def test_the_tail_goes_on_where_the_head_leaves_no_room_below_itself(self, ids: range, gone: bool) -> None:
        """The tail's scores are all 0 then, and its order is the fused one."""
        first, token = cut(fuse.reranked(alike(ids), [-25.0] * 100), 150, None)
        left = [id_ for id_ in ids if not gone or id_ != first[-1]]

        ranked = fuse.reranked(alike(left), [-25.0] * 100)
        second = cut(ranked, 150, token)[0]

        assert ranked.matches[-1].score == 0.0
        assert second == [*ids[150:]]

    def test_the_tail_goes_on_where_no_reranker_answers_any_more(self) -> None:
        ids = range(40, 0, -1)
        first, token = cut(fuse.reranked(alike(ids), [-25.0] * 10), 20, None)

        assert cut(alike([id_ for id_ in ids if id_ != first[-1]]), 5, token)[0] == [20, 19, 18, 17, 16]

    @pytest.mark.parametrize("head", [0, 2], ids=["hybrid", "reranked"])
    def test_scores_that_do_not_move_go_by_id_as_well(self, head: int) -> None:
        """Of six alike by coverage none comes twice and none is passed over."""

        def ranked(ids: Sequence[int]) -> Ranked:
            both = [(id_, 0.5) for id_ in ids]
            fused = fuse.by_coverage(both, both, 1.0, pool=100)
            return fuse.reranked(fused, [9.0] * head) if head else fused

        first, token = cut(ranked(range(1, 7)), 3, None)

        assert first == [1, 2, 3]
        for left in ([1, 2, 4, 5, 6], [1, 2, 3, 4, 5, 6]):
            assert cut(ranked(left), 3, token)[0] == [4, 5, 6]
        # Where the reranker is away by then, too.
        assert cut(fuse.by_coverage([(i, 0.5) for i in (1, 2, 4, 5, 6)], [], 1.0, pool=100), 3, None)[0] == [1, 2, 4]

    def test_in_the_head_those_of_the_same_score_go_by_id(self) -> None:
        """What the reranker says of one does not change when another goes."""
        first, token = cut(fuse.reranked(alike([1, 2, 3, 4, 5]), [2.0, 2.0, 2.0, 2.0]), 2, None)

        assert first == [1, 2]
        assert cut(fuse.reranked(alike([1, 3, 4, 5]), [2.0, 2.0, 2.0, 2.0]), 9, token)[0] == [3, 4, 5]
