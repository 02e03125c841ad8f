"""`skillroute up`: everything on this machine, from nothing: PostgreSQL, the queues, the web server and the pump."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from fastapi import FastAPI
from pydantic import SecretStr
from rich.console import Console
from rich.markup import escape
from skillroute.core.errors.model import SkillrouteError
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts

from skillroute_local.browsers import Hosts
from skillroute_local.console.mounted import PATH as CONSOLE
from skillroute_local.console.mounted import add_console
from skillroute_local.examples import EXAMPLES, load_examples
from skillroute_local.history.recorder import EachMinute, Recorder, waiting_in
from skillroute_local.history.ring import HistoryFile
from skillroute_local.history.source import FileHistory
from skillroute_local.home import Home, Run
from skillroute_local.home_database import migrated_postgres
from skillroute_local.logs import logs_of_server
from skillroute_local.loopback import HOST, is_loopback, listen
from skillroute_local.queue_server import QueueServer, ensure_queues, queue_environment
from skillroute_local.server import local_app, serve
from skillroute_local.supervisor import PostgresKeeper, Pump

# From here on a graph pays: without one a search takes 1 ms more for every 10,000 items (docs/adr/0004).
_OPTIMISE_ABOVE = 5_000
_FIRST_SEARCH = "schedule a meeting with John tomorrow"
_COMMAND = shlex.quote(str(Path(sys.executable).with_name("skillroute")))

_NO_QUEUES = {"classify_queue_url": None, "aggregate_queue_url": None, "learn_queue_url": None}


@dataclass(frozen=True, slots=True)
class Doors:
    """Where the web server listens, and what else it may be called by those who ask it."""

    port: int
    host: str = HOST
    names: tuple[str, ...] = ()

    def url(self, port: int) -> str:
        """Return where this machine reaches it."""
        if self.host in {"0.0.0.0", "::"} or is_loopback(self.host):  # noqa: S104 (what was asked for)
            return f"http://localhost:{port}"
        return f"http://[{self.host}]:{port}" if ":" in self.host else f"http://{self.host}:{port}"


def up(home: Home, doors: Doors, *, examples: bool, pump: bool, console: Console, verbose: bool = False) -> None:
    """Start PostgreSQL, the queues, the web server and the event pump, and serve until Ctrl-C or SIGTERM.

    A terminal that is closed ends it too. Whatever was started is stopped then. Without the pump no queue is used:
    skills are aggregated at once, and tools wait to be classified. In a terminal the logs go to a file, unless
    `verbose`.

    Raises
    ------
    LocalError
        The port or the directory is in use, or a part did not start; the message says what to do.
    """
    started = time.monotonic()
    with ExitStack() as running:
        running.enter_context(_ending_on_signals())
        running.enter_context(home.locked())
        log = running.enter_context(logs_of_server(home.log_file, verbose=verbose))
        # Listening comes first: a port in use is reported at once, and early requests wait instead of failing.
        sock = running.enter_context(listen(doors.port, doors.host))
        port = sock.getsockname()[1]
        queues = running.enter_context(QueueServer())
        postgres = running.enter_context(migrated_postgres(home, console))
        running.enter_context(
            PostgresKeeper(postgres, partial(console.print, style="yellow", markup=False, soft_wrap=True))
        )
        urls = ensure_queues(queues.url)
        if pump:
            os.environ.update(queue_environment(queues.url, urls))
        settings = local_settings(postgres.url, home)
        parts = Parts(settings)
        running.callback(parts.close)
        if examples:
            _load_examples_once(parts, home, console)
        if pump:
            _publish_again(parts)
        _build_index(parts, console)
        recorder = Recorder(HistoryFile(home.history_file), partial(waiting_in, parts))
        running.enter_context(EachMinute(recorder))

        def announce() -> None:
            url = doors.url(port)
            home.announce(
                Run(
                    pid=os.getpid(),
                    url=url,
                    database_url=postgres.url,
                    sqs_url=queues.url,
                    started_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
                    tokens=_own_tokens(home, settings),
                )
            )
            _greet(console, url, time.monotonic() - started, with_token=settings.auth == "jwt")
            if is_loopback(doors.host):
                console.print(f"The console: {url}{CONSOLE}/", soft_wrap=True)
            if log is not None:
                console.print(f"Warnings and errors go to {escape(log.name)}.", soft_wrap=True, highlight=False)
            _warn(console, doors, settings)
            if pump:  # last, so that loading it does not keep the first search waiting
                running.enter_context(Pump(os.environ, *_pump_arguments(), output=log))

        try:
            serve(_app(parts, doors, doors.url(port), home, settings), sock, on_ready=announce)
        finally:  # uvicorn raises the signal once more that it has ended on
            console.print("stopping")


@contextmanager
def _ending_on_signals() -> Iterator[None]:
    """Make SIGTERM and SIGHUP end the block as Ctrl-C does; left alone they would end Python and leave PostgreSQL."""

    def end(number: int, _: object) -> None:
        sys.exit(128 + number)

    def end_as_well(_: int, __: object) -> None:
        signal.raise_signal(signal.SIGTERM)  # the one that uvicorn knows

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    signal.signal(signal.SIGTERM, end)
    if before[signal.SIGHUP] is not signal.SIG_IGN:  # as under nohup
        signal.signal(signal.SIGHUP, end_as_well)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def local_settings(database_url: str | None, home: Home | None = None) -> LocalSettings:
    """Return settings for this machine: the environment's, over defaults that suit a laptop.

    Parameters
    ----------
    database_url : str or None
        None leaves it to the environment to name the database, by a URL or a secret.
    home : Home or None
        Where the index and the key of tokens are kept.
    """
    os.environ.setdefault("SKILLROUTE_INDEX_OPTIMIZE_ABOVE", str(_OPTIMISE_ABOVE))
    if home is not None:
        os.environ.setdefault("SKILLROUTE_INDEX_DIR", str(home.index_dir))
        os.environ.setdefault("SKILLROUTE_TOKENS_KEY_FILE", str(home.path / "tokens.key"))
    if database_url is not None:
        os.environ["SKILLROUTE_DATABASE_URL"] = SecretStr(database_url).get_secret_value()
        for name in ("SECRET_ARN", "USER"):  # of a deployment that another command was about
            os.environ.pop(f"SKILLROUTE_DATABASE_{name}", None)
    if os.environ.get("SKILLROUTE_AUTH") == "jwt":
        from skillroute_local.tokens import default_to_local_tokens  # noqa: PLC0415 (cryptography: 60 ms)

        default_to_local_tokens(home)
    return LocalSettings.load()


def _app(parts: Parts, doors: Doors, url: str, home: Home, settings: LocalSettings) -> FastAPI:
    """Return the app of all routes, with the console where nobody but this machine reaches it."""
    hosts = Hosts(doors.names)
    app = local_app(parts, hosts=hosts)
    if is_loopback(doors.host):
        # With tokens somebody may belong to an organisation, and the parts show what all of them have.
        is_open = settings.auth == "none"
        lend = (lambda: nullcontext(parts)) if is_open else None
        history = FileHistory(HistoryFile(home.history_file)) if is_open else None
        add_console(
            app,
            url=url,
            requests=home.path / "requests.jsonl",
            hosts=hosts,
            lend=lend,
            history=history,
            home=home.path if is_open else None,
            reaches=is_open,  # the machine's networks are not for all who have a token
        )
    return app


def _own_tokens(home: Home, settings: LocalSettings) -> dict[str, str] | None:
    if settings.auth != "jwt":
        return None
    from skillroute_local.tokens import own_tokens  # noqa: PLC0415 (cryptography: 60 ms)

    return own_tokens(home, settings)


def _load_examples_once(parts: Parts, home: Home, console: Console) -> None:
    marker = home.path / "examples-loaded"
    if marker.exists() or not EXAMPLES.exists():
        return
    # Without queues, so that the skills are aggregated at once: the first search finds them.
    loader = Parts(parts.settings.model_copy(update=_NO_QUEUES), embedder=parts.embedder)
    try:
        with console.status("loading the examples"):
            loaded = load_examples(loader)
    finally:
        loader.close()
    marker.touch()
    console.print(
        f"loaded the examples: {loaded.items} items, {loaded.skills} skills, {loaded.servers} servers, "
        f"{loaded.agents} agents, {loaded.messages} messages"
    )


def _publish_again(parts: Parts) -> None:
    """Let everything that waits get a message: those that it had are gone with the last queue server."""
    # Published by the pump's first relay, which is not waited for.
    parts.database.transact(lambda session: OutboxRepository(session).publish_all_again())


def _pump_arguments() -> list[str]:
    every_s = os.environ.get("SKILLROUTE_RELAY_EVERY_S")
    return ["--relay-every-s", every_s] if every_s else []


def _build_index(parts: Parts, console: Console) -> None:
    from skillroute.wiring.filling import fill  # noqa: PLC0415 (most starts fill nothing)

    try:
        with console.status("building the index"):
            fill(parts)
            with parts.replica.current():
                return
    except SkillrouteError as error:
        console.print(f"[yellow]searches are not answered for now:[/] {escape(str(error))}")


def _warn(console: Console, doors: Doors, settings: LocalSettings) -> None:
    if not is_loopback(doors.host) and settings.auth == "none":
        console.print(
            f"[yellow]Anyone who reaches {escape(doors.host)} may read and change everything:[/] "
            "set SKILLROUTE_AUTH=jwt to ask for tokens.",
            soft_wrap=True,
        )


def _greet(console: Console, url: str, seconds: float, *, with_token: bool) -> None:
    token = f'-H "authorization: Bearer $({_COMMAND} token)" ' if with_token else ""
    body = shlex.quote(json.dumps({"query": _FIRST_SEARCH}))
    console.print(
        f"\n[bold green]Skillroute is ready[/] after {seconds:.1f} s: {url}  (interactive docs: {url}/docs)",
        soft_wrap=True,
    )
    console.print("A first search to copy:\n")
    console.print(
        f"  curl -s {url}/api/v1/search {token}-H 'content-type: application/json' -d {body}\n",
        soft_wrap=True,
        highlight=False,
        markup=False,
    )
    console.print("Ctrl-C stops it.")
