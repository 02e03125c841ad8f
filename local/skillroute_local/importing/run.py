"""An import of several sources: each written or compared, then what is gone from all of them removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from skillroute_local.client import Client
from skillroute_local.errors import LocalError
from skillroute_local.importing.compare import Change, removed
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.source import Source
from skillroute_local.importing.stored import Catalogue, Stored
from skillroute_local.importing.wanted import Wanted


class Bar(Protocol):
    """A progress bar of one source."""

    def sized(self, size: int) -> None:
        """Take the bytes that there are in all, once they are known."""
        ...

    def advance(self, done: int) -> None:
        """Take how many bytes more are done."""
        ...

    def end(self) -> None:
        """Show that the source is done."""
        ...


Bars = Callable[[str], Bar]
"""Makes the bar of a source, by its name."""

Show = Callable[[Change], None]


class Import:
    """Imports sources, all at first and later those that changed.

    Parameters
    ----------
    wanted : sequence of Wanted
    client : Client
    prune : bool
        Whether what is gone is removed.
    """

    def __init__(self, wanted: Sequence[Wanted], client: Client, *, prune: bool) -> None:
        self._wanted = wanted
        self._client = client
        self._prune = prune
        self._latest: dict[int, Source] = {}

    def write(self, bars: Bars, places: Iterable[int] | None = None) -> ImportReport:
        """Write sources, all unless places are named. Raises `LocalError`."""
        report = ImportReport()
        sources = self._each(report, bars, places, lambda source, bar: source.write(self._client, bar.advance))
        for source, row in self._gone(sources, Catalogue(self._client), report):
            self._remove(source, row, report)
        return report

    def compare(self, bars: Bars, show: Show) -> ImportReport:
        """Show what `write` would change. Raises `LocalError`."""
        report, catalogue = ImportReport(), Catalogue(self._client)

        def shown(change: Change) -> None:
            report.counts[change.kind][change.what] += 1
            show(change)

        def compare(source: Source, bar: Bar) -> None:
            for change in source.compare(catalogue, bar.advance):
                shown(change)

        sources = self._each(report, bars, None, compare)
        for _, row in self._gone(sources, catalogue, report):
            shown(removed(row))
        return report

    def _each(
        self, report: ImportReport, bars: Bars, places: Iterable[int] | None, work: Callable[[Source, Bar], None]
    ) -> list[Source]:
        sources = []
        for place in range(len(self._wanted)) if places is None else places:
            each = self._wanted[place]
            bar = bars(each.name)
            source = self._latest[place] = Source(each.name, each.read, report, each.kind)
            size = source.size()
            if size is not None:
                bar.sized(size)
                work(source, bar)
            bar.end()
            sources.append(source)
        return sources

    def _gone(
        self, sources: Sequence[Source], catalogue: Catalogue, report: ImportReport
    ) -> list[tuple[Source, Stored]]:
        """Return what sources no longer have, each once. One that was not read to its end may have it."""
        if not self._prune:
            return []
        latest = list(self._latest.values())
        unread = [
            wanted.name
            for place, wanted in enumerate(self._wanted)
            if place not in self._latest or not self._latest[place].is_whole
        ]
        if unread and len(self._wanted) > 1:
            report.notes.append(f"nothing is removed: {unread[0]} could not be read as a whole, and may have it")
            return []
        found = {
            row["id"]: (source, row)
            for source in sources
            for row in source.gone(catalogue, [each.seen for each in latest])
        }
        return list(found.values())

    def _remove(self, source: Source, row: Stored, report: ImportReport) -> None:
        # Global items are not an organisation's to remove: what was just written shows whose they are.
        if source.stored is None or row["org_id"] != self._client.item(source.stored)["org_id"]:
            return
        try:
            self._client.delete_item(row["id"])
        except LocalError as error:
            report.fail("items", f"{source.name}: {row['server']}/{row['name']} cannot be removed: {error}")
        else:
            report.counts["items"]["removed"] += 1
