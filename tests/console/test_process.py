"""`skillroute console`: a process of its own on loopback, for those who know its key, with a token or without."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from skillroute_local.console.app import KEY_HEADER
from skillroute_local.history.figures import Counts, Span
from skillroute_local.history.ring import HistoryFile

from tests.console.conftest import Console
from tests.e2e.processes import Processes, Server, Up, cli, environment, eventually
from tests.temporary import temporary_directory

pytestmark = pytest.mark.console

_TIMEOUT_S = 60.0
_CLI = "import sys; sys.argv[0] = 'skillroute'; from skillroute_local.cli import main; main()"


class ConsoleProcess(Server):
    """`skillroute console --no-open --port 0`."""

    def __init__(self, home: Path, output: Path, *args: str, **settings: str) -> None:
        super().__init__(_CLI, ("console", "--no-open", "--port", "0", *args), environment(home, **settings), output)

    def _announced(self) -> str | None:
        found = re.search(r": (http://localhost:\d+/console/#key=\S+)", self.output)
        return found[1] if found else None


@pytest.fixture(scope="module")
def separate(locked: Up, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleProcess]:
    started = ConsoleProcess(locked.home.path, tmp_path_factory.mktemp("output") / "console.txt").ready()
    yield started
    started.close()


def token(server: Up, *scopes: str) -> str:
    chosen = [option for scope in scopes for option in ("--scope", scope)]
    made = cli(server.home.path, "token", *chosen)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def test_it_listens_on_loopback_only(separate: ConsoleProcess) -> None:
    connections = psutil.Process(separate.pid).net_connections(kind="inet")
    assert {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN} == {"127.0.0.1"}


@pytest.mark.parametrize(
    "headers", [{"host": "attacker.example"}, {"origin": "https://attacker.example"}, {KEY_HEADER: "guessed"}]
)
def test_others_get_nothing(separate: ConsoleProcess, headers: dict[str, str]) -> None:
    base, _, key = separate.url.partition("#key=")
    good = {KEY_HEADER: key}
    with httpx.Client(timeout=_TIMEOUT_S, trust_env=False) as client:
        assert client.post(f"{base}do/skills/skills", headers=good).status_code == 200
        assert client.post(f"{base}do/skills/skills", headers=good | headers).status_code == 403


def test_the_address_with_the_key_opens_it(
    opened: Callable[..., Console], locked: Up, separate: ConsoleProcess
) -> None:
    console = opened(locked, separate.url.partition("#")[0])
    console.page.goto(separate.url)
    console.open("skills")
    console.row("Calendar Management").wait_for()
    assert "key" not in console.page.url


def test_without_the_key_it_says_what_to_do(
    opened: Callable[..., Console], locked: Up, separate: ConsoleProcess
) -> None:
    console = opened(locked, separate.url.partition("#")[0])
    console.open("skills")
    console.page.get_by_text("Open the whole address").first.wait_for()
    console.page.goto(separate.url)  # into the same tab, which has the same document open
    console.page.locator("#errors .problem").first.wait_for(state="detached")
    console.open("skills")
    console.row("Calendar Management").wait_for()
    assert "key" not in console.page.url


def test_a_token_without_skills_looks_and_changes_nothing(opened: Callable[..., Console], locked: Up) -> None:
    console = opened(locked)
    console.open("skills?skill=smart_home")
    console.page.get_by_text("Enter a token").first.wait_for()
    console.enter(token(locked, "search"))

    console.row("Calendar Management").wait_for()
    console.page.get_by_label("Name").fill("My home")
    console.page.get_by_role("button", name="Save", exact=True).click()
    console.page.get_by_text("You have read access only").first.wait_for()
    assert console.page.get_by_label("Name").input_value() == "My home"

    # With a token that may, what was typed is saved from where it stands.
    headers = {"authorization": f"Bearer {token(locked, 'search')}"}
    assert locked.http.get("/api/v1/skills/smart_home", headers=headers).json()["name"] != "My home"
    console.enter(token(locked, "admin"))
    console.page.get_by_text("My home: saved").wait_for()
    assert locked.http.get("/api/v1/skills/smart_home", headers=headers).json()["name"] == "My home"


def test_marks_need_a_token_of_the_right_scope(opened: Callable[..., Console], locked: Up) -> None:
    file = locked.home.path / "requests.jsonl"
    console = opened(locked)
    console.open("search")
    console.page.get_by_role("searchbox", name="Request").fill("book a table")
    console.page.keyboard.press("Enter")
    console.enter(token(locked, "search"))
    # At once: the page reads anew with the token, and a click may begin on a button and end on the one in its place.
    console.page.get_by_role("button", name="right for the request: ").first.dispatch_event("click")
    console.page.get_by_text("the token lacks the scope 'skills'").wait_for()
    assert not file.exists()
    # With a token that may, the mark is written from where it was made.
    writing = console.hold("**/do/search/judge")
    searches: list[Any] = []
    console.page.on("request", lambda request: searches.append(request) if request.url.endswith("search/run") else None)
    console.enter(token(locked, "search", "skills"))
    sent = writing()
    console.settle()
    assert searches == []  # what is read with the new token is read when the mark is written
    sent.continue_()
    eventually(lambda: console.page.title() and searches, "the search is made with the new token")
    console.page.get_by_text("This request is in").wait_for()
    eventually(file.exists, "the mark is written")


def test_what_a_token_may_not_even_read_is_said(opened: Callable[..., Console], locked: Up) -> None:
    console = opened(locked)
    console.open("suggestions")
    console.enter(token(locked, "search"))
    console.page.locator(".problem").filter(has_text="You have read access only").first.wait_for()


def test_a_skillroute_that_ends_is_an_error_and_its_return_goes_on(
    opened: Callable[..., Console], processes: Processes, tmp_path: Path
) -> None:
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)
        home = Path(name) / "home"
        server = processes.up(home, "--no-pump", "--no-examples").ready()
        separate = ConsoleProcess(home, tmp_path / "console.txt", "--url", server.url).ready()
        try:
            console = opened(server, separate.url.partition("#")[0])
            console.page.goto(separate.url)
            console.open("skills")
            console.page.get_by_text("No skills yet").wait_for()
            server.kill()
            console.page.get_by_role("button", name="Reload").click()
            console.page.get_by_text("does not answer").first.wait_for()
            again = processes.up(home, "--no-pump", "--no-examples", "--port", server.url.rpartition(":")[2]).ready()
            assert again.url == server.url
            eventually(lambda: again.http.get("/ready").status_code == 200, "it answers again")
            console.page.get_by_role("button", name="Try again").first.click()
            console.page.locator(".problem").first.wait_for(state="detached")
        finally:
            separate.close()


def test_queues_are_shown_to_who_started_the_console_and_not_to_everybody_who_reaches_the_page(
    opened: Callable[..., Console], locked: Up, separate: ConsoleProcess
) -> None:
    # GIVEN a Skillroute of several organisations, whose own pages anybody on this machine may open
    public = httpx.post(f"{locked.url}/console/do/health/work", headers={KEY_HEADER: "page"}, timeout=_TIMEOUT_S)
    assert (public.status_code, public.json()) == (200, None)
    own = opened(locked)
    own.open("health?at=failed")
    own.enter(token(locked, "search"))
    own.page.get_by_text("This console cannot read the queues").wait_for()
    own.page.get_by_role("table", name="Versions").wait_for()
    shown = ["Queues", "Parts", "Index", "Versions", "Consistency check"]
    titles = own.page.locator("#page h2").filter(visible=True)
    eventually(lambda: titles.all_inner_texts() == shown, "the parts that all may see are shown")

    console = opened(locked, separate.url.partition("#")[0])
    console.page.goto(separate.url)
    console.open("health")
    console.page.get_by_role("table", name="Queues").get_by_text("classify").wait_for()
    console.page.get_by_role("table", name="Models").wait_for()
    console.page.get_by_role("table", name="Size of SKILLROUTE_HOME").wait_for()


def test_figures_of_hours_are_shown_to_who_started_the_console_while_they_are_written(
    locked: Up, separate: ConsoleProcess
) -> None:
    # GIVEN a Skillroute of several organisations, whose figures are of all of them
    asked = {"range_": "1h"}
    url = f"{locked.url}/console/do/overview/series"
    public = httpx.post(url, json=asked, headers={KEY_HEADER: "page"}, timeout=_TIMEOUT_S)
    assert public.json()["series"] is None
    assert "skillroute console" in public.json()["remedy"]

    # Of a minute in the hour, and before the server began: it writes its own since.
    minute = int(time.time()) // 60 * 60 - 50 * 60
    HistoryFile(locked.home.history_file).add(Span(minute, 60.0, Counts(searches=7)))
    base, _, key = separate.url.partition("#key=")
    with httpx.Client(timeout=_TIMEOUT_S, trust_env=False) as client:
        found = client.post(f"{base}do/overview/series", json=asked, headers={KEY_HEADER: key}).json()
    assert 7.0 in found["series"]["searches"]
