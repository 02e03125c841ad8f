"""Items that an import switched off, since their source had them no longer: told from others, and brought back.

They are marked in their `metadata`, so that everybody sees why they are off, an export has it, and writing them from
their source again removes the mark. Nothing else of them changes: their skills, and who assigned them, stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
from skillroute_local.importing.stored import MARK, Stored, all_pages, key_of_item, mark_of

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


class Pruned:
    """What is switched off by a `--prune`, asked for once: before the first row is written."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._off: dict[ItemKey, tuple[int, Mapping[str, Any]]] | None = None

    def bring_back(self, batch: Iterable[Checked], report: ImportReport) -> None:
        """Switch on those of the rows that are off, before they are written: their mark says so until then.

        Raises `LocalError`.
        """
        for valid in batch:
            for key in _keys(valid):
                item_id, mark = self._all().pop(key, (0, {}))
                if not item_id or mark.get("was_switched_off") is True:
                    continue
                try:
                    self._client.switch_item(item_id, is_active=True)
                except Refused as error:
                    if error.status == HTTPStatus.CONFLICT:
                        report.problems.append(f"{title(key)} stays as a --prune switched it off: {error.detail}")
                        _keep_mark(valid, mark)
                    elif error.status not in _NOT_THEIRS:
                        raise
                else:
                    report.counts["items"]["switched_on"] += 1

    def _all(self) -> dict[ItemKey, tuple[int, Mapping[str, Any]]]:
        if self._off is None:
            try:
                rows = list(all_pages(self._page))
            except Refused as error:
                if error.status != HTTPStatus.FORBIDDEN:  # who may write need not be allowed to read
                    raise
                rows = []
            marks = ((row, mark_of(row)) for row in rows)
            self._off = {key_of_item(row): (row["id"], mark) for row, mark in marks if mark is not None}
        return self._off

    def _page(self, limit: int, offset: int) -> list[Stored]:
        return self._client.items(limit=limit, offset=offset, is_active="false")


def _keep_mark(valid: Checked, mark: Mapping[str, Any]) -> None:
    """Write an item with its mark, so that another import switches it on."""
    value = valid.row.value
    if isinstance(valid.content, ItemContent):
        value["metadata"] = {**(value.get("metadata") or {}), MARK: mark}


def _keys(valid: Checked) -> Iterator[ItemKey]:
    """Yield the items that writing a row writes: itself, or the tools that a server comes with."""
    if isinstance(valid.content, ItemContent):
        yield valid.content.key
    elif isinstance(valid.content, EntityGiven):
        yield from (tool.key for tool in valid.content.tools or ())
