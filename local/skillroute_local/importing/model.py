"""The output of formats: rows of the bulk writes, what could not be read, and what the source lists in full."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from skillroute.catalogue.model import ItemKey, ItemType

from skillroute_local.client import Written


class Unreadable(Exception):
    """A source, or a part of it that everything else depends on, cannot be read.

    Parameters
    ----------
    where : str
        The file with the line or JSON pointer: ``petstore.yaml#/paths``.
    reason : str
    """

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Row:
    """One object of a bulk write.

    Attributes
    ----------
    kind : str
        The bulk write that takes it.
    where : str
        Names it to a person: ``tools.jsonl:3``, ``petstore.yaml#/paths/~1pets/get``.
    size : int
        Bytes, for the progress bar and for how many fit into a call.
    """

    kind: Written
    where: str
    value: dict[str, Any]
    size: int


class SkillPath(NamedTuple):
    """The path of an Agent Skill."""

    path: str


About = ItemKey | SkillPath | str | None
"""The subject of a refusal: an item, an Agent Skill, a server by its name, or an unknown part of the source."""


class Refuse(Protocol):
    """Notes what cannot be imported. What it is about is not taken for gone, though nothing of it is written."""

    def __call__(self, where: str, reason: str, about: About = None, /) -> None:
        """Note it."""
        ...


class Scope(NamedTuple):
    """Items that a source lists in full: of a server and a type, with a tag where there is one."""

    server: str
    type: ItemType
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A source that is read.

    Attributes
    ----------
    kind : str
        What it holds; that of most rows.
    rows : iterable of Row
        Read as they are asked for, once.
    size : int
        Bytes of all rows together, as far as that is known: the end of the progress bar.
    scopes : sequence of Scope
        What the source lists in full: of that, what it no longer has may be removed.
    scopes_of_rows : bool
        Whether it lists all items of the servers and types that its rows name.
    partial : str or None
        Why nothing of it may be removed, such as that the list goes on elsewhere.
    below : str or None
        The first segments that the paths of its Agent Skills have, and no other source's: it lists all below them.
    former : Scope or None
        The resources as which former imports wrote its Agent Skills.
    notes : sequence of str
        What a person should know of it.
    left_out : sequence of str
        What its rows lack of what their source says, with the place and the reason: they go in without it.
    """

    kind: Written
    rows: Iterable[Row]
    size: int
    scopes: Sequence[Scope] = field(default=())
    scopes_of_rows: bool = False
    partial: str | None = None
    below: str | None = None
    former: Scope | None = None
    notes: Sequence[str] = field(default=())
    left_out: Sequence[str] = field(default=())


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of the command line for all sources.

    Attributes
    ----------
    server : str or None
        The server that items are of; of an `mcp.json` the one that is read.
    timeout_s : float
        How long an MCP server has to start, and again to list all that it has.
    register : bool
        Whether MCP servers that are started or reached are written into the registry as well.
    with_address : bool
        Whether those that are reached are written there with their addresses, so that they can be called.
    """

    server: str | None = None
    timeout_s: float = 60.0
    register: bool = False
    with_address: bool = False
