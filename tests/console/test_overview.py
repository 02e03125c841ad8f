"""The page Overview: charts of planted figures with their tables, cards that lead to lists, and an empty catalogue."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from skillroute_local.history.figures import Counts, Span, Waiting, classes_of
from skillroute_local.history.ring import HistoryFile

from tests.console.conftest import Console
from tests.e2e.processes import HASHING, Processes, Up, eventually
from tests.temporary import temporary_directory

pytestmark = pytest.mark.console

CHARTS = ["Searches a minute", "Time of searches", "Share of searches", "Writes", "Waiting work"]
MINUTE = 60
_MAX_BYTES = 300_000


@pytest.fixture(scope="module")
def recorded(processes: Processes) -> Iterator[Up]:
    """A Skillroute with an hour of figures, and a gap of ten minutes in it."""
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)
        server = processes.up(Path(name) / "home", "--no-pump", **HASHING).ready()
        file = HistoryFile(server.home.history_file)
        now = int(time.time()) // MINUTE * MINUTE
        for minute in (*range(1, 20), *range(30, 59)):
            counts = Counts(searches=20, empty=5, degraded=1, refused=2, writes=3)
            times = classes_of([10.0] * 18 + [300.0] * 2)
            file.add(Span(now - minute * MINUTE, 60.0, counts, Waiting(0, 4, 4, 1), times))
        yield server


@pytest.fixture
def overview(opened: Callable[..., Console], recorded: Up) -> Console:
    console = opened(recorded)
    console.open("overview?range=1h")
    console.page.locator(".chart canvas").first.wait_for()
    return console


def card(console: Console, label: str) -> str:
    """Return the text of a card, by its label."""
    return str(console.page.locator("a.figure", has_text=label).first.inner_text())


def is_drawn(canvas: Any) -> bool:
    colours = "c => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    return bool(canvas.evaluate(colours) > 10)


def test_each_chart_is_drawn_and_has_its_figures_as_a_table(overview: Console) -> None:
    page = overview.page
    eventually(lambda: page.locator(".chart-frame h2").all_inner_texts() == CHARTS, "each chart has its frame")
    for title in CHARTS:
        frame = page.get_by_role("region", name=title, exact=True)
        picture = frame.get_by_role("img")
        assert "at last" in (picture.get_attribute("aria-label") or "")
        # The canvas has more than its background.
        eventually(partial(is_drawn, picture.locator("canvas")), f"{title} is drawn")
    frame = page.get_by_role("region", name="Searches a minute", exact=True)
    frame.get_by_text("As a table").click()
    frame.locator("tbody td").first.wait_for()
    cells = frame.locator("tbody td").all_inner_texts()
    assert len(cells) == 60
    # Gaps stay gaps: ten minutes in the middle, and the beginning.
    assert cells.count("20") >= 45
    assert 10 <= cells.count("–") <= 14
    assert overview.complaints == []


def test_the_figures_are_of_the_range_and_lead_to_their_lists(overview: Console) -> None:
    page = overview.page
    eventually(lambda: "25 %" in card(overview, "Found nothing"), "a quarter found nothing")
    eventually(lambda: "refused" in card(overview, "Refused"), "what was refused is counted")
    times = re.compile(r"9\.\d+ ms\s+p50; p95 30\d ms")
    eventually(lambda: times.search(card(overview, "Time of a search")), "it says how long searches take")
    leads = {
        "Searches a minute": "Log", "Refused": "Log", "Items written": "Log",
        "Time of a search": "Health", "Found nothing": "Unanswered", "Degraded": "Health",
        "Work given up": "Health", "Changed definitions": "Changes", "Suggested skills": "Suggestions",
        "Tools": "Catalogue", "Skills": "Skills", "Servers": "Servers",
    }  # fmt: skip
    filtered = {"Refused": "outcome=refused", "Searches a minute": "kind=search", "Items written": "kind=change"}
    for label, title in leads.items():
        page.locator("a.figure").filter(has=page.locator(f".figure-label:text-is('{label}')")).click()
        page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
        assert filtered.get(label, "") in page.url
        page.go_back()
        page.get_by_role("heading", level=1, name="Overview").wait_for()
        page.locator(".chart canvas").first.wait_for()
    assert overview.complaints == []


def test_what_waits_comes_first_and_what_nothing_waits_of_last(overview: Console) -> None:
    page = overview.page
    page.locator(".figure-label", has_text="Suggested skills").wait_for()
    assert page.locator(".overview > h2").all_inner_texts() == ["What waits", "Searches", "Catalogue", "Last changes"]
    about = page.locator(".cards").first.locator(".figure-about")
    eventually(lambda: "none waits" in about.all_inner_texts(), "nothing waits of one kind at least")
    waits = about.all_inner_texts()
    assert waits == sorted(waits, key=lambda text: text == "none waits")


def test_the_range_stands_in_the_address_and_is_chosen_by_keys(overview: Console) -> None:
    page = overview.page
    page.get_by_role("button", name="7 days").click()
    page.get_by_role("button", name="7 days", pressed=True).wait_for()
    eventually(lambda: page.title() and page.url.endswith("#/overview?range=7d"), "the range is in the address")
    page.locator("h1").click()
    page.keyboard.press("]")
    page.get_by_role("button", name="30 days", pressed=True).wait_for()
    page.reload()
    page.get_by_role("button", name="30 days", pressed=True).wait_for()
    page.get_by_text("over 30 days").first.wait_for()


def test_an_address_without_a_range_leads_to_the_default_one(overview: Console) -> None:
    overview.page.evaluate("location.hash = '#/overview'")
    overview.page.get_by_role("button", name="24 hours", pressed=True).wait_for()
    overview.page.get_by_text("over 24 hours").first.wait_for()


def test_figures_have_the_range_that_they_are_of_until_the_new_ones_come(overview: Console) -> None:
    page = overview.page
    page.get_by_text("over 1 hour").first.wait_for()
    held: list[Any] = []
    page.route("**/do/overview/series", lambda route: held.append(route))  # noqa: PLW0108

    def changed(route: Any) -> None:
        answer = route.fetch().json()
        answer["health"]["status"] = "unavailable"  # which shows when it was drawn
        route.fulfill(json=answer)

    page.route("**/do/overview/now", changed)
    page.get_by_role("button", name="7 days").click()
    page.locator("h1").click()
    page.keyboard.press("r")
    page.get_by_text("Searches are not answered.").wait_for()
    eventually(lambda: page.title() and len(held) >= 2, "the history is asked for twice")
    assert page.get_by_text("over 1 hour").count() > 0
    assert page.get_by_text("over 7 days").count() == 0
    page.unroute("**/do/overview/series")  # it is read again each 15 s
    for route in held:
        route.continue_()
    page.get_by_text("over 7 days").first.wait_for()


def test_what_comes_is_shown_and_the_focus_stays(opened: Callable[..., Console], recorded: Up) -> None:
    console = opened(recorded)
    page = console.page
    page.clock.install()
    console.open("overview?range=1h")
    link = page.locator("a.figure", has_text="Items written")
    link.wait_for()
    link.focus()
    assert "12,345" not in link.inner_text()

    now = int(time.time()) // MINUTE * MINUTE
    HistoryFile(recorded.home.history_file).add(Span(now - 25 * MINUTE, 60.0, Counts(writes=1_234_567)))
    page.clock.fast_forward(16_000)

    page.get_by_text("1,234,").first.wait_for()
    assert page.evaluate("document.activeElement.textContent").startswith("Items written")


def test_no_request_leaves_the_machine_and_the_page_is_light(opened: Callable[..., Console], recorded: Up) -> None:
    console = opened(recorded)
    asked: list[str] = []
    console.page.on("request", lambda request: asked.append(request.url))
    console.page.goto(console.url)
    console.page.get_by_role("heading", level=1, name="Overview").wait_for()
    console.page.locator(".chart canvas").first.wait_for()
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(recorded.url).netloc}
    sizes = console.page.evaluate(
        "performance.getEntriesByType('resource').filter(e => e.name.includes('/static/')).map(e => e.decodedBodySize)"
    )
    assert 100_000 < sum(sizes) < _MAX_BYTES


def test_the_recorder_of_a_process_writes_what_it_counted_when_it_ends(processes: Processes) -> None:
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)
        home = Path(name) / "home"
        server = processes.up(home, "--no-pump", "--no-examples", **HASHING).ready()
        server.put({"server": "shed", "name": "oil_hinges", "description": "Oils the hinges of the door."})
        for _ in range(3):
            server.search("oil the hinges")
        assert server.interrupt() == 0

        rows = HistoryFile(server.home.history_file).read(0, 2**40, MINUTE)
        assert (sum(row.counts.searches for row in rows), sum(row.counts.writes for row in rows)) == (3, 1)
        assert sum(sum(row.times.values()) for row in rows) == 3
        assert (rows[-1].waiting.queued, rows[-1].waiting.dead) == (1, 0)


def test_an_empty_catalogue_says_the_first_step(opened: Callable[..., Console], processes: Processes) -> None:
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)
        server = processes.up(Path(name) / "home", "--no-pump", "--no-examples", **HASHING).ready()
        console = opened(server)
        console.open("overview")
        console.page.get_by_text("The catalogue is empty").wait_for()
        console.page.get_by_role("link", name="import a file or an address").click()
        console.page.get_by_role("button", name="Show what would change").wait_for()
        console.page.go_back()
        console.page.get_by_text("The catalogue is empty").wait_for()
        assert console.complaints == []
        server.put({"server": "shed", "name": "oil_hinges", "description": "Oils the hinges of the door."})
        console.page.locator("h1").click()
        console.page.keyboard.press("r")
        console.page.get_by_text("The catalogue is empty").wait_for(state="detached")
        eventually(lambda: "1" in card(console, "Tools"), "the tool is counted")


def test_an_older_count_of_the_catalogue_does_not_replace_a_newer_one(console: Console) -> None:
    asked = console.hold("**/do/overview/catalogue")
    console.page.goto(f"{console.url}#/overview")
    older = asked(0)
    console.page.keyboard.press("r")
    newer = asked(1)
    answer = newer.fetch().json()
    for request, count in ((newer, 777), (older, 555)):
        with console.page.expect_response("**/do/overview/catalogue"):
            request.fulfill(json=answer | {"tool": count})
        console.settle()
        eventually(lambda: console.page.title() and "777" in card(console, "Tools"), "the newer count is shown")
    assert console.complaints == []
