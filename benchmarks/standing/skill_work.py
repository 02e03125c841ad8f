"""Work behind the queues: aggregating skills, classifying tools, and publishing the outbox."""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from skillroute.core.caller import LAPTOP
from skillroute.core.queue.memory import MemoryQueue
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.settings import LocalSettings
from skillroute.skills.model import skill_key
from skillroute.skills.queues import CLASSIFY
from skillroute.wiring import Parts
from skillroute_local.queue_server import QueueServer, ensure_queues, queue_environment
from skillroute_local.supervisor import Pump

from benchmarks.corpora.judged import load
from benchmarks.corpora.skill_corpus import SkillCorpus
from benchmarks.harness import ROOT, child_environment, fresh_database, progress

_BATCH = 10  # messages that Lambda and the pump hand over at once
_DONE_WITHIN_S = 300.0
# A skill's first tool is surer than before, or less sure again, so that its mean is another one.
_TOUCH = """
UPDATE mcp.tool_skill_assignments SET confidence = CASE WHEN confidence < 0.85 THEN 0.9 ELSE 0.8 END
WHERE id IN (SELECT min(id) FROM mcp.tool_skill_assignments GROUP BY skill_key)
"""
# As if no tool had ever been classified, and each had just got its message.
_UNCLASSIFY = """
DELETE FROM mcp.tool_skill_assignments; DELETE FROM mcp.tool_classifications; DELETE FROM mcp.skill_suggestions;
UPDATE mcp.skill_categories SET is_active = false, deleted_at = now()
 WHERE id NOT LIKE 'given\\_%' AND deleted_at IS NULL;
DELETE FROM mcp.outbox; SELECT mcp.enqueue('classify', array_agg(id::text)) FROM mcp.tools;
"""
_PUBLISHED = "UPDATE mcp.outbox SET published_at = now()"
_UNPUBLISHED = "UPDATE mcp.outbox SET published_at = NULL"

Row = dict[str, Any]


def _script(parts: Parts, sql: str) -> None:
    parts.pool.transact(lambda connection: connection.script(sql))


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def aggregation(sizes: Sequence[int], rounds: int, seed: int) -> list[Row]:
    """Aggregate skills of each size, one after the other, each changed since the last time; all in one database."""
    rows = []
    with fresh_database() as url:
        parts = Parts(LocalSettings(database_url=url))
        corpus = SkillCorpus(parts, seed)
        skills = {size: corpus.add([size] * max(1, min(100, 10_000 // size))) for size in sizes}
        seconds: dict[int, list[float]] = {size: [] for size in sizes}
        with progress() as bar:
            task = bar.add_task("aggregating", total=rounds * len(sizes))
            for _ in range(rounds):
                _script(parts, _TOUCH)
                for size, ids in skills.items():
                    seconds[size].append(_timed(lambda ids=ids: _aggregate(parts, ids)) / len(ids))  # type: ignore[misc]
                    bar.advance(task)
        _script(parts, _TOUCH)
        for size, ids in skills.items():
            peak = _peak_mib(lambda ids=ids: _aggregate(parts, ids[:1]))  # type: ignore[misc]
            each_s = statistics.median(seconds[size])
            rows.append(
                {
                    "tools": size,
                    "skills": len(ids),
                    "updates/s": round(1.0 / each_s, 1),
                    "ms": round(each_s * 1000.0, 2),
                    "peak growth MiB": round(peak, 2),
                }
            )
        parts.close()
    return rows


def _aggregate(parts: Parts, ids: Sequence[str]) -> None:
    for id_ in ids:
        if not parts.aggregate_skill(skill_key(id_, None)):
            raise RuntimeError(f"{id_} did not change")


def _peak_mib(work: Callable[[], object]) -> float:
    """Return by how much Python's own memory grows at most; buffers of C libraries are not seen."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        work()
        return (tracemalloc.get_traced_memory()[1] - before) / 2**20
    finally:
        tracemalloc.stop()


@contextmanager
def _examples(**made: Any) -> Iterator[tuple[Parts, str]]:
    """Yield a database with the examples' tools and skills, unclassified."""
    judged = load("examples", ROOT)
    tools = list(judged.tools.values())
    with fresh_database() as url:
        parts = Parts(LocalSettings(database_url=url), **made)
        for skill in judged.skills:
            parts.skills.create(skill.model_copy(update={"id": f"given_{skill.id}"[:64]}), LAPTOP)
        parts.catalogue.sync(tools, LAPTOP)
        try:
            yield parts, url
        finally:
            parts.close()


def classification(rounds: int) -> list[Row]:
    """Classify the examples' tools in batches of ten, assignments, suggestions and outbox stored, queue in memory."""
    rates: list[float] = []
    first_s = 0.0
    with _examples(queue=MemoryQueue()) as (parts, _), progress() as bar:
        for number in bar.track(range(rounds + 1), description="classifying"):
            _script(parts, _UNCLASSIFY + _PUBLISHED)
            ids = _tool_ids(parts)
            batches = [ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH)]
            seconds = [_timed(lambda batch=batch: parts.classification.classify(batch)) for batch in batches]  # type: ignore[misc]
            if number == 0:
                first_s = seconds[0]  # embeds the skills' texts
            else:
                rates.append(len(ids) / sum(seconds))
    return [
        {
            "path": "service, batches of 10",
            "tools": len(ids),
            "tools/s": round(statistics.median(rates), 1),
            "first batch s": round(first_s, 3),
        }
    ]


def _tool_ids(parts: Parts) -> list[int]:
    keys = parts.database.read(lambda session: OutboxRepository(session).waiting(CLASSIFY, 10_000))
    return sorted(int(waiting.key) for waiting in keys)


@contextmanager
def _queues(url: str, **settings: Any) -> Iterator[tuple[Parts, dict[str, str]]]:
    """Yield parts that publish to moto, and the settings of a process that receives."""
    with QueueServer() as server:
        environment = queue_environment(server.url, ensure_queues(server.url))
        named = {name.removeprefix("SKILLROUTE_").lower(): value for name, value in environment.items()}
        parts = Parts(LocalSettings(database_url=url, **named, **settings))
        try:
            yield parts, environment
        finally:
            if parts.queue is not None:
                parts.queue.close()
            parts.close()


def through_queues(rounds: int) -> list[Row]:
    """Publish the examples' tools to moto and let the pump classify them, from the first message to the last row."""
    rates = []
    with _examples() as (_, url), _queues(url) as (parts, environment), progress() as bar:
        quiet = {"SKILLROUTE_LOG_LEVEL": "ERROR"}
        with Pump(child_environment(url) | environment | quiet, "--relay-every-s", "3600"):
            for _ in bar.track(range(rounds + 1), description="through queue and pump"):
                _script(parts, _UNCLASSIFY)
                count = len(_tool_ids(parts))
                rates.append(count / _timed(lambda: _publish_and_wait(parts)))
    # The first round waits for the pump to load.
    rate = round(statistics.median(rates[1:]), 1)
    return [{"path": "moto and pump", "tools": count, "tools/s": rate, "first batch s": ""}]


def _publish_and_wait(parts: Parts) -> None:
    parts.dispatch()
    deadline = time.monotonic() + _DONE_WITHIN_S
    while _tool_ids(parts):
        if time.monotonic() > deadline:
            raise RuntimeError("the pump does not end")
        time.sleep(0.02)


def dispatch(rows: int, rounds: int) -> list[Row]:
    """Publish so many rows of the outbox to moto, which runs in this process, as it does in the laptop's web server."""
    seconds = []
    with fresh_database() as url, _queues(url, org_in_flight=rows) as (parts, _), progress() as bar:
        keys = [str(number + 1) for number in range(rows)]
        parts.database.transact(lambda session: OutboxRepository(session).enqueue(CLASSIFY, keys))
        for number in bar.track(range(rounds + 1), description=f"publishing {rows} rows"):
            _script(parts, _UNPUBLISHED)
            started = time.perf_counter()
            published = parts.dispatch()
            if published != rows:
                raise RuntimeError(f"{published} of {rows} rows were published")
            if number:  # the first time connects
                seconds.append(time.perf_counter() - started)
    median_s = statistics.median(seconds)
    return [{"rows": rows, "rows/s": round(rows / median_s, 1), "seconds": round(median_s, 3)}]
