"""PostgreSQL, queues and the way to them from containers; progress and sam's logs.

`make test-sam` runs these: they need Docker, the SAM CLI and what `make build` built, so `make test` leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from skillroute_local.commands.sam_env import UNSET, reachable_by_containers
from skillroute_local.docker_bridge import host_for_containers
from skillroute_local.errors import LocalError
from skillroute_local.postgres import EmbeddedPostgres
from skillroute_local.queue_server import QueueServer, ensure_queues, queue_environment

from tests.conftest import reusable_database
from tests.events import delete_queues
from tests.sam.cli import BUILD, LOGS, OF_THIS_PROCESS, Sam
from tests.sam.world import World

_HERE = Path(__file__).parent
_SHOWN_LINES = 60

Say = Callable[[str], None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything of this folder."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.sam)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Show the end of what sam wrote last with each failure; all of it is in .aws-sam/logs."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.failed and _HERE in item.path.parents and LOGS.exists():
        for log in sorted(LOGS.glob(f"*-{OF_THIS_PROCESS}-*.log"), key=lambda file: file.stat().st_mtime)[-2:]:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            report.sections.append((f"end of {log}", "\n".join(lines[-_SHOWN_LINES:])))


@pytest.fixture(scope="session", autouse=True)
def docker() -> None:
    """Docker must be there, and something built."""
    try:
        host_for_containers()
    except LocalError as error:
        pytest.exit(f"tests under sam local need Docker: {error}", returncode=2)
    if not (BUILD / "template.yaml").exists():
        pytest.exit("tests under sam local need what `make build` builds", returncode=2)


@pytest.fixture
def say(request: pytest.FixtureRequest) -> Say:
    """Write a line of progress, whatever is captured; where tests run side by side it is shown with a failure."""
    if hasattr(request.config, "workerinput"):
        return print
    capture = request.config.pluginmanager.getplugin("capturemanager")
    reporter = request.config.pluginmanager.getplugin("terminalreporter")

    def say(line: str) -> None:
        with capture.global_and_fixture_disabled():
            reporter.write_line(f"  {line}")

    return say


@pytest.fixture(scope="session")
def _sqs() -> Iterator[str]:
    with QueueServer() as server:
        yield server.url


MakeWorld = Callable[..., World]


@pytest.fixture(scope="session")
def make_world(
    postgres_server: EmbeddedPostgres, migrated_template: str, _sqs: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., object]]:
    """Return what makes a world: an empty database, empty queues, and `sam local` over them. One at a time."""

    @contextmanager
    def make(*parameters: str, **variables: str) -> Iterator[World]:
        with reusable_database(postgres_server, migrated_template) as (url, empty):
            urls = ensure_queues(_sqs)
            settings = {"SKILLROUTE_DATABASE_URL": url} | queue_environment(_sqs, urls) | UNSET | variables
            with reachable_by_containers(settings) as (there, _):
                try:
                    yield World(Sam(tmp_path_factory.mktemp("sam"), there, *parameters), url, _sqs, urls, empty)
                finally:
                    delete_queues(_sqs)

    yield make
