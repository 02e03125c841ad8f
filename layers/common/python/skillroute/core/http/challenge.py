"""Refusals that say how to be let in: the `WWW-Authenticate` header of RFC 6750, section 3."""

from __future__ import annotations

from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Forbidden, SkillrouteError, Unauthenticated


class Challenge(SkillrouteError):
    """A refusal that carries a challenge. Neither its text nor the challenge ever quotes a token."""

    challenge: str

    def point_to(self, metadata_url: str) -> None:
        """Add where the client learns who issues tokens (RFC 9728, section 5.1)."""
        scheme, _, parameters = self.challenge.partition(" ")
        named = f'resource_metadata="{metadata_url}"'
        self.challenge = f"{scheme} {', '.join(filter(None, [parameters, named]))}"


class NoIdentity(Unauthenticated, Challenge):
    """The request has no credentials: no bearer token and no signature."""

    challenge = "Bearer"


class InvalidToken(Unauthenticated, Challenge):
    """The token is malformed, forged, expired or issued for another audience."""

    code = ErrorCode.INVALID_TOKEN
    challenge = 'Bearer error="invalid_token"'


class InsufficientScope(Forbidden, Challenge):
    """The token is good, and does not allow this.

    Parameters
    ----------
    scope : str
        The scope that is missing.
    spelling : str
        How tokens spell it: with the prefix, where there is one.
    """

    def __init__(self, scope: str, spelling: str) -> None:
        super().__init__(f"the token lacks the scope {scope!r}", ErrorCode.INSUFFICIENT_SCOPE)
        self.challenge = f'Bearer error="insufficient_scope", scope="{spelling}"'
