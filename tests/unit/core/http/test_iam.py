"""Whose role a signed request is of, and which roles are admins (decision 32)."""

from __future__ import annotations

import pytest
from skillroute.core.errors.model import ConfigurationError
from skillroute.core.http.iam import Role, admin_roles, role_of

ACCOUNT = "123456789012"
ASSUMED = f"arn:aws:sts::{ACCOUNT}:assumed-role"


@pytest.mark.parametrize(
    ("user_arn", "role"),
    [
        (f"{ASSUMED}/Writer/agent-gateway", Role("aws", ACCOUNT, "Writer")),
        (f"{ASSUMED}/AWSReservedSSO_Admin_0123456789abcdef/ann@example.com", "AWSReservedSSO_Admin_0123456789abcdef"),
        (f"{ASSUMED}/a,b=c+d.e@f-g_h/i-0123456789abcdef0", "a,b=c+d.e@f-g_h"),
        (f"arn:aws-cn:sts::{ACCOUNT}:assumed-role/Writer/session", Role("aws-cn", ACCOUNT, "Writer")),
        # Not roles: a user, the account itself, a federated user; and what no ARN looks like.
        (f"arn:aws:iam::{ACCOUNT}:user/Writer", None),
        (f"arn:aws:iam::{ACCOUNT}:role/Writer", None),
        (f"arn:aws:iam::{ACCOUNT}:root", None),
        (f"arn:aws:sts::{ACCOUNT}:federated-user/Writer", None),
        (f"{ASSUMED}/Writer", None),
        (f"{ASSUMED}/Writer/", None),
        (f"{ASSUMED}/team/Writer/session", None),
        (f"{ASSUMED}/Writer/session\n", None),
        (f"arn:aws:sts::{ACCOUNT}:assumed-role/Wr\u0131ter/session", None),
        ("arn:aws:sts::12345678901:assumed-role/Writer/session", None),
        ("", None),
        (None, None),
        (["Writer"], None),
    ],
)
def test_a_session_is_of_its_role_whatever_it_is_called(user_arn: object, role: Role | str | None) -> None:
    expected = Role("aws", ACCOUNT, role) if isinstance(role, str) else role
    assert role_of(user_arn) == expected


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("", set()),
        (f"arn:aws:iam::{ACCOUNT}:role/Writer", {"Writer"}),
        # A session's ARN has no path. Names are unique in an account, paths apart, so nothing is lost.
        (f"arn:aws:iam::{ACCOUNT}:role/team/a/Writer", {"Writer"}),
        (
            f"arn:aws:iam::{ACCOUNT}:role/aws-reserved/sso.amazonaws.com/eu-central-1/AWSReservedSSO_A_0123456789abcdef",
            {"AWSReservedSSO_A_0123456789abcdef"},
        ),
        # Names may have commas in them.
        (f"arn:aws:iam::{ACCOUNT}:role/a,b,arn:aws:iam::{ACCOUNT}:role/c", {"a,b", "c"}),
        (f"arn:aws:iam::{ACCOUNT}:role/a, arn:aws:iam::{ACCOUNT}:role/c", {"a", "c"}),
    ],
)
def test_roles_are_named_by_their_arns(said: str, names: set[str]) -> None:
    assert admin_roles(said) == {Role("aws", ACCOUNT, name) for name in names}


@pytest.mark.parametrize(
    "said",
    [
        "Writer",
        "*",
        f"arn:aws:iam::{ACCOUNT}:user/Writer",
        f"arn:aws:iam::{ACCOUNT}:role/*",
        f"arn:aws:iam::{ACCOUNT}:role/",
        f"arn:aws:iam::{ACCOUNT}:role/team/",
        "arn:aws:iam::*:role/Writer",
        f"{ASSUMED}/Writer/session",
    ],
)
def test_what_is_no_roles_arn_is_refused(said: str) -> None:
    with pytest.raises(ConfigurationError, match="SKILLROUTE_IAM_ADMINS"):
        admin_roles(said)
