"""An organisation whose members ask for one thing in six ways, and call a tool that searches do not find."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from skillroute.core.caller import Caller
from skillroute.core.embedding.model import Vector
from skillroute.learning.learn.learn import LearnReport
from skillroute.learning.model import OutcomeKind
from skillroute.search.model import SearchResponse

from tests.builders import System, lent_system, of_org
from tests.doubles import DIMENSION, EdgeIndexes, TableEmbedder, at

CALIBRATED = "all-minilm-l6-v2-int8-v1"
TEXTS = [f"note it down for later, way {way}" for way in "abcdef"]
MEMBERS = ["ann", "ben", "cai", "dee", "eve"]
TABLE: dict[str, Vector] = {text: at(0.05 * place, 2) for place, text in enumerate(TEXTS)}
OTHERS = 110
"""Tools that are nearer to those texts than the one that is meant: more than a search looks at."""


def near(cosine: float) -> Vector:
    """Return a vector with this cosine to the first of the texts, the rest where no text is."""
    vector = [0.0] * DIMENSION
    vector[2], vector[3] = cosine, math.sqrt(1.0 - cosine * cosine)
    return vector


class Used:
    """The system of an organisation, and its use.

    Attributes
    ----------
    meant : int
        The tool that members call; searches for the texts do not find it.
    rivals : list of int
        Those that they find.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        named: list[tuple[str, Vector | None]] = [(f"rival_{n}", near(0.5 + n / 1000)) for n in range(OTHERS)]
        self.rivals = system.tools(named, description="Something else.")
        self.meant = system.tool("diary", near(0.0), description="Keeps a diary.")
        self.model = str(system.embedder.model)

    def use(
        self,
        tool: int | None = None,
        outcome: OutcomeKind = "succeeded",
        *,
        callers: list[str] | None = None,
        days: int = 12,
        org: str | None = "a",
        may_teach: bool = True,
        texts: list[str] = TEXTS,
    ) -> list[UUID]:
        """Let each caller ask twice a day, and report the outcome of a tool; return the searches."""
        tool = self.meant if tool is None else tool
        searches = []
        for day in range(days, 0, -1):
            for place, caller in enumerate(callers or MEMBERS):
                for time in range(2):
                    text = texts[(place + time + day) % len(texts)]
                    searches.append(self.asked(text, tool, caller=caller, org=org, days_ago=day))
                    self.system.outcome(searches[-1], outcome, tool, org=org, caller=caller, may_teach=may_teach)
        return searches

    def asked(self, text: str, *shown: int, **fields: Any) -> UUID:
        """Store the receipt of a search that showed these tools."""
        return self.system.receipt(text, *shown, **{"model": self.model, "vector": TABLE.get(text), **fields})

    def learn(self, org: str | None = "a", **options: Any) -> LearnReport:
        """Learn, and let this process look at once."""
        report = self.system.parts.learn(org, **options)
        self.look()
        return report

    def look(self) -> None:
        """Let this process look which states are live, as it does a few seconds later."""
        self.system.parts.live_states._known.clear()

    def search(self, text: str = TEXTS[0], *, org: str | None = "a", **request: Any) -> SearchResponse:
        request.setdefault("limit", 50)
        caller: Caller = of_org(org)
        return self.system.search(text, caller=caller, include_schemas=False, strategy="direct", **request)

    def found(self, text: str = TEXTS[0], **request: Any) -> list[str]:
        """Return the names of the tools that a search finds."""
        return [tool.name for tool in self.search(text, **request).tools]

    def answer(self, **request: Any) -> bytes:
        """Return an answer without its times, to the byte."""
        metadata = {name for name in type(self.search().metadata).model_fields if name.endswith("_ms")}
        return self.search(**request).model_dump_json(exclude={"metadata": {*metadata, "search_id"}}).encode()

    def live(self, org: str | None = "a") -> list[int]:
        """Return the tools that the live state has learned requests of."""
        rows = self.system.rows(
            "SELECT DISTINCT r.tool_id FROM mcp.learned_requests r JOIN mcp.learned_states s ON s.id = r.state_id "
            "WHERE s.is_live AND s.org_id IS NOT DISTINCT FROM :org::text ORDER BY 1",
            org=org,
        )
        return [row[0] for row in rows]

    def lives(self, *tools: int, org: str | None = "a", vector: Vector | None = None, **fields: Any) -> int:
        """Store a state that is live, in which each of these tools has one learned request, the first text."""
        fields = {"model": self.model, "share": 1.0, **fields}
        state = self.system.learned(*tools, org=org, vector=vector or TABLE[TEXTS[0]], **fields)
        self.look()
        return state


@pytest.fixture
def lend_used(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[Callable[..., Used]]:
    """Return what lends the system of an organisation that uses it."""
    lent = []

    def make(**settings: Any) -> Used:
        embedder = TableEmbedder(TABLE, name=CALIBRATED)
        lent.append(lent_system(database_url, edge_indexes, embedder=embedder, default_mode="hybrid", **settings))
        return Used(lent[-1].__enter__())

    yield make
    for context in lent:
        context.__exit__(None, None, None)


@pytest.fixture
def used(lend_used: Callable[..., Used]) -> Used:
    return lend_used()
