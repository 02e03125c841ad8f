"""An event of the trace: who did what through which door, and what came of it. Never with a text or a token."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from skillroute.core.caller import Caller
from skillroute.core.input.encodable import encodable

Kind = Literal["search", "call", "refusal", "change"]
Outcome = Literal["ok", "refused", "failed"]
TraceDoor = Literal["http", "mcp", "function"]

MAX_NAME = 200
"""Characters that an event has of a name which a caller chose."""

MAX_ARGUMENTS = 10_000
"""Characters that an event has of arguments, where they are kept."""


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One event.

    Attributes
    ----------
    code : str or None
        Of the error, or why a call was refused.
    what : str
        Method and template of a route, or the name of a tool.
    targets : mapping
        Ids by kind: ``tool``, ``server``, ``skill`` and so on.
    arguments : str or None
        Without secrets; None where they are not kept.
    """

    at: datetime
    kind: Kind
    outcome: Outcome
    caller: Caller
    door: TraceDoor
    what: str
    took_ms: float
    code: str | None = None
    targets: Mapping[str, int | str] = field(default_factory=dict)
    bytes_in: int | None = None
    bytes_out: int | None = None
    search_id: UUID | None = None
    request_id: str | None = None
    trace_id: str | None = None
    arguments: str | None = None
    id: UUID = field(default_factory=uuid4)

    def row(self) -> dict[str, Any]:
        """Return the columns of the event, as `add_trace` reads them."""
        return {
            "id": str(self.id),
            "at": self.at.isoformat(),
            "kind": self.kind,
            "outcome": self.outcome,
            "code": _name(self.code),
            "org_id": self.caller.org_id,
            "actor": _name(self.caller.name),
            "agent": _name(self.caller.agent),
            "roles": roles_of(self.caller),
            "door": self.door,
            "what": _name(self.what),
            "targets": {kind: each if isinstance(each, int) else _name(each) for kind, each in self.targets.items()},
            "took_ms": round(self.took_ms, 1),
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "search_id": None if self.search_id is None else str(self.search_id),
            "request_id": _name(self.request_id) or None,
            "trace_id": self.trace_id,
            "arguments": self.arguments,
        }


def roles_of(caller: Caller) -> list[str]:
    """Return roles and groups of a caller; its scopes where it has none.

    Examples
    --------
    >>> from skillroute.core.caller import LAPTOP
    >>> roles_of(LAPTOP)
    ['scope:admin']
    """
    roles = sorted(getattr(caller, "roles", ()))
    groups = sorted(getattr(caller, "groups", ()))
    named = [*(f"role:{each}" for each in roles), *(f"group:{each}" for each in groups)]
    return [_cut(each) for each in named] or [f"scope:{each.value}" for each in sorted(caller.scopes)]


def shown_arguments(arguments: object) -> str:
    """Return arguments as an event may have them: as JSON without what looks like a secret, and not too long.

    Examples
    --------
    >>> shown_arguments({"password": "hunter2", "city": "Rome"})
    '{"password":  … , "city": "Rome"}'
    """
    from skillroute.core.input.secret_masking import without_secrets  # noqa: PLC0415 (few deployments keep them)

    text = json.dumps(arguments, ensure_ascii=False, default=str)
    # Masked before it is cut: a secret that is cut in two looks like none.
    return _clean(without_secrets(text[: 10 * MAX_ARGUMENTS]))[:MAX_ARGUMENTS]


def _name(text: str | None) -> str | None:
    return None if text is None else _cut(text)


def _cut(text: str) -> str:
    return _clean(text[:MAX_NAME])


def _clean(text: str) -> str:
    """Return a text that PostgreSQL takes: it has no NUL, and no half of a pair."""
    return encodable(text).replace("\0", "")
