"""How many of the results, and how much of each, have room in an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.mcp.rpc import to_text

Json = dict[str, Any]
Envelope = Callable[[list[Json]], Json]
"""Makes an answer of the results that are shown, in rank order."""

ANSWER_BYTES = 900_000
"""Of an answer as JSON. It is sent twice, structured and as text, where a quote takes four bytes of Lambda's 6 MB."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The limits of an answer.

    Attributes
    ----------
    measure : callable
        Returns the size of a text.
    room : int
        The largest size.
    chars_each : float
        How long a result may be for each unit of room that is left; a longer one is taken for too large unmeasured,
        unless it is in its least form.
    chars_in_all : float
        How many characters of such results are measured at all.
    """

    measure: Callable[[str], int]
    room: int
    chars_each: float = math.inf
    chars_in_all: float = math.inf

    def fits(self, answer: Json) -> bool:
        """Return whether an answer is within it."""
        return self.measure(to_text(answer)) <= self.room


def byte_limit(room: int = ANSWER_BYTES) -> Limit:
    """Return the limit that every answer has."""
    return Limit(lambda text: len(text.encode("utf-8", "replace")), room)


def token_limit(count: Callable[[str], int], room: int) -> Limit:
    """Return the limit of a caller's budget.

    A token of JSON has three letters on average, and to count those of a megabyte takes a second: what is eight times
    as long as the room that is left is not looked at, nor more than twice that in all.
    """
    return Limit(count, room, chars_each=8, chars_in_all=16 * room)


def fit(
    results: Sequence[Sequence[Json]], envelope: Envelope, limits: Sequence[Limit], steps: Sequence[int] = ()
) -> Json:
    """Return the answer with as many results as fit, then with as much of each as fits.

    All results come in before any of them says more: each in its least form, the best first. Then each step gives a
    form to those that say less, again the best first. The answer is never larger than the limits, and never without
    results when one of them fits alone in its least form.

    Parameters
    ----------
    results : sequence of sequence of dict
        Each in its forms, the least first; the best result first.
    envelope : callable
    limits : sequence of Limit
        An empty answer must be within them.
    steps : sequence of int
        Places of the forms to go on with; those that results do not have are passed over.
    """
    chosen = _Choice(results, envelope, limits)
    for place in range(len(results)):
        chosen.try_form(place, 0)
    for form in steps:
        for place, now in list(chosen.forms.items()):
            if now < form < len(results[place]):
                chosen.try_form(place, form)
    # Parts were measured one by one; a tokenizer may see the whole differently.
    while chosen.forms and not chosen.is_within():
        chosen.reduce()
    if not chosen.forms:
        alone = (place for place in range(len(results)) if chosen.fits_alone(place))
        chosen.forms = {place: 0 for place in [next(alone, None)] if place is not None}
    return chosen.answer()


class _Choice:
    """The results that are in, by their places, with the form of each."""

    def __init__(self, results: Sequence[Sequence[Json]], envelope: Envelope, limits: Sequence[Limit]) -> None:
        self.forms: dict[int, int] = {}
        self._results = results
        self._envelope = envelope
        self._limits = limits
        empty = to_text(envelope([]))
        self._used = [float(limit.measure(empty)) for limit in limits]
        self._sizes: dict[int, list[float]] = {}
        self._looked_at = 0

    def try_form(self, place: int, form: int) -> None:
        """Take a result in a form, in the place of the one that it is in, if there is room."""
        new = self._measured(self._results[place][form], is_least=form == 0)
        old = self._sizes.get(place, [0.0] * len(self._limits))
        used = [now - before + after for now, before, after in zip(self._used, old, new, strict=True)]
        if all(size <= limit.room for size, limit in zip(used, self._limits, strict=True)):
            self._used, self._sizes[place], self.forms[place] = used, new, form

    def reduce(self) -> None:
        """Show less of the last result that can do with less; where none can, leave out the last one."""
        last = max((place for place, form in self.forms.items() if form), default=max(self.forms))
        if self.forms[last]:
            self.forms[last] -= 1
        else:
            del self.forms[last]

    def fits_alone(self, place: int) -> bool:
        """Return whether there is room for a result alone, in its least form."""
        self.forms = {place: 0}
        return self.is_within()

    def is_within(self) -> bool:
        """Measure the whole answer."""
        text = to_text(self.answer())
        return all(limit.measure(text) <= limit.room for limit in self._limits)

    def answer(self) -> Json:
        """Return the answer as it is now."""
        return self._envelope([self._results[place][form] for place, form in sorted(self.forms.items())])

    def _measured(self, result: Json, *, is_least: bool) -> list[float]:
        text = f"{to_text(result)},"
        if is_least:
            return [float(limit.measure(text)) for limit in self._limits]
        for limit, used in zip(self._limits, self._used, strict=True):
            if len(text) > limit.chars_each * (limit.room - used) or self._looked_at > limit.chars_in_all:
                return [math.inf] * len(self._limits)
        self._looked_at += len(text)
        return [float(limit.measure(text)) for limit in self._limits]
