"""Classification by a language model (skill-contract BR-002)."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.core.chat.port import ChatModel
from skillroute.core.observability import logger
from skillroute.skills.classification.classifiers.llm_answer import read_answer
from skillroute.skills.classification.classifiers.llm_offer import offer
from skillroute.skills.classification.classifiers.prompt import CLASSIFY, CLASSIFY_AND_WRITE, PROMPT_TOKENS, question
from skillroute.skills.classification.model import Classification, SkillProfile, ToolProfile
from skillroute.skills.model import AssignmentSource

_MAX_LOGGED = 5

CONCURRENCY = 5
"""Tools that a language model is asked about at once. Not measured."""


class LlmClassifier:
    """Asks a language model which skills a tool belongs to. Safe to call from several threads if the model is.

    Parameters
    ----------
    chat : ChatModel
        The language model.
    source : AssignmentSource
        What its assignments are stored with.
    max_prompt_tokens : int
        How long a prompt may be. The skills that do not fit are not offered: see `llm_offer`.
    concurrency : int
        How many tools may be given to it at once.
    writes_requests : bool
        Whether it is asked, in the same call, for requests of tools that want some (docs/adr/0067).

    Examples
    --------
    >>> from skillroute.core.chat.openai import OpenAIChat
    >>> LlmClassifier(OpenAIChat("gpt-4o-mini", api_key="sk-...")).name
    'openai/gpt-4o-mini'
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        source: AssignmentSource = AssignmentSource.LLM_AUTO,
        max_prompt_tokens: int = PROMPT_TOKENS,
        concurrency: int = CONCURRENCY,
        writes_requests: bool = False,
    ) -> None:
        self._chat = chat
        self._source = source
        self._max_prompt_tokens = max_prompt_tokens
        self._concurrency = concurrency
        self._writes_requests = writes_requests

    @property
    def name(self) -> str:
        """The language model's: another model classifies again."""
        return self._chat.name

    @property
    def source(self) -> AssignmentSource:
        """The source that its assignments are stored with."""
        return self._source

    @property
    def concurrency(self) -> int:
        """How many tools may be given to it at once, from as many threads."""
        return self._concurrency

    def classify(self, tool: ToolProfile, skills: Sequence[SkillProfile], *, timeout_s: float) -> Classification:
        """Propose skills for a tool out of those of `skills` that the prompt has room for.

        What of the answer is malformed, and skills that were not offered (skill-contract EC-003), are left out.

        Raises
        ------
        ClassifierUnavailable
            The model failed, was throttled, or did not answer within `timeout_s` seconds, twice.
        ClassifierAnswerInvalid
            The answer is not a JSON object with a list of assignments.
        """
        form = CLASSIFY_AND_WRITE if self._writes_requests and tool.wants_requests else CLASSIFY
        offered = offer(tool, skills, max_tokens=self._max_prompt_tokens, form=form)
        answer = self._chat.answer(
            form.instructions, question(tool, offered.values()), schema=form.schema, timeout_s=timeout_s
        )
        read = read_answer(answer, offered, with_requests=form is CLASSIFY_AND_WRITE)
        if read.malformed or read.not_offered:
            logger.warning(
                "parts of a classification left out",
                extra={
                    "tool_id": tool.id,
                    "classifier": self.name,
                    "malformed": read.malformed,
                    "not_offered": list(read.not_offered[:_MAX_LOGGED]),
                },
            )
        return read.classification
