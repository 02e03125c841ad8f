"""Message search."""

from __future__ import annotations

from skillroute.core.observability import logger
from skillroute.core.settings import SearchSettings
from skillroute.mail.search.model import EngineSetting, engine_setting
from skillroute.mail.search.search import MessageSearch
from skillroute.mail.search.tools.search import MessageTools
from skillroute.wiring.parts import CoreParts


class MessageUseCases:
    """Searching agent mail."""

    def __init__(self, core: CoreParts) -> None:
        settings = core.of(SearchSettings)
        self.search = MessageSearch(
            core.replica,
            core.query_embedder,
            core.database,
            core.reranker,
            setting=_engine_setting(settings.search_engine),
            shadow_timeout_s=settings.search_shadow_timeout_s,
            index_wait_s=settings.search_index_wait_s,
            rerank_timeout_s=settings.rerank_timeout_s,
        )
        self.tools = MessageTools(self.search, core.database)


def _engine_setting(value: str | None) -> EngineSetting | None:
    """Return what the setting says; one that is unknown counts as none, and is warned about: here, once a process."""
    setting = engine_setting(value)
    if value and setting is None:
        logger.warning("SKILLROUTE_SEARCH_ENGINE is unknown and counts as not set", extra={"value": value})
    return setting
