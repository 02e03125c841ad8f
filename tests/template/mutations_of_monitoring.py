"""What is broken in the nested template of alarms and dashboard, and the check that should see it."""

from __future__ import annotations

from tests.template.mutate import Change, properties, put
from tests.template.parameter_sets import AURORA, LEAST, TOKENS

_ALARM = "Resources/ClassifyDeadLettersAlarm"
_RING = "check_alarms_ring_when_they_should"
_NAMES = "check_names_fit_and_differ"

OF_MONITORING: list[tuple[str, str, Change]] = [
    ("check_alarms_exist", LEAST, put(_ALARM)),
    ("check_alarms_exist", LEAST, put("Resources/RelayErrorsAlarm")),
    ("check_alarms_exist", LEAST, put("Resources/IndexLagAlarm/Condition")),
    ("check_alarms_exist", LEAST, properties("SearchLatencyAlarm", "Dimensions/1/Value", "search:live")),
    ("check_alarms_exist", LEAST, properties("SearchLatencyAlarm", "Dimensions/0/Value", {"Ref": "CatalogFunction"})),
    ("check_alarms_tell", LEAST, put(f"{_ALARM}/Properties/AlarmActions", [])),
    (
        "check_alarms_tell",
        LEAST,
        put(f"{_ALARM}/Properties/AlarmDescription", "Do: see docs/operations.md, section Nowhere."),
    ),
    ("check_alarms_tell", LEAST, properties("OutboxAgeAlarm", "MetricName", "OutboxAge")),
    ("check_alarms_exist", LEAST, properties("OutboxAgeAlarm", "Namespace", {"Ref": "AWS::StackName"})),
    ("check_alarms_tell", LEAST, properties("RelayAlarm", "TreatMissingData", "ignore")),
    ("check_alarms_tell", TOKENS, properties("AlarmsTopic", "Subscription")),
    ("check_the_relays_silence_is_longer_than_its_pause", AURORA, put("Mappings/Relay/15/SilenceS", 900)),
    ("check_the_relays_silence_is_longer_than_its_pause", AURORA, put("Mappings/Relay/15/FailuresS", 300)),
    (
        "check_the_relays_silence_is_longer_than_its_pause",
        LEAST,
        properties("SearchLatencyAlarm", "EvaluationPeriods", 300),
    ),
    ("check_dashboard", LEAST, put("Resources/SearchLatencyAlarm")),
    (_RING, LEAST, put(f"{_ALARM}/Properties/Threshold", 1000)),
    (_RING, LEAST, put(f"{_ALARM}/Properties/Statistic", "Minimum")),
    (_RING, LEAST, put(f"{_ALARM}/Properties/ComparisonOperator", "LessThanThreshold")),
    (_RING, LEAST, put(f"{_ALARM}/Properties/ActionsEnabled", False)),
    (_RING, LEAST, properties("SearchLatencyAlarm", "ExtendedStatistic", "p50")),
    (_RING, LEAST, properties("SearchLatencyAlarm", "Threshold", 30000)),
    (_RING, LEAST, properties("OutboxAgeAlarm", "Threshold", 345600)),
    (_RING, LEAST, properties("RelayAlarm", "ComparisonOperator", "LessThanOrEqualToThreshold")),
    (_RING, LEAST, properties("SearchErrorsAlarm", "DatapointsToAlarm", 3)),
    (_RING, AURORA, properties("RelayErrorsAlarm", "Period", 300)),
    (_RING, AURORA, properties("IndexLagAlarm", "Statistic", "Maximum")),
    (_RING, LEAST, properties("ServerErrorsAlarm", "Metrics/0/Expression", "errors")),
    (_RING, LEAST, properties("ServerErrorsAlarm", "Metrics/2/MetricStat/Stat", "Maximum")),
    (_RING, LEAST, properties("DegradedSearchesAlarm", "Metrics/0/ReturnData", False)),
    (
        "check_queues_are_encrypted_and_over_tls_only",
        LEAST,
        properties("AlarmsTopic", "KmsMasterKeyId", "alias/aws/sns"),
    ),
    (_NAMES, LEAST, properties("OutboxAgeAlarm", "AlarmName", "oldest work")),
    (_NAMES, LEAST, properties("Dashboard", "DashboardName", "skillroute")),
    ("check_what_monitoring_is_given", LEAST, put("Parameters/SearchLogs")),
    ("check_what_monitoring_is_given", LEAST, put("Outputs/DashboardUrl")),
]
