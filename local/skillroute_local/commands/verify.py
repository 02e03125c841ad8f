"""`skillroute verify`: recompute everything from the tables and compare it with what is stored and searched."""

from __future__ import annotations

from typing import Any

import typer
from skillroute.core.documents.collection import counted_as

from skillroute_local.commands.exit_codes import ExitCode
from skillroute_local.commands.output import counted, print_line
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, err, listed, print_json
from skillroute_local.commands.tables import Column, show_table

_COLUMNS = (Column("rule"), Column("id"), Column("what is wrong", sentences=True))


def verify(url: Url = None, token: Token = None, sign_region: SignRegion = None, as_json: AsJson = False) -> None:
    """Check that assignments, embeddings, counts and the index agree. Exits with 1 when something does not."""
    with client_for(url, token, sign_region) as client, err.status("checking"):
        report = client.verify()
    if as_json:
        print_json(report)
    else:
        show_table(_COLUMNS, [(found["rule"], found["subject"], found["detail"]) for found in report["findings"]])
        verdict = "all as it should be" if report["ok"] else counted(len(report["findings"]), "finding")
        print_line(f"{_checked(report)} checked: {verdict}")
    if not report["ok"]:
        raise typer.Exit(ExitCode.REFUSED)


def _checked(report: dict[str, Any]) -> str:
    named = {each.verified_field or each.field: each.words for each in counted_as().values()}
    # A deployment of an older version checks fewer.
    return listed([f"{report[field]} {words}" for field, words in named.items() if field in report])
