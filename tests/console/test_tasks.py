"""What people come for, counted in actions: a key, a text that is typed, a click, and a choice count one each.

docs/console.md has the counts, and those of the console before, in its table "Tasks, counted".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.console.conftest import Console, lines_of
from tests.console.test_changes import names_waiting
from tests.e2e.processes import HASHING, Processes, Up, answered, eventually
from tests.integration.rows import connected
from tests.temporary import temporary_directory

pytestmark = pytest.mark.console

NAMES = 58


class Counted:
    """A console whose actions are counted."""

    def __init__(self, console: Console) -> None:
        self.console, self.page, self.actions = console, console.page, 0

    def press(self, *keys: str) -> None:
        for key in keys:
            self.actions += 1
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.actions += 1
        self.page.keyboard.type(text)

    def click(self, what: Any) -> None:
        self.actions += 1
        what.click()

    def select(self, what: Any, option: str) -> None:
        self.actions += 1
        what.select_option(option)


@pytest.fixture(scope="module")
def desk(processes: Processes) -> Iterator[Up]:
    """A Skillroute whose work the tests name themselves."""
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)
        yield processes.up(Path(name) / "home", "--no-pump", **HASHING).ready()


@pytest.fixture
def counted(opened: Callable[..., Console], desk: Up) -> Counted:
    console = opened(desk)
    console.open("overview")
    return Counted(console)


def suggest(server: Up, prefix: str) -> set[str]:
    names = [f"{prefix} {at:02}" for at in range(NAMES)]
    server.put(*({"server": prefix, "name": f"{prefix}_{at:02}", "description": name} for at, name in enumerate(names)))
    lines = [
        {
            "kind": "suggestion", "suggestion": "new_skill", "name": name, "description": f"All about {name}.",
            "tool": {"server": prefix, "type": "tool", "name": f"{prefix}_{at:02}"}, "tool_name": f"{prefix}_{at:02}",
            "skill_id": None, "reasoning": "No skill is about it.", "source": "llm_auto", "status": "pending",
            "resolved_skill_id": None, "reviewed_by": None, "review_reason": None,
            "created_at": "2026-11-20T09:00:00Z", "reviewed_at": None,
        }
        for at, name in enumerate(names)
    ]  # fmt: skip
    results = answered(server.http.post("/api/v1/import", json={"lines": lines}))["results"]
    assert not [result for result in results if result["status"] == "failed"], results
    return set(names)


def test_suggestions_are_decided_together(counted: Counted) -> None:
    names = suggest(counted.console.server, "together")
    counted.press("g", "u")
    counted.console.row("together 00").wait_for()
    counted.click(counted.page.get_by_label("All shown"))
    counted.page.get_by_text(f"{NAMES} names selected").wait_for()
    counted.click(counted.page.get_by_role("button", name="Reject them"))
    counted.page.locator("#notices").get_by_text(f"Rejecting {NAMES} names").wait_for()
    counted.press("g", "o")  # leaving the page sends what waits to be undone
    assert counted.actions == 6
    counted.page.get_by_role("heading", level=1, name="Overview").wait_for()
    eventually(lambda: not names & names_waiting(counted.console.server), "all are decided")
    assert counted.console.complaints == []


def test_suggestions_are_decided_one_by_one(counted: Counted) -> None:
    names = suggest(counted.console.server, "single")
    counted.press("g", "u")
    for name in sorted(names):
        counted.page.locator(".detail h2").get_by_text(name, exact=True).wait_for()
        counted.press("x")
    counted.press("g", "o")
    assert counted.actions == NAMES + 4
    counted.page.get_by_role("heading", level=1, name="Overview").wait_for()
    eventually(lambda: not names & names_waiting(counted.console.server), "all are decided")


def test_a_tool_is_moved_to_another_skill(counted: Counted) -> None:
    [tool] = counted.console.server.items(name="translate_text")
    counted.press("Control+k")
    counted.page.get_by_role("dialog").wait_for()
    counted.type("translate_text")
    kinds = counted.page.locator(".palette [role=option] .kind")
    kinds.get_by_text("Tool").first.wait_for()
    while counted.page.locator(".palette [aria-selected=true] .kind").inner_text() != "Tool":
        counted.press("ArrowDown")
    counted.press("Enter")
    counted.page.locator(".detail h2").get_by_text("translate_text", exact=True).wait_for()
    counted.page.get_by_text("Skills of translate_text").wait_for()
    counted.press("t")
    counted.click(counted.page.get_by_label("Skill for the selected tools"))
    counted.type("web_browsing")
    counted.click(counted.page.locator(".selection").get_by_role("button", name="Move"))
    counted.page.get_by_text("web_browsing").first.wait_for()
    eventually(
        lambda: [row["skill_id"] for row in answered(counted.console.server.http.get(
            f"/api/v1/tools/{tool['id']}/skills"))] == ["web_browsing"], "it is moved"
    )  # fmt: skip
    assert counted.actions <= 7


def test_why_a_request_failed_is_found_and_it_is_evaluated_from_then_on(counted: Counted) -> None:
    request = "translate a text into German"
    file = counted.console.server.home.path / "requests.jsonl"
    counted.press("g", "s")
    field = counted.page.get_by_role("searchbox", name="Request")
    field.wait_for()
    counted.type(request)  # the field has the focus
    counted.press("Enter")
    counted.page.locator(f".compare[data-asked='{request}'] .hit .why").first.wait_for()  # why stands at each result
    counted.click(counted.page.get_by_role("button", name="right for the request: ").nth(1))
    counted.page.get_by_text("This request is in").wait_for()
    assert counted.actions == 5
    assert request in {line["query"] for line in lines_of(file)}


def test_ten_dead_letters_are_tried_again(counted: Counted) -> None:
    server = counted.console.server
    server.put(*({"server": "letters", "name": f"letter_{n}", "description": f"Letter {n}."} for n in range(10)))
    found = server.home.running()
    assert found is not None
    with connected(found.database_url) as sql:
        of_them = "queue = 'classify' AND key IN (SELECT id::text FROM mcp.tools WHERE server = 'letters')"
        sql(f"UPDATE mcp.outbox SET dead_at = now(), attempts = 5, last_error = 'no answer' WHERE {of_them}")
        counted.press("g", "h")
        again = counted.page.get_by_role("button", name="Try these 10 again")
        again.wait_for()
        counted.click(again)
        counted.page.get_by_text("10 tried again").wait_for()
        assert sql(f"SELECT count(*) FROM mcp.outbox WHERE {of_them} AND dead_at IS NULL")[0][0] == 10
    assert counted.actions == 3


def test_the_servers_that_changed_today_are_found(counted: Counted) -> None:
    found = counted.console.server.home.running()
    assert found is not None
    with connected(found.database_url) as sql:
        [[changed]] = sql("SELECT max(updated_at) FROM mcp.tools WHERE server = 'browser'")
    counted.page.clock.set_fixed_time(changed)  # its day is today, also where midnight came since
    counted.press("g", "v")
    counted.page.get_by_label("State", exact=True).wait_for()
    counted.select(counted.page.get_by_label("State", exact=True), "today")
    counted.console.row("Browser").wait_for()
    assert counted.actions == 3
