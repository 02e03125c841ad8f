"""Hints on the command line for what the API refuses for want of an identity."""

from __future__ import annotations

import skillroute_client as api
from skillroute_client.connection import Connection


def refusal_hint(error: api.ApiError, connection: Connection) -> str:
    """Return what follows on the error; empty where its own sentence says it all.

    API Gateway's own refusals have no code; it says Unauthorized or Forbidden for any reason.
    """
    if isinstance(error, api.Unauthenticated):
        if not connection.has_token:
            return ": give a token with --token or SKILLROUTE_TOKEN"
        if error.code is None:
            return ": the token was refused: it may have expired, or be of another issuer or for another audience"
    if isinstance(error, api.Forbidden) and error.code is None:
        if connection.is_signed:
            return ": the AWS credentials must be good, and their identity allowed execute-api:Invoke on this API"
        if not connection.has_token:
            return ": where AuthMode is iam, requests to a domain of your own are signed with --sign-region"
    return ""
