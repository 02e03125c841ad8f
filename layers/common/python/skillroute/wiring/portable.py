"""Export and import of all that an organisation has, over the kinds of all slices, and their routes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.wiring.catalogue import CatalogueParts
from skillroute.wiring.mail import MailParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.core.portable.export import Export
    from skillroute.core.portable.model import Portable
    from skillroute.core.portable.restore import ImportLines
    from skillroute.core.postgres.database import Database


class PortableParts(CatalogueParts, MailParts):
    """Lines of every kind."""

    def portable_kinds(self, database: Database) -> list[Portable]:
        """Return the kinds of lines over a database, in the order in which they are written.

        Each names only what stands before it.
        """
        from skillroute.catalogue.portable import PortableItems, RestoreItems
        from skillroute.mail.portable import PortableMail, RestoreMail
        from skillroute.mail.sync import MAIL_KINDS
        from skillroute.registry.portable import PortableEntities
        from skillroute.registry.servers import RegisteredServers
        from skillroute.registry.sync import SyncRegistry
        from skillroute.skills.assignments.portable import ItemDecisions
        from skillroute.skills.portable import PortableSkills, RestoreSkills
        from skillroute.skills.suggestions.portable import PortableSuggestions, RestoreSuggestions

        writer, skills = self.writer_to(database), ItemDecisions()
        registry, mail = SyncRegistry(writer, self.known_requests), RestoreMail(self.of_messages(writer))
        return [
            PortableSkills(RestoreSkills(writer)),
            PortableItems(RestoreItems(writer, RegisteredServers(), skills, self.known_requests), skills),
            PortableSuggestions(RestoreSuggestions(writer)),
            # Behind the tools, so that what a server is found by is derived once.
            PortableEntities("server", registry),
            PortableEntities("agent", registry),
            *(PortableMail(kind, mail) for kind in MAIL_KINDS),
        ]

    @cached_property
    def export(self) -> Export:
        from skillroute.core.portable.export import Export

        return Export(self.database, self.portable_kinds(self.database))

    @cached_property
    def import_lines(self) -> ImportLines:
        from skillroute.core.portable.restore import ImportLines

        return ImportLines(self.database, self.portable_kinds)

    def portable_routers(self) -> list[APIRouter]:
        """Return the routes of export and import."""
        from skillroute.core.http.portable_routes import router
        from skillroute.core.portable.export import Export
        from skillroute.core.portable.restore import ImportLines

        self.use_cases |= {Export: self.export, ImportLines: self.import_lines}
        return [router]
