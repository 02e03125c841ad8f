"""A dry run: rows are written and taken back by the Skillroute, which says what would become of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from skillroute.catalogue.model import ItemContent
from skillroute.registry.schemas import EntityGiven
from skillroute_client.lines import Earlier

from skillroute_local.client import Client, Written
from skillroute_local.importing.check import Checked
from skillroute_local.importing.compare import ITEM_FIELDS, Change, differences, removed, title, title_of
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.stored import Catalogue

TOOLS_OF_A_CALL = 256
"""Of a server, tried on their own to name each."""

Show = Callable[[Change], None]


class Trial:
    """Tries rows instead of writing them.

    Parameters
    ----------
    client : Client
    catalogue : Catalogue
        What is stored: which fields differ is read from it.
    show : callable
        Called with what would become of each row.
    """

    def __init__(self, client: Client, catalogue: Catalogue, show: Show) -> None:
        self._client = client
        self._catalogue = catalogue
        self._show = show
        self._earlier = Earlier()

    def put(self, kind: Written, values: list[dict[str, Any]]) -> dict[str, Any]:
        """Try things of a kind, and return the answer that writing them would have had."""
        return self._client.put(kind, values, dry_run=True, earlier=self._earlier)

    def note(self, batch: Sequence[Checked], answer: dict[str, Any], report: ImportReport) -> None:
        """Show what would become of each row of a call; those that failed are in the report."""
        for result in answer["results"]:
            if result["status"] == "failed":
                continue
            valid, what = batch[result["index"]], result["status"]
            differing = differences(valid, self._catalogue) if what == "updated" else ()
            kind = result.get("kind") or valid.row.kind
            self._show(Change(kind, what, title_of(valid), ", ".join(differing)))
            if isinstance(valid.content, EntityGiven) and valid.content.tools is not None:
                for change in self._tools(valid.content, valid.content.tools, result, report):
                    self._show(change)

    def _tools(
        self, server: EntityGiven, tools: Sequence[ItemContent], result: dict[str, Any], report: ImportReport
    ) -> Iterator[Change]:
        """Yield what would become of a server's tools: those that it comes with are its only ones."""
        for start in range(0, len(tools), TOOLS_OF_A_CALL):
            some = tools[start : start + TOOLS_OF_A_CALL]
            for one in self.put("items", [_value(tool) for tool in some])["results"]:
                tool = some[one["index"]]
                if one["error"]:
                    report.problems.append(f"{title(tool.key)}: {one['error']['field']}: {one['error']['message']}")
                    continue
                differing = differences(tool, self._catalogue) if one["status"] == "updated" else ()
                yield Change("items", one["status"], title(tool.key), ", ".join(differing))
        kept = {tool.key for tool in tools}
        stored = self._catalogue.items(server.content.tools_server)
        gone = [row for key, row in stored.items() if key.type == "tool" and key not in kept]
        own = [row for row in gone if row["org_id"] is not None]
        # Of an organisation's server the global tools stay.
        yield from map(removed, own if result["tools"]["removed"] == len(own) else gone)


def _value(tool: ItemContent) -> dict[str, Any]:
    fields = {name: getattr(tool, name) for name in ITEM_FIELDS}
    return {**tool.key._asdict(), **fields, "tags": list(tool.tags)}
