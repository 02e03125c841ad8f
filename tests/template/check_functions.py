"""What must hold of every function: how it runs, what it is told, which layers it has, when it gets a new version."""

from __future__ import annotations

import os
from typing import Any
from unittest.mock import patch

from skillroute.core.errors.model import ConfigurationError
from skillroute.core.queue.work import queues
from skillroute.core.settings import (
    AggregateSettings,
    CallFunctionSettings,
    CatalogSettings,
    ClassifySettings,
    CoreSettings,
    LearnSettings,
    McpSettings,
    RelaySettings,
    SearchSettings,
    SkillsSettings,
)

from tests.template.stack import ROOT, Json, Stack, stack, values_used

SETTINGS: dict[str, type[CoreSettings]] = {
    "Search": SearchSettings,
    "Catalog": CatalogSettings,
    "Skills": SkillsSettings,
    "Mcp": McpSettings,
    "Classify": ClassifySettings,
    "Aggregate": AggregateSettings,
    "Learn": LearnSettings,
    "Call": CallFunctionSettings,
    "Relay": RelaySettings,
}
HTTP = {"Search", "Catalog", "Skills", "Mcp"}
READERS = {"Search", "Mcp"}
"""They log in as the reader, write nothing, and search the index."""
SENDERS = set(SETTINGS) - READERS - {"Call"}
TELLERS = SENDERS - {"Catalog"}
TIMEOUT_S = {"Search": 15, "Mcp": 15, "Catalog": 29, "Skills": 29, "Classify": 60, "Aggregate": 60, "Relay": 55}
TIMEOUT_S |= {"Learn": 420, "Call": 60}
ONLY_LOCAL = {"SKILLROUTE_DATABASE_URL", "SKILLROUTE_JWT_KEYS", "SKILLROUTE_SQS_ENDPOINT_URL"}
NOT_OURS = {"AWS_LAMBDA_EXEC_WRAPPER", "POWERTOOLS_METRICS_NAMESPACE"}


def functions(stack: Stack) -> dict[str, Json]:
    """Return the properties of the functions by their short names."""
    found = {name.removesuffix("Function"): each for name, each in stack.of_type("AWS::Lambda::Function").items()}
    assert set(found) == set(SETTINGS)
    return found


def environment(properties: Json) -> Json:
    """Return the variables of a function."""
    variables: Json = properties["Environment"]["Variables"]
    return variables


def check_runtime(stack: Stack) -> None:
    for name, function in functions(stack).items():
        assert function["Runtime"] == "python3.13", name
        assert function["Architectures"] == [stack.parameters["Architecture"]], name
        waits = name == "Mcp" and stack.parameters["Calls"] != "off"
        assert function["Timeout"] == (29 if waits else TIMEOUT_S[name]), name
        reserved = dict.fromkeys(READERS, "SearchConcurrency") | dict.fromkeys(HTTP - READERS, "WriteConcurrency")
        most = int(stack.parameters[reserved[name]]) if name in reserved else 0
        assert int(function.get("ReservedConcurrentExecutions", 0)) == most, name
        assert function.get("ReservedConcurrentExecutions") != "0", f"{name}: nobody would be let in"
        assert function.get("TracingConfig") == {"Mode": "Active"}, name
        snapshots = name in HTTP and stack.parameters["SnapStart"] == "true"
        if name in HTTP:
            assert function.get("SnapStart") == {"ApplyOn": "PublishedVersions" if snapshots else "None"}, name
        else:
            assert "SnapStart" not in function, name
        room = function.get("EphemeralStorage", {"Size": 512})["Size"]
        assert int(room) <= 512 or not snapshots, f"{name}: a snapshot allows 512 MB"


def check_code(stack: Stack) -> None:
    for name, function in functions(stack).items():
        folder = stack.source["Resources"][f"{name}Function"]["Properties"]["CodeUri"]
        assert folder == f"functions/{name.lower()}/", name
        assert (ROOT / folder / "app.py").is_file(), name
        assert function["Handler"] == "app.handler", name


def check_network(stack: Stack) -> None:
    given = [each for each in stack.parameters["SecurityGroupIds"].split(",") if each]
    made = stack.parameters["CreateDatabase"] == "aurora"
    for name, function in functions(stack).items():
        if not stack.parameters["SubnetIds"]:
            assert "VpcConfig" not in function, name
            continue
        assert "VpcConfig" in function, name
        network = function["VpcConfig"]
        assert network["SubnetIds"] == stack.parameters["SubnetIds"].split(","), name
        groups = [each for each in network["SecurityGroupIds"] if each in given]
        assert groups == given, name
        assert len(network["SecurityGroupIds"]) == len(given) + made, name
        assert made == ("FunctionsSecurityGroupId" in str(network["SecurityGroupIds"])), name


def check_layers(stack: Stack) -> None:
    layers = stack.of_type("AWS::Lambda::LayerVersion")
    with_server = bool(stack.parameters["QdrantUrl"])
    in_postgres = not with_server and stack.parameters["Index"] != "embedded"
    for name, function in functions(stack).items():
        # Whoever commits writes to an index server, with words that Qdrant Edge encodes, under the model's name; for
        # searches in PostgreSQL whoever writes texts cuts their words.
        has = {
            "CommonLayer": True,
            "DependenciesLayer": True,
            "InferenceLayer": with_server or name != "Aggregate",
            "IndexLayer": with_server
            or name in READERS | {"Learn"}
            or (in_postgres and name in {"Call", "Catalog", "Skills", "Classify", "Relay"}),
            "QdrantLayer": with_server,
        }
        expected = [layer for layer, wanted in has.items() if wanted]
        adot = stack.parameters["AdotLayerArn"]
        traced = bool(adot) and name in {"Search", "Mcp", "Call", "Catalog", "Skills"}
        written = [each for each in function["Layers"] if isinstance(each, dict)]
        assert [layers[each["Ref"]]["LayerName"] for each in written] == expected, name
        assert function["Layers"][len(written) :] == ([adot] if traced else []), name
        assert len(function["Layers"]) <= 5, name
        wrapper = function["Environment"]["Variables"].get("AWS_LAMBDA_EXEC_WRAPPER")
        assert wrapper == ("/opt/otel-instrument" if traced else None), name
    for name, layer in layers.items():
        assert layer["CompatibleRuntimes"] == ["python3.13"], name
        assert layer["CompatibleArchitectures"] == [stack.parameters["Architecture"]], name
        assert stack.resources[name]["DeletionPolicy"] == "Delete", name


def check_index(stack: Stack) -> None:
    expected = "server" if stack.parameters["QdrantUrl"] else stack.parameters["Index"]
    for name, function in functions(stack).items():
        variables = function["Environment"]["Variables"]
        assert variables["SKILLROUTE_INDEX"] == expected, name
        assert variables["SKILLROUTE_INDEX_REPLICA_UP_TO"] == stack.parameters["IndexReplicaUpTo"], name


def check_logs(stack: Stack) -> None:
    groups = stack.of_type("AWS::Logs::LogGroup")
    used = []
    for name, function in functions(stack).items():
        group = function["LoggingConfig"]["LogGroup"]["Ref"]
        used.append(group)
        assert groups[group]["LogGroupName"] == f"/aws/lambda/skillroute-{name.lower()}", name
    assert len(set(used)) == len(used), "a log group of its own"
    for name, group in groups.items():
        assert int(group.get("RetentionInDays", 0)) == int(stack.parameters["LogRetentionDays"]), name


def check_settings(stack: Stack) -> None:
    """Every variable is a setting of that function, and with all of them the function starts."""
    for name, function in functions(stack).items():
        model, variables = SETTINGS[name], environment(function)
        unknown = {each for each in variables if _field(each) not in model.model_fields} - NOT_OURS
        assert not unknown, f"{name} does not read {unknown}"
        assert variables["POWERTOOLS_METRICS_NAMESPACE"] == "skillroute", name
        used = {each for each in variables if each.endswith("_QUEUE_URL")}
        expected = {f"SKILLROUTE_{each.upper()}_QUEUE_URL" for each in queues()} if name in SENDERS else set()
        assert used == expected, name
        assert ("SKILLROUTE_NOTIFICATION_TOPIC_ARN" in variables) == (name in TELLERS), name
        # What sam local can set and AWS must not.
        local = {each for each in ONLY_LOCAL if _field(each) in model.model_fields}
        local -= {"SKILLROUTE_SQS_ENDPOINT_URL"} if name not in SENDERS else set()
        assert {each: variables.get(each) for each in local} == dict.fromkeys(local, ""), name
        assert variables["SKILLROUTE_DATABASE_SSLMODE"] == stack.parameters["DatabaseSslMode"], name
        settings = _loaded(model, variables)
        required, admins = stack.parameters["JwtRequireOrg"] == "true", stack.parameters["AdminRoleArns"]
        assert getattr(settings, "jwt_require_org", required) is required, name
        assert getattr(settings, "iam_admins", admins) == admins, name
        hours = float(stack.parameters["LearnEveryHours"])
        assert getattr(settings, "learn_every_h", hours) == hours, name
        for whose in ("caller", "organisation"):
            budget = float(stack.parameters[f"Budget{whose.capitalize()}"])
            assert getattr(settings, f"budget_{whose}", budget) == budget, name
        for each in (
            "embedding_provider",
            "default_mode",
            "no_match_below",
            "registry_fusion",
            "search_engine",
            "rerank_provider",
            "rerank_model",
            "rerank_region",
            "auth",
            "jwt_scope_prefix",
            "jwt_org_claim",
            "jwt_agent_claim",
            "chat_provider",
            "org_in_flight",
        ):
            if hasattr(settings, each):
                parameter = "".join(part.capitalize() for part in each.split("_")).replace("Auth", "AuthMode")
                assert str(getattr(settings, each) or "") == str(stack.parameters[parameter]), f"{name}: {each}"


def check_logins(stack: Stack) -> None:
    """Search logs in as the reader, the others as the writer; the relay knows the owner where it may migrate."""
    given = stack.parameters
    made, tokens = given["CreateDatabase"] == "aurora", given["DatabaseLogins"] == "iam"
    database = "${Database.Outputs.DatabaseName}" if made else given["DatabaseName"]
    secrets = {
        each: {"Fn::GetAtt": ["Database", f"Outputs.{each}SecretArn"]} if made else given[f"Database{each}SecretArn"]
        for each in ("Owner", "Reader", "Writer")
    }
    for name, function in functions(stack).items():
        said, group = environment(function), "Reader" if name in READERS else "Writer"
        assert said["SKILLROUTE_DATABASE_SECRET_ARN"] == ("" if tokens else secrets[group]), name
        user = f"{database}_{group.lower()}_iam" if tokens else ""
        assert said["SKILLROUTE_DATABASE_USER"] == user, name
    said, migrates = environment(functions(stack)["Relay"]), bool(secrets["Owner"])
    assert said["SKILLROUTE_DATABASE_OWNER_SECRET_ARN"] == secrets["Owner"]
    for group in ("Reader", "Writer"):
        expected = secrets[group] if migrates and not tokens else ""
        assert said[f"SKILLROUTE_DATABASE_{group.upper()}_SECRET_ARN"] == expected
    assert said["SKILLROUTE_DATABASE_IAM_LOGINS"] == str(tokens).lower()


def _field(variable: str) -> str:
    return variable.removeprefix("SKILLROUTE_").lower()


def _loaded(model: type[CoreSettings], variables: Json) -> CoreSettings:
    values = {each: _deployed(each, value) for each, value in variables.items()}
    with patch.dict(os.environ, {**values, "AWS_LAMBDA_FUNCTION_NAME": "skillroute"}, clear=True):
        try:
            return model.load()
        except ConfigurationError as error:
            raise AssertionError(f"{model.__name__}: {error}") from error


def _deployed(variable: str, value: Any) -> str:
    """Return what a reference might become."""
    if isinstance(value, str | int | float):
        return str(value)
    return "5432" if variable.endswith("_PORT") else f"https://example.com/{'-'.join(map(str, value))}"


def check_no_secret(stack: Stack) -> None:
    assert "{{resolve:" not in str(stack.translated)
    for name, function in functions(stack).items():
        for variable, value in environment(function).items():
            secret = variable.endswith(("_API_KEY", "_PASSWORD", "_TOKEN", "_URL")) and variable not in {
                each for each in environment(function) if each.endswith(("_BASE_URL", "_QUEUE_URL", "QDRANT_URL"))
            }
            assert not secret or value == "", f"{name}: {variable}"


def check_versions(made: Stack) -> None:
    """The alias is of the newest version, and whatever CloudFormation alone knows makes a new one."""
    versions = {each["FunctionName"]["Ref"]: name for name, each in made.of_type("AWS::Lambda::Version").items()}
    aliases = {each["FunctionName"]["Ref"]: each for each in made.of_type("AWS::Lambda::Alias").values()}
    recorded = values_used(made.translated, made.translated["Resources"]["Settings"]["Properties"]["Content"])
    for name, function in functions(made).items():
        layers = {
            each for each in made.of_type("AWS::Lambda::LayerVersion") if each.startswith(_fixed_layers(made, name))
        }
        version = versions[f"{name}Function"]
        alias = aliases[f"{name}Function"]
        assert alias["Name"] == "live", name
        assert alias["FunctionVersion"] == {"Fn::GetAtt": [version, "Version"]}, name
        # A version whose description changes is made anew; one whose function did not change cannot be made.
        assert "${Settings}" in made.resources[version]["Properties"]["Description"], name
        assert "${Settings}" in function["Description"], name
        written = made.translated["Resources"][f"{name}Function"]["Properties"]
        fixed = {"Settings", f"{name}Role.Arn", f"{name}Logs"} | layers
        # Settings cannot have it, whose number the call function's description says; its ARN never changes.
        fixed |= {"CallFunctionAliaslive"} if name == "Mcp" else set()
        unseen = values_used(made.translated, written) - recorded - fixed
        assert not unseen, f"{name} gets no new version when these change: {unseen}"


def check_a_changed_layer_makes_versions(made: Stack) -> None:
    """Of the functions that have the layer; that of a conditional layer through its ARN in the settings."""
    for layer in ("CommonLayer", "DependenciesLayer", "InferenceLayer", "IndexLayer"):
        source = {**made.source, "Resources": {**made.source["Resources"]}}
        resource = source["Resources"][layer]
        changed = {**resource, "Properties": {**resource["Properties"], "ContentUri": "s3://bucket/changed"}}
        source["Resources"][layer] = changed
        after = stack(_given(made), source)
        for name in functions(made):
            is_new = _version(made, name) != _version(after, name)
            assert is_new == (layer in _fixed_layers(made, name)), f"{name}, {layer}"


def _fixed_layers(made: Stack, name: str) -> tuple[str, ...]:
    """Return the layers that a function has without a condition, which SAM sees; the others are in the settings."""
    written = made.source["Resources"][f"{name}Function"]["Properties"]["Layers"]
    return tuple(each["Ref"] for each in written if "Ref" in each)


def _given(made: Stack) -> dict[str, str]:
    return {name: value for name, value in made.parameters.items() if name in made.source["Parameters"]}


def _version(made: Stack, name: str) -> str:
    versions = made.of_type("AWS::Lambda::Version")
    return next(each for each, version in versions.items() if version["FunctionName"] == {"Ref": f"{name}Function"})
