"""Behind API Gateway's IAM authorizer: named roles may do everything, other callers search (decision 32)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from skillroute.core.caller import Scope
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.http.auth import iam_access
from starlette.requests import Request

from tests.api.core.http.test_auth_gateway import through_gateway
from tests.api.one_app import app_over
from tests.api.routes import SCOPES, Route, fill, filled
from tests.builders import lent_system
from tests.conftest import fresh_database

ACCOUNT = "123456789012"
ADMINS = f"arn:aws:iam::{ACCOUNT}:role/team/Writer,arn:aws:iam::{ACCOUNT}:role/Operator"


OF_PERSONS = {route for route in SCOPES if "/login" in route[1]}
"""Routes of a person's logins: a role is shared, and logs in nowhere."""


def signed_by(user_arn: Any) -> dict[str, Any]:
    return {"iam": {"accountId": ACCOUNT, "callerId": "AROA:session", "userArn": user_arn}}


def session_of(role: str, account: str = ACCOUNT) -> str:
    return f"arn:aws:sts::{account}:assumed-role/{role}/session"


@pytest.fixture(scope="module")
def behind_iam(postgres_server, migrated_template, edge_indexes) -> Iterator[FastAPI]:  # type: ignore[no-untyped-def]
    with (
        fresh_database(postgres_server, migrated_template) as url,
        lent_system(url, edge_indexes, embedder=HashingEmbedder(), auth="iam", iam_admins=ADMINS) as system,
    ):
        fill(system)
        yield app_over(system)


def status(app: FastAPI, route: Route, user_arn: Any) -> int:
    answered: int = through_gateway(app, route, filled(route[1]), signed_by(user_arn))["statusCode"]
    return answered


@pytest.mark.parametrize(
    "user_arn",
    [
        session_of("Reader"),
        session_of("Writer", "210987654321"),
        session_of("writer"),
        f"arn:aws:iam::{ACCOUNT}:user/Writer",
        f"arn:aws:iam::{ACCOUNT}:root",
        f"arn:aws:sts::{ACCOUNT}:federated-user/Writer",
        None,
    ],
    ids=str,
)
def test_who_signs_and_is_no_admin_searches_and_changes_nothing(behind_iam: FastAPI, user_arn: Any) -> None:
    refused = {route for route in SCOPES if status(behind_iam, route, user_arn) == 403}
    assert refused == {route for route, scope in SCOPES.items() if scope not in {None, Scope.SEARCH}} | OF_PERSONS


def test_who_may_only_search_is_told_so_without_a_challenge_for_tokens(behind_iam: FastAPI) -> None:
    answer = through_gateway(behind_iam, ("PUT", "/api/v1/tools"), "/api/v1/tools", signed_by(session_of("Reader")))
    refused = json.loads(answer["body"])
    assert (answer["statusCode"], refused["detail"]) == (403, "this identity may only search")
    assert refused["code"] == "insufficient_scope"
    assert "www-authenticate" not in answer["headers"]


@pytest.mark.parametrize("role", ["Writer", "Operator"])
def test_a_session_of_a_named_role_may_do_everything(behind_iam: FastAPI, role: str) -> None:
    refused = {route for route in SCOPES if status(behind_iam, route, session_of(role)) in {401, 403}}
    assert refused == OF_PERSONS


def test_who_did_not_sign_is_nobody(behind_iam: FastAPI) -> None:
    for route in SCOPES:
        for authorizer in (None, {}, {"iam": None}, {"iam": []}, {"jwt": {"claims": {"scope": "admin"}}}):
            answer = through_gateway(behind_iam, route, filled(route[1]), authorizer)
            assert (route, answer["statusCode"]) == (route, 401)


@pytest.mark.parametrize(
    ("one", "other", "are_one"),
    [
        (session_of("reader"), session_of("reader") + "-2", True),
        (session_of("reader"), session_of("writer"), False),
        (session_of("reader"), session_of("reader", "210987654321"), False),
        (f"arn:aws:iam::{ACCOUNT}:user/ann", f"arn:aws:iam::{ACCOUNT}:user/bob", False),
    ],
)
def test_sessions_of_a_role_are_one_caller_with_one_budget(one: str, other: str, are_one: bool) -> None:
    access = iam_access(frozenset())

    def name(arn: str) -> str | None:
        event = {"requestContext": {"authorizer": signed_by(arn)}}
        return access._identify(Request({"type": "http", "aws.event": event})).name

    assert name(one)
    assert (name(one) == name(other)) is are_one
