"""Reading all that a Skillroute exports, so that it is of one moment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from skillroute_local.client import Client

PAGE = 500
"""Lines of one call."""

MAX_ROUNDS = 5
"""How often kinds are read again that change while they are read."""

Progress = Callable[[int], None]
"""Called with how many lines more were read."""


@dataclass(slots=True)
class Exported:
    """The result of an export.

    Attributes
    ----------
    lines : counter
        Lines of each kind.
    changed : list of str
        Kinds that changed again and again: their lines are of several moments.
    """

    lines: Counter[str] = field(default_factory=Counter)
    changed: list[str] = field(default_factory=list)


def export(
    client: Client, kinds: Sequence[str], to: BinaryIO, progress: Progress = lambda _: None, *, page: int = PAGE
) -> Exported:
    """Write all lines of kinds, all of them where none is named, and a last one that says how many there are.

    Nothing is written before everything was read. Raises `LocalError`.
    """
    with TemporaryDirectory(prefix="skillroute-export-") as folder:
        spool = _Spool(Path(folder))
        exported, end = _read(client, kinds, spool, progress, page)
        spool.copy(to)
    line = {**end, "lines": dict(exported.lines)}
    to.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
    return exported


def exported_lines(client: Client, kinds: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield the lines of an export that are rows. Raises `LocalError`."""
    with TemporaryDirectory(prefix="skillroute-export-") as folder:
        spool = _Spool(Path(folder))
        _read(client, kinds, spool, lambda _: None, PAGE)
        for line in spool.lines():
            yield json.loads(line)


class _Spool:
    """Lines in a file for each kind, which only their reader may open: kinds that changed are written anew."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Path] = {}

    def begin(self, kinds: Sequence[str]) -> None:
        """Forget what was read of kinds."""
        for kind in kinds:
            file = self._files.setdefault(kind, self._folder / f"{len(self._files)}.ndjson")
            file.write_bytes(b"")

    def add(self, kind: str, lines: Sequence[bytes]) -> None:
        with self._files[kind].open("ab") as file:
            file.writelines(line + b"\n" for line in lines)

    def lines(self) -> Iterator[bytes]:
        """Yield all lines, kind by kind."""
        for file in self._files.values():
            with file.open("rb") as opened:
                yield from opened

    def copy(self, to: BinaryIO) -> None:
        """Write all lines."""
        to.writelines(self.lines())


def _read(
    client: Client, kinds: Sequence[str], spool: _Spool, progress: Progress, page: int
) -> tuple[Exported, dict[str, Any]]:
    exported, after, rounds, is_new = Exported(), None, 0, True
    while True:
        *rows, last_line = client.export_page(kinds, after, page)
        last = json.loads(last_line)
        if is_new:
            spool.begin(last["kinds"])
            for kind in last["kinds"]:
                exported.lines[kind] = 0
        for kind, lines in _by_kind(rows).items():
            spool.add(kind, lines)
            exported.lines[kind] += len(lines)
        progress(len(rows))
        after, is_new = last["after"], last["kind"] == "end"
        if not is_new:
            continue
        rounds += 1
        if not last["changed"] or rounds == MAX_ROUNDS:
            exported.changed = last["changed"]
            return exported, last


def _by_kind(rows: Sequence[bytes]) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for row in rows:
        found.setdefault(json.loads(row)["kind"], []).append(row)
    return found
