"""The names of a model's fields, and which of them was probably meant by another."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel

_MAX_LENGTH = 40
_ALIKE = 0.8


def names_of(model: type[BaseModel]) -> frozenset[str]:
    """Return all names that a model takes its fields by."""
    return frozenset(name for names in _named_fields(model) for name in names)


def names_at(kind: Any, place: Sequence[str | int]) -> frozenset[str]:
    """Return the names that may stand where an error of pydantic's says that another one does.

    Parameters
    ----------
    kind : type
        Of the whole, with annotations.
    place : sequence of str and int
        The path to the unknown field, which is its last part; empty where nothing is known of the place.
    """
    for part in place[:-1]:
        kind = next(_within(kind, part), None)
    return frozenset().union(*(names_of(model) for model in _models(kind)))


def nearest(name: str, known: frozenset[str]) -> str | None:
    """Return which of the known names was probably meant."""
    return _nearest(name, known) if len(name) <= _MAX_LENGTH else None


def _named_fields(model: type[BaseModel]) -> dict[tuple[str, ...], Any]:
    """Return the annotation of each field by its names."""
    found = {}
    for name, field in model.model_fields.items():
        alias = field.validation_alias or field.alias
        names = tuple(map(str, alias.choices)) if isinstance(alias, AliasChoices) else (str(alias or name),)
        found[names] = field.annotation
    return found


def _within(kind: Any, part: str | int) -> Iterator[Any]:
    """Yield the types of what stands at a part of a place."""
    for option in _options(kind):
        if isinstance(part, int) and get_origin(option) in {list, tuple}:
            yield get_args(option)[0]
        elif isinstance(option, type) and issubclass(option, BaseModel):
            if option.__name__ == part:  # which of several models the error is of
                yield option
            yield from (inner for names, inner in _named_fields(option).items() if part in names)


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    return (option for option in _options(kind) if isinstance(option, type) and issubclass(option, BaseModel))


def _options(kind: Any) -> Iterator[Any]:
    """Yield the types that an annotation stands for."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _options(get_args(kind)[0])
    elif origin in {Union, types.UnionType}:
        for option in get_args(kind):
            yield from _options(option)
    else:
        yield kind


@lru_cache(maxsize=4096)
def _nearest(name: str, known: frozenset[str]) -> str | None:
    import difflib  # noqa: PLC0415 (for a name that are unknown, which few things have)

    # Of short names a swap of two letters is a lesser likeness than another word is: `args` and `tags`.
    swapped = next((one for one in sorted(known) if sorted(one) == sorted(name)), None)
    if swapped is not None:
        return swapped
    found = difflib.get_close_matches(name, sorted(known), n=1, cutoff=_ALIKE)
    return found[0] if found else None
