"""A real browser, without a window, before real Skillroutes: `make test-console`."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.console.planted import plant, put_catalogues
from tests.e2e.processes import HASHING, Processes, Up, eventually
from tests.temporary import temporary_directory

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 400, "height": 800}
# How long a page may take to show something: beside containers, on two processors, some take ten times what they need.
_PATIENCE_MS = int(os.environ.get("SKILLROUTE_CONSOLE_PATIENCE_MS", "90000"))
# Notices pass by after some seconds, and so does the wait for the letter after g: too soon where all is as slow.
_STAY = """(() => {
  const wait = window.setTimeout;
  window.setTimeout = (run, ms, ...given) => {
    const asks = new Error().stack.split("\\n")[2] ?? "";
    return wait(run, /\\/(menu|notices)\\.js/.test(asks) ? 3_600_000 : ms, ...given);
  };
})()"""
_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Return the path of a Chromium that is installed, or of the one that SKILLROUTE_CHROMIUM names."""
    named = os.environ.get("SKILLROUTE_CHROMIUM")
    return named or next((path for name in _CHROMIUMS if (path := shutil.which(name))), None)


@dataclass
class Console:
    """A console that is open in a tab.

    Attributes
    ----------
    page : Page
    url : str
        Of the console, with its slash.
    server : Up
        The Skillroute behind it.
    complaints : list of str
        What the browser wrote of errors: nothing should be there.
    """

    page: Page
    url: str
    server: Up
    complaints: list[str] = field(default_factory=list)

    def open(self, place: str) -> None:
        """Go to a page of the console, and wait until it shows what it is about."""
        self.page.goto(f"{self.url}#/{place}")
        name = place.partition("?")[0]
        shown = self.page.locator(f"#pages a[aria-current][data-id='{name}']")
        shown.wait_for(state="attached")  # in a menu, where it is narrow
        # A page that is open already follows the address by then; a document that is loaded has its answers.
        self.page.evaluate("new Promise((done) => setTimeout(done))")
        self.page.wait_for_load_state("networkidle")

    def follow(self, address: str) -> None:
        """Follow an address where a page is open, as a link does, and wait until the page was told of it."""
        self.page.evaluate("address => { location.hash = address; }", f"#/{address}")
        self.page.evaluate("new Promise((done) => setTimeout(done))")

    def settle(self) -> None:
        """Wait until the page has read what was answered before."""
        self.page.evaluate("fetch(location.pathname).then((answer) => answer.text())")

    def enter(self, token: str) -> None:
        """Use a token in the first error that asks for one; in one step, as errors change places while a page reads."""
        self.page.get_by_label("Token").first.wait_for()
        self.page.evaluate(
            """token => {
              const field = document.querySelector("#errors [aria-label=Token]");
              field.value = token;
              field.form.requestSubmit();
            }""",
            token,
        )

    def hold(self, pattern: str, *, times: int | None = None) -> Callable[..., Any]:
        """Keep requests back, all or the first `times`; what is returned waits for one, by its place."""
        held: list[Any] = []
        self.page.route(pattern, lambda route: held.append(route), times=times)  # noqa: PLW0108 (a method it cannot mark)

        def asked(place: int = 0) -> Any:
            # Routes are told of while something is asked of the page.
            return eventually(lambda: self.page.title() and held[place:], f"{pattern} is asked for")[0]

        return asked

    def row(self, text: str) -> Any:
        """Return the rows of lists that have a text."""
        return self.page.locator("[role=option]").filter(has_text=text)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="make test-console installs Playwright")
    path = chromium()
    if path is None:
        pytest.skip("there is no Chromium: install Debian's package chromium, or set SKILLROUTE_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        # Root, as in containers, gets no sandbox from Chromium; the pages are our own.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        launched = playwright.chromium.launch(executable_path=path, args=arguments)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def directory() -> Iterator[Path]:
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)  # others may pass, as root's PostgreSQL must
        yield Path(name)


@pytest.fixture(scope="session")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    started = Processes(tmp_path_factory.mktemp("console"))
    try:
        yield started
    finally:
        started.close()


@pytest.fixture(scope="session")
def examples(processes: Processes, directory: Path) -> Up:
    """`skillroute up` with the examples, and suggestions that wait; what tests change they name themselves."""
    server = processes.up(directory / "examples", "--no-pump").ready()
    plant(server)
    return server


@pytest.fixture(scope="session")
def large(processes: Processes, directory: Path) -> Up:
    """The examples, and the 1,265 tools of the public catalogues."""
    server = processes.up(directory / "large", "--no-pump", **HASHING).ready()
    if not put_catalogues(server):
        pytest.skip("the public catalogues are not there: DATA names their folder")
    return server


@pytest.fixture(scope="module")
def locked(processes: Processes) -> Iterator[Up]:
    """A Skillroute that asks for tokens."""
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)
        yield processes.up(Path(name) / "home", "--no-pump", SKILLROUTE_AUTH="jwt").ready()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport=WIDE)
    made.set_default_timeout(_PATIENCE_MS)
    made.add_init_script(_STAY)
    yield made
    made.close()


@pytest.fixture
def opened(context: BrowserContext) -> Callable[..., Console]:
    """Open the console of a server, at `url` where it is a process of its own."""

    def run(server: Up, url: str | None = None) -> Console:
        page = context.new_page()
        console = Console(page, url or f"{server.url}/console/", server)
        page.on("pageerror", lambda error: console.complaints.append(str(error)))
        page.on("console", lambda said: console.complaints.append(said.text) if said.type == "error" else None)
        return console

    return run


@pytest.fixture
def console(opened: Callable[..., Console], examples: Up) -> Console:
    return opened(examples)


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which `make test-console` gets from npm."""
    path = Path(os.environ.get("SKILLROUTE_AXE", ""))
    if not path.is_file():
        pytest.skip("there is no axe-core: make test-console gets it where npm is")
    return path.read_text("utf-8")


def expect(found: Any) -> Any:
    """Return what Playwright expects of a locator; only where the tests of the console run is it installed."""
    from playwright.sync_api import expect as expected

    expected.set_options(timeout=_PATIENCE_MS)  # else 5 s
    return expected(found)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def grave(console: Console, axe: str) -> list[str]:
    """Return what axe-core finds, of any impact."""
    console.page.evaluate(axe)
    found: dict[str, Any] = console.page.evaluate("() => axe.run({ resultTypes: ['violations'] })")
    return [f"{violation['id']}: {violation['nodes'][0]['html'][:200]}" for violation in found["violations"]]
