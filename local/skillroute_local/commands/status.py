"""`skillroute status`: how the parts stand, and what waits in the queues."""

from __future__ import annotations

from typing import Any

import typer
from rich.markup import escape
from rich.table import Table
from skillroute.errors import SkillrouteError

from skillroute_local.commands.shared import AsJson, Token, Url, err, out, parts_here, print_json, url_of
from skillroute_local.home import Home

_HEALTH_ROWS = ("status", "version", "search_mode", "index_items", "index_skills", "index_lag", "index_rebuilding")


def status(url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Show how the parts stand and what the queues hold. Exits with 1 when searches are not answered.

    The queues are shown of the Skillroute that runs here; of one elsewhere, what it says of itself.
    """
    from skillroute_local.client import Client  # noqa: PLC0415 (other commands need none of it)

    called = url_of(url)
    with Client(called, token) as client:
        health = client.health()
    queues = _queues() if _runs_here(called) else None
    if as_json:
        print_json(health if queues is None else health | {"queues": queues})
    else:
        _show_health(health)
        if queues:
            _show_queues(queues)
    if health["status"] == "unavailable":
        raise typer.Exit(1)


def _runs_here(url: str) -> bool:
    run = Home.from_environment().running()
    return run is not None and run.url == url.rstrip("/")


def _queues() -> list[dict[str, Any]] | None:
    """Return the figures of each queue: of its work in PostgreSQL, and of its messages."""
    try:
        with parts_here() as parts:
            messages = {each.queue: each for each in parts.queue.depths()} if parts.queue else {}
            work = parts.database.read(lambda session: session.outbox.depths())
    except SkillrouteError as error:
        err.print(f"the queues cannot be asked: {error}", markup=False, highlight=False)
        return None
    return [
        {
            "queue": each.queue.value,
            "waiting": each.waiting,
            "oldest_s": round(each.oldest_s, 1),
            "given_up": each.dead,
            "ready": found.ready if (found := messages.get(each.queue)) else None,
            "under_way": found.under_way if found else None,
            "delayed": found.delayed if found else None,
            "dead_letters": found.dead if found else None,
        }
        for each in work
    ]


def _show_health(health: dict[str, Any]) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    for name in _HEALTH_ROWS:
        table.add_row(name.replace("_", " "), str(health[name]))
    for name, part in health["dependencies"].items():
        table.add_row(name.replace("_", " "), "ok" if part["ok"] else f"[red]{escape(part['detail'])}[/]")
    out.print(table)


def _show_queues(queues: list[dict[str, Any]]) -> None:
    columns = ("waiting", "oldest_s", "given_up", "ready", "under_way", "delayed", "dead_letters")
    table = Table("queue", *(name.replace("_", " ") for name in columns), box=None, pad_edge=False)
    for each in queues:
        table.add_row(each["queue"], *("-" if each[name] is None else str(each[name]) for name in columns))
    out.print(table)
