"""How Skillroute stands."""

from __future__ import annotations

from datetime import datetime

from skillroute_client.models.base import Answer


class Dependency(Answer):
    """Something that Skillroute needs."""

    ok: bool
    detail: str | None = None


class StageTimes(Answer):
    """How long a stage of searches took, in milliseconds."""

    searches: int
    p50_ms: float
    p95_ms: float


class FoundNothing(Answer):
    """A request that nothing seemed to fit, and how often it came."""

    query: str
    times: int
    last_at: datetime


class Asker(Answer):
    """The caller of a request and the rights of its token."""

    org_id: str | None = None
    scopes: list[str] = []


class Health(Answer):
    """How the parts stand: `status` is ``ok``, ``degraded`` or ``unavailable``."""

    status: str
    version: str | None = None
    caller: Asker | None = None
    search_mode: str | None = None
    modes: list[str] = []
    dependencies: dict[str, Dependency] = {}
    index_lag: int | None = None
    index_rebuilding: bool | None = None
    embedding_refused: int | None = None
    counts: dict[str, int | float] | None = None
    latency: dict[str, StageTimes] | None = None
    found_nothing: list[FoundNothing] | None = None
    index_items: int | None = None
    index_skills: int | None = None
    index_entities: int | None = None
    index_mail: int | None = None
    index_agent_skills: int | None = None


class Finding(Answer):
    """Something that is not as it must be."""

    rule: str
    subject: str
    detail: str


class Verification(Answer):
    """Whether everything that is stored is as it must be."""

    ok: bool
    tools: int = 0
    skills: int = 0
    entities: int = 0
    mail: int = 0
    agent_skills: int = 0
    findings: list[Finding] = []
