"""Every function with every event, each in a container of its own, as `sam local invoke` runs them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from tests.events import ADMIN_ROLE, JWT, answer
from tests.sam.world import World
from tests.scenario import SIGNED, WITH_TOKENS, Step

Make = Callable[..., AbstractContextManager[World]]


def run(world: World, steps: Sequence[Step], say: Callable[[str], None]) -> None:
    for step in steps:
        began = time.monotonic()
        said = world.sam.invoke(step.function, step.event)
        status, body = (None, said) if step.status is None else answer(said)
        say(f"{step.function:<10} {step.event:<32} {status or 'done'}  {time.monotonic() - began:.1f} s")
        assert status == step.status, f"{step.event}: {status} {body}"
        assert step.check(body), f"{step.event}: {json.dumps(body, indent=1)}"


def test_every_event_when_aws_signatures_vouch(make_world: Make, say: Callable[[str], None]) -> None:
    with make_world("AuthMode=iam", f"AdminRoleArns={ADMIN_ROLE}") as world:
        run(world, SIGNED, say)


def test_every_event_when_tokens_vouch(make_world: Make, say: Callable[[str], None]) -> None:
    issuer, audience = JWT["SKILLROUTE_JWT_ISSUER"], JWT["SKILLROUTE_JWT_AUDIENCE"]
    with make_world("AuthMode=jwt", f"JwtIssuer={issuer}", f"JwtAudience={audience}") as world:
        run(world, WITH_TOKENS, say)
