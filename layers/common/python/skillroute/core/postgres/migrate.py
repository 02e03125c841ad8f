"""Numbered migrations: each .sql file once, in order, in one transaction each, guarded by a lock."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TypeVar

from skillroute import __version__
from skillroute.core.errors.model import SkillrouteError
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.address import Address
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.database import Session
from skillroute.core.postgres.extensions import OPTIONAL, THEN, extension_of, lacks, without
from skillroute.core.postgres.former import FormerVersion, former_version
from skillroute.core.postgres.lock_watch import LockWatch
from skillroute.core.postgres.refusals import NotPermitted
from skillroute.core.postgres.roles import Login, grant_rights, make_login, prepare_groups
from skillroute.core.time.counted import CountedTime
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.retry import Retry, TransientFailure

T = TypeVar("T")

# Any constant does; it keeps two processes that start together from migrating side by side.
_LOCK = 0x736B696C6C
_LOCK_NOT_AVAILABLE = "55P03"


class MigrationError(SkillrouteError):
    """The database holds a migration that this version does not know, or a changed one."""


class FormerDatabase(MigrationError):
    """A development version made the database: its migrations are other ones of the same names.

    Attributes
    ----------
    migration : str
        The first one that differs.
    version : FormerVersion or None
        Which one made it; None where that is not known.
    """

    def __init__(self, migration: str, version: FormerVersion | None) -> None:
        by = f"commit {version.commit} of {version.day} or one before it" if version else "which one is not known"
        super().__init__(
            f"migration {migration} of this database is not the one of Skillroute {__version__}: a development version "
            f"made it ({by}). It cannot be upgraded in place, and nothing in it was changed. Read out what it has with "
            "the version that made it, and import that into a new database (docs/versioning.md, From 0.1 to 0.2)"
        )
        self.migration = migration
        self.version = version


class MigrationBlocked(MigrationError):
    """Other sessions hold a lock that a migration needs; the message names them."""


@dataclass(frozen=True, slots=True)
class LockLimits:
    """How long a migration waits for locks.

    Attributes
    ----------
    attempt_s : float
        The limit of one wait. Searches wait as long: they queue behind a session that waits for a table.
    total_s : float
        The limit of all waits and the pauses between them, in which queued searches go on.
    """

    attempt_s: float = 1.0
    total_s: float = 60.0


def migrate(
    address: str | Address,
    *,
    logins: Sequence[Login] = (),
    statement_timeout_s: float = 600.0,
    locks: LockLimits = LockLimits(),
    missing: Callable[[str], object] = lambda _: None,
) -> list[str]:
    """Bring a database, given by its URL or address, up to date; return the migrations that were applied.

    The address's user owns the schema from then on. The roles that only read, and that read and write, are made beside
    it, with their rights, and the logins that are given (docs/adr/0031).

    Migrations that need an extension are applied by the first run that finds it on the server and may create it.

    Parameters
    ----------
    missing : callable
        Called with a sentence for each extension that is not there: what cannot be done, and what to do about it.

    Raises
    ------
    MigrationBlocked
        Other sessions hold a table, or another process migrates, for longer than `locks` allows.
    FormerDatabase
        A development version made the database. Nothing was changed.
    MigrationError
        The database was migrated by a newer version. Nothing was changed.
    RoleError
        A role cannot be made, or a login may do more than it should.
    DatabaseUnavailable
        PostgreSQL cannot be reached.
    """
    address = Address.parse(address) if isinstance(address, str) else address
    connection = Connection(address, connect_timeout_s=10.0, statement_timeout_s=statement_timeout_s)
    try:
        connection.script(f"SET lock_timeout = {max(1, round(locks.attempt_s * 1000))}")
        pid = int(connection.script("SELECT pg_backend_pid()")[0][0])
        with LockWatch(address, pid, every_s=locks.attempt_s / 4) as watch:
            return _migrated(connection, _Patience(watch, locks), logins, missing)
    finally:
        connection.close()  # and with it the lock


class _Patience:
    """Retries steps that cannot get a lock, and gives up with the names of the sessions that hold it."""

    def __init__(self, watch: LockWatch, limits: LockLimits) -> None:
        self._watch = watch
        self._limits = limits
        self._waited = CountedTime()  # what a migration takes with its locks does not count
        self._deadline = Deadline(limits.total_s, self._waited)

    def __call__(self, what: str, step: Callable[[], T]) -> T:
        """Run a step until it gets its locks, and return its result. Raises `MigrationBlocked`."""

        def attempt() -> T:
            began = time.monotonic()
            try:
                return step()
            except StatementRejected as error:
                if error.state != _LOCK_NOT_AVAILABLE:
                    raise
                if self._deadline.is_over:
                    raise MigrationBlocked(self._message(what)) from error
                self._waited.add(time.monotonic() - began + self._limits.attempt_s)  # and the pause that follows
                raise TransientFailure(str(error)) from error

        return Retry.every(self._limits.attempt_s).run(attempt)

    def _message(self, what: str) -> str:
        blockers = self._watch.blockers
        names = "; ".join(map(str, blockers)) or "a session that could not be determined"
        ends = "; ".join(f"SELECT pg_terminate_backend({blocker.pid})" for blocker in blockers if blocker.pid)
        return (
            f"{what} did not get a lock within {self._limits.total_s:g} s. It is held by {names}. "
            f"Wait until it ends, or end it ({ends}), then run `skillroute migrate` again"
        )


def _migrations() -> list[tuple[str, str, str]]:
    """Return (name, sql, sha256) in the order in which they are applied: 0001_catalogue, 0002_..., vector/0001_..."""
    root = files("skillroute.core.postgres").joinpath("migrations")
    found = []
    for folder in ("", *OPTIONAL):
        for file in sorted(root.joinpath(folder).iterdir(), key=lambda file: file.name):
            if file.name.endswith(".sql"):
                sql = file.read_text(encoding="utf-8")
                name = "/".join(filter(None, [folder, file.name.removesuffix(".sql")]))
                found.append((name, sql, hashlib.sha256(sql.encode()).hexdigest()))
    return found


@dataclass(frozen=True, slots=True)
class MigrationState:
    """How a database stands to the migrations of this version.

    Attributes
    ----------
    applied, waiting : sequence of str
        In the order in which they are applied.
    optional : sequence of str
        Those that are not applied and need an extension, which the server may lack.
    unknown : sequence of str
        Applied by a newer version.
    """

    applied: Sequence[str]
    waiting: Sequence[str]
    optional: Sequence[str]
    unknown: Sequence[str]


def migration_state(session: Session) -> MigrationState:
    """Return which migrations a database has, without changing anything."""
    done = {row[0] for row in session.run("applied_migrations")}
    known = [name for name, _, _ in _migrations()]
    missing = [name for name in known if name not in done]
    return MigrationState(
        [name for name in known if name in done],
        [name for name in missing if extension_of(name) is None],
        [name for name in missing if extension_of(name) is not None],
        sorted(done.difference(known)),
    )


def _migrated(
    connection: Connection, patiently: _Patience, logins: Sequence[Login], missing: Callable[[str], object]
) -> list[str]:
    """Apply the missing migrations, one process at a time, and return their names."""
    patiently(
        "the lock against concurrent migrations: this one",
        lambda: connection.script(f"SELECT pg_advisory_lock({_LOCK})"),
    )
    done = patiently("reading the applied migrations", lambda: _applied(connection))
    fresh = [migration for migration in _migrations() if migration[0] not in done]

    def apply(name: str, sql: str, digest: str) -> None:
        with connection.transaction():
            connection.script(sql)
            connection.run("record_migration", name=name, sha256=digest)

    applied = []
    left_out: set[str] = set()  # what comes later in a folder builds on what comes before
    for name, sql, digest in fresh:
        extension = extension_of(name)
        if extension in left_out:
            continue
        if extension and (reason := lacks(connection, extension)):
            left_out.add(extension)
            missing(reason)
            continue
        try:
            patiently(f"migration {name}", lambda: apply(name, sql, digest))  # noqa: B023 (called at once)
        except NotPermitted as error:
            if extension is None:
                raise
            left_out.add(extension)
            missing(f"{without(extension)}: {error}. Let an administrator run `CREATE EXTENSION {extension}`, {THEN}")
            continue
        applied.append(name)
    patiently("granting the roles their rights", lambda: grant_rights(connection))
    for login in logins:
        make_login(connection, login)
    return applied


def _applied(connection: Connection) -> dict[str, str]:
    """Return the SHA-256 of the applied migrations by name, after they were found to be known; before that it is read
    only. Raises `MigrationError`.
    """
    is_new = connection.script("SELECT to_regclass('mcp.migrations') IS NULL")[0][0]
    # Rows are lists.
    applied = {} if is_new else {name: digest for name, digest in connection.run("applied_migrations")}  # noqa: C416
    _check(applied)
    connection.script("CREATE SCHEMA IF NOT EXISTS mcp")
    connection.script(
        "CREATE TABLE IF NOT EXISTS mcp.migrations "
        "(name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
    )
    prepare_groups(connection)
    return applied


def _check(applied: dict[str, str]) -> None:
    """Compare the applied migrations with those of this version. Raises `MigrationError`."""
    known = {name: digest for name, _, digest in _migrations()}
    for name, digest in applied.items():
        if known.get(name, digest) != digest:
            raise FormerDatabase(name, former_version(applied))
    if newer := [name for name in applied if name not in known]:
        raise MigrationError(
            f"the database holds migration {newer[0]}, which Skillroute {__version__} does not know: a newer version "
            "made it. Install that one (`skillroute --version` says which one runs), or restore a back-up from before"
        )
