"""The classifier that needs nothing but the embedding model: nearest skills, with careful confidences.

What it measures is in `similarity_skills`, how that becomes a probability in `similarity_model`, and how well it does
in docs/adr/0046.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cachetools import LRUCache

from skillroute.core.embedding.model import Vector, weighted_mean
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder
from skillroute.core.embedding.views import VIEW_WEIGHTS, Refusal, embed_or_refuse
from skillroute.core.errors.model import ClassifierUnavailable, EmbeddingUnavailable
from skillroute.core.time.deadline import Deadline
from skillroute.skills.classification.classifiers.similarity_model import confidences
from skillroute.skills.classification.classifiers.similarity_reason import reason
from skillroute.skills.classification.classifiers.similarity_skills import SkillTable
from skillroute.skills.classification.classifiers.similarity_texts import KeepsVectors, TextVectors
from skillroute.skills.classification.model import (
    MIN_CONFIDENCE,
    NEAR_CONFIDENCE,
    WEAK_CONFIDENCE,
    Classification,
    ProposedAssignment,
    SkillProfile,
    ToolProfile,
)
from skillroute.skills.model import AssignmentSource
from skillroute.skills.suggestions.drafts import draft_beside, draft_skill

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DIGITS = 4
_TABLES = 4
_TEXTS = 25_000


class SimilarityClassifier:
    """Proposes the skills that a tool is nearest to; deterministic, and safe to call from several threads.

    A tool's answer depends on the tool and on the skills given, on nothing that was classified before. The first call
    embeds the texts of the skills: 0.5 s for 23 skills and 23 s for 1,000 with 20 keywords each, on two cores
    (training/classification.py). What one call has embedded before its time was up the next one finds, and so does
    another process where vectors are kept.

    Parameters
    ----------
    embedder : Embedder
        The one that the vectors of tools come from.
    kept : KeepsVectors, optional
        Where the vectors of skills' texts are kept between processes.
    max_texts : int
        How many vectors of skills' texts are remembered: 1.5 KB each. 1,000 skills with 20 keywords have 22,000.
    max_tables : int
        For how many lists of skills (one for each organisation that has its own) matrices are remembered: 32 MB each
        with 1,000 skills, 0.7 MB with 23.

    Examples
    --------
    >>> classifier = SimilarityClassifier(embedder)  # doctest: +SKIP
    >>> classifier.classify(tool, skills, timeout_s=10).assignments[0]  # doctest: +SKIP
    ProposedAssignment(skill_id='document_processing', confidence=0.99, reasoning='Close to its keyword "merge".')
    """

    def __init__(
        self,
        embedder: Embedder,
        kept: KeepsVectors | None = None,
        *,
        max_texts: int = _TEXTS,
        max_tables: int = _TABLES,
    ) -> None:
        self._embedder = embedder
        self._texts = TextVectors(embedder, capacity=max_texts, kept=kept)
        self._tables: LRUCache[tuple[tuple[str, str], ...], SkillTable] = LRUCache(max_tables)
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return "similarity"

    @property
    def source(self) -> AssignmentSource:
        return AssignmentSource.SIMILARITY

    @property
    def concurrency(self) -> int:
        return 1

    def classify(self, tool: ToolProfile, skills: Sequence[SkillProfile], *, timeout_s: float) -> Classification:
        """Propose every skill with a confidence of 0.3 or more, best first; when none reaches 0.5 a suggestion.

        It is for the nearest skill where that reaches `NEAR_CONFIDENCE`, else a draft of a new one.

        Raises
        ------
        ClassifierUnavailable
            The embedding model failed, or `timeout_s` seconds went by; it is asked for texts that have no vector yet.
        """
        if not skills:
            return Classification((), draft_skill(tool, (), "There are no skills yet."))
        deadline = Deadline(timeout_s, callee=EMBEDDING_MODEL)
        table = self._table(skills, timeout_s)
        measured = table.measure(tool, self._vector(tool, deadline))
        sure = confidences(measured.features)
        best = int(sure.argmax())  # of equal ones the first by id
        rows = [int(row) for row in (-sure).argsort(kind="stable") if sure[row] >= WEAK_CONFIDENCE]
        assignments = tuple(
            ProposedAssignment(
                table.skills[row].id, round(float(sure[row]), _DIGITS), reason(tool, table, measured, row)
            )
            for row in rows
        )
        if sure[best] >= MIN_CONFIDENCE:
            return Classification(assignments)
        if sure[best] >= NEAR_CONFIDENCE:
            return Classification(assignments, draft_beside(table.skills[best], float(sure[best])))
        why = f'No skill fits: the nearest is "{table.skills[best].name}", with a confidence of {sure[best]:.2f}.'
        return Classification(assignments, draft_skill(tool, {skill.name.casefold() for skill in skills}, why))

    def _table(self, skills: Sequence[SkillProfile], timeout_s: float) -> SkillTable:
        key = tuple((skill.id, skill.fingerprint) for skill in skills)
        with self._lock:
            if (known := self._tables.get(key)) is not None:
                return known
        # Outside the lock: a table is built for seconds, and who builds the same one meanwhile gets an equal one.
        table = SkillTable(skills, lambda texts: self._texts(texts, timeout_s=timeout_s), self._dimension())
        with self._lock:
            self._tables[key] = table
        return table

    def _vector(self, tool: ToolProfile, deadline: Deadline) -> NDArray[np.float32]:
        """Return the tool's vector, made here as everywhere else when it has none yet.

        Where the model refuses the tool, that of the texts that it takes; with none of these, zeros: near to nothing.
        """
        import numpy as np  # noqa: PLC0415 - 70 ms that a function without a classifier should not pay

        vector = tool.embedding
        if vector is None or len(vector) != self._dimension():
            texts = tool.embedding_texts or (f"{tool.name}: {tool.description}",)
            [vector] = self._made([texts], deadline)
            if vector is None:
                view_vectors = self._made([(text,) for text in texts], deadline)
                taken = [
                    (view, weight) for view, weight in zip(view_vectors, VIEW_WEIGHTS, strict=False) if view is not None
                ]
                vector = weighted_mean(taken) or [0.0] * self._dimension()
        return np.array(vector, np.float32)

    def _made(self, views: Sequence[Sequence[str]], deadline: Deadline) -> list[Vector | None]:
        """Return the vectors of texts, None where the model refuses them. Raises `ClassifierUnavailable`."""
        made, failure = embed_or_refuse(self._embedder, views, deadline.left_s)
        if failure is not None:
            raise ClassifierUnavailable(str(failure)) from failure
        return [None if isinstance(vector, Refusal) else vector for vector in made]

    def _dimension(self) -> int:
        try:
            return self._embedder.model.dimension
        except EmbeddingUnavailable as error:
            raise ClassifierUnavailable(str(error)) from error
