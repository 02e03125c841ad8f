"""Migrations, as functions run them: as the owner, with all logins that the settings name."""

from __future__ import annotations

from skillroute.core.observability import logger
from skillroute.core.postgres import migrate as schema
from skillroute.core.settings import MigrationSettings
from skillroute.wiring.secrets import make_owner_address, read_logins


def migrate(settings: MigrationSettings) -> list[str]:
    """Bring the database's schema and roles up to date; return the migrations that were applied."""
    address = make_owner_address(settings)()
    # Less than the relay's own time: PostgreSQL goes on with a statement whose client is gone, and holds its locks.
    return schema.migrate(
        address,
        logins=read_logins(settings, address.database),
        statement_timeout_s=30.0,
        locks=schema.LockLimits(total_s=15.0),
        missing=lambda what: logger.warning("not migrated", extra={"reason": what}),
    )
