"""What `connect` keeps of searches and calls, read from its file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from skillroute_local.connect.store import connected
from skillroute_local.connect.use import ShownItem, Use


class UsedSearch(NamedTuple):
    """A text of a search as it is kept, with the last outcome of each item."""

    search_id: str
    nth: int
    asked_at: float
    query: str | None
    shown: Sequence[ShownItem]
    no_match: bool
    outcomes: Mapping[str, str]


def used(use: Use, path: Path) -> list[UsedSearch]:
    """Return what is kept at a path once all that was noted is written, the oldest first."""
    use.flush()
    outcomes: dict[str, dict[str, str]] = {}
    with closing(connected(path)) as database:
        for search_id, item, outcome in database.execute(
            "SELECT search_id, item, outcome FROM outcomes ORDER BY rowid"
        ):
            outcomes.setdefault(search_id, {})[item] = outcome
        rows = database.execute(
            "SELECT search_id, nth, asked_at, query, shown, no_match FROM receipts ORDER BY asked_at, search_id, nth"
        )
        return [
            UsedSearch(*kept, [ShownItem(*item) for item in json.loads(shown)], bool(no_match),
                       outcomes.get(kept[0], {}))
            for *kept, shown, no_match in rows
        ]  # fmt: skip
