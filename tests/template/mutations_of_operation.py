"""What is broken in alarms, names, the schedule, outputs and parameters, and the check that should see it."""

from __future__ import annotations

from tests.template.mutate import Change, add, properties, put
from tests.template.parameter_sets import AURORA, LEAST, QUIET, TOKENS

_ALARM = "Resources/ClassifyDeadLettersAlarm"
_SCHEDULE = "Events/Schedule/Properties"
_RING = "check_alarms_ring_when_they_should"
_ONCE = "check_a_run_that_failed_is_not_tried_again"
_NAMES = "check_names_fit_and_differ"

OF_OPERATION: list[tuple[str, str, Change]] = [
    # monitoring
    ("check_alarms_exist", LEAST, put(_ALARM)),
    ("check_alarms_exist", LEAST, put("Resources/RelayErrorsAlarm")),
    ("check_alarms_exist", LEAST, add("MoreDeadLetters", "AWS::SQS::Queue", {})),
    ("check_alarms_exist", QUIET, put("Resources/OutboxAgeAlarm/Condition")),
    ("check_alarms_exist", LEAST, put("Resources/IndexLagAlarm/Condition", "IsMonitored")),
    ("check_alarms_tell", LEAST, put(f"{_ALARM}/Properties/AlarmActions", [])),
    (
        "check_alarms_tell",
        LEAST,
        put(f"{_ALARM}/Properties/AlarmDescription", "Do: see docs/operations.md, section Nowhere."),
    ),
    ("check_alarms_tell", LEAST, properties("OutboxAgeAlarm", "MetricName", "OutboxAge")),
    ("check_alarms_tell", LEAST, properties("RelayAlarm", "TreatMissingData", "ignore")),
    ("check_alarms_tell", TOKENS, properties("AlarmsTopic", "Subscription")),
    ("check_the_relays_silence_is_longer_than_its_pause", AURORA, put("Mappings/Relay/15/SilenceS", 900)),
    ("check_the_relays_silence_is_longer_than_its_pause", AURORA, put("Mappings/Relay/15/FailuresS", 300)),
    (
        "check_the_relays_silence_is_longer_than_its_pause",
        LEAST,
        properties("SearchLatencyAlarm", "EvaluationPeriods", 300),
    ),
    ("check_dashboard", LEAST, properties("CatalogFunction", "MemorySize", 3008)),
    ("check_dashboard", LEAST, put("Resources/SearchLatencyAlarm")),
    ("check_outputs", TOKENS, put("Outputs/Key", {"Description": "A key", "Value": {"Ref": "ChatApiKeySecretArn"}})),
    ("check_outputs", LEAST, put("Outputs/ApiUrl/Description", "")),
    ("check_outputs", AURORA, put("Outputs/FunctionsSecurityGroupId")),
    ("check_outputs", LEAST, put("Outputs/DatabaseClusterId/Condition", "IsMonitored")),
    # when alarms ring
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
    ("check_alarms_exist", LEAST, properties("SearchLatencyAlarm", "Dimensions/1/Value", "search:live")),
    ("check_alarms_exist", LEAST, properties("SearchLatencyAlarm", "Dimensions/0/Value", {"Ref": "CatalogFunction"})),
    (
        "check_a_poisoned_message_is_no_alarm_before_it_is_given_up",
        LEAST,
        put("Parameters/QueueAgeAlarmS/Default", 1800),
    ),
    (
        "check_a_poisoned_message_is_no_alarm_before_it_is_given_up",
        LEAST,
        properties("ClassifyQueue", "VisibilityTimeout", 600),
    ),
    # the schedule
    ("check_schedule", AURORA, properties("RelayFunction", f"{_SCHEDULE}/ScheduleExpression", "rate(1 minute)")),
    ("check_schedule", LEAST, properties("RelayFunction", f"{_SCHEDULE}/State", "DISABLED")),
    (_ONCE, LEAST, properties("RelayFunction", f"{_SCHEDULE}/RetryPolicy")),
    (_ONCE, LEAST, properties("RelayFunction", "EventInvokeConfig")),
    (_ONCE, LEAST, properties("RelayFunction", "EventInvokeConfig/MaximumRetryAttempts", 2)),
    # names
    (_NAMES, LEAST, properties("RelayFunction", f"{_SCHEDULE}/OmitName")),
    (_NAMES, LEAST, properties("SettingsApplication", "Name", {"Ref": "AWS::StackName"})),
    (_NAMES, LEAST, properties("SettingsApplication", "Name", "skillroute")),
    (_NAMES, LEAST, properties("SearchLogs", "LogGroupName", "/aws/lambda/skillroute-search")),
    (_NAMES, LEAST, properties("SearchFunction", "FunctionName", {"Fn::Sub": "${AWS::StackName}-search"})),
    # parameters
    ("check_parameters", LEAST, put("Parameters/QdrantUrl/AllowedPattern", "^.*$")),
    ("check_parameters", LEAST, put("Parameters/JwtIssuer/Description", "")),
    ("check_parameters", LEAST, put("Parameters/AuthMode/Default", "none")),
    ("check_parameters", LEAST, put("Parameters/ThrottlingRate/Default", 0)),
    (
        "check_parameters_are_grouped_and_used",
        LEAST,
        put("Parameters/Spare", {"Type": "String", "Default": "", "AllowedPattern": "^$"}),
    ),
    (
        "check_parameters_are_grouped_and_used",
        LEAST,
        put("Metadata/AWS::CloudFormation::Interface/ParameterGroups/0/Parameters", ["AuthMode"]),
    ),
    ("check_nothing_is_open_by_default", LEAST, put("Parameters/AuthMode/AllowedValues", ["iam", "jwt", "none"])),
    ("check_nothing_is_open_by_default", LEAST, put("Parameters/DatabaseSslMode/Default", "require")),
    ("check_nothing_is_open_by_default", LEAST, put("Parameters/JwtRequireOrg/Default", "false")),
    (
        "check_nothing_is_open_by_default",
        LEAST,
        put("Parameters/AdminRoleArns/AllowedPattern", "^$|^arn:aws:iam::[0-9]+:role/.+$"),
    ),
    (
        "check_nothing_is_open_by_default",
        LEAST,
        put("Parameters/QdrantUrl/AllowedPattern", "^$|^https?://[a-z.]+(:[0-9]+)?$"),
    ),
    ("check_rules", AURORA, put("Rules/AKeyIsForAServer/Assertions/0/Assert", {"Fn::Equals": ["a", "b"]})),
]
