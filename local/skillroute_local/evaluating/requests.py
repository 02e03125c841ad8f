"""Judged requests: what people ask for, and which tools serve it. One JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Annotated, Self, TextIO

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from skillroute.core.errors.model import InvalidInput
from skillroute.core.input.json_input import validated
from skillroute.search.model import Query

from skillroute_local.documents import Problem, lines_of, open_new, require_new

_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Need = Annotated[list[_Name], Field(min_length=1)]


class JudgedRequest(BaseModel):
    """A line of the file. Other fields than these two are the writer's own notes, and are left alone."""

    model_config = ConfigDict(frozen=True, strict=True)

    query: Query
    needs: list[_Need] = Field(description="For each need the tools of which one is enough; empty: nothing serves it.")


@dataclass(frozen=True, slots=True)
class Row:
    """A request and its place in the file, such as ``requests.jsonl:7``."""

    where: str
    request: JudgedRequest


def read_requests(lines: Iterable[bytes], name: str, problem: Problem) -> Iterator[Row]:
    """Yield the judged requests of a file.

    Parameters
    ----------
    name : str
        What the file is called in problems.
    problem : callable
        Called for each line that is wrong, with file, line and field.
    """
    for row in lines_of(lines, name, problem):
        try:
            yield Row(row.where, validated(JudgedRequest, row.value, whole="line"))
        except InvalidInput as error:
            problem(f"{row.where}: {error}")


class RequestFile:
    """A new file of requests, to which each is written as soon as it is made: an interruption loses none.

    It is made with the first of them: without any, a file that `force` would overwrite stays as it is.

    Raises
    ------
    LocalError
        There is such a file and `force` is not given, or it cannot be written.
    """

    def __init__(self, path: Path, *, force: bool) -> None:
        require_new(path, force=force)
        self._path = path
        self._force = force
        self._file: TextIO | None = None
        self.written = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, query: str, tool: str) -> None:
        """Append a request that one tool serves."""
        if self._file is None:
            self._file = open_new(self._path, force=self._force)
        self._file.write(json.dumps({"query": query, "needs": [[tool]]}, ensure_ascii=False) + "\n")
        self._file.flush()
        self.written += 1
