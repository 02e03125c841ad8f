"""Logger and metrics: made here and nowhere else (aws-lambda-powertools).

On Lambda metrics are written as EMF log lines; elsewhere they are counted without being printed. There is no tracer:
Lambda's own X-Ray segment shows how long a call took, the answer's metadata shows each stage, and the X-Ray SDK would
cost 150 ms of every cold start.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from enum import StrEnum

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

_ON_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME" in os.environ

logger = Logger(service="skillroute", level=os.environ.get("SKILLROUTE_LOG_LEVEL", "INFO"))
# Each stack has a namespace of its own, so that two in one account do not add up.
metrics = Metrics(namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE") or "Skillroute", service="skillroute")


class Metric(StrEnum):
    """Every metric that Skillroute emits."""

    SEARCH = "Search"
    SEARCH_DEGRADED = "SearchDegraded"
    SEARCH_EMPTY = "SearchEmpty"
    SEARCH_FAILED = "SearchFailed"
    SEARCH_FALLBACK = "SearchFallback"
    SEARCH_REFUSED = "SearchRefused"
    SEARCH_TIME = "SearchTime"
    LEARNED_UNAVAILABLE = "LearnedUnavailable"
    LEARNED_LIVE = "LearnedLive"
    LEARNED_REJECTED = "LearnedRejected"
    SEARCH_MODE_DOWNGRADE = "SearchModeDowngrade"
    SEARCH_SHADOW_COMPARISON = "SearchShadowComparison"
    SEARCH_CURSOR_INVALIDATED = "SearchCursorInvalidated"
    ITEMS_WRITTEN = "ItemsWritten"
    ITEMS_FAILED = "ItemsFailed"
    ENTITIES_WRITTEN = "EntitiesWritten"
    ENTITIES_FAILED = "EntitiesFailed"
    SKILLS_WRITTEN = "SkillsWritten"
    SKILLS_FAILED = "SkillsFailed"
    AGENT_SKILLS_WRITTEN = "AgentSkillsWritten"
    AGENT_SKILLS_FAILED = "AgentSkillsFailed"
    MAIL_WRITTEN = "MailWritten"
    MAIL_FAILED = "MailFailed"
    SKILL_LINES_WRITTEN = "SkillLinesWritten"
    SKILL_LINES_FAILED = "SkillLinesFailed"
    CALLS = "Calls"
    CALLS_WITHOUT_ANSWER = "CallsWithoutAnswer"
    CALL_TIME = "CallTime"
    BUDGET_SPENT = "BudgetSpent"
    BUDGETS_UNSHARED = "BudgetsUnshared"
    EMBEDDING_FAILED = "EmbeddingFailed"
    EMBEDDING_REFUSED = "EmbeddingRefused"
    DATABASE_UNAVAILABLE = "DatabaseUnavailable"
    TOOLS_CLASSIFIED = "ToolsClassified"
    CLASSIFICATION_FAILED = "ClassificationFailed"
    REQUESTS_WRITTEN = "RequestsWritten"
    REQUESTS_DROPPED = "RequestsDropped"
    RECEIPTS_WRITTEN = "ReceiptsWritten"
    RECEIPTS_DROPPED = "ReceiptsDropped"
    TRACE_LOST = "TraceLost"
    SUGGESTIONS_CREATED = "SuggestionsCreated"
    SKILLS_AGGREGATED = "SkillsAggregated"
    DISPATCH_FAILED = "DispatchFailed"
    NOTIFICATION_FAILED = "NotificationFailed"
    MESSAGES_GIVEN_UP = "MessagesGivenUp"
    RELAY_FAILED = "RelayFailed"
    INDEX_FEED_RENUMBERED = "IndexFeedRenumbered"
    INDEX_GIVEN_UP = "IndexGivenUp"
    INDEX_LAG = "IndexLag"
    INDEX_LISTS_FAILED = "IndexListsFailed"
    INDEX_NO_ROOM = "IndexNoRoom"
    INDEX_NOT_READY = "IndexNotReady"
    INDEX_WORDS_LEFT = "IndexWordsLeft"
    INDEX_STALE = "IndexStale"
    INDEX_REBUILD_START = "IndexRebuildStart"
    INDEX_REBUILD_COMPLETE = "IndexRebuildComplete"
    INDEX_INCREMENTAL_BATCH = "IndexIncrementalBatch"
    INDEX_SCHEMA_MISMATCH = "IndexSchemaMismatch"
    OUTBOX_WAITING = "OutboxWaiting"
    OUTBOX_DEAD = "OutboxDead"
    OUTBOX_OLDEST = "OutboxOldest"
    POSTGRES_RESTARTED = "PostgresRestarted"


_lock = threading.Lock()
_counts: dict[Metric, float] = {}
_SEARCH_TIMES_KEPT = 5_000  # of more in a minute the last ones are enough for a percentile
_search_times_ms: deque[float] = deque(maxlen=_SEARCH_TIMES_KEPT)


def count(metric: Metric, value: float = 1) -> None:
    """Add to a count."""
    _record(metric, value, MetricUnit.Count)


def observe_ms(metric: Metric, value: float) -> None:
    """Record a duration in milliseconds."""
    _record(metric, value, MetricUnit.Milliseconds)


def event(name: str, metric: Metric, /, **fields: object) -> None:
    """Report that something happened: one log line whose message is the name, and one more of its metric.

    Parameters
    ----------
    name : str
        As the contract spells it, such as ``index.rebuild.start`` (message-search, section 8).
    fields : object
        What the line carries beside its message; no name of a log record's own, such as ``name`` or ``message``.
    """
    logger.info(name, extra=fields)
    count(metric)


def gauge(metric: Metric, value: float) -> None:
    """Record how much of something there is at this moment; a later value takes its place in `counts`."""
    with _lock:
        _counts[metric] = value
    if _ON_LAMBDA:
        metrics.add_metric(name=metric.value, unit=MetricUnit.NoUnit, value=value)


def counts() -> dict[str, float]:
    """Return what has been counted in this process, by metric; for `/health` and tests, where no process reads EMF."""
    with _lock:
        return {metric.value: total for metric, total in _counts.items()}


def take_search_times() -> list[float]:
    """Return the times of the last searches in milliseconds, and forget them; none on Lambda."""
    with _lock:
        times = list(_search_times_ms)
        _search_times_ms.clear()
    return times


def flush() -> None:
    """Write what was counted since the last flush as EMF; without effect when there is nothing, or off Lambda."""
    if metrics.metric_set:
        metrics.flush_metrics()


def _record(metric: Metric, value: float, unit: MetricUnit) -> None:
    with _lock:
        if unit is MetricUnit.Count:
            _counts[metric] = _counts.get(metric, 0) + value
        elif metric is Metric.SEARCH_TIME and not _ON_LAMBDA:
            _search_times_ms.append(value)
    if _ON_LAMBDA:
        metrics.add_metric(name=metric.value, unit=unit, value=value)
