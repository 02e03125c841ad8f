"""The same random operations on all engines give the same answers, scores included; and so does an index that holds
nothing but what passes the filter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.model import IndexFilter, IndexHit, IndexRecord

MakeIndex = Callable[[], VectorIndex]

TOLERANCE = 1e-5
KEYS = ["0", "1", "2", "9", "10", "11", "007", "b", "a", "weather-tools", "ü", "18446744073709551616"]
WORDS = ["rain", "raining", "wind", "sun", "stock", "the", "天气", "预报", "😀", "café", "get_weather", ""]

keys = st.sampled_from(KEYS)
any_collection = st.sampled_from(list(collections()))
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
# Few distinct numbers, so that ties are common.
vectors = (
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=3, max_size=3)
    .filter(any)
    .map(lambda v: [x / math.sqrt(sum(y * y for y in v)) for x in v])
)
values = st.sampled_from(["a", "b", "c"])
payloads = st.fixed_dictionaries(
    {},
    optional={
        "type": values,
        "org_id": st.none() | values,
        "skill_keys": st.lists(values, max_size=3),
        "n": st.integers(0, 9),
    },
)
records = st.builds(IndexRecord, key=keys, vector=st.none() | vectors, text=texts, payload=payloads)
clauses = st.lists(
    st.builds(
        IndexFilter, st.dictionaries(st.sampled_from(["type", "skill_keys"]), st.lists(values, max_size=2), max_size=2)
    ),
    max_size=2,
)
filters = st.builds(
    IndexFilter,
    st.dictionaries(st.sampled_from(["type", "org_id", "skill_keys"]), st.lists(values, max_size=2), max_size=2),
    st.dictionaries(st.sampled_from(["type", "skill_keys"]), st.lists(values, max_size=2), max_size=1),
    none_of=st.dictionaries(st.sampled_from(["org_id", "skill_keys"]), st.lists(values, max_size=2), max_size=1),
    keys=st.none() | st.lists(keys, max_size=4),
    either=st.none() | clauses,
    neither=clauses,
)
operations = st.one_of(
    st.tuples(st.just("upsert"), any_collection, st.lists(records, max_size=6)),
    st.tuples(st.just("delete"), any_collection, st.lists(keys, max_size=3)),
)
questions = st.tuples(
    vectors, texts, filters, st.integers(1, 15), st.none() | st.sampled_from([-1.0, 0.0, 0.5, 0.8, 1.0])
)


def assert_alike(left: Sequence[IndexHit], right: Sequence[IndexHit]) -> None:
    """Scores agree place by place; keys too, save where scores so close that rounding may have ordered them.

    A hit at the end may have been traded for one outside the cut only if its score is that of the last place.
    """
    assert [hit.score for hit in left] == pytest.approx([hit.score for hit in right], abs=TOLERANCE)
    assert list(left) == sorted(left, key=lambda hit: -hit.score)
    last = left[-1].score if left else 0.0
    scores = {hit.key: hit.score for hit in right}
    for hit in left:
        if hit.key in scores:
            assert hit.score == pytest.approx(scores[hit.key], abs=TOLERANCE)
        else:
            assert hit.score == pytest.approx(last, abs=TOLERANCE)


@given(steps=st.lists(operations, max_size=12), asked=st.lists(questions, min_size=1, max_size=5))
@pytest.mark.parametrize("other", ["local", "memory", "postgres"])
def test_all_engines_answer_as_edge_does(
    request: pytest.FixtureRequest,
    make_edge: MakeIndex,
    other: str,
    steps: list[tuple[str, Collection, list[IndexRecord] | list[str]]],
    asked: list[tuple[list[float], str, IndexFilter, int, float | None]],
) -> None:
    # GIVEN the same operations on both
    make_local: MakeIndex = request.getfixturevalue(f"make_{other}")
    edge, local = make_edge(), make_local()
    for name, collection, arguments in steps:
        for index in (edge, local):
            getattr(index, name)(collection, arguments)

    # WHEN both are asked the same, THEN they answer the same
    for collection in collections():
        assert edge.payloads(collection, KEYS) == local.payloads(collection, KEYS)
        for vector, text, where, limit, threshold in asked:
            assert edge.count(collection, where=where) == local.count(collection, where=where)
            assert edge.match(collection, where=where, limit=limit) == local.match(collection, where=where, limit=limit)
            assert_alike(
                edge.search(collection, vector, where=where, limit=limit, threshold=threshold),
                local.search(collection, vector, where=where, limit=limit, threshold=threshold),
            )
            assert_alike(
                edge.search_text(collection, text, where=where, limit=limit),
                local.search_text(collection, text, where=where, limit=limit),
            )


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    stored=st.lists(records, max_size=12),
    deleted=st.lists(keys, max_size=3),
    where=filters,
    asked=st.lists(questions, min_size=1, max_size=5),
)
@pytest.mark.parametrize("engine", ["edge", "local", "memory", "postgres"])
def test_what_does_not_pass_the_filter_changes_nothing(
    request: pytest.FixtureRequest,
    engine: str,
    stored: list[IndexRecord],
    deleted: list[str],
    where: IndexFilter,
    asked: list[tuple[list[float], str, IndexFilter, int, float | None]],
) -> None:
    """Decision 30: neither scores nor cuts depend on records that the caller may not see."""
    make: MakeIndex = request.getfixturevalue(f"make_{engine}")

    def answers(index: VectorIndex) -> list[list[IndexHit]]:
        return [
            hits
            for vector, text, _, limit, threshold in asked
            for hits in (
                index.search(TOOL_DOCUMENTS, vector, where=where, limit=limit, threshold=threshold),
                index.search_text(TOOL_DOCUMENTS, text, where=where, limit=limit),
            )
        ]

    # GIVEN an index with everything, some of it deleted
    index = make()
    index.upsert(TOOL_DOCUMENTS, stored)
    index.delete(TOOL_DOCUMENTS, deleted)
    passing = set(index.match(TOOL_DOCUMENTS, where=where, limit=1000))
    found = answers(index)

    # WHEN another holds nothing but what passes the filter
    index = make()
    index.upsert(TOOL_DOCUMENTS, [record for record in {r.key: r for r in stored}.values() if record.key in passing])

    # THEN it answers the same, but for how the sixth digit of a sum is rounded
    for alone, among_all in zip(answers(index), found, strict=True):
        assert len(alone) == len(among_all)
        assert_alike(alone, among_all)
