"""The answers about use, as the API gives them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from skillroute.learning.model import OutcomeKind, Source
from skillroute.learning.review.model import (
    Deleted,
    Forgotten,
    JudgedRequest,
    KeptReceipt,
    NamedTool,
    UnservedGroup,
)
from skillroute.search.receipts import Door


class NearestToolOut(BaseModel):
    """A tool that was shown for requests that it does not serve."""

    id: int
    server: str | None
    name: str

    @classmethod
    def of(cls, tool: NamedTool) -> NearestToolOut:
        """Return what the API says of a tool."""
        return cls(id=tool.id, server=tool.server or None, name=tool.name)


class AskedWordingOut(BaseModel):
    """A wording of requests that found nothing."""

    model_config = ConfigDict(from_attributes=True)

    query: str
    searches: int = Field(description="How often it was asked so.")
    callers: int = Field(description="How many different callers asked so, of those who are known.")
    last_at: datetime = Field(description="When it was asked so last.")


class UnservedOut(BaseModel):
    """Requests of one meaning that found nothing, or nothing that fits."""

    query: str | None = Field(description="The most frequent wording; null where texts are not kept.")
    wordings: list[str] = Field(description="Up to three others.")
    searches: int = Field(description="How often it was asked.")
    callers: int = Field(description="How many different callers asked, of those who are known.")
    last_at: datetime = Field(description="When it was asked last.")
    tools: list[NearestToolOut] = Field(description="Those that were shown most often all the same, five at most.")
    asked: list[AskedWordingOut] = Field(
        description="The wordings with their counts, the most frequent first, 50 at most; without texts none."
    )

    @classmethod
    def of(cls, group: UnservedGroup, tools: Mapping[int, NamedTool]) -> UnservedOut:
        """Return what the API says of a group; `tools` are those that the caller sees."""
        return cls(
            query=group.query,
            wordings=list(group.wordings),
            searches=group.searches,
            callers=group.callers,
            last_at=group.last_at,
            tools=[NearestToolOut.of(tools[id_]) for id_ in group.tools if id_ in tools],
            asked=[AskedWordingOut.model_validate(wording) for wording in group.asked],
        )


class JudgedOut(BaseModel):
    """A request with the tools that its outcomes say are right, as `skillroute eval --queries` reads it."""

    query: str = Field(description="What was asked, without secrets.")
    needs: list[list[str]] = Field(
        description="One need, of whose tools one is enough; empty where callers reported that nothing fits."
    )
    source: Literal["use"] = Field("use", description="That no person has looked it over yet.")
    searches: int = Field(description="How many searches for it have outcomes.")
    last_at: datetime = Field(description="When it was asked last.")

    @classmethod
    def of(cls, judged: JudgedRequest) -> JudgedOut:
        """Return what the API says of a request."""
        needs = [list(judged.titles)] if judged.titles else []
        return cls(query=judged.query, needs=needs, source="use", searches=judged.searches, last_at=judged.last_at)


class ShownToolOut(BaseModel):
    """A tool that a search showed."""

    model_config = ConfigDict(from_attributes=True)

    tool_id: int
    content_hash: str = Field(description="A hash of the content that the tool had then.")
    probability: float | None = Field(description="That it is right, as the answer had it; null where it had none.")


class KeptOutcomeOut(BaseModel):
    """An outcome as it is kept."""

    model_config = ConfigDict(from_attributes=True)

    tool_id: int | None = Field(description="Null where nothing of the search fits.")
    outcome: OutcomeKind = Field(description="What became of the tool, or of the search.")
    caller: str | None = Field(description="Who reported it, as a hash; null where that was not known.")
    may_teach: bool = Field(description="Whether it teaches anything.")
    source: Source = Field(description="Whether a program reported it, or a person marked it.")
    reported_at: datetime = Field(description="When it was reported.")


class ReceiptOut(BaseModel):
    """A receipt as it is kept, but for its vector: one for each text of a search."""

    model_config = ConfigDict(from_attributes=True)

    search_id: UUID = Field(description="The search: `metadata.search_id` of its answer.")
    nth: int = Field(description="The place of the text in the search: of a query 0, of needs theirs.")
    caller: str | None = Field(description="Who asked, as a hash; null where that was not known.")
    may_teach: bool = Field(description="Whether its outcomes teach anything.")
    door: Door = Field(description="Where it was asked.")
    asked_at: datetime = Field(description="When it was asked.")
    query: str | None = Field(description="Without secrets; null where texts are not kept.")
    query_hash: str = Field(description="A hash of the text: equal for equal texts.")
    model: str | None = Field(description="The embedding model of the vector; null where there is none.")
    shown: list[ShownToolOut] = Field(description="The best first.")
    no_match: bool = Field(description="Whether nothing fitted, by the answer.")
    outcomes: list[KeptOutcomeOut] = Field(description="Of the search, of all its texts; the oldest first.")

    @classmethod
    def of(cls, receipt: KeptReceipt) -> ReceiptOut:
        """Return what the API says of a receipt."""
        return cls.model_validate(receipt)


class DeletedReceipts(BaseModel):
    """The numbers of what was deleted of a caller."""

    model_config = ConfigDict(from_attributes=True)

    receipts: int = Field(description="How many receipts.")
    outcomes: int = Field(description="How many outcomes.")
    requests: int = Field(description="How many learned requests of one caller alone, in all states.")

    @classmethod
    def of(cls, deleted: Deleted) -> DeletedReceipts:
        """Return what the API says of a deletion."""
        return cls.model_validate(deleted)


class ForgottenTool(BaseModel):
    """The numbers of what was forgotten of a tool, in the caller's organisation."""

    model_config = ConfigDict(from_attributes=True)

    requests: int = Field(description="Learned requests of all states.")
    pairs: int = Field(description="Tools that it was called together with, in all states.")
    states: int = Field(description="How many states had any of both.")
    outcomes: int = Field(description="Reports on its calls.")

    @classmethod
    def of(cls, forgotten: Forgotten) -> ForgottenTool:
        """Return what the API says of it."""
        return cls.model_validate(forgotten)
