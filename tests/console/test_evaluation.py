"""The page Evaluation: requests are edited by hand, asked while one looks at it, and compared with the run before."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.console.conftest import Console, grave, lines_of
from tests.e2e.processes import eventually

pytestmark = pytest.mark.console

MEETING = "schedule a meeting with John tomorrow"
CREATE = "calendar/create_event"
EVENT = "create event"


@pytest.fixture
def file(console: Console) -> Iterator[Path]:
    """The file of judged requests, with three; as it was before afterwards."""
    path = console.server.home.path / "requests.jsonl"
    others = [path, path.with_name("requests.history.jsonl")]
    before = {other: other.read_bytes() if other.exists() else None for other in others}
    for other in others:
        other.unlink(missing_ok=True)
    write(
        path,
        {"query": MEETING, "needs": [[CREATE]], "note": "kept"},
        {"query": "get me off this newsletter", "needs": [["mail/unsubscribe", "gone/tool"]]},
        {"query": "sharpen the kitchen knives", "needs": []},
    )
    yield path
    for other, content in before.items():
        if content is None:
            other.unlink(missing_ok=True)
        else:
            other.write_bytes(content)


def write(path: Path, *lines: dict[str, Any]) -> None:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def opened(console: Console, text: str) -> Any:
    """Open a request, and return its pane."""
    console.open("evaluation")
    console.row(text).click()
    return console.page.locator(".detail")


def add(pane: Any, need: int, tool: str) -> None:
    field = pane.get_by_label(f"Tool for need {need}", exact=True)
    field.fill(tool)
    field.press("Enter")


def test_tools_that_cannot_be_looked_up_are_not_called_missing(console: Console, file: Path) -> None:
    away = {"detail": "the catalogue is away", "remedy": "Wait."}
    console.page.route("**/do/catalogue/tools", lambda route: route.fulfill(status=503, json=away))
    pane = opened(console, MEETING)
    pane.locator(".chip").get_by_text("not looked up: the catalogue is away").wait_for()


def test_needs_are_edited_and_taken_back(console: Console, file: Path, axe: str) -> None:
    pane = opened(console, MEETING)
    assert pane.get_by_label("What is asked for").input_value() == MEETING
    add(pane, 1, "calendar/no_such_tool")
    pane.get_by_text("There is no tool calendar/no_such_tool").wait_for()
    add(pane, 1, "calendar/update_event")
    pane.get_by_role("button", name="Remove calendar/update_event").wait_for()
    # Who types goes on typing.
    assert pane.get_by_label("Tool for need 1").evaluate("node => node === document.activeElement")
    pane.get_by_role("button", name="Add another need").click()
    add(pane, 2, "mail/unsubscribe")
    pane.get_by_role("button", name="Remove mail/unsubscribe").wait_for()
    pane.get_by_label("Tool that is wrong").fill("calendar/list_events")
    pane.get_by_label("Tool that is wrong").press("Enter")
    pane.get_by_role("button", name="Remove calendar/list_events").wait_for()
    assert grave(console, axe) == []
    # What was typed outlives the page, until it is stored.
    console.page.reload()
    console.row(MEETING).filter(has_text="unsaved").click()
    pane.get_by_role("button", name="Save request").click()
    console.page.get_by_text("The request is saved").wait_for()
    needs = [[CREATE, "calendar/update_event"], ["mail/unsubscribe"]]
    assert lines_of(file)[0] == {"query": MEETING, "needs": needs, "note": "kept", "wrong": ["calendar/list_events"]}

    pane.get_by_role("button", name="All are needed").click()
    eventually(lambda: pane.locator("fieldset.need").count() == 3, "each tool is a need")
    pane.get_by_role("button", name="Discard changes").click()
    console.page.get_by_role("button", name="Undo").click()
    console.page.get_by_text("The request is as it was before").wait_for()
    assert lines_of(file)[0] == {"query": MEETING, "needs": [[CREATE]], "note": "kept"}
    assert console.complaints == []


def test_a_request_is_added_and_deleted_and_put_back(console: Console, file: Path) -> None:
    console.open("evaluation")
    console.page.keyboard.press("Escape")
    console.page.keyboard.press("n")
    pane = console.page.locator(".detail")
    pane.get_by_label("What is asked for").fill("mow the lawn")
    pane.get_by_role("button", name="Add request").click()
    console.row("mow the lawn").wait_for()
    eventually(lambda: lines_of(file)[-1] == {"query": "mow the lawn", "needs": []}, "it is written")
    eventually(lambda: console.page.title() and "request=mow+the+lawn" in console.page.url, "the address follows")

    pane.get_by_role("button", name="Delete").click()
    console.row("mow the lawn").wait_for(state="detached")
    eventually(lambda: len(lines_of(file)) == 3, "it is deleted")
    console.page.locator("#notices p").filter(has_text="Deleted").get_by_role("button", name="Undo").click()
    console.row("mow the lawn").wait_for()
    eventually(lambda: len(lines_of(file)) == 4, "it is written again")


def test_of_two_tabs_the_later_one_sees_both(console: Console, file: Path) -> None:
    pane = opened(console, MEETING)
    pane.get_by_role("button", name="Remove need 1").click()
    write(file, {"query": MEETING, "needs": [["theirs/tool"]]})
    pane.get_by_role("button", name="Save request").click()
    note = pane.get_by_role("alert")
    note.get_by_text("theirs/tool").wait_for()
    assert "nothing serves it" in note.inner_text()
    assert lines_of(file) == [{"query": MEETING, "needs": [["theirs/tool"]]}]
    note.get_by_role("button", name="Overwrite with mine").click()
    console.page.get_by_text("The request is saved").wait_for()
    assert lines_of(file) == [{"query": MEETING, "needs": []}]


def test_a_run_shows_its_scorecard_what_failed_and_what_changed(console: Console, file: Path, axe: str) -> None:
    lines = [{"query": EVENT, "needs": [[CREATE]]}, *lines_of(file)[1:]]
    write(file, *lines)
    console.open("evaluation?show=runs")
    console.page.get_by_text("No run yet.").wait_for()
    console.page.get_by_label("Mode").select_option("lexical")
    console.page.get_by_label("Strategy").select_option("direct")
    console.page.keyboard.press("Escape")
    console.page.get_by_role("button", name="Run r").click()
    card = console.page.get_by_role("region", name="Scorecard")
    card.wait_for()
    assert "recall@5" in card.inner_text()
    console.page.get_by_text("1 name of tools that mean none").wait_for()
    assert grave(console, axe) == []

    write(file, {"query": EVENT, "needs": [["mail/unsubscribe"]]}, *lines[1:])
    console.page.get_by_label("recall@5 at least").fill("0.99")
    console.page.get_by_role("button", name="Run r").click()
    console.page.get_by_text("Newly lost: 1").wait_for()
    console.page.get_by_text("✗ Not good enough").wait_for()
    runs = console.page.get_by_role("region", name="Runs")
    eventually(lambda: runs.locator("tbody tr").count() == 2, "both runs are listed")
    for width in (400, 1280):
        console.page.set_viewport_size({"width": width, "height": 800})
        assert console.page.evaluate("document.documentElement.scrollWidth") <= width
        assert grave(console, axe) == []

    # What failed is a filter of the requests, and leads to Search.
    console.page.get_by_role("button", name="Requests", exact=True).click()
    console.page.get_by_label("Kind").select_option("failed")
    console.row(EVENT).wait_for()
    console.page.get_by_role("button", name="Runs", exact=True).click()
    console.page.get_by_role("link", name=EVENT).first.click()
    console.page.get_by_role("heading", level=1, name="Search").wait_for()
    assert "q=create" in console.page.url
    console.page.go_back()
    card.wait_for()
    assert console.complaints == []


def test_a_run_is_stopped_and_one_that_fails_says_so(console: Console, file: Path) -> None:
    write(file, *({"query": f"schedule meeting {number}", "needs": [[CREATE]]} for number in range(2000)))
    console.open("evaluation?show=runs")
    console.page.get_by_role("button", name="Run r").click()
    console.page.get_by_text("searching: ").wait_for()
    console.page.get_by_role("button", name="Stop r").click()
    console.page.get_by_role("button", name="Run r").wait_for()
    assert console.page.locator(".problem").count() == 0
    assert not file.with_name("requests.history.jsonl").exists()

    file.write_text("not json\n", "utf-8")
    console.page.get_by_role("button", name="Run r").click()
    console.page.locator(".problem").filter(has_text="nothing was measured").wait_for()


def test_an_address_that_is_followed_while_requests_are_read_opens_its_request(console: Console, file: Path) -> None:
    asked = console.hold("**/do/evaluation/requests")
    console.page.goto(f"{console.url}#/evaluation")
    requests = asked()
    console.follow("evaluation?kind=nothing&request=sharpen+the+kitchen+knives")
    requests.continue_()
    console.page.locator("[role=option][aria-selected=true]").get_by_text("sharpen the kitchen knives").wait_for()
    assert console.page.get_by_label("Kind").input_value() == "nothing"
    assert "request=sharpen" in console.page.url


@pytest.mark.parametrize("name", [MEETING, "meet John"])
def test_what_is_edited_while_a_request_is_saved_goes_on_from_what_was_saved(
    console: Console, file: Path, name: str
) -> None:
    pane = opened(console, MEETING)
    pane.get_by_label("What is asked for").fill(name)
    add(pane, 1, "mail/unsubscribe")
    pane.get_by_role("button", name="Remove mail/unsubscribe").wait_for()
    asked = console.hold("**/do/evaluation/save")
    pane.get_by_role("button", name="Save request").click()
    save = asked()
    pane.get_by_role("button", name="Remove need 1").click()
    pane.get_by_label("What is asked for").evaluate("field => { field.dataset.isOld = true; }")
    save.continue_()
    console.page.unroute("**/do/evaluation/save")
    console.page.get_by_text("The request is saved").wait_for()
    pane.locator("textarea[data-is-old]").wait_for(state="detached")
    console.row(name).get_by_text("unsaved").wait_for()
    eventually(lambda: console.page.title() and lines_of(file)[0]["query"] == name, "it is saved")
    assert pane.get_by_role("alert").count() == 0
    drafts = console.page.evaluate("Object.keys(JSON.parse(localStorage.getItem('skillroute-console-drafts')))")
    assert [draft for draft in drafts if draft.startswith("request/")] == [f"request/{name}"]
    pane.get_by_role("button", name="Save request").click()
    eventually(lambda: console.page.title() and lines_of(file)[0]["needs"] == [], "what was edited since is saved")


def test_a_second_click_on_save_sends_nothing_more(console: Console, file: Path) -> None:
    pane = opened(console, MEETING)
    pane.get_by_role("button", name="Remove need 1").click()
    asked = console.hold("**/do/evaluation/save")
    sent: list[str] = []
    console.page.on("request", lambda request: sent.append(request.url))
    pane.get_by_role("button", name="Save request").dblclick()
    asked().continue_()
    console.page.get_by_text("The request is saved").wait_for()
    assert [url for url in sent if url.endswith("/do/evaluation/save")] == [f"{console.url}do/evaluation/save"]
    assert pane.get_by_role("alert").count() == 0


@pytest.mark.parametrize("is_new", [False, True])
def test_who_types_in_another_request_while_one_is_saved_goes_on_typing(
    console: Console, file: Path, is_new: bool
) -> None:
    pane = opened(console, MEETING)
    pane.get_by_role("button", name="Remove need 1").click()
    save = console.hold("**/do/evaluation/save")
    read = console.hold("**/do/evaluation/requests")
    pane.get_by_role("button", name="Save request").click()
    held = save()
    if is_new:
        console.page.get_by_role("button", name="New request").click()
    else:
        console.row("sharpen").click()
    field = pane.get_by_label("What is asked for")
    field.press_sequentially("x")
    held.continue_()
    read().continue_()
    console.page.get_by_text("The request is saved").wait_for()
    console.row(MEETING).get_by_text("nothing", exact=True).wait_for()
    console.page.keyboard.type("y")
    assert field.input_value() == ("xy" if is_new else "sharpen the kitchen knivesxy")


def test_a_request_that_is_drawn_anew_while_it_is_saved_is_saved_once(console: Console, file: Path) -> None:
    pane = opened(console, MEETING)
    pane.get_by_role("button", name="Remove need 1").click()
    asked = console.hold("**/do/evaluation/save")
    sent: list[str] = []
    console.page.on("request", lambda request: sent.append(request.url))
    pane.get_by_role("button", name="Save request").click()
    save = asked()
    pane.get_by_label("What is asked for").evaluate("field => { field.dataset.isOld = true; }")
    console.page.get_by_role("button", name="Reload").click()
    pane.locator("textarea[data-is-old]").wait_for(state="detached")
    pane.get_by_role("button", name="Save request").click()
    console.settle()
    save.continue_()
    console.page.get_by_text("The request is saved").wait_for()
    assert [url for url in sent if url.endswith("/do/evaluation/save")] == [f"{console.url}do/evaluation/save"]


def test_a_run_that_ends_while_requests_are_read_stays_among_the_runs(console: Console, file: Path) -> None:
    console.open("evaluation")
    console.row(MEETING).wait_for()
    asked = console.hold("**/do/evaluation/requests")
    console.page.get_by_role("button", name="Reload").click()
    read = asked()
    older = read.fetch()  # answered before the run, and received after it
    console.page.keyboard.press("r")
    runs = console.page.get_by_role("region", name="Runs").locator("tbody tr")
    runs.first.wait_for()
    read.fulfill(response=older)
    console.settle()
    assert runs.count() == 1


def test_a_request_that_was_not_deleted_is_deleted_by_trying_again(console: Console, file: Path) -> None:
    pane = opened(console, MEETING)
    console.page.route("**/do/evaluation/remove", lambda route: route.abort())
    pane.get_by_role("button", name="Delete").click()
    problem = console.page.locator(".problem").filter(has_text="was not deleted")
    problem.wait_for()
    console.page.unroute("**/do/evaluation/remove")
    problem.get_by_role("button", name="Try again").click()
    console.row(MEETING).wait_for(state="detached")
    eventually(lambda: console.page.title() and len(lines_of(file)) == 2, "it is deleted")


def test_a_request_is_added_while_the_one_before_it_is_still_being_read(console: Console, file: Path) -> None:
    page = console.page
    console.open("evaluation")
    page.get_by_role("button", name="New request").click()
    page.get_by_label("What is asked for").fill("throw a pot")
    asked = console.hold("**/do/evaluation/requests")
    page.get_by_role("button", name="Add request").click()
    asked(0)
    console.follow("skills")
    page.get_by_role("heading", level=1, name="Skills").wait_for()
    console.follow("evaluation")
    page.get_by_role("heading", level=1, name="Evaluation").wait_for()
    asked(1).continue_()
    page.get_by_role("button", name="New request").click()
    page.get_by_label("What is asked for").fill("glaze a pot")
    with page.expect_response("**/do/evaluation/save") as saved:
        page.get_by_role("button", name="Add request").click()
    assert saved.value.ok
