"""The page Health: how the parts stand, whether all that is stored agrees, and work that waits or was given up."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator
from skillroute.core.queue.work import queue_named, queues
from skillroute_client import AsyncSkillroute

from skillroute_local.console.actions import Actions
from skillroute_local.console.lent_parts import LendParts, with_parts

if TYPE_CHECKING:
    from skillroute.core.queue.dead_letters import DeadLetters
    from skillroute.wiring import Parts

_SHOWN = 100


def _known(queue: str) -> str:
    if queue not in queues():
        raise ValueError(f"must be {' or '.join(queues())}")
    return queue


QueueName = Annotated[str, AfterValidator(_known)]


def health_actions(lend: LendParts | None) -> Actions:
    """Return the actions of the page; without parts nothing is known of queues."""
    actions = Actions("health")

    @actions.action
    async def state(client: AsyncSkillroute) -> dict[str, Any]:
        """Return what `GET /ready` answers, a 503 too: it says which part is away."""
        return (await client.ready()).model_dump(mode="json")

    @actions.action
    async def verify(client: AsyncSkillroute) -> dict[str, Any]:
        """Return what does not agree of all that is stored and searched."""
        return (await client.verify()).model_dump(mode="json")

    @actions.action
    async def work(client: AsyncSkillroute) -> dict[str, Any] | None:
        """Return how much waits, what was given up and which texts were refused; None where they cannot be read."""
        return None if lend is None else await with_parts(lend, _work)

    if lend is None:
        return actions

    @actions.action
    async def redrive(client: AsyncSkillroute, queue: QueueName, keys: list[str] | None = None) -> list[str]:
        """Try given-up work of a queue again, all of it without `keys`; return the keys of what was."""
        return await with_parts(lend, lambda parts: _dead_letters(parts).redrive(queue_named(queue), keys))

    @actions.action
    async def retry(client: AsyncSkillroute) -> list[str]:
        """Have the embedding model asked once more for all texts that it refused; return their keys."""
        from skillroute.core.documents.refused import RefusedTexts  # noqa: PLC0415

        return await with_parts(lend, lambda parts: RefusedTexts(parts.database).retry())

    return actions


def _work(parts: Parts) -> dict[str, Any]:
    from skillroute.core.documents.refused import RefusedTexts  # noqa: PLC0415 (loaded by who opens the page)

    from skillroute_local.queue_counts import counts_of, messages_in, work_in  # noqa: PLC0415

    letters, refused = _dead_letters(parts), RefusedTexts(parts.database)
    return {
        "queues": counts_of(work_in(parts.database), messages_in(parts.queue) if parts.queue else None),
        "given_up": [
            asdict(given_up) | {"since": given_up.since.isoformat() if given_up.since else None}
            for queue in queues()
            for given_up in letters.given_up(queue, limit=_SHOWN)
        ],
        "refused": [asdict(text) | {"collection": text.collection.short} for text in refused.listed(limit=_SHOWN)],
        "refused_in_all": refused.count(),
    }


def _dead_letters(parts: Parts) -> DeadLetters:
    from skillroute.core.queue.dead_letters import DeadLetters  # noqa: PLC0415

    return DeadLetters(parts.database, parts.queue, parts.dispatch)
