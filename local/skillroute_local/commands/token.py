"""`skillroute token`: a signed token for trying."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from skillroute.core.caller import Scope

from skillroute_local.commands.shared import AsJson, print_json
from skillroute_local.home import Home


def token(
    scope: Annotated[
        list[Scope] | None,
        typer.Option(help="What the token allows; can be repeated. Default: search.", show_default=False),
    ] = None,
    org: Annotated[
        str | None, typer.Option(help="The organisation that the caller belongs to; default: none, global items only.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="The mail agent that the caller speaks for: it sees the mail of its projects.")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(help="A role of the caller, for rules of access; can be repeated.", show_default=False),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="A group of the caller, for rules of access; can be repeated.", show_default=False),
    ] = None,
    subject: Annotated[str, typer.Option(help="Who the caller is, for the record of who decided.")] = "somebody",
    expires_in: Annotated[
        int, typer.Option(help="Seconds until it expires; a negative number makes one that has expired.")
    ] = 3600,
    jwks: Annotated[bool, typer.Option("--jwks", help="Print the public key set for SKILLROUTE_JWT_KEYS.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a signed token for trying, on this machine only.

    It is good for the Skillroute that runs here with SKILLROUTE_AUTH=jwt, and wherever SKILLROUTE_JWT_KEYS holds what
    --jwks prints (`sam local`). The private key is made on first use and stays in SKILLROUTE_HOME. Issuer, audience,
    scope prefix and the claims of organisation, agent, roles and groups are those of the running Skillroute, unless
    SKILLROUTE_JWT_ISSUER, _AUDIENCE, _SCOPE_PREFIX, _ORG_CLAIM, _AGENT_CLAIM, _ROLES_CLAIM and _GROUPS_CLAIM say
    otherwise.

    Example: curl -H "authorization: Bearer $(skillroute token --scope search)" http://localhost:3000/api/v1/tools
    """
    from skillroute_local.tokens import TokenKey, form_here  # noqa: PLC0415 (cryptography: 60 ms)

    home = Home.from_environment()
    key = TokenKey.of(home)
    if jwks:
        sys.stdout.write(key.key_set() + "\n")
        return
    scopes = list(dict.fromkeys(scope or [Scope.SEARCH]))
    made = key.sign(
        form_here(home),
        scopes,
        org=org,
        agent=agent,
        roles=role or (),
        groups=group or (),
        subject=subject,
        expires_in_s=expires_in,
    )
    if as_json:
        print_json({"token": made, "expires_in_s": expires_in})
    else:
        sys.stdout.write(made + "\n")
