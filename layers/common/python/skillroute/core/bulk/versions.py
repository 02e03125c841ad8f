"""Versions of what several people change: a writer may say which one it has read, and is refused where that is past.

docs/adr/0049 says what counts as a version.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, Protocol, TypeVar

from skillroute.core.errors.model import DependencyUnavailable, NotFound, VersionConflict

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def version_of(updated_at: datetime, content_hash: str = "") -> str:
    """Return the version of something by when it last changed, and by what it says where that is known.

    Examples
    --------
    >>> version_of(datetime(2026, 1, 1, tzinfo=UTC), "0123456789abcdef")
    '6474dd2f70000-01234567'
    """
    microseconds = (updated_at - _EPOCH) // timedelta(microseconds=1)
    return f"{microseconds:x}" + (f"-{content_hash[:8]}" if content_hash else "")


@dataclass(frozen=True, slots=True)
class Expected:
    """The versions that a writer takes for the present one.

    Attributes
    ----------
    versions : frozenset of str or None
        None: any, as long as there is one.
    """

    versions: frozenset[str] | None

    def check(self, current: str | None, what: str) -> None:
        """Refuse to go on from another version.

        Parameters
        ----------
        current : str or None
            The version now; None where the thing is not there.
        what : str
            As callers call it: ``skill mail``.

        Raises
        ------
        VersionConflict
        """
        if current is None:
            raise VersionConflict(f"{what} is not there", None)
        if self.versions is not None and current not in self.versions:
            raise VersionConflict(f"{what} has changed since it was read: read it again", current)


def check_version(expected: Expected | None, current: str | None, what: str) -> None:
    """Refuse to go on from another version than the one expected, if any is. Raises `VersionConflict`."""
    if expected is not None:
        expected.check(current, what)


@dataclass(slots=True)
class OneWrite(Generic[T]):
    """A thing that is written by its id.

    Attributes
    ----------
    expected : Expected or None
        The version that its writer has read; None where it does not say.
    written : T or None
        What was stored, read in the transaction that did: after it others may have changed it again.
    """

    id: int
    expected: Expected | None
    written: T | None = None


class Versioned(Protocol):
    """Something that has a version."""

    @property
    def version(self) -> str: ...


VersionedT = TypeVar("VersionedT", bound=Versioned)


def as_answered(written: VersionedT, look: Callable[[], VersionedT]) -> VersionedT:
    """Return what is there now where it is what was written still: it may have a vector since the commit.

    Parameters
    ----------
    look : callable
        Reads it once more. Raises `NotFound`, or `DependencyUnavailable`: what was written is stored all the same, and
        an answer that asks for another try would be met by its own version.
    """
    try:
        now = look()
    except (NotFound, DependencyUnavailable):
        return written
    return now if now.version == written.version else written
