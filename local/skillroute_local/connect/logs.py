"""Messages to a person, on standard error: one line each, for standard output is the protocol's."""

from __future__ import annotations

import logging
import sys

_OF_THE_CORE = ("server", "reason")  # fields of its log lines that say what happened


class _Line(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = [str(getattr(record, name)) for name in _OF_THE_CORE if hasattr(record, name)]
        text = ": ".join([record.getMessage(), *fields])
        return f"skillroute: {text}" + (f"\n{self.formatException(record.exc_info)}" if record.exc_info else "")


def log_to_stderr(*, verbose: bool) -> None:
    """Write all log lines to standard error, as text: warnings, and with `verbose` what servers write."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("skillroute").handlers.clear()  # the core's own writes JSON to standard output
    logging.getLogger("skillroute_local").setLevel(logging.INFO if verbose else logging.WARNING)
