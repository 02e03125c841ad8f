"""`skillroute dlq`: work that was given up, and texts that the embedding model refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from skillroute.core.documents.collection import Collection, collections
from skillroute.core.queue.work import WorkQueue, queues

from skillroute_local.commands.exit_codes import end
from skillroute_local.commands.output import note, print_line
from skillroute_local.commands.shared import DATABASE, QUEUES, AsJson, parts_here, print_json
from skillroute_local.commands.tables import Column, show_table

if TYPE_CHECKING:
    from skillroute.core.documents.refused import RefusedText, RefusedTexts
    from skillroute.core.queue.dead_letters import DeadLetters, GivenUp

app = typer.Typer(
    help="Work that was given up: tools that could not be classified, skills that could not be aggregated, and "
    "organisations that could not learn from their use.\n\n"
    "A message that fails five times goes to the dead-letter queue. `list` says why, `redrive` tries again once the "
    "cause is gone, `drop` deletes messages that lead nowhere.\n\n"
    "Texts that the embedding model does not take are given up at once, and found by their words only. `refused` says "
    "which and why, `retry` has the model asked once more.",
    no_args_is_help=True,
    epilog=QUEUES,
)

_GIVEN_UP = (*map(Column, ("queue", "id", "tool", "attempts", "since")), Column("reason", sentences=True))
_REFUSED = (
    *map(Column, ("collection", "key", "organisation", "name", "model")),
    Column("reason", sentences=True),
)

_QUEUES = {queue.value: queue for queue in queues()}
_COLLECTIONS = {collection.short: collection for collection in collections()}
Named = TypeVar("Named", WorkQueue, Collection)


def _one_of(known: Mapping[str, Named]) -> Callable[[str | Named], Named]:
    """Return a parser of names. What it has parsed it takes again, as typer has it parse a default."""

    def name(value: str | Named) -> Named:
        if value not in known:
            raise typer.BadParameter(f"{value!r} is none of {', '.join(known)}.")
        return known[value]

    return name


Queue = Annotated[
    WorkQueue | None,
    typer.Argument(
        parser=_one_of(_QUEUES),
        metavar="[queue]",
        help=f"{' or '.join(f'{queue} ({queue.holds})' for queue in queues())}; default: all.",
        show_default=False,
    ),
]


Of = Annotated[
    Collection | None,
    typer.Argument(
        parser=_one_of(_COLLECTIONS),
        metavar="[collection]",
        help=f"{', '.join(_COLLECTIONS)}; registry are servers and agents. Default: all.",
        show_default=False,
    ),
]


@app.command("list", epilog=QUEUES)
def list_(
    queue: Queue = None,
    limit: Annotated[int, typer.Option(help="How many of each queue at most.", min=1, max=10_000)] = 100,
    as_json: AsJson = False,
) -> None:
    """Show what was given up, and why."""
    with _dead_letters() as dead_letters:
        found = [work for name in _names(queue) for work in dead_letters.given_up(name, limit=limit)]
    if as_json:
        print_json([asdict(work) for work in found])
        return
    if not found:
        print_line("nothing was given up")
    else:
        _show(found)
        waiting = sum(work.is_waiting for work in found)
        hints = ["`skillroute dlq redrive` tries again"] if waiting else []
        hints += ["`skillroute dlq drop` deletes messages that lead nowhere"] if waiting < len(found) else []
        print_line("; ".join(hints))
    with _refused_texts() as texts:
        number = texts.count()
    if number:
        print_line(f"texts that the embedding model refused: {number}; `skillroute dlq refused` lists them")


@app.command(epilog=QUEUES)
def redrive(
    queue: Queue = None,
    keys: Annotated[
        list[str] | None,
        typer.Argument(help="Tools, skills or organisations, as `list` has them; default: all.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try given-up work again, once its cause is gone."""
    with _dead_letters() as dead_letters:
        done = {name: dead_letters.redrive(name, keys or None) for name in _names(queue)}
    unknown = sorted(set(keys or []) - {key for redriven in done.values() for key in redriven})
    if as_json:
        print_json({"redriven": {name.value: sorted(redriven) for name, redriven in done.items()}, "unknown": unknown})
        end(done=sum(map(len, done.values())), failed=len(unknown))
        return
    for name, redriven in done.items():
        print_line(f"{name}: {len(redriven)} tried again")
    if unknown:
        note(f"nothing was given up for {', '.join(unknown)}")
    end(done=sum(map(len, done.values())), failed=len(unknown))


@app.command(epilog=QUEUES)
def drop(queue: Queue = None, as_json: AsJson = False) -> None:
    """Delete dead letters that lead nowhere: those that cannot be read, and those whose work was done meanwhile."""
    with _dead_letters() as dead_letters:
        dropped = [work for name in _names(queue) for work in dead_letters.drop(name)]
    if as_json:
        print_json([asdict(work) for work in dropped])
        return
    _show(dropped)
    print_line(f"{len(dropped)} deleted")


@app.command(epilog=DATABASE)
def refused(
    collection: Of = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=10_000)] = 100,
    as_json: AsJson = False,
) -> None:
    """Show the texts that the embedding model refused for good, and why."""
    with _refused_texts() as texts:
        found = texts.listed(collection, limit=limit)
    if as_json:
        print_json([asdict(text) | {"collection": text.collection.short} for text in found])
    elif not found:
        print_line("no text was refused")
    else:
        _show_refused(found)
        print_line("their owners can change them; `skillroute dlq retry` has the model asked once more")


@app.command(epilog=DATABASE)
def retry(
    collection: Of = None,
    keys: Annotated[
        list[str] | None,
        typer.Argument(help="Keys of texts, as `refused` shows them; default: all.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Have the embedding model asked once more for texts that it refused: by the relay, within a minute."""
    with _refused_texts() as texts:
        retried = texts.retry(collection, keys or None)
    unknown = sorted(set(keys or []) - set(retried))
    if as_json:
        print_json({"retried": sorted(retried), "unknown": unknown})
    else:
        print_line(f"{len(retried)} wait for a vector again")
        if unknown:
            note(f"no text was refused of {', '.join(unknown)}")
    end(done=len(retried), failed=len(unknown))


@contextmanager
def _refused_texts() -> Iterator[RefusedTexts]:
    from skillroute.core.documents.refused import RefusedTexts  # noqa: PLC0415

    with parts_here() as parts:
        yield RefusedTexts(parts.database)


@contextmanager
def _dead_letters() -> Iterator[DeadLetters]:
    from skillroute.core.queue.dead_letters import DeadLetters  # noqa: PLC0415

    with parts_here() as parts:
        yield DeadLetters(parts.database, parts.queue, parts.dispatch)


def _names(queue: WorkQueue | None) -> Sequence[WorkQueue]:
    return [queue] if queue else queues()


def _show(found: Iterable[GivenUp]) -> None:
    show_table(
        _GIVEN_UP,
        [
            (
                work.queue,
                work.key or work.message_id or "",
                work.tool_name or "",
                "" if work.attempts is None else str(work.attempts),
                _local_time(work.since),
                work.reason,
            )
            for work in found
        ],
    )


def _show_refused(found: Iterable[RefusedText]) -> None:
    show_table(
        _REFUSED,
        [
            (text.collection.short, text.key, text.org_id or "", text.name or "", text.model, text.reason)
            for text in found
        ],
    )


def _local_time(at: datetime | None) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else ""
