"""Export and import of all that an organisation has, over the kinds of all slices."""

from __future__ import annotations

from skillroute.agent_skills.portable import PortableAgentSkills
from skillroute.catalogue.portable import PortableItems, RestoreItems
from skillroute.catalogue.trust.settle import Trust
from skillroute.core.portable.export import Export
from skillroute.core.portable.model import Portable
from skillroute.core.portable.restore import ImportLines
from skillroute.core.postgres.database import Database
from skillroute.core.settings import TrustSettings
from skillroute.mail.portable import PortableMail, RestoreMail
from skillroute.mail.sync import MAIL_KINDS
from skillroute.registry.portable import PortableEntities
from skillroute.registry.servers import RegisteredServers
from skillroute.registry.sync import SyncRegistry
from skillroute.skills.assignments.portable import ItemDecisions
from skillroute.skills.portable import PortableSkills, RestoreSkills
from skillroute.skills.suggestions.portable import PortableSuggestions, RestoreSuggestions
from skillroute.wiring.parts import CoreParts


class PortableUseCases:
    """Writing lines of every kind, and reading them."""

    def __init__(self, core: CoreParts) -> None:
        self.export = Export(core.database, portable_kinds(core, core.database))
        self.import_lines = ImportLines(core.database, lambda database: portable_kinds(core, database))


def portable_kinds(core: CoreParts, database: Database) -> list[Portable]:
    """Return the kinds of lines over a database, in the order in which they are written.

    Each names only what stands before it.
    """
    writer, skills = core.writer_to(database), ItemDecisions()
    trust = Trust(core.of(TrustSettings).changed_definitions)
    registry, mail = SyncRegistry(writer, core.known_requests), RestoreMail(core.of_messages(writer))
    return [
        PortableSkills(RestoreSkills(writer)),
        PortableItems(RestoreItems(writer, RegisteredServers(), skills, core.known_requests, trust), skills),
        PortableSuggestions(RestoreSuggestions(writer)),
        # Behind the tools, so that what a server is found by is derived once.
        PortableEntities("server", registry),
        PortableEntities("agent", registry),
        PortableAgentSkills(writer),
        *(PortableMail(kind, mail) for kind in MAIL_KINDS),
    ]
