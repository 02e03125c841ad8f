"""`skillroute import`: files of tools, one JSON object a line, into a catalogue over HTTP."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skillroute_local.client import Client

BATCH = 100
"""Items of one call: some 300 ms of embedding, so that the progress bar moves."""

_MAX_BATCH_BYTES = 4 * 1024 * 1024


@dataclass(slots=True)
class ImportReport:
    """What became of the lines; `problems` names each that was not stored."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    waiting_for_model: bool = False


def import_file(client: Client, path: Path, progress: Callable[[int], None]) -> ImportReport:
    """Send a file's items, batch by batch. A line that is wrong never spoils the others.

    Parameters
    ----------
    progress : callable
        Told how many bytes of the file each batch had.
    """
    report = ImportReport()
    for batch in _batches(path, report):
        answer = client.put_items([item for _, item, _ in batch])
        report.waiting_for_model |= bool(answer["degraded"])
        for result in answer["results"]:
            report.counts[result["status"]] += 1
            if result["error"]:
                line, _, _ = batch[result["index"]]
                report.problems.append(f"{path.name}:{line}: {result['error']['field']}: {result['error']['message']}")
        progress(sum(size for _, _, size in batch))
    return report


def to_item(row: dict[str, Any]) -> dict[str, Any]:
    """Turn a row of a catalogue file into an item.

    `category` becomes a tag; what the API does not know (`id`, `server_description`, ...) is kept as metadata by it.
    """
    item = dict(row)
    if category := item.pop("category", None):
        item["tags"] = [*item.get("tags", []), str(category)]
    return item


def _batches(path: Path, report: ImportReport) -> Iterator[list[tuple[int, dict[str, Any], int]]]:
    batch: list[tuple[int, dict[str, Any], int]] = []
    size = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise ValueError("not a JSON object")
            except (ValueError, RecursionError) as error:
                report.counts["failed"] += 1
                report.problems.append(f"{path.name}:{number}: {error}")
                continue
            if batch and (len(batch) == BATCH or size + len(line) > _MAX_BATCH_BYTES):
                yield batch
                batch, size = [], 0
            batch.append((number, to_item(row), len(line)))
            size += len(line)
    if batch:
        yield batch
