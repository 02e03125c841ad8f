"""`skillroute import`: files of tools, servers and agents, and of agent mail, over HTTP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillroute_local.client import Client, Written
from skillroute_local.documents import Problem, Row, read_lines, read_objects

BATCH = 100
"""Items of one call: some 300 ms of embedding, so that the progress bar moves. A server's tools count as well."""

_MAX_BATCH_BYTES = {"items": 4 * 1024 * 1024, "servers": 4 * 1024 * 1024, "agents": 4 * 1024 * 1024}
_MAX_MAIL_BYTES = 512 * 1024
"""Of a call: half of what the routes take, since JSON may write a character in more bytes than the file."""


@dataclass(slots=True)
class ImportReport:
    """The outcome of all files' objects.

    Attributes
    ----------
    counts : counter
        How many were created, updated, unchanged and failed.
    tools : counter
        The same of the tools that servers came with; `removed` are those that these no longer have, `refused` those
        whose texts the embedding model does not take.
    problems : list of str
        Names each that was not stored.
    refused : list of str
        Names each that was stored and whose text the embedding model does not take.
    """

    counts: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    waiting_for_model: bool = False

    def fail(self, problem: str) -> None:
        """Note something that could not even be read."""
        self.counts["failed"] += 1
        self.problems.append(problem)


def import_file(
    client: Client, kind: Written, path: Path, report: ImportReport, progress: Callable[[int], None]
) -> None:
    """Send a file's objects, batch by batch. One that is wrong never spoils the others.

    Parameters
    ----------
    report : ImportReport
        Added to.
    progress : callable
        Called with how many bytes of the file each batch had.
    """
    max_bytes = _MAX_BATCH_BYTES.get(kind, _MAX_MAIL_BYTES)
    for batch in _batches(_rows(kind, path, report.fail), max_bytes):
        answer = client.put(kind, [row.value for row in batch])
        report.waiting_for_model |= "embedding_unavailable" in answer["degraded"]
        for result in answer["results"]:
            report.counts[result["status"]] += 1
            report.tools.update(result.get("tools") or {})
            where = batch[result["index"]].where
            if error := result["error"]:
                report.problems.append(f"{where}: {error['field']}: {error['message']}")
            if refusal := result.get("refusal"):
                report.refused.append(f"{where}: {refusal}")
        progress(sum(row.size for row in batch))


def to_item(row: dict[str, Any]) -> dict[str, Any]:
    """Turn a row of a catalogue file into an item.

    `category` becomes a tag; what the API does not know (`id`, `server_description`, ...) is kept as metadata by it.
    """
    item = dict(row)
    if category := item.pop("category", None):
        item["tags"] = [*item.get("tags", []), str(category)]
    return item


def _rows(kind: Written, path: Path, problem: Problem) -> Iterator[Row]:
    if kind == "items":
        return (Row(row.where, to_item(row.value), row.size) for row in read_lines(path, problem))
    return read_objects(path, "agents" if kind == "mail_agents" else kind, problem)


def _batches(rows: Iterator[Row], max_bytes: int) -> Iterator[list[Row]]:
    batch: list[Row] = []
    items = size = 0
    for row in rows:
        weight = _items_in(row)
        if batch and (items + weight > BATCH or size + row.size > max_bytes):
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
