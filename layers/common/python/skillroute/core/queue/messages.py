"""The messages of each queue: they name a tool or a skill, and carry no data."""

from __future__ import annotations

import hashlib
import json
import re

from skillroute.core.errors.model import InvalidInput
from skillroute.core.queue.work import OutboxEntry, QueueName

MESSAGE_KEYS = {QueueName.CLASSIFY: "tool_id", QueueName.AGGREGATE: "skill_id"}
"""The one field of a message. A skill is named by its key: the field's name is older than keys are."""

_MAX_TOOL_ID = 2**63 - 1
# An organisation's id may hold whatever PostgreSQL stores: anything but NUL and half a surrogate pair.
_SKILL_KEY = re.compile(r"[a-z][a-z0-9_]{0,63}(/[^\0\ud800-\udfff]+)?")
_GLOBAL_GROUP = "global"


def message_of(entry: OutboxEntry) -> dict[str, object]:
    """Return the message for a piece of work: its key, no data.

    Examples
    --------
    >>> message_of(OutboxEntry(QueueName.CLASSIFY, "7", None))
    {'tool_id': 7}
    >>> message_of(OutboxEntry(QueueName.AGGREGATE, "files/acme", "acme"))
    {'skill_id': 'files/acme'}
    """
    key: object = int(entry.key) if entry.queue is QueueName.CLASSIFY else entry.key
    return {MESSAGE_KEYS[entry.queue]: key}


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


def key_of(queue: QueueName, body: str) -> str:
    """Return the key of the work that a message is about.

    Anything but a JSON object with exactly the one field, of its type, is refused: a message that is guessed at would
    be acknowledged, and with it would go what it was meant to say.

    Raises
    ------
    InvalidInput
        The message cannot be read; it says why.

    Examples
    --------
    >>> key_of(QueueName.CLASSIFY, '{"tool_id": 7}'), key_of(QueueName.AGGREGATE, '{"skill_id": "files"}')
    ('7', 'files')
    """
    name = MESSAGE_KEYS[queue]
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput("body", "is not JSON") from None
    if not isinstance(message, dict):
        raise InvalidInput("body", "is not a JSON object")
    if message.keys() != {name}:
        raise InvalidInput("body", f"must have the field {name} and no other")
    value = message[name]
    if queue is QueueName.CLASSIFY:
        # bool is an int to Python, not to JSON.
        if type(value) is not int or not 0 < value <= _MAX_TOOL_ID:
            raise InvalidInput(name, "must be a positive integer of 64 bits")
    elif not isinstance(value, str) or not _SKILL_KEY.fullmatch(value):
        raise InvalidInput(name, "must be the id of a skill, followed by a slash and its organisation if it has one")
    return str(value)
