"""What an answer has on the way, and texts that are cut to what has room."""

from __future__ import annotations

import doctest
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core import answer_size
from skillroute.core.answer_size import MAX_ANSWER_BYTES, PAGE_BYTES, on_the_way, shortened, size_of

texts = st.text('ab"\\\x01é\u5929😀\n', max_size=40)


def test_the_examples_in_its_docstrings_are_true() -> None:
    results = doctest.testmod(answer_size)
    assert results.attempted > 0
    assert results.failed == 0


@given(st.recursive(texts | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=9))
def test_lambda_sends_an_answer_as_a_string_within_json(value: object) -> None:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    sent = json.dumps(body, ensure_ascii=False).encode()
    assert size_of(value) == on_the_way(body.encode()) == len(sent) - 2


@given(st.lists(texts, max_size=8), st.integers(100, 400))
def test_texts_have_room_together_and_those_that_are_short_stay(given_: list[str], room: int) -> None:
    shown = shortened(given_, room)
    assert sum(map(size_of, shown)) <= room
    assert len(shown) == len(given_)
    for text, other in zip(shown, given_, strict=True):
        assert text == other or (text.endswith("…") and other.startswith(text[:-1]))
    if sum(map(size_of, given_)) <= room:
        assert shown == given_
    elif given_:
        assert min(given_, key=size_of) in shown or all(text.endswith("…") for text in shown)


@pytest.mark.parametrize("text", ["\x01", '"', "\\", "x", "天", "😀"])
def test_a_cut_text_has_its_share_and_hardly_less(text: str) -> None:
    [shown] = shortened([text * 10_000], 1_000)
    assert 980 <= size_of(shown) <= 1_000


def test_a_page_leaves_room_for_what_is_beside_it() -> None:
    assert PAGE_BYTES + 1_000_000 < MAX_ANSWER_BYTES
