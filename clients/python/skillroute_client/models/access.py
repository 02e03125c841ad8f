"""Rules of access, and what they say of a caller."""

from __future__ import annotations

from datetime import datetime

from skillroute_client.models.base import Answer


class AccessRule(Answer):
    """A rule as it is stored; of the deployment where it has no organisation."""

    id: int
    org_id: str | None = None
    name: str
    effect: str
    roles: list[str] = []
    groups: list[str] = []
    servers: list[str] = []
    tools: list[str] = []
    skills: list[str] = []
    hints: list[str] = []
    created_at: datetime | None = None
    created_by: str | None = None


class AccessRuleWritten(Answer):
    """A rule that was written, with what in it means nothing yet."""

    rule: AccessRule
    warnings: list[str] = []


class SeenOfServer(Answer):
    """How many of a server's tools, prompts and resources a caller would find."""

    server: str
    items: int
    seen: int


class AccessExplained(Answer):
    """The answer of the rules; `allowed` is None where no object was named."""

    allowed: bool | None = None
    rule: AccessRule | None = None
    matched: list[AccessRule] = []
    sentence: str
    servers: list[SeenOfServer] = []
