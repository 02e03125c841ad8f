"""What is broken around monitoring, in names, schedule, outputs and parameters, and the check that should see it."""

from __future__ import annotations

from tests.template.mutate import Change, add, properties, put
from tests.template.parameter_sets import AURORA, LEAST, QUIET, TOKENS

_GIVEN = "Parameters"  # what the nested template is given
_SCHEDULE = "Events/Schedule/Properties"
_RING = "check_alarms_ring_when_they_should"
_BETWEEN = "check_what_monitoring_is_given"
_ONCE = "check_a_run_that_failed_is_not_tried_again"
_NAMES = "check_names_fit_and_differ"

OF_OPERATION: list[tuple[str, str, Change]] = [
    # monitoring, and what is passed to it
    ("check_alarms_exist", LEAST, add("MoreDeadLetters", "AWS::SQS::Queue", {})),
    ("check_alarms_exist", QUIET, put("Resources/MonitoringStack/Condition")),
    ("check_alarms_exist", LEAST, put("Resources/MonitoringStack")),
    ("check_alarms_exist", LEAST, properties("MonitoringStack", f"{_GIVEN}/UsesIndexServer", "true")),
    (
        "check_alarms_exist",
        LEAST,
        properties("MonitoringStack", f"{_GIVEN}/SearchFunction", {"Ref": "CatalogFunction"}),
    ),
    (_BETWEEN, LEAST, put("Resources/MonitoringStack/Condition", "UsesSnapStart")),
    (_BETWEEN, LEAST, properties("MonitoringStack", f"{_GIVEN}/SearchLogs", {"Ref": "CatalogLogs"})),
    (_BETWEEN, LEAST, properties("MonitoringStack", f"{_GIVEN}/QueueAgeAlarmS")),
    (_BETWEEN, LEAST, properties("MonitoringStack", f"{_GIVEN}/Size", "large")),
    (_BETWEEN, LEAST, properties("MonitoringStack", f"{_GIVEN}/UsesIndexServer", "maybe")),
    (_BETWEEN, LEAST, put("Outputs/AlarmsTopicArn/Value", {"Fn::GetAtt": ["MonitoringStack", "Outputs.TopicArn"]})),
    ("check_alarms_exist", LEAST, properties("MonitoringStack", f"{_GIVEN}/Name", "another")),
    ("check_alarms_tell", TOKENS, properties("MonitoringStack", f"{_GIVEN}/AlarmEmail", "")),
    (_RING, LEAST, properties("MonitoringStack", f"{_GIVEN}/LatencyAlarmMs", "30000")),
    (_RING, LEAST, properties("MonitoringStack", f"{_GIVEN}/QueueAgeAlarmS", "345600")),
    (_RING, AURORA, properties("MonitoringStack", f"{_GIVEN}/RelayEveryMinutes", "1")),
    ("check_dashboard", LEAST, properties("CatalogFunction", "MemorySize", 3008)),
    ("check_outputs", TOKENS, put("Outputs/Key", {"Description": "A key", "Value": {"Ref": "ChatApiKeySecretArn"}})),
    ("check_outputs", LEAST, put("Outputs/ApiUrl/Description", "")),
    ("check_outputs", AURORA, put("Outputs/FunctionsSecurityGroupId")),
    ("check_outputs", LEAST, put("Outputs/DatabaseClusterId/Condition", "IsMonitored")),
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
    (_NAMES, LEAST, properties("MonitoringStack", f"{_GIVEN}/Name", "skillroute")),
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
    ("check_index", AURORA, put("Globals/Function/Environment/Variables/SKILLROUTE_INDEX", {"Ref": "Index"})),
    ("check_layers", LEAST, put("Conditions/SharesIndex", {"Condition": "UsesQdrantServer"})),
    ("check_rules", LEAST, put("Rules/UsesNoQdrantServer/Assertions/0/Assert", {"Fn::Equals": ["a", "b"]})),
]
