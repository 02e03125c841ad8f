"""Cursors of message search, to the letter (message-search, section 4)."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from typing import Literal

from skillroute.core.documents.lexical_engines import ENGINES, WIRE_NAMES, LexicalEngineName, WireName

CursorEngine = Literal[LexicalEngineName, "hybrid"]
WireEngine = Literal[WireName, "hybrid"]
"""The public names of each `CursorEngine`, in answers, tokens and events."""

_TOKEN = re.compile(r"s([0-9a-f]{16}):i(-?[0-9]{1,19})(?::e([a-z0-9]+))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page ended.

    Attributes
    ----------
    score : float
        What the last result was ordered by: the engine's own score (docs/adr/0021); ``-created_ts`` under recency.
    id : int
        The last result's.
    engine : CursorEngine or None
        Who ordered; None goes with every engine.
    """

    score: float
    id: int
    engine: CursorEngine | None = None

    def token(self) -> str:
        """Return the wire form.

        Examples
        --------
        >>> Cursor(1.0, 7, "bm25").token()
        's3ff0000000000000:i7:etantivy'
        """
        score = self.score + 0.0  # -0.0 is written as 0.0
        engine = "" if self.engine is None else f":e{wire_engine(self.engine)}"
        return f"s{struct.pack('>d', score).hex()}:i{self.id}{engine}"

    @classmethod
    def parse(cls, token: str | None) -> Cursor | None:
        """Read a token; None for none, and for one that is malformed or not finite.

        Examples
        --------
        >>> Cursor.parse("s3feccccccccccccd:i10")
        Cursor(score=0.9, id=10, engine=None)
        """
        found = None if token is None else _TOKEN.fullmatch(token)
        if found is None:
            return None
        engine = None if found[3] is None else _engine(found[3])
        if engine is None and found[3] is not None:
            return None
        [score] = struct.unpack(">d", bytes.fromhex(found[1]))
        id_ = int(found[2])
        if not math.isfinite(score) or not -(2**63) <= id_ < 2**63:
            return None
        return cls(score + 0.0, id_, engine)


def wire_engine(engine: CursorEngine) -> WireEngine:
    """Return what the contract calls an engine.

    Examples
    --------
    >>> wire_engine("bm25"), wire_engine("hybrid")
    ('tantivy', 'hybrid')
    """
    return "hybrid" if engine == "hybrid" else WIRE_NAMES[engine]


def _engine(wire_name: str) -> CursorEngine | None:
    return "hybrid" if wire_name == "hybrid" else ENGINES.get(wire_name)
