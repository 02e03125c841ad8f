"""The history of a deployment: the metrics that its functions emit, as CloudWatch keeps them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from skillroute.core.observability import Metric

from skillroute_local.history.recorder import METRICS
from skillroute_local.history.source import HistoryUnavailable, Range, window

_DIMENSIONS = [{"Name": "service", "Value": "skillroute"}]  # as Powertools writes them
_GAUGES = {
    "index_lag": Metric.INDEX_LAG,
    "queued": Metric.OUTBOX_WAITING,
    "dead": Metric.OUTBOX_DEAD,
}
_DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"})


class CloudWatchHistory:
    """Reads the metrics of a stack, with the AWS credentials of this process.

    Parameters
    ----------
    client : callable
        Makes the client of boto3 when it is first needed.
    namespace : str
        The name of the stack.
    now : callable
        Seconds of the epoch.
    """

    def __init__(self, client: Callable[[], Any], namespace: str, now: Callable[[], float] = time.time) -> None:
        self._made: Any = None
        self._make, self._namespace, self._now = client, namespace, now

    def series(self, range_: Range) -> dict[str, Any]:
        """Return `step_s` and each figure as a list, up to now. Raises `HistoryUnavailable`.

        Between the first and the last of all metrics, what is not emitted did not happen; before there was no stack,
        and after it CloudWatch may not have the metrics yet: nothing is known of it.
        """
        start, step_s, steps = window(range_, self._now())
        places = range(start, start + step_s * steps, step_s)
        read = self._read(start, start + step_s * steps, step_s)
        made: dict[str, list[float | None]] = {"at": [*places]}
        known = [at for values in read.values() for at in values]
        first, last = min(known, default=0), max(known, default=-1)
        for name, metrics in METRICS.items():
            made[name] = [
                sum(read[metric.value].get(at, 0.0) for metric in metrics) if first <= at <= last else None
                for at in places
            ]
        made |= {name: [read[name].get(at) for at in places] for name in (*_GAUGES, "p50", "p95")}
        made["classify"] = [None] * steps  # the relay counts all queues together
        made["rate"] = [None if count is None else round(60.0 * count / step_s, 2) for count in made["searches"]]
        return {"step_s": step_s, "series": made}

    def _read(self, start: int, end: int, step_s: int) -> Mapping[str, dict[int, float]]:
        """Return the values of each metric by the second in which their step begins."""
        wanted = [(metric.value, metric, "Sum") for metrics in METRICS.values() for metric in metrics]
        wanted += [(name, metric, "Maximum") for name, metric in _GAUGES.items()]
        wanted += [(stat, Metric.SEARCH_TIME, stat) for stat in ("p50", "p95")]
        queries: list[Any] = [
            {"Id": f"q{at}", "MetricStat": {"Metric": self._metric(metric), "Period": step_s, "Stat": stat}}
            for at, (_, metric, stat) in enumerate(wanted)
        ]
        read: dict[str, dict[int, float]] = {name: {} for name, *_ in wanted}
        pages = self._pages(
            MetricDataQueries=queries,
            StartTime=datetime.fromtimestamp(start, UTC),
            EndTime=datetime.fromtimestamp(end, UTC),
        )
        for found in pages:
            name = wanted[int(found["Id"][1:])][0]
            for at, value in zip(found["Timestamps"], found["Values"], strict=True):
                second = int(at.timestamp())
                read[name][second - second % step_s] = value
        return read

    def _metric(self, metric: Metric) -> dict[str, Any]:
        return {"Namespace": self._namespace, "MetricName": metric.value, "Dimensions": _DIMENSIONS}

    def _pages(self, **asked: Any) -> list[Any]:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 (on AWS only)

        try:
            self._made = self._made or self._make()
            pages = self._made.get_paginator("get_metric_data").paginate(**asked)
            return [found for page in pages for found in page["MetricDataResults"]]
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in _DENIED:
                raise HistoryUnavailable(
                    "your AWS credentials may not read the metrics",
                    "Ask for the right cloudwatch:GetMetricData, or take a profile that has it.",
                ) from error
            remedy = "Check the AWS credentials and the region."
            raise HistoryUnavailable(f"CloudWatch answers: {error}", remedy) from error
        except BotoCoreError as error:
            raise HistoryUnavailable(
                f"CloudWatch cannot be asked: {error}", "Log in to AWS (`aws sso login`), or set AWS_PROFILE."
            ) from error


def of_deployment(region: str, stack: str) -> CloudWatchHistory:
    """Return the history of a stack in a region."""

    def make() -> Any:
        import boto3  # noqa: PLC0415 (0.2 s)

        return boto3.client("cloudwatch", region_name=region)

    return CloudWatchHistory(make, stack)
