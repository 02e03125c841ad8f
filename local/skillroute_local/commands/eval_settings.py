"""Settings of `skillroute eval`, and the floors below which it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from skillroute_local.commands import eval_options as options
from skillroute_local.commands.shared import err
from skillroute_local.errors import Misused

if TYPE_CHECKING:
    from skillroute_local.evaluating.scorecard import Fields, Scorecard

WARM_UP = "warm up"
"""The query of a search that is not measured."""


def settings_of(fields: Fields, numbers: Mapping[str, float | None], changes: Sequence[str]) -> list[Fields]:
    """Return the fields of a search with the numbers that are given, and those of --compare. Raises `Misused`."""
    fields = dict(fields) | {name: value for name, value in numbers.items() if value is not None}
    changed = _changed(fields, changes)
    return [fields, changed] if changes else [fields]


def _changed(fields: Fields, changes: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a search with the changes of --compare. Raises `LocalError` where a field cannot be so."""
    from skillroute_local.evaluating.scorecard import search_request  # noqa: PLC0415

    changed = dict(fields)
    for change in changes:
        name, separator, value = change.partition("=")
        field = options.COMPARABLE.get(name.strip().replace("-", "_"))
        if field is None or not separator:
            raise Misused(f"--compare {change}: give one of {', '.join(options.COMPARABLE)}, such as mode=hybrid")
        changed[field] = _value(value.strip())
    for request in (fields, changed):
        try:
            search_request(WARM_UP, request)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise Misused(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return changed


def _value(text: str) -> str | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def gate_of(floors: Sequence[str], baseline: Path | None, tolerance: float) -> Callable[[Scorecard], list[str]]:
    """Return what says of a scorecard why it is not good enough. Files and numbers are read now."""
    from skillroute_local.evaluating.gate import (  # noqa: PLC0415
        below_baseline,
        below_floors,
        read_baseline,
        read_floor,
    )

    wanted = [read_floor(floor) for floor in floors]
    before = read_baseline(baseline) if baseline else None

    def judge(card: Scorecard) -> list[str]:
        failed = below_floors(card.means(), wanted)
        if before is None:
            return failed
        if before.requests != len(card.answers):
            err.print(
                f"the baseline measured {before.requests} requests, this run {len(card.answers)}", highlight=False
            )
        return failed + below_baseline(card.means(), before, tolerance)

    return judge
