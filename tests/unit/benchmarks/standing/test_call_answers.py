"""Plans of calls are as mixed as they say, and what came is counted for each kind of server."""

from __future__ import annotations

from collections import Counter

from benchmarks.standing.call_answers import Answer, planned, summed
from benchmarks.standing.call_servers import BAD, GOOD, PATHS

MINE, FOREIGN = f"nonce-{1:032x}", f"nonce-{2:032x}"


def answer(kind: str = "good", text: str = MINE, *, is_error: bool = False, took_s: float = 0.5) -> Answer:
    return Answer(kind, MINE, took_s, is_error, text)


def test_a_plan_has_a_fifth_of_each_kind_and_a_nonce_for_each_call() -> None:
    plan = planned(100, seed=7)
    assert Counter(kind for kind, _ in plan) == {"good": 10, "handshake": 10, **dict.fromkeys(BAD, 20)}
    assert len({nonce for _, nonce in plan}) == 100
    assert plan == planned(100, seed=7)
    assert plan != planned(100, seed=8)
    assert set(PATHS) == {*GOOD, *BAD}


def test_an_answer_is_right_if_a_good_server_answered_and_a_bad_one_did_not() -> None:
    assert answer().is_right
    assert not answer(text="").is_right
    assert not answer(is_error=True).is_right
    assert answer("dying", "broke off", is_error=True).is_right
    assert not answer("dying").is_right


def test_what_belongs_to_another_call_is_counted() -> None:
    assert answer().strangers == 0
    assert answer(text=f"{MINE} {FOREIGN} {FOREIGN}").strangers == 1


def test_each_kind_has_a_row_and_all_have_one() -> None:
    answers = [answer(), answer("hanging", "late", is_error=True, took_s=2.25), answer(text=FOREIGN)]
    rows = summed(answers, 2.0, lambda ms: {"p50": ms[0]})
    assert [(row["server"], row["calls"], row["right"], row["strangers"]) for row in rows] == [
        ("good", 2, 1, 1),
        ("hanging", 1, 1, 0),
        ("all", 3, 2, 1),
    ]
    assert [row["over the limit, ms"] for row in rows] == [0.0, 250.0, 250.0]
