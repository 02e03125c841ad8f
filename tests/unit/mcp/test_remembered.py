"""Summaries that are remembered: how far the change feed is read for them."""

from __future__ import annotations

from typing import cast

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.model import HEAD, Change, FeedPage, Models
from skillroute.core.documents.replica_port import ChangeFeed
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mcp.remembered import Remembered


class Feed:
    """A feed with so many changes behind any position, all of one collection."""

    def __init__(self, changes: int, collection: Collection) -> None:
        self.changes = [Change(collection, str(key), 1) for key in range(changes)]
        self.polled: list[str] = []

    def lag(self, position: str) -> int:
        return len(self.changes)

    def poll(self, position: str) -> FeedPage:
        self.polled.append(position)
        unseen = [] if position == HEAD else self.changes
        return FeedPage(epoch="e", models=Models(), position="now", changes=unseen, is_complete=True)


@pytest.mark.parametrize(
    ("changes", "collection", "positions", "counted"),
    [
        (1000, MAIL_DOCUMENTS, [HEAD, "now"], 1),
        (1, TOOL_DOCUMENTS, [HEAD, "now"], 2),
        (1001, MAIL_DOCUMENTS, [HEAD, HEAD], 2),
    ],
    ids=["few of no interest", "one that counts", "too many to read"],
)
def test_changes_are_read_where_they_are_few(
    changes: int, collection: Collection, positions: list[str], counted: int
) -> None:
    feed, counts = Feed(changes, collection), iter(range(10))
    summary = Remembered(lambda _: str(next(counts)), cast(ChangeFeed, feed), frozenset({TOOL_DOCUMENTS}))

    summary(LAPTOP)
    text = summary(LAPTOP)

    assert feed.polled == positions
    assert text == str(counted - 1)
