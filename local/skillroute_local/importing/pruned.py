"""Items that an import switched off, since their source had them no longer: told from others, and brought back.

They are marked in their `metadata`, so that everybody sees why they are off, an export has it, and writing them from
their source again removes the mark. Nothing else of them changes: their skills, and who assigned them, stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from skillroute.catalogue.model import ItemContent, ItemKey
from skillroute.registry.schemas import EntityGiven

from skillroute_local.client import Client
from skillroute_local.errors import Refused
from skillroute_local.importing.check import Checked
from skillroute_local.importing.compare import ITEM_FIELDS, title
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.stored import MARK, Stored, all_pages, key_of_item, mark_of, own_last

_NOT_THEIRS = {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}


def pruned_at(mark: Mapping[str, Any]) -> datetime | None:
    """Return when an item was switched off; None where the mark does not say so in a way that can be read."""
    try:
        at = datetime.fromisoformat(mark["at"])
    except (KeyError, TypeError, ValueError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def switch_off(client: Client, item_id: int, at: datetime) -> None:
    """Mark an item and switch it off. Raises `LocalError`, also where somebody changes it at the same moment."""
    found = client.get("tools", str(item_id))
    row = found.value
    mark = {"at": at.isoformat(timespec="seconds"), "was_switched_off": row["is_switched_off"]}
    value = {name: row[name] for name in ITEM_FIELDS} | {"metadata": row["metadata"] | {MARK: mark}}
    written = client.replace_item(item_id, value, version=found.version)
    if not row["is_switched_off"]:
        client.switch_item(item_id, is_active=False, version=written.version)


@dataclass(frozen=True, slots=True)
class _Off:
    """An item that a `--prune` switched off."""

    id: int
    mark: Mapping[str, Any]
    is_global: bool


class Pruned:
    """The rows that `--prune` switches off, read once before the first write."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._off: dict[ItemKey, _Off] | None = None

    def bring_back(self, batch: Iterable[Checked], report: ImportReport) -> None:
        """Switch on those of the rows that are off, before they are written: their mark says so until then.

        One that cannot be switched on is written with its mark. Raises `LocalError`.
        """
        for valid in batch:
            for key, value in _items(valid):
                off = self._all(report).pop(key, None)
                if off is None or off.mark.get("was_switched_off") is True:
                    continue
                try:
                    self._client.switch_item(off.id, is_active=True)
                except Refused as error:
                    if error.status == HTTPStatus.CONFLICT or (
                        error.status == HTTPStatus.FORBIDDEN and not off.is_global
                    ):
                        report.problems.append(f"{title(key)} stays as a --prune switched it off: {error.detail}")
                        value["metadata"] = {**(value.get("metadata") or {}), MARK: off.mark}
                    # Of a global item that an organisation may not change, an item of its own is written.
                    elif error.status not in _NOT_THEIRS:
                        raise
                else:
                    report.counts["items"]["switched_on"] += 1

    def _all(self, report: ImportReport) -> dict[ItemKey, _Off]:
        if self._off is None:
            try:
                rows = own_last(all_pages(self._page))
            except Refused as error:
                if error.status != HTTPStatus.FORBIDDEN:  # who may write need not be allowed to read
                    raise
                report.notes.append(
                    "what a --prune switched off stays off, and loses its mark, where a source has it again: "
                    f"which items that are cannot be listed: {error.detail}"
                )
                rows = []
            marks = ((row, mark_of(row)) for row in rows)
            self._off = {
                key_of_item(row): _Off(row["id"], mark, row["org_id"] is None)
                for row, mark in marks
                if mark is not None
            }
        return self._off

    def _page(self, limit: int, offset: int) -> list[Stored]:
        return self._client.items(limit=limit, offset=offset, is_active="false")


def _items(valid: Checked) -> Iterator[tuple[ItemKey, dict[str, Any]]]:
    """Yield the items that writing a row writes, and where it has them: itself, or the tools a server comes with."""
    value = valid.row.value
    if isinstance(valid.content, ItemContent):
        yield valid.content.key, value
    elif isinstance(valid.content, EntityGiven) and valid.content.tools:
        yield from zip((tool.key for tool in valid.content.tools), _tools_in(value), strict=True)


def _tools_in(server: Any) -> list[dict[str, Any]]:
    """Return the tools as a row has them: at its top, or in what a registry lists or the API answers."""
    while not isinstance(server.get("tools"), list):
        server = server.get("server_json") or server["server"]
    tools: list[dict[str, Any]] = server["tools"]
    return tools
