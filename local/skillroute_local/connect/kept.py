"""Long answers of tools, kept aside: agents get their beginnings, and read on where they need more."""

from __future__ import annotations

import json
import secrets
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field
from skillroute.mcp.arguments import Arguments, parsed
from skillroute.mcp.fit import Json
from skillroute.mcp.rpc import to_text
from skillroute.mcp.tool import ToolError

KEPT_S = 900.0
"""An answer is forgotten when it was not read for so long."""

MAX_ANSWERS = 20
MAX_SESSION_BYTES = 32_000_000
MAX_BYTES = 128_000_000
"""Of all sessions together, as Python holds the texts. The session that holds most of it loses its oldest first."""

Session = str | None
"""The agent's session; None for an agent that has none, whose answers are known by their ids alone."""


class ReadArguments(Arguments):
    """The arguments of `read_answer`."""

    id: str = Field(min_length=1, max_length=100, description="Of the answer, as its first part names it.")
    offset: int = Field(0, ge=0, le=2_000_000_000, description="Characters to pass over.")
    limit: int | None = Field(
        None, ge=1, le=10_000_000, description="Characters to return, at most those of the first part."
    )


@dataclass(slots=True)
class _Kept:
    text: str
    length: int  # of the whole answer, of which the text may be a part
    used_at: float

    @property
    def size(self) -> int:
        return sys.getsizeof(self.text)


class KeptAnswers:
    """Answers above a length, by session and id. Safe to call from several threads.

    Parameters
    ----------
    shown : int
        The characters that an agent gets at once.
    clock : callable
        Returns seconds.
    """

    def __init__(self, shown: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._shown = shown
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[Session, dict[str, _Kept]] = {}  # of each session the one used longest ago first

    def shortened(self, result: Json, session: Session) -> Json:
        """Return the result of a call as it is, or the beginning of its text where that is longer than is shown.

        What is no text, such as a picture, stays where it is. Structured content counts as text, once.
        """
        text, others = _text_of(result)
        if len(text) <= self._shown:
            return result
        id_ = self._keep(text, session)
        note = (
            f"[The answer has {len(text):,} characters; these are the first {self._shown:,}. Read on by read_answer "
            f'with id "{id_}" and offset {self._shown}; it is kept for {KEPT_S / 60:g} minutes after it was last read.]'
        )
        rest = {name: value for name, value in result.items() if name not in {"content", "structuredContent"}}
        return {**rest, "content": [_block(text[: self._shown]), *others, _block(note)]}

    def read(self, arguments: Mapping[str, Any], session: Session) -> Json:
        """Return a part of an answer. Raises `ToolError` for one that is not there, or not this session's."""
        given = parsed(ReadArguments, arguments)
        with self._lock:
            self._forget()
            answers = self._kept.get(session, {})
            if (kept := answers.pop(given.id, None)) is None:
                raise ToolError(
                    f"There is no answer {given.id} (any more): they are kept for {KEPT_S / 60:g} minutes, and "
                    f"{MAX_ANSWERS} at once. Call the tool again."
                )
            kept.used_at = self._clock()
            answers[given.id] = kept
        if given.offset >= len(kept.text):
            raise ToolError(f"offset must be less than {len(kept.text)}, the characters that are kept of this answer")
        end = min(given.offset + min(given.limit or self._shown, self._shown), len(kept.text))
        after = f"read on at offset {end}" if end < len(kept.text) else "this is the end"
        if end == len(kept.text) < kept.length:
            after = "the others were too many to be kept"
        note = f"[Characters {given.offset + 1:,} to {end:,} of {kept.length:,}; {after}.]"
        return {"content": [_block(kept.text[given.offset : end]), _block(note)]}

    def _keep(self, text: str, session: Session) -> str:
        """Keep an answer, and return its id, which no other agent can guess."""
        id_ = secrets.token_urlsafe(16)
        length = len(text)
        if sys.getsizeof(text) > MAX_SESSION_BYTES:
            text = text[: MAX_SESSION_BYTES * length // sys.getsizeof(text)]
        with self._lock:
            self._forget()
            own = self._kept.setdefault(session, {})
            own[id_] = _Kept(text, length, self._clock())
            while len(own) > MAX_ANSWERS or _size(own) > MAX_SESSION_BYTES + _OVERHEAD:
                del own[next(iter(own))]
            while sum(map(_size, self._kept.values())) > MAX_BYTES:
                largest = max(self._kept, key=lambda one: _size(self._kept[one]))
                del self._kept[largest][next(iter(self._kept[largest]))]
        return id_

    def _forget(self) -> None:
        """Forget what was not used for long."""
        before = self._clock() - KEPT_S
        for session, answers in list(self._kept.items()):
            left = {id_: kept for id_, kept in answers.items() if kept.used_at > before}
            if left:
                self._kept[session] = left
            else:
                del self._kept[session]


_OVERHEAD = 100  # of a string's own head, so that the longest text that is kept fits


def _size(answers: Mapping[str, _Kept]) -> int:
    return sum(kept.size for kept in answers.values())


def _text_of(result: Json) -> tuple[str, list[Any]]:
    """Return all text of a result, and the blocks that are none."""
    texts: list[str] = []
    others: list[Any] = []
    for block in result.get("content") or ():
        match block:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "resource", "resource": {"text": str(text), **more}}:
                texts.append(f"{more['uri']}\n{text}" if "uri" in more else text)
            case {"type": "image" | "audio" | "resource"}:
                others.append(block)
            case _:
                texts.append(to_text(block))
    structured = result.get("structuredContent")
    if structured is not None and not _is_in(texts, structured):
        texts.append(to_text(structured))
    return "\n".join(texts), others


def _is_in(texts: Sequence[str], structured: object) -> bool:
    """Return whether one of the texts is the JSON of structured content, as MCP recommends."""
    for text in texts:
        try:
            if json.loads(text) == structured:
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _block(text: str) -> Json:
    return {"type": "text", "text": text}
