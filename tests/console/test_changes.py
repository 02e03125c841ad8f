"""What people change on the pages, and what searches find then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.console.conftest import NARROW, Console, grave, lines_of
from tests.console.planted import suggest
from tests.e2e.processes import Up, answered, cli, eventually

pytestmark = pytest.mark.console


def names_waiting(server: Up) -> set[str]:
    return {group["name"] for group in answered(server.http.get("/api/v1/skills/suggestions/groups"))}


def skill(server: Up, id_: str) -> dict[str, Any]:
    found: dict[str, Any] = answered(server.http.get(f"/api/v1/skills/{id_}"))
    return found


def test_an_approved_suggestion_changes_the_next_search(console: Console) -> None:
    request = "water my tomatoes"
    before = console.server.search(request, strategy="hierarchical", limit=10)
    assert "garden_care" not in {match["id"] for match in before["matched_skills"]}

    console.open("suggestions")
    console.row("Garden watering").click()
    console.page.get_by_text("No skill is about garden watering").first.wait_for()
    console.page.locator("h1").click()
    console.page.keyboard.press("e")
    console.page.keyboard.type("Garden care")
    console.page.get_by_label("Id", exact=True).fill("garden_care")
    console.page.keyboard.press("Escape")
    console.page.keyboard.press("a")
    console.page.get_by_role("status").get_by_text("Approving Garden watering").wait_for()
    # To another page: what waits to be undone is sent before anything else is shown.
    console.page.keyboard.type("gs")
    console.page.get_by_role("searchbox", name="Request").fill(request)
    console.page.keyboard.press("Enter")

    console.page.locator(".chips").get_by_text("Garden care").wait_for()
    assert skill(console.server, "garden_care")["tool_count"] == 2
    after = console.server.search(request, strategy="hierarchical", limit=10)
    assert "garden_care" in {match["id"] for match in after["matched_skills"]}


def test_a_decision_can_be_taken_back_until_it_is_sent(console: Console) -> None:
    console.open("suggestions")
    console.row("Knife sharpening").click()
    console.page.locator("h1").click()
    console.page.keyboard.press("x")
    console.row("Knife sharpening").wait_for(state="detached")
    console.page.keyboard.press("u")
    console.row("Knife sharpening").wait_for()
    console.page.keyboard.type("gc")
    console.page.get_by_role("heading", level=1, name="Catalogue").wait_for()
    assert "Knife sharpening" in names_waiting(console.server)


def test_a_suggestion_is_merged_and_another_rejected(console: Console) -> None:
    console.open("suggestions")
    console.row("Organ tuning").click()
    console.page.get_by_label("Skill to merge into").fill("smart_home")
    console.page.keyboard.press("Enter")
    console.row("Organ tuning").wait_for(state="detached")
    console.row("Clock repair").click()
    console.page.get_by_label("Reason of a rejection").fill("one tool only")
    console.page.get_by_role("button", name="Reject").click()
    console.row("Clock repair").wait_for(state="detached")
    console.page.get_by_role("link", name="Skills").click()
    console.page.get_by_role("heading", level=1, name="Skills").wait_for()

    assert not {"Organ tuning", "Clock repair"} & names_waiting(console.server)
    tools = answered(console.server.http.get("/api/v1/skills/smart_home/tools?limit=1000"))
    assert "tune_pipe" in {tool["tool_name"] for tool in tools}
    rejected = answered(console.server.http.get("/api/v1/skills/suggestions?status=rejected"))
    assert "one tool only" in {row["review_reason"] for row in rejected}


def test_a_failing_api_loses_no_decision_and_no_edit(console: Console) -> None:
    console.open("suggestions")
    console.row("Bee keeping").click()
    console.page.get_by_label("Name").fill("Bees and honey")
    console.page.get_by_role("button", name="Approve").click()
    console.page.get_by_text("Approving Bee keeping").wait_for()
    # Somebody takes the id meanwhile, so that the API itself refuses.
    body = {"id": "bee_keeping", "name": "Hives", "description": "Hives and their bees."}
    assert console.server.http.post("/api/v1/skills", json=body).status_code == 201
    console.page.keyboard.type("gk")
    console.page.get_by_role("heading", level=1, name="Skills").wait_for()
    console.page.get_by_text("Bee keeping was not decided, and is in the list again").wait_for()
    console.page.get_by_text("merge into the existing skill").wait_for()
    console.page.get_by_role("link", name="Suggestions").click()
    console.row("Bee keeping").click()

    assert console.page.get_by_label("Name").input_value() == "Bees and honey"
    assert "Bee keeping" in names_waiting(console.server)


def test_what_is_typed_while_evidence_is_read_stays(console: Console) -> None:
    console.open("suggestions")
    console.row("Knife sharpening").wait_for()
    held: list[Any] = []
    console.page.route("**/do/suggestions/evidence", lambda route: held.append(route))  # noqa: PLW0108 (a method it cannot mark)
    console.row("Knife sharpening").click()
    console.page.get_by_label("Reason of a rejection").fill("too small")

    def of_it() -> Any:
        # The first row's own request may be among them.
        return next((route for route in held if "Knife sharpening" in route.request.post_data), None)

    route = eventually(lambda: console.page.wait_for_timeout(20) or of_it(), "evidence is asked for")
    route.continue_()
    console.page.get_by_text("No skill is about knife sharpening").first.wait_for()
    assert console.page.get_by_label("Reason of a rejection").input_value() == "too small"


def test_what_is_being_decided_is_not_listed_again_by_a_reload(console: Console) -> None:
    suggest(console.server, "Cheese making")
    console.open("suggestions")
    console.row("Cheese making").click()
    console.page.get_by_text("No skill is about cheese making").first.wait_for()
    held: list[Any] = []
    console.page.route("**/do/suggestions/review", lambda route: held.append(route))  # noqa: PLW0108 (a method it cannot mark)
    console.page.clock.install()
    console.page.get_by_role("button", name="Reject").click()
    console.page.get_by_text("Rejecting Cheese making").wait_for()
    console.page.clock.fast_forward(60_000)
    eventually(lambda: console.page.title() and held, "it is sent")
    with console.page.expect_response("**/do/suggestions/groups"):
        console.page.get_by_role("button", name="Reload").click()
    console.settle()
    assert console.row("Cheese making").count() == 0
    held[0].fulfill(status=503, json={"detail": "the database is away", "remedy": "Wait."})
    console.page.locator(".problem").filter(has_text="Cheese making was not decided").wait_for()
    assert console.row("Cheese making").count() == 1
    console.page.unroute("**/do/suggestions/review")
    console.page.get_by_role("button", name="Try again").click()
    console.page.get_by_text("Rejected: Cheese making").wait_for()
    console.row("Cheese making").wait_for(state="detached")
    assert "Cheese making" not in names_waiting(console.server)


def test_a_decision_that_failed_is_not_tried_again_once_another_one_was_made(console: Console) -> None:
    suggest(console.server, "Dough kneading")
    console.open("suggestions")
    console.row("Dough kneading").click()
    console.page.get_by_text("No skill is about dough kneading").first.wait_for()
    console.page.clock.install()
    console.page.route("**/do/suggestions/review", lambda route: route.abort(), times=1)
    console.page.get_by_role("button", name="Approve").first.click()
    console.page.get_by_text("Approving Dough kneading").wait_for()
    console.page.clock.fast_forward(60_000)
    problem = console.page.locator(".problem").filter(has_text="Dough kneading was not decided")
    problem.wait_for()
    console.row("Dough kneading").click()
    console.page.locator(".detail h2").get_by_text("Dough kneading").wait_for()
    console.page.get_by_role("button", name="Reject").first.click()
    console.page.get_by_text("Rejecting Dough kneading").wait_for()
    problem.wait_for(state="detached")
    console.page.clock.fast_forward(60_000)
    console.page.get_by_text("Rejected: Dough kneading").wait_for()
    assert "Dough kneading" not in names_waiting(console.server)


def test_marks_become_requests_that_eval_reads(console: Console) -> None:
    console.open("search?q=reserve+a+table+for+friday")
    console.page.get_by_role("button", name="right for the request: restaurants/reserve_table").click()
    console.page.get_by_text("This request is in").wait_for()
    console.page.get_by_role("button", name="wrong for the request").last.click()
    file = console.server.home.path / "requests.jsonl"

    def needs() -> dict[str, Any]:
        return {line["query"]: line["needs"] for line in lines_of(file)} if file.exists() else {}

    eventually(lambda: needs().get("reserve a table for friday") == [["restaurants/reserve_table"]], "it is written")
    console.open("search?q=sharpen+the+kitchen+knives")
    console.page.locator("[data-asked='sharpen the kitchen knives']").wait_for()
    console.page.get_by_role("button", name="No result is right").click()
    console.page.get_by_text("This request is in").wait_for()
    # Of the request before the same was said.
    eventually(lambda: needs().get("sharpen the kitchen knives") == [], "that none is right is written")
    assert needs()["reserve a table for friday"] == [["restaurants/reserve_table"]]
    evaluated = cli(console.server.home.path, "eval", "--queries", str(file), "--json")
    assert evaluated.returncode == 0, evaluated.stderr


def test_two_settings_show_what_moved(console: Console) -> None:
    console.open("search?q=schedule+a+meeting+with+John+tomorrow")
    console.page.get_by_text("create_event").first.wait_for()
    console.page.get_by_role("button", name="Compare two settings").click()
    settings = console.page.get_by_role("group", name="Settings B")
    with console.page.expect_response(lambda answer: "lexical" in (answer.request.post_data or "")):
        settings.get_by_label("Mode").select_option("lexical")
    console.page.get_by_text("only in B").first.wait_for()
    assert console.page.locator("section[aria-label^='Results of settings']").count() == 2
    assert console.page.locator(".moved").count() > 0


def test_a_server_that_is_off_is_in_no_search(console: Console) -> None:
    def found() -> bool:
        return any(tool["server"] == "weather" for tool in console.server.search("will it rain tomorrow")["tools"])

    assert found()
    console.open("servers")
    console.page.get_by_label("Filter", exact=True).fill("weather")
    console.row("Weather").first.click()
    console.page.get_by_role("region", name="The server").get_by_role("button", name="Switch off").click()
    console.page.locator("#notices").get_by_text("Weather is off").wait_for()
    assert not found()
    console.page.get_by_role("button", name="Undo").click()
    console.page.locator("#notices").get_by_text("Weather is on").wait_for()
    assert found()


def test_skills_of_a_tool_are_changed_by_hand(console: Console) -> None:
    # One for which nothing is suggested: with a skill by hand its suggestion would be settled, which others look at.
    console.server.put({"server": "smithy", "name": "forge_blade", "description": "Forges the blade of a knife."})
    [tool] = console.server.items(name="forge_blade")
    console.open(f"catalogue?tool={tool['id']}")
    add = console.page.get_by_label("Skill to add")
    add.fill("smart_home")
    add.press("Enter")
    console.page.get_by_role("button", name="Save skills").click()
    console.page.get_by_text("forge_blade: skills saved").wait_for()
    [row] = answered(console.server.http.get(f"/api/v1/tools/{tool['id']}/skills"))
    assert (row["skill_id"], row["source"]) == ("smart_home", "human_manual")


def test_a_skill_that_somebody_else_changed_keeps_what_was_typed(console: Console) -> None:
    console.open("skills?skill=weather_forecast")
    keywords = console.page.get_by_label("Keywords, with commas between")
    keywords.fill("rain, sun")
    patch = {"description": "Weather now and in the days to come."}
    answered(console.server.http.patch("/api/v1/skills/weather_forecast", json=patch))
    console.page.get_by_role("button", name="Save", exact=True).click()
    console.page.get_by_text("Another user has changed this skill").wait_for()
    console.page.get_by_text(patch["description"]).last.wait_for()
    assert skill(console.server, "weather_forecast")["keywords"] != ["rain", "sun"]

    console.page.get_by_role("button", name="Overwrite with my changes").click()
    console.page.get_by_text("Weather: saved").or_(console.page.get_by_text(": saved")).first.wait_for()
    assert skill(console.server, "weather_forecast")["keywords"] == ["rain", "sun"]


def test_what_was_typed_outlives_a_reload(console: Console) -> None:
    console.open("skills?skill=smart_home")
    field = console.page.get_by_label("Typical tools, with commas between")
    field.fill("turn_on, turn_off")
    console.page.reload()
    assert console.page.get_by_label("Typical tools, with commas between").input_value() == "turn_on, turn_off"


def test_a_skill_is_made_and_merged_into_another(console: Console) -> None:
    console.open("skills")
    console.row("Calendar Management").wait_for()
    console.page.get_by_role("button", name="New skill").click()
    dialog = console.page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Of no use")
    dialog.get_by_label("Description").fill("A skill of no use at all.")
    dialog.get_by_role("button", name="Create").click()
    console.page.locator(".detail h2").get_by_text("Of no use").wait_for()
    assert skill(console.server, "of_no_use")["is_active"]

    console.page.get_by_label("Skill that gets the tools").fill("smart_home")
    console.page.get_by_role("button", name="Merge").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    eventually(lambda: not skill(console.server, "of_no_use")["is_active"], "the merged skill is off")


def test_a_page_that_gets_no_answer_says_so_and_goes_on(opened: Callable[..., Console], examples: Up) -> None:
    console = opened(examples)
    console.open("search?q=book+a+table")
    console.page.locator(".hit").first.wait_for()
    hits = console.page.locator(".hit").count()
    console.page.context.set_offline(True)
    console.page.get_by_role("searchbox", name="Request").fill("something else")
    console.page.keyboard.press("Enter")
    console.page.get_by_text("does not answer").wait_for()
    assert console.page.locator(".hit").count() == hits
    assert console.page.get_by_role("searchbox", name="Request").input_value() == "something else"
    console.page.context.set_offline(False)
    console.page.get_by_role("button", name="Try again").click()
    console.page.locator(".problem").wait_for(state="detached")


def test_requests_of_a_tool_are_written_kept_until_they_are_saved_and_not_over_another_s(console: Console) -> None:
    [tool] = answered(console.server.http.get("/api/v1/tools?name=water_plants"))
    path = f"/api/v1/tools/{tool['id']}"

    def requests() -> list[tuple[str, str]]:
        return [(one["text"], one["source"]) for one in answered(console.server.http.get(path))["requests"] or []]

    console.open(f"catalogue?tool={tool['id']}")
    field = console.page.get_by_label("Requests, one on each line")
    field.fill("the flowers are thirsty\n\n  give the ferns a drink ")
    console.page.reload()
    field.wait_for()
    assert field.input_value().splitlines()[0] == "the flowers are thirsty"
    console.page.get_by_role("button", name="Save requests").click()
    console.page.get_by_text("Written by a person.").wait_for()
    assert requests() == [("the flowers are thirsty", "person"), ("give the ferns a drink", "person")]
    # WHEN somebody else has written others meanwhile
    field.fill("mine")
    whole = answered(console.server.http.get(path))
    answered(console.server.http.put(path, json={**whole, "requests": ["theirs"]}))
    console.page.get_by_role("button", name="Save requests").click()
    console.page.get_by_text("were not saved").wait_for()
    assert requests() == [("theirs", "import")]


@pytest.fixture
def decided(console: Console) -> Any:
    """Reject a suggestion and let another wait, on the page Suggestions; return what chooses one of its lists."""
    for name in ("Kite flying", "Cheese making"):
        suggest(console.server, name)
    kites = answered(console.server.http.get("/api/v1/skills/suggestions?name=Kite+flying"))
    if kites:
        wanted = {"action": "reject", "ids": [one["id"] for one in kites], "reason": "no wind here"}
        answered(console.server.http.post("/api/v1/skills/suggestions/review", json={"decisions": [wanted]}))
    console.open("suggestions")
    console.row("Cheese making").wait_for()
    return console.page.get_by_label("Which suggestions").select_option


def rows_of(console: Console, status: str) -> Any:
    return console.page.get_by_role("table", name=f"Suggestions {status}").locator("tbody tr")


def test_what_was_decided_on_is_listed_with_what_became_of_it(console: Console, decided: Any) -> None:
    decided("rejected")
    row = rows_of(console, "rejected").filter(has_text="Kite flying").first
    row.wait_for()
    assert "no wind here" in row.inner_text() and "kite_flying" in row.inner_text()
    assert console.page.url.endswith("suggestions?show=rejected")
    waiting = names_waiting(console.server)
    console.page.locator("h1").click()
    for key in "txa":  # decide on nothing that is not shown
        console.page.keyboard.press(key)
    assert console.page.get_by_text("Approving").count() + console.page.get_by_text("Rejecting").count() == 0

    decided("")
    console.row("Cheese making").wait_for()
    assert names_waiting(console.server) == waiting
    console.open("suggestions?show=rejected")
    row.wait_for()
    assert console.complaints == []


def test_the_list_of_what_was_decided_on_keeps_nobody_out(console: Console, decided: Any, axe: str) -> None:
    decided("rejected")
    rows_of(console, "rejected").first.wait_for()
    assert grave(console, axe) == []
    console.page.set_viewport_size(NARROW)
    assert console.page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


def test_what_is_sent_while_decided_ones_are_shown_is_among_them(console: Console, decided: Any) -> None:
    console.row("Cheese making").click()
    console.page.get_by_label("Reason of a rejection").fill("no cow here")
    console.page.get_by_role("button", name="Reject").click()
    decided("rejected")
    rows_of(console, "rejected").filter(has_text="no cow here").first.wait_for()
    assert "Cheese making" not in names_waiting(console.server)


def test_decided_ones_that_cannot_be_read_are_not_called_none(console: Console, decided: Any) -> None:
    decided("rejected")
    rows_of(console, "rejected").first.wait_for()
    away = {"detail": "the list is away", "remedy": "Wait."}
    console.page.route("**/do/suggestions/decided", lambda route: route.fulfill(status=503, json=away))
    decided("merged")
    console.page.locator("#page").get_by_text("the list is away").wait_for()
    assert rows_of(console, "rejected").count() == 0  # of another status
    console.page.unroute("**/do/suggestions/decided")
    console.page.get_by_role("button", name="Try again").click()
    console.page.locator("#page .unread").wait_for(state="detached")


def test_more_of_the_decided_ones_are_shown_page_by_page(console: Console, decided: Any) -> None:
    rows = [{"id": n, "kind": "new_skill", "suggested_name": f"Hobby {n}", "source_tool_id": n} for n in range(60)]
    pages = [rows[:50], None, rows[49:]]

    def answer(route: Any) -> None:
        page = pages.pop(0)
        if page is None:
            return route.fulfill(status=503, json={"detail": "the list is away", "remedy": "Wait."})
        return route.fulfill(json={"rows": page, "total": len(rows)})

    console.page.route("**/do/suggestions/decided", answer)
    decided("approved")
    more = console.page.get_by_role("button", name="Show more of 60")
    more.click()
    console.page.locator("#errors").get_by_text("the list is away").wait_for()
    more.click()
    eventually(lambda: rows_of(console, "approved").count() == 60, "each is there once")
    eventually(lambda: console.page.evaluate("document.activeElement.textContent") == "50", "the first new one is next")
    assert more.count() == 0


def test_the_way_back_leads_to_the_suggestion_that_was_open(console: Console, decided: Any) -> None:
    console.row("Cheese making").click()
    console.page.locator(".detail h2").get_by_text("Cheese making").wait_for()
    opened = console.page.url
    console.open("suggestions?show=rejected")
    rows_of(console, "rejected").first.wait_for()
    console.page.reload()
    rows_of(console, "rejected").first.wait_for()
    console.page.go_back()
    console.page.locator(".detail h2").get_by_text("Cheese making").wait_for()
    assert console.page.url == opened


def changed_definitions(console: Console, server: str, *names: str) -> None:
    for description in ("One.", "Two, and another."):
        console.server.put(*({"server": server, "name": name, "description": description} for name in names))


def test_what_was_rejected_is_named_though_the_page_reads_anew_with_another_token(console: Console) -> None:
    changed_definitions(console, "potter", "fire_kiln")
    console.open("changes")
    asked = console.hold("**/do/changes/decide")
    console.page.get_by_role("button", name="Reject potter/fire_kiln").click()
    asked(0).fulfill(status=401, json={"detail": "no token", "remedy": "Use one.", "code": "unauthorized"})
    console.enter("")
    decided = asked(1)
    with console.page.expect_response("**/do/changes/listed"):
        decided.continue_()
    console.settle()
    console.page.get_by_text("Rejected:").wait_for()


def test_the_error_of_some_stays_though_as_many_others_are_decided(console: Console) -> None:
    page = console.page
    changed_definitions(console, "weaver", "card", "spin", "warp", "weft")
    console.open("changes")
    asked = console.hold("**/do/changes/decide")

    def approve(*names: str) -> None:
        for name in names:
            page.get_by_label(f"Select weaver/{name}").check()
        page.get_by_role("button", name="Approve selected").click()
        page.get_by_role("dialog").get_by_role("button", name="Approve them").click()

    approve("card", "spin")
    asked(0).fulfill(status=500, json={"detail": "broken"})
    failed = page.locator(".problem").filter(has_text="weaver/card, weaver/spin: not decided")
    failed.wait_for()
    for name in ("card", "spin"):
        page.get_by_label(f"Select weaver/{name}").uncheck()
    approve("warp", "weft")
    asked(1).continue_()
    page.get_by_role("button", name="Approve weaver/warp").wait_for(state="detached")
    failed.get_by_role("button", name="Try again").click()
    asked(2).continue_()
    page.get_by_role("button", name="Approve weaver/card").wait_for(state="detached")
