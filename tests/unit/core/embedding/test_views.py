"""Texts that a model refuses for good, found among those that it takes."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.documents.embed import BATCH
from skillroute.core.embedding.model import weighted_mean
from skillroute.core.embedding.port import EMBEDDING_MODEL
from skillroute.core.embedding.views import (
    CONTEXT_MARK,
    CONTEXT_WEIGHT,
    HARMLESS,
    MAX_REASON_LENGTH,
    REQUESTS_WEIGHT,
    VIEW_WEIGHTS,
    Refusal,
    embed_or_refuse,
    embed_views,
)
from skillroute.core.errors.model import EmbeddingUnavailable, TextRefused
from skillroute.core.time.deadline import Deadline

from tests.doubles import FakeClock, TableEmbedder, WatchedEmbedder, at


def refusing(*bad: str, clock: FakeClock | None = None) -> WatchedEmbedder:
    """Return a model that refuses these texts, and gives the text ``good`` a vector of its own."""
    embedder = WatchedEmbedder(TableEmbedder({"good": at(0.5)}), clock)
    embedder.refuses = lambda text: text in bad
    return embedder


def left_s() -> float:
    return 60.0


@given(st.lists(st.booleans(), max_size=70))
def test_whichever_are_refused_all_others_get_their_vectors_in_order(taken: list[bool]) -> None:
    embedder = refusing("bad")
    made, failure = embed_or_refuse(embedder, [("good" if each else "bad",) for each in taken], left_s)
    assert failure is None
    assert [each == at(0.5) for each in made] == taken
    assert [isinstance(each, Refusal) for each in made] == [not each for each in taken]


@pytest.mark.parametrize("place", [0, 17, BATCH - 1])
def test_one_bad_text_costs_two_calls_a_halving_and_one_for_a_harmless_text(place: int) -> None:
    views = [(f"text {number}",) for number in range(BATCH)]
    embedder = refusing(f"text {place}")
    embed_or_refuse(embedder, views, left_s)
    assert len(embedder.calls) == 1 + 2 * log2(BATCH) + 1
    assert [call.texts for call in embedder.calls].count([HARMLESS]) == 1


def test_without_a_refusal_nothing_more_is_asked() -> None:
    embedder = refusing()
    assert embed_or_refuse(embedder, [], left_s) == ([], None)
    embed_or_refuse(embedder, [("a", "b"), ("b", "c")], left_s)
    assert [call.texts for call in embedder.calls] == [["a", "b", "c"]]


def test_of_several_texts_of_one_thing_one_is_enough_and_others_that_share_it_are_refused_too() -> None:
    made, _ = embed_or_refuse(refusing("bad"), [("good", "bad"), ("good",), ("bad", "good")], left_s)
    assert [isinstance(each, Refusal) for each in made] == [True, False, True]


def test_a_reason_is_of_that_text_alone_and_short() -> None:
    """What one organisation wrote stands in no reason that is kept of another's."""
    secret, mine = "theirs " * 200, "mine " * 200
    made, _ = embed_or_refuse(refusing(secret, mine), [(secret,), ("good",), (mine,)], left_s)
    reasons = [each.reason for each in made if isinstance(each, Refusal)]
    assert ["theirs" in reason for reason in reasons] == [True, False]
    assert ["mine" in reason for reason in reasons] == [False, True]
    assert {len(reason) for reason in reasons} == {MAX_REASON_LENGTH}


def test_a_reason_can_be_stored_whatever_a_server_says() -> None:
    assert Refusal.of(TextRefused("no\0\ud800!")).reason == "no?!"


def test_a_model_that_refuses_a_harmless_text_as_well_is_away() -> None:
    """A wrong model name is a 400, too: nothing must be given up for it."""
    embedder = refusing()
    embedder.refuses = lambda text: True
    made, failure = embed_or_refuse(embedder, [(f"text {number}",) for number in range(BATCH)], left_s)
    assert made == []
    assert isinstance(failure, EmbeddingUnavailable)
    assert not isinstance(failure, TextRefused)
    assert "refuses every text" in str(failure)
    assert len(embedder.calls) == log2(BATCH) + 2


def test_a_model_that_goes_away_between_a_refusal_and_a_harmless_text_gives_nothing_up() -> None:
    embedder = refusing()

    def goes(text: str) -> bool:
        embedder.away = text == "bad"
        return text == "bad"

    embedder.refuses = goes
    made, failure = embed_or_refuse(embedder, [("bad",), ("good",)], left_s)
    assert (made, str(failure)) == ([], "the embedding model is away")


def test_what_was_decided_before_the_time_was_up_is_kept() -> None:
    """So the relay's next run does not begin with the same bad text, and no other row waits for ever."""
    clock = FakeClock()
    embedder = refusing("bad", clock=clock)
    embedder.takes_s = 1.0
    deadline = Deadline(5.5, clock, callee=EMBEDDING_MODEL)
    made, failure = embed_or_refuse(embedder, [("bad",), ("good",), ("a",), ("b",)], deadline.left_s)
    assert [isinstance(each, Refusal) for each in made] == [True, False]
    assert "no embedding within 0.5 s" in str(failure)


TEXTS = {"whole": at(1.0), "subject": at(0.8), "gist": at(0.6), "ask": at(0.1), "beg": at(-0.2)}


def test_requests_count_together_what_their_weight_says_however_many_there_are() -> None:
    views = ("whole", "subject", "gist")
    plain, one, two = embed_views(TableEmbedder(TEXTS), [views, (*views, "ask"), (*views, "ask", "beg")], timeout_s=1.0)
    assert plain == weighted_mean(zip([TEXTS[view] for view in views], VIEW_WEIGHTS, strict=True))
    assert one == weighted_mean([(plain, 1 - REQUESTS_WEIGHT), (TEXTS["ask"], REQUESTS_WEIGHT)])
    asked = weighted_mean([(TEXTS["ask"], 1.0), (TEXTS["beg"], 1.0)])
    assert asked is not None
    assert two == weighted_mean([(plain, 1 - REQUESTS_WEIGHT), (asked, REQUESTS_WEIGHT)])


def test_what_a_document_belongs_to_counts_beside_all_that_is_its_own() -> None:
    views, told = ("whole", "subject", "gist"), f"{CONTEXT_MARK}ask"
    own, of_it = embed_views(TableEmbedder(TEXTS), [(*views, "beg"), (*views, "beg", told)], timeout_s=1.0)
    assert of_it == weighted_mean([(own, 1 - CONTEXT_WEIGHT), (TEXTS["ask"], CONTEXT_WEIGHT)])
    # AND where it is all that is beside them
    plain, of_it = embed_views(TableEmbedder(TEXTS), [views, (*views, told)], timeout_s=1.0)
    assert of_it == weighted_mean([(plain, 1 - CONTEXT_WEIGHT), (TEXTS["ask"], CONTEXT_WEIGHT)])


def test_a_text_of_its_own_that_begins_with_the_mark_is_embedded_like_others() -> None:
    [marked] = embed_views(TableEmbedder(TEXTS), [(f"{CONTEXT_MARK}ask",)], timeout_s=1.0)
    assert marked == TEXTS["ask"]
