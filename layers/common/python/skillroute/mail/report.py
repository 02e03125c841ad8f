"""Outcomes of the projects, products, agents or messages of one call."""

from __future__ import annotations

from dataclasses import dataclass

from skillroute.core.bulk.outcomes import Outcome, Report


@dataclass(frozen=True, slots=True)
class MailOutcome(Outcome):
    """The outcome of one of them.

    Attributes
    ----------
    key : str or None
        The writer's own id of it, an agent's name; None when it could not be read.
    """

    key: str | None = None


MailReport = Report[MailOutcome]
