"""The fields of what is written in bulk: those that are read, those that only answers have, and all others.

One rule for all of them (docs/api.md). Names that only answers have are left aside, so that what was read can be
written back. A field that nobody knows never keeps a thing from being written: it is kept where the thing has a
document of its own, else left out; and there is a warning where something else was probably meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from pydantic import AliasChoices, BaseModel

from skillroute.core.errors import FieldProblem, InvalidInput

MOST_WARNINGS = 20
"""Of one thing."""

UNKNOWN_FIELD = "unknown_field"
"""The type of a warning about one."""

_LONGEST = 40
_ALIKE = 0.8


@dataclass(frozen=True, slots=True)
class KnownFields:
    """The names that a kind of thing has.

    Attributes
    ----------
    taken : frozenset of str
        What is read.
    shown : frozenset of str
        What only answers have. An `id` is among them where it is a number: a text is the importer's own.
    keeps_others : bool
        Whether what nobody knows is kept.
    """

    taken: frozenset[str]
    shown: frozenset[str]
    keeps_others: bool = True

    def without_shown(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Return a thing without what only answers have."""
        return {name: value for name, value in raw.items() if not self._is_shown(name, value)}

    def warnings(self, raw: object, place: str = "") -> list[FieldProblem]:
        """Return what is questionable about the names of a thing's fields, `MOST_WARNINGS` at most.

        Parameters
        ----------
        place : str
            Where the thing stands, with a full stop behind it: ``tools.3.``.
        """
        if not isinstance(raw, Mapping):
            return []
        found = (self._warning(name, raw, place) for name in islice(self._unknown(raw), MOST_WARNINGS))
        return [warning for warning in found if warning is not None]

    def refuse_misspelt(self, raw: Mapping[str, Any]) -> None:
        """Refuse a thing with names that were probably meant for a field, where its answer has no place for warnings.

        Raises
        ------
        InvalidInput
        """
        found = [
            FieldProblem(name, f"is unknown: did you mean {field}?", UNKNOWN_FIELD)
            for name in self._unknown(raw)
            if (field := self._meant(name, raw)) is not None
        ]
        if found:
            raise InvalidInput.of(found[:MOST_WARNINGS])

    def _unknown(self, raw: Mapping[str, Any]) -> Iterator[str]:
        return (name for name, value in raw.items() if name not in self.taken and not self._is_shown(name, value))

    def _is_shown(self, name: str, value: object) -> bool:
        return name in self.shown and (name != "id" or (isinstance(value, int) and not isinstance(value, bool)))

    def _warning(self, name: str, raw: Mapping[str, Any], place: str) -> FieldProblem | None:
        meant = self._meant(name, raw)
        if meant is None and self.keeps_others:
            return None
        fate = "kept as it came" if self.keeps_others else "left out"
        question = "" if meant is None else f": did you mean {meant}?"
        return FieldProblem(f"{place}{name}", f"is unknown and was {fate}{question}", UNKNOWN_FIELD)

    def _meant(self, name: str, raw: Mapping[str, Any]) -> str | None:
        meant = _nearest(name, self.taken) if len(name) <= _LONGEST else None
        return None if meant in raw else meant


def names_of(model: type[BaseModel]) -> frozenset[str]:
    """Return all names that a model takes its fields by."""
    names: set[str] = set()
    for name, field in model.model_fields.items():
        alias = field.validation_alias or field.alias
        names.update(map(str, alias.choices) if isinstance(alias, AliasChoices) else [str(alias or name)])
    return frozenset(names)


def refuse_of_others(raw: object, org_id: str | None) -> None:
    """Refuse what was read of another organisation, or is global: written back, it would be a copy of one's own.

    Only the token says whose a thing is: without the number that answers have as `id`, `org_id` counts for nothing.

    Raises
    ------
    InvalidInput
    """
    if isinstance(raw, Mapping) and isinstance(raw.get("id"), int) and raw.get("org_id", org_id) != org_id:
        whose = "global" if raw["org_id"] is None else "another organisation's"
        raise InvalidInput("org_id", f"is {whose}: leave out id and org_id to write a copy of your own")


@lru_cache(maxsize=4096)
def _nearest(name: str, known: frozenset[str]) -> str | None:
    import difflib  # noqa: PLC0415 (for a name that nobody knows, which few things have)

    found = difflib.get_close_matches(name, sorted(known), n=1, cutoff=_ALIKE)
    return found[0] if found else None
