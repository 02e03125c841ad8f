"""The use cases over agent mail, and their routes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.wiring.parts import CoreParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.mail.read import Mail
    from skillroute.mail.sync import SyncMail


class MailParts(CoreParts):
    """Writing and reading projects, products, agents and messages."""

    @cached_property
    def sync_mail(self) -> SyncMail:
        from skillroute.mail.sync import SyncMail

        return SyncMail(self.of_messages(self.writer))

    @cached_property
    def mail(self) -> Mail:
        from skillroute.mail.read import Mail

        return Mail(self.database)

    def mail_routers(self) -> list[APIRouter]:
        """Return the routes over agent mail."""
        from skillroute.mail.read import Mail
        from skillroute.mail.routes import router
        from skillroute.mail.sync import SyncMail

        self.use_cases |= {SyncMail: self.sync_mail, Mail: self.mail}
        return [router]
