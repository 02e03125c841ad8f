"""Mode `hybrid_rerank` of registry search: a cross-encoder looks at the first of each type (docs/adr/0050).

What it says is blended with the relevance. What the query names exactly keeps its place, and what is not among the
first keeps its order behind them. Without a reranker the search is served as `hybrid` and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.text import rerank_text
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.errors.model import DatabaseUnavailable, IndexUnavailable, RerankerUnavailable
from skillroute.core.postgres.database import Database
from skillroute.core.reranking.blend import blend_for
from skillroute.core.reranking.port import Reranker, no_reranker
from skillroute.core.reranking.time_limit import rerank_within_s
from skillroute.core.search_run import SearchRun
from skillroute.registry.search import scoring
from skillroute.registry.search.answer import Found
from skillroute.registry.search.model import TYPE_OF_KIND, EntityType
from skillroute.registry.search.plan import RegistryPlan
from skillroute.registry.search.repository import RegistrySearchRepository
from skillroute.registry.search.scoring import Scored
from skillroute.registry.search.tools import GradedTool

RERANKED = 10
"""Of each type: an answer has up to three."""

Head = Mapping[EntityType, Sequence[Scored]]


class RegistryRerank:
    """Reranks what a registry search found.

    Parameters
    ----------
    reranker : Reranker or None
    timeout_s : float
        The most that a search waits for it.
    """

    def __init__(self, database: Database, reranker: Reranker | None, timeout_s: float) -> None:
        self._database = database
        self._reranker = reranker
        self._timeout_s = timeout_s

    def __call__(self, run: SearchRun, plan: RegistryPlan, found: Found, index: SearchedIndex) -> Found:
        """Return what was found in the order that both make together; as it is, and noted, where that cannot be done.

        Raises
        ------
        IndexUnavailable, DatabaseUnavailable
        """
        heads = self._heads(plan, found)
        try:
            if self._reranker is None:
                raise no_reranker()
            if not any(heads.values()):
                return replace(found, mode="hybrid_rerank")
            with run.watch.stage("rerank"):
                scored = self._scored(self._reranker, plan, heads, index)
        except RerankerUnavailable as error:
            run.degrade("reranker_unavailable", error)
            return found
        entities = {
            kind: replace(candidates, ranked=_merged(candidates.ranked, scored.get(TYPE_OF_KIND[kind])))
            for kind, candidates in found.entities.items()
        }
        return Found("hybrid_rerank", entities, _merged_tools(found.tools, scored.get("tool")))

    def _heads(self, plan: RegistryPlan, found: Found) -> Head:
        heads: dict[EntityType, Sequence[Scored]] = {
            type_: found.ranked(kind) for kind, type_ in TYPE_OF_KIND.items() if type_ in plan.types
        }
        if "tool" in plan.types:
            heads["tool"] = [tool.scored for tool in found.tools if tool.is_match]
        return {type_: [one for one in ranked[:RERANKED] if not one.is_named] for type_, ranked in heads.items()}

    def _scored(
        self, reranker: Reranker, plan: RegistryPlan, heads: Head, index: SearchedIndex
    ) -> dict[EntityType, list[Scored]]:
        """Score the first of each type again, all in one call of the reranker. Raises `RerankerUnavailable`."""
        timeout_s = rerank_within_s(self._timeout_s)
        listed = [one for head in heads.values() for one in head]
        blend = blend_for("registry", reranker.name)
        try:
            texts = self._texts(listed, index)
        except (IndexUnavailable, DatabaseUnavailable) as error:  # what was found without it is an answer
            raise RerankerUnavailable(f"what it reads cannot be read: {error}") from error
        logits = reranker.logits(plan.query.text, texts, timeout_s=timeout_s)
        logit_of = {(one.type, one.id): logit for one, logit in zip(listed, logits, strict=True)}
        made = {}
        for type_, head in heads.items():
            own = [logit_of[type_, one.id] for one in head]
            chances = blend([one.score.final for one in head], own)
            made[type_] = [
                replace(one, score=replace(one.score, unclamped=chance, reranker_logit=logit))
                for one, chance, logit in zip(head, chances, own, strict=True)
            ]
        return made

    def _texts(self, listed: Sequence[Scored], index: SearchedIndex) -> list[str]:
        """Return what the reranker reads of each: of a tool what a tool search has it read, of others their text."""
        entities = [one.id for one in listed if one.type != "tool"]
        texts = self._database.read(lambda session: RegistrySearchRepository(session).texts(entities))
        payloads = index.payloads(TOOL_DOCUMENTS, [str(one.id) for one in listed if one.type == "tool"])

        def text(one: Scored) -> str:
            if one.type != "tool":
                return texts.get(one.id, one.name)
            payload = payloads.get(str(one.id))  # tools of a disabled server are in no index
            found = (payload["name"], payload["description"], payload["server"]) if payload else (one.name, "", None)
            return rerank_text(*found)

        return [text(one) for one in listed]


def _merged(ranked: Sequence[Scored], head: Sequence[Scored] | None) -> list[Scored]:
    """Return a ranking with the new scores of its first; what is behind them is put on the scale below."""
    if not head:
        return list(ranked)
    rescored = {one.id: one for one in head}
    floor = min(one.score.final for one in head)

    def scored(one: Scored) -> Scored:
        if one.is_named:
            return one
        tail = replace(one, score=replace(one.score, unclamped=one.score.final * floor))
        return rescored.get(one.id, tail)

    return scoring.by_rank(map(scored, ranked))


def _merged_tools(tools: Sequence[GradedTool], head: Sequence[Scored] | None) -> Sequence[GradedTool]:
    if not head:
        return tools
    graded = {tool.scored.id: tool for tool in tools}
    return [replace(graded[one.id], scored=one) for one in _merged([tool.scored for tool in tools], head)]
