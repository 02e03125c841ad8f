"""The tools of a catalogue by the names that judged requests call them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillroute_local.evaluating.requests import Row


@dataclass(frozen=True, slots=True)
class Tool:
    """An active item of the catalogue; a `server` of "" means none."""

    id: str
    server: str
    name: str
    type: str = "tool"
    description: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name in judged requests: ``server/name``, or the name alone where it has no server."""
        return f"{self.server}/{self.name}" if self.server else self.name


@dataclass(frozen=True, slots=True)
class Question:
    """A request whose tools are all known: the ids of those that serve each need."""

    where: str
    query: str
    needs: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """The requests that can be measured.

    Attributes
    ----------
    unknown : dict of str to str
        Names that mean no tool, or not one alone, with the reason.
    left_out : int
        Requests with a need that no tool is left for: measured, they would count as misses of the search.
    """

    questions: tuple[Question, ...]
    unknown: dict[str, str]
    left_out: int


class Names:
    """Resolves names: ``server/name``, or a name alone where only one server has it."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._by_title: dict[str, set[str]] = defaultdict(set)
        self._by_name: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for tool in tools:
            self._by_title[tool.title].add(tool.id)
            self._by_name[tool.name][tool.server].add(tool.id)

    def ids(self, name: str) -> frozenset[str]:
        """Return the ids of the tools of a name. Raises `LookupError` with the reason where it means none.

        Several tools of one server and name, such as a tool and a prompt, or a global one and an organisation's own,
        are equally right.
        """
        if name in self._by_title:
            return frozenset(self._by_title[name])
        servers = self._by_name.get(name, {})
        if len(servers) > 1:
            choices = ", ".join(f"{server}/{name}" for server in sorted(servers)[:3])
            raise LookupError(f"{len(servers)} servers have it: write {choices}{', ...' if len(servers) > 3 else ''}")
        if not servers:
            raise LookupError("not in the catalogue, or switched off")
        [ids] = servers.values()
        return frozenset(ids)


def judged(rows: Iterable[Row], tools: Sequence[Tool]) -> Judged:
    """Look up what the requests need. A need keeps those of its tools that are there."""
    names, questions, unknown, left_out = Names(tools), list[Question](), dict[str, str](), 0
    for row in rows:
        needs = []
        for need in row.request.needs:
            ids: frozenset[str] = frozenset()
            for name in need:
                try:
                    ids |= names.ids(name)
                except LookupError as error:
                    unknown[name] = str(error)
            needs.append(ids)
        if all(needs):
            questions.append(Question(row.where, row.request.query, tuple(needs)))
        else:
            left_out += 1
    return Judged(tuple(questions), unknown, left_out)
