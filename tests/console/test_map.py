"""The page Map: points chosen by pointer and by keys, lines around them, and skills that are given by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.console.conftest import NARROW, Console, grave
from tests.e2e.processes import Up, answered, eventually

pytestmark = pytest.mark.console

NAMES = ("lasso_throw", "lasso_coil", "lasso_knot", "saddle_up")
PLACES = ((0.1, 0.2), (0.2, 0.2), (0.1, 0.4), (0.9, 0.9))
"""Where the tools of `ranch` lie; the first three within `LINE`."""
LINE = ((0.0, 0.05), (0.4, 0.05), (0.4, 0.6), (0.0, 0.6))


@pytest.fixture
def ranch(console: Console) -> Any:
    """Four tools, of which one has a skill, and two skills; the map shows them alone, at places that are known."""
    server = console.server
    server.put(*({"server": "ranch", "name": name, "description": f"{name} of a rider."} for name in NAMES))
    for id_ in ("riding", "roping"):
        body = {"name": id_.title(), "description": f"All about {id_}.", "is_active": True}
        assert server.http.put(f"/api/v1/skills/{id_}", json=body).is_success
    ids = {name: answered(server.http.get("/api/v1/tools", params={"name": name}))[0]["id"] for name in NAMES}
    for name in NAMES:
        give(console, ids[name], *(["riding"] if name == "lasso_knot" else []))
    skills = [["riding", "Riding", 0.5, 0.9], ["roping", "Roping", 0.5, 0.5]]
    tools = [
        [ids[name], name, "ranch", 0 if name == "lasso_knot" else -1, *place]
        for name, place in zip(NAMES, PLACES, strict=True)
    ]
    show(console, tools, skills)
    yield ids
    for id_ in ("riding", "roping", "lasso"):
        server.http.delete(f"/api/v1/skills/{id_}")


def show(console: Console, tools: list[Any], skills: list[Any], **counts: int) -> None:
    """Let the map have these points."""
    points = {"tools": tools, "skills": skills, "at": "2026-11-27T12:00:00+00:00", "without_vector": 0, "left_out": 0}
    body = json.dumps({"points": points | counts}) + "\n"
    console.page.route("**/do/map/points", lambda route: route.fulfill(body=body))


def give(console: Console, tool_id: int, *skill_ids: str) -> None:
    wanted = [{"skill_id": id_, "confidence": 1 - at / 10} for at, id_ in enumerate(skill_ids)]
    answer = console.server.http.put(f"/api/v1/tools/{tool_id}/skills", json={"skills": wanted})
    assert answer.is_success, answer.text


def skills_of(console: Console, tool_id: int) -> list[str]:
    found = answered(console.server.http.get(f"/api/v1/tools/{tool_id}/skills"))
    return [one["skill_id"] for one in found]


def at(console: Console, x: float, y: float) -> tuple[float, float]:
    """Return where on the screen a place of the map is, as long as nothing was zoomed."""
    box = console.page.locator(".scatter").bounding_box()
    assert box is not None
    return box["x"] + 20 + x * (box["width"] - 40), box["y"] + 20 + y * (box["height"] - 40)


def draw_line(console: Console, places: Any = LINE) -> None:
    mouse = console.page.mouse
    mouse.move(*at(console, *places[0]))
    mouse.down()
    for place in (*places[1:], places[0]):
        mouse.move(*at(console, *place), steps=5)
    mouse.up()


def listed(console: Console) -> list[str]:
    rows = console.page.get_by_role("listbox", name="Tools on the map").get_by_role("option")
    return [row.split("\n")[0] for row in rows.locator(".code").all_inner_texts()]


def lists(console: Console, *names: str) -> None:
    """Wait until these are listed: the list is drawn a moment after what it is filtered by."""
    eventually(lambda: listed(console) == list(names), f"{names} are listed")


def test_a_tool_is_found_on_the_map_by_keys_and_leads_to_the_catalogue(
    opened: Callable[..., Console], large: Up
) -> None:
    console = opened(large)
    console.open("map")
    console.page.get_by_text("1,538 tools").wait_for()
    console.page.keyboard.press("/")
    console.page.keyboard.type("okta list_users")
    console.page.keyboard.press("Escape")
    console.page.keyboard.press("j")
    console.page.locator(".picked").get_by_text("list_users").wait_for()
    console.page.get_by_role("listbox", name="Tools on the map").focus()
    console.page.keyboard.press("Enter")
    console.page.get_by_role("heading", level=1, name="Catalogue").wait_for()
    console.page.locator(".detail").get_by_role("heading", name="list_users", exact=True).wait_for()
    assert console.complaints == []


def test_a_point_is_named_under_the_pointer_and_chosen_by_a_click(console: Console) -> None:
    tools = [[7, "<b>cut</b>", "wood", 0, 0.0, 0.5], [8, "sew", "", -1, 1.0, 0.5]]
    show(console, tools, [["craft", "Crafts", 0.5, 0.5]], without_vector=3)
    console.open("map")
    console.page.get_by_text("3 tools without a vector yet").wait_for()
    console.page.mouse.move(*at(console, 0.0, 0.5))
    console.page.get_by_text("wood/<b>cut</b>: Crafts").wait_for()
    console.page.mouse.click(*at(console, 1.0, 0.5))
    picked = console.page.locator(".picked")
    eventually(lambda: picked.inner_text().split() == ["sew", "without", "a", "skill"], "what was clicked is named")

    console.page.get_by_label("Skill", exact=True).select_option(label="Crafts (1)")
    eventually(lambda: console.page.locator("[role=option]").count() == 1, "those of the skill are listed")
    assert console.complaints == []


def test_a_line_selects_and_all_inside_get_a_skill_that_can_be_taken_back(
    console: Console, ranch: dict[str, int]
) -> None:
    console.open("map")
    console.page.get_by_text("4 tools").wait_for()
    console.page.keyboard.press("l")
    draw_line(console)
    console.page.get_by_text("3 tools selected").wait_for()
    lists(console, *NAMES[:3])

    console.page.get_by_label("Skill for the selected tools").fill("Roping")
    console.page.get_by_role("button", name="Give them the skill").click()
    console.page.get_by_text("3 tools got the skill roping").wait_for()
    assert [skills_of(console, ranch[name]) for name in NAMES] == [["roping"], ["roping"], ["roping", "riding"], []]
    console.page.get_by_label("Skill", exact=True).locator("option").get_by_text("Roping (3)").wait_for(
        state="attached"
    )

    console.page.locator("#notices").get_by_role("button", name="Undo").click()
    console.page.get_by_text("3 tools as they were before").wait_for()
    assert [skills_of(console, ranch[name]) for name in NAMES] == [[], [], ["riding"], []]
    console.page.get_by_label("Skill", exact=True).locator("option").get_by_text("Riding (1)").wait_for(
        state="attached"
    )
    assert console.complaints == []


def test_what_somebody_else_changed_meanwhile_is_refused_by_name(console: Console, ranch: dict[str, int]) -> None:
    console.open("map")
    console.page.get_by_text("4 tools").wait_for()
    console.page.keyboard.down("Shift")
    draw_line(console)
    console.page.keyboard.up("Shift")
    console.page.get_by_text("3 tools selected").wait_for()
    give(console, ranch["lasso_coil"], "riding")  # after the map was drawn

    console.page.get_by_label("Skill for the selected tools").fill("roping")
    console.page.keyboard.press("Enter")

    refused = console.page.get_by_role("list", name="Refused tools")
    refused.wait_for()
    assert refused.inner_text() == "lasso_coil: was changed meanwhile: it has riding now"
    assert [skills_of(console, ranch[name]) for name in NAMES[:2]] == [["roping"], ["riding"]]
    console.page.get_by_role("button", name="Give it to these all the same").click()
    console.page.get_by_text("1 tool got the skill roping").wait_for()
    assert skills_of(console, ranch["lasso_coil"]) == ["roping", "riding"]
    assert console.complaints == []


def test_tools_are_selected_by_keys_alone(console: Console, ranch: dict[str, int], axe: str) -> None:
    console.open("map")
    console.page.get_by_text("4 tools").wait_for()
    console.page.get_by_role("listbox", name="Tools on the map").focus()
    console.page.keyboard.press("j")
    console.page.keyboard.press("Space")
    console.page.keyboard.press("j")
    console.page.keyboard.press("t")
    console.page.get_by_text("2 tools selected").wait_for()
    assert grave(console, axe) == []
    console.page.get_by_role("button", name="Only these").press("Enter")
    lists(console, *NAMES[:2])
    console.page.get_by_role("listbox", name="Tools on the map").focus()
    console.page.keyboard.press("Home")
    console.page.keyboard.press("Space")
    console.page.get_by_text("1 tool selected").wait_for()
    lists(console, NAMES[1])
    assert console.page.evaluate("document.activeElement.getAttribute('role')") == "listbox"
    assert skills_of(console, ranch[NAMES[0]]) == []


def test_an_assignment_is_stopped(console: Console, ranch: dict[str, int]) -> None:
    held: list[Any] = []
    console.page.route("**/do/catalogue/tool", lambda route: held.append(route))  # noqa: PLW0108
    many = [[ranch[NAMES[0]] if number == 0 else -number, f"tool_{number}", "", -1, 0.1, 0.2] for number in range(9)]
    show(console, many, [])
    console.open("map")
    console.page.get_by_text("9 tools").wait_for()
    console.page.keyboard.press("l")
    draw_line(console)
    console.page.get_by_label("Skill for the selected tools").fill("roping")
    console.page.get_by_role("button", name="Give them the skill").click()
    eventually(lambda: console.page.wait_for_timeout(20) or len(held) == 4, "four are asked at once")
    console.page.get_by_role("button", name="Stop").click()
    for route in held:
        route.continue_()
    console.page.get_by_text("1 tool got the skill roping; 3 were refused; stopped before 5").wait_for()


def test_a_new_skill_is_made_of_what_is_selected(console: Console, ranch: dict[str, int]) -> None:
    console.open("map")
    console.page.get_by_text("4 tools").wait_for()
    console.page.keyboard.press("l")
    draw_line(console)
    console.page.get_by_role("button", name="Make a new skill of them").click()
    dialog = console.page.get_by_role("dialog", name="A new skill")
    assert dialog.get_by_label("Name").input_value() == "Lasso"
    assert dialog.get_by_label("Description").input_value().startswith("What these tools do: lasso throw, lasso coil")
    dialog.get_by_role("button", name="Create").click()
    console.page.get_by_role("button", name="Give them Lasso").click()
    console.page.get_by_text("3 tools selected").wait_for()
    console.page.get_by_role("button", name="Give them the skill").click()
    console.page.get_by_text("3 tools got the skill lasso").wait_for()
    assert skills_of(console, ranch["lasso_knot"]) == ["lasso", "riding"]
    assert console.complaints == []


def test_results_of_a_request_are_brought_out_and_stand_in_the_address(console: Console) -> None:
    console.open("map?q=book+a+table+for+friday")
    console.page.get_by_text("results of “book a table for friday”, numbered by rank").wait_for()
    first = console.server.search("book a table for friday")["tools"][0]["name"]
    eventually(lambda: listed(console)[:1] == [f"1. {first}"], "the best result comes first")
    console.page.get_by_role("button", name="Show all again").click()
    console.page.get_by_text("numbered by rank").wait_for(state="detached")
    leads_to(console, "#/map")

    console.page.get_by_label("without a skill").check()
    leads_to(console, "#/map?only=bare")
    eventually(lambda: "roll_dice" in listed(console), "tools without a skill are listed")
    console.page.get_by_label("Skill", exact=True).select_option("calendar_management")
    leads_to(console, "#/map?skill=calendar_management")
    assert not console.page.get_by_label("without a skill").is_checked()
    assert console.complaints == []


def leads_to(console: Console, address: str) -> None:
    eventually(lambda: console.page.title() and console.page.url.endswith(address), f"the address is {address}")


def test_a_search_that_fails_is_shown_and_its_text_stays(console: Console) -> None:
    console.page.route("**/do/search/run", lambda route: route.fulfill(status=503, json={"detail": "it is away"}))
    console.open("map")
    field = console.page.get_by_label("Highlight results of a request")
    field.fill("send a letter")
    with console.page.expect_request("**/do/search/run") as asked:
        field.press("Enter")
    assert asked.value.post_data_json["receipt"] is False  # looking at the map is no use
    console.page.locator(".problem").get_by_text("it is away").wait_for()
    assert field.input_value() == "send a letter"


@pytest.mark.parametrize("drawing", ["canvas", "webgl"])
def test_both_ways_of_drawing_show_colour_and_shape(console: Console, drawing: str) -> None:
    console.open("health")
    drawn = console.page.evaluate(
        """async (drawing) => {
          const { Scatter, DISC, RING, DIAMOND } = await import("./static/scatter.js");
          const scatter = new Scatter({ label: "", drawing });
          Object.assign(scatter.element.style, { position: "fixed", inset: "0", width: "240px", height: "240px" });
          document.body.append(scatter.element);
          const hues = [120, null, 120];
          const points = [DISC, RING, DIAMOND].map((shape, at) => ({ x: at / 2, y: 0.5, hue: hues[at], shape }));
          scatter.show(points);
          scatter.zoomBy(1);
          const colours = () => {
            const copy = document.createElement("canvas");
            Object.assign(copy, { width: 240, height: 240 });
            const pen = copy.getContext("2d");
            pen.drawImage(scatter.below, 0, 0);
            return [20, 119, 218].map((x) => [...pen.getImageData(x, 119, 1, 1).data]);
          };
          // Read in the frame in which it is drawn: WebGL keeps nothing after.
          const frame = () => new Promise((done) => requestAnimationFrame(() => done(colours())));
          let found = await frame();
          for (let n = 0; n < 20; n++) { scatter.draw(); found = await frame(); }
          scatter.element.remove();
          return { drawing: scatter.drawing, found };
        }""",
        drawing,
    )
    assert drawn["drawing"] == drawing
    [disc, ring, diamond] = drawn["found"]
    assert all(green > 1.5 * max(red, blue) for red, green, blue, _ in (disc, diamond))
    assert ring[3] == 0 or min(ring[:3]) > 240  # hollow: what is behind it


def test_an_empty_map_says_the_first_step(console: Console, axe: str) -> None:
    show(console, [], [])
    console.page.set_viewport_size(NARROW)
    console.open("map")
    console.page.get_by_text("There is no tool with a vector yet.").wait_for()
    console.page.get_by_text("skillroute import").wait_for()
    assert grave(console, axe) == []


def test_an_address_that_is_followed_while_points_are_placed_is_shown(console: Console, ranch: dict[str, int]) -> None:
    held: list[Any] = []
    console.page.route("**/do/map/points", lambda route: held.append(route))  # noqa: PLW0108
    console.page.goto(f"{console.url}#/map?skill=riding")
    eventually(lambda: console.page.title() and held, "the points are asked for")
    console.page.evaluate("location.hash = '#/map?skill=roping'")
    console.page.evaluate("new Promise((done) => setTimeout(done))")
    held[0].fallback()
    console.page.get_by_text("of 4 tools").wait_for()
    shown = console.page.get_by_label("Skill", exact=True)
    eventually(lambda: shown.input_value() == "roping", "the address is followed")
    leads_to(console, "#/map?skill=roping")


def _select_by_line(console: Console) -> None:
    console.open("map")
    console.page.get_by_text("4 tools").wait_for()
    console.page.keyboard.press("l")
    draw_line(console)
    console.page.get_by_text("3 tools selected").wait_for()


def _give_all(console: Console, skill: str) -> None:
    console.page.get_by_label("Skill for the selected tools").fill(skill)
    console.page.get_by_role("button", name="Give them the skill").click()


def test_skills_that_are_given_while_points_are_placed_are_shown(console: Console, ranch: dict[str, int]) -> None:
    _select_by_line(console)
    asked = console.hold("**/do/map/points")
    console.page.get_by_role("button", name="Reload").click()
    asked()
    _give_all(console, "roping")
    console.page.get_by_text("3 tools got the skill roping").wait_for()
    asked().fallback()
    console.page.get_by_role("progressbar", name="Drawn").wait_for(state="detached")
    skill = console.page.get_by_label("Skill", exact=True)
    skill.locator("option").get_by_text("Roping (3)").wait_for(state="attached")
    assert console.complaints == []


def test_what_is_asked_for_while_points_are_placed_is_placed_anew(console: Console, ranch: dict[str, int]) -> None:
    console.open("map")
    console.page.get_by_text("4 tools").wait_for()
    asked = console.hold("**/do/map/points")
    reload = console.page.get_by_role("button", name="Reload")
    reload.click()
    asked(0)
    reload.click()
    asked(1).fallback()
    console.page.get_by_role("progressbar", name="Drawn").wait_for(state="detached")
    # What another caller saw is not shown.
    console.page.evaluate(
        "for (const of of ['token', 'changed-elsewhere']) document.dispatchEvent(new CustomEvent(of))"
    )
    asked(2).fallback()
    console.page.get_by_role("progressbar", name="Drawn").wait_for(state="detached")
    lists(console, *NAMES)
    assert console.page.locator(".problem").count() == 0


def test_a_run_can_be_stopped_while_another_one_is_taken_back(console: Console, ranch: dict[str, int]) -> None:
    _select_by_line(console)
    _give_all(console, "roping")
    console.page.get_by_text("3 tools got the skill roping").wait_for()
    asked = console.hold("**/do/catalogue/tool")
    _give_all(console, "riding")
    asked(2)
    console.page.locator("#notices").get_by_role("button", name="Undo").click()
    console.page.get_by_text("3 tools as they were before").wait_for()
    panel = console.page.get_by_role("region", name="Selected tools")
    panel.get_by_role("progressbar", name="Giving riding").wait_for()
    panel.get_by_role("button", name="Stop").wait_for()
    for place in range(3):
        asked(place).continue_()
    console.page.get_by_text("0 tools got the skill riding; 2 were refused").wait_for()
    panel.get_by_role("button", name="Stop").wait_for(state="detached")
    assert [skills_of(console, ranch[name]) for name in NAMES[:3]] == [[], [], ["riding"]]


def test_what_is_tried_again_is_not_given_over_what_was_given_since(console: Console, ranch: dict[str, int]) -> None:
    _select_by_line(console)
    console.page.route("**/do/catalogue/assign", lambda route: route.abort())
    _give_all(console, "roping")
    problem = console.page.locator(".problem").filter(has_text="3 were not reached")
    problem.wait_for()
    console.page.unroute("**/do/catalogue/assign")
    _give_all(console, "riding")
    console.page.get_by_text("2 tools got the skill riding").wait_for()
    problem.get_by_role("button", name="Try again").click()
    console.page.get_by_text("1 tool got the skill roping; 2 were refused").wait_for()
    assert [skills_of(console, ranch[name]) for name in NAMES[:2]] == [["riding"], ["riding"]]


def test_an_error_of_a_request_before_is_not_shown(console: Console) -> None:
    console.open("map")
    asked = console.hold("**/do/search/run")
    field = console.page.get_by_label("Highlight results of a request")
    for place, text in enumerate(("send a letter", "book a table")):
        field.fill(text)
        field.press("Enter")
        asked(place)
    asked(1).continue_()
    console.page.get_by_text("results of “book a table”").wait_for()
    asked(0).fulfill(status=503, json={"detail": "it is away"})
    console.settle()
    assert console.page.locator(".problem").count() == 0


def test_what_another_caller_saw_of_the_map_is_gone_while_it_is_drawn_anew(console: Console) -> None:
    page = console.page
    console.open("map")
    rows = page.locator(".point-row [role=option]").filter(visible=True)
    rows.first.wait_for()
    page.route("**/do/search/run", lambda route: route.fulfill(status=401, json={"detail": "no token"}))
    asked = console.hold("**/do/map/points")
    page.get_by_label("Highlight results of a request").fill("a dog")
    page.keyboard.press("Enter")
    console.enter("")
    points = asked(0)
    assert rows.count() == 0
    points.continue_()
    rows.first.wait_for()
