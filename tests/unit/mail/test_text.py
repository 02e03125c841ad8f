"""One tokenizer for both engines (message-search, section 2), and what they make of its words."""

from __future__ import annotations

import math
import re
import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from skillroute.core.documents.term_weights import weight
from skillroute.mail.text import (
    MAX_IMPACT,
    MAX_LEXEME_BYTES,
    MAX_TERMS,
    SearchText,
    folded,
    impacts,
    query_terms,
    search_query,
    search_vector,
    storable,
)

# Letters that change with their neighbours or fall apart, scripts with marks and without blanks, and what is no word.
ODD = (
    "aZ1_-.'\"\\:|&!()<>* \n\0ßſİıΣσςÅå\u030a\u0301\u0345éﬁ½²①ⅣΩ日本語ー々ｶﾞきカ\u3099한\u1112\u1161\u11ab\u0e01\u0e33"
    "हिंदीعَרַב\u05d0\u2010\u2011\u00ad\u200d\u20dd😀\ufe0f\ud800𝟙𠀀"
)
odd_texts = st.text(st.sampled_from(ODD), max_size=30)
texts = st.one_of(
    st.text(max_size=60),
    odd_texts,
    st.lists(st.sampled_from(["AND", "NOT", "NEAR", "or", *ODD]), max_size=12).map("".join),
)


def document(text: str) -> list[str]:
    return list(impacts(SearchText("", text)))


def test_no_impact_is_above_the_most_and_one_term_alone_comes_near_it() -> None:
    """Coverage is a share of it (docs/adr/0040)."""
    [impact] = impacts(SearchText("", "invoice")).values()
    [often] = impacts(SearchText("invoice " * 20, "")).values()
    assert impact < often < MAX_IMPACT == pytest.approx(often, abs=0.25)


def query(text: str) -> list[str]:
    return list(query_terms(text))


@pytest.mark.parametrize(
    ("text", "found", "asked"),
    [
        ("", [], []),
        (" \n\t", [], []),
        ("\0", [], []),
        ("\ud800", [], []),
        ("?!… — *** ()", [], []),
        ("😀 ❤️ 👨‍👩‍👧", [], []),
        # split on what is neither letter nor digit, lower case, no stemming
        ("Deploying deploys", ["deploying", "deploys"], ["deploying", "deploys"]),
        ("v1.2/rc3", ["v1", "2", "rc3"], ["v1", "2", "rc3"]),
        ("snake_case_name", ["snake", "case", "name"], ["snake", "case", "name"]),
        ("don't", ["don", "t"], ["don", "t"]),
        ("zap\0zing\ud800zoom", ["zap", "zing", "zoom"], ["zap", "zing", "zoom"]),
        # hyphens
        ("POL-358", ["pol-358", "pol", "358"], ["pol-358"]),
        ("a1-b2-c3", ["a1-b2-c3", "a1-b2", "a1", "b2", "c3"], ["a1-b2-c3"]),
        ("fix/POL-358-hotfix", ["fix", "pol-358-hotfix", "pol-358", "pol", "358", "hotfix"], ["fix", "pol-358-hotfix"]),
        ("-pol- --358", ["pol", "358"], ["pol", "358"]),
        ("pol--358", ["pol", "358"], ["pol", "358"]),
        ("pol\u2010358 pol\u2011358", ["pol-358", "pol", "358"], ["pol-358"]),
        ("ｐｏｌ－３５８", ["pol-358", "pol", "358"], ["pol-358"]),
        ("hy\u00adphen", ["hyphen"], ["hyphen"]),
        ("pol–358", ["pol", "358"], ["pol", "358"]),
        # operators are words in capitals, and of queries only
        ("AND OR NOT NEAR", ["and", "or", "not", "near"], []),
        ("kit AND kat", ["kit", "and", "kat"], ["kit", "kat"]),
        ("near NEAR(kit)", ["near", "kit"], ["near", "kit"]),
        ("READ-AND-WRITE", ["read-and-write", "read-and", "read", "and", "write"], ["read-and-write"]),
        # one spelling: NFKC, and case folded
        ("ﬁx ½ ² Ⅳ", ["fix", "1", "2", "iv"], ["fix", "1", "2", "iv"]),
        ("cafe\u0301 CAFÉ", ["café"], ["café"]),
        ("STRASSE straße", ["strasse"], ["strasse"]),
        ("ΟΔΟΣ οδος οδός", ["οδοσ", "οδόσ"], ["οδοσ", "οδόσ"]),
        ("İstanbul", ["i̇stanbul"], ["i̇stanbul"]),
        # marks belong to their letters
        ("हिंदी भाषा", ["हिंदी", "भाषा"], ["हिंदी", "भाषा"]),
        ("עִבְרִית", ["עִבְרִית"], ["עִבְרִית"]),
        ("عَرَبِيّ", ["عَرَبِيّ"], ["عَرَبِيّ"]),
        ("ဗမာစာ", ["ဗမာစာ"], ["ဗမာစာ"]),
        ("𑄌𑄋𑄴𑄟𑄳𑄦", ["𑄌𑄋𑄴𑄟𑄳𑄦"], ["𑄌𑄋𑄴𑄟𑄳𑄦"]),
        ("한국어", ["한국어"], ["한국어"]),
        # scripts without blanks are cut into pairs
        ("日本語", ["日本", "本語"], ["日本", "本語"]),
        ("語", ["語"], ["語"]),
        ("カタカナ ｶﾅ", ["カタ", "タカ", "カナ"], ["カタ", "タカ", "カナ"]),
        ("使用API搜索", ["使用", "api", "搜索"], ["使用", "api", "搜索"]),
        ("日本-語x", ["日本", "語", "x"], ["日本", "語", "x"]),
        ("人々", ["人々"], ["人々"]),
        ("𠀀𠀁𠀂", ["𠀀𠀁", "𠀁𠀂"], ["𠀀𠀁", "𠀁𠀂"]),
    ],
)  # fmt: skip
def test_texts_are_cut_into_words(text: str, found: list[str], asked: list[str]) -> None:
    assert document(text) == found
    assert query(text) == asked


def test_an_identifier_is_found_by_what_it_begins_with_up_to_eight_parts() -> None:
    parts = list("abcdefghij")
    beginnings = {"-".join(parts[:count]) for count in range(2, 9)}
    assert set(document("-".join(parts))) == {"-".join(parts), *beginnings, *parts}
    # AND in both engines
    text = SearchText("POL-358-hotfix", "pol-359-a")
    assert set(re.findall(r"'([^']*)':", search_vector(text))) == set(impacts(text)) >= {"pol-358", "pol-359"}
    # AND not by what it holds elsewhere, nor by a part of a part
    assert not set(query("358-hotfix POL-35")) & set(document("POL-358-hotfix"))


def test_every_mark_belongs_to_the_letter_before_it_and_nothing_else_does() -> None:
    for code in range(0x110000):
        character = chr(code)
        category = unicodedata.category(character)
        if 0x3099 <= code <= 0x309A:  # of kana, which are cut apart
            continue
        if category in ("Cn", "Cs", "Co") or unicodedata.normalize("NFKC", f"z{character}z") != f"z{character}z":
            continue
        is_selector = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF
        if category.startswith("M") and not is_selector:
            assert document(f"z{character}z") == [f"z{character.casefold()}z"], hex(code)
        elif not character.isalnum() and character not in "-\u2010\u00ad":
            assert document(f"z{character}z") == ["z"], hex(code)


@given(texts, texts)
@example("ΑΣ'NOT", "")
@example("ΑΣ", "'a")
@example("AND\u0301", "NOT\u0338")
def test_a_text_is_found_by_each_of_its_own_words(text: str, rest: str) -> None:
    asked = set(query(text))
    assert asked <= set(document(text))
    # AND whatever stands around it
    assert asked <= set(document(f"{text} {rest}")), rest
    assert asked <= set(impacts(SearchText(f"{rest} {text}", rest)))


@given(texts)
def test_words_hold_nothing_that_an_engine_could_mistake(text: str) -> None:
    for term in [*document(text), *query(text)]:
        assert term
        assert not re.search(r"[\s'\"\\&|!()<>*:_\0\ud800-\udfff]", term)
        assert term == unicodedata.normalize("NFKC", term)


@given(texts)
def test_case_does_not_count(text: str) -> None:
    cased = " ".join(word for word in text.split() if word.upper().lower() == word.lower())
    assert document(cased.upper()) == document(cased.lower()) == document(cased)


class TestImpacts:
    def test_they_are_the_part_of_bm25_that_a_text_alone_decides(self) -> None:
        # GIVEN a subject of two words, and a body of three of which one is the subject's
        values = impacts(SearchText("rain today", "rain rain wind"))
        # THEN a word of the subject counts like two, and the length is that of all words
        norm = 1.2 * (1 - 0.75 + 0.75 * 5 / 60)
        expected = {"rain": 4, "wind": 1, "today": 2}
        assert values == pytest.approx({term: f * 2.2 / (f + norm) for term, f in expected.items()})

    def test_of_an_identifier_the_whole_and_its_parts_count(self) -> None:
        values = impacts(SearchText("", "POL-358"))
        norm = 1.2 * (1 - 0.75 + 0.75 * 3 / 60)
        assert values == pytest.approx(dict.fromkeys(["pol-358", "pol", "358"], 2.2 / (1 + norm)))

    def test_words_of_a_script_without_blanks_count_once(self) -> None:
        assert impacts(SearchText("", "日本-語"))["語"] == impacts(SearchText("", "日本 語"))["語"]

    @given(st.builds(SearchText, texts, texts))
    def test_they_are_positive_and_bounded(self, text: SearchText) -> None:
        assert all(0.0 < value < 2.2 and math.isfinite(value) for value in impacts(text).values())

    def test_more_of_a_word_counts_for_more_and_a_longer_text_for_less(self) -> None:
        once, twice = impacts(SearchText("", "rain")), impacts(SearchText("", "rain rain"))
        assert twice["rain"] > once["rain"] > impacts(SearchText("", "rain " + "wind " * 50))["rain"]


class TestQueryTerms:
    def test_they_weigh_what_their_words_weigh_in_the_order_of_the_query(self) -> None:
        assert query_terms("budget approval approval") == {"budget": weight("budget"), "approval": weight("approval")}
        assert query("zebra apple zebra") == ["zebra", "apple"]

    def test_common_words_are_left_out_unless_there_are_no_others(self) -> None:
        assert query("what is the status of POL-358?") == ["what", "status", "pol-358"]
        assert query("to of the and") == ["to", "of", "the", "and"]

    def test_not_and_and_in_lower_case_are_words(self) -> None:
        assert query("not now") == ["not", "now"]


class TestSearchVector:
    def test_it_holds_words_with_their_places_and_the_title_s_label(self) -> None:
        assert search_vector(SearchText("Rain today", "rain POL-358")) == (
            "'rain':1A,3 'today':2A 'pol-358':4 'pol':5 '358':6"
        )

    @given(st.builds(SearchText, texts, texts))
    def test_it_holds_the_words_that_the_index_holds(self, text: SearchText) -> None:
        assert re.findall(r"'([^']*)':", search_vector(text)) == list(_in_order_of_the_text(text))

    def test_what_postgresql_cannot_take_is_left_out(self) -> None:
        longest, longer = "é" * (MAX_LEXEME_BYTES // 2), "a" * (MAX_LEXEME_BYTES + 1)
        vector = search_vector(SearchText(longest, f"{longer} {'rain ' * 20_000}"))
        words = dict(entry.split(":") for entry in vector.split(" "))
        assert list(words) == [f"'{longest}'", "'rain'"]
        assert len(words["'rain'"].split(",")) == 255

    def test_places_end_where_postgresql_s_do(self) -> None:
        vector = search_vector(SearchText("", " ".join(f"w{number}" for number in range(17_000))))
        assert vector.endswith("'w16998':16383 'w16999':16383")

    def test_a_text_of_more_words_than_postgresql_takes_is_found_by_the_first(self) -> None:
        vector = search_vector(SearchText("", " ".join(f"{number:0200}" for number in range(10_000))))
        words = vector.split(" ")
        assert sum(len(word.split(":")[0]) - 2 + 5 for word in words) <= 2**20 - 1
        assert len(words) == (2**20 - 1) // 205


def _in_order_of_the_text(text: SearchText) -> dict[str, None]:
    return dict.fromkeys([*impacts(SearchText("", text.title)), *impacts(SearchText("", text.body))])


def test_a_tsquery_asks_for_any_of_the_words() -> None:
    assert search_query(["rain", "pol-358"]) == "'rain' | 'pol-358'"
    assert search_query({"rain": 2.0}) == "'rain'"


class TestSearchTextItself:
    def test_secrets_are_taken_out_of_both_parts(self) -> None:
        text = SearchText.of("password=hunter2", "token: abc")
        assert document(text.title) + document(text.body) == ["password", "token"]

    @pytest.mark.parametrize(
        "text",
        [
            "ｐａｓｓｗｏｒｄ=hunter2",
            "password＝hunter2",
            "pass\u00adword=hunter2",
            "api\u2011key: hunter2",
            "ghp＿" + "hunter2" * 4,
            "ｇｈｐ_" + "hunter2" * 4,
            "password: …hunter2",
            "password: … hunter2",
            "passphrase: … hunter2",
        ],
    )
    def test_a_secret_is_looked_for_in_the_spelling_that_is_searched(self, text: str) -> None:
        said = SearchText.of(text, text)
        assert "hunter" not in f"{said.embedded} {search_vector(said)} {list(impacts(said))}"

    @pytest.mark.parametrize(
        ("title", "body", "searched"),
        [
            ("the password:", "hunter2x", ("the password:", " … ")),
            ("the password is", "hunter2x ok", ("the password is", " …  ok")),
            ("Passwords:", "hunter2, hunter3\nthe end", ("Passwords:", " … \nthe end")),
            ("password: |", "  hunter2\n  hunter3\nthe end", ("password:  … ", "\nthe end")),
            ("-----BEGIN PRIVATE KEY-----", "hunter2\n-----END PRIVATE KEY----- ok", (" … ", " ok")),
            ("<password>", "hunter2</password>", ("<password> … ", "</password>")),
            ("password=hunter2", "and so on", ("password= … ", "and so on")),
            ("Hello", "there", ("Hello", "there")),
            ("", "", ("", "")),
            ("", "\x1e", ("", " ")),
            ("a\x1eb\n", "\nc\x1e", ("a b\n", "\nc ")),
        ],
    )
    def test_a_title_may_name_what_its_body_tells(self, title: str, body: str, searched: tuple[str, str]) -> None:
        assert SearchText.of(title, body) == SearchText(*searched)

    @given(texts, texts)
    def test_what_has_no_secret_stays_where_it_was(self, title: str, body: str) -> None:
        said = SearchText.of(title, body)
        assert document(said.title) == document(title)
        assert document(said.body) == document(body)

    def test_what_is_embedded_is_all_of_it(self) -> None:
        assert SearchText("a", "b").embedded == "a\n\nb"
        assert SearchText("", "b").embedded == "b"
        assert SearchText("a", " ").embedded == "a"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", ""), ("  a\t b\n\nc ", "a b c"), ("a\u00a0\u3000b", "a b"), ("a\0b", "a b"), ("a\ud800", "a"), ("\0", "")],
)
def test_queries_are_trimmed_and_folded(text: str, expected: str) -> None:
    assert folded(text) == expected
    assert folded(folded(text)) == expected


def test_of_a_query_with_very_many_terms_the_rarest_are_looked_for_in_its_order() -> None:
    # GIVEN a pasted text of words that are in every eighth text or rarer, and of more that nobody else has
    common = ["game", "weather", "movie"]
    rare = [f"pol-{number}" for number in range(MAX_TERMS + 10)]
    # WHEN it is cut, THEN what is looked for is bounded, common words go first, and the order stays
    assert query(" ".join([*common, *rare])) == rare[:MAX_TERMS]
    assert query(" ".join([*common, *rare[:5]])) == [*common, *rare[:5]]


def test_what_neither_postgresql_nor_json_can_hold_is_refused() -> None:
    assert storable("ok 😀\n") == "ok 😀\n"
    for text in ("a\0", "\ud800", "\udfff!"):
        with pytest.raises(ValueError, match="NUL"):
            storable(text)


@given(texts)
def test_what_is_folded_is_storable(text: str) -> None:
    assert storable(folded(text)) == folded(text)


def took_s(work: Callable[[], object]) -> float:
    """Return the seconds of a processor that some work took."""
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.mark.parametrize(
    "unit",
    [
        "-",
        "a",
        "a-",
        "é",
        "e\u0301",
        "\u0301",
        "\u0316\u0301",
        "\uff9e\u0301",
        "\ufdfa",
        "日",
        "日-",
        "日a",
        "ि",
        "ABC ",
        "a1 ",
        "AND ",
        "Σ'",
        "\u00ad",
        "_a",
        "क",
    ],
)
@pytest.mark.parametrize("work", [document, query, lambda text: search_vector(SearchText(text, text))])
def test_time_grows_with_the_length_and_no_faster(unit: str, work: Callable[[str], object]) -> None:
    # GIVEN 50,000 characters that repeat themselves, and a sixteenth of them
    long = unit * (50_000 // len(unit))
    short = long[: len(long) // 16]
    # WHEN both are cut, THEN the long one takes 16 times as long, not 256 times, at least once: noise only adds
    assert any(took_s(lambda: work(long)) < 64 * max(took_s(lambda: work(short)), 0.0002) for _ in range(3))
