"""Searches over agent mail that were not made to be searches: each gets a sane answer, or a 422 that names a field."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from skillroute.mail.search.cursor import Cursor
from skillroute.mail.search.model import MAX_TEXT, MessageSearchRequest

from tests.conftest import fresh_database
from tests.e2e.generated import messages
from tests.e2e.processes import HASHING, SOAK, Bare, Processes, answered
from tests.e2e.work import put_mail, search_mail, verified

if TYPE_CHECKING:
    from skillroute_local.postgres import EmbeddedPostgres

EXAMPLES = 1000 if SOAK else 30
ROUTE = "/api/v1/search/messages"
MODES = ("lexical", "semantic", "hybrid", "hybrid_rerank")

_PECULIAR = (
    ("hebrew", "פגישה מחר", "שלחתי את החשבונית."),
    ("arabic", "اجتماع غدا", "أرسلت الفاتورة."),
    ("japanese", "会議の予定", "請求書を送りました。"),
    ("greek", "ΛΟΓΑΡΙΑΣΜΌΣ", "Όσα γίνονται αύριο."),
    ("turkish", "İSTANBUL TOPLANTISI", "Fatura gönderildi."),
    ("emoji", "Party 🎉🥳", "Plans a 🎂."),
    ("signs", "100% of a_b \\ c++ (x)*", "' OR 1=1; -- $1 :kw :: {0} <-> !"),
    ("ligature", "ﬁnal oﬃce ｗｉｄｅ", "e\u0301 combined"),
    ("long", "x" * 1000, "chandelier" * 2000),
)


@pytest.fixture(scope="module")
def servers(
    postgres_server: EmbeddedPostgres, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Bare, Bare]]:
    """A server by the index and one by full text over the same mail, started once for tests that only ask."""
    directory = tmp_path_factory.mktemp("adversarial")
    started = Processes(directory)
    with fresh_database(postgres_server, migrated_template) as url:
        try:
            first = started.bare(directory / "home", url, **HASHING)
            second = started.bare(directory / "home", url, **HASHING, SKILLROUTE_SEARCH_ENGINE="fts5")
            http = first.ready().http
            put_mail(http, "project", {"key": "odd", "name": "Odd"})
            told = {"project": "odd", "from": "Ann", "to": ["Ben"]}
            put_mail(http, "message", *(told | {"key": k, "subject": s, "body": b} for k, s, b in _PECULIAR))
            put_mail(http, "message", *messages(60, "odd"))
            put_mail(http, "product", {"key": "all", "name": "All", "projects": ["odd"]})
            yield first, second.ready()
            verified(first)
            assert "Traceback" not in first.output + second.output
        finally:
            started.close()


def ask(server: Bare, path: str, request: Any) -> httpx.Response:
    """Send a request as ASCII: a lone surrogate can be escaped in JSON, but not encoded."""
    return server.http.post(path, content=json.dumps(request), headers={"content-type": "application/json"})


def sane(server: Bare, **request: Any) -> dict[str, Any] | None:
    """Ask twice. Both answers must be the same, and what any answer must be; None for one that names a wrong field."""
    first, second = (ask(server, ROUTE, request) for _ in range(2))
    assert first.status_code == second.status_code
    if first.status_code == 422:
        _assert_names_a_field(first, request)
        return None
    answer, again = (_without_timing(answered(each)) for each in (first, second))
    assert answer == again
    scores = [each["score"] for each in answer["results"]]
    assert all(0.0 <= score <= 1.0 for score in scores)
    if request.get("ranking") != "recency":
        places = [(-each["score"], each["id"]) for each in answer["results"]]
        assert places == sorted(places) or answer["mode"] == "hybrid_rerank"
    limit = min(max(request.get("limit", 50), 1), 1000)
    assert len(scores) <= limit
    assert ("next_cursor" in answer) == (len(scores) == limit)
    assert (Cursor.parse(answer.get("next_cursor")) is None) == ("next_cursor" not in answer)
    assert answer["mode"] in MODES
    return answer


def _assert_names_a_field(response: httpx.Response, request: dict[str, Any]) -> None:
    problems = response.json()["detail"]
    assert problems
    for problem in problems:
        where, field, *_ = problem["loc"]
        assert where == "body"
        assert field in request or field in MessageSearchRequest.model_fields
        assert problem["msg"]


def _without_timing(answer: dict[str, Any]) -> dict[str, Any]:
    answer.get("explain", {}).pop("timing", None)
    return answer


def keys(answer: dict[str, Any] | None) -> list[str]:
    assert answer is not None
    return [each["key"] for each in answer["results"]]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("פגישה", "hebrew"),
        ("اجتماع", "arabic"),
        ("請求書", "japanese"),
        ("λογαριασμός", "greek"),
        ("İstanbul", "turkish"),
        ("party 🎉", "emoji"),
        ("a_b :kw 100%", "signs"),
        ("final OFFICE wide", "ligature"),
        ("é", "ligature"),
        ("x" * 1000, "long"),
    ],
)
def test_what_is_written_so_is_found_by_it_first(servers: tuple[Bare, Bare], text: str, key: str) -> None:
    for server in servers:
        assert keys(sane(server, text=text))[0] == key
        for mode in MODES:
            assert key in keys(sane(server, text=text, mode=mode))


@pytest.mark.parametrize(
    "text",
    [
        "%",
        "_",
        "\\",
        "%%% %_%",
        "?!… — «»",
        "AND",
        "OR NOT NEAR",
        "🎉",
        "\u200b\ufeff",
        ":* & | !",
        "\0",
        "\ud83d",
        "$$",
    ],
    ids=ascii,
)
def test_what_holds_no_term_finds_nothing_whatever_the_filters(servers: tuple[Bare, Bare], text: str) -> None:
    for server in servers:
        for mode in MODES:
            answer = sane(server, text=f"{text} ?", mode=mode, explain=True, sender_name="BlueLake")
            assert keys(answer) == []
            assert answer is not None and answer["explain"]["method"] == "text_match"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", "x" * (MAX_TEXT + 1)),
        ("text", ["ledger"]),
        ("doc_kind", "product"),
        ("mode", "fts5"),
        ("ranking", "oldest"),
        ("limit", "10"),
        ("limit", True),
        ("limit", 1.5),
        ("min_score", "high"),
        ("cursor", 7),
        ("explain", "yes"),
        ("project_id", 0),
        ("project_id", 2**63),
        ("product_id", -1),
        ("importance", ["urgent", "dire"]),
        ("importance", "urgent"),
        ("direction", "sideways"),
        ("agent_name", " "),
        ("sender_name", "a\0b"),
        ("recipient_name", "x" * 257),
        ("thread_id", "\ud800"),
        ("ack_required", "true"),
        ("time_range", {"min_ts": 2**63}),
        ("time_range", [0, 1]),
        ("scope", "everything"),
        ("scope", {"caller_scoped": {}}),
        ("scope", {"project_set": {"allowed_project_ids": [0]}}),
        ("redaction", {"redact_all": True}),
        ("redaction", {"placeholder": "\0"}),
        ("nonsense", 1),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_what_is_wrong_is_refused_by_its_name(servers: tuple[Bare, Bare], field: str, value: Any) -> None:
    refused = ask(servers[0], ROUTE, {"text": "bicycle", field: value})
    problems = answered(refused, 422)["detail"]
    assert {tuple(each["loc"][:2]) for each in problems} == {("body", field)}
    assert search_mail(servers[0].http, "bicycle")["results"], "and the next one is answered"


@pytest.mark.parametrize("limit", [-(10**30), -1, 0, 1, 1000, 1001, 10**30])
def test_numbers_that_are_too_small_or_too_large_are_clamped(servers: tuple[Bare, Bare], limit: int) -> None:
    answer = sane(servers[0], text="stands", limit=limit, rrf_k=limit, rerank_top_k=limit, mode="hybrid_rerank")
    assert answer is not None
    assert answer["results"]


_ANYTHING = st.characters()  # half of a surrogate pair and NUL as well
_KNOWN = st.sampled_from(
    ["stands", "Bicycle", "odd-lisbon-3", "AND", "the", "פגישה", "会議", "İ", "ß", "ﬁ", "%", "from:Ann", "sk-abc123"]
)
_FEW = st.text(_ANYTHING, min_size=1, max_size=4)
_TEXTS = st.one_of(
    st.text(_ANYTHING, max_size=100),
    st.lists(st.one_of(_KNOWN, st.text(_ANYTHING, max_size=10)), max_size=20).map(" ".join),
    st.builds(lambda text, times: (text * times)[:MAX_TEXT], _FEW, st.integers(1, MAX_TEXT // 2)),
)
_NAMES = st.one_of(st.sampled_from(["Ann", "BLUELAKE", "RedFox", "nobody"]), st.text(_ANYTHING, max_size=20))
_IDS = st.one_of(st.integers(1, 100), st.integers())
_SCORES = st.one_of(st.floats(), st.floats(-2, 2), st.integers(-(2**53), 2**53).map(float))


def _token(score: float, id_: int, engine: str) -> str:
    return f"s{struct.pack('>d', score).hex()}:i{id_}{engine}"


_CURSORS = st.one_of(
    st.builds(_token, _SCORES, _IDS, st.sampled_from(["", ":efts5", ":etantivy", ":ehybrid", ":eelastic", ":e"])),
    st.text(_ANYTHING, max_size=40),
)
_TIMES = st.one_of(st.none(), st.integers(1_699_999_999_000_000, 1_700_000_100_000_000), st.integers())
_SCOPES = st.one_of(
    st.just("unrestricted"),
    _NAMES.map(lambda name: {"caller_scoped": {"caller_agent": name}}),
    st.lists(_IDS, max_size=5).map(lambda ids: {"project_set": {"allowed_project_ids": ids}}),
)
_REQUESTS = st.fixed_dictionaries(
    {"text": _TEXTS, "mode": st.sampled_from(MODES)},
    optional={
        "doc_kind": st.sampled_from(["message", "agent", "project"]),
        "ranking": st.sampled_from(["relevance", "recency"]),
        "limit": st.one_of(st.integers(1, 60), st.integers()),
        "rerank_top_k": st.integers(),
        "rrf_k": st.integers(),
        "min_score": st.one_of(st.floats(0, 1), st.floats(allow_nan=False, allow_infinity=False)),
        "cursor": _CURSORS,
        "explain": st.booleans(),
        "project_id": _IDS,
        "product_id": _IDS,
        "importance": st.lists(st.sampled_from(["low", "normal", "high", "urgent"]), max_size=20),
        "direction": st.sampled_from(["inbox", "outbox"]),
        "agent_name": _NAMES,
        "sender_name": _NAMES,
        "recipient_name": _NAMES,
        "thread_id": _NAMES,
        "ack_required": st.booleans(),
        "time_range": st.fixed_dictionaries({"min_ts": _TIMES, "max_ts": _TIMES}),
        "scope": _SCOPES,
        "redaction": st.fixed_dictionaries({"redact_body": st.booleans(), "placeholder": _FEW}),
    },
)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
@given(request=_REQUESTS)
@example(request={"text": "ﬁ" * MAX_TEXT, "mode": "hybrid", "explain": True})
@example(request={"text": "stands", "mode": "lexical", "cursor": _token(1e308, 2**63 - 1, ""), "ranking": "recency"})
@example(request={"text": "", "ack_required": True, "cursor": _token(-1e308, -(2**63), ""), "ranking": "recency"})
def test_any_request_gets_a_sane_answer(servers: tuple[Bare, Bare], request: dict[str, Any]) -> None:
    for server in servers:
        sane(server, **request)


_ARGUMENTS = st.fixed_dictionaries(
    {"query": _TEXTS},
    optional={
        "project_key": st.one_of(st.just("odd"), _NAMES),
        "product_key": st.one_of(st.just("all"), _NAMES),
        "project": st.one_of(st.just("odd"), _NAMES),
        "limit": st.integers(),
        "offset": st.integers(),
        "ranking": st.one_of(st.sampled_from(["relevance", "recency"]), _NAMES),
        "mode": st.one_of(st.sampled_from(MODES), _NAMES),
        "sender": _NAMES,
        "from_agent": _NAMES,
        "importance": st.one_of(st.sampled_from(["high", "URGENT, low", ","]), _NAMES),
        "thread_id": _NAMES,
        "date_start": st.one_of(st.dates().map(str), st.datetimes().map(str), _NAMES),
        "until": st.one_of(st.dates().map(str), st.datetimes().map(str), _NAMES),
        "cursor": _CURSORS,
        "explain": st.booleans(),
    },
)


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
@given(arguments=_ARGUMENTS, tool=st.sampled_from(["search_messages", "search_messages_product"]))
def test_any_arguments_get_a_sane_answer_of_the_tools(
    servers: tuple[Bare, Bare], arguments: dict[str, Any], tool: str
) -> None:
    # With the key that it asks for, and without what it does not know, more of them are answered than refused.
    key, foreign = ("project_key", {"product_key", "project"}), {"project_key", "offset", "mode", "explain"}
    if tool == "search_messages":
        arguments = {"project_key": "odd"} | {name: said for name, said in arguments.items() if name not in key[1]}
    else:
        arguments = {"product_key": "all"} | {name: said for name, said in arguments.items() if name not in foreign}
    for server in servers:
        response = ask(server, f"/api/v1/tools/{tool}", arguments)
        if response.status_code == 422:
            [problem] = response.json()["detail"]
            assert problem["loc"][0] == "body" and problem["loc"][1] in arguments
        else:
            assert isinstance(answered(response)["result"], list)
