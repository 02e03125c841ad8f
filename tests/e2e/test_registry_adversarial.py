"""Registry searches that were not made to be searches: every one of them gets a sane answer, always the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from skillroute.registry.search.query import MAX_KEYWORD, MAX_KEYWORDS, MIN_KEYWORD

from tests.conftest import fresh_database
from tests.e2e.generated import agents, servers
from tests.e2e.processes import HASHING, SOAK, Bare, Processes, answered
from tests.e2e.work import paths, put_servers, search_registry, verified

if TYPE_CHECKING:
    from skillroute_local.postgres import EmbeddedPostgres

SERVERS = 300
MAX_LENGTH = 10_000
EXAMPLES = 1000 if SOAK else 60
ROUTE = "/api/v1/search/registry"

_PECULIAR = [
    {"path": "/hebrew", "name": "שרת יומן", "description": "מנהל פגישות."},
    {"path": "/arabic", "name": "خادم التقويم", "description": "يدير المواعيد."},
    {"path": "/japanese", "name": "カレンダーサーバー", "description": "会議の予定を管理します。"},
    {"path": "/korean", "name": "달력서버", "description": "회의를 예약합니다."},
    {"path": "/greek", "name": "ΗΜΕΡΟΛΌΓΙΟ", "description": "Όσα γίνονται αύριο."},
    {"path": "/turkish", "name": "İSTANBUL TAKVİMİ", "description": "Toplantılar."},
    {"path": "/emoji", "name": "Party 🎉🥳", "description": "Plans a 🎂."},
    {"path": "/bold", "name": "𝐂𝐚𝐥𝐞𝐧𝐝𝐚𝐫 𝟚𝟘", "description": "Letters outside the plane that most are in."},
    {"path": "/c++.net_(x)*", "name": "C++/.NET [beta] (x)*", "description": "100% $1 \\d+ a|b ^start end$ %s {0}."},
    {"path": "/sql", "name": "Robert'); DROP TABLE", "description": 'SELECT * FROM students; -- "quoted" \\ and so on'},
]


@pytest.fixture(scope="module")
def server(
    postgres_server: EmbeddedPostgres, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bare]:
    """A server with some hundred MCP servers, started once for all the tests of this module, which only ask it."""
    directory = tmp_path_factory.mktemp("adversarial")
    started = Processes(directory)
    with fresh_database(postgres_server, migrated_template) as url:
        try:
            server = started.bare(directory / "home", url, **HASHING).ready()
            put_servers(server, *_PECULIAR, *servers(SERVERS, tools_each=2))
            answered(server.http.put("/api/v1/agents", json=agents(10)))
            yield server
            assert verified(server)["ok"]
            assert "Traceback" not in server.output
        finally:
            started.close()


def ask(server: Bare, **request: Any) -> httpx.Response:
    """Send a request as ASCII: a lone surrogate can be escaped in JSON, but not encoded."""
    return server.http.post(ROUTE, content=json.dumps(request), headers={"content-type": "application/json"})


def sane(server: Bare, query: str, **request: Any) -> dict[str, Any]:
    """Search twice. Both answers must be 200, the same, and what any answer must be; return it without its times."""
    first, second = (_without_times(answered(ask(server, query=query, **request))) for _ in range(2))
    assert first == second
    assert first["search_mode"] == "hybrid"
    most = request.get("max_results", 3)
    for kind in ("servers", "tools", "agents"):
        _assert_ranked(first[kind], most)
    for found in first["servers"]:
        _assert_ranked(found["matching_tools"], 10)
    keywords = first["metadata"]["keywords"]
    assert len(keywords) <= MAX_KEYWORDS
    assert all(MIN_KEYWORD <= len(keyword) <= MAX_KEYWORD for keyword in keywords)
    return first


def _assert_ranked(found: list[dict[str, Any]], most: int) -> None:
    scores = [each["relevance_score"] for each in found]
    assert len(scores) <= most
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert scores == sorted(scores, reverse=True)


def _without_times(answer: dict[str, Any]) -> dict[str, Any]:
    metadata = {name: said for name, said in answer["metadata"].items() if not name.endswith("_ms")}
    return answer | {"metadata": metadata}


def boosted(server: Bare, query: str) -> dict[str, float]:
    """Return what a keyword was found in, by path, and the sum of its boosts."""
    figures = sane(server, query, explain=True, entity_types=["mcp_server", "a2a_agent"])["explain"]
    return {each["path"]: each["text_boost"] for each in figures if each["type"] != "tool" and each["text_boost"]}


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(".*", id="everything, to a regular expression"),
        pytest.param("%", id="everything, to LIKE"),
        pytest.param("%%% %_% ___", id="LIKE's signs, as many as make a word"),
        pytest.param("^$ [a-z]+ (?:) a{1,} \\w+ \\", id="regular expressions"),
        pytest.param("(a+)+$ [ ( { ?* \\1 (?P<", id="broken and evil ones"),
        pytest.param("' OR 1=1 --", id="SQL"),
        pytest.param("$1 :kw :: $$ ; \\; /* */", id="placeholders"),
        pytest.param("{} [] () <> | & ! * <-> :*", id="operators of full text search"),
        pytest.param("the of and is it to a", id="stop words"),
        pytest.param("a b c 12 x1", id="short words"),
        pytest.param("?!… — «»", id="signs"),
        pytest.param("🎉🥳🎂 👩‍👩‍👧‍👦 🏳️‍🌈", id="emoji"),
        pytest.param("\u202e\u200f\u200b\ufeff\u2066", id="invisible signs"),
        pytest.param("e\u0301\u0301\u0301 \u0300\u0300\u0300", id="combining signs"),
        pytest.param("\x01\x02\x1f\x7f\x85", id="control characters"),
        pytest.param("\ufffd \uffff \ufdd0 \U0010ffff", id="no characters"),
    ],
)
def test_what_holds_no_keyword_is_found_in_nothing(server: Bare, query: str) -> None:
    assert boosted(server, query) == {}
    sane(server, query, fusion="rrf", max_results=50)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("יומן", "/hebrew"),
        ("\u202bפגישות\u202c", "/hebrew"),
        ("التقويم", "/arabic"),
        ("カレンダーサーバー", "/japanese"),
        ("カレンダー", "/japanese"),
        ("달력서버", "/korean"),
        ("ημερολόγιο", "/greek"),
        ("İSTANBUL takvİmİ", "/turkish"),
        ("party 🎉", "/emoji"),
        ("𝐂𝐚𝐥𝐞𝐧𝐝𝐚𝐫", "/bold"),
        ("c++ .net (x)*", "/c++.net_(x)*"),
        ("Robert'); DROP TABLE mcp.registry_entities; --", "/sql"),
    ],
)
def test_what_is_written_so_is_found_by_it_first(server: Bare, query: str, path: str) -> None:
    assert paths(sane(server, query))[0] == path
    assert path in boosted(server, query)


def test_a_query_of_a_thousand_tokens_is_cut_to_its_longest_and_still_finds(server: Bare) -> None:
    words = " ".join(f"w{number:03}" for number in range(999))
    query = f"{words} chandelier"
    answer = sane(server, query)
    assert len(answer["metadata"]["keywords"]) == MAX_KEYWORDS
    assert "chandelier" in answer["metadata"]["keywords"]
    assert len(answer["servers"]) == 3
    # One keyword of so many weighs little beside noise that is near to a tool: what it is found in is what counts.
    found = boosted(server, query)
    assert found
    assert all("chandelier" in path for path in found)


def test_a_thousand_times_the_same_counts_once(server: Bare) -> None:
    assert boosted(server, "chandelier " * 900) == boosted(server, "chandelier")


@pytest.mark.parametrize(
    "word",
    [
        pytest.param("x" * MAX_LENGTH, id="one letter"),
        pytest.param("chandelier" * 1000, id="a word without blanks"),
        pytest.param("漢" * MAX_LENGTH, id="CJK"),
        pytest.param("é" * MAX_LENGTH, id="two bytes each"),
        pytest.param("𝐂" * MAX_LENGTH, id="four bytes each"),
        pytest.param("_" * MAX_LENGTH, id="what LIKE takes for anything"),
    ],
)
def test_a_word_of_ten_thousand_characters_is_a_query(server: Bare, word: str) -> None:
    answer = sane(server, word)
    assert answer["metadata"]["keywords"] == [word[:MAX_KEYWORD]]
    assert boosted(server, word) == {}


@pytest.mark.parametrize("tag", ["#.*", "#%", "#'; DROP TABLE x; --", "#" * 1000, "##chandelier", "# chandelier"])
def test_what_looks_like_a_tag_is_no_error(server: Bare, tag: str) -> None:
    sane(server, tag)
    sane(server, f"chandelier {tag}")


@pytest.mark.parametrize("tag", [".*", "%", "_isbon", "{lisbon}", "lisbon,oslo", "'; --", "🎉", "\u202elisbon"])
def test_a_tag_is_matched_to_the_letter(server: Bare, tag: str) -> None:
    assert paths(sane(server, "chandelier", tags=["lisbon", "chandelier"])) == ["/lisbon/chandelier"]
    assert sane(server, "chandelier", tags=[tag])["servers"] == []


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("nul \0 within", id="NUL"),
        pytest.param("\0", id="nothing but NUL"),
        pytest.param("a lone \ud83d half", id="a lone high surrogate"),
        pytest.param("\udc00", id="a lone low surrogate"),
        pytest.param("the wrong way round \udf89\ud83c", id="surrogates the wrong way round"),
        pytest.param("x" * (MAX_LENGTH + 1), id="a character too many"),
        pytest.param("🎉" * (MAX_LENGTH + 1), id="an emoji too many"),
        pytest.param(" \t\r\n\u3000\u2003 ", id="blanks of all kinds"),
    ],
)
def test_what_cannot_be_a_query_is_refused_in_words(server: Bare, query: str) -> None:
    response = ask(server, query=query)
    [problem] = answered(response, 422)["detail"]
    assert problem["loc"] == ["body", "query"]
    assert problem["msg"]
    assert search_registry(server, "chandelier")["servers"], "and the next one is answered"


def test_surrogates_that_belong_together_are_one_character(server: Bare) -> None:
    assert paths(sane(server, "\ud83c\udf89 party"))[0] == "/emoji"


def test_the_longest_query_may_have_blanks_around_it(server: Bare) -> None:
    assert sane(server, f"  {'x' * MAX_LENGTH}\n\n")["query"] == "x" * MAX_LENGTH


_ANYTHING = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
_KNOWN = st.sampled_from(
    ["lisbon", "Chandelier", "REPAIR_TRACTOR_OSLO", "the", "#oslo", "שרת", "カレンダー", "İ", "ß", "ﬁ"]
)
_TEXTS = st.one_of(
    st.text(_ANYTHING, min_size=1, max_size=200),
    st.text(_ANYTHING, min_size=MAX_LENGTH // 2, max_size=MAX_LENGTH),
    st.lists(st.one_of(_KNOWN, st.text(_ANYTHING, max_size=20)), min_size=1, max_size=40).map(" ".join),
    # Few characters, often: what repeats is what a pattern or an index has the most trouble with.
    st.builds(
        lambda text, times: (text * times)[:MAX_LENGTH],
        st.text(_ANYTHING, min_size=1, max_size=5),
        st.integers(1, MAX_LENGTH),
    ),
).filter(str.strip)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
@given(query=_TEXTS, most=st.integers(1, 50), fusion=st.sampled_from(["boost", "rrf"]), explain=st.booleans())
@example(query="ﬁ" * MAX_LENGTH, most=50, fusion="boost", explain=True)
@example(query="İ" * MAX_LENGTH, most=1, fusion="rrf", explain=False)
def test_any_text_gets_a_sane_answer(server: Bare, query: str, most: int, fusion: str, explain: bool) -> None:
    answer = sane(server, query, max_results=most, fusion=fusion, explain=explain)
    assert answer["query"] in query


@settings(max_examples=EXAMPLES // 2, deadline=None, derandomize=True)
@given(
    query=st.tuples(
        st.text(_ANYTHING, max_size=50),
        st.one_of(st.just("\0"), st.characters(categories=["Cs"])),
        st.text(_ANYTHING, max_size=50),
    ).map("".join)
)
def test_any_text_that_is_none_is_refused(server: Bare, query: str) -> None:
    [problem] = answered(ask(server, query=query), 422)["detail"]
    assert problem["loc"] == ["body", "query"]
