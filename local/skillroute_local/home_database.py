"""PostgreSQL of a home, with the schema of this version.

A home that a development version made is refused, with the commands that bring what it has into this version.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console
from skillroute import __version__
from skillroute.core.postgres.former import FormerVersion
from skillroute.core.postgres.migrate import FormerDatabase, migrate

from skillroute_local.errors import LocalError
from skillroute_local.home import Home
from skillroute_local.postgres import EmbeddedPostgres

_OLD_PORT = 3100
_OLD_URL = f"http://localhost:{_OLD_PORT}"


@contextmanager
def migrated_postgres(home: Home, console: Console) -> Iterator[EmbeddedPostgres]:
    """Start PostgreSQL and bring its schema up to date, for a block.

    Raises
    ------
    LocalError
        It does not start, or a development version made the home.
    """
    with ExitStack() as running:
        with console.status("starting PostgreSQL"):
            postgres = running.enter_context(EmbeddedPostgres(home.postgres_dir))
            try:
                applied = migrate(postgres.url)
            except FormerDatabase as error:
                raise _refusal(home.path, error) from error
        for name in applied:
            console.print(f"applied migration {name}")
        yield postgres


def _refusal(home: Path, error: FormerDatabase) -> LocalError:
    """Return the error that a home cannot be upgraded, with the commands that help."""
    made_by = error.version
    kept = shlex.quote(f"{home}-before-{__version__}")
    skillroute = shlex.quote(str(Path(sys.executable).with_name("skillroute")))
    who = f"commit {made_by.commit} of {made_by.day}, or one before it with the same tables" if made_by else "unknown"
    at_home = f"SKILLROUTE_HOME={shlex.quote(str(home))} {skillroute}"
    anew = f"mv {shlex.quote(str(home))} {kept}"
    return LocalError(
        f"{home} was made by a development version of Skillroute ({who}; migration {error.migration} differs). "
        f"Skillroute {__version__} cannot upgrade it in place, and has changed nothing in it.\n"
        f"To keep what is in it, in a checkout of Skillroute:\n{_rescue(home, made_by)}\n"
        f"  {anew}\n"
        f"  {at_home} up --no-examples    # and in another terminal:\n"
        f"  {at_home} import backup.ndjson\n"
        f"To begin anew:\n  {anew}\n"
        "What comes along and what does not: docs/versioning.md, From 0.1 to 0.2"
    )


def _rescue(home: Path, made_by: FormerVersion | None) -> str:
    commit = made_by.commit if made_by else "COMMIT"
    old = f"../skillroute-{commit}"
    reader = (
        f"SKILLROUTE_URL={_OLD_URL} {old}/.venv/bin/skillroute export --all > backup.ndjson"
        if made_by and made_by.can_export
        else f"{shlex.quote(sys.executable)} -m skillroute_local.former_lists {_OLD_URL} > backup.ndjson"
    )
    which = "" if made_by else "    # the commit that the home was made with"
    return (
        f"  git worktree add --detach {old} {commit}{which}\n"
        f"  SKILLROUTE_HOME={shlex.quote(str(home))} make -C {old} run PORT={_OLD_PORT}    # and in another terminal:\n"
        f"  {reader}    # then Ctrl-C in the first one"
    )
