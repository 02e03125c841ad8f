"""Every function, each time in a container of its own, as `sam local invoke` runs them: with the files of events/."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from tests.events import ADMIN_ROLE, JWT
from tests.sam.walk import walk
from tests.sam.world import World
from tests.scenario import SIGNED, Step

Make = Callable[..., AbstractContextManager[World]]

# What a start alone can break: code, layers, settings. What functions do is walked through warm containers.
_INVOKED = (
    *("catalog_put", "catalog_list", "servers_put", "skills_create", "skills_list"),
    *("sqs_classify", "sqs_aggregate", "schedule_relay", "search", "mcp_call"),
)


def test_each_function_starts_and_answers_when_aws_signatures_vouch(
    make_world: Make, say: Callable[[str], None]
) -> None:
    first = {step.event: step for step in reversed(SIGNED)}
    with make_world("AuthMode=iam", f"AdminRoleArns={ADMIN_ROLE}") as world:
        walk(world.sam.invoke, [first[name] for name in _INVOKED], say)


def test_a_function_starts_and_answers_when_tokens_vouch(make_world: Make, say: Callable[[str], None]) -> None:
    issuer, audience = JWT["SKILLROUTE_JWT_ISSUER"], JWT["SKILLROUTE_JWT_AUDIENCE"]
    with make_world("AuthMode=jwt", f"JwtIssuer={issuer}", f"JwtAudience={audience}") as world:
        walk(world.sam.invoke, [Step("search", "search_jwt", 200, lambda found: found["tools"] == [])], say)
