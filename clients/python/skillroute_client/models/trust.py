"""Definitions that changed since they were approved."""

from __future__ import annotations

from datetime import datetime

from skillroute_client.models.base import Answer


class DefinitionDifference(Answer):
    """A part of a definition that is not as it was approved, as lines of a unified diff."""

    field: str
    diff: list[str] = []


class ChangedDefinition(Answer):
    """An item whose definition is not the approved one; `approved_by` is None where it was taken as it first came."""

    id: int
    org_id: str | None = None
    server: str | None = None
    type: str = "tool"
    name: str
    is_active: bool
    is_quarantined: bool
    approved_by: str | None = None
    approved_at: datetime
    changed_at: datetime
    differences: list[DefinitionDifference] = []


class TrustDecision(Answer):
    """The decision on an item: `approved`, `rejected`, `unchanged`, `changed_again` or `not_found`."""

    id: int
    status: str
