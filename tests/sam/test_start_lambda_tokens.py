"""Under `sam local start-lambda`: every event to warm containers of a deployment where tokens vouch."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from skillroute_local.handlers import lambda_client

from tests.events import JWT, event
from tests.sam.walk import walk
from tests.sam.world import World, invoke
from tests.scenario import WITH_TOKENS

Make = Callable[..., AbstractContextManager[World]]


def test_every_event_when_tokens_vouch(make_world: Make, say: Callable[[str], None]) -> None:
    issuer, audience = JWT["SKILLROUTE_JWT_ISSUER"], JWT["SKILLROUTE_JWT_AUDIENCE"]
    with (
        make_world("AuthMode=jwt", f"JwtIssuer={issuer}", f"JwtAudience={audience}") as world,
        world.sam.serving("start-lambda") as endpoint,
    ):
        client = lambda_client(endpoint)
        walk(lambda function, name: invoke(client, function, event(name)), WITH_TOKENS, say)
        client.close()
