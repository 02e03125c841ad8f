"""The queues of skills: tools to classify, and skills to aggregate."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skillroute.core.errors.model import InvalidInput
from skillroute.core.observability import Metric
from skillroute.core.postgres.database import Session
from skillroute.core.queue.work import WorkQueue

_MAX_TOOL_ID = 2**63 - 1
# An organisation's id may hold whatever PostgreSQL stores: anything but NUL and half a surrogate pair.
_SKILL_KEY = re.compile(r"[a-z][a-z0-9_]{0,63}(/[^\0\ud800-\udfff]+)?")


def _tool_key(value: object) -> str:
    # bool is an int to Python, not to JSON.
    if type(value) is not int or not 0 < value <= _MAX_TOOL_ID:
        raise InvalidInput("tool_id", "must be a positive integer of 64 bits")
    return str(value)


def _skill_key(value: object) -> str:
    if not isinstance(value, str) or not _SKILL_KEY.fullmatch(value):
        reason = "must be the id of a skill, followed by a slash and its organisation if it has one"
        raise InvalidInput("skill_id", reason)
    return value


def _tool_names(session: Session, keys: Sequence[str]) -> dict[str, str]:
    """Return the qualified names of tools, by key."""
    if not keys:
        return {}
    # Loaded by those who name work: most who know the queues only pass it on.
    from skillroute.skills.classification.repository import ClassificationRepository  # noqa: PLC0415

    found = ClassificationRepository(session).tools([int(key) for key in keys], None)
    return {
        str(id_): f"{seen.tool.server}/{seen.tool.name}" if seen.tool.server else seen.tool.name
        for id_, seen in found.items()
    }


CLASSIFY = WorkQueue(
    "classify",
    place=1,
    holds="tools",
    field="tool_id",
    key_of=_tool_key,
    value_of=int,
    names=_tool_names,
    failed_metric=Metric.CLASSIFICATION_FAILED,
)

# A skill is named by its key: the field's name is older than keys are.
AGGREGATE = WorkQueue("aggregate", place=2, holds="skills", field="skill_id", key_of=_skill_key)

QUEUES = (CLASSIFY, AGGREGATE)
