"""One source on its way in: read, checked, and written or compared; what it no longer has is removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from skillroute.catalogue.model import ItemContent

from skillroute_local.client import Client, Written
from skillroute_local.importing.check import Checked, checked
from skillroute_local.importing.compare import Change, compared, removed
from skillroute_local.importing.gone import Seen, gone, scopes_of
from skillroute_local.importing.model import About, Reading, Refuse, Unreadable
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.send import send
from skillroute_local.importing.stored import Catalogue, Stored

Read = Callable[[Refuse], Reading]
"""Reads a source, and notes what it refuses. Raises `Unreadable`."""


class Source:
    """A source that is imported.

    Parameters
    ----------
    name : str
        What notes call it.
    read : callable
    report : ImportReport
        Added to.
    kind : str
        What it holds, as far as that is known before it is read.
    """

    def __init__(self, name: str, read: Read, report: ImportReport, kind: Written = "items") -> None:
        self._name = name
        self._read = read
        self._report = report
        self._kind = kind
        self._seen = Seen()

    def reading(self) -> Reading | None:
        """Return what it holds, None where it cannot be read; that is noted."""
        try:
            reading = self._read(self._refuse)
        except Unreadable as error:
            self._report.fail(self._kind, str(error))
            return None
        self._report.notes += [f"{self._name}: {note}" for note in reading.notes]
        return reading

    def write(self, reading: Reading, client: Client, progress: Callable[[int], None], *, prune: bool) -> None:
        """Write what was read, and with `prune` remove what the source no longer has. Raises `LocalError`."""
        stored = send(client, self._checked(reading), self._report, progress)
        if not prune:
            return
        for row in self._gone(reading, Catalogue(client)):
            # Global items are not the organisation's to remove: what was just written shows whose they are.
            if stored is not None and row["org_id"] == client.item(stored)["org_id"]:
                client.delete_item(row["id"])
                self._report.counts["items"]["removed"] += 1

    def compare(
        self, reading: Reading, client: Client, progress: Callable[[int], None], *, prune: bool
    ) -> Iterator[Change]:
        """Yield what `write` would change. Raises `LocalError`."""
        catalogue = Catalogue(client)
        for each in self._checked(reading):
            for change in compared([each], catalogue):
                self._report.counts[change.kind][change.what] += 1
                yield change
            progress(each.row.size)
        if prune:
            for row in self._gone(reading, catalogue):
                self._report.counts["items"]["removed"] += 1
                yield removed(row)

    def _checked(self, reading: Reading) -> Iterator[Checked]:
        for each in checked(reading.rows, self._refuse):
            if isinstance(each.content, ItemContent):
                self._seen.note(each.content)
            yield each

    def _gone(self, reading: Reading, catalogue: Catalogue) -> list[Stored]:
        scopes, why_not = scopes_of(reading, self._seen)
        if why_not is not None:
            self._report.notes.append(f"{self._name}: nothing is removed: {why_not}")
        return list(gone(scopes, self._seen, catalogue))

    def _refuse(self, where: str, reason: str, about: About = None, /) -> None:
        self._seen.refused.add(about)
        self._report.fail(self._kind, f"{where}: {reason}")
