"""Which documents a caller finds."""

from __future__ import annotations

from skillroute.core.caller import Caller
from skillroute.core.documents.model import IndexFilter


def visible_to(caller: Caller) -> IndexFilter:
    """Return the condition of decision 26: global items and those of the caller's own organisation."""
    return IndexFilter({"org_id": ["" if org is None else org for org in caller.visible_orgs]})
