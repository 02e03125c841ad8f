"""`skillroute learn`: learning from use, what use shows of searches, and what is kept of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from skillroute_local.commands import completion
from skillroute_local.commands.kinds import find, kind_of
from skillroute_local.commands.learn_answers import page_of, plain
from skillroute_local.commands.learn_run import DryRun, Organisation, run
from skillroute_local.commands.learn_states import show, status, use
from skillroute_local.commands.list_ import rows_of_pages
from skillroute_local.commands.output import counted, note, print_line
from skillroute_local.commands.several import require_agreement, require_answer
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.commands.tables import Column, show_table
from skillroute_local.documents import open_new, require_new
from skillroute_local.errors import Misused

if TYPE_CHECKING:
    from skillroute_local.client import Client

_PAGE = 500
_UNSERVED_COLUMNS = (
    *map(Column, ("searches", "callers")),
    Column("request", sentences=True),
    Column("nearest tools", sentences=True),
)

app = typer.Typer(
    help="Learn from use, and look at it: what was learned, what people miss, what is kept of whom.\n\n"
    "Each organisation sees its own use alone. Without a command it learns now, as `run` does.",
)
app.command()(run)
app.command()(status)
app.command()(show)
app.command()(use)

Days = Annotated[int, typer.Option(help="Only of so many days.", min=1, max=400)]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="The file to write, which must be new; default: stdout.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file of --output.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.callback(invoke_without_command=True)
def learn(context: typer.Context, dry_run: DryRun = False, org: Organisation = None, as_json: AsJson = False) -> None:
    """Learn now where no command is given."""
    if context.invoked_subcommand is None:
        run(dry_run=dry_run, org=org, as_json=as_json)
    elif dry_run or org is not None or as_json:
        raise Misused(f"options of `learn` go behind its command: `skillroute learn {context.invoked_subcommand} ...`")


@app.command()
def unserved(
    days: Days = 30,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1)] = 20,
    all_: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """List the requests that found nothing, or nothing that fits: the tools that people miss.

    Requests of one meaning are one line, the most frequent first, with the tools that were nearest. It needs scope
    skills.
    """
    with client_for(url, token, sign_region) as client:
        rows, total = rows_of_pages(
            lambda limit, offset: page_of(client, "unserved", days=days, limit=limit, offset=offset),
            None if all_ else limit,
        )
    if as_json:
        print_json(rows)
    elif rows:
        show_table(_UNSERVED_COLUMNS, map(_unserved_cells, rows))
    else:
        print_line(f"no request of the last {counted(days, 'day')} went without a tool")
    if len(rows) < total:
        note(f"{len(rows)} of {total}; --all shows the others too")


@app.command()
def judged(
    days: Days = 30,
    output: Output = None,
    force: Force = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Write requests with the tools that were called for them, for `skillroute eval --queries`.

    JSON Lines; with --json an array. Look them over before they judge anything: a tool that was called is not the only
    one that would have done. It needs scope skills.
    """
    if output is not None:
        require_new(output, force=force)
    with client_for(url, token, sign_region) as client:
        rows, _ = rows_of_pages(
            lambda limit, offset: page_of(client, "judged", days=days, limit=limit, offset=offset), None
        )
    if not rows:
        note(f"no request of the last {counted(days, 'day')} has outcomes that judge it")
    _write(rows, output, force=force, as_json=as_json)


@app.command()
def receipts(
    caller: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only those of a caller, by the `sub` of their token.")
    ] = None,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete the caller's receipts and outcomes; nothing is written.")
    ] = False,
    output: Output = None,
    force: Force = False,
    yes: Yes = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Export what is kept of searches with what became of them, or delete what is kept of a caller.

    JSON Lines, the oldest first; with --json an array. It needs scope admin.
    """
    if delete:
        _delete(caller, output, yes=yes, as_json=as_json, at=(url, token, sign_region))
        return
    if output is not None:
        require_new(output, force=force)
    with client_for(url, token, sign_region, patient=True) as client:
        _write(_receipts(client, caller), output, force=force, as_json=as_json)


@app.command()
def forget(
    tool: Annotated[
        str, typer.Argument(metavar="TOOL", help="Its id, or SERVER/NAME.", autocompletion=completion.tools)
    ],
    yes: Yes = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Forget what your organisation learned of a tool, and what its calls came to. It needs scope skills."""
    require_answer(yes=yes, as_json=as_json)
    with client_for(url, token, sign_region) as client:
        found = find(client, kind_of("tool"), tool)
        require_agreement(f"forget all that was learned of {found.name}?", yes=yes, as_json=as_json)
        done = plain(client.on("learning", lambda use: use.forget(int(found.id))))
    if as_json:
        print_json({"id": int(found.id)} | done)
        return
    learned = counted(done["requests"], "learned request")
    print_line(f"{found.name}: {learned} and {counted(done['outcomes'], 'outcome')} forgotten")


def _delete(
    caller: str | None,
    output: Path | None,
    *,
    yes: bool,
    as_json: bool,
    at: tuple[str | None, str | None, str | None],
) -> None:
    if not caller:
        raise Misused("--delete needs --caller NAME: whose receipts are to go")
    if output is not None:
        raise Misused("--delete writes nothing: export with --output first, then delete")
    asked = f"delete all receipts and outcomes of {caller}, and all that was learned of one caller alone?"
    require_agreement(asked, yes=yes, as_json=as_json)
    with client_for(*at, patient=True) as client:
        done = plain(client.on("learning", lambda use: use.delete_receipts(caller)))
    if as_json:
        print_json(done)
        return
    receipts = counted(done["receipts"], "receipt")
    print_line(f"{receipts} and {counted(done['outcomes'], 'outcome')} of {caller} deleted")
    if done.get("requests"):  # older deployments leave it out
        print_line(f"{counted(done['requests'], 'learned request')} of one caller alone deleted")


def _receipts(client: Client, caller: str | None) -> Iterator[dict[str, Any]]:
    """Yield receipts page by page: together they may be more than fits into memory."""
    pages = client.on("learning", lambda use: use.receipts(caller=caller, limit=_PAGE).pages())
    while (page := client.on("learning", lambda _: next(pages, None))) is not None:
        yield from map(plain, page.items)


def _write(rows: Iterable[dict[str, Any]], output: Path | None, *, force: bool, as_json: bool) -> None:
    """Write rows as they come, one a line; as an array for programs."""
    if as_json and output is None:
        print_json(list(rows))
        return
    number = 0
    with _opened(output, force=force) as to:
        for row in rows:
            to.write(json.dumps(row, ensure_ascii=False) + "\n")
            number += 1
    if output is not None:
        if as_json:
            print_json({"written": number})
        else:
            note(f"{counted(number, 'line')} written to {output}")


@contextmanager
def _opened(output: Path | None, *, force: bool) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    with open_new(output, force=force) as to:
        yield to


def _unserved_cells(row: dict[str, Any]) -> list[str]:
    near = [f"{tool['server']}/{tool['name']}" if tool["server"] else tool["name"] for tool in row["tools"]]
    request = "(texts are not kept)" if row["query"] is None else "; ".join([row["query"], *row["wordings"]])
    return [str(row["searches"]), str(row["callers"]), request, ", ".join(near)]
