"""Models: what turns text into vectors, proposes skills, or answers questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.skills.classification import Classification, SkillProfile, ToolProfile
from skillroute.skills.model import AssignmentSource


class Clock(Protocol):
    """Seconds that only go forward; tests replace it."""

    def __call__(self) -> float: ...


class Embedder(Protocol):
    """Turns texts into vectors of one model."""

    @property
    def model(self) -> EmbeddingModel: ...

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts, in order, as vectors of L2 norm 1.

        The vector of a text does not depend on the texts beside it.

        Raises
        ------
        EmbeddingUnavailable
            The model failed or did not answer within `timeout_s` seconds, retries included.
        """
        ...


class Classifier(Protocol):
    """Proposes skills for a tool. What becomes of a proposal `domain.classification.settle` decides."""

    @property
    def name(self) -> str:
        """What is stored with its assignments: ``similarity``, ``openai/gpt-4o-mini``, ..."""
        ...

    @property
    def source(self) -> AssignmentSource: ...

    @property
    def concurrency(self) -> int:
        """How many tools may be given to it at once, from as many threads."""
        ...

    def classify(self, tool: ToolProfile, skills: Sequence[SkillProfile], *, timeout_s: float) -> Classification:
        """Propose skills for a tool out of `skills`.

        Raises
        ------
        ClassifierUnavailable
            It failed, was throttled or did not answer within `timeout_s` seconds for one attempt; a timeout is tried
            once more.
        ClassifierAnswerInvalid
            It did not answer with a classification.
        """
        ...


class ChatModel(Protocol):
    """A language model that answers a question with a JSON object of a given schema."""

    @property
    def name(self) -> str:
        """Provider and model, such as ``bedrock/anthropic.claude-3-haiku``."""
        ...

    def answer(
        self, instructions: str, question: str, *, schema: Mapping[str, Any], timeout_s: float
    ) -> Mapping[str, Any]:
        """Ask once; the answer is an object that need not keep to the schema.

        Parameters
        ----------
        schema : mapping
            JSON Schema of the answer, with a ``title`` that names it; ``additionalProperties`` false, all required.

        Raises
        ------
        ClassifierUnavailable
            The model failed, was throttled, or did not answer within `timeout_s` seconds, twice.
        ClassifierAnswerInvalid
            The answer is no JSON object.
        """
        ...


class Reranker(Protocol):
    """Looks at a query and a text together, and says how well they go together."""

    @property
    def name(self) -> str:
        """Provider and model."""
        ...

    def logits(self, query: str, texts: Sequence[str], *, timeout_s: float) -> list[float]:
        """Return for each text, in order, a number whose sigmoid is its relevance.

        Raises
        ------
        RerankerUnavailable
            It failed, was throttled, or did not answer within `timeout_s` seconds.
        """
        ...
