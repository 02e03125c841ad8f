"""Counts of definitions and servers that wait for a keeper, for `skillroute status`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from skillroute_local.commands.output import counted
from skillroute_local.errors import LocalError

if TYPE_CHECKING:
    from skillroute_local.client import Client


def trust_of(client: Client) -> dict[str, int] | None:
    """Return the counts, each by a page of one row. None: the caller may not know, or they cannot be asked."""
    try:
        changed = client.on("trust", lambda trust: trust.changed(limit=1).first().total)
        quarantined = client.on("trust", lambda trust: trust.changed(limit=1, is_quarantined=True).first().total)
        failed, doubted = (
            client.page("servers", limit=1, offset=0, where={"seen_outcome": outcome})[1]
            for outcome in ("failed", "doubted")
        )
    except LocalError:
        return None
    return {"changed": changed, "quarantined": quarantined, "servers_failed": failed, "servers_doubted": doubted}


def trust_in_words(trust: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the rows of what there is; none where nothing waits."""
    if changed := trust.get("changed"):
        waits = f"{counted(changed, 'item')} not as approved, {trust['quarantined']} quarantined"
        yield "definitions", f"{waits}: `skillroute trust list`"
    failed, doubted = trust.get("servers_failed", 0), trust.get("servers_doubted", 0)
    if failed or doubted:
        words = f"{counted(failed, 'server')} failed to list tools, {doubted} doubted"
        yield "server lists", f"{words}: `skillroute list servers`"
