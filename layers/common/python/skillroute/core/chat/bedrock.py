"""Answers from any model on Amazon Bedrock that can call tools, through its Converse API."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from skillroute.core.chat.calls import CHAT_RETRY, MAX_ANSWER_TOKENS, ask
from skillroute.core.errors.model import ClassifierAnswerInvalid, ClassifierUnavailable
from skillroute.core.remote.bedrock import BedrockRuntime
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.retry import Retry

_CONNECTIONS = 10  # botocore's default; more threads than that wait for none, they only connect again
_REFUSALS = frozenset({"guardrail_intervened", "content_filtered"})


class BedrockChat:
    """Asks a language model on Bedrock. Safe to call from several threads.

    The model is made to call a single tool, whose arguments are the answer: so all of Bedrock's models that know tools
    give JSON, which not all give in another way. Throttling, timeouts and server errors are tried once more;
    missing rights, a wrong model id and the like fail at once. The client is made on first use, with the credentials of
    the environment.

    Parameters
    ----------
    model : str
        The model id or inference profile. The model must know tools and the choice of one.
    region, endpoint_url
        See `BedrockRuntime`.
    retry : Retry
        How often, and how far apart.

    Examples
    --------
    >>> BedrockChat("anthropic.claude-3-haiku-20240307-v1:0").name
    'bedrock/anthropic.claude-3-haiku-20240307-v1:0'
    """

    def __init__(
        self,
        model: str,
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        retry: Retry = CHAT_RETRY,
    ) -> None:
        self._model = model
        self._bedrock = BedrockRuntime(
            region=region, endpoint_url=endpoint_url, connections=_CONNECTIONS, error=ClassifierUnavailable
        )
        self._retry = retry

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"bedrock/{self._model}"

    def answer(
        self, instructions: str, question: str, *, schema: Mapping[str, Any], timeout_s: float
    ) -> Mapping[str, Any]:
        """Ask, and return the answer, an object that need not keep to the schema. See `ports.ChatModel`.

        Raises
        ------
        ClassifierUnavailable
            Bedrock failed or refused, or did not answer within `timeout_s` seconds, twice.
        ClassifierAnswerInvalid
            The answer was cut, refused by the model, or is no call of the tool.
        """
        request = _request(self._model, instructions, question, schema)
        # Whole seconds, so that callers who give what they have left do not have a client each. `ask` is exact.
        read_timeout_s = float(math.ceil(timeout_s))

        def converse(deadline: Deadline) -> Any:
            return self._bedrock.call(
                self._model,
                lambda client: client.converse(**request),
                deadline=deadline,
                read_timeout_s=read_timeout_s,
            )

        return _tool_input(ask(converse, self._retry, timeout_s=timeout_s), schema["title"], self.name)

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        self._bedrock.close()


def _request(model: str, instructions: str, question: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    tool = {
        "name": schema["title"],
        "description": "Gives the answer.",
        "inputSchema": {"json": schema},
    }
    return {
        "modelId": model,
        "system": [{"text": instructions}],
        "messages": [{"role": "user", "content": [{"text": question}]}],
        "inferenceConfig": {"temperature": 0.0, "maxTokens": MAX_ANSWER_TOKENS},
        "toolConfig": {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": schema["title"]}}},
    }


def _tool_input(response: Mapping[str, Any], tool: str, name: str) -> Mapping[str, Any]:
    """Return the arguments of the first call of the tool, provided that they are all there."""
    if response.get("stopReason") == "max_tokens":
        raise ClassifierAnswerInvalid(f"{name} answered at too great length: cut after {MAX_ANSWER_TOKENS} tokens")
    if response.get("stopReason") in _REFUSALS:
        raise ClassifierAnswerInvalid(f"{name} refused to answer")
    message = (response.get("output") or {}).get("message") or {}
    calls = [block["toolUse"] for block in message.get("content") or () if "toolUse" in block]
    answer = next((call.get("input") for call in calls if call.get("name") == tool), None)
    if not isinstance(answer, dict):
        raise ClassifierAnswerInvalid(f"{name} did not answer with arguments for the tool {tool}")
    return answer
