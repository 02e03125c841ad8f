"""The query's embedding: how long it is waited for, and what a failure means for the next query."""

from __future__ import annotations

import pytest
from skillroute.core.embedding import query as embed
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.embedding.views import HARMLESS
from skillroute.core.errors.model import EmbeddingUnavailable, TextRefused

from tests.doubles import FakeClock, TableEmbedder, TypedEmbedder, WatchedEmbedder

MODEL = TableEmbedder().model


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def model(clock: FakeClock) -> WatchedEmbedder:
    return WatchedEmbedder(TableEmbedder(), clock)


@pytest.fixture
def queries(model: WatchedEmbedder, clock: FakeClock) -> QueryEmbedder:
    return QueryEmbedder(model, timeout_s=10.0, clock=clock)


@pytest.mark.parametrize(("given_s", "waited_s"), [(None, 10.0), (0.5, 0.5), (20.0, 10.0)])
def test_it_is_waited_for_no_longer_than_the_caller_has(
    queries: QueryEmbedder, model: WatchedEmbedder, given_s: float | None, waited_s: float
) -> None:
    queries.embed("water", MODEL, timeout_s=given_s)

    assert [call.timeout_s for call in model.calls] == [waited_s]


def test_queries_for_messages_have_vectors_of_their_own(clock: FakeClock) -> None:
    queries = QueryEmbedder(TypedEmbedder(), clock=clock)
    of_tools, of_messages = (
        embedder.embed("water", TypedEmbedder().model) for embedder in (queries, queries.for_messages())
    )

    assert of_tools != of_messages
    assert queries.embed("water", TypedEmbedder().model) is of_tools


def test_a_model_that_is_not_the_configured_one_tells_messages_apart_as_well(clock: FakeClock) -> None:
    queries = QueryEmbedder(TableEmbedder(), lambda _: TypedEmbedder(), clock=clock)
    model = TypedEmbedder().model

    assert queries.embed("water", model) != queries.for_messages().embed("water", model)
    assert queries.for_messages().embed("water", MODEL) == queries.embed("water", MODEL)


def test_a_model_that_failed_is_left_alone_by_queries_for_messages_too(
    queries: QueryEmbedder, model: WatchedEmbedder
) -> None:
    of_messages = queries.for_messages()
    model.away = True
    with pytest.raises(EmbeddingUnavailable):
        queries.embed("water", MODEL)
    model.away = False

    with pytest.raises(EmbeddingUnavailable):
        of_messages.embed("fire", MODEL)
    assert len(model.calls) == 1


def test_parts_are_asked_for_in_one_call_and_each_once(queries: QueryEmbedder, model: WatchedEmbedder) -> None:
    water = queries.embed("water", MODEL)

    vectors = queries.embed_all(["fire", "water", "earth", "fire"], MODEL)

    assert [call.texts for call in model.calls] == [["water"], ["fire", "earth"]]
    assert vectors == [queries.embed(text, MODEL) for text in ("fire", "water", "earth", "fire")]
    assert vectors[1] is water
    assert len(model.calls) == 2


@pytest.mark.parametrize("left_s", [0.0, -0.5])
def test_without_time_only_what_is_remembered_is_had(
    queries: QueryEmbedder, model: WatchedEmbedder, left_s: float
) -> None:
    queries.embed("water", MODEL)

    queries.embed("water", MODEL, timeout_s=left_s)
    with pytest.raises(EmbeddingUnavailable):
        queries.embed("fire", MODEL, timeout_s=left_s)

    assert model.texts == ["water"]
    assert queries.failure(MODEL) is None


def test_too_little_time_says_nothing_of_the_model(queries: QueryEmbedder, model: WatchedEmbedder) -> None:
    model.takes_s = 1.0
    with pytest.raises(EmbeddingUnavailable):
        queries.embed("water", MODEL, timeout_s=0.5)

    assert queries.failure(MODEL) is None
    queries.embed("water", MODEL)


@pytest.mark.parametrize("given_s", [None, 0.5])
def test_a_model_that_fails_is_left_alone_whatever_the_time(
    queries: QueryEmbedder, model: WatchedEmbedder, given_s: float | None
) -> None:
    model.away = True
    for _ in range(3):
        with pytest.raises(EmbeddingUnavailable):
            queries.embed("water", MODEL, timeout_s=given_s)

    assert len(model.calls) == 1
    assert queries.failure(MODEL) is not None


def test_a_model_that_is_left_alone_keeps_no_other_from_being_asked(model: WatchedEmbedder, clock: FakeClock) -> None:
    """Decision 37: during a change of model a process may search the vectors of both."""
    other = TableEmbedder(name="other")
    queries = QueryEmbedder(model, lambda _: other, clock=clock)
    model.away = True
    with pytest.raises(EmbeddingUnavailable):
        queries.embed("water", MODEL)

    queries.embed("water", other.model)

    assert queries.failure(MODEL) is not None
    assert queries.failure(other.model) is None


def test_a_model_that_is_too_slow_in_full_time_is_left_alone(queries: QueryEmbedder, model: WatchedEmbedder) -> None:
    model.takes_s = 11.0
    for _ in range(3):
        with pytest.raises(EmbeddingUnavailable):
            queries.embed("water", MODEL)

    assert len(model.calls) == 1


def test_a_query_that_is_refused_for_good_says_nothing_of_the_model(
    queries: QueryEmbedder, model: WatchedEmbedder
) -> None:
    model.refuses = lambda text: text == "bad"
    for _ in range(2):
        with pytest.raises(TextRefused, match="does not take"):
            queries.embed("bad", MODEL)
    # THEN others are embedded, and each refusal was seen to be the query's own
    assert queries.failure(MODEL) is None
    queries.embed("water", MODEL)
    assert model.texts == ["bad", HARMLESS, "bad", HARMLESS, "water"]


def test_a_model_that_refuses_every_query_is_left_alone(queries: QueryEmbedder, model: WatchedEmbedder) -> None:
    """As with a wrong model name."""
    model.refuses = lambda text: True
    for query in ("water", "fire"):
        with pytest.raises(EmbeddingUnavailable, match="refuses every text") as caught:
            queries.embed(query, MODEL)
        assert not isinstance(caught.value, TextRefused)
    assert model.texts == ["water", HARMLESS]


def test_a_refused_query_and_a_harmless_one_share_the_time_of_the_caller(
    queries: QueryEmbedder, model: WatchedEmbedder, clock: FakeClock
) -> None:
    model.refuses = lambda text: text == "bad"
    model.takes_s = 0.75
    with pytest.raises(TextRefused):
        queries.embed("bad", MODEL, timeout_s=2.0)
    assert [call.timeout_s for call in model.calls] == [2.0, 1.25]


def test_what_is_remembered_is_bounded_in_bytes_not_only_in_queries(
    model: WatchedEmbedder, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN room for three vectors of eight dimensions
    monkeypatch.setattr(embed, "CACHE_BYTES", 3 * 8 * 32)
    queries = QueryEmbedder(model, clock=clock)
    for query in ("a", "b", "c", "d", "d", "c", "a"):
        queries.embed(query * 10_000, MODEL)
    # THEN the fourth took the place of the first, however long they are
    assert [text[0] for text in model.texts] == ["a", "b", "c", "d", "a"]
