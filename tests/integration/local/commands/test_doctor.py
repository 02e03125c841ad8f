"""`skillroute doctor` against a Skillroute that is served on a port."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.builders import System
from tests.e2e.processes import answered
from tests.integration.local.commands.conftest import CommandLine

BAD = [
    {"server": "acme", "name": "search", "description": ""},
    {"server": "acme", "name": "cancel_order", "description": "Cancels an order"},
    {"server": "acme", "type": "prompt", "name": "greet", "description": "Greets somebody by name, politely."},
]


@pytest.fixture(autouse=True)
def bad_tools(api: httpx.Client) -> None:
    answered(api.put("/api/v1/tools", json={"items": BAD}))


def codes(report: dict[str, Any]) -> dict[str, int]:
    return {code: number for code, number in report["counts"].items() if number}


def test_it_says_what_is_wrong(run: CommandLine) -> None:
    report = run.json("doctor")

    assert report["checked"] == {"tools": 6, "skills": 0, "agent_skills": 0, "searches": 5}
    assert codes(report) == {
        "description_empty": 1,
        "name_says_nothing": 1,
        "description_repeats_name": 1,
        "tools_without_skill": 1,
    }
    first = report["findings"][0]
    assert (first["code"], first["weight"], first["skills"]) == ("description_empty", 75, [])
    [concerned] = first["tools"]
    assert (concerned["server"], concerned["type"], concerned["name"]) == ("acme", "tool", "search")
    assert report["not_asked"] == []


def test_people_get_counts_and_the_worst(run: CommandLine) -> None:
    done = run("doctor", "--worst", "1")

    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["1", "description_empty"],
        ["1", "name_says_nothing"],
        ["1", "tools_without_skill"],
        ["1", "description_repeats_name"],
    ]
    assert lines[-2].split()[:3] == ["75", "description_empty", "acme/search"]
    assert lines[-1] == "6 tools, 0 skills, 5 searches: 4 findings"
    assert done.stderr == "1 of 4; --worst 4 shows the others too, --json names all tools\n"


@pytest.mark.parametrize(
    ("args", "status"),
    [
        ((), 0),
        (("--fail-on", "any"), 1),
        (("--fail-on", "name_says_nothing"), 1),
        (("--fail-on", "near_duplicates", "--fail-on", "name_says_nothing"), 1),
        (("--fail-on", "near_duplicates"), 0),
        (("--fail-on", "no_such_code"), 2),
        (("--server", "nobody"), 2),
    ],
)
def test_findings_fail_a_build_that_asks_for_it(run: CommandLine, args: tuple[str, ...], status: int) -> None:
    done = run("doctor", "--no-search", *args)

    assert done.exit_code == status
    assert ("failed: there are findings of" in done.stderr) == (status == 1)


def test_a_code_that_is_none_is_answered_with_those_that_are(run: CommandLine) -> None:
    assert "give any, or one of agent_skill_tools_missing, " in run.error("doctor", "--fail-on", "x")["detail"]


def test_only_one_server_is_judged(run: CommandLine) -> None:
    report = run.json("doctor", "--server", "mail")
    assert report["checked"] == {"tools": 6, "skills": 0, "agent_skills": 0, "searches": 1}
    assert codes(report) == {"tools_without_skill": 1}


def test_what_is_switched_off_is_left_alone(run: CommandLine, api: httpx.Client) -> None:
    [row] = answered(api.get("/api/v1/tools", params={"name": "search"}))
    answered(api.patch(f"/api/v1/tools/{row['id']}", json={"is_active": False}))

    report = run.json("doctor", "--no-search")
    assert report["checked"] == {"tools": 5, "skills": 0, "agent_skills": 0, "searches": 0}
    assert "description_empty" not in codes(report)


def test_where_searches_are_degraded_a_part_was_not_checked(
    run: CommandLine, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        from skillroute.core.errors.model import EmbeddingUnavailable

        raise EmbeddingUnavailable("the model is away")

    monkeypatch.setattr(type(system.embedder), "embed", broken)
    done = run("doctor", "--json")

    assert done.exit_code == 4
    assert '"reason": "the search was degraded: embedding_unavailable"' in done.stdout
    assert "5 tools could not be searched for" in run("doctor").stderr
    assert run("doctor", "--fail-on", "any").exit_code == 1
