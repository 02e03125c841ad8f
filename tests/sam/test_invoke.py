"""Every function once, in a container of its own, as `sam local invoke` runs it: with the files of events/."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from tests.events import ADMIN_ROLE
from tests.sam.cli import FUNCTIONS
from tests.sam.walk import walk
from tests.sam.world import World
from tests.scenario import SIGNED

Make = Callable[..., AbstractContextManager[World]]

# What a start alone can break: code, layers, settings. What functions do, and how they start where tokens vouch, is
# walked through warm containers.
_INVOKED = (
    *("catalog_put", "skills_create", "sqs_classify", "sqs_aggregate", "sqs_learn", "schedule_relay", "search"),
    *("mcp_call", "call_tool", "call_see_again"),
)


def test_each_function_starts_and_answers_when_aws_signatures_vouch(
    make_world: Make, say: Callable[[str], None]
) -> None:
    first = {step.event: step for step in reversed(SIGNED)}
    steps = [first[name] for name in _INVOKED]
    assert {step.function for step in steps} == set(FUNCTIONS)
    with make_world("AuthMode=iam", f"AdminRoleArns={ADMIN_ROLE}") as world:
        walk(world.sam.invoke, steps, say)
