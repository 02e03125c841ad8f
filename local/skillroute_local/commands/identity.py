"""`skillroute identity`, `login`, `logins` and `logout`: how servers let requests in, and one's own logins at them."""

from __future__ import annotations

import time
import webbrowser
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skillroute_local.commands import server_logins
from skillroute_local.commands.kinds import find, kind_of
from skillroute_local.commands.learn_answers import moment, plain
from skillroute_local.commands.output import note, print_line
from skillroute_local.commands.server_logins import Config
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for, print_json
from skillroute_local.commands.tables import Column, show_table
from skillroute_local.errors import LocalError

if TYPE_CHECKING:
    from skillroute_local.client import Client

_LOOK_AGAIN_S = 1.0
_COLUMNS = tuple(map(Column, ("id", "server", "scopes", "logged in", "expires")))

app = typer.Typer(help="How servers let requests in (docs/identity.md).", no_args_is_help=True)

Server = Annotated[str, typer.Argument(metavar="SERVER", help="Its id, or its path.")]
Scopes = Annotated[list[str] | None, typer.Option("--scope", help="Of OAuth; may be given several times.")]


@app.command()
def show(
    server: Server, url: Url = None, token: Token = None, sign_region: SignRegion = None, as_json: AsJson = False
) -> None:
    """Show how a server lets requests in: where a secret is, never the secret. It needs scope catalog."""
    with client_for(url, token, sign_region) as client:
        found = plain(client.on("servers", lambda servers: servers.identity(_id(client, server))))
    _show(found, as_json=as_json)


@app.command("set")
def set_(
    server: Server,
    kind: Annotated[str, typer.Option(help="none, secret, caller_token or oauth.")],
    secret: Annotated[str | None, typer.Option(help="Where the secret is: an ARN, keyring:NAME or file:/path.")] = None,
    header: Annotated[str | None, typer.Option(help="The header of the secret.")] = None,
    prefix: Annotated[str | None, typer.Option(help="What stands before the secret.")] = None,
    audience: Annotated[list[str] | None, typer.Option(help="Of tokens that are passed on.")] = None,
    client_id: Annotated[str | None, typer.Option(help="Of a client that was registered before.")] = None,
    client_secret: Annotated[str | None, typer.Option(help="Where the secret of that client is.")] = None,
    scope: Scopes = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Set how a server lets requests in. Logins at it end. It needs scope catalog, for global servers admin."""
    said = {
        "secret": secret, "header": header, "prefix": prefix, "audiences": audience or None, "client_id": client_id,
        "client_secret": client_secret, "scopes": scope or None,
    }  # fmt: skip
    settings = {name: value for name, value in said.items() if value is not None}
    with client_for(url, token, sign_region) as client:
        id_ = _id(client, server)
        found = plain(client.on("servers", lambda servers: servers.set_identity(id_, kind, **settings)))
    _show(found, as_json=as_json)


@app.command("delete")
def delete_(
    server: Server, url: Url = None, token: Token = None, sign_region: SignRegion = None, as_json: AsJson = False
) -> None:
    """Let requests to a server go without an identity. Logins at it end."""
    with client_for(url, token, sign_region) as client:
        id_ = _id(client, server)
        client.on("servers", lambda servers: servers.delete_identity(id_))
    _say(f"requests to server {id_} go without an identity", {"server": id_, "kind": "none"}, as_json=as_json)


def login(
    server: Server,
    scope: Scopes = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the page, and open none.")] = False,
    config: Config = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Log in at a server, in a browser; ends when that is done.

    The page is yours alone: who finishes it lends you what they log in with. With --config SERVER is a name in a file.
    """
    if config is not None:
        server_logins.log_in(config, server, scope or (), no_browser=no_browser, as_json=as_json)
        return
    with client_for(url, token, sign_region) as client:
        id_ = _id(client, server)
        before = _made(client, id_)
        begun = client.on("servers", lambda servers: servers.log_in(id_, scopes=scope or None))
        note(begun.authorization_url) if as_json else print_line(begun.authorization_url)
        if not no_browser and webbrowser.open(begun.authorization_url):
            note("the page is open in your browser; do not pass it on")
        else:
            note("open this page in your browser; do not pass it on")
        while _made(client, id_) == before:
            if datetime.now(UTC) > begun.expires_at:
                raise LocalError("the login was not finished in time: begin it again")
            time.sleep(_LOOK_AGAIN_S)
    _say(f"you are logged in at server {id_}", {"server": id_, "is_logged_in": True}, as_json=as_json)


def logins(
    config: Config = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """List the servers where you are logged in; with --config those of a file with a url, and which of them."""
    if config is not None:
        server_logins.list_logins(config, as_json=as_json)
        return
    with client_for(url, token, sign_region) as client:
        rows = _logins(client)
    if as_json:
        print_json(rows)
    elif rows:
        show_table(_COLUMNS, map(_cells, rows))
    else:
        print_line("you are logged in at no server")


def logout(
    server: Server,
    config: Config = None,
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Delete what you logged in with at a server, and have it taken back where the server does so."""
    if config is not None:
        server_logins.log_out(config, server, as_json=as_json)
        return
    with client_for(url, token, sign_region) as client:
        id_ = _id(client, server)
        client.on("servers", lambda servers: servers.log_out(id_))
    _say(f"you are logged out of server {id_}", {"server": id_, "is_logged_in": False}, as_json=as_json)


def _say(sentence: str, found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
    else:
        note(sentence)


def _id(client: Client, server: str) -> int:
    return int(find(client, kind_of("servers"), server).id)


def _logins(client: Client) -> list[dict[str, Any]]:
    return [plain(row) for row in client.on("servers", lambda servers: list(servers.logins()))]


def _made(client: Client, server_id: int) -> str | None:
    """Return when the login at a server was made; None where there is none."""
    return next((row["created_at"] for row in _logins(client) if row["server_id"] == server_id), None)


def _show(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        if value is not None:
            print_line(f"{name}: {', '.join(value) if isinstance(value, list) else value}")


def _cells(row: dict[str, Any]) -> list[str]:
    expires = "" if row["expires_at"] is None else moment(row["expires_at"])
    return [str(row["server_id"]), row["server_name"], " ".join(row["scopes"]), moment(row["created_at"]), expires]
