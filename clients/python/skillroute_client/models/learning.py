"""Traces of use: what people miss, judged requests, receipts."""

from __future__ import annotations

from datetime import datetime

from skillroute_client.models.base import Answer


class NearestTool(Answer):
    """A tool that was shown for requests that it does not serve."""

    id: int
    server: str | None = None
    name: str


class AskedWording(Answer):
    """A wording of requests that found nothing that fits."""

    query: str
    searches: int
    callers: int = 0
    last_at: datetime | None = None


class Unserved(Answer):
    """Requests of one meaning that found nothing that fits; `query` is None where texts are not kept."""

    query: str | None = None
    wordings: list[str] = []
    searches: int
    callers: int = 0
    last_at: datetime | None = None
    tools: list[NearestTool] = []
    asked: list[AskedWording] = []


class JudgedRequest(Answer):
    """A request with the tools that were right for it, as `skillroute eval --queries` reads it."""

    query: str
    needs: list[list[str]] = []
    source: str = "use"
    searches: int = 0
    last_at: datetime | None = None


class ShownTool(Answer):
    """A tool that a search showed."""

    tool_id: int
    content_hash: str
    probability: float | None = None


class KeptOutcome(Answer):
    """An outcome as it is kept; of the whole search where it has no tool."""

    tool_id: int | None = None
    outcome: str
    caller: str | None = None
    may_teach: bool = False
    source: str = "program"
    reported_at: datetime | None = None


class Receipt(Answer):
    """One text of a search, what was shown for it, and the outcomes of the search."""

    search_id: str
    nth: int = 0
    caller: str | None = None
    may_teach: bool = False
    door: str
    asked_at: datetime
    query: str | None = None
    query_hash: str
    model: str | None = None
    shown: list[ShownTool] = []
    no_match: bool = False
    outcomes: list[KeptOutcome] = []


class DeletedReceipts(Answer):
    """How many receipts and outcomes of a caller were deleted, and learned requests of one caller alone."""

    receipts: int = 0
    outcomes: int = 0
    requests: int = 0


class ForgottenTool(Answer):
    """How much was forgotten of a tool: learned requests and pairs of `states` states, and outcomes."""

    requests: int = 0
    pairs: int = 0
    states: int = 0
    outcomes: int = 0


class MeasureChange(Answer):
    """How much higher a measure is, with its interval of 95 %."""

    mean: float
    low: float
    high: float


class LearnedComparison(Answer):
    """The means of each measure without a state and with it, on later searches."""

    is_better: bool = False
    reason: str = ""
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    differences: dict[str, MeasureChange] = {}


class LearnedState(Answer):
    """The result of learning once: what was learned, of how much, and what it changes."""

    id: int
    made_at: datetime
    model: str
    is_live: bool = False
    was_better: bool = False
    reason: str | None = None
    outcomes: int = 0
    counted: int = 0
    searches: int = 0
    callers: int = 0
    held_out: int = 0
    requests: int = 0
    tools: int = 0
    compared_with_live: LearnedComparison | None = None
    compared_with_none: LearnedComparison | None = None


class KeptUse(Answer):
    """How much is kept of an organisation's use."""

    searches: int = 0
    outcomes: int = 0
    callers: int = 0


class LearningStatus(Answer):
    """Kept use, and the states that were learned of it, the newest first."""

    receipts: str
    receipts_days: int
    use: KeptUse
    live: LearnedState | None = None
    is_automatic: bool = True
    states: list[LearnedState] = []


class LearnedRequest(Answer):
    """The mean of several searches that led to a tool, with the words that three or more of them have."""

    tool_id: int
    server: str | None = None
    name: str
    words: list[str] = []
    share: float = 1.0
    searches: int = 0
    callers: int = 0
