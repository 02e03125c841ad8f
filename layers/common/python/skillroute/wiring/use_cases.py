"""The use cases over the parts, and the routes and consumers over the use cases."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from skillroute.core.settings import ClassifierSettings, RelaySettings, SearchSettings, WebSettings
from skillroute.wiring.mail import MailParts
from skillroute.wiring.messages import MessageParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.catalogue.catalogue import Catalogue
    from skillroute.catalogue.servers import ServersOfItems
    from skillroute.catalogue.sync import SyncTools
    from skillroute.core.documents.embed_missing import EmbedMissing
    from skillroute.core.documents.reindex import Reindex
    from skillroute.core.documents.verify import Verify
    from skillroute.core.http.auth import Access
    from skillroute.core.queue.failed_work import FailedWork
    from skillroute.core.relay import Relay
    from skillroute.registry.manage import Registry
    from skillroute.registry.search.search import RegistrySearch
    from skillroute.registry.sync import SyncRegistry
    from skillroute.search.search import ToolSearch
    from skillroute.skills.assign import AssignSkills
    from skillroute.skills.change import ChangeSkill
    from skillroute.skills.classify import ClassifyTools
    from skillroute.skills.create import CreateSkill, PrepareSkill
    from skillroute.skills.describe import DescribeSkill
    from skillroute.skills.read import ReadSkills
    from skillroute.skills.review import ReviewSuggestions
    from skillroute.skills.suggest import SuggestSkills


class Parts(MailParts, MessageParts):
    """All parts of one process, each made when first asked for."""

    @cached_property
    def tool_search(self) -> ToolSearch:
        from skillroute.search.enrich import SchemaLoader
        from skillroute.search.missing import MissingVectors
        from skillroute.search.search import ToolSearch

        settings = self.of(SearchSettings)
        return ToolSearch(
            self.replica,
            self.query_embedder,
            SchemaLoader(self.database, cache_size=settings.schema_cache_size),
            MissingVectors(self.database),
            default_ranking=settings.default_mode,
            hybrid_skill_weight=settings.hybrid_skill_weight,
        )

    @cached_property
    def registry_search(self) -> RegistrySearch:
        from skillroute.registry.search.search import RegistrySearch

        return RegistrySearch(
            self.replica,
            self.query_embedder,
            self.database,
            default_fusion=self.of(SearchSettings).registry_fusion,
            threads=self.settings.database_pool_size,
        )

    @cached_property
    def _job(self) -> dict[str, Any]:
        return {"after_commit": self.after_commit, "timeout_s": self.settings.batch_timeout_s}

    @cached_property
    def servers(self) -> ServersOfItems:
        from skillroute.registry.servers import RegisteredServers

        return RegisteredServers(self.database, self.document_embedder)

    @cached_property
    def sync_tools(self) -> SyncTools:
        from skillroute.catalogue.sync import SyncTools

        return SyncTools(self.database, self.document_embedder, self.servers, **self._job)

    @cached_property
    def sync_registry(self) -> SyncRegistry:
        from skillroute.registry.sync import SyncRegistry

        return SyncRegistry(self.database, self.document_embedder, **self._job)

    @cached_property
    def registry(self) -> Registry:
        from skillroute.registry.manage import Registry

        return Registry(self.database, after_commit=self.after_commit)

    @cached_property
    def embed_missing(self) -> EmbedMissing:
        from skillroute.core.documents.embed_missing import EmbedMissing

        return EmbedMissing(self.database, self.embedder, **self._job)

    @cached_property
    def reindex(self) -> Reindex:
        from skillroute.core.documents.reindex import Reindex
        from skillroute.mail.refresh import refresh_mail
        from skillroute.registry.refresh import refresh_all

        refresh = (refresh_all, refresh_mail)
        job = {**self._job, "after_commit": self.after_reindex}
        return Reindex(self.database, self.embedder, refresh=refresh, derive=self.aggregate_skill.derive_all, **job)

    @cached_property
    def catalogue(self) -> Catalogue:
        from skillroute.catalogue.catalogue import Catalogue

        return Catalogue(self.database, self.servers, after_commit=self.after_commit)

    @cached_property
    def prepare_skill(self) -> PrepareSkill:
        from skillroute.skills.create import PrepareSkill

        return PrepareSkill(self.document_embedder, timeout_s=self.settings.query_timeout_s)

    @cached_property
    def create_skill(self) -> CreateSkill:
        from skillroute.skills.create import CreateSkill

        return CreateSkill(self.database, self.prepare_skill, after_commit=self.after_commit)

    @cached_property
    def change_skill(self) -> ChangeSkill:
        from skillroute.skills.change import ChangeSkill

        return ChangeSkill(self.database, self.prepare_skill, after_commit=self.after_commit)

    @cached_property
    def read_skills(self) -> ReadSkills:
        from skillroute.skills.read import ReadSkills

        return ReadSkills(self.database)

    @cached_property
    def assign_skills(self) -> AssignSkills:
        from skillroute.skills.assign import AssignSkills

        return AssignSkills(self.database, after_commit=self.after_commit)

    @cached_property
    def describe_skill(self) -> DescribeSkill:
        from skillroute.skills.describe import DescribeSkill

        timeout_s = self.of(ClassifierSettings).chat_timeout_s
        return DescribeSkill(self.database, self.chat, self.notifier, timeout_s=timeout_s)

    @cached_property
    def suggest_skills(self) -> SuggestSkills:
        from skillroute.skills.suggest import SuggestSkills

        return SuggestSkills(
            self.database,
            self.prepare_skill,
            self.notifier,
            approve_after=self.settings.auto_approve_after,
            after_commit=self.after_commit,
        )

    @cached_property
    def review_suggestions(self) -> ReviewSuggestions:
        from skillroute.skills.review import ReviewSuggestions

        return ReviewSuggestions(self.database, self.prepare_skill, self.change_skill, after_commit=self.after_commit)

    @cached_property
    def classify_tools(self) -> ClassifyTools:
        from skillroute.skills.classify import ClassifyTools
        from skillroute.skills.profiles import SkillProfiles

        return ClassifyTools(
            self.database,
            self.classifier,
            SkillProfiles(self.database),
            self.suggest_skills,
            own_model=self.query_embedder.model,
            after_commit=self.after_commit,
            timeout_s=self.of(ClassifierSettings).chat_timeout_s,
        )

    @cached_property
    def failed_work(self) -> FailedWork:
        from skillroute.core.queue.failed_work import FailedWork
        from skillroute.skills.tool_names import tool_names

        return FailedWork(self.database, self.notifier, tool_names, max_receives=self.settings.queue_max_receives)

    @cached_property
    def relay(self) -> Relay:
        from skillroute.core.relay import Relay
        from skillroute.skills.lost_tools import QueueLostTools

        settings = self.of(RelaySettings)
        return Relay(
            self.database,
            self.dispatch,
            self.failed_work,
            QueueLostTools(self.database),
            self.suggest_skills.approve_waiting,
            self.embed_missing,
            catch_up=self.catch_up if settings.qdrant_url else None,
            again_after_s=settings.requeue_after_s,
            prune_after_s=settings.prune_after_s,
        )

    @cached_property
    def verify(self) -> Verify:
        from skillroute.core.documents.verify import Verify
        from skillroute.mail.refresh import check_mail
        from skillroute.registry.refresh import check_entities
        from skillroute.skills.verify import CheckSkills

        checks = (CheckSkills(self.aggregate_skill), check_entities, check_mail)
        return Verify(self.database, self.feed, self.replica, checks)

    @cached_property
    def access(self) -> Access:
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

    def search_routers(self) -> list[APIRouter]:
        """Return the routes of the search function."""
        from skillroute.core.documents.refused import RefusedTexts
        from skillroute.core.http.health import health_router
        from skillroute.core.http.verify_routes import verify_router
        from skillroute.registry.search.routes import registry_search_router
        from skillroute.search.routes import search_router

        return [
            search_router(self.tool_search, self.access),
            registry_search_router(self.registry_search, self.access),
            *self.message_routers(self.access),
            verify_router(self.verify, self.access),
            health_router(self.replica, self.query_embedder, RefusedTexts(self.database).count, self.access),
        ]

    def catalog_routers(self) -> list[APIRouter]:
        """Return the routes of the catalog function."""
        from skillroute.catalogue.routes import catalog_router
        from skillroute.registry.routes import agent_router, server_router

        return [
            catalog_router(self.sync_tools, self.catalogue, self.access),
            server_router(self.sync_registry, self.registry, self.access),
            agent_router(self.sync_registry, self.registry, self.access),
            *self.mail_routers(self.access),
        ]

    def skills_routers(self) -> list[APIRouter]:
        """Return the routes of the skills function."""
        from skillroute.skills.classification_routes import classification_router
        from skillroute.skills.routes import skill_router
        from skillroute.skills.suggestion_routes import suggestion_router
        from skillroute.skills.tool_routes import tool_skill_router

        return [
            # Before the skills: /skills/suggestions is no skill.
            suggestion_router(self.review_suggestions, self.access),
            classification_router(self.classify_tools, self.describe_skill, self.access),
            skill_router(self.create_skill, self.change_skill, self.read_skills, self.access),
            tool_skill_router(self.assign_skills, self.access),
        ]
