"""From what was measured to the probability that a tool belongs to a skill: two logistic regressions in a row.

The first looks at a skill alone and gives its evidence, in log odds. The second looks at the evidence and at how far it
is ahead of the best other skill's, and gives the confidence. Evidence alone is too sure of the runner-up, and unsure of
a tool that is far from all skills but nearest to one by a length.

The constants were fitted by ``benchmarks/classification.py --fit`` on the examples and Seal-Tools, for
all-minilm-l6-v2: cosines of another model are of another size (docs/adr/0008).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EVIDENCE = (
    -3.73, 5.18, -1.24, 3.06, -0.22, 0.74, -1.39, 3.21, 1.05, 0.87, 1.72, -4.89, 7.16,
)  # fmt: skip
"""A weight for each of `similarity_skills.FEATURES`, in their order."""

CONFIDENCE = (0.23, 0.96, 0.33)
"""Intercept, weight of the evidence, weight of the lead."""

LEAST_RIVAL = -3.0
"""The evidence that the best other skill has at least, so that a list of one skill has a rival too. From -1 to -4 the
Brier score falls on Seal-Tools (0.145 to 0.131, 24 skills) and rises on the examples (0.048 to 0.052)."""

MOST_LEAD = 4.0
"""A lead, or an arrear, counts up to this. With 2, more tools are assigned that fit nothing; with 8, fewer that fit."""


def evidence(features: Floats, weights: tuple[float, ...] | Floats = EVIDENCE) -> Floats:
    """Return how much speaks for each skill, in log odds: float64 [skills]."""
    import numpy as np  # noqa: PLC0415

    found: Floats = features @ np.asarray(weights)
    return found


def leads(found: Floats) -> Floats:
    """Return how far each skill's evidence is ahead of the best other one's (negative: behind): float64 [skills]."""
    import numpy as np  # noqa: PLC0415

    best = int(found.argmax())
    others = np.delete(found, best)
    rivals = np.full(len(found), max(LEAST_RIVAL, found[best]))
    rivals[best] = max(LEAST_RIVAL, others.max()) if len(others) else LEAST_RIVAL
    lead: Floats = np.clip(found - rivals, -MOST_LEAD, MOST_LEAD)
    return lead


def confidences(found: Floats, weights: tuple[float, ...] | Floats = CONFIDENCE) -> Floats:
    """Return the probability that the tool belongs to each skill, out of the evidence: float64 [skills], 0..1."""
    import numpy as np  # noqa: PLC0415

    intercept, own, ahead = weights
    logits = np.clip(intercept + own * found + ahead * leads(found), -30.0, 30.0)
    probability: Floats = 1.0 / (1.0 + np.exp(-logits))
    return probability
