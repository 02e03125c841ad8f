"""Standard input as a source: kept in a file, since a source is looked at before it is read."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from skillroute_local.errors import LocalError

STANDARD_INPUT = Path("-")


@contextmanager
def with_standard_input(sources: Sequence[Path]) -> Iterator[list[Path]]:
    """Lend sources in which a file stands for ``-``, with all that comes from standard input.

    Raises
    ------
    LocalError
        It is named twice.
    """
    if sources.count(STANDARD_INPUT) > 1:
        raise LocalError("- is standard input, which can be read once: name it once")
    if STANDARD_INPUT not in sources:
        yield list(sources)
        return
    with TemporaryDirectory(prefix="skillroute-import-") as folder:
        kept = Path(folder) / "stdin"
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield [kept if source == STANDARD_INPUT else source for source in sources]
