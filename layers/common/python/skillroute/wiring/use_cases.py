"""All slices together: one property for each, and the jobs that go over all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.core.settings import MigrationSettings, WebSettings
from skillroute.wiring.parts import CoreParts

if TYPE_CHECKING:
    from skillroute.agent_skills.search.search import AgentSkillSearch
    from skillroute.core.documents.embed_missing import EmbedMissing
    from skillroute.core.documents.reindex import Reindex
    from skillroute.core.documents.verify import Verify
    from skillroute.core.http.auth import Access
    from skillroute.core.http.lanes import Lanes
    from skillroute.core.outbound.credentials import Identities
    from skillroute.core.queue.failed_work import FailedWork
    from skillroute.core.rationing.work import Work
    from skillroute.core.recent_searches import RecentSearches
    from skillroute.core.relay import Relay
    from skillroute.learning.learn.learn import Learn
    from skillroute.learning.learn.runs import RunLearning
    from skillroute.learning.receipts.recorder import ReceiptRecorder
    from skillroute.learning.states.live import LiveStates
    from skillroute.registry.search.search import RegistrySearch
    from skillroute.search.batch.search import BatchSearch
    from skillroute.search.search import ToolSearch
    from skillroute.skills.create import PrepareSkill
    from skillroute.skills.suggestions.suggest import SuggestSkills
    from skillroute.wiring.agent_skills import AgentSkillUseCases
    from skillroute.wiring.calling import Calling
    from skillroute.wiring.catalogue import CatalogueUseCases
    from skillroute.wiring.classification import ClassificationUseCases
    from skillroute.wiring.identity import IdentityUseCases
    from skillroute.wiring.learning import LearningUseCases
    from skillroute.wiring.mail import MailUseCases
    from skillroute.wiring.mcp import Mcp
    from skillroute.wiring.messages import MessageUseCases
    from skillroute.wiring.portable import PortableUseCases
    from skillroute.wiring.registry import RegistryUseCases
    from skillroute.wiring.rights import RightsUseCases
    from skillroute.wiring.routes import Served
    from skillroute.wiring.skills import SkillUseCases
    from skillroute.wiring.tool_requests import RequestUseCases


@dataclass(frozen=True, eq=False, init=False)
class Parts(CoreParts):
    """The parts of one process, and the use cases of each slice over them.

    A slice's module is imported with its property: a function loads only the slices that it serves.
    """

    @cached_property
    def catalogue(self) -> CatalogueUseCases:
        from skillroute.wiring.catalogue import CatalogueUseCases

        return CatalogueUseCases(self)

    @cached_property
    def registry(self) -> RegistryUseCases:
        from skillroute.wiring.registry import RegistryUseCases

        return RegistryUseCases(self)

    @cached_property
    def mail(self) -> MailUseCases:
        from skillroute.wiring.mail import MailUseCases

        return MailUseCases(self)

    @cached_property
    def learning(self) -> LearningUseCases:
        from skillroute.wiring.learning import LearningUseCases

        return LearningUseCases(self)

    @cached_property
    def rights(self) -> RightsUseCases:
        from skillroute.wiring.rights import RightsUseCases

        return RightsUseCases(self)

    @cached_property
    def identity(self) -> IdentityUseCases:
        from skillroute.wiring.identity import IdentityUseCases

        return IdentityUseCases(self)

    @cached_property
    def identities(self) -> Identities:
        """The credentials of callers at servers, for calls."""
        from skillroute.wiring.identity import make_identities

        return make_identities(self)

    @cached_property
    def agent_skills(self) -> AgentSkillUseCases:
        from skillroute.wiring.agent_skills import AgentSkillUseCases

        return AgentSkillUseCases(self)

    @cached_property
    def agent_skill_search(self) -> AgentSkillSearch:
        from skillroute.agent_skills.search.search import AgentSkillSearch

        return AgentSkillSearch(self.replica, self.query_embedder, self.database)

    @cached_property
    def portable(self) -> PortableUseCases:
        from skillroute.wiring.portable import PortableUseCases

        return PortableUseCases(self)

    @cached_property
    def skills(self) -> SkillUseCases:
        from skillroute.wiring.skills import SkillUseCases

        return SkillUseCases(self, self.prepare_skill)

    @cached_property
    def classification(self) -> ClassificationUseCases:
        from skillroute.wiring.classification import ClassificationUseCases

        return ClassificationUseCases(self, self.suggest_skills, lambda *drafted: self.requests.write(*drafted))

    @cached_property
    def requests(self) -> RequestUseCases:
        from skillroute.wiring.tool_requests import RequestUseCases

        return RequestUseCases(self)

    @cached_property
    def messages(self) -> MessageUseCases:
        from skillroute.wiring.messages import MessageUseCases

        return MessageUseCases(self)

    @cached_property
    def mcp(self) -> Mcp:
        from skillroute.wiring.mcp import Mcp

        return Mcp(self)

    @cached_property
    def prepare_skill(self) -> PrepareSkill:
        from skillroute.skills.create import PrepareSkill

        return PrepareSkill(self.document_embedder, timeout_s=self.settings.query_timeout_s)

    @cached_property
    def suggest_skills(self) -> SuggestSkills:
        from skillroute.skills.suggestions.suggest import SuggestSkills

        approve_after = self.settings.auto_approve_after
        return SuggestSkills(self.database, self.prepare_skill, self.notifier, approve_after=approve_after)

    @cached_property
    def recent_searches(self) -> RecentSearches:
        from skillroute.core.recent_searches import RecentSearches

        return RecentSearches()

    @cached_property
    def receipts(self) -> ReceiptRecorder | None:
        from skillroute.wiring.receipts import make_receipts

        return make_receipts(self)

    @cached_property
    def tool_search(self) -> ToolSearch:
        from skillroute.wiring.search import make_tool_search

        return make_tool_search(self, self.recent_searches, self.receipts, self.live_states)

    @cached_property
    def live_states(self) -> LiveStates:
        from skillroute.learning.states.live import LiveStates

        return LiveStates(self.database)

    @cached_property
    def learn(self) -> Learn:
        from skillroute.wiring.learn import make_learn

        return make_learn(self)

    @cached_property
    def run_learning(self) -> RunLearning:
        from skillroute.learning.learn.runs import RunLearning

        return RunLearning(self.database, self.learn)

    @cached_property
    def batch_search(self) -> BatchSearch:
        from skillroute.wiring.search import make_batch_search

        return make_batch_search(self, self.tool_search)

    @cached_property
    def registry_search(self) -> RegistrySearch:
        from skillroute.wiring.search import make_registry_search

        return make_registry_search(self)

    @cached_property
    def embed_missing(self) -> EmbedMissing:
        from skillroute.core.documents.embed_missing import EmbedMissing

        return EmbedMissing(self.database, self.embedder, timeout_s=self.settings.batch_timeout_s)

    @cached_property
    def reindex(self) -> Reindex:
        from skillroute.core.documents.reindex import Reindex
        from skillroute.mail.refresh import refresh_mail
        from skillroute.registry.refresh import refresh_all

        return Reindex(
            self.storage,
            self.embedder,
            refresh=(refresh_all, refresh_mail),
            derive=self.aggregate_skill.derive_all,
            finish=self.after_reindex,
            timeout_s=self.settings.batch_timeout_s,
        )

    @cached_property
    def calling(self) -> Calling:
        from skillroute.wiring.calling import Calling

        return Calling(self)

    @cached_property
    def failed_work(self) -> FailedWork:
        from skillroute.core.queue.failed_work import FailedWork

        return FailedWork(self.database, self.notifier)

    def migrate(self) -> list[str]:
        """Bring the database's schema and roles up to date, as the owner; return the migrations that were applied."""
        from skillroute.wiring.migrating import migrate

        return migrate(self.of(MigrationSettings))

    @cached_property
    def relay(self) -> Relay:
        from skillroute.wiring.relay import make_relay

        return make_relay(self)

    @cached_property
    def verify(self) -> Verify:
        from skillroute.catalogue.verify import check_items
        from skillroute.core.documents.check_points import check_points
        from skillroute.core.documents.verify import Verify
        from skillroute.mail.refresh import check_mail
        from skillroute.registry.refresh import check_entities
        from skillroute.skills.verify import CheckSkills

        checks = (CheckSkills(self.aggregate_skill), check_entities, check_mail, check_points, check_items)
        return Verify(self.database, self.feed, self.replica, checks)

    @cached_property
    def access(self) -> Access:
        """Who may call."""
        from skillroute.wiring.access import make_access

        access = make_access(self.of(WebSettings))
        access.rights_of = self.rules_in_force
        return access

    @cached_property
    def work(self) -> Work:
        """Admission of work: budgets where callers are identified, and turns."""
        from skillroute.wiring.access import make_work

        return make_work(self)

    @cached_property
    def lanes(self) -> Lanes:
        from skillroute.core.http.lanes import Lanes

        return Lanes(self.work)

    @property
    def cors_origins(self) -> tuple[str, ...]:
        """The origins of pages that may ask from a browser."""
        return self.of(WebSettings).cors_origins

    def served(self, *functions: str) -> Served:
        """Return the routes and use cases of some functions, or of all (`routes.served`)."""
        from skillroute.wiring.routes import served

        return served(self, *functions)
