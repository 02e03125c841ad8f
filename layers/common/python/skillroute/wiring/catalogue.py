"""The use cases over tools, prompts and resources."""

from __future__ import annotations

from skillroute.catalogue.delete_many import DeleteItems
from skillroute.catalogue.read import Catalogue
from skillroute.catalogue.switch import SwitchItem
from skillroute.catalogue.sync import SyncTools
from skillroute.catalogue.trust.review import ReviewDefinitions
from skillroute.catalogue.trust.settle import Trust
from skillroute.core.settings import TrustSettings
from skillroute.registry.servers import RegisteredServers
from skillroute.wiring.parts import CoreParts


class CatalogueUseCases:
    """Writing, reading and deleting items, for which servers of the registry are locked and derived again."""

    def __init__(self, core: CoreParts) -> None:
        servers = RegisteredServers()
        trust = Trust(core.of(TrustSettings).changed_definitions)
        self.sync = SyncTools(core.writer, servers, core.known_requests, trust)
        self.read = Catalogue(core.database, servers)
        self.switch = SwitchItem(core.database, servers)
        self.delete = DeleteItems(core.database, servers)
        self.review = ReviewDefinitions(core.database, servers)
