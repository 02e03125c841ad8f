"""Decisions on requests that found nothing: lines of a file next to an organisation's judged requests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from skillroute_local.console.judgements import JudgementFile
from skillroute_local.console.problems import Stale

Decision: TypeAlias = Literal["served", "nothing", "missing", "dismissed"]

_MOST = 10_000
"""Decisions of an organisation; of more the oldest are forgotten."""

Line: TypeAlias = dict[str, Any]


class Decisions:
    """The decisions of an organisation.

    Parameters
    ----------
    file : JudgementFile
        Of the organisation; decisions are in the file next to it that is about what was missed.
    """

    def __init__(self, file: JudgementFile) -> None:
        self.judged = file
        self._lines = file.next_to("missed")

    def all(self) -> list[Line]:
        """Return the decisions, the oldest first."""
        return [line for line in self._lines.values() if isinstance(line.get("query"), str)]

    def of(self, wordings: Iterable[str]) -> Line | None:
        """Return the decision on requests of these wordings: that on the first one that has any."""
        by_wording = wordings_of(self.all())
        return next((by_wording[wording] for wording in wordings if wording in by_wording), None)

    def require_seen(self, wordings: Iterable[str], seen: str | None) -> Line | None:
        """Return the decision on these wordings; raise `Stale` where it is not the one that the page has seen."""
        found = self.of(wordings)
        if (found or {}).get("at") != seen:
            raise Stale("another user or tab has decided on this request meanwhile", shown(found))
        return found

    def write(self, query: str, wordings: list[str], decision: Decision, more: Line) -> Line:
        """Write a decision, in the place of an earlier one on the same request."""
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        line = {"query": query, "wordings": wordings, "decision": decision, "at": at, **more}
        self.forget(query)
        self._lines.keep(line, _MOST)
        return line

    def forget(self, query: str) -> None:
        """Take the decision on a request out."""
        lines = self._lines.lines()
        kept = [text for text, value in lines if value is None or value.get("query") != query]
        if len(kept) < len(lines):
            self._lines.replace(kept)

    def judge(self, query: str, title: str | None) -> Line:
        """Write what serves a request: a tool besides those that are right already, or with None that nothing does.

        Returns what `judge_back` takes.
        """
        before = [value for value in self.judged.values() if value.get("query") == query]
        last = before[-1] if before else {}
        right = [name for need in _names_of_needs(last.get("needs")) for name in need]
        wrong = [name for name in _names(last.get("wrong")) if name != title]
        self.judged.write(query, [*right, title] if title else [], wrong)
        return {"before": before, "after": self.judged.of(query)}

    def judge_back(self, query: str, judged: Line) -> bool:
        """Take back what `judge` wrote; returns whether it stood there still. What others wrote since stays."""
        if self.judged.of(query) != judged["after"]:
            return False
        lines = self.judged.lines()
        places = [at for at, (_, value) in enumerate(lines) if value is not None and value.get("query") == query]
        texts = [text for text, _ in lines]
        if judged["before"]:  # the last line of the request is the one that was written over
            texts[places[-1]] = json.dumps(judged["before"][-1], ensure_ascii=False)
        else:
            del texts[places[-1]]
        self.judged.replace(texts)
        return True


def wordings_of(decisions: Iterable[Line]) -> dict[str, Line]:
    """Return decisions by the wordings that they are on; of several the last one."""
    return {wording: line for line in decisions for wording in [*_names(line.get("wordings")), line["query"]]}


def shown(line: Line | None) -> Line | None:
    """Return what a page is shown of a decision: without what taking it back needs."""
    return None if line is None else {name: value for name, value in line.items() if name not in {"undo", "group"}}


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _names_of_needs(value: Any) -> list[list[str]]:
    return [_names(need) for need in value] if isinstance(value, list) else []
