"""Where an export goes on: an opaque text that holds no rows, so that no server has to remember anything."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillroute.core.errors.model import InvalidInput

MAX_LENGTH = 2000
"""Characters of a cursor; one of all kinds has some 700."""

_FORMAT = 1
_LAST_KEY = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far an export has come.

    Attributes
    ----------
    versions : mapping of kind to str
        Of each kind of the export, in its order: the version that its rows were read at.
    kinds : tuple of str
        Those that are read since the last end.
    todo : tuple of str
        Those of them that are not exported yet, the one that is being exported first; empty at the end.
    after : int
        The last key of the first of them.
    """

    versions: Mapping[str, str]
    kinds: tuple[str, ...] = ()
    todo: tuple[str, ...] = ()
    after: int = 0

    def __str__(self) -> str:
        value = [_FORMAT, self.versions, list(self.kinds), list(self.todo), self.after]
        return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Return the cursor of a text. Raises `InvalidInput` for one that no export gave."""
        try:
            found = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            cursor = cls._of(found)
        except (ValueError, TypeError, AttributeError, RecursionError):
            cursor = None
        if cursor is None:
            raise InvalidInput("after", "is not what an export gave as `after`: leave it out to begin again")
        return cursor

    @classmethod
    def _of(cls, found: Any) -> Cursor | None:
        form, versions, kinds, todo, after = found
        if form != _FORMAT or not versions or not all(isinstance(version, str) for version in versions.values()):
            return None
        if any([kind for kind in versions if kind in some] != some for some in (kinds, todo)):  # each once, in order
            return None
        if not isinstance(after, int) or isinstance(after, bool) or not 0 <= after <= _LAST_KEY:
            return None
        return cls(versions, tuple(kinds), tuple(todo), after)
