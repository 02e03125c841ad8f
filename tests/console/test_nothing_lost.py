"""What is typed on the pages stays until it is stored, goes to its item alone, and is called done when it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.console.conftest import Console, lines_of
from tests.e2e.processes import Up, answered, eventually

pytestmark = pytest.mark.console

SKILLS = {"typing_one": "Typing One", "typing_two": "Typing Two"}


@pytest.fixture(autouse=True)
def skills(examples: Up) -> Iterator[None]:
    """Two skills, as they are before each test."""
    for id_, name in SKILLS.items():
        body = {"name": name, "description": f"All about {name.lower()}.", "is_active": True, "keywords": []}
        assert examples.http.put(f"/api/v1/skills/{id_}", json=body).is_success
    examples.put({"server": "typing", "name": "typed_tool", "description": "A tool for what is typed."})
    yield
    for id_ in SKILLS:
        examples.http.delete(f"/api/v1/skills/{id_}")


def skill(console: Console, id_: str) -> dict[str, Any]:
    found: dict[str, Any] = answered(console.server.http.get(f"/api/v1/skills/{id_}"))
    return found


def heading(console: Console, text: str) -> None:
    """Wait until the pane that is open is about something, and can be typed into."""
    console.page.locator(".detail h2").get_by_text(text, exact=True).wait_for()
    console.page.locator(".detail").get_by_text("Reading …").wait_for(state="detached")


def choose(console: Console, name: str) -> None:
    console.row(name).click()
    heading(console, name)


FIELDS = {
    "Name": "Typed name",
    "Domain": "typed domain",
    "Description": "A typed description.",
    "Keywords, with commas between": "typed, words",
    "Typical tools, with commas between": "typed_example",
    "Skill that gets the tools": "typed_two",
}


@pytest.mark.parametrize("leaving", ["another skill", "another page", "a filter", "back", "the tab is closed"])
def test_no_field_of_a_skill_is_lost(console: Console, leaving: str) -> None:
    console.open("search")
    steps = console.page.evaluate("history.length")
    console.page.keyboard.press("Escape")
    console.page.keyboard.type("gk")
    choose(console, "Typing One")
    for label, text in FIELDS.items():
        console.page.get_by_label(label, exact=True).fill(text)
    match leaving:
        case "another skill":
            choose(console, "Typing Two")
        case "another page":
            console.page.get_by_role("link", name="Health").click()
            console.page.get_by_role("heading", level=1, name="Health").wait_for()
        case "a filter":
            console.page.get_by_label("Filter skills").fill("two")
            heading(console, "Typing Two")
        case "back":
            console.page.evaluate("steps => history.go(steps - history.length)", steps)  # over what was opened on it
            console.page.get_by_role("heading", level=1, name="Search").wait_for()
        case _:
            context = console.page.context
            console.page.close()
            console.page = context.new_page()
    console.open("skills?skill=typing_one")
    console.page.reload()
    heading(console, "Typing One")

    assert {label: console.page.get_by_label(label, exact=True).input_value() for label in FIELDS} == FIELDS
    console.row("Typing One").get_by_text("unsaved").wait_for()
    assert console.row("Typing Two").get_by_text("unsaved").count() == 0
    assert skill(console, "typing_one")["name"] == "Typing One"


def test_a_click_counts_though_the_rows_are_drawn_anew_under_it(console: Console) -> None:
    console.open("skills?skill=typing_one")
    heading(console, "Typing One")
    console.row("Typing Two").hover()
    console.page.mouse.down()
    console.page.evaluate("document.dispatchEvent(new CustomEvent('drafts'))")  # as whatever is typed does
    console.page.mouse.up()
    heading(console, "Typing Two")
    # On a tick it selects, as it does else.
    console.row("Typing One").locator(".tick").hover()
    console.page.mouse.down()
    console.page.evaluate("document.dispatchEvent(new CustomEvent('drafts'))")
    console.page.mouse.up()
    console.page.get_by_text("1 skill selected").wait_for()
    heading(console, "Typing Two")


def test_a_new_skill_that_is_left_is_there_when_it_is_made_again(console: Console) -> None:
    console.open("skills")
    console.page.get_by_role("button", name="New skill").click()
    dialog = console.page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Half a skill")
    dialog.get_by_label("Description").fill("Its description.")
    console.page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    console.page.reload()
    console.page.get_by_role("button", name="New skill unsaved").click()
    assert dialog.get_by_label("Name").input_value() == "Half a skill"
    assert dialog.get_by_label("Id").input_value() == "half_a_skill"
    assert dialog.get_by_label("Description").input_value() == "Its description."


def test_what_is_typed_while_a_skill_is_saved_stays(console: Console) -> None:
    console.open("skills?skill=typing_one")
    heading(console, "Typing One")
    asked = console.hold("**/do/skills/save", times=1)
    console.page.get_by_label("Name", exact=True).fill("Saved name")
    console.page.get_by_role("button", name="Save", exact=True).click()
    save = asked()
    console.page.get_by_label("Description").fill("Typed while it was saved.")
    save.continue_()
    console.page.get_by_text("Saved name: saved").wait_for()
    heading(console, "Saved name")

    assert console.page.get_by_label("Description").input_value() == "Typed while it was saved."
    assert console.page.get_by_label("Description").evaluate("field => field === document.activeElement")
    console.page.get_by_role("button", name="Save", exact=True).click()
    eventually(
        lambda: skill(console, "typing_one")["description"] == "Typed while it was saved.", "it is saved as well"
    )


def test_a_draft_of_an_older_version_does_not_write_over_what_others_did(console: Console) -> None:
    console.open("skills?skill=typing_one")
    heading(console, "Typing One")
    console.page.get_by_label("Description").fill("A description of mine.")
    choose(console, "Typing Two")
    patch = {"description": "A description of theirs."}
    answered(console.server.http.patch("/api/v1/skills/typing_one", json=patch))
    choose(console, "Typing One")
    console.page.get_by_text("Another user has changed this skill").wait_for()
    console.page.get_by_role("button", name="Save", exact=True).click()
    console.page.get_by_role("button", name="Overwrite with my changes").wait_for()
    assert skill(console, "typing_one")["description"] == patch["description"]


def test_reasons_and_merges_of_suggestions_are_kept(console: Console) -> None:
    console.open("suggestions")
    choose(console, "Knife sharpening")
    console.page.get_by_label("Reason of a rejection").fill("typed reason")
    console.page.get_by_label("Skill to merge into").fill("typed skill")
    console.page.get_by_label("Description").fill("A typed description.")
    console.page.get_by_role("listbox").focus()
    console.page.keyboard.press("Home")
    console.page.locator(".detail h2").get_by_text("Knife sharpening").wait_for(state="detached")
    choose(console, "Knife sharpening")
    assert console.page.get_by_label("Reason of a rejection").input_value() == "typed reason"
    assert console.page.get_by_label("Skill to merge into").input_value() == "typed skill"
    assert console.page.get_by_label("Description").input_value() == "A typed description."


def test_skills_that_were_taken_from_a_tool_and_not_saved_stay_taken(console: Console) -> None:
    [tool] = console.server.items(name="create_event")
    console.open(f"catalogue?tool={tool['id']}")
    heading(console, "create_event")
    before = answered(console.server.http.get(f"/api/v1/tools/{tool['id']}/skills"))
    console.page.get_by_role("button", name="Remove ").first.click()
    # Classifying would put other skills in the place of what waits to be saved.
    console.page.get_by_role("button", name="Classify again").click()
    console.page.get_by_text("are changed and not saved").wait_for()
    console.page.get_by_label("Skill to add").fill("typed")
    console.open("health")
    console.page.get_by_role("heading", level=1, name="Health").wait_for()
    console.open(f"catalogue?tool={tool['id']}")
    heading(console, "create_event")
    removing = console.page.get_by_role("button", name="Remove ")
    eventually(lambda: removing.count() == len(before) - 1, "what was taken is not there again")
    assert console.page.get_by_label("Skill to add").input_value() == "typed"
    console.row("create_event").get_by_text("unsaved").wait_for()
    # What stands in the field was meant as well: saved it is not, as there is no such skill.
    console.page.get_by_role("button", name="Save skills").click()
    console.page.get_by_text("There is no skill typed").wait_for()
    assert answered(console.server.http.get(f"/api/v1/tools/{tool['id']}/skills")) == before


@pytest.mark.parametrize("drawn", ["before the refusal", "after the refusal"])
def test_a_refusal_stays_when_the_item_is_drawn_anew(console: Console, drawn: str) -> None:
    """What is open is read again with the list, and its answer comes when it comes: also while something is saved."""
    [tool] = console.server.items(name="create_event")
    console.open(f"catalogue?tool={tool['id']}")
    heading(console, "create_event")
    console.page.get_by_label("Skill to add").fill("unknown")
    reading: list[Any] = []
    checking: list[Any] = []
    console.page.route("**/do/catalogue/tool", lambda route: reading.append(route))  # noqa: PLW0108 (a method it cannot mark)
    console.page.get_by_role("button", name="Reload").click()
    eventually(lambda: console.page.wait_for_timeout(20) or reading, "the tool is read again")
    refusal = console.page.get_by_text("There is no skill unknown")

    def draw_anew() -> None:
        console.page.evaluate("document.querySelector('.detail h2').dataset.before = 'yes'")
        reading[0].continue_()
        console.page.locator(".detail h2:not([data-before])").wait_for()

    if drawn == "before the refusal":
        console.page.route("**/do/skills/skills", lambda route: checking.append(route))  # noqa: PLW0108
        console.page.get_by_role("button", name="Save skills").click()
        eventually(lambda: console.page.wait_for_timeout(20) or checking, "the skills are read")
        draw_anew()
        checking[0].continue_()
    else:
        console.page.get_by_role("button", name="Save skills").click()
        refusal.wait_for()
        draw_anew()
    refusal.wait_for()
    assert console.page.get_by_label("Skill to add").get_attribute("aria-invalid") == "true"
    console.page.get_by_role("button", name="Discard changes").click()


def test_a_filter_and_enter_open_the_tool_that_the_list_shows(console: Console) -> None:
    console.open("catalogue")
    console.page.get_by_role("listbox", name="Tools").focus()
    console.page.keyboard.press("Home")
    first = console.page.locator("[role=option][aria-selected=true] .code").inner_text()
    heading(console, first)
    console.page.get_by_label("Filter", exact=True).fill("typed_tool")
    console.page.keyboard.press("Enter")
    heading(console, "typed_tool")
    assert "typed_tool" in console.page.locator("[role=option][aria-selected=true]").inner_text()

    console.page.get_by_text("Skills of typed_tool").wait_for()
    console.page.get_by_label("Skill to add").fill("Typing Two")
    console.page.keyboard.press("Enter")
    console.page.get_by_role("button", name="Save skills").click()
    console.page.get_by_text("typed_tool: skills saved").wait_for()
    [tool] = console.server.items(name="typed_tool")
    [row] = answered(console.server.http.get(f"/api/v1/tools/{tool['id']}/skills"))
    assert row["skill_id"] == "typing_two"


@pytest.mark.parametrize(
    ("place", "label", "of"),
    [
        ("catalogue", "Filter", "The tool"),
        ("skills", "Filter skills", "The skill"),
        ("suggestions", "Filter suggestions", "The suggestion"),
        ("servers", "Filter", "The server"),
    ],
)
def test_a_filter_that_nothing_matches_leaves_nothing_open(console: Console, place: str, label: str, of: str) -> None:
    console.open(place)
    pane = console.page.get_by_role("region", name=of)
    pane.locator("h2").wait_for()
    before = pane.locator("h2").inner_text()
    console.page.get_by_label(label, exact=True).fill("nothing is called so")
    pane.get_by_text("Select an item in the list").wait_for()
    assert pane.get_by_role("button").count() == 0
    console.page.get_by_label(label, exact=True).fill("")
    pane.locator("h2").get_by_text(before, exact=True).wait_for()
    assert before in console.page.locator("[role=option][aria-selected=true]").inner_text()


def test_an_answer_that_comes_late_is_not_shown_for_another_tool(console: Console) -> None:
    console.open("skills?skill=typing_one")
    heading(console, "Typing One")
    asked = console.hold("**/do/skills/save", times=1)
    console.page.get_by_label("Name", exact=True).fill("Late name")
    console.page.get_by_role("button", name="Save", exact=True).click()
    save = asked()
    choose(console, "Typing Two")
    save.continue_()
    console.page.get_by_text("Late name: saved").wait_for()
    heading(console, "Typing Two")
    assert "Typing Two" in console.page.locator("[role=option][aria-selected=true]").inner_text()
    assert skill(console, "typing_two")["name"] == "Typing Two"


def test_a_skill_that_was_not_saved_is_named_though_another_one_is_open_by_then(console: Console) -> None:
    console.open("skills?skill=typing_one")
    heading(console, "Typing One")
    asked = console.hold("**/do/skills/save", times=1)
    console.page.get_by_label("Name", exact=True).fill("My name")
    console.page.get_by_role("button", name="Save", exact=True).click()
    save = asked()
    choose(console, "Typing Two")
    answered(console.server.http.patch("/api/v1/skills/typing_one", json={"description": "Of theirs."}))
    save.continue_()
    console.page.locator(".problem").filter(has_text="Typing One was not saved").wait_for()
    choose(console, "Typing One")
    console.page.get_by_text("Another user has changed this skill").wait_for()
    assert console.page.get_by_label("Name", exact=True).input_value() == "My name"


def test_skills_that_are_saved_for_a_tool_are_shown_though_an_older_answer_comes_late(console: Console) -> None:
    [tool] = console.server.items(name="typed_tool")
    console.open(f"catalogue?tool={tool['id']}")
    heading(console, "typed_tool")
    asked = console.hold("**/do/catalogue/tool")
    console.page.get_by_role("button", name="Reload").click()
    older = asked(0)
    before = older.fetch()
    console.page.get_by_label("Skill to add").fill("typing_two")
    console.page.get_by_role("button", name="Add", exact=True).last.click()
    console.page.get_by_role("button", name="Remove typing_two").wait_for()
    console.page.get_by_role("button", name="Save skills").click()
    asked(1).continue_()
    console.page.locator(".detail td").get_by_text("Typing Two").wait_for()
    with console.page.expect_response("**/do/catalogue/tool"):
        older.fulfill(response=before)
    console.settle()
    assert console.page.locator(".detail td").get_by_text("Typing Two").count() == 1


def test_a_pane_of_another_item_cannot_be_typed_into_while_one_is_read(console: Console) -> None:
    console.open("skills?skill=typing_one")
    heading(console, "Typing One")
    asked = console.hold("**/do/skills/skill", times=1)
    console.row("Typing Two").click()
    asked()
    assert console.page.locator(".detail h2").inner_text() == "Typing Two"
    assert console.page.locator(".detail").get_by_role("textbox").count() == 0


def test_who_comes_back_before_the_other_page_was_shown_stays_on_the_page_of_the_address(console: Console) -> None:
    console.open("skills?skill=typing_one")
    heading(console, "Typing One")
    asked = console.hold("**/page_health.js", times=1)
    console.page.get_by_role("link", name="Health").click()
    health = asked()
    console.page.go_back()
    with console.page.expect_response("**/page_health.js"):
        health.continue_()
    # What waited for the module is done once the module is there.
    console.page.evaluate("() => import('./static/page_health.js').then(() => new Promise((done) => setTimeout(done)))")
    assert console.page.locator("h1").inner_text() == "Skills"
    assert "#/skills" in console.page.url


def test_merging_into_what_is_no_skill_is_refused_at_the_field(console: Console) -> None:
    console.open("suggestions")
    choose(console, "Knife sharpening")
    sent: list[str] = []
    console.page.on("request", lambda request: sent.append(request.url))
    into = console.page.get_by_label("Skill to merge into")
    for wrong, why in (("sharpen_blade", "There is no skill sharpen_blade"), ("", "Enter the name of")):
        into.fill(wrong)
        into.press("Enter")
        console.page.locator(".refusal").get_by_text(why).wait_for()
        assert into.get_attribute("aria-invalid") == "true"
    answered(console.server.http.patch("/api/v1/skills/typing_two", json={"is_active": False}))
    into.fill("typing two")
    into.press("Enter")
    console.page.locator(".refusal").get_by_text("The skill typing_two is off").wait_for()
    assert console.row("Knife sharpening").count() == 1
    assert console.page.locator("#notices").inner_text() == ""
    assert not [url for url in sent if url.endswith("/review")]


def test_merged_is_said_when_it_is(console: Console) -> None:
    console.open("suggestions")
    choose(console, "Tap dancing")
    asked = console.hold("**/do/suggestions/review", times=1)
    console.page.get_by_label("Skill to merge into").fill("Typing Two")
    console.page.get_by_role("button", name="Merge").first.click()
    notices = console.page.locator("#notices")
    notices.get_by_text("Merging Tap dancing into Typing Two: it is sent in 6 seconds").wait_for()
    review = asked()
    assert "Merged" not in notices.inner_text()
    review.continue_()
    notices.get_by_text("Merged: Tap dancing into Typing Two, 1 suggestion").wait_for()
    tools = answered(console.server.http.get("/api/v1/skills/typing_two/tools"))
    assert "tap_dance" in {tool["tool_name"] for tool in tools}


def test_approving_under_an_id_that_is_taken_is_refused_at_the_field(console: Console) -> None:
    console.open("suggestions")
    choose(console, "Knife sharpening")
    console.page.get_by_label("Id", exact=True).fill("typing_one")
    console.page.get_by_role("button", name="Approve").click()
    console.page.locator(".refusal").get_by_text("There is a skill typing_one already").wait_for()
    console.page.get_by_label("Name", exact=True).fill(" ")
    console.page.get_by_role("button", name="Approve").click()
    console.page.locator(".refusal").get_by_text("It cannot be empty").wait_for()
    assert console.row("Knife sharpening").count() == 1
    assert console.page.locator("#notices").inner_text() == ""


def test_a_skill_merged_into_itself_or_into_nothing_is_refused_at_the_field(console: Console) -> None:
    console.open("skills?skill=typing_one")
    heading(console, "Typing One")
    into = console.page.get_by_label("Skill that gets the tools")
    for wrong, why in (("nowhere", "There is no skill nowhere"), ("Typing One", "typing_one is this skill")):
        into.fill(wrong)
        into.press("Enter")
        console.page.locator(".refusal").get_by_text(why).wait_for()
        assert console.page.get_by_role("dialog").count() == 0


def test_two_ticks_say_whether_one_is_enough_or_both_are_needed(console: Console) -> None:
    query = "reserve a table and schedule a meeting with John"
    console.open(f"search?q={query.replace(' ', '+')}&limit=10")
    file = console.server.home.path / "requests.jsonl"

    def needs() -> Any:
        return (
            next((line["needs"] for line in lines_of(file) if line["query"] == query), None) if file.exists() else None
        )

    buttons = console.page.get_by_role("button", name="right for the request: ")
    names = [str(buttons.nth(at).get_attribute("aria-label")).partition(": ")[2] for at in range(3)]
    for name in names[:2]:
        console.page.get_by_role("button", name=f"right for the request: {name}", exact=True).click()
        console.page.locator(f'[data-mark="right {name}"][aria-pressed=true]:not(:disabled)').wait_for()
    console.page.get_by_text("An answer is right with one of the 2 ticked tools.").wait_for()
    eventually(lambda: needs() == [names[:2]], "one of them is enough")

    console.page.get_by_label("all of these: each is needed").check()
    console.page.get_by_text("An answer is right with both ticked tools only.").wait_for()
    eventually(lambda: needs() == [[name] for name in names[:2]], "both are needed")
    console.page.reload()
    assert console.page.get_by_label("all of these: each is needed").is_checked()
    console.page.get_by_role("button", name=f"right for the request: {names[2]}", exact=True).click()
    eventually(lambda: needs() == [[name] for name in names], "and the third one")
    console.page.get_by_label("any of these: one is enough").check()
    eventually(lambda: needs() == [names], "one of them is enough again")


def test_a_mark_that_was_not_written_is_not_shown_and_can_be_written_again(console: Console) -> None:
    query = "will it rain in Lisbon"
    console.open(f"search?q={query.replace(' ', '+')}")
    button = console.page.get_by_role("button", name="right for the request: ").first
    button.wait_for()
    console.page.route("**/do/search/judge", lambda route: route.abort())
    button.click()
    console.page.get_by_text("was not written").wait_for()
    eventually(lambda: button.get_attribute("aria-pressed") == "false", "it is not marked")
    console.page.unroute("**/do/search/judge")
    console.page.get_by_role("button", name="Try again").click()
    console.page.get_by_text("This request is in").wait_for()
    assert query in {line["query"] for line in lines_of(console.server.home.path / "requests.jsonl")}


def marks(console: Console) -> list[str]:
    """Return the names of the results, by their marks."""
    buttons = console.page.get_by_role("button", name="right for the request: ")
    buttons.first.wait_for()
    return [label.partition(": ")[2] for label in buttons.evaluate_all("all => all.map((one) => one.ariaLabel)")]


def mark(console: Console, name: str) -> Any:
    return console.page.locator(f'[data-mark="right {name}"]')


def test_a_search_that_was_begun_before_a_mark_shows_it(console: Console) -> None:
    console.open("search?q=how+warm+is+it+in+Oslo")
    first, second, *_ = marks(console)
    asked = console.hold("**/do/search/run")
    console.page.get_by_role("button", name="Search", exact=True).click()
    running = asked()
    with console.page.expect_response("**/do/search/judge"):
        mark(console, first).click()
    console.page.get_by_text("This request is in").wait_for()

    # GIVEN another one that is being written as well
    writing = console.hold("**/do/search/judge")
    mark(console, second).click()
    sent = writing()
    running.continue_()
    console.settle()
    assert mark(console, second).is_disabled()
    sent.continue_()
    console.page.locator(f'[data-mark="right {second}"][aria-pressed=true]:enabled').wait_for()
    console.page.get_by_text("Searching").wait_for(state="detached")
    assert mark(console, first).get_attribute("aria-pressed") == "true"
    console.page.get_by_text("This request is in").wait_for()


def test_a_mark_that_is_written_again_leaves_those_that_were_made_since(console: Console) -> None:
    query = "what is the weather like in Rome"
    console.open(f"search?q={query.replace(' ', '+')}")
    first, second, *_ = marks(console)
    console.page.route("**/do/search/judge", lambda route: route.abort())
    mark(console, first).click()
    console.page.get_by_text("was not written").wait_for()
    console.page.unroute("**/do/search/judge")
    mark(console, second).click()
    console.page.get_by_text("This request is in").wait_for()

    console.page.get_by_role("searchbox", name="Request").fill("book a flight")
    console.page.keyboard.press("Enter")
    console.page.locator("[data-asked='book a flight']").wait_for()
    console.page.get_by_role("button", name="Try again").click()
    file = console.server.home.path / "requests.jsonl"
    eventually(
        lambda: [line["needs"] for line in lines_of(file) if line["query"] == query] == [[[second, first]]],
        "both marks are in the file",
    )
    assert "true" not in console.page.locator("[data-mark]").evaluate_all("all => all.map((one) => one.ariaPressed)")


def test_the_requests_are_downloaded_and_no_path_of_the_machine_is_shown(console: Console) -> None:
    query = "play some music"
    console.open(f"search?q={query.replace(' ', '+')}")
    console.page.get_by_role("button", name="No result is right").click()
    console.page.get_by_text("This request is in").wait_for()
    assert str(console.server.home.path) not in console.page.locator("body").inner_text()
    with console.page.expect_download() as download:
        console.page.get_by_role("button", name="Download it").click()
    assert download.value.suggested_filename == "requests.jsonl"
    assert query in {line["query"] for line in lines_of(download.value.path())}
    assert console.complaints == []


@pytest.mark.parametrize("what", ["requests", "skills"])
def test_a_second_click_on_save_sends_nothing_more(console: Console, what: str) -> None:
    [tool] = console.server.items(name="typed_tool")
    console.open(f"catalogue?tool={tool['id']}")
    heading(console, "typed_tool")
    sent: list[Any] = []
    action = {"requests": "requests", "skills": "assign"}[what]
    console.page.route(f"**/do/catalogue/{action}", lambda route: sent.append(route))  # noqa: PLW0108 (as above)
    if what == "requests":
        console.page.get_by_label("Requests, one on each line").fill("type something")
    else:
        console.page.get_by_label("Skill to add").fill("typing_one")
        console.page.get_by_label("Skill to add").press("Enter")
    console.page.get_by_role("button", name=f"Save {what}").dblclick()
    save = eventually(lambda: console.page.title() and sent, "it is saved")[0]
    save.continue_()
    saved = console.page.locator("#notices p").filter(has_text=f"typed_tool: {what} saved")
    saved.wait_for()
    assert len(sent) == 1
    assert console.page.locator(".problem").count() == 0
    console.page.unroute(f"**/do/catalogue/{action}")
    saved.get_by_role("button", name="Undo").click()
    console.page.get_by_text(f"{what} as they were before").wait_for()
