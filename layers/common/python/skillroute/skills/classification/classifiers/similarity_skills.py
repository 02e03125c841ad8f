"""The skills of one list as one matrix, and what is measured between a tool and each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillroute.catalogue.text import split_name
from skillroute.core.embedding.model import Vector
from skillroute.skills.classification.classifiers.similarity_topics import TOPICS
from skillroute.skills.classification.classifiers.similarity_words import SkillWords
from skillroute.skills.classification.model import SkillProfile, ToolProfile

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
    "explained",  # the share of the tool's name, what it does left out, whose words the skill has anywhere
    "best",  # the highest of the cosines to description, keywords and tools
    "others",  # mean of the means of all other skills: a tool that is near to everything is near to nothing
)
_NAMED_TWICE = 2
_TOP = 3
_MEAN, _DEVIATION = 0.166, 0.098
"""Of the cosines between the topics, with all-minilm-l6-v2 (with tool-minilm-l6 0.169 and 0.101): the scale that the
constants of `similarity_model` are for."""
_MIN_DEVIATION = 0.01
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
        self._words = SkillWords(self.skills, self.keywords, self._owners)

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
        self._stretch, self._shift = _scale(topics)
        self._is_own: NDArray[np.bool_] = self._scaled(self._vectors[:size] @ topics.T) >= _OWN_TOPIC
        self._there = self._vectors[: 3 * size].any(axis=1)
        has = [(bool(skill.keywords), bool(skill.examples), self._fits(skill.centroid)) for skill in self.skills]
        self._has: NDArray[np.float64] = np.array(has, np.float64)

    def _scaled(self, cosines: Floats) -> Floats:
        return cosines * self._stretch + self._shift

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

    def measure(self, tool: ToolProfile, vector: Floats) -> Measured:
        """Measure a tool, whose vector is float32 [dimension], against every skill."""
        import numpy as np  # noqa: PLC0415

        size = len(self.skills)
        cosines = self._scaled(self._vectors @ vector)
        description, examples, centroid = np.where(self._there, cosines[: 3 * size], 0.0).reshape(3, size)
        topics, keywords = np.split(cosines[3 * size :], [len(TOPICS)])
        shared = self._words.shared_with(tool)
        features = np.empty((size, len(FEATURES)))
        features[:, 0] = 1.0
        features[:, 1] = description
        features[:, 2:8:2] = self._has
        features[:, 3] = self._top_keywords(keywords)
        features[:, 5] = examples
        features[:, 7] = centroid
        features[:, 8] = np.minimum(shared.in_name, _NAMED_TWICE)
        features[:, 9] = np.minimum(shared.in_text, _NAMED_TWICE)
        features[:, 10] = shared.skill_name
        features[:, 11] = np.where(self._is_own, -1.0, topics).max(axis=1)
        # What is missing counts 0 in both sums.
        features[:, 12] = features[:, 1:8:2].sum(axis=1) - features[:, 5]
        features[:, 12] /= 1.0 + features[:, 2] + features[:, 6]
        features[:, 13] = shared.explained
        features[:, 14] = features[:, [1, 3, 7]].max(axis=1)
        features[:, 15] = (features[:, 12].sum() - features[:, 12]) / max(1, size - 1)
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


def _scale(topics: Floats) -> tuple[np.float32, np.float32]:
    """Return the factor and the summand that put a model's cosines on the scale of the constants.

    Cosines of other models are of another size: between 0.7 and 0.9, say, whatever the texts. How far those of the
    topics lie apart says so; (1, 0) where they are all alike, which no model of use makes them.
    """
    import numpy as np  # noqa: PLC0415

    pairs = (topics @ topics.T)[np.triu_indices(len(topics), 1)]
    if pairs.std() < _MIN_DEVIATION:
        return np.float32(1.0), np.float32(0.0)
    stretch = _DEVIATION / pairs.std()
    return np.float32(stretch), np.float32(_MEAN - stretch * pairs.mean())


def _words(term: str) -> str:
    """A keyword or a tool's name as it is embedded; what has no words in it as it is."""
    return split_name(term) or term
