"""The catalogue of all connected servers, searched by the stages of the service over an index in memory."""

from __future__ import annotations

import threading
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.facts import facts_of
from skillroute.catalogue.known_requests import NOTHING_KNOWN, KnownRequests
from skillroute.catalogue.model import ItemContent
from skillroute.catalogue.names import name_key
from skillroute.catalogue.rows import IncomingItem
from skillroute.catalogue.schemas import read_item
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.embed import embed_within
from skillroute.core.documents.index.guarded import GuardedIndex
from skillroute.core.documents.model import IndexRecord
from skillroute.core.embedding.model import Vector
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.embedding.views import Refusal
from skillroute.core.errors.model import InvalidInput
from skillroute.core.input.hidden_text import visible_fields
from skillroute.core.time.deadline import Deadline
from skillroute.search.model import SearchRequest, SearchResponse
from skillroute.search.search import ToolSearch

from skillroute_local.connect.memory_index import MemoryIndex
from skillroute_local.connect.no_database import HeldIndex, NothingMissing, SchemasAtHand
from skillroute_local.connect.store import Store
from skillroute_local.mcp_servers.model import EVERY_KIND, Listed, ListedKind

_EMBEDDING_S = 60.0


@dataclass(frozen=True, slots=True)
class Item:
    """A tool, prompt or resource of a connected server.

    Attributes
    ----------
    id : str
        What the agent calls it by: ``git/git_status`` for a tool, ``prompt:...`` and ``resource:...`` for the others.
    listed : Listed
        As its server lists it.
    content : ItemContent
        As the catalogue reads it.
    requests : tuple of str
        The packaged requests that it is found by, too.
    """

    id: str
    server: str
    listed: Listed
    content: ItemContent
    requests: tuple[str, ...] = ()


class Catalogue:
    """The items of all servers. Safe to call from several threads.

    Parameters
    ----------
    embedder : Embedder
    store : Store or None
        Where vectors are kept between two starts.
    known : KnownRequests
        What tools of well-known servers are found by, too.
    """

    def __init__(self, embedder: Embedder, store: Store | None = None, known: KnownRequests = NOTHING_KNOWN) -> None:
        self._embedder = embedder
        self._known = known
        self._store = store
        self._index = GuardedIndex(MemoryIndex(), embedder.model)
        self._lock = threading.Lock()  # of the items; the index has its own
        self._writing = threading.Lock()
        self._items: dict[str, Item] = {}
        self._keys: dict[str, tuple[str, str]] = {}  # by an item's id: its key in the index, and its content's hash
        self._ids: dict[str, str] = {}  # by the key in the index
        self._numbers = count(1)
        self._held = HeldIndex(self._index)
        self._search = ToolSearch(
            self._held,
            QueryEmbedder(embedder),
            SchemasAtHand(self._content),
            NothingMissing(),
            default_ranking="hybrid",
        )

    def put(self, server: str, listed: Sequence[Listed], kinds: Container[ListedKind] = EVERY_KIND) -> list[str]:
        """Let a server have these items of some kinds and no others; return what cannot be taken, and why."""
        problems: list[str] = []
        incoming: dict[str, tuple[Item, IncomingItem]] = {}
        for sent in listed:
            one = replace(sent, value=visible_fields(sent.value, {"name"}))  # as agents are shown it
            try:
                # Requests of its own would rank its tools by what no agent is shown.
                ours = {"type": one.kind, "name": one.name, "server": server, "requests": None}
                content = read_item({**one.value, **ours})
            except InvalidInput as error:
                problems.append(f"{server}: {one.kind} {one.name[:100]}: {error.field}: {error.message}")
                continue
            known = replace(content, requests=self._known.of(content))
            texts = tuple(request.text for request in known.requests or ())
            item = Item(item_id(server, one), server, one, content, texts)
            if item.id in incoming:
                problems.append(f"{server}: {one.kind} {one.name[:100]} is listed twice: the last one is taken")
            incoming[item.id] = (item, IncomingItem.of(known))
        with self._writing:
            self._write(server, incoming, kinds)
        return problems

    def listed(self, server: str) -> list[Listed]:
        """Return the items of a server as it listed them."""
        return [item.listed for item in self.items() if item.server == server]

    def content_hash(self, id_: str) -> str:
        """Return the hash of an item's content; empty where the item is gone."""
        with self._lock:
            return self._keys[id_][1] if id_ in self._keys else ""

    def search(self, request: SearchRequest) -> tuple[SearchResponse, list[str]]:
        """Return the answer to a request, and the ids of its items, which are other ones in the answer itself."""
        response = self._search.search(request, LAPTOP)
        with self._lock:
            found = [tool for tool in response.tools if tool.id in self._ids]  # else gone since
            ids = [self._ids[tool.id] for tool in found]
        return response.model_copy(update={"tools": found}), ids

    def item(self, id_: str) -> Item | None:
        """Return an item by its id, or by its server's name and its own as they are, where that is one item's alone."""
        with self._lock:
            if (found := self._items.get(id_)) is not None:
                return found
            named = [item for item in self._items.values() if id_ == f"{item.server}/{item.listed.name}"]
        return named[0] if len(named) == 1 else None

    def items(self) -> list[Item]:
        """Return all items."""
        with self._lock:
            return list(self._items.values())

    def _content(self, key: str) -> ItemContent | None:
        with self._lock:
            item = self._items.get(self._ids.get(key, ""))
        return item.content if item is not None else None

    def _write(
        self, server: str, incoming: Mapping[str, tuple[Item, IncomingItem]], kinds: Container[ListedKind]
    ) -> None:
        with self._lock:
            known = {
                id_: self._keys[id_]
                for id_, item in self._items.items()
                if item.server == server and item.listed.kind in kinds
            }
            taken = self._items.keys() - known.keys()
        wanted = {id_: pair for id_, pair in incoming.items() if id_ not in taken}
        changed = {
            id_: new for id_, (_, new) in wanted.items() if id_ not in known or known[id_][1] != new.content_hash
        }
        gone = [key for id_, (key, _) in known.items() if id_ not in wanted]
        vectors = self._vectors(list(changed.values()))
        keys = {id_: known[id_][0] if id_ in known else str(next(self._numbers)) for id_ in changed}
        records = [_record(keys[id_], new, vectors.get(new.text.hash)) for id_, new in changed.items()]
        with self._lock:
            for id_, (item, new) in wanted.items():
                self._items[id_] = item
                if id_ in keys:
                    self._keys[id_], self._ids[keys[id_]] = (keys[id_], new.content_hash), id_
            for key in gone:
                self._items.pop(id_ := self._ids.pop(key))
                self._keys.pop(id_)
        self._index.upsert(TOOL_DOCUMENTS, records)
        self._index.delete(TOOL_DOCUMENTS, gone)

    def _vectors(self, items: Sequence[IncomingItem]) -> dict[str, Vector]:
        """Return the vectors of items by the hash of their texts: those that are kept, and the others made now."""
        if not items:
            return {}
        texts = {item.text.hash: item.text.embedding_texts for item in items}
        model = self._embedder.model
        kept = self._store.vectors(model, list(texts)) if self._store else {}
        new = {hash_: views for hash_, views in texts.items() if hash_ not in kept}
        deadline = Deadline(_EMBEDDING_S, callee=EMBEDDING_MODEL)
        made = embed_within(self._embedder, list(new.values()), deadline, what="items")
        vectors = kept | {
            hash_: vector for hash_, vector in zip(new, made, strict=False) if not isinstance(vector, Refusal)
        }
        if self._store:
            self._store.keep_vectors(model, vectors)
        return vectors


def item_id(server: str, listed: Listed) -> str:
    """Return what an agent calls an item by, which no other item has, whatever servers and tools are called.

    Examples
    --------
    >>> item_id("git", Listed("tool", "log", {})), item_id("com.example/git", Listed("prompt", "log", {}))
    ('git/log', 'prompt:com.example%2Fgit/log')
    """
    kind = "" if listed.kind == "tool" else f"{listed.kind}:"
    # So that the first slash ends the server's name, and a colon before it only the kind.
    plain = server.replace("%", "%25").replace("/", "%2F").replace(":", "%3A")
    return f"{kind}{plain}/{listed.name}"


def _record(key: str, item: IncomingItem, vector: Vector | None) -> IndexRecord:
    """Return what the index holds of an item; the payload is that of `mcp.mcp_unified_search_documents`."""
    content = item.content
    facts = facts_of(content, ())
    payload: dict[str, Any] = {
        "db_id": int(key),
        "type": content.key.type,
        "name": content.key.name,
        "name_key": name_key(content.key.name),
        "description": content.description,
        "server": content.key.server,
        "org_id": "",
        "content_hash": item.content_hash,
        "skill_keys": [],
        "primary_skill_key": None,
        "rule_servers": sorted(facts.servers),
        # In the order of mcp.rule_names and mcp.hints_of.
        "rule_names": sorted(facts.names, key=lambda name: (name == content.key.name, name)),
        "hints": sorted(facts.hints, reverse=True),
    }
    return IndexRecord(key, vector, item.text.lexical_text, payload)
