"""Settings of models: which embeds, which classifies, and which reranks."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from skillroute.core.embedding.packaged import default_model, models_dir, packaged_models
from skillroute.core.settings.base import Settings


class EmbeddingSettings(Settings):
    """Which model embeds. The search and the catalogue must use the same."""

    embedding_provider: Literal["onnx", "openai", "bedrock", "hashing"] = "onnx"
    model_dir: Path | None = Field(None, description="Folder of a model of one's own for onnx, not a packaged one.")
    embedding_model: str | None = Field(None, description="Model id for openai and bedrock, a packaged name for onnx.")
    embedding_dimension: int | None = Field(None, ge=1, le=8192)
    openai_base_url: str = "https://api.openai.com/v1"
    openai_api_key: SecretStr | None = None
    openai_api_key_secret_arn: str | None = Field(None, description="Secrets Manager secret with the key instead.")
    openai_send_dimensions: bool = Field(
        False, description="Ask the endpoint for embedding_dimension dimensions; only some models can shorten."
    )
    bedrock_region: str | None = None
    packaged_requests: bool = Field(
        True, description="Whether tools of well-known MCP servers get packaged requests, with a packaged model."
    )
    query_timeout_s: float = Field(10.0, gt=0, le=10, description="The most a query waits for its embedding (EC-009).")
    query_cache_size: int = Field(2048, ge=0, le=1_000_000, description="Query embeddings remembered by one process.")
    embedding_retry_after_s: float = Field(30.0, ge=0, description="How long a failure is remembered (decision 9).")
    batch_timeout_s: float = Field(60.0, gt=0, le=600, description="The most a batch of documents waits.")

    @model_validator(mode="after")
    def _remote_models_are_named(self) -> Self:
        if self.embedding_provider in {"openai", "bedrock"} and not (self.embedding_model and self.embedding_dimension):
            raise ValueError(
                f"SKILLROUTE_EMBEDDING_PROVIDER={self.embedding_provider} needs SKILLROUTE_EMBEDDING_MODEL and "
                "SKILLROUTE_EMBEDDING_DIMENSION"
            )
        return self

    @model_validator(mode="after")
    def _packaged_model_is_here(self) -> Self:
        # Functions that do not embed have no inference layer, and the same variables.
        if self.embedding_provider != "onnx" or self.model_dir or not self.embedding_model:
            return self
        names = packaged_models()
        if names and self.embedding_model not in names:
            raise ValueError(
                f"SKILLROUTE_EMBEDDING_MODEL={self.embedding_model} is not a packaged model: give one of "
                f"{', '.join(names)}, or the folder of another in SKILLROUTE_MODEL_DIR"
            )
        return self

    @property
    def has_packaged_requests(self) -> bool:
        """Whether tools get packaged requests: with other models, tools without any would lose (docs/adr/0067)."""
        return self.packaged_requests and self.embedding_provider == "onnx" and self.model_dir is None

    @property
    def onnx_dir(self) -> Path:
        """The folder of the model that onnx runs: where no name is given, that of the first that is packaged."""
        return self.model_dir or models_dir() / (self.embedding_model or default_model())


class ClassifierSettings(Settings):
    """Who classifies, and which language model answers."""

    classifier: Literal["similarity", "llm"] = Field("similarity", description="llm asks the chat model.")
    chat_provider: Literal["none", "openai", "bedrock"] = "none"
    chat_model: str | None = Field(None, description="Model id at the chat provider.")
    chat_base_url: str = "https://api.openai.com/v1"
    chat_api_key: SecretStr | None = None
    chat_api_key_secret_arn: str | None = Field(None, description="Secrets Manager secret with the key instead.")
    chat_region: str | None = Field(None, description="Of Bedrock; the function's own when not set.")
    chat_timeout_s: float = Field(10.0, gt=0, le=60, description="The most that one attempt may take.")
    write_requests: bool = Field(
        True, description="Whether the classifier llm writes requests for tools that have none, in the same call."
    )
    classify_prompt_tokens: int = Field(6000, ge=500, le=200_000, description="Budget for the skills in a prompt.")
    classify_concurrency: int = Field(5, ge=1, le=50, description="Tools that the chat model is asked about at once.")

    @model_validator(mode="after")
    def _a_language_model_is_named(self) -> Self:
        if self.chat_provider != "none" and not self.chat_model:
            raise ValueError(f"SKILLROUTE_CHAT_PROVIDER={self.chat_provider} needs SKILLROUTE_CHAT_MODEL")
        if self.classifier == "llm" and self.chat_provider == "none":
            raise ValueError("SKILLROUTE_CLASSIFIER=llm needs SKILLROUTE_CHAT_PROVIDER and SKILLROUTE_CHAT_MODEL")
        return self


class RerankSettings(Settings):
    """Who looks at the best results of a search once more; without a reranker `hybrid_rerank` is served as hybrid."""

    rerank_provider: Literal["none", "onnx", "bedrock"] = "none"
    rerank_model: str | None = Field(None, description="A reranker's id at Bedrock.")
    rerank_model_dir: Path | None = Field(None, description="Folder of the model that onnx runs.")
    rerank_region: str | None = Field(None, description="Of Bedrock; the function's own when not set.")
    rerank_timeout_s: float = Field(2.0, gt=0, le=10, description="The most a search waits for it, retries included.")

    @model_validator(mode="after")
    def _a_reranker_is_named(self) -> Self:
        if self.rerank_provider == "bedrock" and not self.rerank_model:
            raise ValueError(f"SKILLROUTE_RERANK_PROVIDER={self.rerank_provider} needs SKILLROUTE_RERANK_MODEL")
        if self.rerank_provider == "onnx" and not self.rerank_model_dir:
            raise ValueError("SKILLROUTE_RERANK_PROVIDER=onnx needs SKILLROUTE_RERANK_MODEL_DIR")
        return self
