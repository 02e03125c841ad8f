"""Names of parameters and fields that mean the same."""

from __future__ import annotations

from collections.abc import Mapping

_SAME = (("type", "item_type"), ("skill_id", "skill_ids"), ("from", "sender"), ("is_active", "is_enabled"))
SYNONYMS: Mapping[str, str] = {name: other for pair in _SAME for name, other in (pair, pair[::-1])}
"""Each name, and the other one: routes know one of both, and take the other for it."""
