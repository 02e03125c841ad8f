"""The answers about what was learned, as the API gives them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from skillroute.learning.states.manage import Kept, Status
from skillroute.learning.states.model import OfTool, StateHead


class MeasureChange(BaseModel):
    """The change of a measure, with its interval of 95 %."""

    mean: float = Field(description="How much higher it is with what was learned.")
    low: float = Field(description="The lower end of the interval.")
    high: float = Field(description="The upper end of the interval.")


class LearnedComparison(BaseModel):
    """The measurement of a state on later searches: each measure without it and with it."""

    is_better: bool = Field(description="Whether it found better.")
    reason: str = Field(description="Why, or why not.")
    before: dict[str, float] = Field(description="The means without the state, by measure.")
    after: dict[str, float] = Field(description="The means with it.")
    differences: dict[str, MeasureChange] = Field(description="The change of each measure.")


class LearnedStateOut(BaseModel):
    """The result of learning once: what was learned, of how much, and what it changes."""

    id: int
    made_at: datetime = Field(description="When it was learned.")
    model: str = Field(description="The embedding model of its vectors: searches with another do not go by it.")
    is_live: bool = Field(description="Whether searches go by it.")
    was_better: bool = Field(description="Whether it was measured to find better, so that it went live by itself.")
    reason: str | None = Field(description="Why it went live, or why not.")
    outcomes: int = Field(description="The outcomes that it was learned of.")
    counted: int = Field(description="How many of them count: a caller counts so many times a day.")
    searches: int = Field(description="How many searches they are of.")
    callers: int = Field(description="How many callers reported them.")
    held_out: int = Field(description="How many later searches it was measured on.")
    requests: int = Field(description="How many learned requests it has now; some may be forgotten since.")
    tools: int = Field(description="How many tools these are of.")
    compared_with_live: LearnedComparison | None = Field(description="Compared with what was live then.")
    compared_with_none: LearnedComparison | None = Field(description="Compared with nothing learned.")

    @classmethod
    def of(cls, state: StateHead) -> LearnedStateOut:
        """Return what the API says of a state."""
        report = state.report
        return cls(
            **{name: getattr(state, name) for name in _OF_STATE},
            **{name: int(report.get(name, 0)) for name in _COUNTS},
            reason=report.get("reason"),
            compared_with_live=_comparison(report, "compared_with_live"),
            compared_with_none=_comparison(report, "compared_with_none"),
        )


class KeptUse(BaseModel):
    """The numbers of what is kept of an organisation's use."""

    model_config = ConfigDict(from_attributes=True)

    searches: int = Field(description="How many searches have a receipt.")
    outcomes: int = Field(description="How many outcomes were reported.")
    callers: int = Field(description="How many different callers searched, of those who are known.")


class LearningOut(BaseModel):
    """The state of learning: what is kept of use, and what was learned of it."""

    receipts: Kept = Field(description="What is kept of searches (`SKILLROUTE_RECEIPTS`).")
    receipts_days: int = Field(description="For how many days.")
    use: KeptUse = Field(description="How much is kept now.")
    live: LearnedStateOut | None = Field(description="The state that searches go by; null where there is none.")
    is_automatic: bool = Field(
        description="Whether a state that is measured to be better goes live by itself: until one is switched by hand."
    )
    states: list[LearnedStateOut] = Field(description="All states that are kept, the newest first: 21 at most.")

    @classmethod
    def of(cls, status: Status) -> LearningOut:
        """Return what the API says of it."""
        live = status.live
        return cls(
            receipts=status.receipts,
            receipts_days=status.receipts_days,
            use=KeptUse.model_validate(status.use),
            live=None if live is None else LearnedStateOut.of(live),
            is_automatic=status.is_automatic,
            states=[LearnedStateOut.of(state) for state in status.states],
        )


class LearnedRequestOut(BaseModel):
    """A learned request: the mean of several searches that led to a tool."""

    tool_id: int
    server: str | None
    name: str
    words: list[str] = Field(description="The words that three or more of its searches have.")
    share: float = Field(description="Of the successful searches near it, how many went to the tool; from a half on 1.")
    searches: int = Field(description="How many searches it is the mean of.")
    callers: int = Field(description="How many callers made them.")

    @classmethod
    def of(cls, learned: OfTool) -> LearnedRequestOut:
        """Return what the API says of a learned request."""
        return cls(
            tool_id=learned.tool_id,
            server=learned.server or None,
            name=learned.name,
            words=list(learned.words),
            share=round(learned.share, 4),
            searches=learned.searches,
            callers=learned.callers,
        )


_OF_STATE = ("id", "made_at", "model", "is_live", "was_better", "requests", "tools")
_COUNTS = ("outcomes", "counted", "searches", "callers", "held_out")


def _comparison(report: Mapping[str, Any], name: str) -> LearnedComparison | None:
    found = report.get(name)
    return None if found is None else LearnedComparison.model_validate(found)
