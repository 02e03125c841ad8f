"""A whole Skillroute for tests: everything real but the embedder, with faults to be switched on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from skillroute.core.caller import Caller, Scope

from tests.doubles import (
    EdgeIndexes,
)
from tests.worlds.agent_skills import AgentSkillWorld
from tests.worlds.catalogue import CatalogueWorld, item
from tests.worlds.core import QUERY
from tests.worlds.kept import kept_pool
from tests.worlds.learning import LearningWorld
from tests.worlds.mail import MailWorld
from tests.worlds.mail_search import MailSearchWorld
from tests.worlds.registry import RegistryWorld

__all__ = ["QUERY", "System", "item", "kept_pool", "lent_system", "of_org"]


def of_org(org_id: str | None, *scopes: Scope) -> Caller:
    """Return a caller of an organisation, with every scope unless some are named."""
    return Caller(org_id=org_id, scopes=frozenset(scopes or {Scope.ADMIN}))


class System(CatalogueWorld, RegistryWorld, AgentSkillWorld, MailWorld, MailSearchWorld, LearningWorld):
    """The one world of all tests, each vocabulary in `tests/worlds/`."""


@contextmanager
def lent_system(url: str, edges: EdgeIndexes, **settings: Any) -> Iterator[System]:
    """Lend a system for the length of a block."""
    system = System(url, edges, **settings)
    try:
        yield system
    finally:
        system.close()
