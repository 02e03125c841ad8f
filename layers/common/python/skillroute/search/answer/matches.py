"""The answer of `GET /api/v1/search/tools`: what was found, with annotations and explanations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from skillroute.core.answer_size import SEARCH_BYTES, TEXT_BYTES
from skillroute.core.errors.model import SkillrouteError
from skillroute.search.answer import build as answer
from skillroute.search.answer.explanation import ExplainedMatch, ToolExplanation
from skillroute.search.answer.schemas import SchemaLoader, Schemas
from skillroute.search.candidates.candidate import Hit
from skillroute.search.model import ToolMatch
from skillroute.search.run import ToolSearchRun

_ROOM = (SEARCH_BYTES - TEXT_BYTES) // 4
"""Bytes of annotations as they are stored: what stands beside them has room too, and each byte may become two."""


def matches(
    run: ToolSearchRun, hits: Sequence[Hit], explained: Sequence[ToolExplanation], schemas: SchemaLoader
) -> Sequence[ToolMatch]:
    """Return what the API says of matched items; notes on the run what was cut, omitted or failed.

    Parameters
    ----------
    explained : sequence of ToolExplanation
        One for each hit, or none.
    """
    tools, run.descriptions_cut = answer.tool_matches(hits)
    loaded = _annotations(run, hits, schemas)
    run.annotations_omitted = len(loaded.left_out)
    tools = [
        tool.model_copy(update={"annotations": found.annotations}) if (found := loaded.by_id.get(tool.db_id)) else tool
        for tool in tools
    ]
    if not explained:
        return tools
    return [
        ExplainedMatch.model_construct(**dict(tool), explain=explanation)
        for tool, explanation in zip(tools, explained, strict=True)
    ]


def load(run: ToolSearchRun, hits: Sequence[Hit], schemas: SchemaLoader, room: int) -> Schemas:
    """Return the schemas of matched items; where they cannot be read, none of them."""
    return _loaded(run, hits, lambda wanted: schemas.load(wanted, room=room))


def _annotations(run: ToolSearchRun, hits: Sequence[Hit], schemas: SchemaLoader) -> Schemas:
    return _loaded(run, hits, lambda wanted: schemas.load_annotations(wanted, room=_ROOM))


def _loaded(run: ToolSearchRun, hits: Sequence[Hit], read: Callable[[list[tuple[int, str]]], Schemas]) -> Schemas:
    try:
        with run.watch.stage("schema_load"):
            return read([(hit.payload["db_id"], hit.payload["content_hash"]) for hit in hits])
    except SkillrouteError as error:
        run.degrade("schema_load_failed", error)
        return Schemas({})
