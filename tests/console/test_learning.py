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
    focused = "document.activeElement.ariaLabel"
    eventually(lambda: console.page.evaluate(focused) == "Accept the watch has stopped", "the next one has the focus")
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
    for number in (2, 1):  # the one that is live, which is shown at first, is to come last
        console.page.get_by_role("button", name=f"Show what state {number} has learned").click()
    eventually(lambda: console.page.wait_for_timeout(20) or len(held) == 2, "both are asked for")
    for route in reversed(held):
        with console.page.expect_response("**/do/learning/requests") as answer:
            route.continue_()
        answer.value.finished()
    console.page.get_by_role("heading", name="What state 1 has learned").wait_for()
    console.page.evaluate("new Promise((done) => setTimeout(done))")
    assert console.page.get_by_role("heading", name=" has learned").inner_text() == "What state 1 has learned"
    assert console.complaints == []


def test_judged_requests_come_though_a_state_is_switched_before(console: Console) -> None:
    page = console.page
    held: list[Any] = []
    page.route("**/do/learning/judged", lambda route: held.append(route))  # noqa: PLW0108
    with page.expect_response("**/do/learning/status") as read:
        page.goto(f"{console.url}#/learning")
    page.route("**/do/learning/switch", lambda route: route.fulfill(json=read.value.json()))  # nothing is switched
    page.get_by_role("button", name="Use this one: state 1").click()
    page.get_by_text("Searches go by state 2 within 15 seconds.").wait_for()
    eventually(lambda: page.title() and held, "judged requests are asked for")
    held[0].continue_()
    page.get_by_role("heading", name="Judged requests from use").wait_for()


def test_a_request_that_is_decided_on_twice_takes_no_other_one_away(console: Console) -> None:
    page = console.page
    rows = [{"query": query, "needs": [["shed/oil_hinges"]], "searches": 1} for query in ("oil it", "grease it")]
    page.route("**/do/learning/judged", lambda route: route.fulfill(json={"rows": rows, "name": "requests.jsonl"}))
    held: list[Any] = []
    for action in ("accept", "reject"):
        page.route(f"**/do/learning/{action}", lambda route: held.append(route))  # noqa: PLW0108
    console.open("learning")
    page.get_by_role("button", name="Accept oil it").click()
    page.get_by_role("button", name="Reject oil it").click()
    eventually(lambda: page.title() and len(held) == 2, "both are sent")
    for route in held:
        route.fulfill(json={"name": "requests.jsonl"})
    page.get_by_text("Rejected.").wait_for()
    page.get_by_role("button", name="Accept oil it").wait_for(state="detached")
    page.get_by_role("button", name="Accept grease it").wait_for()


def test_judged_requests_that_were_read_before_one_was_decided_on_are_read_again(console: Console) -> None:
    page = console.page
    rows = [{"query": query, "needs": [["shed/oil_hinges"]], "searches": 1} for query in ("oil it", "grease it")]
    asked = console.hold("**/do/learning/judged")
    page.route("**/do/learning/accept", lambda route: route.fulfill(json={"name": "requests.jsonl"}))
    page.goto(f"{console.url}#/learning")
    asked(0).fulfill(json={"rows": rows, "name": "requests.jsonl"})
    page.get_by_role("button", name="Accept oil it").wait_for()
    page.get_by_role("button", name="Reload").click()
    before = asked(1)
    page.get_by_role("button", name="Accept oil it").click()
    page.get_by_role("button", name="Accept oil it").wait_for(state="detached")
    before.fulfill(json={"rows": rows, "name": "requests.jsonl"})
    asked(2).fulfill(json={"rows": [rows[1], {**rows[1], "query": "wax it"}], "name": "requests.jsonl"})
    page.get_by_role("button", name="Accept wax it").wait_for()
    assert page.get_by_role("button", name="Accept oil it").count() == 0


def test_states_are_switched_one_after_the_other(console: Console) -> None:
    page = console.page
    with page.expect_response("**/do/learning/status") as read:
        page.goto(f"{console.url}#/learning")
    status = read.value.json()
    off = status | {"live": None}
    asked = console.hold("**/do/learning/switch")
    page.get_by_role("button", name="Use this one: state 1").click()
    first = asked(0)
    page.get_by_role("button", name="Switch off state 2").click()
    console.settle()
    sent: list[Any] = []
    page.on("request", lambda request: sent.append(request.url))
    first.fulfill(json=status | {"live": status["live"] | {"id": 1}})
    page.get_by_text("Searches go by state 1 within 15 seconds.").wait_for()
    asked(1).fulfill(json=off)
    page.get_by_text("Searches go by nothing that was learned.").wait_for()
    assert len([url for url in sent if url.endswith("/switch")]) == 1


def test_an_error_of_a_decision_goes_once_the_request_is_decided_on(console: Console) -> None:
    page = console.page
    rows = [{"query": "oil it", "needs": [["shed/oil_hinges"]], "searches": 1}]
    page.route("**/do/learning/judged", lambda route: route.fulfill(json={"rows": rows, "name": "requests.jsonl"}))
    page.route("**/do/learning/accept", lambda route: route.abort())
    page.route("**/do/learning/reject", lambda route: route.fulfill(json={"name": "requests.jsonl"}))
    console.open("learning")
    page.get_by_role("button", name="Accept oil it").click()
    problem = page.locator(".problem").filter(has_text="“oil it” was not decided")
    problem.wait_for()
    page.get_by_role("button", name="Reject oil it").click()
    problem.wait_for(state="detached")


def test_what_was_learned_stays_though_the_page_reads_anew_with_another_token(console: Console) -> None:
    console.open("learning")
    asked = console.hold("**/do/learning/learn")
    console.page.get_by_role("button", name="Learn now").click()
    asked(0).fulfill(status=401, json={"detail": "no token", "remedy": "Use one.", "code": "unauthorized"})
    console.enter("")
    answer = {"state_id": None, "is_live": False, "reason": "there is nothing new"}
    learned = asked(1)
    with console.page.expect_response("**/do/learning/status"):  # once it is written, and once for the page
        learned.fulfill(json=answer)
    console.page.wait_for_load_state("networkidle")
    console.settle()
    console.page.get_by_text("there is nothing new").wait_for()
