"""The queue of learning: organisations that are to learn from their use, and the global catalogue."""

from __future__ import annotations

import re

from skillroute.core.errors.model import InvalidInput
from skillroute.core.queue.work import WorkQueue

_GLOBAL = "global"
_OF_AN_ORGANISATION = "org/"
# An organisation's id may hold what PostgreSQL stores: all but NUL and half a surrogate pair.
_ORG_ID = re.compile(r"[^\0\ud800-\udfff]+")


def learn_key(org_id: str | None) -> str:
    """Return the key of an organisation's learning; None stands for the global catalogue.

    Examples
    --------
    >>> learn_key("acme"), learn_key(None)
    ('org/acme', 'global')
    """
    return _GLOBAL if org_id is None else _OF_AN_ORGANISATION + org_id


def org_of(key: str) -> str | None:
    """Return the organisation of a key that `learn_key` returned."""
    return None if key == _GLOBAL else key.removeprefix(_OF_AN_ORGANISATION)


def _key_of(value: object) -> str:
    if value is None:
        return _GLOBAL
    if not isinstance(value, str) or not _ORG_ID.fullmatch(value):
        raise InvalidInput("org_id", "must be the id of an organisation, or null for the global catalogue")
    return learn_key(value)


# No caller waits for it, and what is tried again rests for the better part of an hour.
LEARN = WorkQueue(
    "learn", place=3, holds="organisations", field="org_id", key_of=_key_of, value_of=org_of, is_urgent=False
)

QUEUES = (LEARN,)
