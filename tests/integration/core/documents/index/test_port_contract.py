"""Every sentence of `ports.VectorIndex`, against all engines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.index import schema
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.index.postgres import PostgresIndex
from skillroute.core.documents.model import IndexFilter, IndexHit, IndexRecord
from skillroute.core.documents.term_weights import weight
from skillroute.core.errors.model import IndexUnavailable
from skillroute.skills.collection import SKILL_DOCUMENTS

TOOLS, SKILLS = TOOL_DOCUMENTS, SKILL_DOCUMENTS
ALL = IndexFilter()
EAST, NORTH, UP = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]


def record(
    key: str, vector: Sequence[float] | None = None, text: str = "", payload: Mapping[str, Any] | None = None
) -> IndexRecord:
    return IndexRecord(key=key, vector=vector, text=text, payload=payload or {})


def keys(hits: Sequence[IndexHit]) -> list[str]:
    return [hit.key for hit in hits]


def only(**any_of: list[str]) -> IndexFilter:
    return IndexFilter(any_of)


def every(**all_of: list[str]) -> IndexFilter:
    return IndexFilter(all_of=all_of)


def none(**none_of: list[str]) -> IndexFilter:
    return IndexFilter(none_of=none_of)


def at(cosine: float) -> list[float]:
    """A unit vector of this cosine with EAST."""
    return [cosine, math.sqrt(1.0 - cosine * cosine), 0.0]


class TestUpsertAndDelete:
    def test_a_fresh_index_is_empty(self, index: VectorIndex) -> None:
        assert index.search(TOOLS, EAST, where=ALL, limit=5) == []
        assert index.search_text(TOOLS, "weather", where=ALL, limit=5) == []
        assert index.match(TOOLS, where=ALL, limit=5) == []
        assert index.payloads(TOOLS, ["1", "web"]) == {}
        assert index.count(TOOLS) == 0

    def test_nothing_to_do_is_no_error(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [])
        index.delete(TOOLS, [])
        assert index.payloads(TOOLS, []) == {}

    @pytest.mark.parametrize("key", ["7", "web-search"])
    def test_an_upsert_replaces_a_record_whole(self, index: VectorIndex, key: str) -> None:
        index.upsert(TOOLS, [record(key, EAST, "weather", {"type": "tool", "old": 1})])
        index.upsert(TOOLS, [record(key, NORTH, "stocks", {"server": "b"})])
        assert index.payloads(TOOLS, [key]) == {key: {"server": "b"}}
        assert index.search(TOOLS, EAST, where=ALL, limit=5) == [IndexHit(key, 0.0)]
        assert index.search_text(TOOLS, "weather", where=ALL, limit=5) == []
        assert keys(index.search_text(TOOLS, "stocks", where=ALL, limit=5)) == [key]
        assert index.count(TOOLS, where=only(type=["tool"])) == 0
        assert index.count(TOOLS) == 1

    def test_an_upsert_takes_away_a_vector_and_a_text(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("1", EAST, "weather")])
        index.upsert(TOOLS, [record("1", None, "")])
        assert index.search(TOOLS, EAST, where=ALL, limit=5) == []
        assert index.search_text(TOOLS, "weather", where=ALL, limit=5) == []
        assert index.match(TOOLS, where=ALL, limit=5) == ["1"]

    def test_an_upsert_brings_back_a_deleted_record(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("1", EAST, "weather", {"n": 1})])
        index.delete(TOOLS, ["1"])
        index.upsert(TOOLS, [record("1", NORTH, "stocks", {"n": 2})])
        assert index.payloads(TOOLS, ["1"]) == {"1": {"n": 2}}
        assert index.search_text(TOOLS, "weather", where=ALL, limit=5) == []

    def test_of_two_records_of_one_key_the_last_stays(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("1", EAST, payload={"n": 1}), record("1", NORTH, payload={"n": 2})])
        assert index.payloads(TOOLS, ["1"]) == {"1": {"n": 2}}
        assert index.search(TOOLS, NORTH, where=ALL, limit=5) == [IndexHit("1", 1.0)]

    def test_a_deleted_record_is_gone_from_everywhere(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("1", EAST, "weather"), record("b", EAST, "weather"), record("3", EAST, "weather")])
        index.delete(TOOLS, ["1", "b"])
        assert keys(index.search(TOOLS, EAST, where=ALL, limit=5)) == ["3"]
        assert keys(index.search_text(TOOLS, "weather", where=ALL, limit=5)) == ["3"]
        assert index.match(TOOLS, where=ALL, limit=5) == ["3"]
        assert set(index.payloads(TOOLS, ["1", "b", "3"])) == {"3"}
        assert index.count(TOOLS) == 1

    def test_deleting_unknown_keys_is_no_error(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("1", EAST)])
        index.delete(TOOLS, ["2", "unknown", "\ud800", "0" * 50])
        assert index.count(TOOLS) == 1

    def test_the_collections_are_independent(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("1", EAST, "weather", {"in": "tools"})])
        index.upsert(SKILLS, [record("1", NORTH, "stocks", {"in": "skills"})])
        index.delete(TOOLS, ["1"])
        assert index.count(TOOLS) == 0
        assert index.payloads(SKILLS, ["1"]) == {"1": {"in": "skills"}}
        assert index.search_text(SKILLS, "weather", where=ALL, limit=5) == []

    def test_more_records_than_a_request_holds(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record(str(n), EAST, "weather") for n in range(600)])
        assert index.count(TOOLS) == 600
        index.delete(TOOLS, [str(n) for n in range(599)])
        assert index.match(TOOLS, where=ALL, limit=10_000_000) == ["599"]


class TestSearch:
    def test_hits_are_sorted_by_cosine_and_cut_at_the_limit(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("1", at(0.1)), record("2", at(0.9)), record("x", at(0.5)), record("4", at(-0.5))])
        hits = index.search(TOOLS, EAST, where=ALL, limit=10)
        assert hits == [IndexHit("2", 0.9), IndexHit("x", 0.5), IndexHit("1", 0.1), IndexHit("4", -0.5)]
        assert index.search(TOOLS, EAST, where=ALL, limit=2) == hits[:2]

    def test_equal_vectors_score_exactly_one(self, index: VectorIndex) -> None:
        vector = [1 / math.sqrt(3)] * 3
        index.upsert(TOOLS, [record("1", vector)])
        assert index.search(TOOLS, vector, where=ALL, limit=1, threshold=1.0) == [IndexHit("1", 1.0)]

    @pytest.mark.parametrize("score", [0.0, 0.3, 0.4, 0.6, 0.7, 0.123457, 0.999999, -0.25])
    def test_the_threshold_is_inclusive(self, index: VectorIndex, score: float) -> None:
        index.upsert(TOOLS, [record("1", at(score)), record("2", at(score - 1e-5))])
        assert index.search(TOOLS, EAST, where=ALL, limit=5, threshold=score) == [IndexHit("1", score)]
        assert index.search(TOOLS, EAST, where=ALL, limit=5, threshold=score + 1e-5) == []

    def test_ties_are_sorted_by_key_numbers_first_and_as_numbers(self, index: VectorIndex) -> None:
        tied = ["10", "b", "9", "a", "100", "07", "18446744073709551615", "18446744073709551616"]
        index.upsert(TOOLS, [record(key, EAST) for key in tied])
        ordered = ["9", "10", "100", "18446744073709551615", "07", "18446744073709551616", "a", "b"]
        assert keys(index.search(TOOLS, EAST, where=ALL, limit=10)) == ordered

    @pytest.mark.parametrize("limit", [1, 3, 5, 29, 30, 31])
    def test_a_tie_at_the_cut_is_broken_by_key(self, index: VectorIndex, limit: int) -> None:
        index.upsert(TOOLS, [record(str(n), at(0.5), "weather") for n in range(30, 0, -1)])
        index.upsert(TOOLS, [record("99", EAST, "weather weather")])
        expected = ["99", *(str(n) for n in range(1, 31))][:limit]
        assert keys(index.search(TOOLS, EAST, where=ALL, limit=limit)) == expected
        assert keys(index.search_text(TOOLS, "weather", where=ALL, limit=limit)) == expected

    @pytest.mark.parametrize("limit", [1, 3, 29, 40])
    def test_several_vectors_find_together_what_each_finds_alone(self, index: VectorIndex, limit: int) -> None:
        # GIVEN ties at the cut of one of them, and a record that does not pass
        index.upsert(TOOLS, [record(str(n), at(0.5), payload={"type": "a"}) for n in range(30, 0, -1)])
        index.upsert(TOOLS, [record("99", EAST, payload={"type": "a"}), record("x", EAST, payload={"type": "b"})])
        where = IndexFilter({"type": ["a"]})
        alone = [index.search(TOOLS, vector, where=where, limit=limit) for vector in (EAST, NORTH, at(-0.9))]
        assert index.search_each(TOOLS, [EAST, NORTH, at(-0.9)], where=where, limit=limit) == alone
        assert len({tuple(keys(hits)) for hits in alone}) > 1
        nothing = IndexFilter({"type": []})
        assert index.search_each(TOOLS, [EAST, NORTH], where=nothing, limit=limit) == [[], []]
        assert index.search_each(TOOLS, [], where=where, limit=limit) == []

    def test_a_record_without_a_vector_is_found_lexically_only(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("1", None, "weather forecast"), record("2", EAST, "stocks")])
        assert keys(index.search(TOOLS, EAST, where=ALL, limit=5)) == ["2"]
        assert keys(index.search_text(TOOLS, "weather", where=ALL, limit=5)) == ["1"]
        assert index.match(TOOLS, where=ALL, limit=5) == ["1", "2"]


class TestSearchText:
    def test_only_records_that_share_a_word_are_found(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("1", EAST, "current weather"), record("2", EAST, "stock quotes")])
        assert keys(index.search_text(TOOLS, "weather in Oslo", where=ALL, limit=5)) == ["1"]

    def test_scores_are_bm25_with_fixed_weights_of_words(self, index: VectorIndex) -> None:
        # GIVEN documents of two words, two of which share one
        index.upsert(
            TOOLS, [record("1", None, "rain wind"), record("2", None, "rain sun"), record("3", None, "moon tide")]
        )
        # WHEN searching for the shared word
        hits = index.search_text(TOOLS, "rain", where=ALL, limit=5)
        # THEN the score is weight · tf(k + 1) / (tf + k(1 - b + b · length / expected length))
        expected = weight("rain") * 2.2 / (1 + 1.2 * (1 - 0.75 + 0.75 * 2 / 20))
        assert keys(hits) == ["1", "2"]
        assert [hit.score for hit in hits] == pytest.approx([expected] * 2, abs=1e-5)

    def test_how_many_records_have_a_word_does_not_count(self, index: VectorIndex) -> None:
        """Decision 30: what others say must not show in a score, not even once it is deleted."""
        mine = only(org_id=["b"])
        index.upsert(
            TOOLS, [record("1", None, "rain wind", {"org_id": "b"}), record("2", None, "sun", {"org_id": "b"})]
        )
        before = index.search_text(TOOLS, "rain sun", where=mine, limit=5)
        others = [str(number) for number in range(10, 60)]
        index.upsert(TOOLS, [record(key, None, "rain", {"org_id": "a"}) for key in others])
        assert index.search_text(TOOLS, "rain sun", where=mine, limit=5) == before
        index.delete(TOOLS, others)
        assert index.search_text(TOOLS, "rain sun", where=mine, limit=5) == before
        assert keys(before) == ["2", "1"]

    def test_a_common_word_counts_for_less_than_a_rare_one(self, index: VectorIndex) -> None:
        # Though here it is the other way round.
        index.upsert(TOOLS, [record(str(n), None, text) for n, text in enumerate(["retrieve", "zebra", "zebra"])])
        assert keys(index.search_text(TOOLS, "retrieve a zebra", where=ALL, limit=5)) == ["1", "2", "0"]

    @pytest.mark.parametrize(
        ("one", "other"), [("retrieve", "retrieves"), ("Retrieve", "RETRIEVING"), ("café", "cafe")]
    )
    def test_inflections_of_a_word_count_alike(self, index: VectorIndex, one: str, other: str) -> None:
        index.upsert(TOOLS, [record("1", None, one)])
        asked = [index.search_text(TOOLS, text, where=ALL, limit=1)[0].score for text in (one, other)]
        assert asked[0] == asked[1]

    def test_rare_and_repeated_words_count_for_more(self, index: VectorIndex) -> None:
        texts = ["rain", "rain", "rain wind", "wind wind rain", "stocks"]
        index.upsert(TOOLS, [record(str(n), None, text) for n, text in enumerate(texts)])
        assert keys(index.search_text(TOOLS, "wind rain", where=ALL, limit=5))[:2] == ["3", "2"]

    def test_words_are_stemmed_and_case_and_accents_folded(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("1", None, "Searching flights to Orléans")])
        for query in ("search", "FLIGHT", "orleans"):
            assert keys(index.search_text(TOOLS, query, where=ALL, limit=5)) == ["1"], query

    @pytest.mark.parametrize(
        ("query", "key"),
        [
            ("搜索", "zh"), ("发送邮件", "zh-mail"), ("邮件", "zh-mail"), ("邮", "zh-mail"),
            ("法令を調べて", "ja"), ("憲法", "ja"), ("法", "ja"), ("PDFを変換して", "ja-pdf"), ("PDF を変換", "ja-pdf"),
            ("送る", "ja-mail"), ("ｶﾚﾝﾀﾞｰ", "ja-calendar"), ("カレンダー", "ja-calendar"),
            ("이메일", "ko"), ("이메일을 보내줘", "ko"), ("책", "ko-book"), ("책이", "ko-book"),
            ("อีเมล", "th"), ("ອາກາດ", "lo"), ("អាកាស", "km"), ("မိုးလေ", "my"),
        ],
    )  # fmt: skip
    def test_scripts_without_blanks_or_with_particles_are_found_by_a_part_of_a_text(
        self, index: VectorIndex, query: str, key: str
    ) -> None:
        texts = {
            "zh": "bing_search 使用必应搜索指定的关键词,并返回结果列表", "zh-mail": "mail_zh 发送邮件给联系人",
            "ja": "search_laws 日本の法令を検索します。憲法や政令も検索できます。", "ja-pdf": "PDFファイルを変換します",
            "ja-mail": "メールを送信", "ja-calendar": "予定をカレンダーに追加", "ko": "mail_send 이메일을 보냅니다",
            "ko-book": "책을 검색합니다", "th": "ส่งอีเมลถึงผู้ติดต่อ", "lo": "ຊອກຫາສະພາບອາກາດ",
            "km": "ស្វែងរកអាកាសធាតុ", "my": "မိုးလေဝသ သတင်း", "en": "Send an email with a PDF",
        }  # fmt: skip
        index.upsert(TOOLS, [record(name, None, text) for name, text in texts.items()])
        assert keys(index.search_text(TOOLS, query, where=ALL, limit=5))[0] == key

    def test_what_stands_beside_a_word_does_not_change_how_it_is_cut(self, index: VectorIndex) -> None:
        index.upsert(
            TOOLS, [record("1", None, "憲法"), record("2", None, "search_laws: 憲法"), record("3", None, "天気")]
        )
        assert sorted(keys(index.search_text(TOOLS, "read the 憲法 for me", where=ALL, limit=5))) == ["1", "2"]

    def test_grammar_says_less_than_a_word(self, index: VectorIndex) -> None:
        index.upsert(
            TOOLS, [record("1", None, "予定を追加します"), record("2", None, "確認してください。してください")]
        )
        assert keys(index.search_text(TOOLS, "予定を追加してください", where=ALL, limit=5))[0] == "1"

    @pytest.mark.parametrize("text", ["", "  ", "the of and", "😀🎉", "\0", "?!", "\ud800"])
    def test_a_text_without_words_finds_nothing_and_is_not_found(self, index: VectorIndex, text: str) -> None:
        index.upsert(TOOLS, [record("1", EAST, text), record("2", EAST, "weather")])
        assert index.search_text(TOOLS, text, where=ALL, limit=5) == []
        assert keys(index.search_text(TOOLS, "weather", where=ALL, limit=5)) == ["2"]
        assert keys(index.search(TOOLS, EAST, where=ALL, limit=5)) == ["1", "2"]

    @pytest.mark.parametrize("text", ["weather\0", "\ud800 weather", "weather 😀", "weather " * 5000])
    def test_odd_characters_do_not_hide_words(self, index: VectorIndex, text: str) -> None:
        index.upsert(TOOLS, [record("1", None, text)])
        assert keys(index.search_text(TOOLS, text, where=ALL, limit=5)) == ["1"]
        assert keys(index.search_text(TOOLS, "weather", where=ALL, limit=5)) == ["1"]


Ask = Callable[[VectorIndex, IndexFilter], list[str]]

ASKED: dict[str, Ask] = {
    "search": lambda index, where: keys(index.search(TOOLS, EAST, where=where, limit=10)),
    "search_text": lambda index, where: keys(index.search_text(TOOLS, "weather", where=where, limit=10)),
    "match": lambda index, where: index.match(TOOLS, where=where, limit=10),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED.keys())
class TestFilters:
    @pytest.fixture(autouse=True)
    def records(self, index: VectorIndex) -> None:
        payloads: list[dict[str, Any]] = [
            {"type": "tool", "server": "a", "skill_keys": ["weather", "maps"]},
            {"type": "tool", "server": "b", "skill_keys": ["weather"]},
            {"type": "prompt", "server": "a", "skill_keys": []},
            {"type": "prompt", "server": None, "active": True, "unindexed": "yes"},
        ]
        index.upsert(TOOLS, [record(str(n), EAST, "weather", payload) for n, payload in enumerate(payloads)])

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (ALL, "0123"),
            (only(type=["tool"]), "01"),
            (only(type=["tool", "prompt", "other"]), "0123"),
            (only(type=["Tool"]), ""),
            (only(skill_keys=["maps"]), "0"),
            (only(skill_keys=["maps", "weather"]), "01"),
            (only(skill_keys=["weath"]), ""),
            (only(type=["tool"], server=["a"]), "0"),
            (only(type=["prompt"], skill_keys=["weather"]), ""),
            (only(server=["None", "null", ""]), ""),
            (only(unknown=["x"]), ""),
            (only(unindexed=["yes"]), "3"),
            (only(type=[]), ""),
            (only(type=["tool"], server=[]), ""),
            (only(type=["\ud800"]), ""),
            (only(type=["\ud800", "tool"]), "01"),
            (only(skill_keys=["x\0", "*", "weather' OR 1=1"]), ""),
            (every(skill_keys=["maps"]), "0"),
            (every(skill_keys=["weather", "maps"]), "0"),
            (every(skill_keys=["weather", "other"]), ""),
            (every(skill_keys=[]), "0123"),
            (every(skill_keys=["weather", "\ud800"]), ""),
            (IndexFilter({"server": ["b"]}, {"skill_keys": ["weather"]}), "1"),
            (IndexFilter({"skill_keys": ["maps", "weather"]}, {"skill_keys": ["maps"]}), "0"),
            (none(type=["tool"]), "23"),
            (none(skill_keys=["maps"]), "123"),
            (none(skill_keys=["maps", "weather"]), "23"),
            (none(type=["tool"], server=["a"]), "3"),
            (none(unknown=["x"]), "0123"),
            (none(type=[]), "0123"),
            (none(type=["\ud800"]), "0123"),
            (none(type=["\ud800", "tool"]), "23"),
            (IndexFilter({"type": ["tool"]}, none_of={"server": ["a"]}), "1"),
            (IndexFilter(keys=["2", "0", "9", "web-search"]), "02"),
            (IndexFilter({"type": ["tool"]}, keys=["0", "3"]), "0"),
            (IndexFilter(either=[only(type=["prompt"]), only(type=["tool"], server=["a"])]), "023"),
            (IndexFilter({"skill_keys": ["weather"]}, either=[only(type=["prompt"]), only(server=["b"])]), "1"),
            (IndexFilter(either=[]), ""),
            (IndexFilter(either=[only(type=[])]), ""),
            (IndexFilter(either=[only(type=["tool"]), ALL]), "0123"),
            (IndexFilter(neither=[only(type=["prompt"]), only(type=["tool"], server=["a"])]), "1"),
            (IndexFilter(neither=[only(type=["tool"], skill_keys=["maps"])]), "123"),
            (IndexFilter(neither=[ALL]), ""),
            (IndexFilter(neither=[only(type=["\ud800"])]), "0123"),
            (IndexFilter(either=[only(type=["tool"])], neither=[only(server=["a"])]), "1"),
            (IndexFilter(keys=["\ud800"]), ""),
            (IndexFilter(keys=[]), ""),
        ],
    )
    def test_all_conditions_must_hold(self, index: VectorIndex, ask: Ask, where: IndexFilter, expected: str) -> None:
        assert ask(index, where) == list(expected)
        assert index.count(TOOLS, where=where) == len(expected)

    def test_a_filtered_answer_does_not_come_back_short(self, index: VectorIndex, ask: Ask) -> None:
        # GIVEN many nearer records that do not pass
        index.upsert(TOOLS, [record(str(n), EAST, "weather weather", {"type": "noise"}) for n in range(100, 300)])
        # WHEN asking for the few that do, THEN all of them come
        assert ask(index, only(type=["prompt"])) == ["2", "3"]


class TestMatchAndCount:
    @pytest.mark.parametrize("limit", [1, 2, 150, 1200, 10_000_000])
    def test_keys_come_in_order_up_to_the_limit(self, index: VectorIndex, limit: int) -> None:
        numbers = [str(n) for n in range(1100)]
        names = [f"skill-{n:03}" for n in range(150)]
        index.upsert(SKILLS, [record(key) for key in reversed(names + numbers)])
        assert index.match(SKILLS, where=ALL, limit=limit) == (numbers + names)[:limit]

    @pytest.mark.parametrize("limit", [1, 5, 120])
    def test_text_keys_come_in_order_up_to_the_limit(self, index: VectorIndex, limit: int) -> None:
        names = [f"skill-{n:03}" for n in range(150)]
        index.upsert(SKILLS, [record(name, payload={"org_id": "o"}) for name in names])
        assert index.match(SKILLS, where=only(org_id=["o"]), limit=limit) == names[:limit]

    def test_count_with_and_without_a_filter(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("1", payload={"org_id": "a"}), record("2", payload={"org_id": "b"})])
        assert index.count(TOOLS) == 2
        assert index.count(TOOLS, where=ALL) == 2
        assert index.count(TOOLS, where=only(org_id=["a"])) == 1


class TestPayloads:
    @pytest.mark.parametrize("key", ["7", "web-search", "skill/ü 天气", "007", "18446744073709551615"])
    def test_a_payload_comes_back_as_it_went_in(self, index: VectorIndex, key: str) -> None:
        in_postgres = isinstance(index, PostgresIndex)  # which takes no NUL, and writes large numbers out
        payload = {
            "type": "tool",
            "null": None,
            "true": True,
            "int": -(2**63),
            "float": 1.5 if in_postgres else 1.5e300,
            "text": f"naïve 天气 😀 a{'' if in_postgres else chr(0)}b \u2028",
            "empty": {"": "", "list": [], "object": {}},
            "nested": [{"a.b": [1, [2.5, None, {"c": False}]]}],
        }
        index.upsert(TOOLS, [record(key, EAST, "weather", payload)])
        assert index.payloads(TOOLS, [key]) == {key: payload}

    def test_unknown_and_repeated_keys(self, index: VectorIndex) -> None:
        index.upsert(TOOLS, [record("2", payload={"n": 2}), record("b", payload={"n": 1})])
        found = index.payloads(TOOLS, ["b", "unknown", "2", "b", "3", "02", "\ud800"])
        assert found == {"b": {"n": 1}, "2": {"n": 2}}
        assert list(found) == ["b", "2"]

    def test_the_key_of_a_record_is_its_own_business(self, index: VectorIndex) -> None:
        index.upsert(SKILLS, [record("web", EAST), record("5b75fc2b-68ae-532d-ac75-b4017525dc02", EAST)])
        assert index.payloads(SKILLS, ["web"]) == {"web": {}}
        assert index.payloads(SKILLS, [str(schema.point_id("web"))]) == {}


USES: dict[str, Callable[[VectorIndex], object]] = {
    "upsert": lambda index: index.upsert(TOOLS, [record("1", EAST)]),
    "delete": lambda index: index.delete(TOOLS, ["1"]),
    "search": lambda index: index.search(TOOLS, EAST, where=ALL, limit=1),
    "search_text": lambda index: index.search_text(TOOLS, "weather", where=ALL, limit=1),
    "match": lambda index: index.match(TOOLS, where=ALL, limit=1),
    "payloads": lambda index: index.payloads(TOOLS, ["1"]),
    "count": lambda index: index.count(TOOLS),
}


class TestLifeAndThreads:
    @pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
    def test_a_closed_index_is_unavailable(self, index: VectorIndex, use: Callable[[VectorIndex], object]) -> None:
        index.upsert(TOOLS, [record("1", EAST, "weather")])
        index.close()
        index.close()
        with pytest.raises(IndexUnavailable):
            use(index)

    def test_threads_write_and_search_at_once(self, make_edge: Callable[[], VectorIndex]) -> None:
        # Not the client's local mode: that one is for tests and has no locks.
        index = make_edge()

        def work(thread: int) -> None:
            for round_ in range(30):
                mine = [f"{thread}-{n}" for n in range(5)]
                index.upsert(SKILLS, [record(key, EAST, "weather", {"org_id": str(round_)}) for key in mine])
                index.delete(SKILLS, mine[:2])
                index.search(SKILLS, EAST, where=only(org_id=[str(round_)]), limit=3)
                index.search_text(SKILLS, "weather", where=ALL, limit=3)
                index.match(SKILLS, where=ALL, limit=3)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        assert index.count(SKILLS) == 4 * 3
