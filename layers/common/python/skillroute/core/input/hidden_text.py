"""Characters that nobody sees: refused in names, taken out of the texts that agents read; and letters that look alike.

An instruction in tag characters, or turned around by bidirectional controls, is read by a model and by no person who
looks at the catalogue.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any

from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.json_input import changed_places, with_texts
from skillroute.core.input.known_fields import MAX_WARNINGS

HIDDEN_CHARACTERS = "hidden_characters"
"""The type of a warning about them."""

LOOKS_ALIKE = "looks_alike"
"""The type of a warning about a name in letters that look like others."""

# Letters of other scripts that common fonts draw as Latin ones, in small letters (see Unicode's confusables, UTS #39).
_LOOKS_LIKE = str.maketrans(
    "аеорсухіјѕһԁԛԝкмтвнгбαονρτικυχηωıɡɑ⁄∕‐‑‒–—",
    "aeopcyxijshdqwkmtbhr6aovptikuxnwiga//-----",
)

# Soft hyphen, fillers, marks and overrides of direction, zero width, invisible operators, tags, further variations. Of
# joiners those between other letters than ASCII's stay, which Persian, Indian scripts and pictures are written with;
# of the selectors that make a picture of a sign, the first.
_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d\ufe0e\ufe0f]|[\u200c\u200d](?![^\x00-\x7f])"
    "|(?<=[\ufe0e\ufe0f])[\ufe0e\ufe0f]+"
)


def visible(text: str) -> str:
    """Return a text without the invisible characters.

    Examples
    --------
    >>> visible("Adds\u200b numbers\U000e0041\U000e0042"), visible("می\u200cخواهم \u26a0\ufe0f")
    ('Adds numbers', 'می\u200cخواهم ⚠️')
    """
    return text if text.isascii() else _HIDDEN.sub("", text)


def named(text: str) -> str:
    """Return a text with its invisible characters named.

    Examples
    --------
    >>> named("Adds\u200b numbers")
    'Adds<U+200B> numbers'
    """
    return _HIDDEN.sub(lambda found: "".join(f"<U+{ord(each):04X}>" for each in found[0]), text)


def visible_json(value: Any) -> Any:
    """Return JSON whose texts are `visible`. Keys stay as they are, for callers send them back."""
    return with_texts(value, visible)


def visible_fields(thing: Mapping[str, Any], names: AbstractSet[str]) -> dict[str, Any]:
    """Return a thing as `visible_json` does, but for the fields that `seen_name` looks at, or that are read apart."""
    return {key: inner if key in names else visible_json(inner) for key, inner in thing.items()}


def hidden_warnings(raw: Any, place: str = "") -> list[FieldProblem]:
    """Return the places of texts that `visible_json` changes: ``description``, ``input_schema.properties.a.title``."""
    message = "had invisible characters: they were removed"
    found = islice(changed_places(raw, visible, place.removesuffix(".")), MAX_WARNINGS)
    return [FieldProblem(field, message, HIDDEN_CHARACTERS) for field in found]


def look(name: str) -> str:
    """Return what a name looks like: names with the same look are told apart by no reader.

    Examples
    --------
    >>> look("Pаy"), look("pay")  # the first with a Cyrillic letter
    ('pay', 'pay')
    """
    return unicodedata.normalize("NFKC", visible(name)).casefold().translate(_LOOKS_LIKE)


def name_warnings(raw: Mapping[str, Any], fields: Iterable[str], place: str = "") -> list[FieldProblem]:
    """Return the names that look like ones of ASCII and have letters of another alphabet, dashes or wide forms."""
    names = [(field, raw.get(field)) for field in fields]
    return [
        FieldProblem(f"{place}{field}", f"looks like {look(name)!r}, in other characters than these", LOOKS_ALIKE)
        for field, name in names
        if isinstance(name, str) and not name.isascii() and look(name).isascii()
    ]


def seen_name(name: str) -> str:
    """Return a name in the one spelling that Unicode has for what looks the same (NFC).

    Raises
    ------
    ValueError
        It holds control characters, or ones that nobody sees: a second thing could look just like the first.
    """
    if name.isascii() and name.isprintable():
        return name
    for character in name:
        if unicodedata.category(character) == "Cc":
            raise ValueError("control characters are not allowed")
    if hidden := _HIDDEN.search(name):
        raise ValueError(f"invisible characters are not allowed: U+{ord(hidden[0][0]):04X}")
    return unicodedata.normalize("NFC", name)
