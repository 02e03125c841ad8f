"""The search of a request that states needs: each is searched for itself, and what they find is one answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from skillroute.search import plan
from skillroute.search.answer.explanation import ToolExplanation
from skillroute.search.answer.language import language_of
from skillroute.search.candidates.candidate import Found, FoundNeed, MatchedSkill
from skillroute.search.model import MAX_SKILLS, SearchRequest
from skillroute.search.needs.merge import Served, in_turn
from skillroute.search.notes import searched_text
from skillroute.search.receipts import SearchedText
from skillroute.search.run import ToolSearchRun

_MAX_PER_ONE = 50

FindOne = Callable[[ToolSearchRun, SearchRequest], Found]
"""Carries out the search of one text."""


def find_for_needs(run: ToolSearchRun, request: SearchRequest, ranking: plan.RankBy, find: FindOne) -> Found:
    """Return what serves the needs of a request; notes on the run how the searches of all of them went."""
    ones = [_of_one(request, text, ranking) for text in request.texts]
    runs = [ToolSearchRun(run.caller, run.watch, index=run.index, language=language_of(one.text)) for one in ones]
    found = [find(each, one) for each, one in zip(runs, ones, strict=True)]
    served = in_turn([one.hits for one in found], request.most)
    needs = len(request.needs or ())
    _tell(run, runs, ranking)
    if run.search_id is not None:
        run.searched = [_searched(text, *one, served) for text, one in enumerate(zip(ones, runs, found, strict=True))]
    return Found(
        _skills(found),
        len({candidate.key for one in found for candidate in one.candidates}),
        [one.hit for one in served],
        explained=_explained(found, [(one.hit.candidate.key, one.best) for one in served]) if request.explain else (),
        explanation=found[-1].explanation if request.query is not None else None,
        unknown_servers=found[0].unknown_servers,
        needs=[
            FoundNeed(one.text, each.confidence, each.confidence_first_five, each.no_match, each.fit, its.explanation)
            for one, each, its in zip(ones[:needs], runs, found, strict=False)
        ],
        serves=[[text for text in one.texts if text < needs] for one in served],
        explained_need=[one.best if one.best < needs else None for one in served],
    )


def _of_one(request: SearchRequest, text: str, ranking: plan.RankBy) -> SearchRequest:
    """Return the search of one text: for more than are wanted, as others may have found the same."""
    whole = request.model_copy(update={"limit": request.most})
    return request.model_copy(
        update={
            "query": text,
            "needs": None,
            "limit": min(_MAX_PER_ONE, 2 * request.most),
            "skill_limit": plan.skill_limit(ranking, whole),
        }
    )


def _searched(
    text: int, one: SearchRequest, run: ToolSearchRun, found: Found, served: Sequence[Served]
) -> SearchedText:
    """Return what the answer has for one text, as the text found it and in its order."""
    place = {hit.candidate.key: nth for nth, hit in enumerate(found.hits)}
    shown = [
        # What stands for a near-duplicate that this text found has the score of another text.
        found.hits[place[each.hit.candidate.key]] if each.hit.candidate.key in place else each.hit
        for each in served
        if text in each.texts
    ]
    shown.sort(key=lambda hit: place.get(hit.candidate.key, len(place)))
    return searched_text(run, one.text, shown)


def _skills(found: Sequence[Found]) -> list[MatchedSkill]:
    """Return the best skills of each text in turn, each once."""
    turns = zip_longest(*(one.skills for one in found))
    skills = {skill.key: skill for turn in turns for skill in turn if skill is not None}
    return list(skills.values())[:MAX_SKILLS]


def _explained(found: Sequence[Found], shown: Sequence[tuple[str, int]]) -> list[ToolExplanation]:
    """Return the explanations of what is shown, each of the search of the text that it suits best."""
    of_each = [
        {hit.candidate.key: explanation for hit, explanation in zip(one.hits, one.explained, strict=False)}
        for one in found
    ]
    return [of_each[text][key] for key, text in shown]


def _tell(run: ToolSearchRun, runs: Sequence[ToolSearchRun], ranking: plan.RankBy) -> None:
    """Note how all went: whatever failed for one failed for the answer, and nothing fits where nothing fits any."""
    run.model = next((each.model for each in runs if each.model is not None), None)
    run.search_mode = next((each.search_mode for each in runs if each.search_mode != ranking), ranking)
    run.degraded += dict.fromkeys(what for each in runs for what in each.degraded)
    run.fallback_reason = next((each.fallback_reason for each in runs if each.fallback_reason), None)
    run.no_match = all(each.no_match for each in runs)
    run.language = next((each.language for each in runs if each.language is not None), None)
    run.language_unknown_to_model = any(each.language_unknown_to_model for each in runs)
