"""The port of notifications: people learn of suggestions by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Notifier(Protocol):
    """Notifies people that something waits for them."""

    def notify(self, event: str, subject: str, details: Mapping[str, Any]) -> None:
        """Publish an event. It never raises: one who cannot be notified finds the same in the API and in the log.

        Parameters
        ----------
        event : str
            ``suggestion_created``, ``skill_auto_approved``, ``message_dead_lettered``.
        subject : str
            One line for people.
        details : mapping
            What a person needs to act: ids, names, reasons, and the route or command.
        """
        ...
