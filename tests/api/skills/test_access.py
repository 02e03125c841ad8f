"""Who may do what in the skill service over HTTP: scopes, organisations and reviewers (decision 27)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mangum import Mangum
from skillroute.core.http.app import create_app
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts
from skillroute_local.gateway import body_sent, http_event, with_claims

from tests.api.skills.calls import CALENDAR
from tests.api.tokens import JWT, as_gateway_says
from tests.api.tokens import claims as good_claims
from tests.builders import System, of_org

ROUTES = [
    ("POST", "/api/v1/skills", CALENDAR, "skills"),
    ("GET", "/api/v1/skills", None, "search"),
    ("POST", "/api/v1/skills/classify", {"tool_id": 1}, "skills"),
    ("GET", "/api/v1/skills/shared", None, "search"),
    ("PUT", "/api/v1/skills/shared", {"name": "Mine", "description": "All about me."}, "skills"),
    ("PATCH", "/api/v1/skills/shared", {"name": "Mine"}, "skills"),
    ("DELETE", "/api/v1/skills/shared", None, "skills"),
    ("GET", "/api/v1/skills/shared/tools", None, "search"),
    ("POST", "/api/v1/skills/shared/describe", None, "skills"),
    ("GET", "/api/v1/skills/suggestions", None, "skills"),
    ("POST", "/api/v1/skills/suggestions/1/approve", None, "skills"),
    ("POST", "/api/v1/skills/suggestions/1/reject", None, "skills"),
    ("POST", "/api/v1/skills/suggestions/1/merge", {"skill_id": "shared"}, "skills"),
    ("GET", "/api/v1/tools/1/skills", None, "search"),
    ("PUT", "/api/v1/tools/1/skills", {"skills": []}, "skills"),
]
OF_ACME = {"org_id": "acme", "sub": "ann"}


@pytest.fixture
def gateway_app(system: System, database_url: str) -> Any:
    """The app behind API Gateway, with a global skill, a global tool and a global suggestion."""
    settings = LocalSettings(database_url=database_url, **JWT)
    parts = Parts(
        settings,
        embedder=system.embedder,
        replica=system.replica,
        database=system.database,
        classifier=system.classifier,
        chat=system.chat,
        notifier=system.notifier,
    )
    system.create("shared")
    system.classify(*system.put("tool"))
    routers, use_cases = parts.served("skills", "search")
    return create_app(routers, use_cases=use_cases)


VOUCHED = as_gateway_says(good_claims(scope=None, sub=None))


def invoke(app: Any, method: str, path: str, claims: dict[str, str] | None, body: Any = None) -> tuple[int, Any]:
    event = http_event(f"{method} {path}", body, None if claims is None else with_claims(VOUCHED | claims))
    answer = Mangum(app, lifespan="off")(event, None)  # type: ignore[arg-type]
    return answer["statusCode"], json.loads(body_sent(answer)) if answer["body"] else None


def test_every_route_wants_an_identity_and_its_scope(gateway_app: Any) -> None:
    for method, path, body, scope in ROUTES:
        assert invoke(gateway_app, method, path, None, body)[0] == 401
        others = " ".join({"search", "catalog", "skills"} - {scope})
        status, refused = invoke(gateway_app, method, path, OF_ACME | {"scope": others}, body)
        assert (path, status, refused["detail"]) == (path, 403, f"the token lacks the scope {scope!r}")


def test_an_organisation_reads_what_is_global_and_changes_none_of_it(gateway_app: Any, system: System) -> None:
    claims = OF_ACME | {"scope": "search skills"}
    statuses = {
        f"{method} {path}": invoke(gateway_app, method, path, claims, body)[0] for method, path, body, _ in ROUTES
    }
    assert statuses == {
        "POST /api/v1/skills": 201,
        "GET /api/v1/skills": 200,
        "POST /api/v1/skills/classify": 403,
        "GET /api/v1/skills/shared": 200,
        "PUT /api/v1/skills/shared": 403,
        "PATCH /api/v1/skills/shared": 403,
        "DELETE /api/v1/skills/shared": 403,
        "GET /api/v1/skills/shared/tools": 200,
        "POST /api/v1/skills/shared/describe": 403,
        "GET /api/v1/skills/suggestions": 200,
        "POST /api/v1/skills/suggestions/1/approve": 403,
        "POST /api/v1/skills/suggestions/1/reject": 403,
        "POST /api/v1/skills/suggestions/1/merge": 403,
        "GET /api/v1/tools/1/skills": 200,
        "PUT /api/v1/tools/1/skills": 403,
    }
    assert system.chat.asked == []


def test_what_belongs_to_an_organisation_is_404_for_others(gateway_app: Any, system: System) -> None:
    system.create("own", of_org("acme"))
    [tool_id] = system.put("own", caller=of_org("acme"))
    system.classify(tool_id)
    [suggestion] = [each for each in system.suggestions(caller=of_org("acme")) if each.org_id == "acme"]
    for claims in ({"org_id": "umbrella", "scope": "admin"}, {"scope": "admin"}):
        for method, path, body, _ in ROUTES:
            path = (  # noqa: PLW2901
                path.replace("skills/shared", "skills/own")
                .replace("suggestions/1", f"suggestions/{suggestion.id}")
                .replace("tools/1", f"tools/{tool_id}")
            )
            if path in {"/api/v1/skills", "/api/v1/skills/suggestions"} or (method, path[-4:]) == ("PUT", "/own"):
                continue  # a PUT creates a skill of the caller's own
            body = body | {"tool_id": tool_id} if path.endswith("classify") else body  # noqa: PLW2901
            assert (path, invoke(gateway_app, method, path, claims, body)[0]) == (path, 404)
        assert [skill["id"] for skill in invoke(gateway_app, "GET", "/api/v1/skills", claims)[1]] == ["shared"]
        listed = invoke(gateway_app, "GET", "/api/v1/skills/suggestions", claims)[1]
        assert suggestion.id not in [each["id"] for each in listed]
    assert system.parts.skills.read.get("own", of_org("acme")).name == "own"


def test_the_organisation_and_the_reviewer_come_from_the_token(gateway_app: Any, system: System) -> None:
    claims = OF_ACME | {"scope": "search skills"}
    status, skill = invoke(gateway_app, "POST", "/api/v1/skills", claims, CALENDAR)
    assert (status, skill["org_id"]) == (201, "acme")
    system.classify(*system.put("own", caller=of_org("acme")))
    [suggestion] = [each for each in system.suggestions(caller=of_org("acme")) if each.org_id == "acme"]
    status, answer = invoke(gateway_app, "POST", f"/api/v1/skills/suggestions/{suggestion.id}/approve", claims)
    assert (status, answer["skill"]["org_id"], answer["suggestion"]["reviewed_by"]) == (200, "acme", "ann")


def test_the_check_of_everything_is_for_who_belongs_to_no_organisation(gateway_app: Any) -> None:
    status, refused = invoke(gateway_app, "GET", "/api/v1/verify", OF_ACME | {"scope": "admin"})
    assert (status, refused["detail"]) == (403, "the check sees every organisation: it needs a token of none")
    status, answer = invoke(gateway_app, "GET", "/api/v1/verify", {"sub": "ann", "scope": "admin"})
    assert (status, answer["ok"], answer["findings"]) == (200, True, [])
