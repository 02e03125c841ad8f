"""Settings of language models: who classifies, and which model answers."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from skillroute.core.settings.base import Settings


class ClassifierSettings(Settings):
    """Who classifies, and which language model answers."""

    classifier: Literal["similarity", "llm"] = Field("similarity", description="llm asks the chat model.")
    chat_provider: Literal["none", "openai", "bedrock"] = Field(
        "none", description="Where the language model answers: an OpenAI-compatible endpoint, Bedrock, or nowhere."
    )
    chat_model: str | None = Field(None, description="Model id at the chat provider.")
    chat_base_url: str = Field("https://api.openai.com/v1", description="Base URL of the endpoint that chats.")
    chat_api_key: SecretStr | None = Field(None, description="That endpoint's key, where it wants one.")
    chat_api_key_secret_arn: str | None = Field(None, description="Secrets Manager secret with the key instead.")
    chat_region: str | None = Field(None, description="Of Bedrock; the function's own when not set.")
    chat_timeout_s: float = Field(10.0, gt=0, le=60, description="The most that one attempt may take.")
    write_requests: bool = Field(
        True, description="Whether the classifier llm writes requests for tools that have none, in the same call."
    )

    @model_validator(mode="after")
    def _a_language_model_is_named(self) -> Self:
        if self.chat_provider != "none" and not self.chat_model:
            raise ValueError(f"SKILLROUTE_CHAT_PROVIDER={self.chat_provider} needs SKILLROUTE_CHAT_MODEL")
        if self.classifier == "llm" and self.chat_provider == "none":
            raise ValueError("SKILLROUTE_CLASSIFIER=llm needs SKILLROUTE_CHAT_PROVIDER and SKILLROUTE_CHAT_MODEL")
        return self
