"""The page Doctor: an examination runs while one looks at it, its findings lead to what they are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.console.conftest import Console, grave
from tests.e2e.processes import Up, eventually

pytestmark = pytest.mark.console

HELP = "How to fix it"


def test_a_finding_leads_to_its_tool(console: Console, axe: str) -> None:
    console.open("doctor")
    console.page.keyboard.press("r")
    console.page.get_by_text(HELP).wait_for()
    assert "searched for" in console.page.get_by_role("status").first.inner_text()
    assert grave(console, axe) == []

    console.page.get_by_label("Kind", exact=True).select_option("tools_without_skill")
    assert {row.split("\n")[1] for row in console.page.locator("[role=option]").all_inner_texts()} == {
        "tools without skill"
    }
    tool = console.page.locator(".detail a").first
    name = tool.inner_text().rpartition("/")[2]
    tool.click()

    console.page.get_by_role("heading", level=1, name="Catalogue").wait_for()
    console.page.locator(".detail").get_by_role("heading", name=name, exact=True).wait_for()
    # What was found is there still.
    console.page.go_back()
    console.page.get_by_text(HELP).wait_for()
    # Another address of the page is followed.
    console.open("doctor?state=dismissed")
    state, kind = (console.page.get_by_label(name, exact=True) for name in ("State", "Kind"))
    eventually(lambda: console.page.title() and state.input_value() == "dismissed", "the state is the address's")
    assert kind.input_value() == ""
    console.open("doctor?code=tools_without_skill")
    eventually(lambda: kind.input_value() == "tools_without_skill" and state.input_value() == "", "and the kind")
    console.page.get_by_text(HELP).wait_for()
    assert console.complaints == []


def test_an_examination_goes_on_while_other_pages_are_looked_at(opened: Callable[..., Console], large: Up) -> None:
    console = opened(large)
    console.open("doctor")
    console.page.get_by_label("search for each tool").uncheck()
    console.page.get_by_role("button", name="Examine").click()
    console.page.keyboard.type("gk")
    console.page.get_by_role("heading", level=1, name="Skills").wait_for()
    console.page.keyboard.type("gd")
    console.page.get_by_text(HELP).wait_for()
    assert "1,538 tools" in console.page.get_by_role("status").first.inner_text()
    # What is out of view is no element, here either.
    assert console.page.locator("[role=option]").count() < 60

    console.page.keyboard.press("/")
    console.page.keyboard.type("okta")
    assert all("okta" in row.lower() for row in console.page.locator("[role=option]").all_inner_texts())
    console.page.set_viewport_size({"width": 400, "height": 800})
    assert console.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert console.complaints == []


def test_an_examination_is_stopped_and_one_that_fails_says_so(opened: Callable[..., Console], large: Up) -> None:
    console = opened(large)
    console.open("doctor")
    console.page.get_by_role("button", name="Examine").click()
    console.page.get_by_role("progressbar", name="Examined").wait_for()
    console.page.get_by_text("searching for each tool").wait_for()
    console.page.keyboard.press("r")
    console.page.get_by_role("button", name="Examine").wait_for()
    assert console.page.locator(".problem").count() == 0

    console.page.route("**/do/doctor/examine", lambda route: route.abort())
    console.page.keyboard.press("r")
    console.page.get_by_text("The catalogue could not be examined").wait_for()
    console.page.unroute("**/do/doctor/examine")
    console.page.get_by_role("button", name="Try again").click()
    console.page.get_by_role("progressbar", name="Examined").wait_for()


def _examined(console: Console, about: str, kind: str) -> Any:
    """Examine without searches, open the finding of a kind about something, and return its pane."""
    console.open("doctor")
    console.page.get_by_label("search for each tool").uncheck()
    console.page.get_by_role("button", name="Examine").click()
    console.page.get_by_text(HELP).wait_for()
    console.page.get_by_label("Filter findings").fill(about)
    console.page.get_by_label("Kind", exact=True).select_option(kind)
    console.row(about).first.click()
    return console.page.locator(".detail")


def test_a_description_is_mended_where_its_finding_stands_and_taken_back(console: Console, axe: str) -> None:
    console.server.put({"server": "mended", "name": "fold_paper_crane", "description": "TODO"})
    pane = _examined(console, "mended", "description_empty")
    text = pane.get_by_label("Description of fold_paper_crane")
    text.wait_for()
    assert text.input_value() == "TODO"
    assert "change it at its source" in pane.inner_text()
    assert grave(console, axe) == []

    text.fill("Fold a crane out of a square of paper.")
    pane.get_by_role("button", name="Save description").click()
    console.row("✓ mended").wait_for()
    pane.get_by_text("✓ description changed").wait_for()
    assert "1 mended" in console.page.get_by_role("status").first.inner_text()
    inside = "document.querySelector('.detail').contains(document.activeElement)"
    eventually(lambda: console.page.evaluate(inside), "who uses keys alone goes on where the field is")

    console.page.get_by_role("button", name="Undo").click()
    console.page.get_by_text("description as it was before").wait_for()
    console.row("✓ mended").wait_for(state="detached")
    field = pane.get_by_label("Description of fold_paper_crane")
    eventually(lambda: field.input_value() == "TODO", "the text before is read again")
    assert console.complaints == []


def test_what_somebody_else_wrote_meanwhile_is_not_written_over_unseen(console: Console) -> None:
    console.server.put({"server": "raced", "name": "whittle_spoon", "description": "TODO"})
    pane = _examined(console, "raced", "description_empty")
    text = pane.get_by_label("Description of whittle_spoon")
    text.fill("Mine.")
    console.server.put({"server": "raced", "name": "whittle_spoon", "description": "Theirs."})
    pane.get_by_role("button", name="Save description").click()
    console.page.locator(".problem").filter(has_text="it is now: Theirs.").wait_for()
    assert text.input_value() == "Mine."
    console.page.get_by_role("button", name="Try again").click()
    console.row("✓ mended").wait_for()


def test_who_types_on_while_a_finding_is_mended_goes_on_typing(console: Console) -> None:
    console.server.put({"server": "typed", "name": "glaze_bowl", "description": ""})
    pane = _examined(console, "typed", "description_empty")
    console.page.get_by_label("State", exact=True).select_option("open")
    pane.get_by_label("Description of glaze_bowl").fill("Glaze a bowl of clay.")
    held: list[Any] = []
    console.page.route("**/do/doctor/tool", lambda route: held.append(route))  # noqa: PLW0108 (a method it cannot mark)
    pane.get_by_role("button", name="Save description").dblclick()  # which saves once
    requests = pane.get_by_label("Requests, one on each line")
    requests.evaluate("field => { field.focus(); field.dataset.isOld = true; }")
    console.page.keyboard.type("make my bowl s")
    eventually(lambda: console.page.title() and held, "the tool is read again")
    pane.get_by_text("✓ description changed").wait_for()
    held[0].continue_()
    pane.locator("textarea[data-is-old]").wait_for(state="detached")
    console.page.keyboard.type("x")  # which dismisses the finding where nothing has the focus
    assert requests.input_value() == "make my bowl sx"
    assert console.page.get_by_text("Dismissed:").count() == 0
    assert console.page.locator(".problem").count() == 0


def test_an_editor_that_comes_late_takes_no_focus_from_another_field(console: Console) -> None:
    console.server.put({"server": "late", "name": "carve_duck", "description": ""})
    pane = _examined(console, "late", "description_empty")
    text = pane.get_by_label("Description of carve_duck")
    text.evaluate("field => { field.dataset.isOld = true; }")
    held: list[Any] = []
    console.page.route("**/do/doctor/tool", lambda route: held.append(route))  # noqa: PLW0108 (a method it cannot mark)
    pane.get_by_role("button", name="Edit late/carve_duck").click()
    eventually(lambda: console.page.title() and held, "the tool is read")
    pane.get_by_label("Reason", exact=True).fill("It is a duc")
    held[0].continue_()
    pane.locator("textarea[data-is-old]").wait_for(state="detached")
    console.page.keyboard.type("x")  # which dismisses the finding where no field has the focus
    assert pane.get_by_label("Reason", exact=True).input_value() == "It is a ducx"
    assert console.page.get_by_text("Dismissed:").count() == 0


def test_near_duplicates_stand_side_by_side_and_one_is_switched_off(console: Console, axe: str) -> None:
    words = "Press dried wild flowers between the pages of a heavy book for several weeks."
    console.server.put(*({"server": name, "name": "press_flowers", "description": words} for name in ("herb", "flora")))
    pane = _examined(console, "press_flowers", "near_duplicates")
    pane.get_by_role("heading", name="Side by side").wait_for()
    eventually(lambda: pane.get_by_text(words).count() == 2, "both are there")
    for width in (1280, 400):
        console.page.set_viewport_size({"width": width, "height": 800})
        assert console.page.evaluate("document.documentElement.scrollWidth") <= width
        assert grave(console, axe) == []
    console.page.set_viewport_size({"width": 1280, "height": 800})

    pane.get_by_role("button", name="Switch off flora/press_flowers").click()
    console.row("✓ mended").wait_for()
    switch = pane.get_by_role("button", name="Switch on flora/press_flowers")
    eventually(lambda: switch.evaluate("node => node === document.activeElement"), "the focus is where it was")
    # Kept while another page is looked at, as is what is open.
    console.page.get_by_role("link", name="Skills").first.click()
    console.page.get_by_role("heading", level=1, name="Skills").wait_for()
    console.page.go_back()
    console.row("✓ mended").wait_for()
    pane.get_by_text("✓ switched off").wait_for()
    console.page.get_by_role("button", name="Switch on flora/press_flowers").click()
    console.page.get_by_text("flora/press_flowers is on").wait_for()
    console.row("✓ mended").wait_for(state="detached")


def test_skills_are_mended_and_merged_in_the_finding(console: Console) -> None:
    for name in ("kites", "kite_flying"):
        skill = {"id": name, "name": "Kite Flying", "description": "Building and flying kites in the wind."}
        assert console.server.http.post("/api/v1/skills", json=skill).status_code == 201
    pane = _examined(console, "kite_flying", "skills_overlap")
    pane.get_by_role("button", name="Edit kites").click()
    assert pane.get_by_label("Skill that gets the tools").input_value() == "kite_flying"
    pane.get_by_role("button", name="Merge", exact=True).click()
    console.page.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
    pane.get_by_text("✓ merged into kite_flying").wait_for()
    console.row("✓ mended").wait_for()
    assert not console.server.http.get("/api/v1/skills/kites").json()["is_active"]


def test_a_dismissed_finding_is_shown_on_wish_and_comes_back_when_its_text_changed(console: Console) -> None:
    console.server.put({"server": "oldies", "name": "count_acorns", "description": "TODO"})
    pane = _examined(console, "oldies", "description_empty")
    pane.get_by_label("Description of count_acorns").wait_for()
    # What opens by itself takes no focus.
    assert not console.page.evaluate("document.querySelector('.detail').contains(document.activeElement)")
    pane.get_by_label("Reason").fill("it is retired in May")
    console.page.keyboard.press("Enter")
    console.page.get_by_text("No finding matches the filter.").wait_for()

    console.page.get_by_label("State").select_option("dismissed")
    console.row("count_acorns").click()
    pane.get_by_text("it is retired in May").wait_for()
    pane.get_by_role("button", name="Take it back").click()
    console.page.locator("#notices p").filter(has_text="Taken back").get_by_role("button", name="Undo").click()
    pane.get_by_text("it is retired in May").wait_for()

    # Examined again it is dismissed still, until the text is another one.
    assert _found_again(console) == 0
    console.server.put({"server": "oldies", "name": "count_acorns", "description": "N/A"})
    assert _found_again(console) == 1


def _found_again(console: Console) -> int:
    """Examine in a page that was loaded anew; return how many findings are shown of a tool without a text."""
    console.open("doctor")
    console.page.reload()
    console.page.get_by_label("search for each tool").uncheck()
    console.page.get_by_role("button", name="Examine").click()
    console.page.get_by_text(HELP).wait_for()
    console.page.get_by_label("Filter findings").fill("count_acorns")
    console.page.get_by_label("Kind", exact=True).select_option("description_empty")
    console.page.get_by_label("State").select_option("")
    count: int = console.row("count_acorns").count()
    return count


def test_what_is_mended_during_an_examination_stays_mended_in_its_report(console: Console) -> None:
    console.server.put({"server": "meanwhile", "name": "darn_socks", "description": "TODO"})
    pane = _examined(console, "darn_socks", "description_empty")
    asked = console.hold("**/do/doctor/examine")
    console.page.get_by_role("button", name="Examine").click()
    seen = asked().fetch()
    pane.get_by_role("button", name="Switch off meanwhile/darn_socks").click()
    console.row("✓ mended").wait_for()
    asked().fulfill(response=seen)
    console.page.get_by_role("button", name="Examine").wait_for()
    console.row("✓ mended").wait_for()
    # The finding that stays open goes on writing where the list reads.
    pane.get_by_role("button", name="Switch on meanwhile/darn_socks").click()
    console.row("✓ mended").wait_for(state="detached")
    assert console.complaints == []


def _dismiss(console: Console, *rows: str) -> None:
    for row in rows:
        console.row(row).click()
        console.page.keyboard.press("x")


def test_dismissals_stay_where_their_answers_come_in_another_order(console: Console) -> None:
    names = ("sort_pebbles", "sort_shells")
    console.server.put(*({"server": "shore", "name": name, "description": "TODO"} for name in names))
    _examined(console, "shore/sort_", "description_empty")
    asked = console.hold("**/do/doctor/dismiss")
    _dismiss(console, "sort_pebbles")
    older = asked(0).fetch()
    _dismiss(console, "sort_shells")
    asked(1).continue_()
    console.row("sort_shells").wait_for(state="detached")
    asked(0).fulfill(response=older)
    console.row("sort_pebbles").wait_for(state="detached")
    assert console.row("sort_shells").count() == 0
    assert console.complaints == []


def test_a_dismissal_stays_where_an_older_reading_answers_after_it(console: Console) -> None:
    console.server.put({"server": "shore", "name": "skip_stones", "description": "TODO"})
    _examined(console, "skip_stones", "description_empty")
    asked = console.hold("**/do/doctor/dismissed")
    console.page.get_by_role("button", name="Examine").click()
    older = asked(0).fetch()
    _dismiss(console, "skip_stones")
    console.page.get_by_text("Dismissed: description empty").wait_for()
    asked(0).fulfill(response=older)
    asked(1).continue_()  # it is read again
    console.page.get_by_role("button", name="Examine").wait_for()
    console.page.get_by_label("State", exact=True).select_option("dismissed")
    console.row("skip_stones").wait_for()


def test_a_finding_is_dismissed_once_with_what_is_typed_by_then(console: Console) -> None:
    console.server.put({"server": "shore", "name": "chase_waves", "description": "TODO"})
    pane = _examined(console, "chase_waves", "description_empty")
    asked = console.hold("**/do/doctor/dismiss")
    pane.get_by_label("Reason", exact=True).fill("it sle")
    pane.get_by_label("Reason", exact=True).press("Escape")
    console.page.keyboard.press("x")
    asked(0)
    console.page.keyboard.press("x")
    pane.get_by_label("Reason", exact=True).fill("it sleeps")
    asked(0).fulfill(status=503, json={"detail": "it is away"})
    problem = console.page.locator(".problem").filter(has_text="The finding was not dismissed")
    problem.wait_for()
    pane.get_by_role("button", name="Dismiss x").click()
    assert asked(1).request.post_data_json["reason"] == "it sleeps"  # the second of the three was not sent
    asked(1).continue_()
    console.row("chase_waves").wait_for(state="detached")
    problem.wait_for(state="detached")


def test_a_report_is_not_shown_to_another_caller(console: Console) -> None:
    console.open("doctor")
    console.page.get_by_label("search for each tool").uncheck()
    asked = console.hold("**/do/doctor/dismissed")
    console.page.get_by_role("button", name="Examine").click()
    held = asked(0)  # the report is there, and waits for what is dismissed
    console.page.evaluate("document.dispatchEvent(new CustomEvent('token'))")
    held.continue_()
    asked(1).continue_()
    console.page.get_by_text("The doctor looks for problems").wait_for()
    console.settle()
    assert console.page.get_by_text(HELP).count() == 0
    assert console.page.locator(".problem").count() == 0


def test_what_stands_side_by_side_and_in_an_editor_is_what_was_written_last(console: Console) -> None:
    words = "Skim flat stones over the surface of a calm lake on a windless evening."
    console.server.put(*({"server": name, "name": "skim_stones", "description": words} for name in ("lake", "pond")))
    pane = _examined(console, "skim_stones", "near_duplicates")
    side = pane.get_by_role("region", name="lake/skim_stones")
    side.get_by_text(words).wait_for()
    pane.get_by_role("button", name="Edit lake/skim_stones").click()
    text = pane.get_by_label("Description of skim_stones")
    text.fill("Skim stones over a lake.")
    asked = console.hold("**/do/catalogue/describe")
    pane.get_by_role("button", name="Save description").click()
    asked(0)
    # The editor of the other tool, opened meanwhile, stays.
    pane.get_by_role("button", name="Edit pond/skim_stones").click()
    pane.get_by_role("heading", name="pond/skim_stones", level=2).wait_for()
    asked(0).continue_()
    side.get_by_text("Skim stones over a lake.").wait_for()
    pane.get_by_role("heading", name="pond/skim_stones", level=2).wait_for()
    # The same finding, opened anew, follows what is taken back.
    console.page.get_by_label("Filter findings").fill("nothing of this name")
    console.page.get_by_text("No finding matches the filter.").wait_for()
    console.page.get_by_label("Filter findings").fill("skim_stones")
    pane.get_by_text("✓ description changed").wait_for()
    console.page.locator("#notices").get_by_role("button", name="Undo").click()
    asked(1).continue_()
    pane.get_by_text("✓ description changed").wait_for(state="detached")
    side.get_by_text(words).wait_for()
    assert console.complaints == []


def test_a_save_that_ends_late_takes_no_field_from_who_types_in_it(console: Console) -> None:
    page = console.page
    console.server.put({"server": "potter", "name": "glaze_bowl", "description": ""})
    pane = _examined(console, "potter", "description_empty")
    pane.get_by_label("Description of glaze_bowl").fill("Glaze a bowl of clay.")
    asked = console.hold("**/do/catalogue/describe")
    pane.get_by_role("button", name="Save description").click()
    saving = asked(0)
    console.follow("skills")
    page.get_by_role("heading", level=1, name="Skills").wait_for()
    console.follow("doctor")
    page.get_by_role("heading", level=1, name="Doctor").wait_for()
    page.get_by_label("Filter findings").fill("potter")
    console.row("description empty").first.click()
    requests = pane.get_by_label("Requests, one on each line")
    requests.press_sequentially("make my bowl s")
    with page.expect_response("**/do/catalogue/describe"):
        saving.continue_()
    console.settle()
    page.keyboard.type("x")
    assert requests.input_value() == "make my bowl sx"
    assert page.get_by_text("Dismissed:").count() == 0
