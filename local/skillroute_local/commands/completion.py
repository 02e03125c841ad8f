"""Completion of ids and names in the shell: `skillroute --install-completion` switches it on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from skillroute_local.commands.kinds import KINDS, Kind, kind_of

if TYPE_CHECKING:
    from skillroute_local.client import Resource

_WITHIN_S = 1.0
_MAX_COMPLETIONS = 100


def kinds(incomplete: str) -> list[str]:
    """Complete a kind of things."""
    return [kind.name for kind in KINDS if kind.name.startswith(incomplete)]


def kinds_of_lists(incomplete: str) -> list[str]:
    """Complete the plural of a kind."""
    return [kind.plural for kind in KINDS if kind.plural.startswith(incomplete)]


def ids(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Complete the ids of the kind that the command line names, or their names once some of one is there."""
    try:
        kind = kind_of(ctx.params["kind"])
    except (KeyError, typer.BadParameter):
        return []
    return _found(ctx, kind, incomplete)


def skill_ids(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Complete the ids of skills."""
    return _found(ctx, kind_of("skill"), incomplete)


def tools(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Complete a tool by its name."""
    return _found(ctx, kind_of("tool"), incomplete)


def server_names(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Complete the names of servers as tools have them."""
    rows = _rows(ctx, "servers")
    named = [(str(row.get("tools_server") or row["path"].strip("/")), row["name"]) for row in rows]
    return [(name, shown) for name, shown in named if name.startswith(incomplete)]


def suggestion_ids(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Complete the ids of suggestions that wait for a decision."""
    rows = _rows(ctx, "suggestions")
    return [(str(row["id"]), str(row["suggested_name"])) for row in rows if str(row["id"]).startswith(incomplete)]


def _found(ctx: typer.Context, kind: Kind, incomplete: str) -> list[tuple[str, str]]:
    # There may be more tools than are asked for: those of the server that is written already.
    server, slash, _ = incomplete.partition("/")
    where = {"server": server} if kind.name == "tool" and slash else {}
    found = [
        (name, str(row.get("name") or row.get("subject") or ""))
        for row in _rows(ctx, kind.resource, where)
        if (name := kind.name_of(row)).startswith(incomplete)
    ]
    if found or kind.name != "tool" or slash:
        return found
    return [(f"{name}/", shown) for name, shown in server_names(ctx, incomplete)]


def _rows(ctx: typer.Context, resource: Resource, where: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """Return the first rows of a list. On any failure there is nothing to complete: a shell shows no errors."""
    from skillroute_local.commands.shared import client_for  # noqa: PLC0415 (half of the start of a command)

    asked = ctx.params
    try:
        with client_for(asked.get("url"), asked.get("token"), asked.get("sign_region"), within_s=_WITHIN_S) as client:
            return client.page(resource, limit=_MAX_COMPLETIONS, offset=0, where=where or {})[0]
    except Exception:  # noqa: BLE001
        return []
