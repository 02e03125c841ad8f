"""The page Learning: states are switched, tools forgotten, judged requests decided on by keys; texts are text."""

from __future__ import annotations

from typing import Any

import pytest

from tests.console.conftest import Console, lines_of
from tests.e2e.processes import eventually

pytestmark = pytest.mark.console


def test_what_is_live_is_shown_with_what_it_changed_and_is_switched(console: Console) -> None:
    console.open("learning")
    console.page.get_by_text("Searches go by state 2 of ").wait_for()
    console.page.get_by_text("compared with nothing learned").wait_for()
    row = console.page.locator("tr:has(> td > div:text-is('nDCG@5'))")
    assert row.locator("td").all_inner_texts() == ["nDCG@5", "0.741", "0.784", "+0.043", "+0.014 to +0.086"]

    console.page.get_by_role("button", name="Use this one: state 1").click()
    console.page.get_by_text("Searches go by state 1 of ").wait_for()
    console.page.get_by_role("button", name="Switch off state 1").click()
    console.page.get_by_text("Searches go by nothing that was learned.").wait_for()
    console.page.get_by_role("button", name="Use this one: state 2").click()
    console.page.get_by_text("Searches go by state 2 of ").wait_for()
    console.page.get_by_role("button", name="Let it go on by itself").click()
    console.page.get_by_text("chosen by hand").wait_for(state="detached")
    assert console.complaints == []


def test_a_tool_is_forgotten_only_when_that_is_confirmed(console: Console) -> None:
    console.open("learning")
    forget = console.page.get_by_role("button", name="Forget what was learned of workshop/tap_dance")
    forget.click()
    console.page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert forget.count() == 1
    forget.focus()
    console.page.keyboard.press("Enter")
    console.page.get_by_role("dialog").get_by_role("button", name="Forget it").click()
    console.page.get_by_text("workshop/tap_dance: 2 learned requests and 0 outcomes forgotten.").wait_for()
    forget.wait_for(state="detached")
    assert console.complaints == []


def test_what_people_miss_has_a_page_of_its_own(console: Console) -> None:
    console.open("learning")
    console.page.locator("#page").get_by_role("link", name="Unanswered").click()
    console.page.get_by_role("heading", level=1, name="Unanswered").wait_for()


def test_judged_requests_are_decided_on_by_keys(console: Console) -> None:
    console.open("learning")
    console.page.get_by_role("button", name="Accept are my bees well").focus()
    console.page.keyboard.press("Enter")
    console.page.get_by_role("button", name="Accept are my bees well").wait_for(state="detached")
    # The next one has the focus.
    assert console.page.evaluate("document.activeElement.ariaLabel") == "Accept the watch has stopped"
    console.page.get_by_role("button", name="Reject the watch has stopped").click()
    console.page.get_by_text("None is waiting to be looked at.").wait_for()

    [line] = [line for line in lines_of(console.server.home.path / "requests.jsonl") if line.get("source") == "use"]
    assert line == {"query": "are my bees well", "needs": [["workshop/inspect_hive"]], "source": "use"}
    assert console.complaints == []


def test_it_is_learned_at_once_and_what_became_of_it_is_said(console: Console) -> None:
    console.open("learning")
    console.page.get_by_role("button", name="Learn now").click()
    became = console.page.get_by_role("status").filter(has_text="nothing learned")
    became.wait_for()
    assert " ".join(became.inner_text().split()).startswith("nothing learned ")
    eventually(console.page.get_by_role("button", name="Learn now").is_enabled, "it can be learned again")
    assert console.complaints == []


def test_the_state_that_was_asked_for_last_is_shown_whatever_is_answered_last(console: Console) -> None:
    console.open("learning")
    console.page.get_by_role("heading", name=" has learned").wait_for()
    held: list[Any] = []
    console.page.route("**/do/learning/requests", lambda route: held.append(route))  # noqa: PLW0108 (a method it cannot mark)
    console.page.get_by_role("button", name="Show what state 1 has learned").click()
    console.page.get_by_role("button", name="Show what state 2 has learned").click()
    eventually(lambda: console.page.wait_for_timeout(20) or len(held) == 2, "both are asked for")
    for at in (1, 0):  # the first one comes last
        with console.page.expect_response("**/do/learning/requests"):
            held[at].continue_()
    heading = console.page.get_by_role("heading", name=" has learned")
    assert heading.inner_text() == "What state 2 has learned"
    assert console.complaints == []
