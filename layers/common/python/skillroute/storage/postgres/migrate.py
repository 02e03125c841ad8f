"""Numbered migrations: each .sql file once, in order, in one transaction each, guarded by a lock."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from skillroute.errors import SkillrouteError
from skillroute.storage.postgres.address import Address
from skillroute.storage.postgres.connection import Connection

# Any constant does; it keeps two processes that start together from migrating side by side.
_LOCK = 0x736B696C6C


class MigrationError(SkillrouteError):
    """The database holds a migration that this version does not know, or a changed one."""


def _migrations() -> list[tuple[str, str, str]]:
    """Return (name, sql, sha256), sorted by name: 0001_catalogue, 0002_..."""
    found = []
    for file in files("skillroute.storage.postgres").joinpath("migrations").iterdir():
        if file.name.endswith(".sql"):
            sql = file.read_text(encoding="utf-8")
            found.append((file.name.removesuffix(".sql"), sql, hashlib.sha256(sql.encode()).hexdigest()))
    return sorted(found)


def migrate(address: str | Address, *, statement_timeout_s: float = 600.0) -> list[str]:
    """Bring a database, given by its URL or address, up to date; return the migrations that were applied.

    Raises
    ------
    MigrationError
        The database was migrated by a newer version, or an applied migration was edited afterwards.
    DatabaseUnavailable
        PostgreSQL cannot be reached.
    """
    address = Address.parse(address) if isinstance(address, str) else address
    connection = Connection(address, connect_timeout_s=10.0, statement_timeout_s=statement_timeout_s)
    try:
        connection.script(f"SELECT pg_advisory_lock({_LOCK})")
        connection.script("CREATE SCHEMA IF NOT EXISTS mcp")
        connection.script(
            "CREATE TABLE IF NOT EXISTS mcp.migrations "
            "(name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        applied = {name: digest for name, digest in connection.run("applied_migrations")}  # noqa: C416 (rows are lists)
        known = {name: digest for name, _, digest in _migrations()}
        for name, digest in applied.items():
            if name not in known:
                raise MigrationError(f"the database holds migration {name}, which this version does not know")
            if known[name] != digest:
                raise MigrationError(f"migration {name} was changed after it had been applied")
        fresh = [migration for migration in _migrations() if migration[0] not in applied]
        for name, sql, digest in fresh:
            with connection.transaction():
                connection.script(sql)
                connection.run("record_migration", name=name, sha256=digest)
        return [name for name, _, _ in fresh]
    finally:
        connection.close()  # and with it the lock
