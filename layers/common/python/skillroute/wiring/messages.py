"""Message search, and its routes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.core.observability import logger
from skillroute.core.settings import SearchSettings
from skillroute.wiring.reranking import RerankParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.mail.search.model import EngineSetting
    from skillroute.mail.search.search import MessageSearch
    from skillroute.mail.search.tools.search import MessageTools


class MessageParts(RerankParts):
    """Searching agent mail."""

    @cached_property
    def message_search(self) -> MessageSearch:
        from skillroute.mail.search.search import MessageSearch

        settings = self.of(SearchSettings)
        return MessageSearch(
            self.replica,
            self.query_embedder,
            self.database,
            self.reranker,
            setting=_engine_setting(settings.search_engine),
            shadow_timeout_s=settings.search_shadow_timeout_s,
            index_wait_s=settings.search_index_wait_s,
            rerank_timeout_s=settings.rerank_timeout_s,
        )

    @cached_property
    def message_tools(self) -> MessageTools:
        from skillroute.mail.search.tools.search import MessageTools

        return MessageTools(self.message_search, self.database)

    def message_routers(self) -> list[APIRouter]:
        """Return the routes that search agent mail."""
        from skillroute.mail.search import routes
        from skillroute.mail.search.search import MessageSearch
        from skillroute.mail.search.tools import routes as tools
        from skillroute.mail.search.tools.search import MessageTools

        self.use_cases |= {MessageSearch: self.message_search, MessageTools: self.message_tools}
        return [routes.router, tools.router]


def _engine_setting(value: str | None) -> EngineSetting | None:
    """Return what the setting says; one that is unknown counts as none, and is warned about: here, once a process."""
    from skillroute.mail.search.model import engine_setting

    setting = engine_setting(value)
    if value and setting is None:
        logger.warning("SKILLROUTE_SEARCH_ENGINE is unknown and counts as not set", extra={"value": value})
    return setting
