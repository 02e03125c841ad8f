"""Where the program's own logs go: never into the output of a command, unless they are asked for."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

from skillroute.core.observability import logger

_LEVEL = "SKILLROUTE_LOG_LEVEL"
_LARGEST_BYTES = 10_000_000


def keep_back(*, verbose: bool) -> None:
    """Keep the logs of this process back; `verbose`, or a level in the environment, shows them on standard error."""
    if verbose:
        os.environ.setdefault(_LEVEL, "INFO")
    if level := os.environ.get(_LEVEL):
        logger.setLevel(level)
        _handler().setStream(sys.stderr)
    else:
        logger.setLevel("CRITICAL")  # nothing is logged at it


@contextmanager
def logs_of_server(file: Path, *, verbose: bool) -> Iterator[TextIO | None]:
    """Write the logs of this process to a file where standard output is a terminal, and lend the file.

    A level in the environment, `verbose`, or a standard output that is no terminal lead to standard output, and None.
    The file begins anew once it is large; what runs beside this process writes to its end too.
    """
    asked = verbose or _LEVEL in os.environ
    level = os.environ.setdefault(_LEVEL, "INFO" if verbose else "WARNING")
    logger.setLevel(level)
    handler = _handler()
    if asked or not sys.stdout.isatty():
        handler.setStream(sys.stdout)
        yield None
        return
    if file.exists() and file.stat().st_size > _LARGEST_BYTES:
        file.unlink()
    with file.open("a", encoding="utf-8") as log:
        handler.setStream(log)
        try:
            yield log
        finally:
            handler.setStream(sys.stdout)


def _handler() -> logging.StreamHandler[TextIO]:
    return cast("logging.StreamHandler[TextIO]", logger.registered_handler)
