"""Settings of searches for tools and in the registry."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skillroute.core.settings.base import Settings


class RankingSettings(Settings):
    """How results are ranked, and when nothing fits."""

    default_mode: Literal["semantic", "lexical", "hybrid", "hybrid_rerank"] = Field(
        "hybrid", description="The mode of searches that name none; lexical suits requests in another language."
    )
    registry_fusion: Literal["boost", "rrf", "coverage"] = Field(
        "coverage", description="How registry searches that do not say so fuse their two halves (docs/adr/0040)."
    )
    hybrid_skill_weight: float = Field(
        0.1,
        ge=0,
        le=1,
        description="How far a matched skill lifts its tools in the hybrid strategy (decision 7). Chosen by "
        "docs/benchmarks.md: on the judged sets lifting does not pay, and 0.1 costs a point at most.",
    )
    no_match_below: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The confidence in the first five results below which a search in mode hybrid says that nothing "
        "fits; by the embedding model when not set (0.247, with all-minilm-l6-v2 0.170), never with 0 (docs/adr/0041).",
    )
