"""The use cases over tools, prompts and resources."""

from __future__ import annotations

from skillroute.catalogue.delete_many import DeleteItems
from skillroute.catalogue.read import Catalogue
from skillroute.catalogue.switch import SwitchItem
from skillroute.catalogue.sync import SyncTools
from skillroute.registry.servers import RegisteredServers
from skillroute.wiring.parts import CoreParts


class CatalogueUseCases:
    """Writing, reading and deleting items, for which servers of the registry are locked and derived again."""

    def __init__(self, core: CoreParts) -> None:
        servers = RegisteredServers()
        self.sync = SyncTools(core.writer, servers, core.known_requests)
        self.read = Catalogue(core.database, servers)
        self.switch = SwitchItem(core.database, servers)
        self.delete = DeleteItems(core.database, servers)
