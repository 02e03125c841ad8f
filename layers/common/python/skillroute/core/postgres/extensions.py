"""Conditions of migrations that need an extension which a server may lack."""

from __future__ import annotations

import re

from skillroute.core.postgres.connection import Connection

OPTIONAL = {"vector": "search inside PostgreSQL"}
"""Folders of migrations that need an extension of this name, and what there is not without it (docs/adr/0061)."""

THEN = "then `skillroute migrate` and `skillroute reindex`"
"""The hint that follows when the extension is missing."""

_MIN_VERSIONS = {"vector": (0, 8)}
"""The least versions: 0.8 brought scans that go on until enough pass a filter."""


def extension_of(migration: str) -> str | None:
    """Return the extension that a migration needs; None for one that is always applied."""
    folder, _, rest = migration.rpartition("/")
    return folder if rest and folder else None


def without(extension: str) -> str:
    """Return what there is not where an extension is missing, as the beginning of a sentence."""
    return f"without the extension {extension} there is no {OPTIONAL[extension]}"


def lacks(connection: Connection, extension: str) -> str | None:
    """Return what to say where the server does not have an extension, or too old a one; None where it has."""
    version = _version(connection, extension)
    if version is None:
        return f"{without(extension)}, and the server does not have it: install it there (pgvector), {THEN}"
    least = _MIN_VERSIONS[extension]
    if tuple(int(part) for part in re.findall(r"\d+", version)[: len(least)]) < least:
        wanted = ".".join(map(str, least))
        return (
            f"{without(extension)} of version {wanted} or later, and this one is {version}: let an administrator "
            f"bring a later one and run `ALTER EXTENSION {extension} UPDATE`, {THEN}"
        )
    return None


def _version(connection: Connection, extension: str) -> str | None:
    version: str | None = connection.run("extension_version", extension=extension)[0][0]
    return version
