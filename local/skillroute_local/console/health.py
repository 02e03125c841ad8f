"""The page Health: what is wrong and what helps, of all parts, of work that waits or was given up, of the machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from skillroute.core.queue.work import queue_named
from skillroute_client import AsyncSkillroute

from skillroute_local.console.actions import Actions
from skillroute_local.console.events import Event, Tell, from_thread
from skillroute_local.console.health_system import read_system
from skillroute_local.console.health_work import (
    Chosen,
    LeadsNowhere,
    QueueName,
    dead_letters,
    drop,
    read_queues,
    read_work,
    redrive,
)
from skillroute_local.console.lent_parts import LendParts, with_parts
from skillroute_local.standing import index_in_words, index_state, part_state

_RULES = {
    "the index": "Run `skillroute reindex`: the index is built anew from the database, and searches go on.",
    "every item": "No search finds it: write the tool again with `PUT /api/v1/tools`, or import it again.",
    "a document": "Run `skillroute reindex`: it projects all documents again.",
}
_OTHER_RULE = "Run `skillroute reindex`, which derives everything again, then check once more."


def health_actions(lend: LendParts | None, home: Path | None) -> Actions:
    """Return the actions of the page; without parts nothing is known of queues, without a home nothing of disks."""
    actions = Actions("health")

    @actions.action
    async def state(client: AsyncSkillroute) -> dict[str, Any]:
        """Return what `GET /ready` answers, a 503 too, with states and what helps."""
        return _with_states((await client.ready()).model_dump(mode="json"))

    @actions.action
    async def verify(client: AsyncSkillroute) -> dict[str, Any]:
        """Return what does not agree of all that is stored and searched, with what helps."""
        found = (await client.verify()).model_dump(mode="json")
        for finding in found["findings"]:
            helps = (text for begin, text in _RULES.items() if finding["rule"].startswith(begin))
            finding["help"] = next(helps, _OTHER_RULE)
        return found

    @actions.action
    async def queues(client: AsyncSkillroute) -> dict[str, Any] | None:
        """Return how much waits in each queue and how it stands; None where queues cannot be read."""
        return None if lend is None else await with_parts(lend, read_queues)

    @actions.action
    async def work(client: AsyncSkillroute) -> dict[str, Any] | None:
        """Return that with what was given up and which texts were refused; it looks through dead-letter queues."""
        return None if lend is None else await with_parts(lend, read_work)

    @actions.action
    async def system(client: AsyncSkillroute) -> dict[str, Any]:
        """Return models, migrations, versions, the index and disks, as far as they can be read from here."""
        return await read_system(client, lend, home)

    if lend is not None:
        _add_changes(actions, lend)
    return actions


def _add_changes(actions: Actions, lend: LendParts) -> None:
    @actions.action
    async def redrive_all(client: AsyncSkillroute, queue: QueueName) -> list[str]:
        """Try all given-up work of a queue again; return the keys of what was."""
        return await with_parts(lend, lambda parts: dead_letters(parts).redrive(queue_named(queue)))

    @actions.action
    async def redrive_chosen(client: AsyncSkillroute, chosen: list[Chosen]) -> AsyncIterator[Event]:
        """Try chosen work again: yield how far it is, and at last how much was and what was left, with the reason."""

        def run(tell: Tell) -> Event:
            with lend() as parts:
                return redrive(parts, chosen, tell)

        async with aclosing(from_thread(run)) as found:
            async for event in found:
                yield event

    @actions.action
    async def drop_chosen(client: AsyncSkillroute, chosen: list[LeadsNowhere]) -> int:
        """Delete messages for which nothing is left to do; return how many were."""
        return await with_parts(lend, lambda parts: drop(parts, chosen))

    @actions.action
    async def retry(client: AsyncSkillroute) -> list[str]:
        """Have the embedding model asked once more for all texts that it refused; return their keys."""
        from skillroute.core.documents.refused import RefusedTexts  # noqa: PLC0415

        return await with_parts(lend, lambda parts: RefusedTexts(parts.database).retry())


def _with_states(health: dict[str, Any]) -> dict[str, Any]:
    parts = {name: part_state(name, is_ok=part["ok"]) for name, part in health["dependencies"].items()}
    findings = [
        {"at": "parts", "kind": state.kind, "what": f"{name.replace('_', ' ')}: {state.word}", "help": state.help}
        for name, state in parts.items()
        if state.kind != "ok"
    ]
    index = index_state(health)
    if index.kind == "so":
        findings.append({"at": "index", "kind": index.kind, "what": f"index: {index.word}", "help": index.help})
    words = dict(index_in_words(health))
    return health | {
        "parts": {name: asdict(state) for name, state in parts.items()},
        "index": asdict(index) | {"words": words["index"] or words["rebuilding"]},
        "findings": findings,
    }
