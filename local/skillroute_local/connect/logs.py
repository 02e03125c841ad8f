"""Messages to a person, on standard error: one line each, for standard output is the protocol's."""

from __future__ import annotations

import logging
import re
import sys
from typing import TextIO

from skillroute_local.terminal_text import harmless

_FOREIGN = ("mcp.", "httpx", "httpcore")
_OF_THE_CORE = ("server", "reason")  # fields of its log lines that say what happened


_QUERY = re.compile(r"\?[^\s'\"]*")


class _WithoutContents(logging.Filter):
    """Takes out of the MCP client's lines what servers have sent, and of addresses what may be a key."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith(_FOREIGN):
            kind = record.exc_info[0] if record.exc_info else None
            text = _QUERY.sub("?…", record.getMessage())
            record.msg, record.args = text + (f" ({kind.__name__})" if kind else ""), None
            record.exc_info = record.exc_text = None
        return True


class _Line(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = [str(getattr(record, name)) for name in _OF_THE_CORE if hasattr(record, name)]
        text = ": ".join([record.getMessage(), *fields])
        trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"skillroute: {harmless(text)}{harmless(trace, lines=True)}"  # servers' names and texts are in it


def log_to_stderr(*, verbose: bool) -> None:
    """Write all log lines to standard error, as text: warnings, and with `verbose` what servers write."""
    logging.basicConfig(handlers=[line_handler(sys.stderr)], level=logging.WARNING, force=True)
    core = logging.getLogger("skillroute")
    core.handlers.clear()  # the core's own writes JSON to standard output
    core.setLevel(logging.WARNING)
    logging.getLogger("skillroute_local").setLevel(logging.INFO if verbose else logging.WARNING)


def line_handler(stream: TextIO) -> logging.Handler:
    """Return what writes log lines to a stream, as text without secrets."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Line())
    handler.addFilter(_WithoutContents())
    return handler
