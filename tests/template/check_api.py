"""What must hold of the gateway's greedy routes: who may call them, with which scopes, and who answers."""

from __future__ import annotations

import json

from skillroute_local.gateway import ROUTES, route_of

from tests.template.routes import FUNCTIONS, METHODS, OPEN, scopes_of_routes, served
from tests.template.stack import Json, Stack

VERIFY = "ANY /api/v1/verify"


def _all_routes(stack: Stack) -> dict[str, Json]:
    routes = {each["RouteKey"]: each for each in stack.of_type("AWS::ApiGatewayV2::Route").values()}
    assert len(routes) == len(stack.of_type("AWS::ApiGatewayV2::Route")), "a key that two routes have"
    return routes


def _routes(stack: Stack) -> dict[str, Json]:
    """Return the gateway's routes by their keys, without those that browsers ask beforehand."""
    return {key: route for key, route in _all_routes(stack).items() if not key.startswith("OPTIONS ")}


def check_browsers_ask_beforehand_without_a_token_where_pages_may(stack: Stack) -> None:
    """On the very path of the route that takes the request itself, as ANY there would ask for a token."""
    every = _all_routes(stack)
    open_ones = {key: route for key, route in every.items() if key.startswith("OPTIONS ")}
    if not stack.parameters["CorsAllowOrigins"]:
        assert not open_ones
        return
    paths = {key.partition(" ")[2]: route for key, route in _routes(stack).items()}
    assert {key.partition(" ")[2]: route["Target"] for key, route in open_ones.items()} == {
        path: route["Target"] for path, route in paths.items()
    }
    for key, route in open_ones.items():
        assert route["AuthorizationType"] == "NONE", key
        assert not {"AuthorizerId", "AuthorizationScopes"} & route.keys(), key
    for function in FUNCTIONS:
        for request in served(function):
            path = request.partition(" ")[2].replace("{}", "1")
            taken = route_of("OPTIONS", path, routes=every)
            assert taken, path
            assert every[taken[0]]["AuthorizationType"] == "NONE", path
            assert _function(every[taken[0]]) == function, path


def _behind(stack: Stack, request: str) -> str | None:
    """Return the key of the gateway's route that takes a request for one of the applications' routes."""
    found = route_of(*request.replace("{}", "1").split(" "), routes=_routes(stack))  # type: ignore[misc]
    return found[0] if found else None


def _function(route: Json) -> str:
    return str(route["Target"]).removeprefix("integrations/${").removesuffix("Integration}")


def check_routes_lead_to_the_function_that_has_the_path(stack: Stack) -> None:
    """Whatever the method: one that a path does not have is 405 from the application that has the path."""
    routes, taken = _routes(stack), set()
    for function in FUNCTIONS:
        for request in served(function):
            behind = _behind(stack, request)
            assert behind, request
            assert _function(routes[behind]) == function, request
            taken.add(behind)
            if behind.startswith("ANY "):
                path = request.partition(" ")[2]
                assert {_behind(stack, f"{method} {path}") for method in METHODS} == {behind}, path
    assert taken == set(routes), "a route that leads to nothing"
    assert {key: _function(each).lower() for key, each in routes.items()} == ROUTES


def check_unknown_paths_reach_an_application(stack: Stack) -> None:
    """Which asks who it is and says 404, as on the laptop; the gateway would say it to anybody."""
    below = (
        "nothing",
        "search/nothing",
        "tools/1/nothing",
        "tools/1/skills/nothing",
        "skills/1/2/3",
        "mail/",
        "verify/1",
    )
    for method in METHODS:
        assert all(_behind(stack, f"{method} /api/v1/{path}") for path in below), method


def check_no_route_is_open(stack: Stack) -> None:
    jwt = stack.parameters["AuthMode"] == "jwt"
    for name, route in _routes(stack).items():
        shows_registry = stack.parameters["PublicRegistry"] == "true" and " /v0.1/servers" in route["RouteKey"]
        is_open = shows_registry or (jwt and route["RouteKey"] in OPEN | {"ANY /oauth/{page}"})
        assert route["AuthorizationType"] == ("NONE" if is_open else "JWT" if jwt else "AWS_IAM"), name
        assert route.get("AuthorizerId") == ({"Ref": "JwtAuthorizer"} if jwt and not is_open else None), name
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
    """The gateway asks for one of the scopes that are asked for behind the route, or for admin, which is all."""
    prefix, routes = stack.parameters["JwtScopePrefix"], _routes(stack)
    if stack.parameters["AuthMode"] != "jwt":
        assert not [key for key, route in routes.items() if "AuthorizationScopes" in route]
        return
    asked: dict[str, set[str]] = {key: set() for key in routes}
    for request, scope in scopes_of_routes().items():
        behind = _behind(stack, request)
        assert behind, request
        if stack.parameters["PublicRegistry"] == "true" and " /v0.1/servers" in behind:
            continue
        asked[behind] |= {prefix + scope, prefix + "admin"} if scope else set()
    for key, route in routes.items():
        assert set(route.get("AuthorizationScopes", [])) == asked[key], key


def check_integrations(stack: Stack) -> None:
    """Each leads to its function, by its alias, and is what routes name."""
    integrations = stack.of_type("AWS::ApiGatewayV2::Integration")
    for name, integration in integrations.items():
        function = name.removesuffix("Integration")
        assert integration["IntegrationType"] == "AWS_PROXY", name
        assert integration["PayloadFormatVersion"] == "2.0", name
        assert integration["IntegrationUri"] == f"${{{function}Function.Arn}}:live", name
    assert {f"{_function(route)}Integration" for route in _routes(stack).values()} == set(integrations)


def check_stage(stack: Stack) -> None:
    (stage,) = stack.of_type("AWS::ApiGatewayV2::Stage").values()
    assert stage["StageName"] == "$default"
    assert stage["AutoDeploy"] is True
    limits = stage["DefaultRouteSettings"]
    assert int(limits["ThrottlingBurstLimit"]) == int(stack.parameters["ThrottlingBurst"])
    assert int(limits["ThrottlingRateLimit"]) == int(stack.parameters["ThrottlingRate"])
    # The check of everything is a minute of the database's work at worst, and there is one who may ask for it.
    assert stage["RouteSettings"] == {VERIFY: {"ThrottlingBurstLimit": 2, "ThrottlingRateLimit": 1}}
    assert VERIFY in _routes(stack)
    assert stack.resources["ApiStage"]["DependsOn"] in ("VerifyRoute", ["VerifyRoute"])
    assert stage["AccessLogSettings"]["DestinationArn"] == {"Fn::GetAtt": ["ApiAccessLogs", "Arn"]}
    form = stage["AccessLogSettings"]["Format"]
    assert "\n" not in form
    assert "authorization" not in form.lower().replace("authorizationtype", "")
    # Who asked for what, when, from where, what came of it and after how long.
    told = {"requestId", "requestTime", "identity.sourceIp", "identity.userArn", "authorizer.claims.sub", "routeKey"}
    told |= {
        "httpMethod",
        "path",
        "status",
        "responseLatency",
        "integrationLatency",
        "integrationErrorMessage",
        "authorizer.error",
    }
    assert {f"$context.{each}" for each in told} <= set(json.loads(form).values())
