"""The use cases over servers and agents."""

from __future__ import annotations

from skillroute.registry.published.read import PublishedRegistry
from skillroute.registry.read import Registry
from skillroute.registry.sync import SyncRegistry
from skillroute.wiring.parts import CoreParts


class RegistryUseCases:
    """Writing, reading and switching servers and agents."""

    def __init__(self, core: CoreParts) -> None:
        self.sync = SyncRegistry(core.writer, core.known_requests)
        self.read = Registry(core.database)
        self.published = PublishedRegistry(core.database)
