"""The messages of each queue: they name a piece of work, and carry no data."""

from __future__ import annotations

import hashlib
import json

from skillroute.core.errors.model import InvalidInput
from skillroute.core.queue.work import OutboxEntry, WorkQueue

_GLOBAL_GROUP = "global"


def message_of(entry: OutboxEntry) -> dict[str, object]:
    """Return the message for a piece of work: its key, no data."""
    return {entry.queue.field: entry.queue.value_of(entry.key)}


def group_of(org_id: str | None) -> str:
    """Return the message group of an organisation: queues that know groups keep one from delaying the others.

    A hash, as the id of an organisation may be longer than a group's, and have other characters. No organisation shares
    the group of what is global.

    Examples
    --------
    >>> group_of(None), group_of("acme")
    ('global', 'org-822b33ad87c148a0a20a5ba7cd5ebcaa')
    """
    return _GLOBAL_GROUP if org_id is None else f"org-{hashlib.sha256(org_id.encode()).hexdigest()[:32]}"


def key_of(queue: WorkQueue, body: str) -> str:
    """Return the key of the work that a message is about.

    Anything but a JSON object with exactly the one field, of its type, is refused: a message that is guessed at would
    be acknowledged, and with it would go what it was meant to say.

    Raises
    ------
    InvalidInput
        The message cannot be read; it says why.
    """
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput("body", "is not JSON") from None
    if not isinstance(message, dict):
        raise InvalidInput("body", "is not a JSON object")
    if message.keys() != {queue.field}:
        raise InvalidInput("body", f"must have the field {queue.field} and no other")
    return queue.key_of(message[queue.field])
