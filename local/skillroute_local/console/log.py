"""The page Log: events of the trace, as they were and as they come."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from skillroute_client import AsyncSkillroute

from skillroute_local.console.actions import Actions

_ROWS = 200

Name = Annotated[str, Field(min_length=1, max_length=1000)]
Place = Annotated[str, Field(min_length=1, max_length=100)]


def log_actions() -> Actions:
    """Return the actions of the page."""
    actions = Actions("log")

    @actions.action
    async def events(
        client: AsyncSkillroute,
        kind: Literal["search", "call", "refusal", "change"] | None = None,
        outcome: Literal["ok", "refused", "failed"] | None = None,
        actor: Name | None = None,
        after: Place | None = None,
    ) -> dict[str, Any]:
        """Return the latest events, 200 at most, or those that follow a place."""
        found = await client.trace(kind=kind, outcome=outcome, actor=actor, after=after, limit=_ROWS)
        return {"rows": [event.model_dump(mode="json") for event in found], "most": _ROWS}

    return actions
