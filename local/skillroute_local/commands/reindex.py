"""`skillroute reindex`: all vectors of the configured model, and new indexes."""

from __future__ import annotations

from skillroute.core.documents.collection import counted_as

from skillroute_local.commands.output import print_line
from skillroute_local.commands.shared import AsJson, listed, parts_here, print_json, progress_bar


def reindex(as_json: AsJson = False) -> None:
    """Embed what is not of the configured model, and make every index rebuild. An interrupted run can be repeated.

    Where PostgreSQL is searched, what it lacks is filled first.
    """
    from skillroute.wiring.filling import fill, left_to_fill  # noqa: PLC0415

    with parts_here(queues=False) as parts:
        remaining, left = parts.reindex.remaining(), left_to_fill(parts)
        with progress_bar("{task.completed}/{task.total}") as progress:
            if left:
                filling = progress.add_task("filling", total=left)
                fill(parts, lambda documents: progress.advance(filling, documents))
            task = progress.add_task("embedding", total=remaining)
            report = parts.reindex(lambda rows: progress.advance(task, rows))
            fill(parts)  # what it searches by, of vectors that are there only now
    if as_json:
        print_json({"embedded": {each.field: report.embedded[name] for name, each in counted_as().items()}})
        return
    embedded = listed([f"{report.embedded[collection]} {each.words}" for collection, each in counted_as().items()])
    print_line(f"embedded {embedded}; every index rebuilds now")
