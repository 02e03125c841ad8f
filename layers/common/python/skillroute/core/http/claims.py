"""From a token's claims to a caller (decisions 26 and 27; message-search, section 6).

The claims are a token's own, or those that API Gateway hands over: there each value is a string, arrays are written as
``[a b]``. The signature has been checked before they are read here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.challenge import InvalidToken

LEEWAY_S = 10.0
"""How far two clocks may be apart."""

_NAME_CHARS = 255
_MAX_NAMES = 1000  # roles or groups of one caller; identity providers send 200, or a link instead
# Letters, digits and what ids are made of. No blanks, brackets or braces: so look arrays and objects that a gateway
# has turned into strings, and nobody is a member of "[acme globex]".
_ORG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/|+=-]{0,127}")
# So look values that are none once something on the way has written them as text. To take them for "no organisation"
# would make their bearers global, and to take them for an organisation would put all of them into the same one.
_NO_NAME = frozenset({"null", "none", "nil", "undefined", "true", "false"})
_AGENT_CHARS = 256
# What a gateway has turned into a string: an array, an object. NUL and half a surrogate pair no agent's name can have.
_NO_AGENT = re.compile(r"(map)?\[.*\]|\{.*\}|<nil>|.*[\0\ud800-\udfff].*", re.DOTALL)
# RFC 7519's NumericDate, or the same as text. Python's float takes more: underscores, blanks, digits of any script.
_TIME = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?([eE]\+?[0-9]{1,2})?")


@dataclass(frozen=True, slots=True)
class TokenRules:
    """The claims that a token must have.

    Attributes
    ----------
    issuer : str
        What `iss` must be, to the letter.
    audiences : frozenset of str
        `aud` must name one; a token without `aud` is asked for `client_id` instead, as API Gateway does.
    org_claim : str
        The claim that names the caller's organisation. Absent, null or empty: the caller has none.
    agent_claim : str
        The claim that names the mail agent that the caller speaks for. Absent, null, blank or longer than any agent's
        name: it speaks for none.
    roles_claim, groups_claim : str
        The claims that name the caller's roles and groups: a string, or an array of strings. Absent or null: none.
    org_required : bool
        Whether a caller without an organisation is refused. Else it is one of the global items' (decision 26).
    scope_prefix : str
        What tokens put before scopes.
    """

    issuer: str
    audiences: frozenset[str]
    org_claim: str = "org_id"
    agent_claim: str = "agent"
    roles_claim: str = "roles"
    groups_claim: str = "groups"
    org_required: bool = False
    scope_prefix: str = ""

    def caller(self, claims: Mapping[str, Any], now_s: float) -> Caller:
        """Return who the claims speak of.

        Parameters
        ----------
        claims : mapping
            Of a token whose signature was checked.
        now_s : float
            Seconds since 1970.

        Raises
        ------
        InvalidToken
            They are of another issuer, for another audience, not of this time, malformed, or name no organisation
            where they must.
        """
        self._check_time(claims, now_s)
        if claims.get("iss") != self.issuer:
            raise InvalidToken("the token is of another issuer")
        audience = "client_id" if claims.get("aud") is None else "aud"
        if self.audiences.isdisjoint(_strings(claims, audience)):
            raise InvalidToken("the token is for another audience")
        return Caller(
            org_id=self._organisation(claims),
            scopes=self._scopes(claims),
            name=_name(claims),
            agent=self._agent(claims),
            roles=_names(claims, self.roles_claim),
            groups=_names(claims, self.groups_claim),
        )

    def _check_time(self, claims: Mapping[str, Any], now_s: float) -> None:
        expires, begins, issued = (_seconds(claims, name) for name in ("exp", "nbf", "iat"))
        if expires is None:
            raise InvalidToken("the token never expires")
        if expires <= now_s - LEEWAY_S:
            raise InvalidToken("the token has expired")
        if begins is not None and begins > now_s + LEEWAY_S:
            raise InvalidToken("the token is not valid yet")
        if issued is not None and issued > now_s + LEEWAY_S:
            raise InvalidToken("the token was issued in the future")

    def _scopes(self, claims: Mapping[str, Any]) -> frozenset[Scope]:
        name = "scp" if claims.get("scope") is None else "scope"
        granted = {word for text in _strings(claims, name) for word in text.split(" ")}  # RFC 6749, 3.3
        return frozenset(scope for scope in Scope if self.scope_prefix + scope.value in granted)

    def _organisation(self, claims: Mapping[str, Any]) -> str | None:
        value = claims.get(self.org_claim)
        if value is None or value == "":
            if self.org_required:
                raise InvalidToken(f"the token lacks the claim {self.org_claim!r}")
            return None
        if not isinstance(value, str) or not _ORG.fullmatch(value) or value.lower() in _NO_NAME:
            raise InvalidToken(f"the claim {self.org_claim!r} is not the id of an organisation")
        return value

    def _agent(self, claims: Mapping[str, Any]) -> str | None:
        value = claims.get(self.agent_claim)
        if value is None:
            return None
        if not isinstance(value, str) or value.strip().lower() in _NO_NAME or _NO_AGENT.fullmatch(value):
            raise InvalidToken(f"the claim {self.agent_claim!r} is not the name of an agent")
        name = value.strip()
        return name if 0 < len(name) <= _AGENT_CHARS else None


def _name(claims: Mapping[str, Any]) -> str | None:
    value = claims.get("sub")
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not value.isprintable():
        raise InvalidToken("the claim 'sub' is malformed")
    return value[:_NAME_CHARS]


def _names(claims: Mapping[str, Any], name: str) -> frozenset[str]:
    """Return the roles or groups of a claim. Raises `InvalidToken` where there are too many to compare with rules."""
    found = frozenset(one.strip() for one in _strings(claims, name)) - {""}
    if len(found) > _MAX_NAMES:
        raise InvalidToken(f"the claim {name!r} has more than {_MAX_NAMES} values")
    return found


def _seconds(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    is_time = _TIME.fullmatch(value) if isinstance(value, str) else type(value) in {int, float}
    try:
        seconds = float(value) if is_time else math.nan
    except OverflowError:  # an integer of hundreds of digits
        seconds = math.nan
    if not math.isfinite(seconds):
        raise InvalidToken(f"the claim {name!r} is not a time")
    return seconds


def _strings(claims: Mapping[str, Any], name: str) -> list[str]:
    """Return a claim that is a string or an array of strings, however it is written; none when it is not there."""
    value = claims.get(name)
    if value is None:
        return []
    if isinstance(value, str):
        return value[1:-1].split(" ") if value.startswith("[") and value.endswith("]") else [value]
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    raise InvalidToken(f"the claim {name!r} is malformed")
