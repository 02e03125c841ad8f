"""What must hold of the nested template that makes the database, and of what passes between the two."""

from __future__ import annotations

import json
import re

from tests.template.stack import Json, Resolver, Stack, references


def nested(template: Json, **parameters: str) -> Json:
    """Return the resources of the nested template for some parameters."""
    values = {name: str(each["Default"]) for name, each in template["Parameters"].items() if "Default" in each}
    values |= {"Name": "skillroute", "VpcId": "vpc-1", "SubnetIds": "subnet-1,subnet-2", **parameters}
    resolver = Resolver(template, values)
    return {name: resolver(each) for name, each in template["Resources"].items() if resolver.is_made(each)}


def of_type(resources: Json, kind: str) -> Json:
    """Return the properties of the resources of a type, by logical id."""
    return {name: each["Properties"] for name, each in resources.items() if each["Type"] == kind}


def check_database(template: Json) -> None:
    resources = nested(template)
    cluster = resources["Cluster"]
    assert cluster["DeletionPolicy"] == cluster["UpdateReplacePolicy"] == "Snapshot"
    (properties,) = of_type(resources, "AWS::RDS::DBCluster").values()
    assert properties["StorageEncrypted"] is True
    assert properties["ManageMasterUserPassword"] is True
    assert "MasterUserPassword" not in properties
    assert properties["BackupRetentionPeriod"] == 7
    assert properties["DeletionProtection"] == "true"
    assert properties["ServerlessV2ScalingConfiguration"] == {
        "MinCapacity": "0",
        "MaxCapacity": "4",
        "SecondsUntilAutoPause": "600",
    }
    parameters = resources["ClusterParameters"]["Properties"]
    assert parameters["Parameters"] == {"rds.force_ssl": "1", "idle_session_timeout": "60000"}
    version = template["Parameters"]["EngineVersion"]["Default"]
    assert parameters["Family"] == "aurora-postgresql" + version.split(".")[0]
    assert all(each["PubliclyAccessible"] is False for each in of_type(resources, "AWS::RDS::DBInstance").values())


def check_a_restored_database(template: Json) -> None:
    """What a snapshot brings along is not said beside it, and the password is one that the stack has."""
    snapshot = "arn:aws:rds:eu-central-1:123456789012:cluster-snapshot:before"
    (restored,) = of_type(nested(template, SnapshotArn=snapshot), "AWS::RDS::DBCluster").values()
    (empty,) = of_type(nested(template), "AWS::RDS::DBCluster").values()
    assert restored.get("SnapshotIdentifier") == snapshot
    assert "SnapshotIdentifier" not in empty
    assert set(empty) - set(restored) == {"DatabaseName", "MasterUsername", "StorageEncrypted"}
    assert restored["ManageMasterUserPassword"] is True


def check_the_proxy_has_a_name(template: Json) -> None:
    """RDS takes 63 characters and no two proxies of a name; a stack's name may be twice as long."""
    arn = "arn:aws:cloudformation:eu-central-1:123456789012:stack/{}/{}-982a-11e3-aff7-50e2416294e0"
    names = []
    for number in ("1c2fa620", "2c2fa620"):
        pseudo = {"AWS::StackName": "s" * 128, "AWS::StackId": arn.format("s" * 128, number)}
        resources = nested(template, Name="s" * 128, Proxy="true", **pseudo)
        (proxy,) = of_type(resources, "AWS::RDS::DBProxy").values()
        names.append(proxy["DBProxyName"])
        assert re.fullmatch(r"(?=.{1,63}$)[A-Za-z](-?[A-Za-z0-9])*", names[-1])
    assert len(set(names)) == len(names)


def check_a_database_that_stays_awake(template: Json) -> None:
    resources = nested(template, MinCapacity="0.5", Proxy="true")
    scaling = resources["Cluster"]["Properties"]["ServerlessV2ScalingConfiguration"]
    assert "SecondsUntilAutoPause" not in scaling, "refused above 0"
    # A proxy's connections would be dropped, and it would open them again.
    assert resources["ClusterParameters"]["Properties"]["Parameters"] == {"rds.force_ssl": "1"}
    (proxy,) = of_type(resources, "AWS::RDS::DBProxy").values()
    assert proxy["RequireTLS"] is True
    (role,) = of_type(resources, "AWS::IAM::Role").values()
    (statement,) = role["Policies"][0]["PolicyDocument"]["Statement"]
    assert statement["Action"] == "secretsmanager:GetSecretValue"
    logins = [
        {"Fn::GetAtt": ["Cluster", "MasterUserSecret.SecretArn"]},
        {"Ref": "ReaderSecret"},
        {"Ref": "WriterSecret"},
    ]
    assert statement["Resource"] == logins
    assert [each["SecretArn"] for each in proxy["Auth"]] == logins
    assert {each["IAMAuth"] for each in proxy["Auth"]} == {"DISABLED"}


def check_logins(template: Json) -> None:
    """Each of the two logins has a secret with a password that nobody chose; with tokens there is none."""
    secrets = of_type(nested(template, DatabaseName="tools"), "AWS::SecretsManager::Secret")
    users = {}
    for name, secret in secrets.items():
        made = secret["GenerateSecretString"]
        assert made["GenerateStringKey"] == "password"
        assert made["PasswordLength"] >= 32
        # What RDS and a URL take as it is.
        assert made["ExcludePunctuation"] is True
        users[name] = json.loads(made["SecretStringTemplate"])["username"]
    assert users == {"ReaderSecret": "tools_reader_login", "WriterSecret": "tools_writer_login"}
    for logins, takes_tokens in (("secrets", False), ("iam", True)):
        resources = nested(template, Logins=logins)
        assert resources["Cluster"]["Properties"]["EnableIAMDatabaseAuthentication"] is takes_tokens
        assert bool(of_type(resources, "AWS::SecretsManager::Secret")) is not takes_tokens


def check_only_functions_get_in(template: Json) -> None:
    for proxy, expected in (
        ("false", {("FunctionsSecurityGroup", "DatabaseSecurityGroup", 5432)}),
        (
            "true",
            {
                ("FunctionsSecurityGroup", "ProxySecurityGroup", 5432),
                ("ProxySecurityGroup", "DatabaseSecurityGroup", 5432),
            },
        ),
    ):
        resources = nested(template, Proxy=proxy, VpcEndpoints="services")
        assert _ways_in(resources) == expected | {("FunctionsSecurityGroup", "EndpointsSecurityGroup", 443)}


def _ways_in(resources: Json) -> set[tuple[str, str, int]]:
    rules = [(each["GroupId"]["Ref"], each) for each in of_type(resources, "AWS::EC2::SecurityGroupIngress").values()]
    for name, group in of_type(resources, "AWS::EC2::SecurityGroup").items():
        rules += [(name, each) for each in group.get("SecurityGroupIngress", [])]
    for name, rule in rules:
        assert not {"CidrIp", "CidrIpv6"} & set(rule), name
        assert rule["FromPort"] == rule["ToPort"], name
    return {(rule["SourceSecurityGroupId"]["Ref"], name, rule["FromPort"]) for name, rule in rules}


def check_endpoints(template: Json) -> None:
    services = {"secretsmanager", "sqs", "sns"}
    without: set[str] = set()
    for wanted, expected in (
        ("none", without),
        ("services", services),
        ("services-and-bedrock", services | {"bedrock-runtime"}),
    ):
        # Bedrock reranks behind an endpoint of its own.
        for rerank, more in (("false", set()), ("true", {"bedrock-agent-runtime"} if expected else set())):
            resources = nested(template, VpcEndpoints=wanted, RerankEndpoint=rerank)
            endpoints = of_type(resources, "AWS::EC2::VPCEndpoint").values()
            served = {each["ServiceName"].removeprefix("com.amazonaws.eu-central-1.") for each in endpoints}
            assert served == expected | more
            assert all(each["PrivateDnsEnabled"] is True for each in endpoints)


def check_what_passes_between(stack: Stack, template: Json) -> None:
    """The parameters are those that the nested template has, within its bounds; the outputs that are used exist."""
    for each in [stack.resources["Database"]["Properties"]] if "Database" in stack.resources else []:
        assert each["TemplateURL"] == "infrastructure/aurora.yaml"
        for name, value in each["Parameters"].items():
            assert name in template["Parameters"], name
            parameter = template["Parameters"][name]
            assert re.fullmatch(parameter.get("AllowedPattern", ".+"), value), name
            assert value in parameter.get("AllowedValues", [value]), name
        given = stack.parameters
        assert each["Parameters"]["SnapshotArn"] == given["DatabaseSnapshotArn"]
        assert each["Parameters"]["EngineVersion"] == given["DatabaseEngineVersion"]
        assert each["Parameters"]["Logins"] == given["DatabaseLogins"]
        here = given["RerankProvider"] == "bedrock" and given["RerankRegion"] in {"", "eu-central-1"}
        reached = given["VpcEndpoints"] == "true" and here
        assert each["Parameters"]["RerankEndpoint"] == ("true" if reached else "false")
        needed = {name for name, parameter in template["Parameters"].items() if "Default" not in parameter}
        assert needed <= set(each["Parameters"])
    used = {each.rpartition(".")[2] for each in references(stack.translated) if each.startswith("Database.Outputs.")}
    assert used == set(template["Outputs"])
