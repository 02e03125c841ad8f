"""Hybrid search counts a message with the best of its thread, of what the search may find alone (docs/adr/0057)."""

from __future__ import annotations

import pytest
from skillroute.core.caller import LAPTOP

from tests.builders import System
from tests.doubles import at

SHARE = 1.4
"""Of what a cosine and no words make: `fuse.by_coverage`."""


def test_a_thread_lifts_its_own_in_the_hybrid_mode_alone(system: System) -> None:
    best = system.store_message("one", "", at(0.8), thread_id="T")
    mate = system.store_message("two", "", at(0.4), thread_id="T")
    lone = system.store_message("three", "", at(0.5))
    namesake = system.store_message("four", "", at(0.3), project="borealis", thread_id="T")

    found = system.mail_scores("question", mode="hybrid")

    expected = {best: 0.8 / SHARE, mate: 0.6 / SHARE, lone: 0.5 / SHARE, namesake: 0.3 / SHARE}
    assert found == pytest.approx(expected, abs=1e-6)
    assert list(found) == [best, mate, lone, namesake]
    assert list(system.mail_scores("question", mode="semantic")) == [best, lone, mate, namesake]
    assert list(system.mail_scores("question", mode="hybrid", fusion="rrf")) == [best, lone, mate, namesake]
    explained = system.mail_results("question", mode="hybrid", explain=True)[mate]
    assert (explained.score, explained.raw_score) == pytest.approx((0.6 / SHARE, 0.4 / SHARE), abs=1e-6)


@pytest.mark.parametrize("left_out", ["filter", "scope"])
def test_what_a_search_leaves_out_lifts_nothing(system: System, left_out: str) -> None:
    """A score must not tell of a message that the caller does not see."""
    seen = system.store_message("two", "", at(0.4), thread_id="T", importance="high")
    alone = system.mail_scores("question", mode="hybrid")
    if left_out == "filter":
        system.store_message("one", "", at(0.9), thread_id="T", importance="low")
        request = {"importance": ["high"]}
    else:
        system.store_message("one", "", at(0.9), project="borealis", thread_id="T")
        request = {"scope": {"project_set": {"allowed_project_ids": [system.store_project("atlas")]}}}

    assert system.mail_scores("question", mode="hybrid", **request) == alone == {seen: pytest.approx(0.4 / SHARE)}


def test_another_organisations_thread_of_the_same_name_lifts_nothing(system: System) -> None:
    seen = system.store_message("two", "", at(0.4), thread_id="T")
    system.store_message("one", "", at(0.9), org="acme", thread_id="T")

    found = system.mail_scores("question", caller=LAPTOP, mode="hybrid")

    assert found == {seen: pytest.approx(0.4 / SHARE)}


def test_pages_go_on_through_lifted_threads(system: System) -> None:
    for number in range(9):
        system.store_message("note", "", at(0.9 - 0.1 * number), thread_id=f"T{number % 3}")
    whole = system.found_mail("question", mode="hybrid", limit=9)

    pages = system.mail_pages("question", mode="hybrid", limit=2)

    assert [id_ for page in pages for id_ in page] == whole
    assert len(whole) == 9
