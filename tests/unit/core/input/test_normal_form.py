"""One spelling at a bounded cost: what no language has is cut, everything else is as Unicode says."""

from __future__ import annotations

import doctest
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.input import normal_form
from skillroute.core.input.normal_form import MAX_GROWTH, MAX_MARKS, nfkc
from skillroute.mail.model import agent_key


def test_the_examples_in_its_docstrings_are_true() -> None:
    results = doctest.testmod(normal_form)
    assert results.attempted > 0
    assert results.failed == 0


@given(st.text(max_size=60))
def test_a_text_is_normalised_as_unicode_says(text: str) -> None:
    assert nfkc(text) == unicodedata.normalize("NFKC", text)


@pytest.mark.parametrize("mark", ["\u0301", "\u0316\u0301", "\uff9e", "\u0344", "\u3099"])
def test_of_the_marks_on_one_letter_a_bounded_number_counts(mark: str) -> None:
    # GIVEN more marks than any letter has, WHEN the text is normalised, THEN the first of them are there
    letters = nfkc(f"ka{mark * 5_000}t")
    marks = [character for character in letters if unicodedata.combining(character)]
    assert letters[0] == "k"
    assert letters[-1] == "t"
    assert 1 <= len(marks) <= 2 * MAX_MARKS  # one that is two when it is written out counts once


def test_everything_that_normalises_to_a_mark_is_counted() -> None:
    for code in range(0x110000):
        character = chr(code)
        if 0xD800 <= code <= 0xDFFF or not unicodedata.combining(unicodedata.normalize("NFKD", character)[0]):
            continue
        run = nfkc("a" + character * 100)
        assert sum(map(bool, map(unicodedata.combining, run))) <= 4 * MAX_MARKS, hex(code)


def test_signs_in_a_row_that_are_no_marks_stay() -> None:
    for text in ("—" * 100, "。、！？" * 20, "→" * 40 + "é", "👍" * 50):
        assert nfkc(text) == unicodedata.normalize("NFKC", text)


def test_a_long_text_of_characters_that_are_written_out_grows_by_a_bounded_factor() -> None:
    assert len(nfkc("\ufdfa" * 10_000)) <= MAX_GROWTH * 10_000 + 18 * 256
    # AND a name of the largest size is written out whole, whatever it is made of
    assert nfkc("\ufdfa" * 256) == unicodedata.normalize("NFKC", "\ufdfa" * 256)


def test_names_with_endless_marks_are_compared_by_the_first_of_them() -> None:
    assert re.fullmatch(r"á.{0,30}", agent_key("A\u0301" + "\u0316" * 200), re.DOTALL)
