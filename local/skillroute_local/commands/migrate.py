"""`skillroute migrate`: the schema and the roles of a database."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from skillroute_local.commands.output import print_line
from skillroute_local.commands.shared import AsJson, print_json, run_here

# What a URL that is given goes before, and the logins that are made for a deployment.
_OTHER_DATABASES = tuple(f"SKILLROUTE_DATABASE_{name}" for name in ("SECRET_ARN", "OWNER_SECRET_ARN", "USER"))
_LOGINS = tuple(f"SKILLROUTE_DATABASE_{name}" for name in ("READER_SECRET_ARN", "WRITER_SECRET_ARN", "IAM_LOGINS"))


def migrate(
    database_url: Annotated[
        str | None,
        typer.Option(help="postgresql://user:password@host:5432/name, before all that the environment says."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring a database's schema and its roles up to date, as the login that owns them. `up` does this by itself.

    Logins of functions are made from the secrets SKILLROUTE_DATABASE_READER_SECRET_ARN and _WRITER_SECRET_ARN, or for
    tokens of RDS with SKILLROUTE_DATABASE_IAM_LOGINS=true.
    """
    from skillroute.core.postgres.migrate import migrate as apply  # noqa: PLC0415
    from skillroute.core.settings import MigrationSettings  # noqa: PLC0415
    from skillroute.wiring.secrets import make_owner_address, read_logins  # noqa: PLC0415

    run = None if database_url else run_here()
    if url := run.database_url if run else database_url:
        os.environ |= dict.fromkeys(_OTHER_DATABASES, "") | {"SKILLROUTE_DATABASE_URL": url}
    if run:  # the one that runs here has one login for all
        os.environ |= dict.fromkeys(_LOGINS, "")
    settings = MigrationSettings.load()
    address = make_owner_address(settings)()  # a secret is read here, with the whole of its wait
    missing: list[str] = []
    applied = apply(address, logins=read_logins(settings, address.database), missing=missing.append)
    if as_json:
        print_json({"applied": list(applied), "missing": missing})
    else:
        print_line("\n".join([*(f"applied {name}" for name in applied), *missing]) or "up to date")
