"""`skillroute verify`: recompute everything from the tables and compare it with what is stored and searched."""

from __future__ import annotations

from typing import Any

import typer
from rich.markup import escape
from rich.table import Table
from skillroute.core.documents.model import COUNTED_AS

from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, err, listed, out, print_json


def verify(url: Url = None, token: Token = None, sign_region: SignRegion = None, as_json: AsJson = False) -> None:
    """Check that assignments, embeddings, counts and the index agree. Exits with 1 when something does not."""
    with client_for(url, token, sign_region) as client, err.status("checking"):
        report = client.verify()
    if as_json:
        print_json(report)
    else:
        table = Table("rule", "id", "what is wrong", box=None, pad_edge=False)
        for finding in report["findings"]:
            table.add_row(*map(escape, (finding["rule"], finding["subject"], finding["detail"])))
        if report["findings"]:
            out.print(table)
        verdict = "all as it should be" if report["ok"] else f"{len(report['findings'])} findings"
        out.print(f"{_checked(report)} checked: {verdict}", highlight=False, soft_wrap=True)
    if not report["ok"]:
        raise typer.Exit(1)


def _checked(report: dict[str, Any]) -> str:
    named = {counted.verified_field or counted.field: counted.words for counted in COUNTED_AS.values()}
    # A deployment of an older version checks fewer.
    return listed([f"{report[field]} {words}" for field, words in named.items() if field in report])
