"""Rows become calls: as many in one as it may hold, and the outcome of each noted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from skillroute.agent_skills.schemas import AgentSkillGiven
from skillroute_client.resources.portable import LINES_OF_A_CALL

from skillroute_local.client import Client
from skillroute_local.importing.check import Checked
from skillroute_local.importing.pruned import Pruned
from skillroute_local.importing.report import ImportReport

if TYPE_CHECKING:
    from skillroute_local.importing.trial import Trial

BATCH = 256
"""Texts of one call: 1 to 2 s of embedding, so that the progress bar moves. A server's tools count as well."""

_MAX_THINGS = {"agent_skills": 100, "servers": 100, "agents": 100}
"""Of a call, as the routes take them."""

_MAX_BATCH_BYTES = dict.fromkeys(("items", "agent_skills", "servers", "agents"), 4 * 1024 * 1024)
_MAX_MAIL_BYTES = 512 * 1024
"""Of a call: half of what the routes take, since JSON may write a character in more bytes than the file."""


def send(
    client: Client,
    rows: Iterable[Checked],
    report: ImportReport,
    progress: Callable[[int], None],
    into: Trial | Pruned,
) -> int | None:
    """Send rows, batch by batch. One that is wrong never spoils the others.

    Parameters
    ----------
    report : ImportReport
        Added to.
    progress : callable
        Called with how many bytes each batch had.
    into : Trial or Pruned
        A trial tries them instead; else what of them was switched off is switched on.

    Returns
    -------
    int or None
        The id of an item that is stored, None where there is none.
    """
    stored: int | None = None
    for batch in _batches(rows):
        kind, values = batch[0].row.kind, [valid.row.value for valid in batch]
        lost = client.lost_answers
        if isinstance(into, Pruned):
            into.bring_back(batch, report)
            answer = client.put(kind, values)
        else:
            answer = into.put(kind, values)
        if client.lost_answers > lost and isinstance(into, Pruned):
            report.notes.append(
                f"{batch[0].row.where}: the connection broke, and {len(batch)} rows were sent again: what had been "
                "written of them counts as unchanged"
            )
        report.waiting_for_model |= "embedding_unavailable" in answer["degraded"]
        for result in answer["results"]:
            where = batch[result["index"]].row.where
            _note(result, result.get("kind") or kind, where, report)
            if kind == "items" and not result["error"]:
                stored = result["id"]
        if not isinstance(into, Pruned):
            into.note(batch, answer, report)
        progress(sum(valid.row.size for valid in batch))
    return stored


def _note(result: dict[str, Any], kind: str, where: str, report: ImportReport) -> None:
    """Note what became of a row."""
    report.counts[kind][result["status"]] += 1
    report.tools.update(result.get("tools") or {})
    if error := result["error"]:
        report.problems.append(f"{where}: {error['field']}: {error['message']}")
    report.warnings += [f"{where}: {each['field']}: {each['message']}" for each in result.get("warnings", ())]
    if refusal := result.get("refusal"):
        report.refused.append(f"{where}: {refusal}")


def _batches(rows: Iterable[Checked]) -> Iterator[list[Checked]]:
    """Yield rows of one kind, as many as a call of it may hold."""
    batch: list[Checked] = []
    texts = size = 0
    for valid in rows:
        row = valid.row
        weight = _texts_of(valid)
        most = _MAX_BATCH_BYTES.get(row.kind, _MAX_MAIL_BYTES)
        # Of more lines the client makes two calls, and a failure of the second hides what the first has done.
        many = LINES_OF_A_CALL if row.kind == "lines" else BATCH
        is_full = texts + weight > many or size + row.size > most or len(batch) >= _MAX_THINGS.get(row.kind, many)
        if batch and (is_full or row.kind != batch[0].row.kind):
            yield batch
            batch, texts, size = [], 0, 0
        batch.append(valid)
        texts += weight
        size += row.size
    if batch:
        yield batch


def _texts_of(valid: Checked) -> int:
    """Return how many texts are embedded for a row: its own, those of a server's tools, the pieces of a skill."""
    if isinstance(valid.content, AgentSkillGiven):
        return len(valid.content.pieces)
    tools = valid.row.value.get("tools")
    return 1 + (len(tools) if isinstance(tools, list) else 0)
