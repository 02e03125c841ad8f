"""Rows become calls: as many in one as it may hold, and the outcome of each noted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from skillroute_local.client import Client
from skillroute_local.importing.check import Checked
from skillroute_local.importing.model import Row
from skillroute_local.importing.report import ImportReport

BATCH = 100
"""Items of one call: some 300 ms of embedding, so that the progress bar moves. A server's tools count as well."""

_MAX_BATCH_BYTES = {"items": 4 * 1024 * 1024, "servers": 4 * 1024 * 1024, "agents": 4 * 1024 * 1024}
_MAX_MAIL_BYTES = 512 * 1024
"""Of a call: half of what the routes take, since JSON may write a character in more bytes than the file."""


def send(client: Client, rows: Iterable[Checked], report: ImportReport, progress: Callable[[int], None]) -> int | None:
    """Send rows, batch by batch. One that is wrong never spoils the others.

    Parameters
    ----------
    report : ImportReport
        Added to.
    progress : callable
        Called with how many bytes each batch had.

    Returns
    -------
    int or None
        The id of an item that is stored, None where there is none.
    """
    stored: int | None = None
    for batch in _batches(valid.row for valid in rows):
        kind = batch[0].kind
        lost = client.lost_answers
        answer = client.put(kind, [row.value for row in batch])
        if client.lost_answers > lost:
            report.notes.append(
                f"{batch[0].where}: the connection broke, and {len(batch)} rows were sent again: what had been written "
                "of them counts as unchanged"
            )
        report.waiting_for_model |= "embedding_unavailable" in answer["degraded"]
        for result in answer["results"]:
            report.counts[result.get("kind") or kind][result["status"]] += 1
            report.tools.update(result.get("tools") or {})
            where = batch[result["index"]].where
            if error := result["error"]:
                report.problems.append(f"{where}: {error['field']}: {error['message']}")
            elif kind == "items":
                stored = result["id"]
            report.warnings += [f"{where}: {each['field']}: {each['message']}" for each in result.get("warnings", ())]
            if refusal := result.get("refusal"):
                report.refused.append(f"{where}: {refusal}")
        progress(sum(row.size for row in batch))
    return stored


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield rows of one kind, as many as a call of it may hold."""
    batch: list[Row] = []
    items = size = 0
    for row in rows:
        weight = _items_in(row)
        most = _MAX_BATCH_BYTES.get(row.kind, _MAX_MAIL_BYTES)
        if batch and (items + weight > BATCH or size + row.size > most or row.kind != batch[0].kind):
            yield batch
            batch, items, size = [], 0, 0
        batch.append(row)
        items += weight
        size += row.size
    if batch:
        yield batch


def _items_in(row: Row) -> int:
    """Return how many texts are embedded for it: its own, and those of a server's tools."""
    tools = row.value.get("tools")
    return 1 + (len(tools) if isinstance(tools, list) else 0)
