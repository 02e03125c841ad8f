"""The fields of what is written in bulk: those that are read, those that only answers have, and all others.

One rule for all of them (docs/api.md). Names that only answers have are left aside, so that what was read can be
written back. A field that are unknown never keeps a thing from being written: it is kept where the thing has a
document of its own, else left out; and there is a warning where something else was probably meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from pydantic import AliasChoices, BaseModel, model_validator

from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import InvalidInput
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.near_names import names_of, nearest
from skillroute.core.input.synonyms import SYNONYMS

MAX_WARNINGS = 20
"""Of one thing."""

UNKNOWN_FIELD = "unknown_field"
"""The type of a warning about one."""


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
        Whether unknown fields are kept.
    same : tuple of tuples of str
        Names of one field each.
    """

    taken: frozenset[str]
    shown: frozenset[str]
    keeps_others: bool = True
    same: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, model: type[BaseModel], shown: Collection[str], *, keeps_others: bool = True) -> KnownFields:
        """Return the names of what a model reads."""
        return cls(names_of(model), frozenset(shown), keeps_others, same_names(model))

    def without_shown(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Return a thing without what only answers have."""
        return {name: value for name, value in raw.items() if not self._is_shown(name, value)}

    def warnings(self, raw: object, place: str = "") -> list[FieldProblem]:
        """Return what is questionable about the names of a thing's fields, `MAX_WARNINGS` at most.

        Parameters
        ----------
        place : str
            Where the thing stands, with a full stop behind it: ``tools.3.``.
        """
        if not isinstance(raw, Mapping):
            return []
        found = (self._warning(name, raw, place) for name in islice(self.unknown(raw), MAX_WARNINGS))
        return [warning for warning in found if warning is not None]

    def with_one_name(self, raw: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[FieldProblem]]:
        """Return a thing with one name of each field, and what is wrong where two of them say different things."""
        return with_one_name(raw, self.same)

    def refuse_misspelt(self, raw: Mapping[str, Any]) -> None:
        """Refuse a thing with names that were probably meant for a field, where its answer has no place for warnings.

        Raises
        ------
        InvalidInput
        """
        found = [
            FieldProblem(name, f"is unknown: did you mean {field}?", UNKNOWN_FIELD)
            for name in self.unknown(raw)
            if (field := self._meant(name, raw)) is not None
        ]
        if found:
            raise InvalidInput.of(found[:MAX_WARNINGS])

    def unknown(self, raw: Mapping[str, Any]) -> Iterator[str]:
        """Yield the names of a thing's fields that are unknown."""
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
        meant = SYNONYMS.get(name)
        if meant not in self.taken:
            meant = nearest(name, self.taken)
        return None if meant in raw else meant


def same_names(model: type[BaseModel]) -> tuple[tuple[str, ...], ...]:
    """Return the names of each field of a model that has several."""
    aliases = [field.validation_alias for field in model.model_fields.values()]
    return tuple(tuple(map(str, alias.choices)) for alias in aliases if isinstance(alias, AliasChoices))


def with_one_name(
    raw: Mapping[str, Any], same: Sequence[Sequence[str]]
) -> tuple[Mapping[str, Any], list[FieldProblem]]:
    """Return a thing with one name of each field, and what is wrong where two of them say different things.

    Examples
    --------
    >>> with_one_name({"type": "tool", "item_type": "tool"}, [("type", "item_type")])
    ({'type': 'tool'}, [])
    """
    problems: list[FieldProblem] = []
    for names in same:
        first, *others = [name for name in names if name in raw] or [""]
        if not others:
            continue
        problems += [
            FieldProblem(name, f"is another name of {first}, and has another value: give one of them")
            for name in others
            if raw[name] != raw[first]
        ]
        raw = {name: value for name, value in raw.items() if name not in others}
    return raw, problems


class OneNameEach(BaseModel):
    """A request whose fields may have several names, of which one is given, or all with the same value."""

    @model_validator(mode="before")
    @classmethod
    def _with_one_name(cls, raw: object) -> object:
        if not isinstance(raw, Mapping):
            return raw
        settled, problems = with_one_name(raw, same_names(cls))
        if problems:
            raise ValueError("; ".join(f"{problem.field} {problem.message}" for problem in problems))
        return settled


class NullIsAbsent(BaseModel):
    """A request in which null says the same as leaving a field out: language models write it where nothing is meant."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, raw: object) -> object:
        if not isinstance(raw, Mapping):
            return raw
        known = set(cls.model_fields).union(*same_names(cls))  # an unknown field is refused, null or not
        return {name: value for name, value in raw.items() if value is not None or name not in known}


def refuse_of_others(raw: object, org_id: str | None) -> None:
    """Refuse what was read of another organisation, or is global: written back, it would be a copy of one's own.

    Only the token says whose a thing is: without the number that answers have as `id`, `org_id` counts for nothing.

    Raises
    ------
    InvalidInput
    """
    if isinstance(raw, Mapping) and isinstance(raw.get("id"), int) and raw.get("org_id", org_id) != org_id:
        problem = of_another(raw["org_id"])
        advice = "leave out id and org_id to write a copy of your own"
        raise InvalidInput.of([replace(problem, message=f"{problem.message}: {advice}")])


def of_another(org_id: object) -> FieldProblem:
    """Return what is wrong with something that was read of another organisation, or is global."""
    is_global = org_id is None
    whose = "global" if is_global else "another organisation's"
    return FieldProblem(
        "org_id",
        f"is {whose}, and organisations change only their own",
        ErrorCode.GLOBAL_ITEM.value if is_global else "value_error",
    )
