"""What must hold of every role: one for each function, single actions on named things."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.template.check_functions import HTTP, READERS, SENDERS, TELLERS, functions
from tests.template.stack import Json, Stack

_XRAY = "arn:aws:iam::aws:policy/AWSXrayWriteOnlyAccess"
_NETWORK = "arn:aws:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole"
_QUEUES = {"ClassifyQueue.Arn", "AggregateQueue.Arn", "LearnQueue.Arn"}
_EMBEDS = {"Search", "Mcp", "Catalog", "Skills", "Classify", "Learn", "Relay", "Call"}
_CHATS = {"Skills", "Classify"}
_IDENTITIES = {"Catalog", "Call"}
_OF_SERVERS = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:skillroute/servers/*"
"""The secrets that servers' identities may name."""
_WHO = ("Owner", "Writer", "Reader")
_OF_NO_RESOURCE = {"bedrock:Rerank"}
"""What IAM grants on everything or not at all. Reranking needs the right to its model besides, which is named."""


def check_roles(stack: Stack) -> None:
    roles = stack.of_type("AWS::IAM::Role")
    used = [function["Role"]["Fn::GetAtt"][0] for function in functions(stack).values()]
    assert len(set(used)) == len(used), "a role of its own"
    for name in used:
        (trust,) = roles[name]["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "lambda.amazonaws.com"}, name
        others = {each for each in roles[name]["ManagedPolicyArns"] if isinstance(each, str)}
        assert others == {_XRAY} | ({_NETWORK} if stack.parameters["SubnetIds"] else set()), name


def check_statements(stack: Stack) -> None:
    documents = [
        *(policy for role in stack.of_type("AWS::IAM::Role").values() for policy in role.get("Policies", [])),
        *stack.of_type("AWS::IAM::ManagedPolicy").values(),
    ]
    for document in documents:
        statements = document["PolicyDocument"]["Statement"]
        assert statements, "a policy that allows nothing cannot be made"
        for statement in statements:
            assert statement["Effect"] == "Allow"
            actions = _list(statement["Action"])
            for action in actions:
                assert re.fullmatch(r"[a-z-]+:[A-Za-z]+", action), action
                # What persons log in with is encrypted by the functions themselves, with a key of its own.
                if action.startswith("kms:") and statement["Resource"] != stack.parameters["TokensKeyArn"]:
                    via = {"kms:ViaService": "secretsmanager.*.amazonaws.com"}
                    assert statement.get("Condition") == {"StringLike": via}, "for secrets only"
            for resource in _list(statement["Resource"]):
                through = "bedrock:InferenceProfileArn" in str(statement.get("Condition", {}))
                assert _is_named(resource) or resource == _OF_SERVERS or through or set(actions) <= _OF_NO_RESOURCE, (
                    resource
                )


def check_functions_may_do_what_they_do(stack: Stack) -> None:
    given = stack.parameters
    for name in functions(stack):
        rights = dict(_rights(stack, name))
        assert rights.pop("logs:CreateLogStream") == rights.pop("logs:PutLogEvents") == {f"{name}Logs.Arn"}, name
        assert rights.pop("sqs:SendMessage", set()) == (_QUEUES if name in SENDERS else set()), name
        assert rights.pop("sns:Publish", set()) == ({"Notifications"} if name in TELLERS else set()), name
        for action in ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"):
            reads = {f"{name}Queue.Arn"} if name in {"Classify", "Aggregate", "Learn"} else set()
            assert rights.pop(action, set()) == reads, name
        logins, users = _logins(stack, name)
        assert rights.pop("rds-db:connect", set()) == users, name
        secrets = {*logins, given["QdrantApiKeySecretArn"]}
        secrets |= {_OF_SERVERS} if name in _IDENTITIES else set()
        secrets |= {given["EmbeddingApiKeySecretArn"]} if name in _EMBEDS else set()
        secrets |= {given["ChatApiKeySecretArn"]} if name in _CHATS else set()
        assert rights.pop("secretsmanager:GetSecretValue", set()) == secrets - {""}, name
        tokens = {given["TokensKeyArn"]} - {""} if name in _IDENTITIES else set()
        assert rights.pop("kms:Encrypt", set()) == tokens, name
        assert rights.pop("kms:Decrypt", set()) == ({given["SecretsKmsKeyArn"]} - {""}) | tokens, name
        assert rights.pop("bedrock:InvokeModel", set()) == _models(stack, name), name
        reranks = name in READERS and given["RerankProvider"] == "bedrock"
        assert rights.pop("bedrock:Rerank", set()) == ({"*"} if reranks else set()), name
        invokes = {"CallFunctionAliaslive"} if name == "Mcp" else set()
        assert rights.pop("lambda:InvokeFunction", set()) == invokes, name
        assert not rights, f"{name} may also {set(rights)}"


def _logins(stack: Stack, name: str) -> tuple[set[str], set[str]]:
    """Return the secrets and the users that a function may log in to the database with: search only reads."""
    given, group = stack.parameters, "Reader" if name in READERS else "Writer"
    made = given["CreateDatabase"] == "aurora"
    secret = {each: f"Database.Outputs.{each}SecretArn" if made else given[f"Database{each}SecretArn"] for each in _WHO}
    # The relay migrates where it knows the owner, and makes the logins then.
    owner = {secret["Owner"]} if name == "Relay" else set()
    if given["DatabaseLogins"] == "secrets":
        return owner | ({secret["Reader"]} if any(owner) else set()) | {secret[group]}, set()
    resource = "${Database.Outputs.ResourceId}" if made else given["DatabaseResourceId"]
    database = "${Database.Outputs.DatabaseName}" if made else given["DatabaseName"]
    user = f"arn:aws:rds-db:eu-central-1:123456789012:dbuser:{resource}/{database}_{group.lower()}_iam"
    return owner, {user}


def _models(stack: Stack, name: str) -> set[str]:
    given, models = stack.parameters, set()
    here = "arn:aws:bedrock:eu-central-1::foundation-model/"
    if given["EmbeddingProvider"] == "bedrock" and name in _EMBEDS:
        models.add(here + given["EmbeddingModel"])
    if given["ChatProvider"] == "bedrock" and name in _CHATS:
        profile = given["ChatInferenceProfileArn"]
        anywhere = {f"arn:aws:bedrock:{region}::foundation-model/{given['ChatModel']}" for region in ("*", "")}
        models |= {profile, *anywhere} if profile else {here + given["ChatModel"]}
    if given["RerankProvider"] == "bedrock" and name in READERS:
        region = given["RerankRegion"] or "eu-central-1"
        models.add(f"arn:aws:bedrock:{region}::foundation-model/{given['RerankModel']}")
    return models


def _rights(stack: Stack, name: str) -> Iterator[tuple[str, set[str]]]:
    role = stack.of_type("AWS::IAM::Role")[f"{name}Role"]
    documents = [policy["PolicyDocument"] for policy in role["Policies"]]
    shared = stack.of_type("AWS::IAM::ManagedPolicy")
    documents += [shared[each["Ref"]]["PolicyDocument"] for each in role["ManagedPolicyArns"] if isinstance(each, dict)]
    rights: dict[str, set[str]] = {}
    for document in documents:
        for statement in document["Statement"]:
            for action in _list(statement["Action"]):
                rights.setdefault(action, set()).update(map(_name, _list(statement["Resource"])))
    yield from rights.items()


def _name(resource: Any) -> str:
    if isinstance(resource, str):
        return resource
    ((_, target),) = resource.items()
    return target if isinstance(target, str) else ".".join(target)


def _is_named(resource: Any) -> bool:
    return isinstance(resource, dict) or ("*" not in resource and bool(resource))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def check_nobody_else_may_call(stack: Stack) -> None:
    """Only this API, the queues and the schedule call functions, and always by the alias."""
    callers: dict[str, Json] = stack.of_type("AWS::Lambda::Permission")
    called = set()
    for name, permission in callers.items():
        assert permission["Principal"] == "apigateway.amazonaws.com", name
        assert permission.get("SourceArn") == "arn:aws:execute-api:eu-central-1:123456789012:${Api}/*/*", name
        called.add(permission["FunctionName"]["Ref"])
    assert called == {f"{each}FunctionAliaslive" for each in HTTP}
    scheduled = [each["Target"]["Arn"]["Ref"] for each in stack.of_type("AWS::Scheduler::Schedule").values()]
    assert sorted(scheduled) == ["CallFunctionAliaslive", "RelayFunctionAliaslive"]
