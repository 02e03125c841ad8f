"""Boosts, formula, order, and scoring before filtering (decision 23).

Every number of registry-search-design, Dual Search Strategy, Score Combination, Score-Before-Filter and
Diagnostic Logging.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator

import pytest
from skillroute.core.observability import logger
from skillroute.registry.collection import REGISTRY_DOCUMENTS

from tests.builders import System
from tests.component.registry.search.searched import Registry
from tests.doubles import LogRecords, at
from tests.soak import SOAK

EXACT = 1e-9


@pytest.fixture
def registry(system: System) -> Registry:
    return Registry(system)


# Boosts


@pytest.mark.parametrize(
    ("said", "boost"),
    [
        pytest.param({"path": "/x/needle"}, 5.0, id="path"),
        pytest.param({"name": "My Needle"}, 3.0, id="name"),
        pytest.param({"description": "Has a needle."}, 2.0, id="description"),
        pytest.param({"tags": ("sewing", "needle")}, 1.5, id="tags"),
        pytest.param({"tools": {"thread_needle": None}}, 1.0, id="a tool's name"),
        pytest.param({"tools": [("thread", "Threads a needle.", None)]}, 1.0, id="a tool's description"),
        pytest.param({"tools": [("needle", "Threads a needle.", None)]}, 1.0, id="a tool counts once"),
        pytest.param({"tools": {"needle_in": None, "needle_out": None}}, 2.0, id="each tool counts"),
        pytest.param({"description": "needle, Needle, NEEDLE"}, 2.0, id="a place counts once"),
        pytest.param({"description": "Many needles, pinneedle"}, 2.0, id="part of a word"),
        pytest.param({"description": "A need. Les autres."}, 0.0, id="not over the end of a word"),
        pytest.param(
            {
                "path": "/needle",
                "name": "Needle",
                "description": "A needle.",
                "tags": ("needle",),
                "tools": {"needle": None},
            },
            12.5,
            id="all places add up",
        ),
    ],
)
def test_a_keyword_adds_the_boost_of_each_place_it_is_in(
    registry: Registry, said: dict[str, object], boost: float
) -> None:
    path = str(said.pop("path", "/x"))
    registry.server(path, at(0.1), **said)  # type: ignore[arg-type]
    score = registry.figures("needle")[path]
    assert score.text_boost == boost
    assert score.boost_contrib == pytest.approx(boost * 0.1, abs=EXACT)
    assert score.unclamped == pytest.approx(0.55 + boost * 0.1, abs=EXACT)


def test_what_an_agent_says_of_itself_has_the_same_boosts_and_its_skills_none(registry: Registry) -> None:
    said = {"name": "Needle", "description": "A needle.", "tags": ("needle",)}
    registry.agent("/needle", at(0.1), **said)
    registry.agent("/skilled", at(0.1), skills=[("needle", "Threads a needle.")])
    figures = registry.figures("needle")
    assert (figures["/needle"].text_boost, figures["/skilled"].text_boost) == (11.5, 0.0)


def test_boosts_add_up_over_keywords(registry: Registry) -> None:
    registry.server("/needle", at(0.2), description="Needle and thread.")
    assert registry.figures("needle thread")["/needle"].text_boost == 5.0 + 2.0 + 2.0
    assert registry.figures("needle needle thread absent")["/needle"].text_boost == 9.0, "each keyword once"


# The formula


@pytest.mark.parametrize("cosine", [1.0, 0.3412, 0.0, -0.25, -1.0])
def test_the_relevance_is_the_mapped_cosine_plus_a_tenth_of_the_boost(registry: Registry, cosine: float) -> None:
    registry.server("/x", at(cosine), tags=("needle",))
    score = registry.figures("needle")["/x"]
    assert score.vector == pytest.approx(cosine, abs=1e-6), "the engine's own precision"
    assert score.vector is not None and score.normalized_vector is not None
    assert score.normalized_vector == pytest.approx((score.vector + 1.0) / 2.0, abs=EXACT)
    assert score.unclamped == pytest.approx(score.normalized_vector + 0.15, abs=EXACT)
    assert score.final == pytest.approx(min(1.0, score.unclamped), abs=EXACT)
    (server,) = registry.search("needle").servers
    assert server.relevance_score == score.final


def test_what_has_no_vector_yet_counts_with_cosine_0(registry: Registry) -> None:
    registry.server("/needle", None)
    registry.server("/unrelated", None)
    answer = registry.search("needle", explain=True)
    assert [(server.path, server.relevance_score) for server in answer.servers] == [("/needle", 1.0)]
    assert answer.explain is not None
    assert (answer.explain[0].vector, answer.explain[0].normalized_vector) == (0.0, 0.5)


def test_the_order_is_by_the_score_before_the_clamp(registry: Registry) -> None:
    registry.server("/a", at(0.9), tags=("needle", "thread"), description="needle thread")  # 1.65
    registry.server("/z/needle", at(0.2), name="Needle Thread", tags=("needle",))  # 0.6 + 1.25
    answer = registry.search("needle thread")
    assert [server.path for server in answer.servers] == ["/z/needle", "/a"]
    assert [server.relevance_score for server in answer.servers] == [1.0, 1.0]


def test_ties_go_by_path(registry: Registry) -> None:
    for path in ("/c", "/a", "/b", "/B"):
        registry.server(path, at(0.5))
    assert registry.servers("anything", max_results=4) == ["/B", "/a", "/b", "/c"]


# Score before filter


def test_all_candidates_are_scored_before_any_is_left_out(registry: Registry) -> None:
    for number in range(60):
        registry.server(f"/near/{number:02}", at(0.9 - number / 1000))
    registry.server("/far/needle", at(-0.5), name="Needle")  # 0.25 + 0.8
    answer = registry.search("needle")
    assert [server.path for server in answer.servers] == ["/far/needle", "/near/00", "/near/01"]
    assert answer.servers[0].relevance_score == 1.0
    assert answer.metadata.candidate_count == 51, "the nearest 50, and what contains a keyword"


def test_three_of_each_type_are_returned_unless_told_otherwise(registry: Registry) -> None:
    for number in range(5):
        registry.server(f"/s{number}", at(0.5), tools={f"t{number}": at(0.5)})
        registry.agent(f"/a{number}", at(0.5))
    answer = registry.search("anything")
    assert [len(found) for found in (answer.servers, answer.tools, answer.agents)] == [3, 3, 3]
    answer = registry.search("anything", max_results=1)
    assert [len(found) for found in (answer.servers, answer.tools, answer.agents)] == [1, 1, 1]
    answer = registry.search("anything", max_results=50)
    assert [len(found) for found in (answer.servers, answer.tools, answer.agents)] == [5, 5, 5]


@pytest.mark.parametrize(("max_results", "k"), [(1, 50), (3, 50), (16, 50), (17, 51), (50, 150)])
def test_at_least_50_neighbours_are_looked_at_and_three_for_each_result(
    registry: Registry, max_results: int, k: int
) -> None:
    registry.server("/x", at(0.5))
    index = registry.system.index
    index.calls.clear()
    registry.search("needle", max_results=max_results)
    assert [call.limit for call in index.searches(REGISTRY_DOCUMENTS)] == [k, k]
    assert [call.threshold for call in index.searches(REGISTRY_DOCUMENTS)] == [None, None]


# What is read is never less than what the answer needs


def _world(registry: Registry, random_: random.Random) -> dict[str, tuple[float | None, str]]:
    """Store sixty servers with a cosine, or none, and a few of five words in the description."""
    said: dict[str, tuple[float | None, str]] = {}
    for number in random_.sample(range(100), 60):
        cosine = random_.choice([None, *(round(random_.uniform(-0.3, 0.9), 2) for _ in range(9))])
        words = " ".join(random_.sample(["alpha", "bravo", "gamma", "delta", "omega"], random_.choice([0, 1, 1, 2, 3])))
        said[f"/{number:02}"] = (cosine, words)
        vector = None if cosine is None else at(cosine)
        registry.server(f"/{number:02}", vector, description=words, tools={f"tool_{number}": vector})
    return said


def _expected(said: dict[str, tuple[float | None, str]], keywords: set[str], k: int) -> list[str]:
    """Rank them all, as the document says."""
    with_vector = [path for path in said if said[path][0] is not None]
    cosines = {path: said[path][0] or 0.0 for path in said}
    last = sorted((cosines[path] for path in with_vector), reverse=True)[k - 1]
    boosts = {path: 2.0 * len(keywords & set(said[path][1].split())) for path in said}
    near = [path for path in with_vector if cosines[path] > last]
    # Of equally near ones those that were stored first.
    near += [path for path in with_vector if cosines[path] == last][: k - len(near)]
    candidates = {*near, *(path for path in said if boosts[path])}
    return sorted(candidates, key=lambda path: (-((cosines[path] + 1) / 2 + 0.1 * boosts[path]), path))


@pytest.mark.parametrize("seed", range(6 if SOAK else 2))
def test_the_answer_is_that_of_scoring_everything(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random_ = random.Random(seed)
    said = _world(registry, random_)
    k = random_.choice([4, 6, 12])
    monkeypatch.setattr("skillroute.registry.search.plan.MIN_CANDIDATES", k)
    for fusion in ("boost", "rrf", "coverage"):
        for query in ("alpha", "bravo gamma", "delta omega alpha", "alpha bravo gamma delta omega", "nothing"):
            for max_results in (1, 2):
                request = {"max_results": max_results, "fusion": fusion}
                short, whole = registry.search(query, **request), registry.search(query, explain=True, **request)
                assert (short.servers, short.tools) == (whole.servers, whole.tools)
                assert short.metadata.candidate_count == whole.metadata.candidate_count
                assert whole.explain is not None
                servers = [figures.path for figures in whole.explain if figures.type == "mcp_server"]
                if fusion == "boost":
                    assert servers == _expected(said, set(query.split()), k)
                assert [server.path for server in short.servers] == servers[:max_results]
                assert short.metadata.candidate_count == len(servers)


def test_what_was_not_read_by_keyword_is_found_where_it_is_near_enough(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN one that is neither among the nearest nor among the best by keyword, and better than all of them
    monkeypatch.setattr("skillroute.registry.search.plan.MIN_CANDIDATES", 3)
    for number in range(3):
        registry.server(f"/nearest/{number}", at(0.9))  # 0.95
        registry.server(f"/needle/{number}", at(0.1))  # 0.55 + 0.5
    registry.server("/unread", at(0.8), description="A needle.", tools={"thread": at(0.5)})  # 0.9 + 0.2
    (server,) = registry.search("needle", max_results=1).servers
    assert server.path == "/unread"
    assert [tool.tool_name for tool in server.matching_tools] == ["thread"]


def test_what_was_not_read_by_keyword_is_measured_by_the_last_of_the_answer(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillroute.registry.search.plan.MIN_CANDIDATES", 3)
    for number in range(6):
        registry.server(f"/nearest/{number}", at(0.9))  # 0.95
        registry.server(f"/needle/{number}", at(0.6 if number == 5 else 0.1))  # 0.8 or 0.55, + 0.5
    registry.server("/unread", at(0.55), name="A needle")  # 0.775 + 0.3
    assert registry.servers("needle", max_results=2) == ["/needle/5", "/unread"]


def test_what_was_not_read_by_keyword_and_has_no_vector_is_found(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillroute.registry.search.plan.MIN_CANDIDATES", 3)
    for number in range(3):
        registry.server(f"/needle/{number}", at(-0.9))  # 0.05 + 0.5
        registry.server(f"/nearest/{number}", at(-0.5))  # 0.25
    registry.server("/unread", None, description="A needle.")  # 0.5 + 0.2
    assert registry.servers("needle", max_results=1) == ["/unread"]


# What the query names


def test_of_equal_relevance_what_the_query_names_comes_first(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN many with more boosts than the one that is named, so that it is not even among the best by keyword
    monkeypatch.setattr("skillroute.registry.search.plan.MIN_CANDIDATES", 3)
    for number in range(5):
        registry.server(f"/docs/{number}", at(0.3), name="The docs", description="docs", tags=("docs",))  # 0.65 + 1.15
    registry.server("/context7", at(0.6), name="Context7")  # 0.8 + 0.8
    registry.server("/context7-clone", at(0.9), name="Context7 clone")  # 0.95 + 0.8
    for explain in (False, True):
        found = registry.search("context7 docs", max_results=2, explain=explain).servers
        assert [(server.path, server.relevance_score) for server in found] == [("/context7", 1.0), ("/docs/0", 1.0)]


def test_a_name_does_not_outrank_a_higher_relevance(registry: Registry) -> None:
    registry.server("/a", at(0.1), name="Make")  # 0.55 + 0.3
    registry.server("/b", at(0.8), description="make", tags=("make",))  # 0.9 + 0.35
    assert registry.servers("make") == ["/b", "/a"]


def test_tools_that_are_named_come_first_among_equals(registry: Registry) -> None:
    registry.server("/x", at(0.5), tools={"send needle mail": at(0.99), "send_needle": at(0.9)})
    query = "use send_needle to send a needle by mail"
    found = registry.search(query).tools
    assert [(tool.tool_name, tool.relevance_score) for tool in found] == [
        ("send_needle", 1.0),
        ("send needle mail", 1.0),
    ]


# Reciprocal ranks


def test_fused_by_rank_each_search_gives_its_reciprocal_rank(registry: Registry) -> None:
    registry.server("/a", at(0.9))
    registry.server("/b", at(0.8), description="A needle.")
    registry.server("/c", None, name="Needle")
    figures = registry.figures("needle", fusion="rrf")
    ranks = {path: (score.vector_rank, score.keyword_rank) for path, score in figures.items()}
    assert ranks == {"/a": (1, None), "/b": (2, 2), "/c": (None, 1)}
    scale = 61.0 / 2.0
    assert {path: score.final for path, score in figures.items()} == pytest.approx(
        {"/a": scale / 61, "/b": scale * 2 / 62, "/c": scale / 61}, abs=EXACT
    )
    assert registry.servers("needle", fusion="rrf") == ["/b", "/a", "/c"]


def test_fused_by_rank_tools_are_ranked_among_themselves(registry: Registry) -> None:
    tools = {"far_needle": at(0.1), "near": at(0.9), "needle_and_thread": at(0.8)}
    registry.server("/x", at(0.5), tools=tools)
    figures = registry.figures("needle thread", fusion="rrf")
    ranks = {name: (figures[f"/x/{name}"].vector_rank, figures[f"/x/{name}"].keyword_rank) for name in tools}
    assert ranks == {"far_needle": (3, 2), "near": (1, None), "needle_and_thread": (2, 1)}
    assert [tool.tool_name for tool in registry.search("needle thread", fusion="rrf").tools] == [
        "needle_and_thread",
        "far_needle",
        "near",
    ]


# Diagnostics


@pytest.fixture
def debug_log() -> Iterator[LogRecords]:
    before = logger.log_level
    logger.setLevel(logging.DEBUG)
    with LogRecords().attached() as records:
        yield records
    logger.setLevel(before)


def _lines(log: LogRecords) -> list[str]:
    return [record.getMessage() for record in log.records if record.getMessage().startswith("Score for")]


def test_the_documents_log_line_is_written_for_every_candidate(registry: Registry, debug_log: LogRecords) -> None:
    registry.server("/context7", at(0.3412), name="Context7", tools={"other": at(0.1), "query-docs": at(0.7)})
    registry.agent("/agent", None, name="It's\nme")
    registry.search("context7")
    assert _lines(debug_log) == [
        "Score for 'Context7' (type=mcp_server): vector=0.3412, normalized_vector=0.6706, text_boost=8.0, "
        "boost_contrib=0.8000, final=1.0000",
        "Score for 'query-docs' (type=tool): vector=0.7000, normalized_vector=0.8500, text_boost=0.0, "
        "boost_contrib=0.0000, final=0.8500",
        "Score for 'other' (type=tool): vector=0.1000, normalized_vector=0.5500, text_boost=0.0, "
        "boost_contrib=0.0000, final=0.5500",
    ]
    debug_log.records.clear()
    registry.system.embedder.away = True
    registry.search("its me context")
    registry.search("thing 1", entity_types=["a2a_agent"])
    assert _lines(debug_log)[0] == (
        "Score for 'Context7' (type=mcp_server): vector=none, normalized_vector=none, text_boost=8.0, "
        "boost_contrib=0.6400, final=0.6400"
    )


def test_a_name_with_a_line_break_stays_on_its_line(registry: Registry, debug_log: LogRecords) -> None:
    registry.agent("/agent", at(0.5), name="It is\nme")
    registry.search("agent")
    assert [line.split(":")[0] for line in _lines(debug_log)] == [r"Score for 'It is\nme' (type=a2a_agent)"]


def test_without_debug_logging_no_candidate_is_logged(registry: Registry, log: LogRecords) -> None:
    registry.server("/x", at(0.5))
    answer = registry.search("x")
    assert _lines(log) == []
    assert answer.explain is None


def test_debug_logging_changes_no_answer(registry: Registry, debug_log: LogRecords) -> None:
    for number in range(5):
        registry.server(f"/needle{number}", at(0.5))
    logged = registry.search("needle")
    logger.setLevel(logging.INFO)
    assert registry.search("needle").servers == logged.servers


def test_explain_shows_the_figures_of_the_log_best_first_by_type(registry: Registry) -> None:
    registry.server("/context7", at(0.3412), name="Context7", tools={"query-docs": at(0.7)})
    registry.server("/b", at(0.9), name="B")
    registry.agent("/agent", at(0.1), name="Agent")
    explain = registry.search("context7", explain=True).explain
    assert explain is not None
    assert [(each.type, each.name) for each in explain] == [
        ("mcp_server", "Context7"),
        ("mcp_server", "B"),
        ("tool", "query-docs"),
        ("a2a_agent", "Agent"),
    ]
    first = explain[0]
    assert (first.path, first.text_boost, first.final) == ("/context7", 8.0, 1.0)
    assert (first.vector, first.normalized_vector) == pytest.approx((0.3412, 0.6706), abs=EXACT)
    assert (first.boost_contrib, first.unclamped) == pytest.approx((0.8, 1.4706), abs=EXACT)
    assert (first.vector_rank, first.keyword_rank) == (None, None)
