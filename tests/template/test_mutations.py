"""Each property, broken once in a copy of the template: the check that should see it does."""

from __future__ import annotations

import pytest

from tests.template.mutate import Change, add, name, properties, put, variable
from tests.template.mutations_of_monitoring import OF_MONITORING
from tests.template.mutations_of_operation import OF_OPERATION
from tests.template.parameter_sets import AURORA, AURORA_IAM, IAM, LEAST, PARAMETER_SETS, QUIET, TOKENS
from tests.template.stack import MONITORING, parsed, stack
from tests.template.test_template import CHECKS

_STATEMENT = "Policies/0/PolicyDocument/Statement"
_SHARED = "PolicyDocument/Statement"
_TLS = "check_queues_are_encrypted_and_over_tls_only"
_ATTACHED = "ManagedPolicyArns"
_SCOPES = "AuthorizationScopes/Fn::If/1"
_LEADS = "check_routes_lead_to_the_function_that_has_the_path"
_ASKED = "check_browsers_ask_beforehand_without_a_token_where_pages_may"
_SPARE = {
    "IntegrationType": "AWS_PROXY",
    "PayloadFormatVersion": "2.0",
    "IntegrationUri": {"Fn::Sub": "${SpareFunction.Arn}:live"},
}

MUTATIONS: list[tuple[str, str, Change]] = [
    # queues
    ("check_every_queue_has_dead_letters_of_its_own", LEAST, properties("ClassifyQueue", "RedrivePolicy")),
    (
        "check_every_queue_has_dead_letters_of_its_own",
        LEAST,
        properties("AggregateQueue", "RedrivePolicy/maxReceiveCount", 3),
    ),
    (
        "check_every_queue_has_dead_letters_of_its_own",
        LEAST,
        properties("ClassifyDeadLetters", "MessageRetentionPeriod", 345600),
    ),
    (
        "check_every_queue_has_dead_letters_of_its_own",
        LEAST,
        properties(
            "ClassifyQueue", "RedrivePolicy/deadLetterTargetArn", {"Fn::GetAtt": ["AggregateDeadLetters", "Arn"]}
        ),
    ),
    (
        "check_queues_wait_six_times_their_functions_timeout",
        LEAST,
        properties("ClassifyQueue", "VisibilityTimeout", 359),
    ),
    ("check_queues_wait_six_times_their_functions_timeout", LEAST, properties("AggregateFunction", "Timeout", 61)),
    ("check_queues_wait_six_times_their_functions_timeout", LEAST, properties("ClassifyFunction", "Events")),
    (
        "check_the_relay_takes_no_message_for_lost_that_is_still_tried",
        LEAST,
        properties("LearnQueue", "VisibilityTimeout", 5400),
    ),
    ("check_mappings", LEAST, properties("LearnFunction", "Events/Queue/Properties/BatchSize", 10)),
    ("check_mappings", LEAST, properties("ClassifyFunction", "Events/Queue/Properties/FunctionResponseTypes", [])),
    (
        "check_mappings",
        AURORA,
        properties("AggregateFunction", "Events/Queue/Properties/ScalingConfig/MaximumConcurrency", 5),
    ),
    (_TLS, LEAST, put("Resources/QueuesPolicy")),
    (_TLS, LEAST, properties("QueuesPolicy", "Queues/3")),
    (_TLS, LEAST, properties("QueuesPolicy", f"{_SHARED}/0/Condition/Bool/aws:SecureTransport", "true")),
    (_TLS, LEAST, properties("QueuesPolicy", f"{_SHARED}/0/Action", "sqs:SendMessage")),
    (_TLS, LEAST, properties("QueuesPolicy", f"{_SHARED}/0/Resource", {"Fn::GetAtt": ["ClassifyQueue", "Arn"]})),
    (_TLS, LEAST, properties("NotificationsPolicy", f"{_SHARED}/0/Resource", {"Ref": "AlarmsTopic"})),
    (_TLS, LEAST, properties("ClassifyQueue", "SqsManagedSseEnabled", False)),
    # routes
    ("check_no_route_is_open", LEAST, properties("HealthRoute", "AuthorizationType", "NONE")),
    (
        "check_no_route_is_open",
        TOKENS,
        properties("SearchRoute", "AuthorizationType", {"Fn::If": ["UsesJwt", "NONE", "AWS_IAM"]}),
    ),
    ("check_no_route_is_open", TOKENS, properties("CatalogRoute", "AuthorizerId")),
    ("check_no_route_is_open", LEAST, put("Resources/JwtAuthorizer/Condition")),
    ("check_no_route_is_open", TOKENS, properties("JwtAuthorizer", "JwtConfiguration/Audience", ["everybody"])),
    ("check_no_route_is_open", LEAST, properties("Api", "CorsConfiguration", {"AllowOrigins": ["*"]})),
    ("check_no_route_is_open", LEAST, properties("Api", "DisableExecuteApiEndpoint", True)),
    (_ASKED, TOKENS, put("Resources/VerifyPreflightRoute")),
    (_ASKED, TOKENS, properties("SearchPreflightRoute", "AuthorizationType", "JWT")),
    (_ASKED, TOKENS, properties("SearchPreflightRoute", "Target", {"Fn::Sub": "integrations/${SkillsIntegration}"})),
    (_ASKED, LEAST, put("Resources/SearchPreflightRoute/Condition")),
    ("check_scopes", TOKENS, properties("CatalogRoute", "AuthorizationScopes")),
    ("check_scopes", TOKENS, properties("CatalogRoute", f"{_SCOPES}/1")),
    ("check_scopes", TOKENS, properties("SkillsRoute", f"{_SCOPES}/0")),
    ("check_scopes", TOKENS, properties("SkillsOfToolRoute", f"{_SCOPES}/0", "skillroute/catalog")),
    (
        "check_scopes",
        TOKENS,
        properties("VerifyRoute", "AuthorizationScopes", {"Fn::If": ["UsesJwt", ["search"], "x"]}),
    ),
    ("check_scopes", TOKENS, properties("ReadyRoute", "AuthorizationScopes", ["skillroute/admin"])),
    (_LEADS, LEAST, put("Resources/SkillsOfToolRoute")),
    (_LEADS, LEAST, put("Resources/SearchMessagesToolRoute")),
    (_LEADS, LEAST, put("Resources/SkillsRoute")),
    (_LEADS, LEAST, put("Resources/HealthRoute")),
    (_LEADS, LEAST, properties("CatalogRoute", "RouteKey", "GET /api/v1/{proxy+}")),
    (_LEADS, LEAST, properties("CatalogRoute", "RouteKey", "ANY /api/v1/tools/{proxy+}")),
    (_LEADS, LEAST, properties("SearchRoute", "RouteKey", "POST /api/v1/search")),
    (_LEADS, LEAST, properties("CatalogRoute", "Target", {"Fn::Sub": "integrations/${SkillsIntegration}"})),
    (
        _LEADS,
        LEAST,
        add("SpareRoute", "AWS::ApiGatewayV2::Route", {"RouteKey": "ANY /spare", "Target": "integrations/x"}),
    ),
    (
        "check_unknown_paths_reach_an_application",
        LEAST,
        properties("CatalogRoute", "RouteKey", "ANY /api/v1/tools/{proxy+}"),
    ),
    ("check_integrations", LEAST, add("SpareIntegration", "AWS::ApiGatewayV2::Integration", _SPARE)),
    (
        "check_integrations",
        LEAST,
        properties("SearchIntegration", "IntegrationUri", {"Fn::Sub": "${SearchFunction.Arn}"}),
    ),
    ("check_stage", LEAST, properties("ApiStage", "DefaultRouteSettings/ThrottlingRateLimit", 10000)),
    ("check_stage", LEAST, properties("ApiStage", "RouteSettings", {})),
    ("check_settings", TOKENS, variable("Search", "SKILLROUTE_BUDGET_CALLER", "100")),
    ("check_settings", TOKENS, variable("Mcp", "SKILLROUTE_BUDGET_ORGANISATION")),
    (
        "check_stage",
        LEAST,
        properties("ApiStage", "AccessLogSettings/Format", "$context.authorizer.claims $request.header.Authorization"),
    ),
    ("check_stage", LEAST, properties("ApiStage", "AccessLogSettings/Format", '{"requestId":"$context.requestId"}')),
    # functions
    ("check_code", LEAST, properties("ClassifyFunction", "CodeUri", "functions/aggregate/")),
    ("check_code", LEAST, properties("ClassifyFunction", "Handler", "app.main")),
    ("check_code", LEAST, put("Globals/Function/Handler", "skillroute.handler")),
    ("check_runtime", LEAST, put("Globals/Function/Runtime", "python3.12")),
    ("check_runtime", AURORA, put("Globals/Function/Architectures", ["arm64"])),
    ("check_runtime", LEAST, put("Globals/Function/Tracing")),
    ("check_runtime", AURORA, properties("SearchFunction", "EphemeralStorage/Size", 1024)),
    ("check_runtime", AURORA, properties("SkillsFunction", "SnapStart")),
    ("check_runtime", IAM, properties("SearchFunction", "ReservedConcurrentExecutions")),
    ("check_runtime", LEAST, properties("SkillsFunction", "ReservedConcurrentExecutions", {"Ref": "WriteConcurrency"})),
    ("check_network", AURORA, put("Globals/Function/VpcConfig")),
    ("check_network", TOKENS, put("Globals/Function/VpcConfig/Fn::If/1/SecurityGroupIds", ["sg-1"])),
    ("check_layers", LEAST, properties("AggregateFunction", "Layers", [{"Ref": "CommonLayer"}])),
    ("check_layers", AURORA, properties("SearchFunction", "Layers/4")),
    ("check_layers", TOKENS, properties("CallFunction", "Layers/2")),
    ("check_layers", LEAST, properties("IndexLayer", "RetentionPolicy", "Retain")),
    ("check_logs", LEAST, properties("RelayLogs", "RetentionInDays")),
    ("check_logs", LEAST, properties("RelayFunction", "LoggingConfig/LogGroup", {"Ref": "SearchLogs"})),
    ("check_settings", LEAST, variable("Relay", "SKILLROUTE_RELAY_RATE", "1")),
    ("check_settings", LEAST, variable("Search", "SKILLROUTE_AUTH")),
    ("check_settings", TOKENS, variable("Catalog", "SKILLROUTE_JWT_ISSUER")),
    ("check_settings", LEAST, variable("Classify", "SKILLROUTE_AGGREGATE_QUEUE_URL")),
    ("check_settings", LEAST, put("Globals/Function/Environment/Variables/SKILLROUTE_DATABASE_SECRET_ARN")),
    ("check_settings", LEAST, variable("Skills", "SKILLROUTE_JWT_KEYS")),
    ("check_settings", TOKENS, variable("Skills", "SKILLROUTE_JWT_SCOPE_PREFIX", "")),
    ("check_settings", TOKENS, variable("Skills", "SKILLROUTE_JWT_REQUIRE_ORG")),
    ("check_settings", IAM, variable("Catalog", "SKILLROUTE_IAM_ADMINS")),
    ("check_settings", TOKENS, variable("Catalog", "SKILLROUTE_JWT_AGENT_CLAIM")),
    ("check_settings", TOKENS, variable("Search", "SKILLROUTE_SEARCH_ENGINE")),
    ("check_settings", AURORA, variable("Search", "SKILLROUTE_RERANK_PROVIDER")),
    ("check_settings", AURORA, variable("Search", "SKILLROUTE_RERANK_REGION", {"Ref": "AWS::NoValue"})),
    ("check_settings", LEAST, put("Globals/Function/Environment/Variables/SKILLROUTE_DATABASE_SSLMODE", "require")),
    ("check_settings", LEAST, put("Globals/Function/Environment/Variables/POWERTOOLS_METRICS_NAMESPACE", "Skillroute")),
    ("check_logins", LEAST, variable("Search", "SKILLROUTE_DATABASE_SECRET_ARN")),
    ("check_logins", AURORA, variable("Search", "SKILLROUTE_DATABASE_SECRET_ARN")),
    ("check_logins", IAM, variable("Search", "SKILLROUTE_DATABASE_USER")),
    ("check_logins", AURORA_IAM, put("Globals/Function/Environment/Variables/SKILLROUTE_DATABASE_USER", "")),
    ("check_logins", TOKENS, variable("Relay", "SKILLROUTE_DATABASE_OWNER_SECRET_ARN", "")),
    ("check_logins", AURORA_IAM, variable("Relay", "SKILLROUTE_DATABASE_IAM_LOGINS", "false")),
    ("check_logins", LEAST, put("Conditions/RelayMakesSecretLogins", {"Fn::Equals": ["a", "a"]})),
    ("check_no_secret", LEAST, variable("Search", "SKILLROUTE_CHAT_API_KEY", "sk-1")),
    ("check_no_secret", LEAST, variable("Search", "SKILLROUTE_LOG_LEVEL", "{{resolve:secretsmanager:x}}")),
    ("check_versions", LEAST, properties("SearchFunction", "VersionDescription", "Search")),
    ("check_versions", LEAST, properties("RelayFunction", "Description", "Relay")),
    ("check_versions", LEAST, properties("Settings", "Content", "nothing")),
    ("check_versions", LEAST, variable("Search", "SKILLROUTE_DEFAULT_MODE", {"Ref": "ThrottlingRate"})),
    (
        "check_versions",
        LEAST,
        variable("Search", "SKILLROUTE_DEFAULT_MODE", {"Fn::If": ["MakesEndpoints", "lexical", "semantic"]}),
    ),
    ("check_versions", LEAST, put("Globals/Function/AutoPublishAlias", "newest")),
    ("check_a_changed_layer_makes_versions", LEAST, properties("CommonLayer", "PublishLambdaVersion")),
    ("check_a_changed_layer_makes_versions", LEAST, properties("CatalogFunction", "AutoPublishAliasAllProperties")),
    # rights
    ("check_roles", LEAST, properties("SearchFunction", "Role", {"Fn::GetAtt": ["RelayRole", "Arn"]})),
    (
        "check_roles",
        LEAST,
        properties("SearchRole", "ManagedPolicyArns", ["arn:aws:iam::aws:policy/AdministratorAccess"]),
    ),
    ("check_roles", LEAST, properties("SearchRole", "AssumeRolePolicyDocument/Statement/0/Principal", {"AWS": "*"})),
    ("check_statements", LEAST, properties("RelayRole", f"{_STATEMENT}/1/Action", "sqs:*")),
    ("check_statements", LEAST, properties("RelayRole", f"{_STATEMENT}/1/Resource", "*")),
    ("check_statements", AURORA, properties("ChatPolicy", f"{_SHARED}/2/Fn::If/1/Condition")),
    ("check_statements", TOKENS, properties("SecretsKeyPolicy", f"{_SHARED}/0/Condition")),
    ("check_statements", IAM, properties("ReaderLoginPolicy", f"{_SHARED}/0/Fn::If/1/Action", "rds-db:*")),
    ("check_statements", IAM, properties("ReaderLoginPolicy", f"{_SHARED}/0/Fn::If/1/Resource", "arn:aws:rds-db:*")),
    (
        "check_statements",
        AURORA,
        properties("EmbeddingPolicy", f"{_SHARED}/0/Fn::If/1/Resource", "arn:aws:bedrock:*::foundation-model/*"),
    ),
    ("check_functions_may_do_what_they_do", LEAST, properties("AggregateRole", f"{_STATEMENT}/2")),
    (
        "check_functions_may_do_what_they_do",
        LEAST,
        properties(
            "SearchRole", f"{_STATEMENT}/0/Action", ["logs:PutLogEvents", "logs:CreateLogStream", "s3:GetObject"]
        ),
    ),
    ("check_functions_may_do_what_they_do", TOKENS, properties("SearchRole", f"{_ATTACHED}/3")),
    # search logs in as one that only reads, and nobody but the relay as the owner
    (
        "check_functions_may_do_what_they_do",
        LEAST,
        properties("SearchRole", f"{_ATTACHED}/2", {"Ref": "WriterLoginPolicy"}),
    ),
    (
        "check_functions_may_do_what_they_do",
        IAM,
        properties("SearchRole", f"{_ATTACHED}/2", {"Ref": "WriterLoginPolicy"}),
    ),
    (
        "check_functions_may_do_what_they_do",
        AURORA_IAM,
        properties("SkillsRole", f"{_ATTACHED}/2", {"Ref": "OwnerLoginPolicy"}),
    ),
    (
        "check_functions_may_do_what_they_do",
        AURORA_IAM,
        properties("OwnerLoginPolicy", f"{_SHARED}/1/Fn::If/0", "CreatesDatabase"),
    ),
    ("check_functions_may_do_what_they_do", AURORA, put("Conditions/RelayMigrates", {"Fn::Equals": ["a", "b"]})),
    (
        "check_functions_may_do_what_they_do",
        TOKENS,
        properties("EmbeddingPolicy", f"{_SHARED}/1/Fn::If/1/Resource", {"Ref": "ChatApiKeySecretArn"}),
    ),
    ("check_statements", AURORA, properties("SearchRole", f"{_STATEMENT}/1/Fn::If/1/Action", "bedrock:InvokeModel")),
    ("check_statements", AURORA, properties("SearchRole", f"{_STATEMENT}/2/Fn::If/1/Resource", "*")),
    ("check_functions_may_do_what_they_do", AURORA, properties("SearchRole", f"{_STATEMENT}/1")),
    (
        "check_functions_may_do_what_they_do",
        QUIET,
        properties("SearchRole", f"{_STATEMENT}/2/Fn::If/1/Resource/Fn::Sub/1/Region", {"Ref": "AWS::Region"}),
    ),
    ("check_functions_may_do_what_they_do", LEAST, properties("SearchRole", f"{_STATEMENT}/1/Fn::If/0", "IsMonitored")),
    ("check_nobody_else_may_call", LEAST, properties("SearchPermission", "SourceArn")),
    ("check_nobody_else_may_call", LEAST, properties("SearchPermission", "Principal", "*")),
    ("check_nobody_else_may_call", LEAST, properties("SkillsPermission", "FunctionName", {"Ref": "SkillsFunction"})),
    *OF_OPERATION,
]


@pytest.mark.parametrize(("check", "parameters", "change"), MUTATIONS, ids=name)
def test_what_is_broken_is_seen(check: str, parameters: str, change: Change) -> None:
    template = parsed()
    change(template)
    broken = stack(PARAMETER_SETS[parameters], template)
    with pytest.raises(AssertionError):
        CHECKS[check](broken)


@pytest.mark.parametrize(("check", "parameters", "change"), OF_MONITORING, ids=name)
def test_what_is_broken_in_monitoring_is_seen(check: str, parameters: str, change: Change) -> None:
    monitoring = parsed(MONITORING)
    change(monitoring)
    broken = stack(PARAMETER_SETS[parameters], monitoring=monitoring)
    with pytest.raises(AssertionError):
        CHECKS[check](broken)


def test_every_check_is_seen_to_fail() -> None:
    assert {check for check, _, _ in (*MUTATIONS, *OF_MONITORING)} == set(CHECKS)
