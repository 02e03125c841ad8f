"""`skillroute log`: who searched, called and changed what, as it was and as it comes."""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer

from skillroute_local.commands.output import note, print_line
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.commands.tables import Column, show_table
from skillroute_local.errors import Misused

if TYPE_CHECKING:
    from skillroute_local.client import Client

_EVERY_S = 1.0
_LATE = timedelta(seconds=5)
"""How late an event may come: searches are written a second or two after they were answered."""

_MOST = 500
_SPAN = re.compile(r"(\d{1,6})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_COLUMNS = (*map(Column, ("time", "kind", "outcome", "actor", "what", "on", "ms")), Column("code"))
_WIDTHS = (19, 7, 7, 16, 40, 20, 8)

_sleep = time.sleep

Kind = Literal["search", "call", "refusal", "change"]
Outcome = Literal["ok", "refused", "failed"]


def log(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")] = False,
    kind: Annotated[Kind | None, typer.Option(help="Only events of a kind.")] = None,
    outcome: Annotated[Outcome | None, typer.Option(help="Only those that ended so.")] = None,
    actor: Annotated[str | None, typer.Option(metavar="NAME", help="Only those of a caller, by its `sub`.")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="SPAN", help="Only those of the last time: 90s, 15m, 1h, 7d; or from a time.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many at most, the latest.", min=1, max=_MOST)] = 50,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """List events of the trace: searches, calls, refusals and changes of your organisation, the latest last.

    With --json an array, with --follow one JSON object a line. It needs scope admin.
    """
    where = {"kind": kind, "outcome": outcome, "actor": actor, "since": _since(since, datetime.now(UTC))}
    asked = {name: value for name, value in where.items() if value is not None}
    with client_for(url, token, sign_region) as client:
        latest = client.trace(**asked, limit=limit)[::-1]
        if not follow:
            _show_all(latest, as_json=as_json)
            return
        try:
            _show_each(latest, as_json=as_json)
            for events in following(client, asked, latest):
                _show_each(events, as_json=as_json)
        except KeyboardInterrupt:
            return


def following(client: Client, asked: dict[str, Any], seen: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield what comes after events that were seen, each event once, again and again until it is interrupted."""
    last = max((_at(event) for event in seen), default=datetime.now(UTC))
    known = deque((event["id"] for event in seen), maxlen=20 * _MOST)
    while True:
        place = f"{(last - _LATE).isoformat()},{UUID(int=0)}"
        while True:
            page = client.trace(**asked, after=place, limit=_MOST)
            new = [event for event in page if event["id"] not in known]
            known.extend(event["id"] for event in new)
            yield new
            if page:
                last = max(last, _at(page[-1]))
                place = f"{page[-1]['at']},{page[-1]['id']}"
            if len(page) < _MOST:
                break
        _sleep(_EVERY_S)


def _since(text: str | None, now: datetime) -> str | None:
    """Return the moment that an option means. Raises `Misused`."""
    if text is None:
        return None
    span = _SPAN.fullmatch(text)
    if span is not None:
        return (now - timedelta(seconds=int(span[1]) * _SECONDS[span[2]])).isoformat()
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Misused(
            f"--since {text}: give a span such as 90s, 15m, 1h or 7d, or a time such as 2026-01-31T12:00Z"
        ) from None
    return (at if at.tzinfo is not None else at.astimezone()).isoformat()


def _show_all(events: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json(list(events))
    elif events:
        show_table(_COLUMNS, map(_cells, events))
    else:
        note("no event of the trace is of that kind; SKILLROUTE_TRACE says which are kept")


def _show_each(events: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    for event in events:
        if as_json:
            typer.echo(json.dumps(event, ensure_ascii=False))
        else:
            *cells, code = _cells(event)
            line = "  ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True))
            print_line(f"{line}  {code}".rstrip())


def _cells(event: dict[str, Any]) -> tuple[str, ...]:
    targets = ", ".join(f"{kind} {id_}" for kind, id_ in event["targets"].items())
    who = event["actor"] or event["agent"] or "-"
    at = _at(event).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return (at, event["kind"], event["outcome"], who, event["what"], targets or "-", f"{event['took_ms']:.1f}",
            event["code"] or "-")  # fmt: skip


def _at(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["at"])
