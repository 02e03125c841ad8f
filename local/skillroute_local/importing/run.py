"""An import of several sources: each written or tried, then what is gone from all of them removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from skillroute_local.client import Client, Written
from skillroute_local.errors import LocalError
from skillroute_local.importing.compare import Change, removed
from skillroute_local.importing.gone import Gone
from skillroute_local.importing.pruned import Pruned, switch_off
from skillroute_local.importing.pruning import Now, Pruning, Step, Steps, kept_for, now, steps_of
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.skill_pruning import former_resources, gone_skills
from skillroute_local.importing.source import Source
from skillroute_local.importing.stored import Catalogue, Stored
from skillroute_local.importing.trial import Show, Trial
from skillroute_local.importing.wanted import Wanted

_FORMER = (
    "resources with the tag agent-skill are what former imports made of Agent Skills, and are found next to them: "
    "--prune deletes them"
)


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


class Import:
    """Imports sources, all at first and later those that changed.

    Parameters
    ----------
    wanted : sequence of Wanted
    client : Client
    pruning : Pruning or None
        What of that which is gone may be removed; None removes nothing.
    now : callable
        The time; replaced in tests.

    Attributes
    ----------
    report : ImportReport
        The latest one; of an import that ended early, what had become of things by then.
    """

    def __init__(
        self, wanted: Sequence[Wanted], client: Client, *, pruning: Pruning | None = None, now: Now = now
    ) -> None:
        self._wanted = wanted
        self._client = client
        self._pruning = pruning
        self._now = now
        self._latest: dict[int, Source] = {}
        # Those that were read since it was last sure what is gone.
        self._to_prune: dict[int, Source] = {}
        self._writes_global: bool | None = None
        self.report = ImportReport()

    def write(self, bars: Bars, places: Iterable[int] | None = None) -> ImportReport:
        """Write sources, all unless places are named. Raises `LocalError`."""
        report = self.report = ImportReport()
        pruned = Pruned(self._client)
        self._each(report, bars, places, lambda source, bar: source.write(self._client, bar.advance, pruned))
        catalogue = Catalogue(self._client)
        steps = self._steps(catalogue, report, lambda row: row["org_id"] is not None or self._is_global())
        for source, row, step in steps.todo.values():
            self._remove(source, row, step, report)
        for kind, source, row in self._gone_skills(catalogue, report):
            self._delete(kind, source, row, report)
        if self._pruning and steps.count("removed"):
            report.notes.append(kept_for(steps.count("removed"), self._pruning))
        return report

    def compare(self, bars: Bars, show: Show) -> ImportReport:
        """Show what `write` would change. Raises `LocalError`."""
        report, catalogue = ImportReport(), Catalogue(self._client)
        trial = Trial(self._client, catalogue, show)
        self._each(report, bars, None, lambda source, bar: source.write(self._client, bar.advance, trial))
        # Of a caller who has items of an organisation it is known that global ones are not theirs to remove.
        steps = self._steps(catalogue, report, lambda row: row["org_id"] is not None or not catalogue.has_own)
        for _, row, step in steps.todo.values():
            report.counts["items"][step] += 1
            show(removed(row, step))
        for kind, _, row in self._gone_skills(catalogue, report):
            report.counts[kind]["deleted"] += 1
            show(removed(row, "deleted") if kind == "items" else Change(kind, "deleted", row["path"], "for good"))
        if any(row["org_id"] is None for _, row, _ in steps.todo.values()):
            report.notes.append("global items are among those to be removed: the import of an organisation keeps them")
        return report

    def _each(
        self, report: ImportReport, bars: Bars, places: Iterable[int] | None, work: Callable[[Source, Bar], None]
    ) -> None:
        for place in range(len(self._wanted)) if places is None else places:
            wanted = self._wanted[place]
            bar = bars(wanted.name)
            source = self._latest[place] = Source(wanted.name, wanted.read, report, wanted.kind)
            size = source.size()
            if size is not None:
                bar.sized(size)
                work(source, bar)
            bar.end()
            self._to_prune[place] = source

    def _steps(self, catalogue: Catalogue, report: ImportReport, may_remove: Callable[[Stored], bool]) -> Steps:
        """Return what becomes of what is gone. That more is gone than may be removed is a problem of the report."""
        if self._pruning is None:
            return Steps()
        steps = steps_of(self._gone(catalogue, report, may_remove), self._pruning, self._now())
        report.problems += steps.refused
        return steps

    def _gone_skills(self, catalogue: Catalogue, report: ImportReport) -> list[tuple[Written, str, Stored]]:
        """Return the Agent Skills that sources no longer have, and the resources that they were in former imports."""
        sources = list(self._latest.values())
        former = _each_once(former_resources(sources, catalogue, report))
        if former and self._pruning is None:
            report.notes.append(f"{len(former)} {_FORMER}")
        # One that was not read to its end may have what is gone from the others; alone, it says so itself.
        is_sure = len(self._wanted) == 1 or all(map(self._is_read, range(len(self._wanted))))
        if self._pruning is None or not is_sure:
            return []
        gone = _each_once(gone_skills(sources, catalogue, self._pruning, report))
        return [*(("agent_skills", *each) for each in gone), *(("items", *each) for each in former)]

    def _is_read(self, place: int) -> bool:
        return place in self._latest and self._latest[place].is_whole

    def _gone(
        self, catalogue: Catalogue, report: ImportReport, may_remove: Callable[[Stored], bool]
    ) -> list[tuple[str, Gone]]:
        """Return what sources no longer have, each scope once. One that was not read to its end may have it."""
        latest = list(self._latest.values())
        unread = [wanted.name for place, wanted in enumerate(self._wanted) if not self._is_read(place)]
        if unread and len(self._wanted) > 1:
            report.notes.append(f"nothing is removed: {unread[0]} could not be read as a whole, and may have it")
            return []
        all_seen = [source.seen for source in latest]
        unsure = {server: source.name for source in latest for server in source.unsure}
        found = {
            gone.scope: (source.name, gone)
            for source in self._to_prune.values()
            for gone in source.gone(catalogue, all_seen, unsure, report.notes, may_remove)
        }
        self._to_prune.clear()
        return list(found.values())

    def _is_global(self) -> bool:
        """Return whether global items are the caller's to remove: what was just written shows whose they are."""
        if self._writes_global is None:
            stored = next((source.stored for source in self._latest.values() if source.stored is not None), None)
            if stored is None:
                return False
            self._writes_global = self._client.item(stored)["org_id"] is None
        return self._writes_global

    def _delete(self, kind: Written, source: str, row: Stored, report: ImportReport) -> None:
        try:
            self._client.delete("tools" if kind == "items" else "agent_skills", str(row["id"]))
        except LocalError as error:
            report.fail(kind, f"{source}: {row.get('path') or row['name']} cannot be removed: {error}")
        else:
            report.counts[kind]["deleted"] += 1

    def _remove(self, source: str, row: Stored, step: Step, report: ImportReport) -> None:
        try:
            if step == "deleted":
                self._client.delete_item(row["id"])
            else:
                switch_off(self._client, row["id"], self._now())
        except LocalError as error:
            report.fail("items", f"{source}: {row['server']}/{row['name']} cannot be removed: {error}")
        else:
            report.counts["items"][step] += 1


def _each_once(found: Iterable[tuple[str, Stored]]) -> list[tuple[str, Stored]]:
    """Return rows with their sources: several sources may list the same in full."""
    return list({row["id"]: (source, row) for source, row in found}.values())
