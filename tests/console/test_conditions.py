"""Every page where conditions are hard: nothing leaves the machine, the API fails, a token may only search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests.console.conftest import Console
from tests.console.test_pages import PAGES
from tests.console.test_servers import token
from tests.e2e.processes import Processes, Up, eventually
from tests.temporary import temporary_directory

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Route

pytestmark = pytest.mark.console

MOST_BYTES = 300_000
"""Of the package's files that a page loads, but for the map, which draws."""

FAILURES: dict[str, Callable[[Route], None]] = {
    "500": lambda route: route.fulfill(status=500, body="Internal Server Error"),
    "503": lambda route: route.fulfill(
        status=503, json={"detail": "the database is away", "remedy": "Start it, then try again.", "request_id": "r-1"}
    ),
    "gone": lambda route: route.abort(),
}
SAYS = {"500": "the console answered 500", "503": "the database is away", "gone": "the console does not answer"}
ANSWERED = "Failed to load resource"
"""What the browser writes of an answer that is an error, whatever the page makes of it."""


def test_no_page_asks_another_machine_and_none_is_heavy(context: BrowserContext, examples: Up, opened: Any) -> None:
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    for place in PAGES:
        console: Console = opened(examples)
        console.page.on("websocket", lambda socket: asked.append(socket.url))
        console.page.on("worker", lambda worker: asked.append(worker.url))
        sizes: dict[str, int] = {}
        console.page.on("requestfinished", lambda request, sizes=sizes: sizes.update({request.url: _bytes(request)}))
        console.open(place)
        console.page.get_by_text(PAGES[place][1]).first.wait_for()
        loaded = {url: size for url, size in sizes.items() if "/static/" in url}
        assert len(loaded) > 5, place
        if not place.startswith("map"):
            assert sum(loaded.values()) <= MOST_BYTES, (place, loaded)
        assert context.service_workers == []
        console.page.close()
    assert len(asked) > 10 * len(PAGES)
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(examples.url).netloc}


def _bytes(request: Any) -> int:
    return len(request.response().body())


@pytest.mark.parametrize("place", PAGES)
def test_an_api_that_fails_is_told_of_and_what_is_there_stays(console: Console, place: str) -> None:
    text = PAGES[place][1]
    for way, fail in FAILURES.items():
        console.page.goto("about:blank")
        console.page.route("**/do/**", fail)
        console.page.goto(f"{console.url}#/{place}")
        console.page.locator("h1").get_by_text(PAGES[place][0], exact=True).wait_for()
        typed = _type(console)
        if not place.startswith("doctor"):  # it reads nothing until it is told to
            _told(console, way)
            assert console.page.locator("#page .state.no, #page .note").count() or place.startswith("search"), "blank"
            _try_again(console, fail)
        console.page.get_by_text(text).first.wait_for()
        assert _typed(console) == typed, way

        console.page.route("**/do/**", fail)
        _refresh(console)
        _told(console, way)
        console.page.get_by_text(text).first.wait_for()
        assert _typed(console) == typed, way
        console.page.unroute("**/do/**")
        _refresh(console)  # what was read since is no error any more
        eventually(lambda: console.page.locator("#errors .problem").count() == 0, "it is no error any more")
        assert _typed(console) == typed, way
    assert [line for line in console.complaints if ANSWERED not in line] == []


def _told(console: Console, way: str) -> None:
    box = console.page.locator("#errors .problem").filter(has_text=SAYS[way]).first
    box.wait_for()
    box.get_by_role("button", name="Try again").wait_for()


def _try_again(console: Console, fail: Callable[[Route], None]) -> None:
    """Try again what failed: once more in vain, and then until nothing is left of it."""
    boxes = console.page.locator("#errors .problem")
    again = boxes.get_by_role("button", name="Try again")
    before = boxes.count()
    again.first.click()
    eventually(lambda: boxes.count() == before, "it is told again")
    console.page.unroute("**/do/**", fail)
    while boxes.count():
        again.evaluate_all("([first]) => first?.click()")  # one that succeeds may take the others away
        console.page.wait_for_timeout(20)


def _filter(console: Console) -> Any:
    return console.page.locator("#page input[type=search][data-first]")


def _type(console: Console) -> str:
    """Type into the filter of the page, where it has one, what lets all rows stay."""
    field = _filter(console)
    if field.count() and field.is_enabled() and not field.input_value():
        field.fill(" ")
    return _typed(console)


def _typed(console: Console) -> str:
    return str(_filter(console).input_value()) if _filter(console).count() else ""


def _refresh(console: Console) -> None:
    """Have the page read again what it shows."""
    page = console.page.locator("#page")
    for button in (page.get_by_role("button", name="Reload"), page.locator("form.tools button.main")):
        if button.count():
            button.first.click()
            return
    console.page.locator("h1").click()
    console.page.keyboard.press("r")


@pytest.fixture(scope="module")
def locked(processes: Processes) -> Iterator[Up]:
    """A Skillroute that asks for tokens."""
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)
        yield processes.up(Path(name) / "home", "--no-pump", SKILLROUTE_AUTH="jwt").ready()


@pytest.fixture(scope="module")
def tokens(locked: Up) -> dict[str, str]:
    return {"search": token(locked, "search"), "all": token(locked, "search", "skills", "catalog", "admin")}


LOCKED = {
    "overview": ("shown to callers with scope admin", "scope catalog"),
    "suggestions": ("lacks the scope 'skills'",),
    "health": ("scope catalog", "scope admin"),
    "learning": ("lacks the scope 'skills'",),
    "log": ("lacks the scope 'admin'",),
    "changes": ("scope catalog",),
    "servers": ("scope catalog",),
}
"""What pages say to who may only search of what they do not show; the others show all."""


@pytest.mark.parametrize("place", PAGES)
def test_a_token_that_may_only_search_sees_what_it_may_and_another_is_entered_right_there(
    opened: Callable[..., Console], locked: Up, tokens: dict[str, str], place: str
) -> None:
    console = opened(locked)
    asked: Counter[str] = Counter()
    console.page.on("request", lambda request: asked.update([request.url]))
    console.page.goto(f"{console.url}#/{place.replace('workshop', 'browser')}")
    if place in {"map", "doctor"}:  # what they ask for first is refused to nobody
        console.page.evaluate("given => sessionStorage.setItem('skillroute-console-token', given)", tokens["search"])
    else:
        _enter(console, tokens["search"])
    name = place.partition("?")[0]
    shown = console.page.locator("#page")
    for says in LOCKED.get(name, ()):
        shown.get_by_text(says).filter(visible=True).first.wait_for()
    typed = _type(console)
    if name == "doctor":
        _refresh(console)
    console.page.wait_for_load_state("networkidle")
    console.page.locator("#errors .problem").filter(has_text="no bearer token").first.wait_for(state="detached")
    assert len(shown.inner_text()) > 50
    assert max(count for url, count in asked.items() if "/do/" in url) <= 4, asked
    refused = console.page.locator("#errors .problem")
    if refused.count():
        assert "scope" in refused.first.inner_text()
        _enter(console, tokens["all"])
        refused.first.wait_for(state="detached")
        eventually(lambda: refused.count() == 0, "nothing is refused any more")
        shown.get_by_text("lacks the scope").wait_for(state="detached")
    assert _typed(console) == typed
    assert [line for line in console.complaints if ANSWERED not in line] == []


def _enter(console: Console, given: str) -> None:
    console.page.get_by_label("Token").first.fill(given)
    console.page.get_by_role("button", name="Use token").first.click()
