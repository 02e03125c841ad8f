"""Databases of development versions, whose first migrations were written anew before 0.2.0.

`former_versions.txt` has a line for each set of migrations that a commit once had and that this version cannot go on
from: the first 16 hexadecimal digits of the set's SHA-256, the last commit that had it, its day, and ``export`` where
that commit has `skillroute export`. The file is finished: migrations that have landed are not edited any more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

_DIGITS = 16


@dataclass(frozen=True, slots=True)
class FormerVersion:
    """The last commit that opens a database.

    Attributes
    ----------
    commit, day : str
        Of git: ``819c822``, ``2026-11-21``.
    can_export : bool
        Whether its command line has `export --all`.
    """

    commit: str
    day: str
    can_export: bool


def fingerprint(applied: Mapping[str, str]) -> str:
    """Return what a set of migrations, SHA-256 by name, is known by."""
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(applied.items()))
    return hashlib.sha256(lines.encode()).hexdigest()[:_DIGITS]


def former_version(applied: Mapping[str, str]) -> FormerVersion | None:
    """Return which development version applied these migrations, None where no commit is known to have had them."""
    wanted = fingerprint(applied)
    for line in files(__package__).joinpath("former_versions.txt").read_text(encoding="utf-8").splitlines():
        known, commit, day, *more = line.split()
        if known == wanted:
            return FormerVersion(commit, day, "export" in more)
    return None
