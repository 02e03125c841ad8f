"""The page Health: what is wrong and what helps, and much given-up work that is tried again at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.console.conftest import NARROW, Console, grave
from tests.e2e.processes import HASHING, Processes, Up
from tests.integration.rows import connected
from tests.temporary import temporary_directory

pytestmark = pytest.mark.console

AWAY = "<b>no answer</b> of the model"
LIMIT = "the model is over its limit"


@pytest.fixture(scope="module")
def shed(processes: Processes) -> Iterator[Up]:
    """A Skillroute of its own without a pump, with twelve tools."""
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)
        server = processes.up(Path(name) / "home", "--no-pump", "--no-examples", **HASHING).ready()
        server.put(*({"server": "shed", "name": f"oil_{n:02}", "description": f"Oils hinge {n}."} for n in range(12)))
        yield server


def run(server: Up, statement: str) -> None:
    found = server.home.running()
    assert found is not None
    with connected(found.database_url) as sql:
        sql(statement)


def give_up(server: Up) -> None:
    """Give up all twelve: ten for one reason, two for another."""
    run(
        server,
        "UPDATE mcp.outbox SET created_at = now(), dead_at = now(), attempts = 5, last_error = CASE WHEN key IN "
        f"(SELECT id::text FROM mcp.tools WHERE name >= 'oil_10') THEN '{LIMIT}' ELSE '{AWAY}' END "
        "WHERE queue = 'classify'",
    )


def none_given_up(server: Up) -> None:
    run(server, "UPDATE mcp.outbox SET created_at = now(), dead_at = NULL, attempts = 0, last_error = NULL")


@pytest.fixture
def failed(opened: Callable[..., Console], shed: Up) -> Console:
    give_up(shed)
    console = opened(shed)
    console.open("health?at=failed")
    console.page.get_by_role("button", name="Try these 10 again").wait_for()
    console.page.locator("#health-failed-title:focus").wait_for()  # all is read: nothing takes the focus any more
    return console


def cells(console: Console, queue: str) -> list[str]:
    """Return what the row of a queue shows."""
    row = console.page.get_by_role("table", name="Queues").get_by_role("row").filter(has_text=queue)
    return [cell.inner_text() for cell in row.get_by_role("cell").all()]


def test_health_checks_all_that_is_stored(console: Console) -> None:
    console.open("health")
    console.page.get_by_role("button", name="Check stored data").click()
    console.page.get_by_text("No inconsistency found").wait_for()


def test_ten_of_one_reason_are_tried_again_with_one_click(failed: Console, axe: str) -> None:
    page = failed.page
    assert grave(failed, axe) == []
    assert cells(failed, "classify")[1:] == ["0", "–", "–", "–", "12", "–"]
    page.get_by_role("heading", name=f"10 × {AWAY}").wait_for()  # the more frequent one, as text
    page.get_by_text("Read the reasons below, remove their cause").wait_for()  # no terminal is needed
    page.get_by_role("button", name="Try these 10 again").click()

    page.get_by_text("10 tried again. It cannot be undone").wait_for()
    page.get_by_role("heading", name=f"2 × {LIMIT}").wait_for()
    page.get_by_role("heading", name=AWAY).wait_for(state="detached")
    # The button is gone: the focus is not.
    assert page.evaluate("document.activeElement.id") == "health-failed-title"
    assert cells(failed, "classify")[1:6:4] == ["10", "2"]
    assert failed.complaints == []


def test_all_are_tried_again_with_two_keys(failed: Console) -> None:
    page = failed.page
    page.keyboard.press("s")
    page.get_by_text("12 selected").wait_for()
    page.keyboard.press("d")
    page.get_by_text("12 tried again. It cannot be undone").wait_for()
    page.get_by_text("No work has failed.").wait_for()
    page.locator(".findings a", has_text="given up").wait_for(state="detached")
    assert failed.complaints == []


def test_rows_are_walked_and_chosen_by_keys(failed: Console) -> None:
    page = failed.page
    page.keyboard.press("j")
    page.keyboard.press("Space")
    page.keyboard.press("j")
    page.keyboard.press("Space")
    page.get_by_text("2 selected").wait_for()
    group = page.get_by_role("group", name=AWAY)
    assert group.get_by_label("All of this reason").evaluate("box => box.indeterminate")
    page.keyboard.press("d")
    page.get_by_text("2 tried again.").wait_for()
    page.get_by_role("heading", name=f"8 × {AWAY}").wait_for()


def test_what_is_new_comes_by_itself_and_ticks_and_focus_stay(opened: Callable[..., Console], shed: Up) -> None:
    give_up(shed)
    console = opened(shed)
    page = console.page
    page.clock.install()
    console.open("health?at=failed")
    page.get_by_role("group", name=LIMIT).get_by_label("All of this reason").check()
    box = page.get_by_label("shed/oil_03, classify")
    box.check()
    box.focus()

    run(shed, "UPDATE mcp.outbox SET dead_at = NULL WHERE key = (SELECT id::text FROM mcp.tools WHERE name = 'oil_00')")
    page.clock.fast_forward(6000)

    page.get_by_role("heading", name=f"9 × {AWAY}").wait_for()
    page.get_by_text("3 selected").wait_for()
    assert page.get_by_label("shed/oil_03, classify").is_checked()
    assert page.get_by_label("shed/oil_10, classify").is_checked()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "shed/oil_03, classify"
    assert console.complaints == []


def test_what_could_not_be_tried_again_says_why(failed: Console, shed: Up) -> None:
    page = failed.page
    page.get_by_role("group", name=LIMIT).get_by_label("All of this reason").check()
    failed.hold("**/do/health/queues")  # each 5 s the page would see by itself what is gone
    run(shed, "DELETE FROM mcp.outbox WHERE key = (SELECT id::text FROM mcp.tools WHERE name = 'oil_11')")
    page.get_by_role("button", name="Try 2 again").click()
    page.get_by_text("1 not tried again:").wait_for()
    page.get_by_text("shed/oil_11: it is not given up any more").wait_for()
    run(
        shed,
        "INSERT INTO mcp.outbox (queue, key) SELECT 'classify', id::text FROM mcp.tools WHERE name = 'oil_11'",
    )


def test_messages_for_which_nothing_is_left_to_do_are_removed(failed: Console) -> None:
    """A message of a laptop ends with its process: the console's answers have one here, until it is removed."""
    page = failed.page
    reason = "its work was done meanwhile, or is not wanted any more"
    removed: list[Any] = []

    def work(route: Any) -> None:
        answer = route.fetch().json()
        if not removed:
            gone = {"queue": "classify", "key": "77", "message_id": "m-1", "tool_name": None, "since": None}
            answer["given_up"].append(gone | {"attempts": None, "reason": reason, "is_waiting": False})
            answer["reasons"].append({"reason": reason, "count": 1})
        route.fulfill(json=answer)

    page.route("**/do/health/work", work)
    page.route(
        "**/do/health/drop_chosen", lambda route: (removed.append(route.request.post_data_json), route.continue_())
    )
    page.keyboard.press("r")
    group = page.get_by_role("group", name=reason)
    group.get_by_text("Nothing is left to try.").wait_for()
    group.get_by_role("button", name="Remove this message").click()
    # The real queue has no such message.
    page.get_by_text("0 messages removed; what was not is gone already, or can be tried again.").wait_for()
    group.wait_for(state="detached")
    assert removed == [{"chosen": [{"queue": "classify", "message_id": "m-1"}]}]
    page.get_by_role("heading", name=f"10 × {AWAY}").wait_for()
    assert failed.complaints == []


def test_the_gravest_comes_first_and_leads_to_its_place(opened: Callable[..., Console], shed: Up, axe: str) -> None:
    none_given_up(shed)
    run(shed, "UPDATE mcp.outbox SET created_at = now() - interval '3 hours' WHERE queue = 'classify'")
    console = opened(shed)
    page = console.page
    console.open("health")
    link = page.locator(".findings a", has_text="classify: not worked on")
    link.wait_for()
    assert page.locator(".findings li .state").first.get_attribute("class") == "state no"
    page.locator(".findings li", has_text="classify").get_by_text("make run").wait_for()
    assert cells(console, "classify")[2] == "3 h"
    assert grave(console, axe) == []
    for _ in range(2):  # also where the address does not change
        link.click()
        assert page.url.endswith("#/health?at=queues")
        page.locator("#health-queues-title:focus").wait_for()
    none_given_up(shed)
    page.keyboard.press("r")
    link.wait_for(state="detached")


def test_the_machine_is_shown_by_part(opened: Callable[..., Console], shed: Up) -> None:
    none_given_up(shed)
    console = opened(shed)
    page = console.page
    console.open("health?at=disk")
    page.locator("#health-disk-title:focus").wait_for()
    models = page.get_by_role("table", name="Models")
    assert "hashing" in models.get_by_role("row").filter(has_text="Embedding").inner_text()
    assert "SKILLROUTE_RERANK_PROVIDER" in models.get_by_role("row").filter(has_text="Reranker").inner_text()
    page.locator("#health-migrations").get_by_text("up to date").wait_for()
    assert page.get_by_role("table", name="Versions").get_by_role("row").filter(has_text="PostgreSQL").count() == 1
    page.get_by_role("table", name="Size of SKILLROUTE_HOME").get_by_text("Database files").wait_for()
    page.locator("#health-index").get_by_text("Qdrant Edge").wait_for()
    assert str(shed.home.path) not in page.content()
    shed.search("oil the hinges")
    page.keyboard.press("r")
    stage = page.get_by_role("table", name="Time by stage").get_by_role("row").filter(has_text="total")
    stage.wait_for()
    assert stage.locator(".took .p1").count() == 1
    assert console.complaints == []


def test_a_narrow_window_cuts_nothing(failed: Console, axe: str) -> None:
    page = failed.page
    page.set_viewport_size(NARROW)
    page.get_by_role("table", name="Size of SKILLROUTE_HOME").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    wide = page.evaluate(
        "[...document.querySelectorAll('#page *')].filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 1 "
        "&& !e.closest('.spoken, thead, svg')).map(e => e.outerHTML.slice(0, 120))"
    )
    assert wide == []
    assert grave(failed, axe) == []


def hold_system(console: Console, place: str) -> Any:
    """Open a place of the page, and return the request for models, versions and disks, which waits."""
    asked = console.hold("**/do/health/system")
    console.page.goto(f"{console.url}#/{place}")
    console.page.get_by_role("table", name="Queues").wait_for()
    return asked()


def test_a_place_that_is_not_read_yet_is_gone_to_when_it_is(console: Console) -> None:
    system = hold_system(console, "health")
    console.follow("health?at=disk")
    system.continue_()
    console.page.locator("#health-disk-title:focus").wait_for()


def test_an_answer_does_not_take_the_focus_that_was_moved(console: Console) -> None:
    system = hold_system(console, "health?at=queues")
    console.page.keyboard.press("/")
    button = console.page.get_by_role("button", name="Check stored data")
    console.page.locator("button:focus").wait_for()
    system.continue_()
    console.page.locator("#health-migrations").get_by_text("up to date").wait_for()
    console.page.evaluate("new Promise((done) => setTimeout(done))")
    assert button.evaluate("button => button === document.activeElement")


def test_an_older_reading_of_the_machine_does_not_replace_a_newer_one(console: Console) -> None:
    asked = console.hold("**/do/health/system")
    console.page.goto(f"{console.url}#/health")
    older = asked(0)
    console.page.get_by_role("table", name="Queues").wait_for()
    console.page.keyboard.press("r")
    newer = asked(1)
    answer = newer.fetch().json()
    versions = console.page.get_by_role("table", name="Versions")
    for request, version in ((newer, "newer"), (older, "older")):
        with console.page.expect_response("**/do/health/system"):
            request.fulfill(json=answer | {"versions": answer["versions"] | {"rows": [["Skillroute", version]]}})
        console.settle()
        versions.get_by_text("newer").wait_for()
    assert console.complaints == []


def test_the_key_v_that_is_pressed_twice_checks_once(console: Console) -> None:
    console.open("health")
    asked = console.hold("**/do/health/verify")
    sent: list[str] = []
    console.page.on("request", lambda request: sent.append(request.url))
    console.page.keyboard.press("v")
    console.page.keyboard.press("v")
    asked().continue_()
    console.page.get_by_text("No inconsistency found").wait_for()
    assert [url for url in sent if url.endswith("/do/health/verify")] == [f"{console.url}do/health/verify"]


def test_queues_that_cannot_be_read_after_the_page_was_left_are_no_problem_of_the_next(failed: Console) -> None:
    page = failed.page
    tried = failed.hold("**/do/health/redrive_chosen")
    page.get_by_role("button", name="Try these 10 again").click()
    request = tried()
    page.locator("#pages a[data-id=log]").click()
    page.get_by_role("heading", level=1, name="Log").wait_for()
    read = failed.hold("**/do/health/work")
    request.continue_()
    page.get_by_text("10 tried again. It cannot be undone").wait_for()
    with page.expect_response("**/do/health/work"):
        read().fulfill(status=503, json={"detail": "the database is away", "remedy": "Start it."})
    failed.settle()
    assert page.locator(".problem").count() == 0
