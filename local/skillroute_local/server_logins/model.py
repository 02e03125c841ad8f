"""A login at a server of an mcp.json, and the command that makes one."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from skillroute.identity.model import Tokens

from skillroute_local.mcp_servers.model import HttpServer


@dataclass(frozen=True, slots=True)
class ServerLogin:
    """A login as it is kept. `repr` shows no token and no secret of a client.

    Attributes
    ----------
    server, url : str
        Its name in the file, and its address: at another address it is another server.
    client : mapping or None
        The registration at the authorization server, which outlives the tokens.
    tokens : Tokens or None
        None: the login has ended, or was not finished.
    expires_at, made_at : float or None
        Seconds since 1970, of the access token and of the login; None where it is not known.
    """

    server: str
    url: str
    client: Mapping[str, str] | None = field(default=None, repr=False)
    tokens: Tokens | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ()
    expires_at: float | None = None
    made_at: float | None = None

    @property
    def key(self) -> str:
        return key_of(self.server, self.url)

    def written(self) -> dict[str, Any]:
        """Return what `read` makes the login of again."""
        return asdict(self)

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> ServerLogin:
        """Return a login as it was. Raises `TypeError` or `KeyError` for anything else."""
        tokens = value["tokens"]
        made = {**value, "tokens": None if tokens is None else Tokens(**tokens), "scopes": tuple(value["scopes"])}
        return cls(**made)


def key_of(server: str, url: str) -> str:
    """Return the name that a login is kept under: the same for the same name and address, and no other."""
    return hashlib.sha256(json.dumps([server, url]).encode("utf-8")).hexdigest()[:32]


def login_command(server: HttpServer, scopes: Sequence[str] = ()) -> str:
    """Return the command that logs in at a server.

    Examples
    --------
    >>> from pathlib import Path
    >>> login_command(HttpServer("notes", "", "https://notes.test", config=Path("/home/ann/mcp.json")), ["write"])
    'skillroute login --config /home/ann/mcp.json notes --scope write'
    """
    named = ["skillroute", "login", "--config", str(server.config), server.name]
    return shlex.join([*named, *(part for scope in scopes for part in ("--scope", scope))])
