"""Settings of the embedding model."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from skillroute.core.embedding.packaged import default_model, models_dir, packaged_models
from skillroute.core.settings.base import Settings


class EmbeddingSettings(Settings):
    """Which model embeds. The search and the catalogue must use the same."""

    embedding_provider: Literal["onnx", "openai", "bedrock", "hashing"] = Field(
        "onnx",
        description="Who embeds: a model in the process, an OpenAI-compatible endpoint, Bedrock; hashing tests.",
    )
    model_dir: Path | None = Field(
        None, description="Folder of a model of one's own for onnx, in the form of layers/inference/models."
    )
    embedding_model: str | None = Field(
        None,
        description="Model id for openai and bedrock; for onnx tool-minilm-l6 (the default) or "
        "all-minilm-l6-v2 (docs/adr/0048).",
    )
    embedding_dimension: int | None = Field(
        None, ge=1, le=8192, description="How many numbers a vector has, for openai and bedrock."
    )
    openai_base_url: str = Field("https://api.openai.com/v1", description="Base URL of the endpoint that embeds.")
    openai_api_key: SecretStr | None = Field(None, description="That endpoint's key, where it wants one.")
    openai_api_key_secret_arn: str | None = Field(None, description="Secrets Manager secret with the key instead.")
    openai_send_dimensions: bool = Field(
        False, description="Ask the endpoint for embedding_dimension dimensions; only some models can shorten."
    )
    bedrock_region: str | None = Field(None, description="Of Bedrock; the process's own when not set.")
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
