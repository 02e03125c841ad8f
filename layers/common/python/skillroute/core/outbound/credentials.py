"""Credentials that a server lets requests in by, and the port that finds them: the words that slices share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from skillroute.core.caller import Caller


@dataclass(frozen=True, slots=True)
class Credentials:
    """Headers that a server lets requests in by.

    Attributes
    ----------
    headers : mapping of str to str
        Sent with every request to the server, and with none to another host. Never logged, and in no `repr`.
    session_key : str
        Whose they are: requests of different keys share neither a session nor a connection.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    session_key: str = ""


@dataclass(frozen=True, slots=True)
class ServerRef:
    """A registered server: id, organisation (None: global), name for people, and the address that it is reached at."""

    id: int
    org_id: str | None
    name: str
    url: str


class LoginNeeded(Exception):
    """The caller has to log in at the server first; `str(error)` says how.

    `scopes` are those that the server wants in addition, where a login that is good allows too little. `helps` says
    whether logging in is what helps: a secret that is refused is another one's to change.
    """

    def __init__(self, message: str, *, scopes: tuple[str, ...] = (), helps: bool = False) -> None:
        super().__init__(message)
        self.scopes = scopes
        self.helps = helps


class Identities(Protocol):
    """Finds the credentials of a caller at a server."""

    def credentials(self, server: ServerRef, caller: Caller, token: str | None) -> Credentials:
        """Return the credentials; none are needed where the server has no identity set.

        `token` is the bearer token that the caller came with, where it is at hand. Raises `LoginNeeded`, and
        `DependencyUnavailable` where what keeps secrets cannot be reached.
        """
        ...

    def renewed(self, server: ServerRef, caller: Caller, refused: Credentials, challenge: str | None) -> Credentials:
        """Return other credentials after the server refused these: with 401, or with 403 and `insufficient_scope`.

        Raises `LoginNeeded` where there are none to be had, and `DependencyUnavailable`.
        """
        ...

    def login_link(self, server: ServerRef, caller: Caller, scopes: tuple[str, ...], base_url: str) -> str | None:
        """Return the address of a page below `base_url` where the caller logs in; None where there is none.

        It is good once and for a short time, and tells who opens it whom it is for.
        """
        ...
