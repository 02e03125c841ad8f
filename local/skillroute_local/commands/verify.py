"""`skillroute verify`: recompute everything from the tables and compare it with what is stored and searched."""

from __future__ import annotations

import typer
from rich.markup import escape
from rich.table import Table

from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, err, out, print_json


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
        checked = f"{report['tools']} items and {report['skills']} skills"
        if "entities" in report:  # a deployment of an older version checks none
            checked = f"{report['tools']} items, {report['skills']} skills, and {report['entities']} servers and agents"
        out.print(f"{checked} checked: {verdict}", highlight=False)
    if not report["ok"]:
        raise typer.Exit(1)
