"""What can be asked of agent mail, over every route, by somebody who has heard of everything that is there."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.e2e.mail_world import OPEN, SECRET
from tests.e2e.processes import SOAK

SEARCH = "/api/v1/search/messages"
TOOLS = "/api/v1/tools/search_messages"
NEVER = 10**12
"""An id that nothing has."""

Asked = tuple[str, str, dict[str, Any]]
"""A method, a path, and parameters or a body."""


@dataclass(frozen=True)
class Known:
    """What an attacker may have heard of: ids and keys of what is there, and of what never was."""

    ids: tuple[int, ...]
    products: tuple[int, ...]
    projects: tuple[int, ...]
    cursors: tuple[str, ...]


def searches(known: Known, seed: int) -> Iterator[Asked]:
    """Yield searches of every kind, by chance: whatever a field can be, it is in some of them."""
    chance = random.Random(seed)
    names = ("Ann", "Ben", "cat", "Eve", "Gil", "Mona", "Nobody")
    redaction = {"redact_body": True, "redact_agent_names": True, "redact_thread_ids": True}
    always: dict[str, tuple[Any, ...]] = {
        "text": ("ledger", "quicksilver", "apples harvest", "Cat", "T-secret", "", "baskets in the barn", "?!"),
        "doc_kind": ("message", "message", "message", "agent", "project"),
        "mode": ("lexical", "semantic", "hybrid", "hybrid_rerank"),
        "ranking": ("relevance", "relevance", "recency"),
        "limit": (1, 2, 3, 50, 1000),
        "explain": (True, True, False),
    }
    sometimes: dict[str, tuple[float, tuple[Any, ...]]] = {
        "rrf_k": (0.1, (1, 1000)),
        "min_score": (0.1, (0.0, 0.3, 1.0)),
        "project_id": (0.15, known.projects),
        "product_id": (0.1, known.products),
        "importance": (0.05, (["urgent"], ["low", "high"])),
        "direction": (0.1, ("inbox", "outbox")),
        "agent_name": (0.1, names),
        "sender_name": (0.05, names),
        "recipient_name": (0.05, names),
        "thread_id": (0.05, ("T-secret", "T-1")),
        "ack_required": (0.05, (True, False)),
        "time_range": (0.05, ({"min_ts": 1_700_000_000_000_000, "max_ts": 1_700_000_020_000_000},)),
        "scope": (0.4, tuple(_scopes(known))),
        "redaction": (0.3, (redaction, {"redact_body": True})),
        "cursor": (0.3, known.cursors),
    }
    while True:
        request = {name: chance.choice(values) for name, values in always.items()}
        request |= {name: chance.choice(of) for name, (often, of) in sometimes.items() if chance.random() < often}
        yield "POST", SEARCH, request


def _scopes(known: Known) -> Iterator[dict[str, Any]]:
    for name in ("Ann", "Ben", "Cat", "Eve", "Nobody"):
        yield {"caller_scoped": {"caller_agent": name}}
    for allowed in ([], list(known.projects), *([id_] for id_ in known.projects)):
        yield {"project_set": {"allowed_project_ids": allowed}}


def tool_calls(known: Known) -> Iterator[Asked]:
    for key, query in itertools.product((OPEN, SECRET, "cellar", "depths", "mine", "never"), ("ledger", "quicksilver")):
        yield "POST", TOOLS, {"project_key": key, "query": query, "explain": True, "limit": 3}
    for key, sender in itertools.product((OPEN, SECRET), ("Ben", "Cat", "Nobody")):
        yield "POST", TOOLS, {"project_key": key, "query": f"ledger from:{sender}", "sender": sender, "mode": "hybrid"}
    for key, project in itertools.product(("mixed", "hoard", "cask", "never"), (None, OPEN, SECRET, "depths", "never")):
        arguments = {"product_key": key, "query": "apples", "limit": 2} | ({"project": project} if project else {})
        yield "POST", f"{TOOLS}_product", arguments
    for cursor in known.cursors[:: 1 if SOAK else 7]:
        yield "POST", f"{TOOLS}_product", {"product_key": "mixed", "query": "ledger", "limit": 3, "cursor": cursor}


def readings(known: Known) -> Iterator[Asked]:
    """Yield every way to read a list."""
    for kind in ("projects", "products", "agents", "messages"):
        for page in ({}, {"limit": 1}, {"limit": 3, "offset": 2}, {"offset": 1000}):
            yield "GET", f"/api/v1/mail/{kind}", page
    for key in (OPEN, SECRET, "cellar", "depths", "mine", "mixed", "hoard", "m1", "s1-1", "h1", "c1", "never"):
        for kind in ("projects", "products", "messages"):
            yield "GET", f"/api/v1/mail/{kind}", {"key": key}
    for name in ("ann", "Ben", "Cat", "Eve", "Gil", "Mona", "Otto", "Nobody"):
        yield "GET", "/api/v1/mail/agents", {"name": name}
        yield "GET", "/api/v1/mail/messages", {"sender": name, "limit": 2}
        yield "GET", "/api/v1/mail/messages", {"recipient": name, "limit": 2}
    for id_ in known.projects:
        yield "GET", "/api/v1/mail/agents", {"project_id": id_}
        yield "GET", "/api/v1/mail/messages", {"project_id": id_, "limit": 2}
    for where in ({"thread_id": "T-secret"}, {"thread_id": "T-1"}, {"importance": "urgent"}, {"ack_required": True}):
        yield "GET", "/api/v1/mail/messages", where


def single_things(known: Known) -> Iterator[Asked]:
    for id_ in known.ids:
        for kind in ("projects", "products", "agents", "messages"):
            yield "GET", f"/api/v1/mail/{kind}/{id_}", {}
        # An agent that gets none of what Ann may see: nothing is changed.
        yield "POST", f"/api/v1/mail/messages/{id_}/acknowledge", {"agent": "Eve"}
