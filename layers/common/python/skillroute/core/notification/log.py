"""Notifications as log lines, for those who watch the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillroute.core.observability import logger


class LogNotifier:
    """`ports.Notifier` that writes one structured line for each event."""

    def notify(self, event: str, subject: str, details: Mapping[str, Any]) -> None:
        # Nested, as a detail may be called like one of the logger's own fields.
        logger.info(subject, extra={"event": event, "details": dict(details)})
