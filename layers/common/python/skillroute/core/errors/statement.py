"""The error of a statement that PostgreSQL refused."""

from __future__ import annotations

from skillroute.core.errors.model import SkillrouteError


class StatementRejected(SkillrouteError):
    """PostgreSQL refused a statement, or a value in it.

    Attributes
    ----------
    state : str
        The SQLSTATE, such as ``23505``.
    constraint : str or None
        The name of the constraint that was violated; it, not the message, decides which error this is.
    """

    def __init__(self, message: str, *, state: str, constraint: str | None) -> None:
        super().__init__(message)
        self.state = state
        self.constraint = constraint

    @property
    def is_about_data(self) -> bool:
        """Whether a value was refused (classes 22, 23 and 54), rather than the statement or the moment."""
        return self.state.startswith(("22", "23", "54"))
