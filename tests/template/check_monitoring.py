"""What must hold of the alarms, of the dashboard and of what the stack says about itself."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from skillroute.core.observability import Metric
from skillroute.core.relay import Relay

from tests.template.check_functions import functions
from tests.template.check_queues import MAX_RECEIVES
from tests.template.stack import MONITORING, ROOT, Json, Stack, references

_DIMENSIONS = [{"Name": "service", "Value": "skillroute"}]
_OURS = "skillroute"  # the stack's name
LEARN_AGE_S = 4 * 3600
"""The age of a message of the learn queue that is an alarm: no caller waits for it."""


def _watched(stack: Stack) -> Iterator[tuple[str, str, str]]:
    """Yield namespace, metric and what is measured of every alarm."""
    for alarm in stack.of_type("AWS::CloudWatch::Alarm").values():
        for metric in _metrics(alarm):
            yield metric["Namespace"], metric["MetricName"], _measured(metric["Dimensions"])


def _metrics(alarm: Json) -> list[Json]:
    if "Metrics" not in alarm:
        return [alarm]
    return [each["MetricStat"]["Metric"] for each in alarm["Metrics"] if "MetricStat" in each]


def _measured(dimensions: list[Json]) -> str:
    dimension, *alias = dimensions
    value: Any = dimension["Value"]
    if alias:
        # As Lambda measures calls of an alias.
        assert dimension["Name"] == "FunctionName"
        assert alias == [{"Name": "Resource", "Value": f"${{{value['Ref']}}}:live"}]
    if isinstance(value, dict):
        ((_, target),) = value.items()
        return target if isinstance(target, str) else str(target[0])
    return str(value)


def check_alarms_exist(stack: Stack) -> None:
    watched = set(_watched(stack))
    if stack.parameters["Monitoring"] == "false":
        assert not watched
        assert not stack.of_type("AWS::CloudWatch::Dashboard")
        return
    expected = {
        ("AWS/ApiGateway", "5xx", "Api"),
        ("AWS/Lambda", "Duration", "SearchFunction"),
        ("AWS/Lambda", "Invocations", "RelayFunction"),
        (_OURS, "OutboxOldest", _OURS),
        (_OURS, "SearchDegraded", _OURS),
    }
    for name, queue in stack.of_type("AWS::SQS::Queue").items():
        if "RedrivePolicy" in queue:
            expected.add(("AWS/SQS", "ApproximateAgeOfOldestMessage", name))
        else:
            expected.add(("AWS/SQS", "ApproximateNumberOfMessagesVisible", name))
    expected |= {("AWS/Lambda", "Errors", f"{name}Function") for name in functions(stack)}
    lag = {(_OURS, "IndexLag", _OURS)}
    assert expected <= watched
    assert (lag <= watched) == bool(stack.parameters["QdrantUrl"])


class Rings(NamedTuple):
    """When an alarm rings: a statistic (or an expression) of a period, compared in some of the last periods."""

    of: str
    compared: str
    threshold: int
    period_s: int = 300
    needed: int = 1
    periods: int = 1


def _expected(stack: Stack) -> dict[str, Rings]:
    given = stack.parameters
    relay = stack.monitoring["Mappings"]["Relay"][given["RelayEveryMinutes"]]
    age, silence, failures = int(given["QueueAgeAlarmS"]), relay["SilenceS"], relay["FailuresS"]
    too_many, too_few, above = ">=", "<", ">"
    expected = {
        "ServerErrorsAlarm": Rings("IF(errors >= 5, 100 * errors / requests, 0)", above, 1, 300, 2, 2),
        "SearchLatencyAlarm": Rings("p95", too_many, int(given["LatencyAlarmMs"]), 300, 3, 3),
        "DegradedSearchesAlarm": Rings(
            "IF(searches >= 20, 100 * FILL(degraded, 0) / searches, 0)", above, 5, 300, 2, 2
        ),
        "IndexLagAlarm": Rings("Minimum", too_many, 1, silence, 3, 3),
        "OutboxAgeAlarm": Rings("Maximum", too_many, age, silence),
        "DatabaseUnavailableAlarm": Rings("Sum", too_many, 5, 300, 2, 2),
        "RelayAlarm": Rings("Sum", too_few, 1, silence),
    }
    for name, oldest in (("Classify", age), ("Aggregate", age), ("Learn", LEARN_AGE_S)):
        expected[f"{name}DeadLettersAlarm"] = Rings("Maximum", too_many, 1)
        expected[f"{name}QueueAgeAlarm"] = Rings("Maximum", too_many, oldest, 300, 3, 3)
    # What failed to learn comes again after 42 minutes.
    seldom = {"Relay": failures, "Learn": 3600}
    for name in functions(stack):
        expected[f"{name}ErrorsAlarm"] = Rings("Sum", too_many, 1, seldom.get(name, 300), 2, 3)
    return expected


_COMPARED = {
    "GreaterThanOrEqualToThreshold": ">=",
    "GreaterThanThreshold": ">",
    "LessThanThreshold": "<",
}


def _rings(alarm: Json) -> Rings:
    of, period = alarm.get("Statistic", alarm.get("ExtendedStatistic")), alarm.get("Period")
    if "Metrics" in alarm:
        shown = [each["Expression"] for each in alarm["Metrics"] if each.get("ReturnData", True)]
        counted = [each["MetricStat"] for each in alarm["Metrics"] if "MetricStat" in each]
        periods_s = {each["Period"] for each in counted}
        assert len(shown) == len(periods_s) == 1
        assert {each["Stat"] for each in counted} == {"Sum"}
        of, period = shown[0], max(periods_s)
    compared = _COMPARED.get(alarm["ComparisonOperator"], "otherwise")
    periods = alarm["EvaluationPeriods"]
    needed = alarm.get("DatapointsToAlarm", periods)
    return Rings(str(of), compared, int(alarm["Threshold"]), int(period), needed, periods)


def check_alarms_ring_when_they_should(stack: Stack) -> None:
    expected = _expected(stack)
    for name, alarm in stack.of_type("AWS::CloudWatch::Alarm").items():
        assert _rings(alarm) == expected[name], name
        assert alarm.get("ActionsEnabled", True) is True, name


def check_a_poisoned_message_is_no_alarm_before_it_is_given_up(stack: Stack) -> None:
    parameter = stack.source["Parameters"]["QueueAgeAlarmS"]
    waits = {name: each.get("VisibilityTimeout", 30) for name, each in stack.of_type("AWS::SQS::Queue").items()}
    assert MAX_RECEIVES * waits.pop("LearnQueue") < LEARN_AGE_S
    assert parameter["Default"] > MAX_RECEIVES * max(waits.values())


def check_the_relay_takes_no_message_for_lost_that_is_still_tried(stack: Stack) -> None:
    after_s = inspect.signature(Relay).parameters["again_after_s"].default
    for name, queue in stack.of_type("AWS::SQS::Queue").items():
        assert after_s > MAX_RECEIVES * queue.get("VisibilityTimeout", 30), name


def check_alarms_tell(stack: Stack) -> None:
    headings = set(re.findall(r"^## (.+)$", (ROOT / "docs/operations.md").read_text(encoding="utf-8"), re.MULTILINE))
    for name, alarm in stack.of_type("AWS::CloudWatch::Alarm").items():
        assert alarm["AlarmActions"] == alarm["OKActions"] == [{"Ref": "AlarmsTopic"}], name
        assert "Do: " in alarm["AlarmDescription"], name
        section = re.search(r"docs/operations\.md, section ([^.]+)\.$", alarm["AlarmDescription"])
        assert section, name
        assert section[1] in headings, name
        assert alarm["TreatMissingData"] == ("breaching" if name == "RelayAlarm" else "notBreaching"), name
        for metric in _metrics(alarm):
            if metric["Namespace"] == _OURS:
                assert metric["MetricName"] in set(Metric), name
                assert metric["Dimensions"] == _DIMENSIONS, name
    for topic in stack.of_type("AWS::SNS::Topic").values():
        for subscription in topic.get("Subscription", []):
            assert subscription == {"Protocol": "email", "Endpoint": stack.parameters["AlarmEmail"]}
    told = any("Subscription" in topic for topic in stack.of_type("AWS::SNS::Topic").values())
    assert told == bool(stack.parameters["AlarmEmail"])


def check_the_relays_silence_is_longer_than_its_pause(stack: Stack) -> None:
    for name, alarm in stack.of_type("AWS::CloudWatch::Alarm").items():
        if name == "RelayAlarm":
            assert int(alarm["Period"]) >= 2 * 60 * int(stack.parameters["RelayEveryMinutes"])
        if name == "RelayErrorsAlarm":
            # Each period has a run that can fail.
            assert int(alarm["Period"]) >= 60 * int(stack.parameters["RelayEveryMinutes"])
        period = alarm.get("Period", 300)
        # CloudWatch takes an evaluation of at most a day, and periods of whole minutes.
        assert int(period) % 60 == 0, name
        assert int(period) * alarm["EvaluationPeriods"] <= 86_400, name


def check_dashboard(stack: Stack) -> None:
    for dashboard in stack.of_type("AWS::CloudWatch::Dashboard").values():
        widgets = json.loads(dashboard["DashboardBody"])["widgets"]
        shown = {metric[1] for each in widgets for metric in each["properties"].get("metrics", []) if len(metric) > 1}
        ours = [m for each in widgets for m in each["properties"].get("metrics", []) if m[0] == _OURS]
        assert {metric[1] for metric in ours} <= set(Metric)
        assert all(metric[2:4] == ["service", "skillroute"] for metric in ours)
        wanted = {"Count", "5xx", "Latency", "SearchDegraded", "ToolsClassified", "IndexLag", "Invocations", "Errors"}
        wanted |= {"SearchModeDowngrade", "MailWritten", "MailFailed"}
        assert wanted <= shown
        (alarms,) = (each["properties"]["alarms"] for each in widgets if each["type"] == "alarm")
        made = set(stack.of_type("AWS::CloudWatch::Alarm")) - {"IndexLagAlarm"}  # that one is not always made
        assert {each.removeprefix("${").removesuffix(".Arn}") for each in alarms} == made
        memory = {name: each["MemorySize"] for name, each in functions(stack).items()}
        for name, size in memory.items():
            assert f"{name.lower()}_ms * {size} / 1024 / 1000" in dashboard["DashboardBody"], name


def check_what_monitoring_is_given(stack: Stack) -> None:
    """The parameters are those that the nested template has, within what it takes; what is used of it exists."""
    assert ("MonitoringStack" in stack.resources) == (stack.parameters["Monitoring"] == "true")
    for each in stack.of_type("AWS::CloudFormation::Stack").values():
        if each["TemplateURL"] != MONITORING:
            continue
        assert set(each["Parameters"]) == set(stack.monitoring["Parameters"])
        for name, parameter in stack.monitoring["Parameters"].items():
            value = each["Parameters"][name]
            assert value in parameter.get("AllowedValues", [value]), name
            # What has a name in this stack is called so in the other one, too.
            assert not isinstance(value, dict) or next(references(value)).split(".")[0] == name, name
    used = {each.rpartition(".")[2] for each in references(stack.translated) if each.startswith("MonitoringStack.")}
    assert used == set(stack.monitoring["Outputs"])


def check_outputs(stack: Stack) -> None:
    # What it takes to reach the stack's own database from within its network, and to restore it.
    of_database = {"DatabaseAddress", "DatabaseClusterId", "DatabaseOwnerSecret", "FunctionsSecurityGroupId"}
    has = of_database & set(stack.outputs)
    assert has == (of_database if stack.parameters["CreateDatabase"] == "aurora" else set())
    for name, output in stack.outputs.items():
        assert output["Description"], name
        written = json.dumps(stack.translated["Outputs"][name]["Value"])
        # Nothing that a deployer gave comes back, and nothing is resolved to be shown.
        assert not [each for each in stack.parameters if f'"{each}"' in written or f"${{{each}}}" in written], name
        assert "{{resolve" not in written, name
        assert not re.search(r"password(?!secret)|api_?key", written, re.IGNORECASE), name
