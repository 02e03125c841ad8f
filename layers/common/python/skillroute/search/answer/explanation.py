"""Models of the fields that `explain` and `collapse_duplicates` add to an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from skillroute.search.model import EnrichedTool, SearchResponse, ToolMatch


class SearchPart(BaseModel):
    """One feature's part of a sum."""

    model_config = ConfigDict(frozen=True)

    value: float
    weight: float
    contribution: float = Field(description="value * weight.")


def parts(names: Iterable[str], weights: Iterable[float], values: Iterable[float]) -> dict[str, SearchPart]:
    """Return the parts of a weighted sum by the names of its features."""
    return {
        name: SearchPart(value=value, weight=weight, contribution=value * weight)
        for name, weight, value in zip(names, weights, values, strict=True)
    }


class ToolExplanation(BaseModel):
    """The parts of a result's score. Parts that its ranking does not use are null."""

    model_config = ConfigDict(frozen=True)

    cosine: float | None = Field(
        None, description="Of the request's vector and the tool's, which is the mean of its texts' vectors; 0..1."
    )
    learned_cosine: float | None = Field(
        None, description="Of the request and the nearest one that use has taught of the tool; null where none is."
    )
    learned_share: float | None = Field(
        None, description="Of the successful searches near that one, how many went to this tool; 0..1."
    )
    cosine_rank: int | None = Field(
        None, description="Among all candidates, from 1, with what is learned taken into account."
    )
    bm25: float | None = Field(None, description="Of the request's words and all of the tool's texts.")
    bm25_rank: int | None = Field(None, description="Among all candidates, from 1.")
    bm25_best: float | None = Field(None, description="Lexical: the highest of all, of which the score is the share.")
    words_in: dict[str, float] | None = Field(
        None,
        description="By field (name, description, server) which share of the request's words it has, by their weight. "
        "What no field has may still be in the arguments.",
    )
    clause_margin: float | None = Field(
        None, description="Its cosine to the clause that it suits most, less the highest to that clause."
    )
    leads_clause: bool | None = Field(None, description="It has the highest BM25 of a clause.")
    features: dict[str, SearchPart] | None = Field(None, description="Hybrid: what learned fusion looks at.")
    sum: float | None = Field(None, description="Of the contributions of all features.")
    rivals: float | None = Field(
        None, description="The logarithm of the sum of all candidates' exponentials of their sums."
    )
    probability: float | None = Field(None, description="By the fusion's curve, from sum and rivals.")
    reranker_logit: float | None = Field(
        None, description="What the reranker says; null for what is not among the first that it looked at."
    )
    reranker_sum: float | None = Field(None, description="Of the fusion's logit and the reranker's, weighted.")
    reranked: float | None = Field(
        None,
        description="Hybrid_rerank: the probability that reranker and fusion make together; behind what was reranked "
        "the fusion's, times the lowest of that.",
    )
    is_named: bool = Field(
        False, description="The request names the tool: by its exact name, alone or with its server."
    )
    rule: Literal["named"] | None = Field(
        None,
        description="A rule that outranks the score. `named`: what the request names stands before all that "
        "it does not, and has no higher score for that.",
    )
    skill_lift: float = Field(0.0, description="What its best matched skill changed; strategy hybrid.")
    score: float = Field(0.0, description="In hybrid probability (where there is one, reranked) + skill_lift.")


class RerankExplanation(BaseModel):
    """How a reranker changes a probability.

    It becomes the logistic function of slope * sum + rivalry * rivals + intercept, where sum is first_stage * (its
    logit) + weight * (the reranker's logit).
    """

    model_config = ConfigDict(frozen=True)

    reranker: str = Field(description="Provider and model, which decides the weights.")
    first_stage: float = Field(description="How much the logit of the first stage counts.")
    weight: float
    slope: float
    rivalry: float
    rivals: float = Field(description="The logarithm of the sum of all candidates' exponentials of their sums.")
    intercept: float
    candidates: int = Field(description="How many were reranked: the first.")


class FusionExplanation(BaseModel):
    """How learned fusion makes a probability: the logistic function of slope * sum + rivalry * rivals + intercept."""

    model_config = ConfigDict(frozen=True)

    model: str = Field(description="The embedding model, which decides the weights.")
    slope: float
    rivalry: float
    intercept: float
    candidates: int
    words: int = Field(description="Of the request.")
    clauses: list[str] = Field(description="Parts of a long request that were searched as well.")
    rerank: RerankExplanation | None = Field(None, description="Null where nothing was reranked.")


class ConfidenceExplanation(BaseModel):
    """How confidence came about: the logistic function of the sum of contributions and the intercept."""

    model_config = ConfigDict(frozen=True)

    first: dict[str, SearchPart] = Field(description="That the first result serves the request.")
    first_five: dict[str, SearchPart] = Field(description="That one of the first five does.")
    no_match_below: float = Field(description="The threshold of `confidence_first_five`.")


class SearchExplanation(BaseModel):
    """The parts that all results share."""

    model_config = ConfigDict(frozen=True)

    fusion: FusionExplanation | None = Field(None, description="Null in other modes than hybrid and hybrid_rerank.")
    confidence: ConfidenceExplanation | None = Field(None, description="Null where there is no confidence.")


class Duplicate(BaseModel):
    """A near-duplicate of a result, of another server."""

    model_config = ConfigDict(frozen=True)

    id: str
    db_id: int
    name: str
    server: str | None
    score: float


class UsedWith(BaseModel):
    """A tool that tasks called together with a result."""

    model_config = ConfigDict(frozen=True)

    tool_id: int
    id: str
    name: str
    server: str | None
    searches: int = Field(description="How many tasks called both.")


class ExplainedMatch(ToolMatch):
    """A result of `GET /api/v1/search/tools` where `explain` is asked for."""

    explain: ToolExplanation


class DetailedTool(EnrichedTool):
    """A result with the optional fields that were asked for."""

    explain: ToolExplanation | None = Field(None, description="With `explain`; else null.")
    duplicates: list[Duplicate] | None = Field(
        None, description="With `collapse_duplicates`: near-duplicates of other servers, the best first; else null."
    )
    used_with: list[UsedWith] | None = Field(
        None,
        exclude_if=lambda found: found is None,
        description="With `used_with`: up to three tools that tasks called together with it; else left out.",
    )


class DetailedSearchResponse(SearchResponse):
    """The answer of `POST /api/v1/search` where `explain`, `collapse_duplicates` or `used_with` is asked for."""

    tools: Sequence[DetailedTool]
    explain: SearchExplanation | None = Field(None, description="With `explain`; else null.")


class LimitedSearchResponse(SearchResponse):
    """The answer of `POST /api/v1/search` that is limited to some servers."""

    unknown_servers: list[str] = Field(
        description="Those of `server` that have no active item that the caller sees: nothing of theirs can be found."
    )


class LimitedDetailedSearchResponse(DetailedSearchResponse, LimitedSearchResponse):
    """The answer of `POST /api/v1/search` that is limited to some servers and has details."""
