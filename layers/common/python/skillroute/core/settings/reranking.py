"""Settings of rerankers."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from skillroute.core.settings.base import Settings


class RerankSettings(Settings):
    """Who looks at the best results of a search once more; without a reranker `hybrid_rerank` is served as hybrid."""

    rerank_provider: Literal["none", "onnx", "bedrock"] = Field(
        "none", description="Who reranks for `hybrid_rerank`: a model in the process, or Bedrock."
    )
    rerank_model: str | None = Field(None, description="A reranker's id at Bedrock.")
    rerank_model_dir: Path | None = Field(
        None, description="Folder of the model that onnx runs, as training/build_reranker.py writes it (docs/adr/0050)."
    )
    rerank_region: str | None = Field(None, description="Of Bedrock; the function's own when not set.")
    rerank_timeout_s: float = Field(2.0, gt=0, le=10, description="The most a search waits for it, retries included.")

    @model_validator(mode="after")
    def _a_reranker_is_named(self) -> Self:
        if self.rerank_provider == "bedrock" and not self.rerank_model:
            raise ValueError(f"SKILLROUTE_RERANK_PROVIDER={self.rerank_provider} needs SKILLROUTE_RERANK_MODEL")
        if self.rerank_provider == "onnx" and not self.rerank_model_dir:
            raise ValueError("SKILLROUTE_RERANK_PROVIDER=onnx needs SKILLROUTE_RERANK_MODEL_DIR")
        return self
