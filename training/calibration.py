"""Fitting and judging confidences: logistic regression, reliability, and the measures of training/classification.py.

A `Trial` is a list of skills and the tools that belong to one of them. Each tool counts twice: with the whole list,
where it should get its skills, and with its own skills taken away, where it should get none. Both halves weigh the
same: how often a tool fits nothing is not known, so the constants are those of "every other time". A trial `as_it_is`
has tools that fit nothing, and each counts once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from skillroute.skills.classification.classifiers.similarity_model import CAUTION, JUDGES, confidences, leads
from skillroute.skills.classification.classifiers.similarity_model import Judge as Constants
from skillroute.skills.classification.classifiers.similarity_skills import FEATURES
from skillroute.skills.classification.model import MAX_CLASSIFIED_SKILLS, MIN_CONFIDENCE

Floats = NDArray[np.float64]
BINS = 10
_RIDGE = 1e-4


@dataclass(frozen=True, slots=True)
class Trial:
    """What was measured between some tools and a list of skills.

    Attributes
    ----------
    variant : str
        What the skills have: ``description``, ``all``, ...
    features : float64 [tools, skills, features]
    belongs : float64 [tools, skills]
        How surely people say it belongs, 0 where it does not; the highest of a row is the primary skill.
    as_it_is : bool
        No skills are taken away.
    """

    variant: str
    features: Floats
    belongs: Floats
    as_it_is: bool = False

    def closed(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield each tool that fits with the whole list: features [skills, features], belongs [skills]."""
        yield from (pair for pair in zip(self.features, self.belongs, strict=True) if pair[1].any())

    def opened(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield each tool with its own skills taken away, where any remain; those that never fitted, with all."""
        for features, belongs in zip(self.features, self.belongs, strict=True):
            if self.as_it_is and belongs.any():
                continue
            if (rest := belongs == 0.0).any():
                yield features[rest], belongs[rest]


@dataclass(frozen=True, slots=True)
class Model:
    """The constants of the judges, 0 for features that are not used."""

    judges: Sequence[Constants] = JUDGES
    caution: float = CAUTION

    def __call__(self, features: Floats) -> Floats:
        """Return the confidences of one tool: float64 [skills]."""
        return confidences(features, self.judges, caution=self.caution)


WORDS = ("words_in_name", "words_in_text", "skill_name", "explained")
"""The features that only the first judge looks at."""


def fit(trials: Sequence[Trial], use: Sequence[str] = FEATURES, *, lead: bool = True, judges: int = 2) -> Model:
    """Fit both judges on all pairs of the trials; every trial weighs the same.

    Parameters
    ----------
    use : sequence of str
        The features that may have a weight.
    lead : bool
        False leaves the second regressions without the lead.
    judges : int
        1 leaves the judge without words out.
    """
    pairs = _pairs(trials)
    without = [name for name in use if name not in WORDS]
    return Model([_fit_judge(pairs, names, lead=lead) for names in (use, without)[:judges]])


def _fit_judge(pairs: tuple[list[Floats], Floats, Floats], use: Sequence[str], *, lead: bool) -> Constants:
    rows, labels, weights = pairs
    columns = [FEATURES.index(name) for name in use]
    evidence = np.zeros(len(FEATURES))
    evidence[columns] = _logistic(np.concatenate(rows)[:, columns], labels, weights)
    second = []
    for features in rows:
        found = features @ evidence
        second.append(np.stack([np.ones_like(found), found, leads(found) if lead else np.zeros_like(found)], axis=1))
    intercept, own, ahead = _logistic(np.concatenate(second), labels, weights).tolist()
    return Constants(tuple(evidence.tolist()), (intercept, own, ahead))


def _pairs(trials: Sequence[Trial]) -> tuple[list[Floats], Floats, Floats]:
    rows: list[Floats] = []
    labels: list[Floats] = []
    weights: list[Floats] = []
    for trial in trials:
        for half in (list(trial.closed()), list(trial.opened())):
            for features, belongs in half:
                rows.append(features)
                labels.append((belongs > 0.0).astype(float))
                weights.append(np.full(len(belongs), 1.0 / len(half)))
    return rows, np.concatenate(labels), np.concatenate(weights)


def _logistic(rows: Floats, labels: Floats, weights: Floats) -> Floats:
    """Newton's method with a ridge on all but the intercept: float64 [columns]."""
    weights = weights / weights.sum()
    ridge = np.eye(rows.shape[1]) * _RIDGE
    ridge[0, 0] = 1e-9
    found = np.zeros(rows.shape[1])
    for _ in range(50):
        sure = 1.0 / (1.0 + np.exp(-np.clip(rows @ found, -30.0, 30.0)))
        slope = rows.T @ (weights * (sure - labels)) + ridge @ found
        curve = (rows * (weights * sure * (1.0 - sure))[:, None]).T @ rows + ridge
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-7:
            break
    return found


class Judge:
    """Collects answers and says how good they were."""

    def __init__(self) -> None:
        self._closed: list[dict[str, float]] = []
        self._opened: list[int] = []
        self._tops: list[tuple[float, float, float]] = []  # confidence, right or not, weight

    def judge(self, trial: Trial, model: Model) -> None:
        """Answer all tools of a trial and note what came of it."""
        closed, opened = list(trial.closed()), list(trial.opened())
        for features, belongs in closed:
            sure = model(features)
            kept = [row for row in np.argsort(-sure)[:MAX_CLASSIFIED_SKILLS] if sure[row] >= MIN_CONFIDENCE]
            top = int(sure.argmax())
            self._closed.append(
                {
                    "primary": float(bool(kept) and belongs[top] == belongs.max()),
                    "kept": len(kept),
                    "right": sum(belongs[row] > 0 for row in kept),
                    "wanted": float((belongs > 0).sum()),
                    "none": float(not kept),
                    "nearest": float(belongs[top] == belongs.max()),
                }
            )
            self._tops.append((float(sure[top]), float(belongs[top] > 0), 1.0 / len(closed)))
        for features, _ in opened:
            sure = model(features)
            self._opened.append(min(MAX_CLASSIFIED_SKILLS, int((sure >= MIN_CONFIDENCE).sum())))
            self._tops.append((float(sure.max()), 0.0, 1.0 / len(opened)))

    def measures(self) -> dict[str, float]:
        """Return the measures; what each is stands in training/classification.py."""

        def total(name: str) -> float:
            return sum(row[name] for row in self._closed)

        tools = max(1, len(self._closed))
        assigned = total("kept") + sum(self._opened)
        bins = self.reliability()
        return {
            "precision": total("right") / max(1.0, assigned),
            "found": sum(row["right"] > 0 for row in self._closed) / tools,
            "recall": total("right") / max(1.0, total("wanted")),
            "primary": total("primary") / tools,
            "nearest": total("nearest") / tools,
            "false open": sum(kept > 0 for kept in self._opened) / len(self._opened),
            "assigned": assigned,
            "ECE": sum(row["share"] * abs(row["confidence"] - row["right"]) for row in bins),
            "Brier": sum(w * (c - r) ** 2 for c, r, w in self._tops) / sum(w for *_, w in self._tops),
        }

    def reliability(self) -> list[dict[str, Any]]:
        """Return, for each tenth of confidence that occurs: share of answers, mean confidence, share that is right."""
        sure, right, weight = (np.array(column) for column in zip(*self._tops, strict=True))
        bin_of = np.minimum((sure * BINS).astype(int), BINS - 1)
        rows = []
        for number in range(BINS):
            if (here := bin_of == number).any():
                mass = weight[here].sum()
                rows.append(
                    {
                        "bin": f"{number / BINS:.1f}-{(number + 1) / BINS:.1f}",
                        "share": float(mass / weight.sum()),
                        "confidence": float((weight * sure)[here].sum() / mass),
                        "right": float((weight * right)[here].sum() / mass),
                    }
                )
        return rows
