"""Decisions on many suggestions in one call, each with its result: groups of one name, or what a file says."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from skillroute.core.errors.model import SkillrouteError

from skillroute_local.commands.failures import as_object
from skillroute_local.commands.output import counted
from skillroute_local.commands.several import Results, show_results
from skillroute_local.commands.shared import AsJson, SignRegion, Token, Url, client_for
from skillroute_local.errors import Misused

if TYPE_CHECKING:
    from skillroute_local.client import Client

DECISIONS_OF_A_CALL = 100

Decision = dict[str, Any]
"""A decision as the API takes it: `action`, `name` or `ids`, and what belongs to the action."""


def review(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Decisions: JSON Lines, or a JSON array; - reads standard input."),
    ],
    url: Url = None,
    token: Token = None,
    sign_region: SignRegion = None,
    as_json: AsJson = False,
) -> None:
    """Carry out many decisions, each on its own: {"action": "approve", "name": "Video"} for all of a name.

    "action" is approve, reject or merge; "name" or "ids" say of which suggestions. Approving takes a "skill" whose
    fields are to be otherwise, merging needs a "skill_id", rejecting may have a "reason".
    """
    with client_for(url, token, sign_region) as client:
        show_decided(decide(client, _read(file)), as_json=as_json)


def decide(client: Client, decisions: Sequence[Decision]) -> Results:
    """Carry out decisions, and return what came of each and of the suggestions that could not be decided on.

    Raises
    ------
    SkillrouteError
        Nothing was decided. Where something was, what fails then is the result of the decisions that are left.
    """
    results = Results()
    for start in range(0, len(decisions), DECISIONS_OF_A_CALL):
        some = decisions[start : start + DECISIONS_OF_A_CALL]
        try:
            answers = client.review(some)
        except SkillrouteError as error:
            if start == 0:
                raise
            results.failed += [
                {"id": _label(number, decision)} | as_object(error)
                for number, decision in enumerate(decisions[start:], start + 1)
            ]
            break
        for number, (decision, answer) in enumerate(zip(some, answers, strict=True), start + 1):
            _add(results, _label(number, decision), answer)
    return results


def show_decided(results: Results, *, as_json: bool) -> None:
    """Show what came of decisions, and end the command. Raises `typer.Exit` where anything failed."""
    show_results(results, _described, as_json=as_json)


def _add(results: Results, label: str, answer: dict[str, Any]) -> None:
    if answer["status"] != "failed":
        results.done.append(
            {
                "id": label,
                "name": answer["name"],
                "status": answer["status"],
                "skill_id": answer["skill"]["id"] if answer["skill"] else None,
                "decided": answer["decided"],
                "also_resolved": answer["also_resolved"],
            }
        )
    if answer["error"]:
        results.failed.append({"id": label} | answer["error"])
    results.failed += [{"id": str(one["id"])} | one["error"] for one in answer["suggestions"] if one["error"]]


def _described(done: dict[str, Any]) -> str:
    skill = f": skill {done['skill_id']}" if done["skill_id"] else ""
    others = f", and {counted(done['also_resolved'], 'other')} of the name" if done["also_resolved"] else ""
    return f"{done['id']} {done['status']}{skill}, {counted(done['decided'], 'suggestion')}{others}"


def _label(number: int, decision: Decision) -> str:
    """Return how results call a decision: by its name, else by its ids, else by its place, from 1."""
    ids = decision.get("ids")
    by_ids = ",".join(map(str, ids)) if isinstance(ids, list) else ""
    return str(decision.get("name") or by_ids or f"decision {number}")


def _read(file: str) -> list[Decision]:
    """Return the decisions of a file. Raises `Misused` where there are none, or something else."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Misused(f"{file} cannot be read ({error})") from error
    place = "standard input" if file == "-" else file
    decisions = list(_parsed(text, place))
    if not decisions:
        raise Misused(f'{place} has no decisions: write some, one a line, such as {{"action": "reject", "ids": [7]}}')
    for number, decision in enumerate(decisions, 1):
        if not isinstance(decision, dict):
            raise Misused(f"{place}: decision {number} is not a JSON object")
    return decisions


def _parsed(text: str, place: str) -> Iterator[Any]:
    try:
        value = json.loads(text)
    except ValueError:
        yield from _lines(text, place)
        return
    if isinstance(value, dict) and "decisions" in value:
        value = value["decisions"]
    yield from value if isinstance(value, list) else [value]


def _lines(text: str, place: str) -> Iterator[Any]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except ValueError as error:
            raise Misused(f"{place}:{number} is not JSON, and nothing was decided: {error}") from error
