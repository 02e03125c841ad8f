"""The use cases over tools, prompts and resources, and their routes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.wiring.registry import RegistryParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.catalogue.delete_many import DeleteItems
    from skillroute.catalogue.read import Catalogue
    from skillroute.catalogue.switch import SwitchItem
    from skillroute.catalogue.sync import SyncTools


class CatalogueParts(RegistryParts):
    """Writing, reading and deleting items, for which servers of the registry are locked and derived again."""

    @cached_property
    def sync_tools(self) -> SyncTools:
        from skillroute.catalogue.sync import SyncTools

        return SyncTools(self.writer, self.servers, self.known_requests)

    @cached_property
    def catalogue(self) -> Catalogue:
        from skillroute.catalogue.read import Catalogue

        return Catalogue(self.database, self.servers)

    @cached_property
    def switch_item(self) -> SwitchItem:
        from skillroute.catalogue.switch import SwitchItem

        return SwitchItem(self.database, self.servers)

    @cached_property
    def delete_items(self) -> DeleteItems:
        from skillroute.catalogue.delete_many import DeleteItems

        return DeleteItems(self.database, self.servers)

    def catalogue_routers(self) -> list[APIRouter]:
        """Return the routes over tools, prompts and resources."""
        from skillroute.catalogue.delete_many import DeleteItems
        from skillroute.catalogue.read import Catalogue
        from skillroute.catalogue.routes import router
        from skillroute.catalogue.switch import SwitchItem
        from skillroute.catalogue.sync import SyncTools

        self.use_cases |= {
            SyncTools: self.sync_tools,
            Catalogue: self.catalogue,
            SwitchItem: self.switch_item,
            DeleteItems: self.delete_items,
        }
        return [router]
