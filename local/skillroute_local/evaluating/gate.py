"""The gate of a build: a measure below a floor, or below what a former run had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from skillroute_local.errors import Misused
from skillroute_local.evaluating.scorecard import MEASURES

Means = Mapping[str, float | None]

# More of these is worse, so that a floor would fail the good ones.
_NO_FLOOR = {"empty", "refused"}
FLOORS = tuple(measure.name for measure in MEASURES if measure.name not in _NO_FLOOR)
_WATCHED = "recall@5"
_ROUNDING = 1e-9  # 0.80 - 0.79 is more than 0.01 in floating point


class Baseline(BaseModel):
    """The fields that are read of a former report."""

    requests: int
    measures: dict[str, float | None]


def read_floor(text: str) -> tuple[str, float]:
    """Read ``recall@5=0.80``. Raises `LocalError`."""
    name, _, value = text.partition("=")
    name = name.strip().lower()
    if name not in FLOORS:
        raise Misused(f"--fail-under {text}: there is no measure {name!r}; there are {', '.join(FLOORS)}")
    try:
        floor = float(value)
    except ValueError:
        floor = -1.0
    if not 0.0 <= floor <= 1.0:
        raise Misused(f"--fail-under {text}: give a number from 0 to 1, such as {name}=0.80")
    return name, floor


def read_baseline(path: Path) -> Baseline:
    """Read what a former run wrote with --output. Raises `LocalError`."""
    try:
        baseline = Baseline.model_validate_json(path.read_bytes())
    except OSError as error:
        raise Misused(f"--baseline {path} cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        wrong = ": ".join(filter(None, [".".join(map(str, first["loc"])), first["msg"]]))
        raise Misused(f"--baseline {path} is not a report of `skillroute eval --output`: {wrong}") from None
    if baseline.measures.get(_WATCHED) is None:
        raise Misused(f"--baseline {path} has no {_WATCHED}: it measured no request that a tool serves")
    return baseline


def below_floors(means: Means, floors: Sequence[tuple[str, float]]) -> list[str]:
    """Return a line for each floor that is missed, and for each measure that no request of the file is about."""
    missed = []
    for name, floor in floors:
        mean = means[name]
        if mean is None:
            missed.append(f"{name} cannot be judged: {_LACKING[_ABOUT[name]]}")
        elif mean < floor - _ROUNDING:
            missed.append(f"{name} is {mean:.4f}, below {floor:g}")
    return missed


def below_baseline(means: Means, baseline: Baseline, tolerance: float) -> list[str]:
    """Return a line when recall@5 is lower than it was by more than `tolerance`."""
    before, now = baseline.measures[_WATCHED], means[_WATCHED]
    if before is None:
        return []
    if now is None:
        return [f"{_WATCHED} cannot be judged: {_LACKING[True]}"]
    if before - now <= tolerance + _ROUNDING:
        return []
    return [f"{_WATCHED} is {now:.4f}, {before - now:.4f} below the baseline's {before:.4f}; {tolerance:g} is allowed"]


_ABOUT = {measure.name: measure.of_answerable for measure in MEASURES}
_LACKING = {True: "no request is left that a tool serves", False: "the file has no request with empty needs"}
