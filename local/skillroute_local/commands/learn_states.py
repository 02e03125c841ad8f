"""`skillroute learn status`, `show` and `use`: what was learned, and which state of it searches go by."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from skillroute_local.commands.learn_answers import live_in_words, moment, page_of, plain
from skillroute_local.commands.learn_run import show_comparison
from skillroute_local.commands.list_ import rows_of_pages
from skillroute_local.commands.output import counted, note, print_line
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.commands.tables import Column, show_table
from skillroute_local.errors import Misused

_RECEIPTS = {"on": "kept", "without-texts": "kept without texts", "off": "not kept"}
_OFF, _AUTOMATIC = "none", "auto"
_ID = re.compile(r"0*[1-9][0-9]{0,17}")


def status(url: Url = None, token: Token = None, sign_region: SignRegion = None, as_json: AsJson = False) -> None:
    """Show what is kept of use, which state is live, and the earlier ones. It needs scope skills."""
    with client_for(url, token, sign_region) as client:
        found = plain(client.on("learning", lambda use: use.status()))
    if as_json:
        print_json(found)
    else:
        _show_status(found)


def show(
    state: Annotated[int | None, typer.Argument(help="The state; default: the one that is live.", min=1)] = None,
    limit: Annotated[int, typer.Option(help="How many requests at most.", min=1)] = 50,
    all_: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Show what a state has learned, tool by tool, and what it changed. It needs scope skills."""
    with client_for(url, token, sign_region) as client:
        found = plain(client.on("learning", lambda use: use.status()))
        if state is None and found["live"] is None:
            raise Misused("no state is live: name one of `skillroute learn status`")
        state_id = found["live"]["id"] if state is None else state
        rows, total = rows_of_pages(
            lambda limit, offset: page_of(client, "requests_of", state_id, limit=limit, offset=offset),
            None if all_ else limit,
        )
    head = next((each for each in found["states"] if each["id"] == state_id), None)
    if as_json:
        print_json({"state": head, "requests": rows})
        return
    if head is not None:
        print_line(_in_words(head))
        if head["compared_with_none"] is not None:
            print_line("compared with nothing learned:")
            show_comparison(head["compared_with_none"])
        print_line("")
    show_table(
        [*map(Column, ("tool", "searches", "callers", "share")), Column("words", sentences=True)], map(_cells, rows)
    )
    if len(rows) < total:
        note(f"{len(rows)} of {total}; --all shows the others too")


def use(
    state: Annotated[str, typer.Argument(metavar="STATE|none|auto", help="The state to go by, none, or the best.")],
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Make a state live, also an earlier one; with none searches go by nothing that was learned.

    So it stays, until auto lets states that are measured to be better go live by themselves again.

    It needs scope skills; for the global catalogue, of callers without an organisation, scope admin.
    """
    if state not in (_OFF, _AUTOMATIC) and not _ID.fullmatch(state):
        raise Misused(f"STATE is the number of a state, {_OFF} or {_AUTOMATIC}: `skillroute learn status` lists them")
    with client_for(url, token, sign_region) as client:
        if state == _AUTOMATIC:
            found = plain(client.on("learning", lambda use: use.go_on()))
        else:
            state_id = None if state == _OFF else int(state)
            found = plain(client.on("learning", lambda use: use.switch(state_id)))
    if as_json:
        print_json(found)
    else:
        print_line(f"{live_in_words(found['live'])}; searches go by it within 15 seconds")


def _in_words(state: dict[str, Any]) -> str:
    if state["is_live"]:
        return live_in_words(state)
    learned = f"{counted(state['requests'], 'request')} of {counted(state['tools'], 'tool')}"
    return f"state {state['id']} of {moment(state['made_at'])} is not live: {learned}"


def _show_status(found: dict[str, Any]) -> None:
    use_, days = found["use"], counted(found["receipts_days"], "day")
    kept = _RECEIPTS.get(found["receipts"], found["receipts"])
    print_line(f"receipts are {kept}{'' if found['receipts'] == 'off' else f' for {days}'}")
    searches, callers = counted(use_["searches"], "search", "searches"), counted(use_["callers"], "caller")
    print_line(f"there are {searches} of {callers}, {counted(use_['outcomes'], 'outcome')}")
    print_line(live_in_words(found["live"]))
    if not found["is_automatic"]:
        print_line("this was chosen by hand, and stays so: `skillroute learn use auto` lets it go on by itself")
    if not found["states"]:
        return
    print_line("")
    names = ("state", "made", "live", "requests", "tools", "outcomes", "nDCG@5")
    show_table([*map(Column, names), Column("why, or why not", sentences=True)], map(_state_cells, found["states"]))


def _state_cells(state: dict[str, Any]) -> list[str]:
    compared = state["compared_with_none"]
    change = "-" if compared is None else f"{compared['differences']['ndcg@5']['mean']:+.3f}"
    return [
        str(state["id"]),
        moment(state["made_at"]),
        "yes" if state["is_live"] else "",
        *(str(state[name]) for name in ("requests", "tools", "outcomes")),
        change,
        state["reason"] or "",
    ]


def _cells(row: dict[str, Any]) -> list[str]:
    tool = f"{row['server']}/{row['name']}" if row["server"] else row["name"]
    share = f"{row['share']:.2f}"
    return [tool, str(row["searches"]), str(row["callers"]), share, " ".join(row["words"])]
