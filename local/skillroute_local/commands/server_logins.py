"""`skillroute login`, `logins` and `logout` with `--config`: at servers of an mcp.json, which `connect` calls."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillroute_local.commands.learn_answers import moment
from skillroute_local.commands.output import note, print_line
from skillroute_local.commands.shared import print_json
from skillroute_local.commands.tables import Column, show_table
from skillroute_local.errors import LocalError, Misused

if TYPE_CHECKING:
    from skillroute_local.mcp_servers.model import HttpServer
    from skillroute_local.server_logins.login import BrowserLogin

Config = Annotated[
    Path | None,
    typer.Option(help="An mcp.json: log in at a server of it, for connect and import, and keep that on this machine."),
]
_COLUMNS = tuple(map(Column, ("server", "scopes", "logged in", "expires")))


def log_in(config: Path, name: str, scopes: Sequence[str], *, no_browser: bool, as_json: bool) -> None:
    """Log in at a server of a file."""

    def show(page: str) -> None:
        note(page) if as_json else print_line(page)
        is_open = not no_browser and webbrowser.open(page)
        note(
            "the page is open in your browser; do not pass it on"
            if is_open
            else "open this page in a browser on this machine; do not pass it on"
        )

    login = _browser(show).log_in(_server(config, name), scopes)
    scope = f" ({' '.join(login.scopes)})" if login.scopes else ""
    if as_json:
        print_json({"server": name, "is_logged_in": True, "scopes": list(login.scopes)})
    else:
        note(f"you are logged in at {name}{scope}")


def list_logins(config: Path, *, as_json: bool) -> None:
    """List the servers of a file that are reached by an address, and the logins at them."""
    from skillroute_local.server_logins.store import LoginStore  # noqa: PLC0415

    store = LoginStore()
    rows = []
    for server in _servers(config):
        login = store.get(server.name, server.url)
        is_in = login is not None and login.tokens is not None
        rows.append({
            "server": server.name,
            "is_logged_in": is_in,
            "scopes": list(login.scopes) if login is not None and is_in else [],
            "created_at": _time(login.made_at) if login is not None and is_in else None,
            "expires_at": _time(login.expires_at) if login is not None and is_in else None,
        })  # fmt: skip
    if as_json:
        print_json(rows)
    elif rows:
        show_table(_COLUMNS, map(_cells, rows))
    else:
        print_line(f"{config} has no server with a url")


def log_out(config: Path, name: str, *, as_json: bool) -> None:
    """Delete the login at a server of a file, and have it taken back where the server does so."""
    from skillroute_local.server_logins.store import LoginStore  # noqa: PLC0415

    server = _server(config, name)
    login = LoginStore().get(server.name, server.url)
    if login is None:
        raise LocalError(f"you are not logged in at {name}")
    is_taken_back = _browser(lambda _: None).log_out(login)
    left = "" if is_taken_back or login.tokens is None else "; it took no tokens back: they expire by themselves"
    if as_json:
        print_json({"server": name, "is_logged_in": False, "is_taken_back": bool(is_taken_back)})
    else:
        note(f"you are logged out of {name}{left}")


def _browser(show: Any) -> BrowserLogin:
    from skillroute_local.server_logins.login import BrowserLogin  # noqa: PLC0415 (only where there is a file)
    from skillroute_local.server_logins.store import LoginStore  # noqa: PLC0415
    from skillroute_local.server_logins.tokens import make_web  # noqa: PLC0415

    return BrowserLogin(LoginStore(), make_web(), show)


def _servers(config: Path) -> list[HttpServer]:
    from skillroute_local.mcp_servers.config import read_servers  # noqa: PLC0415
    from skillroute_local.mcp_servers.model import HttpServer  # noqa: PLC0415

    file = read_servers(config)
    for problem in file.problems:
        note(problem)
    return [server for server in file.servers if isinstance(server, HttpServer)]


def _server(config: Path, name: str) -> HttpServer:
    servers = _servers(config)
    found = next((server for server in servers if server.name == name), None)
    if found is None:
        others = ", ".join(server.name for server in servers) or "none"
        raise Misused(f"{config} has no server {name!r} with a url that is switched on; there are: {others}")
    return found


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def _cells(row: dict[str, Any]) -> list[str]:
    if not row["is_logged_in"]:
        return [row["server"], "", "no", ""]
    expires = "" if row["expires_at"] is None else moment(row["expires_at"])
    return [row["server"], " ".join(row["scopes"]), moment(row["created_at"]), expires]
