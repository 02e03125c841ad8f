"""The part of Health about queues: what waits, what was given up and why, and trying it again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel
from skillroute.core.errors.model import SkillrouteError
from skillroute.core.queue.work import queue_named, queues

from skillroute_local.console.problems import words_of
from skillroute_local.queue_counts import counts_of, messages_in, work_in
from skillroute_local.standing import failed_state, queue_state

if TYPE_CHECKING:
    from skillroute.core.queue.dead_letters import DeadLetters, GivenUp
    from skillroute.wiring import Parts

    from skillroute_local.console.events import Event, Tell

SHOWN = 200
_AT_ONCE = 50
"""Keys of one call: a page of many is shown how far it is, and each call looks through a whole dead-letter queue."""


def _known(queue: str) -> str:
    if queue not in queues():
        raise ValueError(f"must be {' or '.join(queues())}")
    return queue


QueueName = Annotated[str, AfterValidator(_known)]


class Chosen(BaseModel):
    """A piece of given-up work."""

    queue: QueueName
    key: str


def _failed(queue: dict[str, Any]) -> dict[str, Any]:
    """Return whether work was given up; the reasons are on the page, where the command line has a command for them."""
    state = asdict(failed_state(queue))
    helps = state["help"] and state["help"].replace("the reasons (`skillroute dlq list`)", "the reasons below")
    return state | {"help": helps}


class LeadsNowhere(BaseModel):
    """A message of a dead-letter queue for which nothing is left to do."""

    queue: QueueName
    message_id: str


def read_queues(parts: Parts) -> dict[str, Any]:
    """Return the counts and states of all queues, how many texts were refused, and what is wrong."""
    from skillroute.core.documents.refused import RefusedTexts  # noqa: PLC0415 (loaded by who opens the page)

    counts = counts_of(work_in(parts.database), messages_in(parts.queue) if parts.queue else None)
    shown = [queue | {"state": asdict(queue_state(queue)), "failed": _failed(queue)} for queue in counts]
    refused = RefusedTexts(parts.database).count()
    return {"queues": shown, "refused_in_all": refused, "findings": list(_findings(shown, refused))}


def read_work(parts: Parts) -> dict[str, Any]:
    """Return what was given up, the most frequent reason first, and which texts were refused, with all counts."""
    from skillroute.core.documents.refused import RefusedTexts  # noqa: PLC0415

    letters = dead_letters(parts)
    works = [
        asdict(given_up) | {"since": given_up.since.isoformat() if given_up.since else None}
        for queue in queues()
        for given_up in sorted(letters.given_up(queue, limit=SHOWN), key=_by_age_and_name)
    ]
    refused = RefusedTexts(parts.database).listed(limit=SHOWN)
    return read_queues(parts) | {
        "given_up": works,
        "reasons": [
            {"reason": reason, "count": count} for reason, count in Counter(w["reason"] for w in works).most_common()
        ],
        "refused": [asdict(text) | {"collection": text.collection.short} for text in refused],
    }


def redrive(parts: Parts, chosen: Sequence[Chosen], tell: Tell) -> Event:
    """Try chosen work again, and tell how far it is; return what was, and why the rest was not."""
    keys: dict[str, list[str]] = defaultdict(list)
    for one in chosen:
        keys[one.queue].append(one.key)
    again, left, done = 0, [], 0
    for queue, of_queue in keys.items():
        for start in range(0, len(of_queue), _AT_ONCE):
            page = of_queue[start : start + _AT_ONCE]
            try:
                tried = set(dead_letters(parts).redrive(queue_named(queue), page))
                why = "it is not given up any more: it was done, tried again, or is not wanted"
            except SkillrouteError as error:
                tried, why = set(), words_of(error)
            again += len(tried.intersection(page))
            left += [{"queue": queue, "key": key, "why": why} for key in page if key not in tried]
            done += len(page)
            tell({"done": done, "of": len(chosen)})
    return {"again": again, "left": left}


def drop(parts: Parts, chosen: Sequence[LeadsNowhere]) -> int:
    """Delete messages that lead nowhere, and return how many; what can be tried again by now stays."""
    of_queue: dict[str, set[str]] = defaultdict(set)
    for one in chosen:
        of_queue[one.queue].add(one.message_id)
    letters = dead_letters(parts)
    return sum(len(letters.drop(queue_named(queue), ids)) for queue, ids in of_queue.items())


def dead_letters(parts: Parts) -> DeadLetters:
    """Return the work that was given up."""
    from skillroute.core.queue.dead_letters import DeadLetters  # noqa: PLC0415

    return DeadLetters(parts.database, parts.queue, parts.dispatch)


def _by_age_and_name(work: GivenUp) -> tuple[str, str]:
    return (work.since.isoformat() if work.since else "", work.tool_name or work.key or "")


def _findings(shown: Sequence[dict[str, Any]], refused: int) -> Iterator[dict[str, str]]:
    for queue in shown:
        for at, state in (("queues", queue["state"]), ("failed", queue["failed"])):
            if state["kind"] in {"no", "so"}:
                yield {"at": at, "kind": state["kind"], "what": f"{queue['queue']}: {state['word']}"} | {
                    "help": state["help"]
                }
    if refused:
        yield {
            "at": "refused",
            "kind": "so",
            "what": f"{refused:,} texts refused by the embedding model" if refused > 1 else "one text refused",
            "help": "Searches find them by words only: change the texts, or ask the model once more.",
        }
