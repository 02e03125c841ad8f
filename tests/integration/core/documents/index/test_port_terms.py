"""Terms that were weighed elsewhere, and ranges of numbers: agent mail, against both engines."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.documents.index import schema
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.model import IndexFilter, IndexHit, IndexRecord
from skillroute.core.errors.model import IndexUnavailable
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.text import SearchText, impacts, query_terms

MAIL = MAIL_DOCUMENTS
ALL = IndexFilter()
EAST = [1.0, 0.0, 0.0]
NOW = 1_763_765_100_123_456  # microseconds since the epoch

MakeIndex = Callable[[], VectorIndex]


def record(
    key: str,
    terms: Mapping[str, float] | None = None,
    vector: Sequence[float] | None = None,
    payload: Mapping[str, Any] | None = None,
) -> IndexRecord:
    return IndexRecord(key=key, vector=vector, text="not this", payload=payload or {}, impacts=terms or {})


def ask(index: VectorIndex, weights: Mapping[str, float], where: IndexFilter = ALL, limit: int = 10) -> list[IndexHit]:
    return index.search_terms(MAIL, weights, where=where, limit=limit)


def keys(hits: Sequence[IndexHit]) -> list[str]:
    return [hit.key for hit in hits]


def between(least: int | None, most: int | None, **any_of: list[str]) -> IndexFilter:
    return IndexFilter(any_of, between={"created_ts": (least, most)})


class TestSearchTerms:
    def test_a_score_is_the_sum_of_weight_times_impact(self, index: VectorIndex) -> None:
        index.upsert(
            MAIL, [record("1", {"rain": 0.5, "wind": 1.5}), record("2", {"rain": 2.0}), record("3", {"sun": 2.0})]
        )
        assert ask(index, {"rain": 6.5, "wind": 3.25, "snow": 9.0}) == [IndexHit("2", 13.0), IndexHit("1", 8.125)]
        assert ask(index, {"snow": 1.0}) == []
        assert ask(index, {}) == []

    def test_how_rare_a_term_is_among_the_records_does_not_count(self, index: VectorIndex) -> None:
        index.upsert(MAIL, [record("1", {"rain": 1.0}), record("2", {"wind": 1.0})])
        before = ask(index, {"rain": 2.0, "wind": 3.0})
        index.upsert(MAIL, [record(str(n), {"rain": 0.1}) for n in range(10, 200)])
        index.delete(MAIL, [str(n) for n in range(50, 100)])
        assert ask(index, {"rain": 2.0, "wind": 3.0}, limit=2) == before == [IndexHit("2", 3.0), IndexHit("1", 2.0)]

    def test_scores_of_real_texts_are_those_that_arithmetic_gives(self, index: VectorIndex) -> None:
        texts = {
            "1": SearchText("Invoice POL-358", "The invoice of March is missing a line, see POL-358 for the numbers."),
            "2": SearchText("Re: Invoice", "Found it. " * 40),
            "3": SearchText("Lunch", "invoice? no, lunch"),
        }
        index.upsert(MAIL, [record(key, impacts(text)) for key, text in texts.items()])
        weights = query_terms("missing invoice line of POL-358")
        expected = {
            key: sum(weight * values[term] for term, weight in weights.items() if term in values)
            for key, values in ((key, impacts(text)) for key, text in texts.items())
        }
        assert {hit.key: hit.score for hit in ask(index, weights)} == pytest.approx(expected, abs=1e-5)
        assert keys(ask(index, weights)) == sorted(texts, key=lambda key: -expected[key])

    @pytest.mark.parametrize("limit", [1, 5, 29, 30, 31])
    def test_a_tie_at_the_cut_is_broken_by_key(self, index: VectorIndex, limit: int) -> None:
        index.upsert(MAIL, [record(str(n), {"rain": 1.0, "wind": 0.3}) for n in range(30, 0, -1)])
        index.upsert(MAIL, [record("99", {"rain": 2.0})])
        expected = ["99", *(str(n) for n in range(1, 31))][:limit]
        assert keys(ask(index, {"rain": 1.1, "wind": 0.7}, limit=limit)) == expected

    def test_a_text_is_not_searched_where_there_are_impacts(self, index: VectorIndex) -> None:
        index.upsert(MAIL, [record("1", {"rain": 1.0}), record("2", {})])
        assert index.search_text(MAIL, "not this", where=ALL, limit=5) == []
        assert index.match(MAIL, where=ALL, limit=5) == ["1", "2"]

    def test_an_upsert_replaces_the_terms_whole(self, index: VectorIndex) -> None:
        index.upsert(MAIL, [record("1", {"rain": 1.0}, EAST)])
        index.upsert(MAIL, [record("1", {"wind": 1.0})])
        assert ask(index, {"rain": 1.0}) == []
        assert ask(index, {"wind": 1.0}) == [IndexHit("1", 1.0)]
        assert index.search(MAIL, EAST, where=ALL, limit=5) == []
        index.upsert(MAIL, [record("1", {})])
        assert ask(index, {"wind": 1.0}) == []
        index.delete(MAIL, ["1"])
        assert index.count(MAIL) == 0

    @pytest.mark.parametrize("term", ["pol-358", "हिंदी", "日本", "i̇", "x" * 5000, "\ud800", "", "a\0b"])
    def test_any_term_is_found(self, index: VectorIndex, term: str) -> None:
        index.upsert(MAIL, [record("1", {term: 1.5})])
        assert ask(index, {term: 2.0, "other": 1.0}) == [IndexHit("1", 3.0)]

    def test_two_terms_of_one_place_count_once(self, index: VectorIndex) -> None:
        # Two words whose CRC-32 is the same; the heavier of them counts.
        one, other = "plumless", "buckeroo"
        assert zlib.crc32(one.encode()) == zlib.crc32(other.encode())
        index.upsert(MAIL, [record("1", {one: 1.0, other: 2.0})])
        assert ask(index, {one: 3.0}) == [IndexHit("1", 6.0)]

    def test_a_thousand_of_many_hits_come_in_order(self, index: VectorIndex) -> None:
        index.upsert(MAIL, [record(str(n), {"rain": 1.0 + (n * 7919 % 1200) / 1024}) for n in range(1200)])
        hits = ask(index, {"rain": 1.0}, limit=1000)
        assert len(hits) == 1000
        assert hits == sorted(hits, key=lambda hit: (-hit.score, int(hit.key)))
        assert len(ask(index, {"rain": 1.0}, limit=10_000_000)) == 1200

    def test_a_closed_index_is_unavailable(self, index: VectorIndex) -> None:
        index.close()
        with pytest.raises(IndexUnavailable):
            ask(index, {"rain": 1.0})


def mail(number: int, **more: Any) -> dict[str, Any]:
    return {
        "kind": "message", "org_id": "", "project_ids": ["1"], "created_ts": NOW + number, "importance": "normal",
        "sender": "ann", "recipients": ["bob"], "parties": ["ann", "bob"], "ack_required": "false",
    } | more  # fmt: skip


RECORDS = [
    mail(0),
    mail(1, project_ids=["2"], importance="urgent", thread_id="T"),
    mail(2, sender="bob", recipients=["ann", "cid"], parties=["ann", "bob", "cid"], ack_required="true"),
    mail(3, org_id="acme", thread_id="t"),
    {"kind": "agent", "org_id": "", "project_ids": ["1", "2"], "created_ts": NOW},
    {"kind": "project", "org_id": "acme", "project_ids": ["6"], "created_ts": -NOW},
]

ASKED: dict[str, Callable[[VectorIndex, IndexFilter], list[str]]] = {
    "search": lambda index, where: keys(index.search(MAIL, EAST, where=where, limit=10)),
    "search_terms": lambda index, where: keys(ask(index, {"rain": 1.0}, where)),
    "match": lambda index, where: index.match(MAIL, where=where, limit=10),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED.keys())
class TestFilters:
    @pytest.fixture(autouse=True)
    def records(self, index: VectorIndex) -> None:
        index.upsert(MAIL, [record(str(n), {"rain": 1.0}, EAST, payload) for n, payload in enumerate(RECORDS)])

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (IndexFilter({"kind": ["message"]}), "0123"),
            (IndexFilter({"kind": ["agent"]}), "4"),
            (IndexFilter({"org_id": [""]}), "0124"),
            (IndexFilter({"org_id": ["", "acme"]}), "012345"),
            (IndexFilter({"project_ids": ["2"]}), "14"),
            (IndexFilter({"project_ids": ["1", "2", "9"]}), "01234"),
            (IndexFilter({"project_ids": []}), ""),
            (IndexFilter({"importance": ["urgent", "low"]}), "1"),
            (IndexFilter({"sender": ["bob"]}), "2"),
            (IndexFilter({"recipients": ["ann"]}), "2"),
            (IndexFilter(all_of={"recipients": ["ann", "cid"]}), "2"),
            (IndexFilter(all_of={"recipients": ["ann", "bob"]}), ""),
            (IndexFilter({"parties": ["bob"]}), "0123"),
            (IndexFilter({"thread_id": ["T"]}), "1"),
            (IndexFilter({"ack_required": ["true"]}), "2"),
            (IndexFilter({"kind": ["message"], "org_id": [""], "project_ids": ["1"], "sender": ["ann"]}), "0"),
            # to the microsecond, both ends included
            (between(NOW + 1, NOW + 2), "12"),
            (between(NOW + 1, NOW + 1), "1"),
            (between(NOW + 2, NOW + 1), ""),
            (between(NOW + 1, None), "123"),
            (between(None, NOW), "045"),
            (between(None, -NOW), "5"),
            (between(-NOW + 1, NOW), "04"),
            (between(-(2**63), 2**63 - 1), "012345"),
            (between(None, None), "012345"),
            (between(NOW, NOW + 3, sender=["ann"], org_id=["acme"]), "3"),
            (IndexFilter(between={"unknown": (0, 1)}), ""),
        ],
    )
    def test_all_conditions_must_hold(
        self,
        index: VectorIndex,
        asked: Callable[[VectorIndex, IndexFilter], list[str]],
        where: IndexFilter,
        expected: str,
    ) -> None:
        assert asked(index, where) == list(expected)
        assert index.count(MAIL, where=where) == len(expected)

    def test_a_filtered_answer_does_not_come_back_short(
        self, index: VectorIndex, asked: Callable[[VectorIndex, IndexFilter], list[str]]
    ) -> None:
        nearer = [record(str(n), {"rain": 2.0}, EAST, mail(n, project_ids=["7"])) for n in range(100, 400)]
        index.upsert(MAIL, nearer)
        assert asked(index, IndexFilter({"project_ids": ["2"]})) == ["1", "4"]


def test_every_field_of_mail_has_an_index_of_its_kind() -> None:
    assert {"created_ts", *MAIL.keyword_fields} == {name for payload in RECORDS for name in payload}
    assert MAIL.number_fields == ("created_ts",)


@pytest.mark.parametrize("ts", [0, 1, -1, NOW, -NOW, 2**53 - 1, -(2**53) + 1])
def test_neighbouring_microseconds_are_told_apart(index: VectorIndex, ts: int) -> None:
    index.upsert(MAIL, [record(str(n), payload={"created_ts": ts - 1 + n}) for n in range(3)])
    assert index.match(MAIL, where=between(ts, ts), limit=5) == ["1"]
    assert index.match(MAIL, where=between(None, ts - 1), limit=5) == ["0"]
    assert index.match(MAIL, where=between(ts + 1, None), limit=5) == ["2"]


# Random operations: the same on both engines give the same answers.

KEYS = ["1", "2", "3", "10", "a", "18446744073709551616"]
figures = st.sampled_from([0.25, 0.5, 1.0, 1.75, 2.1])
terms = st.dictionaries(st.sampled_from(["rain", "wind", "sun", "pol-358", "日本"]), figures, max_size=4)
moments = st.sampled_from([NOW - 1, NOW, NOW + 1, -NOW])
records = st.builds(
    record,
    st.sampled_from(KEYS),
    terms,
    st.none() | st.just(EAST),
    st.fixed_dictionaries(
        {"created_ts": moments, "kind": st.sampled_from(["message", "agent"])},
        optional={"project_ids": st.lists(st.sampled_from(["1", "2"]), max_size=2), "sender": st.sampled_from("ab")},
    ),
)
operations = st.one_of(
    st.tuples(st.just("upsert"), st.lists(records, max_size=6)),
    st.tuples(st.just("delete"), st.lists(st.sampled_from(KEYS), max_size=3)),
)
filters = st.builds(
    IndexFilter,
    st.dictionaries(
        st.sampled_from(["kind", "sender"]), st.lists(st.sampled_from(["message", "a"]), max_size=2), max_size=2
    ),
    st.dictionaries(st.just("project_ids"), st.lists(st.sampled_from(["1", "2"]), max_size=2)),
    st.dictionaries(st.just("created_ts"), st.tuples(st.none() | moments, st.none() | moments)),
)


@given(
    steps=st.lists(operations, max_size=10),
    asked=st.lists(st.tuples(terms, filters, st.integers(1, 8)), min_size=1, max_size=5),
)
@pytest.mark.parametrize("other", ["local", "postgres"])
def test_both_engines_answer_alike_and_as_arithmetic_does(
    request: pytest.FixtureRequest,
    make_edge: MakeIndex,
    other: str,
    steps: list[tuple[str, list[Any]]],
    asked: list[tuple[dict[str, float], IndexFilter, int]],
) -> None:
    # GIVEN the same operations on both, and on a table
    make_other: MakeIndex = request.getfixturevalue(f"make_{other}")
    edge, local = make_edge(), make_other()
    table: dict[str, IndexRecord] = {}
    for name, arguments in steps:
        for index in (edge, local):
            getattr(index, name)(MAIL, arguments)
        for each in arguments:
            if name == "upsert":
                table[each.key] = each
            else:
                table.pop(each, None)

    # WHEN both are asked the same, THEN both answer what the table says
    for weights, where, limit in asked:
        passing = {key: each for key, each in table.items() if passes(each.payload, where)}
        scores = {key: expected_score(each.impacts or {}, weights) for key, each in passing.items()}
        found = {key: round(score, 6) for key, score in scores.items() if score > 0.0}
        expected = sorted(found.items(), key=lambda item: (-item[1], schema.sort_key(item[0])))[:limit]
        for index in (edge, local):
            hits = index.search_terms(MAIL, weights, where=where, limit=limit)
            assert keys(hits) == [key for key, _ in expected]
            assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected], abs=1e-5)
            assert index.match(MAIL, where=where, limit=100) == sorted(passing, key=schema.sort_key)
            assert index.count(MAIL, where=where) == len(passing)


def expected_score(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return math.fsum(weight * values.get(term, 0.0) for term, weight in weights.items())


def passes(payload: Mapping[str, Any], where: IndexFilter) -> bool:
    def said(name: str) -> list[Any]:
        value = payload.get(name, [])
        return value if isinstance(value, list) else [value]

    return (
        all(set(said(name)) & set(values) for name, values in where.any_of.items())
        and all(set(values) <= set(said(name)) for name, values in where.all_of.items())
        and all(
            (least is None or least <= payload[name]) and (most is None or payload[name] <= most)
            for name, (least, most) in where.between.items()
        )
    )
