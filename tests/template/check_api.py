"""What must hold of every route: who may call it, with which scope, and who answers."""

from __future__ import annotations

import json

from tests.template.routes import key, scopes_of_routes, served
from tests.template.stack import Stack


def check_routes_are_those_of_the_applications(stack: Stack) -> None:
    routes = [each["RouteKey"] for each in stack.of_type("AWS::ApiGatewayV2::Route").values()]
    assert {key(*each.split(" ")) for each in routes} == served()
    assert len(set(routes)) == len(routes)


def check_no_route_is_open(stack: Stack) -> None:
    jwt = stack.parameters["AuthMode"] == "jwt"
    for name, route in stack.of_type("AWS::ApiGatewayV2::Route").items():
        assert route["AuthorizationType"] == ("JWT" if jwt else "AWS_IAM"), name
        assert route.get("AuthorizerId") == ({"Ref": "JwtAuthorizer"} if jwt else None), name
    authorizers = stack.of_type("AWS::ApiGatewayV2::Authorizer")
    assert set(authorizers) == ({"JwtAuthorizer"} if jwt else set())
    for authorizer in authorizers.values():
        assert authorizer["AuthorizerType"] == "JWT"
        assert authorizer["IdentitySource"] == ["$request.header.Authorization"]
        assert authorizer["JwtConfiguration"] == {
            "Issuer": stack.parameters["JwtIssuer"],
            "Audience": stack.parameters["JwtAudience"].split(","),
        }
    (api,) = stack.of_type("AWS::ApiGatewayV2::Api").values()
    assert api["ProtocolType"] == "HTTP"
    assert "CorsConfiguration" not in api
    assert not api.get("DisableExecuteApiEndpoint", False), "there is no other name that it answers to"
    assert not {"RouteKey", "Target", "CredentialsArn"} & set(api), "a quick route would be open"


def check_scopes(stack: Stack) -> None:
    """The gateway asks for the scope that the application asks for, or for admin, which is all of them."""
    prefix, asked = stack.parameters["JwtScopePrefix"], scopes_of_routes()
    for name, route in stack.of_type("AWS::ApiGatewayV2::Route").items():
        if stack.parameters["AuthMode"] != "jwt":
            assert "AuthorizationScopes" not in route, name
            continue
        scope = asked[key(*route["RouteKey"].split(" "))]
        expected = {prefix + scope, prefix + "admin"} if scope else set()
        assert set(route.get("AuthorizationScopes", [])) == expected, route["RouteKey"]


def check_integrations(stack: Stack) -> None:
    """Each route leads to the function that has it, by its alias."""
    integrations = stack.of_type("AWS::ApiGatewayV2::Integration")
    for name, integration in integrations.items():
        function = name.removesuffix("Integration")
        assert integration["IntegrationType"] == "AWS_PROXY", name
        assert integration["PayloadFormatVersion"] == "2.0", name
        assert integration["IntegrationUri"] == f"${{{function}Function.Arn}}:live", name
    by_function = {name: served(name) for name in ("Search", "Catalog", "Skills")}
    for name, route in stack.of_type("AWS::ApiGatewayV2::Route").items():
        function = route["Target"].removeprefix("integrations/${").removesuffix("Integration}")
        assert key(*route["RouteKey"].split(" ")) in by_function[function], name


def check_stage(stack: Stack) -> None:
    (stage,) = stack.of_type("AWS::ApiGatewayV2::Stage").values()
    assert stage["StageName"] == "$default"
    assert stage["AutoDeploy"] is True
    limits = stage["DefaultRouteSettings"]
    assert int(limits["ThrottlingBurstLimit"]) == int(stack.parameters["ThrottlingBurst"])
    assert int(limits["ThrottlingRateLimit"]) == int(stack.parameters["ThrottlingRate"])
    assert stage["AccessLogSettings"]["DestinationArn"] == {"Fn::GetAtt": ["ApiAccessLogs", "Arn"]}
    form = stage["AccessLogSettings"]["Format"]
    assert "\n" not in form
    assert "authorization" not in form.lower().replace("authorizationtype", "")
    # Who asked for what, when, from where, what came of it and after how long.
    told = {"requestId", "requestTime", "identity.sourceIp", "identity.userArn", "authorizer.claims.sub", "routeKey"}
    told |= {"status", "responseLatency", "integrationLatency", "integrationErrorMessage", "authorizer.error"}
    assert {f"$context.{each}" for each in told} <= set(json.loads(form).values())
