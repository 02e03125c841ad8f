"""The file of judged requests that marking results writes, for `skillroute eval --queries` (docs/evaluation.md).

Each line is a request with what serves it. Lines and fields that people wrote stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeAlias

from skillroute_local.console.json_lines import JsonLines
from skillroute_local.console.problems import Problem, Refused

Wanted: TypeAlias = Literal["any", "all"]
"""Whether one of the tools that serve a request is enough, or all of them are needed."""


MAX_REQUESTS = 10_000
"""Lines of a file that marks are added to: each mark reads and writes all of them."""


class TooMany(Refused):
    """The file takes no further request."""

    def __init__(self, name: str) -> None:
        remedy = "Download it and begin anew, or take requests out of it: evaluations need some hundred."
        super().__init__(Problem(409, f"{name} has {MAX_REQUESTS:,} requests, the most there can be", remedy))


class JudgementFiles:
    """The files of judged requests, one for each organisation.

    Parameters
    ----------
    path : Path
        Of callers without an organisation. Those of an organisation lie next to it.

    Attributes
    ----------
    turns : mapping of str to Lock
        By the name of a file: who writes it reads it first, and nobody waits for another organisation's.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.turns: dict[str, Lock] = defaultdict(Lock)

    def of(self, org_id: str | None) -> JudgementFile:
        """Return the file of an organisation, of none with None."""
        if org_id is None:
            return JudgementFile(self._path)
        # The digest tells organisations apart whose names a file system takes for the same, or cannot spell.
        digest = hashlib.sha256(org_id.encode()).hexdigest()[:16]
        readable = re.sub(r"[^A-Za-z0-9_-]", "_", org_id)[:40]
        return JudgementFile(self._path.with_name(f"{self._path.stem}.{readable}.{digest}{self._path.suffix}"))


class JudgementFile(JsonLines):
    """A file of judged requests.

    Parameters
    ----------
    path : Path
        Made with the first judgement.
    """

    def of(self, query: str) -> dict[str, Any] | None:
        """Return the judged request of this text, the last one; None where there is none."""
        found = [value for _, value in self.lines() if value is not None and value.get("query") == query]
        return found[-1] if found else None

    def count(self) -> int:
        """Return how many requests the file has."""
        return sum(value is not None for _, value in self.lines())

    def text(self) -> str:
        """Return the file as it stands."""
        return "".join(f"{line}\n" for line, _ in self.lines())

    def write(self, query: str, right: list[str], wrong: list[str], wanted: Wanted | None = None) -> None:
        """Write the judgement of a request in the place of the one that it has, or at the end.

        Parameters
        ----------
        query : str
        right : list of str
            The tools that serve it; without any nothing does.
        wrong : list of str
            A note, which evaluations leave alone.
        wanted : str or None
            ``any``: one of the tools in `right` is enough. ``all``: each is a need of its own. None leaves needs that
            the line has as people divided them, with what is new in the first.
        """
        lines = self.lines()
        places = [at for at, (_, value) in enumerate(lines) if value is not None and value.get("query") == query]
        if not places and len(lines) >= MAX_REQUESTS:
            raise TooMany(self.path.name)
        before = lines[places[-1]][1] if places else None
        judged = dict(before or {"query": query})
        judged["needs"] = _needs(judged.get("needs"), list(dict.fromkeys(right)), wanted)
        judged.pop("wrong", None)
        if wrong:
            judged["wrong"] = wrong
        self._store([text for text, _ in lines], places[-1] if places else None, judged)

    def add(self, query: str, right: list[str], *, source: str) -> None:
        """Write a judgement of which one tool is enough at the end, where the request has none."""
        lines = self.lines()
        if any(value is not None and value.get("query") == query for _, value in lines):
            return
        if len(lines) >= MAX_REQUESTS:
            raise TooMany(self.path.name)
        self._store(
            [text for text, _ in lines], None, {"query": query, "needs": [right] if right else [], "source": source}
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return the judged requests, of those that are there several times the last."""
        return list({value["query"]: value for value in self.values() if isinstance(value.get("query"), str)}.values())

    def put(self, query: str, needs: list[list[str]], wrong: list[str], *, was: str | None = None) -> None:
        """Write what a request needs, and leave its other fields; with `was` it had that text before."""
        lines = self.lines()
        places = [
            at for at, (_, value) in enumerate(lines) if value is not None and value.get("query") == (was or query)
        ]
        if not places and len(lines) >= MAX_REQUESTS:
            raise TooMany(self.path.name)
        judged = dict((lines[places[-1]][1] if places else None) or {}) | {"query": query, "needs": needs}
        judged.pop("wrong", None)
        if wrong:
            judged["wrong"] = wrong
        self._store([text for text, _ in lines], places[-1] if places else None, judged)

    def append(self, values: list[dict[str, Any]]) -> None:
        """Write lines that were taken out at the end again."""
        lines = [text for text, _ in self.lines()]
        if len(lines) + len(values) > MAX_REQUESTS:
            raise TooMany(self.path.name)
        self.replace([*lines, *(json.dumps(value, ensure_ascii=False) for value in values)])

    def queries(self) -> set[str]:
        """Return the requests that are judged."""
        return {str(value.get("query")) for _, value in self.lines() if value is not None}

    def rejected(self) -> dict[str, Any]:
        """Return the needs that were rejected, by their request."""
        return {str(value.get("query")): value.get("needs") for _, value in self._rejections().lines() if value}

    def reject(self, query: str, needs: list[list[str]]) -> None:
        """Remember that a request does not have these needs: the last of each request, the newest of them all."""
        rejections = self._rejections()
        line = json.dumps({"query": query, "needs": needs}, ensure_ascii=False)
        kept = [text for text, value in rejections.lines() if value is not None and value.get("query") != query]
        rejections.replace([*kept, line][-MAX_REQUESTS:])

    def _rejections(self) -> JsonLines:
        return self.next_to("rejected")

    def forget(self, query: str) -> None:
        """Take the lines of a request out."""
        lines = self.lines()
        kept = [text for text, value in lines if value is None or value.get("query") != query]
        if len(kept) < len(lines):
            self.replace(kept)

    def _store(self, lines: list[str], place: int | None, judged: dict[str, Any]) -> None:
        line = json.dumps(judged, ensure_ascii=False)
        self.replace([*lines, line] if place is None else [*lines[:place], line, *lines[place + 1 :]])


def _needs(before: Any, right: list[str], wanted: Wanted | None) -> list[list[str]]:
    """Return the needs that these tools serve: as is wanted, or as they were divided, with what is new in the first."""
    if wanted == "any":
        return [right] if right else []
    if wanted == "all":
        return [[name] for name in right]
    if not isinstance(before, list) or not all(isinstance(need, list) for need in before):
        before = []
    kept = [[name for name in need if name in right] for need in before]
    known = {name for need in kept for name in need}
    new = [name for name in right if name not in known]
    if new:
        kept = [[*kept[0], *new], *kept[1:]] if kept else [new]
    return [need for need in kept if need]
