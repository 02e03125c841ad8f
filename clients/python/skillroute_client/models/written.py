"""The answers of bulk writes: one result for each, in the order of the request."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from skillroute_client.models.base import Answer


class Note(Answer):
    """A warning about a field of an item."""

    field: str
    message: str
    type: str = ""


class Failure(Answer):
    """Why nothing was done about one of several things; programs go by `code` (docs/api.md)."""

    code: str
    detail: Any = None


class ItemResult(Answer):
    """The outcome of one of several writes, which stands at `index` of the request.

    `status` is ``created``, ``updated``, ``unchanged`` or ``failed``; of the last, `errors` says why, and `error` is
    the first of them.
    """

    index: int
    status: str
    error: Note | None = None
    errors: list[Note] = []
    warnings: list[Note] = []
    refusal: str | None = None


class ToolCounts(Answer):
    """The outcome of the tools that a server was written with."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    refused: int = 0


class WriteResult(ItemResult):
    """The outcome of a tool, server, agent, or something of agent mail.

    A tool has `server`, `type` and `name`; a server or agent `path` and `name`, a server `tools` too; mail has `key`.
    """

    id: int | None = None
    server: str | None = None
    type: str | None = None
    name: str | None = None
    path: str | None = None
    key: str | None = None
    tools: ToolCounts | None = None


class SkillResult(ItemResult):
    """The outcome of a skill."""

    id: str | None = None


class LineResult(ItemResult):
    """The outcome of a line of an export."""

    id: int | None = None
    kind: str | None = None


R = TypeVar("R", bound=ItemResult)


class Results(Answer, Generic[R]):
    """The outcomes of several writes."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: int = 0
    degraded: list[str] = []
    results: list[R] = []

    @property
    def failures(self) -> list[R]:
        """Those that were not written."""
        return [result for result in self.results if result.status == "failed"]


class Written(Results[WriteResult]):
    """The outcomes of a bulk write."""


class WrittenSkills(Results[SkillResult]):
    """The outcomes of a bulk write of skills."""


class Imported(Results[LineResult]):
    """The outcomes of the lines of an export; `index` is the place of a line among those that were given."""

    def add(self, other: Imported) -> None:
        """Add what came of further lines."""
        self.created += other.created
        self.updated += other.updated
        self.unchanged += other.unchanged
        self.failed += other.failed
        self.degraded = list(dict.fromkeys([*self.degraded, *other.degraded]))
        self.results = [*self.results, *other.results]
        if other.is_repeated:
            self.mark_repeated()
