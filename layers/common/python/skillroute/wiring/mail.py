"""The use cases over agent mail."""

from __future__ import annotations

from skillroute.mail.read import Mail
from skillroute.mail.sync import SyncMail
from skillroute.wiring.parts import CoreParts


class MailUseCases:
    """Writing and reading projects, products, agents and messages."""

    def __init__(self, core: CoreParts) -> None:
        self.sync = SyncMail(core.of_messages(core.writer))
        self.read = Mail(core.database)
