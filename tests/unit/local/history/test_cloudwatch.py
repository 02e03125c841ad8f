"""The history of a deployment, from the CloudWatch that moto plays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, NoCredentialsError
from moto import mock_aws
from moto.cloudwatch.models import Statistics
from skillroute_local.history.cloudwatch import CloudWatchHistory
from skillroute_local.history.source import HistoryUnavailable

# Of now, as moto keeps what is of the last days alone.
NOW = int(datetime.now(UTC).timestamp()) // 3600 * 3600 + 59


@pytest.fixture
def cloudwatch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    known = Statistics.get_statistics_for_type

    def with_percentiles(self: Statistics, stat: str) -> Any:
        if not stat.startswith("p"):
            return known(self, stat)
        values = sorted(self.metric_single_values_list)
        return values[-(-int(stat[1:]) * len(values) // 100) - 1] if values else None

    monkeypatch.setattr(Statistics, "get_statistics_for_type", with_percentiles)  # moto knows no percentiles
    with mock_aws():
        yield boto3.client("cloudwatch", region_name="eu-central-1")


def put(cloudwatch: Any, metric: str, *values: float, minutes_ago: int = 0) -> None:
    row = {
        "MetricName": metric,
        "Dimensions": [{"Name": "service", "Value": "skillroute"}],
        "Timestamp": datetime.fromtimestamp(NOW - 60 * minutes_ago, UTC),
    }
    cloudwatch.put_metric_data(Namespace="prod", MetricData=[row | {"Value": value} for value in values])


def history(cloudwatch: Any) -> CloudWatchHistory:
    return CloudWatchHistory(lambda: cloudwatch, "prod", now=lambda: NOW)


def test_the_metrics_of_the_stack_are_the_series(cloudwatch: Any) -> None:
    put(cloudwatch, "Search", 3.0, 4.0)
    put(cloudwatch, "Search", 2.0, minutes_ago=5)
    put(cloudwatch, "SearchTime", *(float(each) for each in range(1, 101)))
    put(cloudwatch, "SearchRefused", 1.0)
    put(cloudwatch, "ItemsWritten", 5.0)
    put(cloudwatch, "SkillsWritten", 2.0)
    put(cloudwatch, "OutboxDead", 3.0)

    found = history(cloudwatch).series("1h")

    series = found["series"]
    assert (found["step_s"], {len(values) for values in series.values()}) == (60, {60})
    assert series["searches"] == [None] * 54 + [2.0, 0.0, 0.0, 0.0, 0.0, 7.0]
    assert (series["rate"][-1], series["refused"][-1], series["writes"][-1]) == (7.0, 1.0, 7.0)
    assert (series["p50"][-1], series["p95"][-1], series["p50"][-2]) == (50.0, 95.0, None)
    # Of gauges that are not there nothing is known, while what is not counted did not happen.
    assert (series["dead"][-1], series["queued"][-1], series["empty"][-1]) == (3.0, None, 0.0)


def test_before_the_first_metric_and_after_the_last_nothing_is_known(cloudwatch: Any) -> None:
    put(cloudwatch, "OutboxWaiting", 0.0, minutes_ago=9)
    put(cloudwatch, "Search", 6.0, minutes_ago=6)
    put(cloudwatch, "OutboxWaiting", 0.0, minutes_ago=3)

    series = history(cloudwatch).series("1h")["series"]

    assert series["rate"] == [None] * 50 + [0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0] + [None] * 3
    assert series["failed"][49:51] == [None, 0.0]


def test_of_a_stack_that_emits_nothing_nothing_is_known(cloudwatch: Any) -> None:
    series = history(cloudwatch).series("1h")["series"]
    at = series.pop("at")
    assert len(at) == 60 and all(values == [None] * 60 for values in series.values())


def test_the_stack_and_the_service_are_asked_for_alone(cloudwatch: Any) -> None:
    asked: list[dict[str, Any]] = []  # moto answers with what is in all namespaces
    cloudwatch.meta.events.register(
        "before-parameter-build.cloudwatch.GetMetricData", lambda params, **_: asked.append(params)
    )
    history(cloudwatch).series("24h")
    stats = [query["MetricStat"] for params in asked for query in params["MetricDataQueries"]]
    assert {stat["Metric"]["Namespace"] for stat in stats} == {"prod"}
    assert {stat["Period"] for stat in stats} == {300}
    assert all(stat["Metric"]["Dimensions"] == [{"Name": "service", "Value": "skillroute"}] for stat in stats)


def test_the_same_series_are_there_as_on_a_laptop(cloudwatch: Any) -> None:
    from skillroute_local.history.figures import series_of

    assert history(cloudwatch).series("30d")["series"].keys() == series_of([], 0, 60).keys()


@pytest.mark.parametrize(
    ("error", "detail", "remedy"),
    [
        (
            ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "GetMetricData"),
            "may not read the metrics",
            "cloudwatch:GetMetricData",
        ),
        (ClientError({"Error": {"Code": "InternalServiceFault"}}, "GetMetricData"), "CloudWatch answers", "region"),
        (NoCredentialsError(), "cannot be asked", "aws sso login"),
    ],
)
def test_what_is_missing_is_named(error: Exception, detail: str, remedy: str) -> None:
    def make() -> Any:
        raise error

    with pytest.raises(HistoryUnavailable, match=detail) as refused:
        CloudWatchHistory(make, "prod", now=lambda: NOW).series("24h")
    assert remedy in refused.value.remedy
