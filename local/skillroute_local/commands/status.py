"""`skillroute status`: how the parts stand, and what waits in the queues."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from skillroute.core.documents.collection import counted_as
from skillroute.core.errors.model import SkillrouteError

from skillroute_local.commands.exit_codes import ExitCode
from skillroute_local.commands.learn_answers import live_in_words, plain
from skillroute_local.commands.output import note, print_line
from skillroute_local.commands.shared import (
    AsJson,
    SignRegion,
    Token,
    Url,
    client_for,
    names_a_database,
    parts_of,
    print_json,
    running_at,
    url_of,
    use_queues_of,
)
from skillroute_local.commands.tables import Column, show_table
from skillroute_local.commands.trust_counts import trust_in_words, trust_of
from skillroute_local.errors import LocalError
from skillroute_local.queue_counts import Messages, Work, counts_of, messages_in, work_in
from skillroute_local.standing import failed_state, index_in_words, queue_state

if TYPE_CHECKING:
    from skillroute_local.client import Client
    from skillroute_local.home import Run

T = TypeVar("T")

_HEALTH_ROWS = (
    "status",
    "version",
    "search_mode",
    *(f"index_{each.field}" for each in counted_as().values()),
)


def status(url: Url = None, token: Token = None, sign_region: SignRegion = None, as_json: AsJson = False) -> None:
    """Show how the parts stand and what the queues hold. Exits with 3 when searches are not answered.

    What the index holds, how far it is behind, and how many texts the embedding model refused is shown to callers with
    scope admin that belong to no organisation.

    "learned" is the state of what was learned from use that searches go by, for callers with scope skills. "trust" is
    how many definitions are not as they were approved, and how many servers could not be asked for their tools the last
    time or were not believed, for callers with scope catalog.

    The queues are those of the Skillroute that runs here. Those of one elsewhere are shown when
    SKILLROUTE_CLASSIFY_QUEUE_URL, SKILLROUTE_AGGREGATE_QUEUE_URL and SKILLROUTE_LEARN_QUEUE_URL name them, with their
    dead letters where the same with _DLQ_URL do. What waits and what was given up stands in the database: it is shown
    where SKILLROUTE_DATABASE_URL or SKILLROUTE_DATABASE_SECRET_ARN names that as well.
    """
    called = url_of(url)
    with client_for(url, token, sign_region) as client:
        health = client.health()
        learned = _learned(client)
        trust = None if health["status"] == "unavailable" else trust_of(client)
    queues = _queues(called)
    if as_json:
        parts = {"learned": learned, "trust": trust, "queues": queues}
        print_json(health | {name: part for name, part in parts.items() if part is not None})
    else:
        _show_health(health, learned, trust)
        if queues:
            _show_queues(queues)
    if health["status"] == "unavailable":
        raise typer.Exit(ExitCode.UNREACHABLE)


def _learned(client: Client) -> dict[str, Any] | None:
    """Return the state that searches go by. None: there is none, or the caller may not know."""
    try:
        found = plain(client.on("learning", lambda use: use.status()))
    except LocalError:
        return None
    live: dict[str, Any] | None = found["live"]
    return live


def _queues(called: str) -> list[dict[str, Any]] | None:
    """Return the counts of each queue: of its work in PostgreSQL, and of its messages. None: nothing is known."""
    run = running_at(called)
    messages = _unless_away("the queues", lambda: _messages(run))
    # A database alone is no sign of which Skillroute it belongs to; one that is named beside queues is that of theirs.
    asks_database = run is not None or (messages is not None and names_a_database())
    work = _unless_away("the database", lambda: _work(run)) if asks_database else None
    if messages is None and work is None:
        return None
    return counts_of(work, messages)


def _unless_away(what: str, ask: Callable[[], T]) -> T | None:
    try:
        return ask()
    except SkillrouteError as error:
        note(f"{what} cannot be asked: {error}")
        return None


def _messages(run: Run | None) -> Messages | None:
    """Return what the queues hold: those of `run`, else those that the environment names; None where it names none."""
    from skillroute.core.settings import QueueSettings  # noqa: PLC0415
    from skillroute.wiring import make_queue  # noqa: PLC0415

    if run is not None:
        use_queues_of(run)
    queue = make_queue(QueueSettings.load())
    if queue is None:
        return None
    with closing(queue):
        return messages_in(queue)


def _work(run: Run | None) -> Work:
    with parts_of(run) as parts:
        return work_in(parts.database)


def _show_health(health: dict[str, Any], learned: dict[str, Any] | None, trust: dict[str, int] | None) -> None:
    rows = [(name.replace("_", " "), str(health[name])) for name in _HEALTH_ROWS if health.get(name) is not None]
    rows += [(name, words) for name, words in index_in_words(health) if words]
    rows += [
        (name.replace("_", " "), "ok" if part["ok"] else part["detail"])
        for name, part in health["dependencies"].items()
    ]
    if learned is not None:
        rows.append(("learned", live_in_words(learned)))
    rows += trust_in_words(trust or {})
    longest = max(len(name) for name, _ in rows)
    for name, words in rows:
        print_line(f"{name:{longest}}  {words}")


def _show_queues(queues: list[dict[str, Any]]) -> None:
    print_line("")
    names = ("waiting", "oldest_s", "given_up", "ready", "under_way", "delayed", "dead_letters")
    columns = [Column("queue"), *(Column(queue["queue"]) for queue in queues)]
    show_table(
        columns,
        [
            (name.replace("_", " "), *("-" if queue[name] is None else str(queue[name]) for queue in queues))
            for name in names
        ],
    )
    for queue in queues:
        for state in (queue_state(queue), failed_state(queue)):
            if state.kind in {"no", "so"}:
                note(f"{queue['queue']}: {state.word}. {state.help}")
