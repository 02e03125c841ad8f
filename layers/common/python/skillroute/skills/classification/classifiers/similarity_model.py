"""From what was measured to the confidence that a tool belongs to a skill: two judges of two logistic regressions each.

A judge's first regression looks at a skill alone and gives its evidence, in log odds. The second looks at the evidence
and at how far it is ahead of the best other skill's, and gives a probability. Evidence alone is too sure of the
runner-up, and unsure of a tool that is far from all skills but nearest to one by a length.

One judge looks at everything, the other at cosines alone. The confidence is the lower of the two, less `CAUTION`: a
word with two meanings convinces the first judge ("stock" of a warehouse), but not the second.

The constants were fitted by ``training/classification.py --fit`` with both packaged encoders, on the examples,
Seal-Tools, public servers and tools that no skill is for. Cosines of other encoders are put on their scale first
(`similarity_skills`; docs/adr/0046).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judge:
    """The constants of one judge.

    Attributes
    ----------
    evidence : tuple of float
        A weight for each of `similarity_skills.FEATURES`, in their order.
    confidence : tuple of float
        Intercept, weight of the evidence, weight of the lead.
    """

    evidence: tuple[float, ...]
    confidence: tuple[float, float, float]


JUDGES = (
    Judge(
        (-4.46, 3.38, -1.02, 2.37, -0.26, 0.72, -1.38, 2.44, 0.91, 1.16, 0.64, -3.23, 4.91, 1.09, 5.65, -3.68),
        (-0.11, 0.84, 0.43),
    ),
    Judge(
        (-4.59, 3.79, -0.99, 3.54, -0.27, 1.02, -1.43, 2.33, 0.0, 0.0, 0.0, -3.39, 5.39, 0.0, 6.27, -3.99),
        (-0.16, 0.82, 0.47),
    ),
)
"""The one that looks at everything, and the one that leaves the words out."""

CAUTION = 1.5
"""Log odds taken off: a tool is assigned from a confidence of 0.5 on (skill-contract BR-002), which then is a
probability of 0.82 for the less convinced judge. A wrong assignment hides a tool from searches; what is not assigned is
suggested."""

MIN_RIVAL = -3.0
"""The evidence that the best other skill has at least, so that a list of one skill has a rival too. From -1 to -4 the
Brier score falls on Seal-Tools (0.145 to 0.131, 24 skills) and rises on the examples (0.048 to 0.052)."""

MAX_LEAD = 4.0
"""A lead, or an arrear, counts up to this. With 2, more tools are assigned that fit nothing; with 8, fewer that fit."""


def leads(found: Floats) -> Floats:
    """Return how far each skill's evidence is ahead of the best other one's (negative: behind): float64 [skills]."""
    import numpy as np  # noqa: PLC0415

    best = int(found.argmax())
    others = np.delete(found, best)
    rivals = np.full(len(found), max(MIN_RIVAL, found[best]))
    rivals[best] = max(MIN_RIVAL, others.max()) if len(others) else MIN_RIVAL
    lead: Floats = np.clip(found - rivals, -MAX_LEAD, MAX_LEAD)
    return lead


def confidences(features: Floats, judges: Sequence[Judge] = JUDGES, *, caution: float = CAUTION) -> Floats:
    """Return how sure it is that the tool belongs to each skill: float64 [skills], 0..1.

    Parameters
    ----------
    features : float64 [skills, features]
        `similarity_skills.Measured.features`.
    caution : float
        With 0 the result is a probability, that of the less convinced judge.
    """
    import numpy as np  # noqa: PLC0415

    logits = np.min([_log_odds(features, judge) for judge in judges], axis=0) - caution
    confidence: Floats = 1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0)))
    return confidence


def _log_odds(features: Floats, judge: Judge) -> Floats:
    import numpy as np  # noqa: PLC0415

    found = features @ np.asarray(judge.evidence)
    intercept, own, ahead = judge.confidence
    log_odds: Floats = intercept + own * found + ahead * leads(found)
    return log_odds
