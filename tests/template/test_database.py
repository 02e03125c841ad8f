"""The properties of the nested template hold, and each that is broken in a copy is seen."""

from __future__ import annotations

import pytest

from tests.template import check_database
from tests.template.mutate import Change, name, properties, put
from tests.template.parameter_sets import PARAMETER_SETS
from tests.template.stack import parsed, stack

CHECKS = {each: check for each, check in vars(check_database).items() if each.startswith("check_")}
_BETWEEN = CHECKS.pop("check_what_passes_between")
_AURORA = "Aurora, Bedrock and a Qdrant server"
_PASSWORD = "Policies/0/PolicyDocument/Statement"


@pytest.mark.parametrize("check", CHECKS)
def test_it_holds_of_the_database(check: str) -> None:
    CHECKS[check](parsed("infrastructure/aurora.yaml"))


@pytest.mark.parametrize("deployment", PARAMETER_SETS)
def test_the_templates_agree_on_what_passes_between_them(deployment: str) -> None:
    _BETWEEN(stack(PARAMETER_SETS[deployment]), parsed("infrastructure/aurora.yaml"))


def test_every_check_is_seen_to_fail() -> None:
    assert {check for check, _ in MUTATIONS} == set(CHECKS)


MUTATIONS: list[tuple[str, Change]] = [
    ("check_database", properties("Cluster", "StorageEncrypted", False)),
    ("check_database", properties("Cluster", "ManageMasterUserPassword", False)),
    ("check_database", properties("Cluster", "BackupRetentionPeriod", 1)),
    ("check_database", put("Resources/Cluster/DeletionPolicy", "Delete")),
    ("check_database", put("Parameters/DeletionProtection/Default", "false")),
    ("check_database", put("Parameters/EngineVersion/Default", "18.3")),
    ("check_database", properties("ClusterParameters", "Parameters/rds.force_ssl", "0")),
    ("check_database", properties("Instance", "PubliclyAccessible", True)),
    ("check_a_restored_database", properties("Cluster", "SnapshotIdentifier")),
    ("check_a_restored_database", properties("Cluster", "SnapshotIdentifier", {"Ref": "SnapshotArn"})),
    ("check_a_restored_database", properties("Cluster", "MasterUsername", "skillroute")),
    ("check_a_restored_database", properties("Cluster", "ManageMasterUserPassword", {"Fn::If": ["IsRestored", 0, 1]})),
    ("check_the_proxy_has_a_name", properties("DatabaseProxy", "DBProxyName", {"Ref": "Name"})),
    ("check_the_proxy_has_a_name", properties("DatabaseProxy", "DBProxyName", "skillroute")),
    ("check_a_database_that_stays_awake", properties("DatabaseProxy", "RequireTLS", False)),
    (
        "check_a_database_that_stays_awake",
        properties("Cluster", "ServerlessV2ScalingConfiguration/SecondsUntilAutoPause", 600),
    ),
    ("check_a_database_that_stays_awake", properties("ProxyRole", f"{_PASSWORD}/0/Resource", "*")),
    ("check_a_database_that_stays_awake", properties("DatabaseProxy", "Auth/2")),
    ("check_a_database_that_stays_awake", properties("DatabaseProxy", "Auth/0/IAMAuth", "REQUIRED")),
    (
        "check_logins",
        properties("ReaderSecret", "GenerateSecretString/SecretStringTemplate", '{"username": "x"}'),
    ),
    ("check_logins", properties("WriterSecret", "GenerateSecretString/PasswordLength", 8)),
    ("check_logins", put("Resources/WriterSecret/Condition")),
    ("check_logins", properties("Cluster", "EnableIAMDatabaseAuthentication", True)),
    ("check_only_functions_get_in", properties("FunctionsToDatabase", "CidrIp", "10.0.0.0/8")),
    ("check_only_functions_get_in", put("Resources/FunctionsToDatabase/Condition")),
    ("check_only_functions_get_in", properties("EndpointsSecurityGroup", "SecurityGroupIngress/0/ToPort", 65535)),
    ("check_endpoints", put("Resources/BedrockEndpoint/Condition", "MakesEndpoints")),
    ("check_endpoints", put("Resources/RerankEndpointOfBedrock/Condition", "MakesBedrockEndpoint")),
    ("check_endpoints", put("Conditions/MakesRerankEndpoint", {"Fn::Equals": [{"Ref": "RerankEndpoint"}, "true"]})),
]


@pytest.mark.parametrize(("check", "change"), MUTATIONS, ids=name)
def test_what_is_broken_in_the_database_is_seen(check: str, change: Change) -> None:
    template = parsed("infrastructure/aurora.yaml")
    change(template)
    with pytest.raises(AssertionError):
        CHECKS[check](template)


@pytest.mark.parametrize(
    "change",
    [
        properties("Database", "Parameters/Size", "large"),
        properties("Database", "Parameters/VpcEndpoints", "all"),
        properties("Database", "Parameters/SnapshotArn", "arn:aws:rds:eu-central-1:123456789012:cluster-snapshot:it"),
        properties("Database", "Parameters/EngineVersion", "17.6"),
        properties("Database", "Parameters/Logins", "iam"),
        properties("Database", "Parameters/RerankEndpoint", "false"),
        put("Outputs/FunctionsSecurityGroupId/Value", {"Fn::GetAtt": "Database.Outputs.SecurityGroup"}),
    ],
    ids=name,
)
def test_a_parameter_that_the_database_does_not_take_is_seen(change: Change) -> None:
    template = parsed()
    change(template)
    with pytest.raises(AssertionError):
        _BETWEEN(stack(PARAMETER_SETS[_AURORA], template), parsed("infrastructure/aurora.yaml"))
