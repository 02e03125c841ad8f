"""The words of one list of skills, and how many of them a tool has in common with each skill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillroute.catalogue.text import split_name
from skillroute.skills.classification.model import SkillProfile, ToolProfile
from skillroute.skills.text import description_stems, name_stems, stems, term_stems

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What tools do, and words that lead up to what they do it with: a skill that has them explains nothing of a tool.
# fmt: off
_DEEDS = frozenset({
    "add", "all", "assign", "book", "by", "calculate", "cancel", "change", "check", "close", "compute", "convert",
    "create", "delete", "describe", "do", "download", "edit", "enter", "export", "fetch", "find", "for", "from",
    "generate", "get", "give", "id", "import", "in", "insert", "is", "issue", "list", "load", "log", "look", "lookup",
    "make", "manage", "modify", "move", "new", "of", "on", "open", "order", "perform", "plan", "post", "print",
    "publish", "put", "query", "read", "record", "register", "remove", "report", "request", "reserve", "retrieve",
    "return", "run", "save", "schedule", "search", "send", "set", "show", "start", "stop", "submit", "take", "to",
    "track", "up", "update", "upload", "view", "with", "write",
})
# fmt: on


@dataclass(frozen=True, slots=True)
class SharedWords:
    """The words that a tool shares with each skill.

    Attributes
    ----------
    in_name : int [skills]
        Keywords whose words all stand in the tool's name or server.
    in_text : int [skills]
        Further keywords whose words stand in name, server or description.
    skill_name : float64 [skills]
        The share of the words of the skill's name that stand in the tool's name or server.
    explained : float64 [skills]
        The share of the words of the tool's name, deeds left out, that the skill has anywhere.
    """

    in_name: NDArray[np.intp]
    in_text: NDArray[np.intp]
    skill_name: NDArray[np.float64]
    explained: NDArray[np.float64]


class SkillWords:
    """Finds the skills that a tool's words occur in.

    Parameters
    ----------
    keywords : sequence of str
        The different keywords of the list.
    owners : sequence of list of int
        The places of the skills that have each keyword.
    """

    def __init__(
        self, skills: Sequence[SkillProfile], keywords: Sequence[str], owners: Sequence[Sequence[int]]
    ) -> None:
        import numpy as np  # noqa: PLC0415 - 70 ms that a function without a classifier should not pay

        self._size, self._owners = len(skills), owners
        wanted = [term_stems(keyword) for keyword in keywords]
        self._wanted = [len(asked) for asked in wanted]
        self._keywords_with = _inverted(wanted)
        names = [term_stems(skill.name) for skill in skills]
        self._names_with = _inverted(names)
        self._name_lengths: NDArray[np.float64] = np.array([max(1, len(name)) for name in names], np.float64)
        self._texts_with = _inverted([_all_stems(skill) for skill in skills])

    def shared_with(self, tool: ToolProfile) -> SharedWords:
        """Count what a tool shares with every skill."""
        named = name_stems(tool)
        in_name, in_text = self._keyword_words(named, description_stems(tool))
        subjects = subject_stems(tool.name)
        return SharedWords(
            in_name,
            in_text,
            self._occurrences(named, self._names_with) / self._name_lengths,
            self._occurrences(subjects, self._texts_with) / max(1, len(subjects)),
        )

    def _keyword_words(
        self, named: Collection[str], described: Collection[str]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Count each skill's keywords in a tool's name, and the further ones in all its texts."""
        import numpy as np  # noqa: PLC0415

        in_name, in_text = np.zeros((2, self._size), np.intp)
        seen = Counter(number for stem in named for number in self._keywords_with.get(stem, ()))
        for number, count in seen.items():
            if count == self._wanted[number]:
                in_name[self._owners[number]] += 1
        more = Counter(
            number for stem in described if stem not in named for number in self._keywords_with.get(stem, ())
        )
        for number, count in more.items():
            if count + seen[number] == self._wanted[number]:
                in_text[self._owners[number]] += 1
        return in_name, in_text

    def _occurrences(self, words: Collection[str], rows_with: dict[str, list[int]]) -> NDArray[np.float64]:
        """Count how many of some words each skill has."""
        import numpy as np  # noqa: PLC0415

        found = np.zeros(self._size)
        for stem in words:
            found[rows_with.get(stem, [])] += 1.0
        return found


def subject_stems(name: str) -> frozenset[str]:
    """Return the stems of what a tool is about by its name; of all its words where it names only deeds.

    Examples
    --------
    >>> sorted(subject_stems("get_stock_levels")), sorted(subject_stems("search"))
    (['level', 'stock'], ['search'])
    """
    named = stems(split_name(name))
    return named - _DEEDS or named


def _all_stems(skill: SkillProfile) -> frozenset[str]:
    examples = " ".join(map(split_name, skill.examples))
    return stems(f"{skill.name} {skill.description} {split_name(' '.join(skill.keywords))} {examples}") - _DEEDS


def _inverted(wanted: Sequence[frozenset[str]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, words in enumerate(wanted):
        for word in words:
            found.setdefault(word, []).append(number)
    return found
