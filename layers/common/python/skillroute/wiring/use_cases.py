"""All slices together: the jobs that go over all of them, and the routes of each function."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.core.settings import RelaySettings, RerankSettings, SearchSettings, WebSettings
from skillroute.wiring.mcp import McpParts
from skillroute.wiring.portable import PortableParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.core.documents.embed_missing import EmbedMissing
    from skillroute.core.documents.reindex import Reindex
    from skillroute.core.documents.verify import Verify
    from skillroute.core.http.auth import Access
    from skillroute.core.queue.failed_work import FailedWork
    from skillroute.core.relay import Relay


class Parts(PortableParts, McpParts):
    """All parts of one process, each made when first asked for."""

    @cached_property
    def embed_missing(self) -> EmbedMissing:
        from skillroute.core.documents.embed_missing import EmbedMissing

        return EmbedMissing(self.database, self.embedder, **self.job)

    @cached_property
    def reindex(self) -> Reindex:
        from skillroute.core.documents.reindex import Reindex
        from skillroute.mail.refresh import refresh_mail
        from skillroute.registry.refresh import refresh_all

        refresh = (refresh_all, refresh_mail)
        job = {**self.job, "derive": self.aggregate_skill.derive_all, "finish": self.after_reindex}
        return Reindex(self.storage, self.embedder, refresh=refresh, **job)

    @cached_property
    def failed_work(self) -> FailedWork:
        from skillroute.core.queue.failed_work import FailedWork
        from skillroute.skills.tool_names import tool_names

        return FailedWork(self.database, self.notifier, tool_names)

    @cached_property
    def relay(self) -> Relay:
        from skillroute.core.relay import Relay
        from skillroute.skills.classification.lost_tools import QueueLostTools

        settings = self.of(RelaySettings)
        return Relay(
            self.database,
            self.dispatch,
            self.failed_work,
            QueueLostTools(self.database),
            self.suggest_skills.approve_waiting,
            self.embed_missing,
            catch_up=self.catch_up if settings.writers_fill_index else None,
        )

    @cached_property
    def verify(self) -> Verify:
        from skillroute.core.documents.check_points import check_points
        from skillroute.core.documents.verify import Verify
        from skillroute.mail.refresh import check_mail
        from skillroute.registry.refresh import check_entities
        from skillroute.skills.verify import CheckSkills

        checks = (CheckSkills(self.aggregate_skill), check_entities, check_mail, check_points)
        return Verify(self.database, self.feed, self.replica, checks)

    @property
    def cors_origins(self) -> tuple[str, ...]:
        """The origins of pages that may ask from a browser."""
        return self.of(WebSettings).cors_origins

    @cached_property
    def access(self) -> Access:
        """Who may call."""
        from skillroute.core.http.auth import iam_access, jwt_access, open_access
        from skillroute.core.http.claims import TokenRules
        from skillroute.core.http.iam import admin_roles

        settings = self.of(WebSettings)
        if settings.auth == "none":
            return open_access()
        if settings.auth == "iam":
            return iam_access(admin_roles(settings.iam_admins))
        rules = TokenRules(
            issuer=settings.jwt_issuer or "",
            audiences=settings.jwt_audiences,
            org_claim=settings.jwt_org_claim,
            agent_claim=settings.jwt_agent_claim,
            org_required=settings.jwt_require_org,
            scope_prefix=settings.jwt_scope_prefix,
        )
        if settings.jwt_keys is None:
            return jwt_access(rules)
        from skillroute.core.http.keys import KeySet

        return jwt_access(rules, KeySet(settings.jwt_keys).claims_of)

    def _let_callers_in(self) -> None:
        """Give the app what the routes of all slices ask for: who may call, and how much."""
        from skillroute.core.http.auth import Access
        from skillroute.core.http.lanes import Lanes
        from skillroute.core.rationing.work import Work

        self.use_cases |= {Access: self.access, Lanes: self.lanes, Work: self.work}

    def search_routers(self) -> list[APIRouter]:
        """Return the routes of the search function."""
        from skillroute.core.documents.refused import RefusedTexts
        from skillroute.core.documents.verify import Verify
        from skillroute.core.http import health, verify_routes

        self._let_callers_in()
        self.use_cases[Verify] = self.verify
        self.use_cases[health.HealthReport] = health.HealthReport(
            self.replica,
            self.query_embedder,
            RefusedTexts(self.database).count,
            self.of(SearchSettings).default_mode,
            self.recent_searches,
            reranks=self.of(RerankSettings).rerank_provider != "none",
        )
        return [
            *self.tool_search_routers(),
            *self.registry_search_routers(),
            *self.message_routers(),
            verify_routes.router,
            health.router,
        ]

    def catalog_routers(self) -> list[APIRouter]:
        """Return the routes of the catalog function."""
        self._let_callers_in()
        return [
            *self.catalogue_routers(),
            *self.registry_routers(),
            *self.mail_routers(),
            *self.portable_routers(),
        ]

    def skills_routers(self) -> list[APIRouter]:
        """Return the routes of the skills function."""
        self._let_callers_in()
        return self.skill_routers()

    def mcp_routers(self) -> list[APIRouter]:
        """Return the routes of the protocol that agents speak."""
        return self.mcp_routers_of(self.access)
