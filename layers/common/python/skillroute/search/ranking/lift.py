"""The hybrid strategy: the hierarchical and the direct search merged by tool (decision 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillroute.search.candidates.retrieve import Candidate, by_rank
from skillroute.skills.model import SkillKey


def lift_by_skill(
    candidates: Sequence[Candidate],
    skills_of: Mapping[str, Sequence[SkillKey]],
    skill_scores: Mapping[SkillKey, float],
    weight: float,
) -> list[Candidate]:
    """Lift tools of matched skills: ``(1 - w) * score + w * (score of its best matched skill, else 0)``.

    Parameters
    ----------
    candidates : sequence of Candidate
        Without repeats. Scores in 0..1.
    skills_of : mapping of tool key to skill keys
    skill_scores : mapping of skill key to score
        The matched skills.
    weight : float
        0 leaves the direct order, 1 orders by skill alone.

    Returns
    -------
    list of Candidate
        In rank order; scores stay in 0..1, similarities as they were.
    """

    def lifted(candidate: Candidate) -> Candidate:
        best = max((skill_scores.get(key, 0.0) for key in skills_of.get(candidate.key, ())), default=0.0)
        score = (1.0 - weight) * candidate.score + weight * best
        return candidate._replace(score=score, lift=score - candidate.score)

    return by_rank(map(lifted, candidates))
