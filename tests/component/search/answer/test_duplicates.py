"""`collapse_duplicates`: of one tool of several servers the best is a result, with the others beside it (ADR 42)."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.search.answer.explanation import DetailedSearchResponse

from tests.builders import QUERY, System, of_org
from tests.doubles import at

CLICK = "Click an element on the page, by its selector"


def collapsed(system: System, **request: Any) -> DetailedSearchResponse:
    request = {"strategy": "direct", "mode": "semantic", **request}
    answer = system.search(collapse_duplicates=True, **request)
    assert isinstance(answer, DetailedSearchResponse)
    return answer


def groups(answer: DetailedSearchResponse) -> list[tuple[str, list[str | None]]]:
    return [(tool.name, [other.server for other in tool.duplicates or ()]) for tool in answer.tools]


def test_the_best_of_near_duplicates_comes_with_the_others(system: System) -> None:
    first = system.tool("click", at(0.9), server="Puppeteer", description=CLICK)
    second = system.tool("playwright_click", at(0.8), server="Playwright MCP Server", description=CLICK.lower())
    third = system.tool("Click", at(0.7), server="Selenium", description=f"{CLICK}.")
    system.tool("hover", at(0.6), server="Selenium", description="Hover over it")
    answer = collapsed(system)
    assert [tool.db_id for tool in answer.tools] == [first, 4]
    both = answer.tools[0].duplicates or []
    assert [other.model_dump(exclude={"score"}) for other in both] == [
        {"id": str(second), "db_id": second, "name": "playwright_click", "server": "Playwright MCP Server"},
        {"id": str(third), "db_id": third, "name": "Click", "server": "Selenium"},
    ]
    assert [other.score for other in both] == pytest.approx([0.8, 0.7], abs=1e-6)
    assert answer.tools[1].duplicates == []


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
def test_the_page_is_filled_with_what_follows(system: System, mode: str) -> None:
    for n in range(8):
        system.tool("click", at(0.9 - n / 100), server=f"server {n}", description=f"{CLICK} {QUERY}")
    for n in range(4):
        system.tool(f"other_{n}", at(0.5 - n / 100), server="others", description=f"number {n}: a meeting")
    answer = collapsed(system, mode=mode, limit=3)
    assert [name for name, _ in groups(answer)] == ["click", "other_0", "other_1"]
    assert len(answer.tools[0].duplicates or ()) == 7
    assert answer.metadata.final_count == 3
    # Without it the page is full of them.
    assert system.names(mode=mode, strategy="direct", limit=3) == ["click"] * 3


def test_a_duplicate_behind_the_page_is_named_as_well(system: System) -> None:
    system.tool("click", at(0.9), server="first", description=CLICK)
    system.tools([(f"other_{n}", at(0.8 - n / 100)) for n in range(10)], description="something else")
    system.tool("click", at(0.4), server="last", description=CLICK)
    assert groups(collapsed(system, limit=2)) == [("click", ["last"]), ("other_0", [])]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("tap", {"description": CLICK}),  # another name
        ("click", {"description": "Click a link of a mail and read what it leads to"}),  # says something else
        ("click", {"description": CLICK, "type": "prompt"}),
    ],
    ids=["name", "description", "type"],
)
def test_what_differs_in_one_of_them_stays(system: System, name: str, fields: dict[str, Any]) -> None:
    system.tool("click", at(0.9), server="one", description=CLICK)
    system.tool(name, at(0.8), server="two", **fields)
    assert groups(collapsed(system)) == [("click", []), (name, [])]


def test_tools_without_a_description_are_not_alike_by_their_names_alone(system: System) -> None:
    system.tool("search", at(0.9), server="mail", description="")
    system.tool("search", at(0.8), server="files", description="")
    assert groups(collapsed(system)) == [("search", []), ("search", [])]


def test_who_does_not_ask_sees_all_of_them_and_no_field_for_it(system: System) -> None:
    for server in ("one", "two"):
        system.tool("click", at(0.9), server=server, description=CLICK)
    answer = system.search(strategy="direct", mode="semantic")
    assert [tool.name for tool in answer.tools] == ["click", "click"]
    assert "duplicates" not in answer.model_dump()["tools"][0]


def test_other_organisations_tools_are_no_duplicates(system: System) -> None:
    system.tool("click", at(0.9), server="ours", org="a", description=CLICK)
    system.tool("click", at(0.95), server="theirs", org="b", description=CLICK)
    system.tool("click", at(0.8), server="everybody's", description=CLICK)
    assert groups(collapsed(system, caller=of_org("a"))) == [("click", ["everybody's"])]


def test_explanations_are_of_the_results_that_remain(system: System) -> None:
    for server in ("one", "two"):
        system.tool("click", at(0.9), server=server, description=CLICK)
    system.tool("other", at(0.5), description="something else")
    answer = collapsed(system, explain=True)
    assert [tool.explain and tool.explain.cosine for tool in answer.tools] == [tool.score for tool in answer.tools]
