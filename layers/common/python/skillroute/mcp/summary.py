"""Summarises a caller's catalogue in a few lines, for a model that decides whether to search it."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from skillroute.catalogue.model import ItemType
from skillroute.catalogue.read import ReadItems
from skillroute.core.caller import Caller
from skillroute.skills.read import ReadSkills

MAX_TOKENS = 160
"""Tokens of the summary, as the embedding model's tokenizer counts them."""

_MAX_SKILLS = 100


class CatalogueSummary:
    """Tells how many tools a caller sees, and in which tool groups most of them are.

    It depends on nothing but what the caller sees, so it stays the same to the letter until that changes, and prompts
    that begin with it stay in caches.
    """

    def __init__(self, items: ReadItems, skills: ReadSkills, count_tokens: Callable[[str], int]) -> None:
        self._items = items
        self._skills = skills
        self._count_tokens = count_tokens

    def __call__(self, caller: Caller) -> str:
        """Return the summary. Raises `DatabaseUnavailable`, and `EmbeddingUnavailable` where nothing counts tokens."""
        counts = self._items.counts(caller)
        held = ", ".join(_counted(counts[type_], type_) for type_ in get_args(ItemType) if type_ in counts)
        if not held:
            return "The catalogue is empty."
        skills, total = self._skills.largest(caller, limit=_MAX_SKILLS)
        sizes = [f"{skill.id} {skill.tool_count}" for skill in skills if skill.tool_count]
        shown = self._most_that_fit(f"The catalogue holds {held}", sizes, total)
        return shown or f"The catalogue holds {held}."

    def _most_that_fit(self, held: str, sizes: list[str], total: int) -> str | None:
        """Return the text with as many skills as have room, found by halving."""
        low, high, found = 1, len(sizes), None
        while low <= high:
            middle = (low + high) // 2
            rest = f", and {_counted(total - middle, 'more tool group')}" if total > middle else ""
            text = f"{held}, by tool group: {', '.join(sizes[:middle])}{rest}."
            if self._count_tokens(text) <= MAX_TOKENS:
                low, found = middle + 1, text
            else:
                high = middle - 1
        return found


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
