"""Messages count with the best of their thread (docs/adr/0057)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillroute.mail.search import scores as fuse
from skillroute.mail.search import threads
from skillroute.mail.search.model import MailFilter
from skillroute.mail.search.scores import Ranked


def ranked(*scores: float) -> Ranked:
    """Return messages 1, 2, 3 … with these cosines, which are all that is known of them."""
    nearest = [(id_, score * 1.4) for id_, score in enumerate(scores, 1)]
    return fuse.by_coverage([], nearest, 1.0, pool=len(nearest) + 1)


def lifted(before: Ranked, of: Mapping[int, str]) -> list[tuple[int, float]]:
    return [(match.id, match.score) for match in threads.lifted(before, lambda ids: of).matches]


def test_a_message_scores_the_mean_of_its_own_and_its_threads_highest() -> None:
    before = ranked(0.6, 0.5, 0.4, 0.2)

    assert lifted(before, {1: "t", 3: "t", 4: "t"}) == [(1, 0.6), (2, 0.5), (3, 0.5), (4, 0.4)]
    assert lifted(before, {1: "t", 2: "t", 3: "other"}) == [(1, 0.6), (2, 0.55), (3, 0.4), (4, 0.2)]


def test_the_engines_own_score_is_still_there_to_be_explained() -> None:
    after = threads.lifted(ranked(0.6, 0.2), lambda ids: {1: "t", 2: "t"}).matches

    assert [(match.score, round(match.raw, 9)) for match in after] == [(0.6, 0.6), (0.4, 0.2)]


def test_only_the_first_hundred_are_looked_at() -> None:
    before = ranked(*(0.6 - 0.001 * number for number in range(threads.HEAD + 1)))
    asked: list[int] = []

    def threads_of(ids: Sequence[int]) -> dict[int, str]:
        asked.extend(ids)
        return dict.fromkeys([1, threads.HEAD, threads.HEAD + 1], "t")

    after = {match.id: match.score for match in threads.lifted(before, threads_of).matches}

    assert asked == list(range(1, threads.HEAD + 1))
    assert after[threads.HEAD] == 0.5505, "half of 0.6 and of 0.501"
    assert after[threads.HEAD + 1] == 0.5


def test_without_threads_scores_do_not_move_so_ties_go_on_by_id() -> None:
    before = ranked(0.6, 0.5)

    assert threads.lifted(before, lambda ids: {}) is before
    assert not before.moves
    assert threads.lifted(before, lambda ids: {1: "t"}).moves


def test_only_messages_of_several_threads_are_looked_up() -> None:
    assert threads.may_differ_by_thread(MailFilter("message", None))
    assert not threads.may_differ_by_thread(MailFilter("message", None, thread_id="t"))
    assert not threads.may_differ_by_thread(MailFilter("agent", None))
