"""Who may do what in the database: two groups, and the logins that join them (docs/adr/0031).

The schema belongs to the role that migrates. The group `<database>_writer` reads and writes rows, `<database>_reader`
reads them. Roles are the server's, not a database's, so their names begin with the database's. `migrate` makes the
groups, gives them their rights, and makes the logins that it is given; all of it may be repeated.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Literal

from skillroute.core.errors.model import SkillrouteError
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.refusals import NotPermitted

Group = Literal["reader", "writer"]

_ITERATIONS = 4096  # PostgreSQL's own number
_SALT_BYTES = 16


class RoleError(SkillrouteError):
    """A group or a login cannot be made, or may do more than it should."""


@dataclass(frozen=True, slots=True)
class Login:
    """A user that logs in with the rights of a group.

    Attributes
    ----------
    password : str or None
        Printable ASCII. None: the user logs in with tokens of RDS (IAM authentication).
    """

    group: Group
    user: str
    password: str | None = field(default=None, repr=False)


def prepare_groups(connection: Connection) -> None:
    """Make the groups, and let them use what the migrations are about to create.

    Raises
    ------
    RoleError
        The connection's user may not create roles.
    """
    try:
        connection.script(_script("groups.sql"))
    except NotPermitted as error:
        [[reader, writer]] = connection.run("group_names")
        raise RoleError(
            "this login may not make roles: let an administrator run "
            f'`CREATE ROLE "{reader}" NOLOGIN; CREATE ROLE "{writer}" NOLOGIN`, then migrate again'
        ) from error


def grant_rights(connection: Connection) -> None:
    """Give the groups exactly their rights on everything that is there."""
    with connection.transaction():
        connection.script(_script("grants.sql"))


def make_login(connection: Connection, login: Login) -> None:
    """Make a login, or give it the password that it is to have, and put it into its group.

    A login that somebody else keeps is left as it is, where it is in its group already.

    Raises
    ------
    RoleError
        It may do more than its group, or it cannot be made.
    """
    if too_much := connection.run("rights_beyond_group", user=login.user, group=login.group)[0][0]:
        raise RoleError(f"the {login.group}'s login {login.user!r} {too_much}: give it a user of its own")
    if login.password is None and not connection.run("knows_iam")[0][0]:
        raise RoleError("there is no role rds_iam on this server: logins with tokens need RDS or Aurora")
    verifier = None if login.password is None else scram_verifier(login.password)
    try:
        for [statement] in connection.run("login_statements", user=login.user, group=login.group, verifier=verifier):
            connection.script(statement)
    except NotPermitted as error:
        if not connection.run("is_in_group", user=login.user, group=login.group)[0][0]:
            raise RoleError(f"the {login.group}'s login {login.user!r} cannot be made: {error}") from error


def scram_verifier(password: str, salt: bytes | None = None) -> str:
    """Return what PostgreSQL keeps of a password (RFC 5802), so that the password itself never is in a statement.

    Raises
    ------
    RoleError
        It is empty or not printable ASCII, which clients would each prepare in their own way.
    """
    if not (password and password.isascii() and password.isprintable()):
        raise RoleError("a login's password must be printable ASCII")
    salt = secrets.token_bytes(_SALT_BYTES) if salt is None else salt
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ITERATIONS)
    stored_key = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    salt_, stored, server = (base64.b64encode(part).decode() for part in (salt, stored_key, server_key))
    return f"SCRAM-SHA-256${_ITERATIONS}:{salt_}${stored}:{server}"


def _script(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
