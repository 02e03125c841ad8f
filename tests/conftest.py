"""What tests of every layer share: a real PostgreSQL, started once, and a fresh migrated database for each test.

Nothing starts before a test asks for it, so unit tests pay nothing.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import pytest
from hypothesis import HealthCheck, settings

from tests.temporary import fastest_directory, temporary_directory
from tests.vectors import VARIABLE, make_directory, remove_directory, share_vectors

if TYPE_CHECKING:
    from skillroute.core.postgres.roles import Group
    from skillroute_local.postgres import EmbeddedPostgres
    from xdist.remote import Producer

    from tests.doubles import EdgeIndexes
    from tests.scheduling import FilesOfAServer

# How many examples a property is tried on. Nothing of it depends on how fast the machine is, and all examples of a test
# share its fixtures: who writes tidies up. The quick ones are the same in each run, so that it does not pass or fail by
# luck; `make test-all` looks for others.
_STEADY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
settings.register_profile("quick", _STEADY, max_examples=50, derandomize=True)
settings.register_profile("thorough", _STEADY, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

TEMPLATE = "skillroute_template"
"""The database that tests get copies of; its groups are theirs."""

_PASSWORD = "of-no-secret"
_numbers = itertools.count(1)
_VACUUM_EVERY = 100

Empty = Callable[[], object]
# Without triggers and in any order; the one row of index_state stays, as no model's and with an epoch of its own.
_EMPTY = """
DO $$
DECLARE each record;
BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);
    PERFORM set_config('lock_timeout', '20s', true);  -- what a test left open fails the next one, and hangs none
    FOR each IN SELECT tablename FROM pg_tables
                WHERE schemaname = 'mcp' AND tablename NOT IN ('migrations', 'index_state', 'search_state') LOOP
        EXECUTE format('DELETE FROM mcp.%I', each.tablename);
    END LOOP;
    DELETE FROM pg_statistic USING pg_class WHERE starelid = oid AND relnamespace = 'mcp'::regnamespace;
    -- As tables are that were never vacuumed or analysed.
    UPDATE pg_class SET reltuples = -1 WHERE relnamespace = 'mcp'::regnamespace AND relkind = 'r' AND reltuples >= 0;
    FOR each IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'mcp' LOOP
        PERFORM setval(format('mcp.%I', each.sequencename), 1, false);
    END LOOP;
    UPDATE mcp.index_state SET epoch = gen_random_uuid(), embedding_model = NULL, embedding_dimension = NULL,
        next_model = NULL, next_dimension = NULL, previous_model = NULL, previous_dimension = NULL, switched_at = NULL,
        has_unused_vectors = false, pruned_to = '0';
    UPDATE mcp.search_state SET is_kept = DEFAULT, after_collection = DEFAULT, after_key = DEFAULT, filled_at = DEFAULT,
        lists_tried_at = DEFAULT;
END $$
"""


def pytest_configure(config: pytest.Config) -> None:
    """Collect the tests without looking for garbage, and keep `tmp_path` in memory where there is room.

    Of what collecting makes nearly all stays.
    """
    gc.disable()
    if fastest_directory() is not None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(fastest_directory()))
    vectors = make_directory()
    if vectors is not None:
        config.add_cleanup(lambda: remove_directory(vectors))
    share_vectors(Path(os.environ[VARIABLE]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes `-n logical` starts."""
    from tests.scheduling import count_of_processes

    return count_of_processes()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesOfAServer | None:
    """Distribute files as `--dist loadfile` does, those together that share a server."""
    from tests.scheduling import FilesOfAServer

    return FilesOfAServer(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    """Look for garbage from here on, and never again among the modules and tests that stay until the end.

    With all tests those are most of what there is, and a look at them all takes 0.7 s.
    """
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _event_loop_of_the_thread() -> Iterator[None]:
    """Give the thread an event loop of its own, as Mangum asks for: since Python 3.12, one made by asking warns."""
    with closing(asyncio.new_event_loop()) as loop:
        asyncio.set_event_loop(loop)
        yield
        asyncio.set_event_loop(None)


@pytest.fixture(autouse=True)
def _kept_event_loop() -> Iterator[None]:
    """Give the thread back the event loop that it had: `asyncio.run` takes it away, and Mangum asks for it."""
    threads_own = getattr(asyncio.get_event_loop_policy(), "_local", None)
    before = getattr(threads_own, "_loop", None)
    yield
    if before is not None and before is not getattr(threads_own, "_loop", None):
        asyncio.set_event_loop(before)


@pytest.fixture(autouse=True)
def _kept_log_level() -> Iterator[None]:
    """Give the log back its level and stream: a command that a test runs in this process sets them for itself."""
    from skillroute.core.observability import logger

    level, handler = logger.level, cast("logging.StreamHandler[TextIO]", logger.registered_handler)
    stream, asked = handler.stream, os.environ.get("SKILLROUTE_LOG_LEVEL")
    yield
    logger.setLevel(level)
    handler.stream = stream
    if asked is None:
        os.environ.pop("SKILLROUTE_LOG_LEVEL", None)


@pytest.fixture(scope="session", autouse=True)
def _temporary_files_in_memory() -> Iterator[None]:
    """Let this process, and those that it starts, make temporary directories where `temporary_directory` does.

    An embedded index is 270 new files of 180 MB: 0.15 s of a processor in memory, 0.4 s and a long wait on ext4.
    """
    with temporary_directory("skillroute-tmp-") as directory, pytest.MonkeyPatch.context() as patch:
        Path(directory).chmod(0o711)  # others may pass, as root's PostgreSQL must
        patch.setattr(tempfile, "tempdir", directory)
        patch.setenv("TMPDIR", directory)
        yield


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL server for this session, without syncing to disk: about 0.7 s, once."""
    from skillroute_local.postgres import EmbeddedPostgres

    with (
        temporary_directory("skillroute-tests-") as directory,
        EmbeddedPostgres(Path(directory) / "postgres", durable=False) as server,
    ):
        # A vacuum at a moment of PostgreSQL's own changes what it takes the sizes of tables for, and with them plans.
        _administer(server, "ALTER SYSTEM SET autovacuum = off")
        _administer(server, "SELECT pg_reload_conf()")
        yield server


@pytest.fixture(scope="session")
def aws() -> Iterator[str]:
    """Where moto answers in the place of AWS, on loopback: Secrets Manager, SQS. Names are the tests' own to choose."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="session")
def migrated_template(postgres_server: EmbeddedPostgres) -> str:
    """The name of a database with every migration applied and no rows; `url_as` logs in with its groups' rights."""
    from skillroute.core.postgres.migrate import migrate
    from skillroute.core.postgres.roles import Login

    _administer(postgres_server, f"CREATE DATABASE {TEMPLATE}")
    logins = [Login(group, f"tests_{group}", _PASSWORD) for group in ("reader", "writer")]
    migrate(postgres_server.url_of(TEMPLATE), logins=logins)
    return TEMPLATE


def url_as(group: Group, url: str) -> str:
    """Return the URL of a copy of `migrated_template` with a login that has a group's rights, not the owner's."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts._replace(netloc=f"tests_{group}:{_PASSWORD}@{parts.hostname}:{parts.port}").geturl()


@pytest.fixture
def fresh_database_url(postgres_server: EmbeddedPostgres, migrated_template: str) -> Iterator[str]:
    """The URL of a fresh migrated database, dropped after the test: about 15 ms and 5 ms."""
    with fresh_database(postgres_server, migrated_template) as url:
        yield url


@pytest.fixture
def database_url(fresh_database_url: str) -> str:
    """The URL of a database for one test. Folders whose tests change rows only take `emptied_database_url` instead."""
    return fresh_database_url


@pytest.fixture(scope="session")
def _reused_database(postgres_server: EmbeddedPostgres, migrated_template: str) -> Iterator[tuple[str, Empty]]:
    from tests.builders import kept_pool

    with reusable_database(postgres_server, migrated_template) as reused, kept_pool(reused[0]):
        yield reused


@pytest.fixture
def emptied_database_url(_reused_database: tuple[str, Empty]) -> str:
    """The URL of a database without rows, the same one for every test: 3 ms instead of a fresh one's 50 ms.

    Sequences start at 1 again. What a test leaves open it must close itself.
    """
    url, empty = _reused_database
    empty()
    return url


@pytest.fixture(scope="session")
def edge_indexes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeIndexes]:
    """Embedded indexes to be lent, empty, to one test after the other."""
    from tests.doubles import EdgeIndexes

    edges = EdgeIndexes(tmp_path_factory.mktemp("edges"))
    yield edges
    edges.close()


@pytest.fixture
def most_tools(monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many tools a skill can have: 20 instead of 10,000, which take seconds to insert."""
    from skillroute.skills.assignments import assign
    from skillroute.skills.assignments import repository as assignment_repository
    from skillroute.skills.model import MAX_TOOLS_PER_SKILL

    from tests.soak import SOAK

    most = MAX_TOOLS_PER_SKILL if SOAK else 20
    for module in (assign, assignment_repository):
        monkeypatch.setattr(module, "MAX_TOOLS_PER_SKILL", most)
    return most


@contextmanager
def reusable_database(server: EmbeddedPostgres, template: str) -> Iterator[tuple[str, Empty]]:
    """Lend a copy of a template database, and what takes every row out of it."""
    times = itertools.count(1)
    with fresh_database(server, template) as url, _connected(server, url) as run:

        def empty() -> None:
            run(_EMPTY)
            if next(times) % _VACUUM_EVERY == 0:  # or tests would read the rows of all before them
                run("VACUUM")
                run(_EMPTY)

        yield url, empty


@contextmanager
def fresh_database(server: EmbeddedPostgres, template: str) -> Iterator[str]:
    """Lend a copy of a template database; open connections do not keep it from being dropped."""
    name = f"test_{next(_numbers)}"
    # FILE_COPY: without fsync 10 ms instead of 25 ms, measured on two cores.
    _administer(server, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
    try:
        yield server.url_of(name)
    finally:
        _administer(server, f"DROP DATABASE {name} WITH (FORCE)")


def _administer(server: EmbeddedPostgres, statement: str) -> None:
    with _connected(server, server.url_of("postgres")) as run:
        run(statement)


@contextmanager
def _connected(server: EmbeddedPostgres, url: str) -> Iterator[Callable[[str], object]]:
    from urllib.parse import urlsplit

    import pg8000.native

    parts = urlsplit(url)
    connection = pg8000.native.Connection(
        "skillroute",
        host="127.0.0.1",
        port=server.port,
        password=parts.password,
        database=parts.path.lstrip("/"),
        ssl_context=False,  # else 26 ms to read the certificates, for each connection
    )
    try:
        yield connection.run
    finally:
        connection.close()
