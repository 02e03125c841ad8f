"""The use cases over agent mail, and their routes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.bootstrap.parts import CoreParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.services.mail import Mail
    from skillroute.services.sync_mail import SyncMail
    from skillroute.web.auth import Access


class MailParts(CoreParts):
    """Writing and reading projects, products, agents and messages."""

    @cached_property
    def sync_mail(self) -> SyncMail:
        from skillroute.services.sync_mail import SyncMail

        return SyncMail(
            self.database,
            self.embedder,
            after_commit=self.after_commit,
            timeout_s=self.settings.batch_timeout_s,
        )

    @cached_property
    def mail(self) -> Mail:
        from skillroute.services.mail import Mail

        return Mail(self.database, after_commit=self.after_commit)

    def mail_routers(self, access: Access) -> list[APIRouter]:
        """Return the routes over agent mail."""
        from skillroute.web.mail_routes import mail_routers

        return mail_routers(self.sync_mail, self.mail, access)
