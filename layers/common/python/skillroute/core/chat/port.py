"""A language model that answers with JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


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
            The answer is not a JSON object.
        """
        ...
