"""Answers from any server that speaks OpenAI's ``POST /v1/chat/completions`` with structured outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillroute.core.chat.calls import CHAT_RETRY, MAX_ANSWER_TOKENS, ask
from skillroute.core.errors.model import ClassifierAnswerInvalid, ClassifierUnavailable
from skillroute.core.remote.openai import OpenAIEndpoint
from skillroute.core.secrets import Secret
from skillroute.core.time.retry import Retry

if TYPE_CHECKING:
    import httpx

_FENCED = re.compile(r"```(?:json)?(.*)```", re.DOTALL | re.IGNORECASE)


class OpenAIChat:
    """Asks a language model through an OpenAI-compatible endpoint. Safe to call from several threads.

    Connection failures, timeouts and the statuses 408, 429 and 5xx are tried once more; any other status fails at once.
    Connects on first use.

    Parameters
    ----------
    model : str
        The model's id at the endpoint. It must take ``response_format`` with a JSON schema, and temperature 0.
    base_url, api_key
        See `OpenAIEndpoint`.
    retry : Retry
        How often, and how far apart.

    Raises
    ------
    ConfigurationError
        The package httpx is missing, or the key holds characters that no header can.

    Examples
    --------
    >>> OpenAIChat("gpt-4o-mini", api_key="sk-...").name
    'openai/gpt-4o-mini'
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | Secret | None = None,
        retry: Retry = CHAT_RETRY,
    ) -> None:
        self._model = model
        self._endpoint = OpenAIEndpoint(
            "chat/completions",
            base_url=base_url,
            api_key=api_key,
            what="the chat endpoint",
            error=ClassifierUnavailable,
        )
        self._retry = retry

    @property
    def name(self) -> str:
        """Provider and model. Other servers that speak the protocol are called the same."""
        return f"openai/{self._model}"

    def answer(
        self, instructions: str, question: str, *, schema: Mapping[str, Any], timeout_s: float
    ) -> Mapping[str, Any]:
        """Ask, and return the answer, an object that need not keep to the schema. See `ports.ChatModel`.

        Raises
        ------
        ClassifierUnavailable
            The endpoint failed or refused, or did not answer within `timeout_s` seconds, twice.
        ClassifierAnswerInvalid
            The answer was cut, refused by the model, or is not a JSON object.
        """
        body = {
            "model": self._model,
            "messages": [{"role": "system", "content": instructions}, {"role": "user", "content": question}],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": schema["title"], "strict": True, "schema": schema},
            },
            "temperature": 0,
            "max_tokens": MAX_ANSWER_TOKENS,
        }
        response = ask(
            lambda deadline: self._endpoint.post(body, timeout_s=deadline.timeout_s), self._retry, timeout_s=timeout_s
        )
        return _object(_content(response, self.name), self.name)

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        self._endpoint.close()


def _content(response: httpx.Response, name: str) -> str:
    """Return the model's answer, provided that it is complete."""
    try:
        choice = response.json()["choices"][0]
        message, finish_reason = choice["message"], choice.get("finish_reason")
        content, refusal = message.get("content"), message.get("refusal")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ClassifierAnswerInvalid(f"{name} did not send a chat completion") from error
    if finish_reason == "length":
        raise ClassifierAnswerInvalid(f"{name} answered at too great length: cut after {MAX_ANSWER_TOKENS} tokens")
    if refusal or finish_reason == "content_filter":
        raise ClassifierAnswerInvalid(f"{name} refused to answer")
    if not isinstance(content, str):
        raise ClassifierAnswerInvalid(f"{name} answered without a text")
    return content


def _object(content: str, name: str) -> Mapping[str, Any]:
    """Read the text as JSON. Servers that do not enforce a schema let models wrap it as they do in a conversation."""
    text = content.strip()
    if fenced := _FENCED.fullmatch(text):
        text = fenced[1]
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ClassifierAnswerInvalid(f"{name} answered with something that is not JSON") from error
    if not isinstance(answer, dict):
        raise ClassifierAnswerInvalid(f"{name} answered with JSON that is not an object")
    return answer
