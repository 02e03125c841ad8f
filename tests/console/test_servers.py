"""The page Servers: all that items have, several switched at once, and imports that are looked at first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.console.conftest import Console
from tests.e2e.processes import Processes, Up, answered, cli, eventually
from tests.integration.rows import connected
from tests.stubs.http_mcp_server import serving
from tests.temporary import temporary_directory

pytestmark = pytest.mark.console


def put(server: Up, name: str, *tools: str, description: str = "A tool.") -> None:
    server.put(*({"server": name, "name": tool, "description": description} for tool in tools))


def is_found(server: Up, name: str) -> bool:
    [item] = server.items(name=name)
    return bool(item["is_active"])


def registered(server: Up, name: str) -> dict[str, Any]:
    found = [each for each in answered(server.http.get("/api/v1/servers?limit=500")) if each["name"] == name]
    assert len(found) == 1
    return found[0]


def violations(console: Console, axe: str) -> list[str]:
    """Return all that axe-core finds."""
    console.page.evaluate(axe)
    found = console.page.evaluate("() => axe.run({ resultTypes: ['violations'] })")["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found]


def detail(console: Console) -> Any:
    return console.page.get_by_role("region", name="The server")


def choose_file(console: Console, path: Path, content: Any) -> None:
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    console.page.get_by_label("A file: drop it here").set_input_files(path)
    console.page.get_by_text(f"{path.name}, 1 KB").wait_for()  # the file is read


def tools_list(*names: str) -> dict[str, Any]:
    return {"tools": [{"name": name, "description": name, "inputSchema": {"type": "object"}} for name in names]}


def test_a_server_leads_to_its_tools_and_they_lead_back(console: Console, axe: str) -> None:
    console.open("servers?server=workshop")
    detail(console).get_by_role("heading", name="workshop").wait_for()
    detail(console).get_by_text("not registered: items name it").wait_for()
    assert violations(console, axe) == []
    detail(console).get_by_role("link", name="tune_pipe").click()
    console.page.get_by_role("heading", level=1, name="Catalogue").wait_for()
    console.page.get_by_role("region", name="The tool").get_by_role("link", name="workshop").click()
    detail(console).get_by_role("heading", name="workshop").wait_for()
    detail(console).get_by_role("link", name="Show them in the catalogue").click()
    console.page.get_by_text(f"{len(console.server.items(server='workshop'))} of ").wait_for()


def test_changes_that_wait_and_failures_are_filtered_by_the_address(console: Console) -> None:
    run = console.server.home.running()
    assert run is not None
    with connected(run.database_url) as sql:
        sql(
            "INSERT INTO mcp.server_sightings (server_id, outcome, error) SELECT id, 'failed', '<b>refused</b>' "
            "FROM mcp.registry_entities WHERE kind = 'server' ORDER BY id LIMIT 1 ON CONFLICT DO NOTHING"
        )
    console.open("servers?state=failing")
    detail(console).get_by_text("<b>refused</b>").wait_for()
    eventually(lambda: console.page.locator("[role=option]").count() == 1, "the others do not fail")
    console.page.get_by_label("State").select_option("waiting")
    console.row("sums").get_by_text("1 to approve").wait_for()
    eventually(lambda: console.page.title() and "state=waiting" in console.page.url, "the address says so")
    detail(console).get_by_role("link", name="1 changed definition").click()
    console.page.get_by_role("heading", level=1, name="Changes").wait_for()
    console.page.go_back()
    console.row("sums").wait_for()
    shown = console.page.locator("[role=option]")
    eventually(lambda: all("to approve" in text for text in shown.all_inner_texts()), "the others do not wait")
    assert console.complaints == []


def test_what_changed_last_comes_first_and_today_is_a_state(console: Console) -> None:
    put(console.server, "just_now", "just_now_tool")
    console.page.clock.set_fixed_time(datetime.now(UTC))  # it is today, also where midnight comes meanwhile
    console.open("servers?sort=changed&state=today")
    console.row("just_now").wait_for()
    assert "just_now" in console.page.locator("[role=option]").first.inner_text()
    run = console.server.home.running()
    assert run is not None
    with connected(run.database_url) as sql:
        sql("UPDATE mcp.tools SET updated_at = now() - interval '2 days' WHERE server = 'just_now'")
    console.page.get_by_role("button", name="Reload").click()
    console.row("just_now").wait_for(state="detached")


def test_several_are_switched_by_keys_and_undone(console: Console, axe: str) -> None:
    for name in ("several_a", "several_b", "several_c"):
        put(console.server, name, f"{name}_tool")
    console.open("servers?filter=several")
    console.row("several_c").wait_for()
    console.page.get_by_role("listbox", name="Servers").focus()
    console.page.keyboard.press("Home")
    console.page.keyboard.press("Space")
    console.page.keyboard.press("j")
    console.page.keyboard.press("t")
    console.page.get_by_text("2 servers selected").wait_for()
    assert violations(console, axe) == []
    console.page.keyboard.press("o")
    notice = console.page.locator("#notices").get_by_text("2 servers are off")
    notice.wait_for()
    assert [is_found(console.server, f"several_{each}_tool") for each in "abc"] == [False, False, True]
    # Who pressed keys goes on pressing them.
    assert console.page.evaluate("document.activeElement.role") == "listbox"
    notice.get_by_role("button", name="Undo").click()
    console.page.get_by_text("2 servers are on").wait_for()
    assert all(is_found(console.server, f"several_{each}_tool") for each in "abc")
    assert console.complaints == []


def test_all_that_are_shown_are_switched_by_one_button(console: Console) -> None:
    for name in ("shown_a", "shown_b"):
        put(console.server, name, f"{name}_tool")
    console.open("servers?filter=shown_")
    console.row("shown_b").wait_for()
    console.row("shown_a").locator(".tick").click()
    console.page.get_by_text("1 server selected").wait_for()
    console.page.get_by_label("All shown").check()
    console.page.get_by_role("button", name="Switch off (2)").click()
    console.page.get_by_text("2 servers are off").wait_for()
    assert not is_found(console.server, "shown_a_tool")
    console.page.get_by_role("button", name="Switch on (2)").click()
    console.page.get_by_text("2 servers are on").wait_for()


def test_what_another_tab_switched_is_shown_and_left(opened: Callable[..., Console], examples: Up) -> None:
    put(examples, "two_tabs", "two_tabs_tool")
    answered(examples.http.put("/api/v1/servers", json={"servers": [{"name": "two_tabs"}]}))
    first, second = opened(examples), opened(examples)
    for tab in (first, second):
        tab.open("servers?server=two_tabs")
        detail(tab).get_by_role("button", name="Switch off").wait_for()
    detail(second).get_by_role("button", name="Switch off").click()
    second.page.get_by_text("two_tabs is off").wait_for()

    detail(first).get_by_role("button", name="Switch off").click()

    first.page.get_by_text("another user switched them meanwhile: two_tabs is off").wait_for()
    detail(first).get_by_role("button", name="Switch on").wait_for()
    assert registered(examples, "two_tabs")["is_enabled"] is False


def test_a_file_is_compared_imported_and_its_server_switched_off(console: Console, axe: str, tmp_path: Path) -> None:
    console.open("servers")
    console.page.locator("[role=option]").first.wait_for()
    console.page.keyboard.press("i")
    console.page.get_by_role("heading", name="Import").wait_for()
    assert "view=import" in console.page.url
    choose_file(console, tmp_path / "listed.json", tools_list("weave_basket", "peel_willow"))
    console.page.get_by_label("Server", exact=True).fill("basketry")
    assert violations(console, axe) == []
    console.page.get_by_role("button", name="Show what would change").click()
    console.page.get_by_role("heading", name="What it would change").wait_for()
    console.page.get_by_role("cell", name="basketry/weave_basket").wait_for()
    assert console.server.items(name="weave_basket") == []
    assert violations(console, axe) == []

    console.page.get_by_role("button", name="Import 2 changes").click()
    console.page.get_by_text("items: 2 new.").wait_for()
    console.page.locator("#notices").get_by_text("The server basketry is new.").get_by_role(
        "button", name="Switch off"
    ).click()
    console.page.get_by_text("basketry is off").wait_for()
    assert not is_found(console.server, "weave_basket")
    assert console.complaints == []


def test_what_the_catalogue_became_meanwhile_is_shown_before_it_is_written_over(
    console: Console, tmp_path: Path
) -> None:
    put(console.server, "pottery", "throw_bowl", description="Before.")
    console.open("servers?view=import")
    choose_file(console, tmp_path / "listed.json", tools_list("throw_bowl"))
    console.page.get_by_label("Server", exact=True).fill("pottery")
    console.page.get_by_role("button", name="Show what would change").click()
    button = console.page.get_by_role("button", name="Import 1 change")
    button.wait_for()
    put(console.server, "pottery", "throw_bowl", description="Somebody else's.")
    button.click()
    console.page.get_by_text("Nothing was written: the source or the catalogue changed").wait_for()
    [bowl] = console.server.items(name="throw_bowl")
    assert bowl["description"] == "Somebody else's."
    button.click()
    console.page.get_by_text("items: 1 changed.").wait_for()


def test_an_address_is_asked_for_what_it_lists(console: Console) -> None:
    console.open("servers?view=import")
    console.page.get_by_label("Or the address of an MCP server").fill("uvx a-program")
    console.page.get_by_role("button", name="Show what would change").click()
    console.page.get_by_text("programs are imported in a terminal").wait_for()
    with serving() as port:
        console.page.get_by_label("Or the address of an MCP server").fill(f"http://127.0.0.1:{port}/mcp")
        console.page.get_by_label("Server", exact=True).fill("stub_by_address")
        console.page.keyboard.press("Enter")
        console.page.get_by_role("cell", name="stub_by_address/echo").wait_for()
        # What was typed outlives a look at another page, as what was shown does.
        console.page.get_by_role("link", name="Health").click()
        console.page.get_by_role("heading", level=1, name="Health").wait_for()
        console.page.go_back()
        console.page.get_by_role("cell", name="stub_by_address/echo").wait_for()
        assert console.page.get_by_label("Server", exact=True).input_value() == "stub_by_address"
        console.page.get_by_role("button", name="Import ").last.click()
        console.page.get_by_role("heading", name="Imported").wait_for()
    assert console.server.items(server="stub_by_address")
    field = console.page.get_by_label("Server", exact=True)
    eventually(lambda: field.input_value() == "", "what was typed is done with")


def test_programs_of_an_mcp_json_are_told_and_not_started(console: Console, axe: str, tmp_path: Path) -> None:
    trap = tmp_path / "started"
    console.open("servers?view=import")
    with serving() as port:
        servers = {
            "by_file": {"url": f"http://127.0.0.1:{port}/mcp"},
            "trap": {"command": "touch", "args": [str(trap)]},
        }
        choose_file(console, tmp_path / "mcp.json", {"mcpServers": servers})
        console.page.get_by_role("button", name="Show what would change").click()
        console.page.get_by_text(f"skillroute import --mcp 'touch {trap}' --server trap").wait_for()
        console.page.get_by_role("cell", name="by_file/echo").wait_for()
    assert not trap.exists()
    console.page.set_viewport_size({"width": 400, "height": 800})
    assert console.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert console.page.evaluate(
        "document.querySelector('.import').scrollWidth <= document.querySelector('.import').clientWidth"
    )
    assert violations(console, axe) == []
    console.page.get_by_role("button", name="Discard").click()
    console.page.get_by_role("heading", name="What it would change").wait_for(state="detached")


def test_it_can_be_stopped_and_changes_nothing_then(console: Console, tmp_path: Path) -> None:
    held: dict[str, Any] = {}
    console.page.route("**/do/servers/compare", lambda route: held.update({"compare": route}))
    console.open("servers?view=import")
    choose_file(console, tmp_path / "listed.json", tools_list("never"))
    console.page.get_by_label("Server", exact=True).fill("never")
    console.page.get_by_role("button", name="Show what would change").click()
    stop = console.page.get_by_role("button", name="Stop")
    stop.wait_for()
    eventually(lambda: stop.evaluate("button => button === document.activeElement"), "Enter stops it")
    stop.click()
    console.page.get_by_text("Stopped. Nothing was changed.").wait_for()
    assert console.page.get_by_text("listed.json, 1 KB").is_visible()
    assert console.server.items(name="never") == []


def test_a_file_that_is_dropped_is_taken_and_one_that_is_too_large_is_not(console: Console) -> None:
    console.open("servers?view=import")
    console.page.get_by_label("A file: drop it here").wait_for()
    drop = """size => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(size)], "dropped.json"));
      const event = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
      document.querySelector(".drop").dispatchEvent(event);
    }"""
    console.page.evaluate(drop, 1000)
    console.page.get_by_text("dropped.json, 1 KB").wait_for()
    console.page.get_by_role("button", name="Remove dropped.json").click()
    console.page.evaluate(drop, 21 * 1024 * 1024)
    console.page.get_by_text("it has 21 MB, and this page takes 20").wait_for()
    assert console.page.get_by_text("dropped.json, 21").count() == 0


@pytest.fixture(scope="module")
def locked(processes: Processes) -> Iterator[Up]:
    """A Skillroute that asks for tokens."""
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)
        yield processes.up(Path(name) / "home", "--no-pump", SKILLROUTE_AUTH="jwt").ready()


def token(server: Up, *scopes: str) -> str:
    made = cli(server.home.path, "token", *(option for scope in scopes for option in ("--scope", scope)))
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def enter(console: Console, *scopes: str) -> None:
    console.enter(token(console.server, *scopes))


def test_a_token_without_catalog_sees_and_neither_switches_nor_imports(
    opened: Callable[..., Console], locked: Up, tmp_path: Path
) -> None:
    console = opened(locked)
    console.open("servers")
    enter(console, "search")
    console.page.locator("[role=option]").first.wait_for()
    detail(console).get_by_text("Changed definitions are shown to callers with scope catalog").wait_for()
    name = detail(console).locator("h2").inner_text()
    console.page.keyboard.press("o")
    console.page.get_by_text(f"{name}: not switched").wait_for()
    console.page.get_by_text("You have read access only").first.wait_for()
    refused = console.page.locator(".problem").filter(has_text="not switched")
    refused.get_by_role("button", name="Dismiss").click()

    console.page.keyboard.press("i")
    choose_file(console, tmp_path / "listed.json", tools_list("lock_tool"))
    console.page.get_by_label("Server", exact=True).fill("locked_out")
    console.page.get_by_role("button", name="Show what would change").click()
    console.page.get_by_text("the token lacks the scope 'catalog'").wait_for()
    assert console.page.get_by_label("Server", exact=True).input_value() == "locked_out"
    # With a token that may, it goes on from where it stands.
    enter(console, "search", "catalog")
    console.page.get_by_role("button", name="Import 1 change").click()
    console.page.get_by_text("items: 1 new.").wait_for()


def test_a_server_that_is_switched_while_all_are_read_has_them_read_again(console: Console) -> None:
    put(console.server, "reading_room", "turn_page")
    console.open("servers?server=reading_room")
    detail(console).get_by_role("heading", name="reading_room").wait_for()
    asked = console.hold("**/do/servers/listed")
    console.page.get_by_role("button", name="Reload").click()
    before = asked(0).fetch()
    detail(console).get_by_role("button", name="Switch off").click()
    detail(console).get_by_text("This server is switched off").wait_for()
    again = asked(1)
    for held, answer in ((asked(0), before), (again, again.fetch())):
        with console.page.expect_response("**/do/servers/listed"):
            held.fulfill(response=answer)
        console.settle()
        assert detail(console).get_by_text("This server is switched off").count() == 1
    console.page.unroute("**/do/servers/listed")
    detail(console).get_by_role("button", name="Switch on").click()
    detail(console).get_by_text("Searches return this server").wait_for()


def test_a_second_click_on_switch_off_sends_nothing_more(console: Console) -> None:
    put(console.server, "dim_room", "light_lamp")
    console.open("servers?server=dim_room")
    detail(console).get_by_role("heading", name="dim_room").wait_for()
    asked = console.hold("**/do/servers/switch")
    sent: list[str] = []
    console.page.on("request", lambda request: sent.append(request.url))
    detail(console).get_by_role("button", name="Switch off").dblclick()
    asked().continue_()
    detail(console).get_by_text("This server is switched off").wait_for()
    assert [url for url in sent if url.endswith("/do/servers/switch")] == [f"{console.url}do/servers/switch"]


def test_a_reading_of_servers_that_fails_midway_is_over(console: Console) -> None:
    events = [
        {"reading": {"done": 1, "total": 9}, "rows": [], "counted_all": True, "counts_waiting": True},
        {"problem": {"status": 503, "detail": "the database is away", "remedy": "Start it."}},
    ]
    body = "".join(f"{json.dumps(event)}\n" for event in events)
    console.page.route("**/do/servers/listed", lambda route: route.fulfill(body=body), times=1)
    console.page.goto(f"{console.url}#/servers")
    console.page.locator(".problem").get_by_text("the database is away").wait_for()
    assert "reading" not in console.page.locator(".servers-list .count").first.inner_text()
    console.page.get_by_role("button", name="Try again").click()
    console.page.locator("[role=option]").first.wait_for()


def test_an_address_that_is_followed_while_servers_are_read_opens_its_server(console: Console) -> None:
    asked = console.hold("**/do/servers/listed")
    console.page.goto(f"{console.url}#/servers")
    listed = asked(0)
    console.follow("servers?server=workshop")
    assert console.page.get_by_text("No server is called").count() == 0
    listed.continue_()
    detail(console).get_by_role("heading", name="workshop").wait_for()


def test_an_address_without_a_server_takes_back_the_one_before(console: Console) -> None:
    asked = console.hold("**/do/servers/listed")
    console.page.goto(f"{console.url}#/servers?server=workshop")
    listed = asked(0)
    console.follow("servers")
    listed.continue_()
    console.page.locator("[role=option][aria-selected=true]").wait_for()
    assert console.page.locator("[role=option]").first.get_attribute("aria-selected") == "true"


def test_undo_during_another_switch_is_done_after_it(console: Console) -> None:
    for name in ("turns_a", "turns_b"):
        put(console.server, name, f"{name}_tool")
    console.open("servers?server=turns_a")
    detail(console).get_by_role("heading", name="turns_a").wait_for()
    detail(console).get_by_role("button", name="Switch off").click()
    notice = console.page.locator("#notices").get_by_text("turns_a is off")
    notice.wait_for()
    console.row("turns_b").click()
    asked = console.hold("**/do/servers/switch")
    detail(console).get_by_role("button", name="Switch off").click()
    other = asked(0)
    notice.get_by_role("button", name="Undo").click()
    other.continue_()
    asked(1).continue_()
    console.page.locator("#notices").get_by_text("turns_a is on").wait_for()
    assert [is_found(console.server, f"turns_{each}_tool") for each in "ab"] == [True, False]


def test_the_error_of_a_switch_is_gone_once_it_is_switched(console: Console) -> None:
    put(console.server, "stuck_door", "push_door")
    console.open("servers?server=stuck_door")
    away = {"detail": "the database is away", "remedy": "Start it."}
    console.page.route("**/do/servers/switch", lambda route: route.fulfill(status=503, json=away), times=1)
    detail(console).get_by_role("button", name="Switch off").click()
    problem = console.page.locator(".problem").get_by_text("stuck_door: not switched")
    problem.wait_for()
    detail(console).get_by_role("button", name="Switch off").click()
    console.page.locator("#notices").get_by_text("stuck_door is off").wait_for()
    problem.wait_for(state="detached")


def test_a_switch_that_ends_after_the_page_was_left_shows_where_one_came_back(console: Console) -> None:
    put(console.server, "far_room", "ring_bell")
    console.open("servers?server=far_room")
    asked = console.hold("**/do/servers/switch")
    detail(console).get_by_role("button", name="Switch off").click()
    switch = asked()
    console.open("log")
    console.open("servers?server=far_room")
    detail(console).get_by_role("button", name="Switch off").wait_for()
    switch.continue_()
    detail(console).get_by_text("This server is switched off").wait_for()


def test_older_tools_of_a_server_do_not_replace_newer_ones(console: Console) -> None:
    put(console.server, "tool_room", "drill_hole")
    asked = console.hold("**/do/servers/tools")
    console.page.goto(f"{console.url}#/servers?server=tool_room")
    older = asked(0)
    console.page.get_by_role("button", name="Reload").click()
    newer = asked(1)
    answer = newer.fetch().json()
    for request, name in ((newer, "newer_tool"), (older, "older_tool")):
        with console.page.expect_response("**/do/servers/tools"):
            request.fulfill(json=answer | {"rows": [answer["rows"][0] | {"name": name}]})
        console.settle()
        detail(console).get_by_role("link", name="newer_tool").wait_for()


def test_what_failed_of_an_import_is_not_tried_again_once_its_input_was_changed(
    console: Console, tmp_path: Path
) -> None:
    console.open("servers?view=import")
    choose_file(console, tmp_path / "listed.json", tools_list("never"))
    server = console.page.get_by_label("Server", exact=True)
    server.fill("before")
    away = {"detail": "the database is away", "remedy": "Start it."}
    console.page.route("**/do/servers/compare", lambda route: route.fulfill(status=503, json=away), times=1)
    console.page.get_by_role("button", name="Show what would change").click()
    problem = console.page.locator(".problem").get_by_text("It could not be compared")
    problem.wait_for()
    server.fill("after")
    problem.wait_for(state="detached")
    server.fill("")
