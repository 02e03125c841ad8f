"""The skills of one list as one matrix, and what is measured between a tool and each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillroute.catalogue.text import split_name
from skillroute.core.embedding.model import Vector
from skillroute.skills.classification import SkillProfile, ToolProfile
from skillroute.skills.classifiers.similarity_topics import TOPICS
from skillroute.skills.text import description_stems, name_stems, term_stems

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Embed = Callable[[Sequence[str]], Floats]

FEATURES = (
    "one",  # 1
    "description",  # cosine of the tool to "name: description"
    "has_keywords",  # 1 or 0, as the other two; what a skill does not have counts 0
    "keywords",  # mean of the three highest cosines to its keywords, each embedded alone
    "has_examples",
    "examples",  # cosine to its examples, embedded as one text
    "has_tools",
    "tools",  # cosine to the centroid of the tools that people assigned to it
    "words_in_name",  # keywords whose words all stand in the tool's name or server; 2 at most
    "words_in_text",  # further keywords whose words stand in name, server or description; 2 at most
    "skill_name",  # the share of the words of the skill's name that stand in the tool's name or server
    "background",  # highest cosine to a topic (similarity_topics) that is not the skill's own
    "mean",  # mean of the cosines to description, keywords and tools, of those the skill has
)
_NAMED_TWICE = 2
_TOP = 3
_OWN_TOPIC = 0.3
"""From this cosine to a skill's description on, a topic is the skill's own and no background for it. 0.3 and 0.4
measured alike."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements between one tool and every skill of a table.

    Attributes
    ----------
    features : float64 [skills, features]
        In the order of `FEATURES`.
    keyword_cosines : float32 [keywords]
        To every different keyword of the list, in the order of `SkillTable.keywords`.
    """

    features: NDArray[np.float64]
    keyword_cosines: Floats


class SkillTable:
    """The skills of one list, sorted by id: the order in which they were given changes nothing, not even rounding.

    Parameters
    ----------
    skills : sequence of SkillProfile
    embed : callable
        Turns texts into float32 [texts, dimension]; called once.
    dimension : int
        A vector of another length, of another model that is, counts as none.
    """

    def __init__(self, skills: Sequence[SkillProfile], embed: Embed, dimension: int) -> None:
        self.skills = sorted(skills, key=lambda skill: skill.id)
        self.keywords = list(dict.fromkeys(keyword for skill in self.skills for keyword in skill.keywords))
        self._dimension = dimension
        self._stack_vectors(embed)
        self._place_keywords()
        self._index_words()

    def _stack_vectors(self, embed: Embed) -> None:
        """Return one matrix: descriptions, examples, centroids, topics, keywords. A missing text is all zeros."""
        import numpy as np  # noqa: PLC0415 - 70 ms that a function without a classifier should not pay

        size, zeros = len(self.skills), [0.0] * self._dimension
        unknown = [skill for skill in self.skills if not self._fits(skill.description_embedding)]
        examples = [", ".join(map(_words, skill.examples)) for skill in self.skills]
        vectors = iter(
            embed(
                [
                    *(f"{skill.name}: {skill.description}" for skill in unknown),
                    *filter(None, examples),
                    *TOPICS,
                    *map(_words, self.keywords),
                ]
            )
        )
        described = {skill.id: next(vectors) for skill in unknown}
        rows = [
            *(described.get(skill.id, skill.description_embedding) for skill in self.skills),
            *(next(vectors) if text else zeros for text in examples),
            *(skill.centroid if self._fits(skill.centroid) else zeros for skill in self.skills),
            *vectors,
        ]
        self._vectors: Floats = np.array(rows, np.float32)
        topics = self._vectors[3 * size : 3 * size + len(TOPICS)]
        self._is_own: NDArray[np.bool_] = self._vectors[:size] @ topics.T >= _OWN_TOPIC
        has = [(bool(skill.keywords), bool(skill.examples), self._fits(skill.centroid)) for skill in self.skills]
        self._has: NDArray[np.float64] = np.array(has, np.float64)

    def _fits(self, vector: Vector | None) -> bool:
        return vector is not None and len(vector) == self._dimension

    def _place_keywords(self) -> None:
        """Return which keywords a skill has, int [skills, most]; one past the last stands for none."""
        import numpy as np  # noqa: PLC0415

        place = {keyword: number for number, keyword in enumerate(self.keywords)}
        most = max(_TOP, *(len(skill.keywords) for skill in self.skills))
        self._places: NDArray[np.intp] = np.full((len(self.skills), most), len(place), np.intp)
        self._owners: list[list[int]] = [[] for _ in place]
        for row, skill in enumerate(self.skills):
            own = [place[keyword] for keyword in dict.fromkeys(skill.keywords)]
            self._places[row, : len(own)] = own
            for number in own:
                self._owners[number].append(row)

    def _index_words(self) -> None:
        """Return which keywords, and which skills' names, a word occurs in."""
        import numpy as np  # noqa: PLC0415

        wanted = [term_stems(keyword) for keyword in self.keywords]
        self._wanted = [len(stems) for stems in wanted]
        self._keywords_with = _inverted(wanted)
        names = [term_stems(skill.name) for skill in self.skills]
        self._names_with = _inverted(names)
        self._name_lengths: NDArray[np.float64] = np.array([max(1, len(stems)) for stems in names], np.float64)

    def measure(self, tool: ToolProfile, vector: Floats) -> Measured:
        """Measure a tool, whose vector is float32 [dimension], against every skill."""
        import numpy as np  # noqa: PLC0415

        size = len(self.skills)
        cosines = self._vectors @ vector
        description, examples, centroid = cosines[: 3 * size].reshape(3, size)
        topics, keywords = np.split(cosines[3 * size :], [len(TOPICS)])
        named = name_stems(tool)
        in_name, in_text = self._keyword_words(named, description_stems(tool))
        features = np.empty((size, len(FEATURES)))
        features[:, 0] = 1.0
        features[:, 1] = description
        features[:, 2:8:2] = self._has
        features[:, 3] = self._top_keywords(keywords)
        features[:, 5] = examples
        features[:, 7] = centroid
        features[:, 8] = np.minimum(in_name, _NAMED_TWICE)
        features[:, 9] = np.minimum(in_text, _NAMED_TWICE)
        features[:, 10] = self._skill_names(named)
        features[:, 11] = np.where(self._is_own, -1.0, topics).max(axis=1)
        # What is missing counts 0 in both sums.
        features[:, 12] = features[:, 1:8:2].sum(axis=1) - features[:, 5]
        features[:, 12] /= 1.0 + features[:, 2] + features[:, 6]
        return Measured(features, keywords)

    def keywords_of(self, row: int) -> NDArray[np.intp]:
        """Return the places of a skill's keywords in `keywords`."""
        own: NDArray[np.intp] = self._places[row][self._places[row] < len(self.keywords)]
        return own

    def _top_keywords(self, cosines: Floats) -> Floats:
        """Return the mean of each skill's three highest; of those it has, when it has fewer; 0 without any."""
        import numpy as np  # noqa: PLC0415

        none = -2.0
        top = np.sort(np.append(cosines, np.float32(none))[self._places], axis=1)[:, -_TOP:]
        there = top > none
        mean: Floats = np.where(there, top, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
        return mean

    def _keyword_words(
        self, named: Collection[str], stems: Collection[str]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Count each skill's keywords in a tool's name, and the further ones in all its texts."""
        import numpy as np  # noqa: PLC0415

        in_name, in_text = np.zeros((2, len(self.skills)), np.intp)
        seen = Counter(number for stem in named for number in self._keywords_with.get(stem, ()))
        for number, count in seen.items():
            if count == self._wanted[number]:
                in_name[self._owners[number]] += 1
        more = Counter(number for stem in stems if stem not in named for number in self._keywords_with.get(stem, ()))
        for number, count in more.items():
            if count + seen[number] == self._wanted[number]:
                in_text[self._owners[number]] += 1
        return in_name, in_text

    def _skill_names(self, named: Collection[str]) -> NDArray[np.float64]:
        import numpy as np  # noqa: PLC0415

        shared = np.zeros(len(self.skills))
        for stem in named:
            shared[self._names_with.get(stem, [])] += 1.0
        return shared / self._name_lengths


def _words(term: str) -> str:
    """A keyword or a tool's name as it is embedded; what has no words in it as it is."""
    return split_name(term) or term


def _inverted(wanted: Sequence[frozenset[str]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, stems in enumerate(wanted):
        for stem in stems:
            found.setdefault(stem, []).append(number)
    return found
