"""Errors on a laptop, as one line that says what to do.

LocalError
└── ProgramError    initdb, postgres or pg_ctl ended with an error; carries its last line
"""

from __future__ import annotations

from skillroute.core.errors import SkillrouteError


class LocalError(SkillrouteError):
    """Skillroute cannot run here as asked. `str(error)` is one line, with the way out."""


class ProgramError(LocalError):
    """A program of PostgreSQL ended with an error."""
