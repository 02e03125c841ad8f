"""The answer to a request that states needs: which of them each item serves, and how sure that is of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from skillroute.search.answer.explanation import DetailedTool, SearchExplanation, ToolExplanation
from skillroute.search.model import Fit, SearchMetadata, SearchResponse

if TYPE_CHECKING:
    from skillroute.search.candidates.candidate import Found  # which needs the index: agents' tools begin without it


class NeedAnswered(BaseModel):
    """How well one need is served."""

    model_config = ConfigDict(frozen=True)

    need: str = Field(description="As it was asked.")
    confidence: float | None = Field(
        description="In the hybrid modes how likely the best item for this need serves it, 0..1, calibrated as that of "
        "a search; null in other modes, and where nothing was found."
    )
    confidence_first_five: float | None = Field(
        description="How likely one of the five best for it does; null where `confidence` is."
    )
    no_match: bool = Field(description="Nothing seems to serve it: what is there for it are the nearest alternatives.")
    fit: Fit | None = Field(None, description="The same in a word, as that of a search.")
    explain: SearchExplanation | None = Field(None, description="With `explain`; else null.")


class NeedsMetadata(SearchMetadata):
    """How an answer to several needs came about.

    `confidence` and `confidence_first_five` are null, and `no_match` says that nothing fits any of them: the items are
    of several searches, whose figures are in `needs`.
    """

    needs: list[NeedAnswered] = Field(description="Of each need of the request, in its order.")


class NeedExplanation(ToolExplanation):
    """The parts of a result's score, for the need that it suits best."""

    need: int | None = Field(description="Its place in the request; null where the query found it.")


class NeededTool(DetailedTool):
    """An item with the needs that it serves; its score is that for the need that it suits best."""

    needs: list[int] = Field(
        description="Places in the request, from 0, of the needs among whose best it is; empty where only the query "
        "found it."
    )
    explain: NeedExplanation | None = Field(None, description="With `explain`; else null.")


class NeedsSearchResponse(SearchResponse):
    """The answer of `POST /api/v1/search` with `needs`: a set that serves all of them."""

    tools: Sequence[NeededTool]
    metadata: NeedsMetadata
    explain: SearchExplanation | None = Field(None, description="With `explain`, of the query; else null.")
    unknown_servers: list[str] = Field(
        [], description="Where the search is limited to some servers: those of them that have nothing."
    )


def with_needs(
    answer: SearchResponse, found: Found, *, duplicates: Sequence[Any], used_with: Sequence[Any]
) -> NeedsSearchResponse:
    """Return an answer with what is said of needs beside it.

    Parameters
    ----------
    duplicates : sequence
        For each item its near-duplicates as they are shown, or None.
    used_with : sequence
        For each item the tools that are used with it, or None.
    """
    explained: Sequence[ToolExplanation | None] = found.explained or [None] * len(found.hits)
    tools = [
        NeededTool.model_construct(
            **dict(tool),
            needs=list(serves),
            duplicates=others,
            used_with=together,
            explain=None if explanation is None else NeedExplanation.model_construct(**dict(explanation), need=best),
        )
        for tool, serves, others, together, explanation, best in zip(
            answer.tools, found.serves, duplicates, used_with, explained, found.explained_need, strict=True
        )
    ]
    fields = dict(answer) | {"tools": tools, "metadata": _metadata(answer.metadata, found)}
    return NeedsSearchResponse.model_construct(**fields, explain=found.explanation)


def _metadata(metadata: SearchMetadata, found: Found) -> NeedsMetadata:
    needs = [
        NeedAnswered.model_construct(
            need=need.text,
            confidence=need.confidence,
            confidence_first_five=need.confidence_first_five,
            no_match=need.no_match,
            fit=need.fit,
            explain=need.explanation,
        )
        for need in found.needs
    ]
    return NeedsMetadata.model_construct(**dict(metadata), needs=needs)
