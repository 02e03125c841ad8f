"""Receipts and outcomes of a world, as searches and callers leave them, and what was learned of a tool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from skillroute.core.caller import Caller
from skillroute.core.embedding.model import Vector, to_bytes
from skillroute.core.hashing import text_hash
from skillroute.learning.model import OutcomeKind, Source, caller_hash
from skillroute.search.receipts import Door

from tests.worlds.core import Core


class LearningWorld(Core):
    """Stores what use leaves behind, straight into the tables."""

    def receipt(
        self,
        query: str,
        *shown: int,
        org: str | None = None,
        caller: str | None = "ann",
        no_match: bool = False,
        vector: Vector | None = None,
        days_ago: float = 0.0,
        search_id: UUID | None = None,
        nth: int = 0,
        door: Door = "http",
        keeps_text: bool = True,
        model: str | None = None,
        may_teach: bool = True,
        content_hash: str = "0" * 64,
    ) -> UUID:
        """Store the receipt of a search that showed these tools, best first, and return the id of the search.

        Parameters
        ----------
        caller : str or None
            The name of who asked.
        search_id : UUID, optional
            Of a search with several texts, of which this is the `nth`.
        model : str, optional
            Of the vector; with it the tools are shown as they are, unless `content_hash` is given for them.
        """
        search_id = search_id or uuid4()
        self.rows(
            "INSERT INTO mcp.receipts (search_id, nth, org_id, caller, may_teach, door, asked_at, query, query_hash, "
            "model, vector, shown, no_match) VALUES (:search_id, :nth, :org, :caller, :may_teach, :door, "
            "now() - make_interval(secs => 86400 * cast(:days_ago AS float8)), :query, :query_hash, :model, "
            "decode(:vector, 'hex'), (SELECT coalesce(jsonb_agg(jsonb_build_array(s.tool_id, coalesce(t.content_hash, "
            ":content_hash::text), 0.5) ORDER BY s.place), '[]') FROM unnest(:shown::bigint[]) WITH ORDINALITY "
            "AS s (tool_id, place) LEFT JOIN mcp.tools t ON t.id = s.tool_id AND :shows_them::boolean), :no_match)",
            search_id=str(search_id),
            nth=nth,
            org=org,
            caller=caller_hash(Caller(org_id=org, name=caller)),
            door=door,
            days_ago=days_ago,
            query=query if keeps_text else None,
            query_hash=text_hash(query),
            may_teach=may_teach,
            model=None if vector is None else model or f"test ({len(vector)} dimensions)",
            vector=None if vector is None else to_bytes(vector).hex(),
            shown=list(shown),
            content_hash=content_hash,
            shows_them=model is not None and content_hash == "0" * 64,
            no_match=no_match,
        )
        # Tools of a test were made a moment ago: those that never changed since are as old as what is told of them.
        self.rows(
            "UPDATE mcp.tools SET said_at = '2000-01-01' WHERE id = ANY (:shown) AND said_at = created_at RETURNING id",
            shown=list(shown),
        )
        return search_id

    def outcome(
        self,
        search_id: UUID,
        outcome: OutcomeKind,
        tool_id: int | None = None,
        *,
        org: str | None = None,
        caller: str | None = "ann",
        source: Source = "program",
        may_teach: bool = True,
    ) -> None:
        """Store an outcome that a caller reported of a tool, or with ``nothing_fits`` of the whole search."""
        self.rows(
            "INSERT INTO mcp.outcomes (search_id, tool_id, org_id, caller, may_teach, outcome, source) "
            "VALUES (:search_id, :tool_id, :org, :caller, :may_teach, :outcome, :source)",
            search_id=str(search_id),
            tool_id=tool_id,
            org=org,
            caller=caller_hash(Caller(org_id=org, name=caller)),
            may_teach=may_teach,
            outcome=outcome,
            source=source,
        )

    def learned(
        self,
        *tool_ids: int,
        org: str | None = None,
        vector: Sequence[float] = (1.0, 0.0),
        is_live: bool = True,
        model: str | None = None,
        share: float = 0.5,
        callers: int = 3,
    ) -> int:
        """Store a state in which each of these tools has one learned request, and return its id."""
        [[state_id]] = self.rows(
            "INSERT INTO mcp.learned_states (org_id, model, is_live, was_better, report) "
            "VALUES (:org, :model, :is_live, true, '{}') RETURNING id",
            org=org,
            model=model or f"test ({len(vector)} dimensions)",
            is_live=is_live,
        )
        for tool_id in tool_ids:
            self.rows(
                "INSERT INTO mcp.learned_requests (state_id, tool_id, nth, vector, share, words, searches, callers) "
                "VALUES (:state_id, :tool_id, 0, decode(:vector, 'hex'), :share, '{}', 3, :callers)",
                state_id=state_id,
                tool_id=tool_id,
                vector=to_bytes(vector).hex(),
                share=share,
                callers=callers,
            )
        return int(state_id)

    def left(self, *tables: str) -> dict[str, Any]:
        """Return how many rows these tables have."""
        return {table: self.rows(f"SELECT count(*) FROM mcp.{table}")[0][0] for table in tables}
