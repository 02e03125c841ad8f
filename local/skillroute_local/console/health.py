"""The page Health: how the parts stand, and whether all that is stored agrees."""

from __future__ import annotations

from typing import Any

from skillroute_client import AsyncSkillroute

from skillroute_local.console.actions import Actions

actions = Actions("health")


@actions.action
async def state(client: AsyncSkillroute) -> dict[str, Any]:
    """Return what `GET /ready` answers, a 503 too: it says which part is away."""
    return (await client.ready()).model_dump(mode="json")


@actions.action
async def verify(client: AsyncSkillroute) -> dict[str, Any]:
    """Return what does not agree of all that is stored and searched."""
    return (await client.verify()).model_dump(mode="json")
