"""One source on its way in: read, checked, and written or tried; and what it no longer has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from skillroute.agent_skills.schemas import AgentSkillGiven
from skillroute.catalogue.model import ItemContent

from skillroute_local.client import Client, Written
from skillroute_local.importing.check import Checked, checked
from skillroute_local.importing.gone import Gone, Seen, gone, scopes_of, unsure_of
from skillroute_local.importing.model import About, Reading, Refuse, Row, Unreadable
from skillroute_local.importing.pruned import Pruned
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.send import send
from skillroute_local.importing.stored import Catalogue, Stored
from skillroute_local.importing.trial import Trial

Read = Callable[[Refuse], Reading]
"""Reads a source, and notes what it refuses. Raises `Unreadable`."""

Progress = Callable[[int], None]
"""Called with how many bytes more are done."""


class Source:
    """A source that is imported, once.

    Parameters
    ----------
    name : str
        What notes call it.
    read : callable
    report : ImportReport
        Added to.
    kind : str
        What it holds, as far as that is known before it is read.

    Attributes
    ----------
    seen : Seen
        What it has, as far as it was written or tried.
    stored : int or None
        The id of an item that it wrote.
    """

    def __init__(self, name: str, read: Read, report: ImportReport, kind: Written = "items") -> None:
        self.name = name
        self.seen = Seen()
        self.stored: int | None = None
        self._read = read
        self._report = report
        self._kind = kind
        self._reading: Reading | None = None
        self._is_done = False

    @property
    def reading(self) -> Reading | None:
        """The reading of it; None where it could not be read."""
        return self._reading

    @property
    def is_whole(self) -> bool:
        """Whether everything that it has is known: it was read to its end, and no unknown part of it was refused."""
        return self._is_done and None not in self.seen.refused

    def size(self) -> int | None:
        """Read it, and return how many bytes its rows have; None where it cannot be read, which is noted."""
        try:
            reading = self._reading = self._read(self._refuse)
        except Unreadable as error:
            self._report.fail(self._kind, str(error))
            return None
        except OSError as error:  # renamed or deleted just now
            self._report.fail(self._kind, f"{self.name}: cannot be read: {error.strerror}")
            return None
        self._report.notes += [f"{self.name}: {note}" for note in reading.notes]
        self._report.left_out += reading.left_out
        return reading.size

    def write(self, client: Client, progress: Progress, into: Trial | Pruned) -> None:
        """Write what was read, and switch on what of it an import had switched off; or try it. Raises `LocalError`."""
        self.stored = send(client, self._checked(), self._report, progress, into)
        self._is_done = True

    @property
    def unsure(self) -> set[str]:
        """The servers of which it has a part at most."""
        return unsure_of(self._reading, self.seen) if self._reading else set()

    def gone(
        self,
        catalogue: Catalogue,
        all_seen: Sequence[Seen],
        unsure: Mapping[str, str],
        notes: list[str],
        may_remove: Callable[[Stored], bool],
    ) -> list[Gone]:
        """Return what is stored of that which it lists in full and no source has.

        Parameters
        ----------
        all_seen : sequence of Seen
            What each of the sources has, this one among them: they may share a server.
        unsure : mapping
            The servers of which one of the sources has a part, and that source.
        notes : list of str
            Added to: why something stays.
        may_remove : callable
            Returns whether an item is the caller's to remove.
        """
        if self._reading is None or self._reading.kind == "agent_skills":
            return []
        scopes, why_not = scopes_of(self._reading, self.seen)
        if why_not is not None:
            notes.append(f"{self.name}: nothing is removed: {why_not}")
            return []
        found = []
        why: dict[str, None] = {}
        for each in gone(scopes, all_seen, catalogue, may_remove):
            scope = each.scope
            if scope.server in unsure:
                why[f"nothing of {scope.server} is removed: {unsure[scope.server]} has only a part of it"] = None
            elif not self.seen.lists(scope):
                why[f"no {scope.type} of {scope.server} is removed: it lists none"] = None
            else:
                found.append(each)
        notes += [f"{self.name}: {reason}" for reason in why]
        return found

    def _checked(self) -> Iterator[Checked]:
        for valid in checked(self._rows(), self._refuse):
            if isinstance(valid.content, ItemContent):
                self.seen.note(valid.content)
            elif isinstance(valid.content, AgentSkillGiven):
                self.seen.paths.add(valid.content.content.path)
            yield valid

    def _rows(self) -> Iterator[Row]:
        """Yield the rows. What is read as it is asked for may end early: what comes after that is unknown."""
        try:
            yield from self._reading.rows if self._reading else ()
        except OSError as error:
            self._refuse(self.name, f"cannot be read: {error.strerror}")

    def _refuse(self, where: str, reason: str, about: About = None, /) -> None:
        self.seen.refused.add(about)
        self._report.fail(self._reading.kind if self._reading else self._kind, f"{where}: {reason}")
