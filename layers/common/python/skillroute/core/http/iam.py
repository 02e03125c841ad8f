"""The IAM role of a signed request, and the roles of admins (decision 32)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from skillroute.core.errors.model import ConfigurationError

_NAME = r"(?P<name>[A-Za-z0-9_+=,.@-]{1,64})"
_ASSUMED = re.compile(rf"arn:(?P<partition>aws[a-z-]*):sts::(?P<account>[0-9]{{12}}):assumed-role/{_NAME}/[^/\s]+")
_ROLE = re.compile(rf"arn:(?P<partition>aws[a-z-]*):iam::(?P<account>[0-9]{{12}}):role/(?:[!-.0-~]+/)*{_NAME}")
_BETWEEN = re.compile(r",\s*(?=arn:)")  # a role's name may have commas in it


@dataclass(frozen=True, slots=True)
class Role:
    """A role of IAM, as far as a session's ARN shows it: without its path. In an account, no two roles share a name."""

    partition: str
    account: str
    name: str


def role_of(user_arn: object) -> Role | None:
    """Return the role that a session is of: ``arn:aws:sts::123456789012:assumed-role/NAME/SESSION``.

    None for users, the account itself and federated users, who act for no role.
    """
    found = _ASSUMED.fullmatch(user_arn) if isinstance(user_arn, str) else None
    return Role(**found.groupdict()) if found else None


def admin_roles(arns: str) -> frozenset[Role]:
    """Read the ARNs of roles, with commas between: ``arn:aws:iam::123456789012:role/path/NAME``.

    Raises
    ------
    ConfigurationError
        One is no role's.
    """
    roles = []
    for arn in _BETWEEN.split(arns.strip()) if arns.strip() else ():
        found = _ROLE.fullmatch(arn)
        if found is None:
            raise ConfigurationError(
                f"SKILLROUTE_IAM_ADMINS: {arn!r} is not the ARN of a role (arn:aws:iam::ACCOUNT:role/NAME)"
            )
        roles.append(Role(**found.groupdict()))
    return frozenset(roles)
