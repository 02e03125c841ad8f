"""The parts that all slices of one process share, each made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

from skillroute.core.chat.port import ChatModel
from skillroute.core.documents.replica_port import ChangeFeed, IndexReplica
from skillroute.core.embedding.port import Embedder, message_embedder
from skillroute.core.errors.model import ConfigurationError, EmbeddingUnavailable, SkillrouteError
from skillroute.core.notification.port import Notifier
from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database
from skillroute.core.postgres.follow_up import FollowedDatabase
from skillroute.core.queue.port import Queue
from skillroute.core.settings import (
    ClassifierSettings,
    CoreSettings,
    OutboundSettings,
    RerankSettings,
)
from skillroute.skills.classification.classifiers.port import Classifier
from skillroute.wiring.index import make_replica
from skillroute.wiring.providers import (
    make_chat_model,
    make_classifier,
    make_embedder,
    make_notifier,
    make_query_embedder,
    make_queue,
    make_reranker,
)
from skillroute.wiring.secrets import make_address

if TYPE_CHECKING:
    import httpx

    from skillroute.catalogue.known_requests import KnownRequests
    from skillroute.core.bulk.write import Writer
    from skillroute.core.embedding.query import QueryEmbedder
    from skillroute.core.outbound.hosts import HostRules
    from skillroute.core.postgres.address import AddressSource
    from skillroute.core.postgres.pool import Pool
    from skillroute.core.queue.dispatch import Dispatch
    from skillroute.core.rationing.turns import Turns
    from skillroute.core.reranking.port import Reranker
    from skillroute.core.rights.in_force import RulesInForce
    from skillroute.skills.aggregation.aggregate import AggregateSkill
    from skillroute.wiring.trace import Tracing

S = TypeVar("S")

_CATCH_UP_AFTER_COMMIT_S = 2.0
"""A writer waits no longer for an index server that is being filled; the relay goes on with it."""

_FILL_S = 4 * 3600.0
"""The most that a reindex goes on filling an index server; the relay goes on from there."""


class GivenParts(TypedDict, total=False):
    """Parts to use instead of the configured ones; None stands for the configured one."""

    address: AddressSource | None
    embedder: Embedder | None
    query_embedder: QueryEmbedder | None
    replica: IndexReplica | None
    database: Database | None
    queue: Queue | None
    classifier: Classifier | None
    chat: ChatModel | None
    notifier: Notifier | None
    defer: Callable[[Callable[[], None]], Callable[[], None]] | None
    outbound: Callable[[], httpx.AsyncClient] | None


@dataclass(frozen=True, eq=False, init=False)
class CoreParts:
    """The parts that reach outside: storage, providers, queues, and what happens after each commit.

    Parameters
    ----------
    settings : CoreSettings
        Of one function; a part that needs more than they hold raises `ConfigurationError` when it is asked for.
    **given : optional
        Parts to use instead of the configured ones, by their names; `close` closes them, too.
    """

    settings: CoreSettings

    def __init__(self, settings: CoreSettings, **given: Unpack[GivenParts]) -> None:
        # Where a cached property finds its value: a part that is given is never made.
        if unknown := given.keys() - GivenParts.__annotations__.keys():
            raise TypeError(f"there are no parts {', '.join(sorted(unknown))} to be given")
        found = {name: part for name, part in given.items() if part is not None}
        if "database" in found:  # its commits are followed up as those of any other
            found["storage"] = found.pop("database")
        vars(self).update(found, settings=settings)

    def of(self, kind: type[S]) -> S:
        """Return the settings as those of a function that knows more. Raises `ConfigurationError`."""
        if not isinstance(self.settings, kind):
            raise ConfigurationError(f"this needs {kind.__name__}, not {type(self.settings).__name__}")
        return self.settings

    @cached_property
    def address(self) -> AddressSource:
        return make_address(self.settings)

    @cached_property
    def pool(self) -> Pool:
        from skillroute.core.postgres.pool import Pool

        return Pool(
            self.address,
            connect_timeout_s=self.settings.database_connect_timeout_s,
            statement_timeout_s=self.settings.database_statement_timeout_s,
            idle_timeout_s=self.settings.database_idle_timeout_s,
        )

    @cached_property
    def storage(self) -> Database:
        """The database whose commits are not followed up."""
        return self.pool

    @cached_property
    def database(self) -> Database:
        return FollowedDatabase(self.storage, self.after_commit)

    @cached_property
    def rules_in_force(self) -> RulesInForce:
        from skillroute.core.rights.in_force import RulesInForce

        return RulesInForce(lambda: self.database)

    @cached_property
    def turns(self) -> Turns:
        from skillroute.core.rationing.turns import Turns

        return Turns()

    @cached_property
    def feed(self) -> ChangeFeed:
        from skillroute.wiring.index import make_feed

        return make_feed(self.pool)

    @cached_property
    def embedder(self) -> Embedder:
        return make_embedder(self.settings)

    @cached_property
    def document_embedder(self) -> Embedder:
        from skillroute.core.documents.stored_model import StoredModelEmbedder

        return StoredModelEmbedder(self.embedder, self.database)

    @cached_property
    def query_embedder(self) -> QueryEmbedder:
        return make_query_embedder(self.settings, self.embedder)

    @cached_property
    def replica(self) -> IndexReplica:
        return make_replica(self.settings, self.feed, self.pool, self.query_embedder.model, self.address)

    @cached_property
    def queue(self) -> Queue | None:
        return make_queue(self.settings)

    @cached_property
    def notifier(self) -> Notifier:
        return make_notifier(self.settings)

    @cached_property
    def tracing(self) -> Tracing:
        from skillroute.wiring.trace import Tracing

        return Tracing(self)

    @cached_property
    def chat(self) -> ChatModel | None:
        return make_chat_model(self.of(ClassifierSettings))

    @cached_property
    def classifier(self) -> Classifier:
        return make_classifier(self.of(ClassifierSettings), self.embedder, self.chat, self.storage)

    @cached_property
    def reranker(self) -> Reranker | None:
        return make_reranker(self.of(RerankSettings))

    @cached_property
    def aggregate_skill(self) -> AggregateSkill:
        from skillroute.skills.aggregation.aggregate import AggregateSkill

        return AggregateSkill(self.database, description_share=self.settings.skill_description_share)

    @cached_property
    def dispatch(self) -> Dispatch:
        from skillroute.core.queue.dispatch import Dispatch
        from skillroute.skills.model import SkillKey
        from skillroute.skills.queues import AGGREGATE

        return Dispatch(
            self.database,
            self.queue,
            {AGGREGATE: lambda key: self.aggregate_skill(SkillKey(key))},
            delays_s={AGGREGATE: self.settings.aggregate_delay_s},
            most_in_flight=self.settings.org_in_flight,
        )

    def start_ahead(self) -> None:
        """Load what requests will need, where an environment is made before its first one: SnapStart's snapshots.

        Nothing is opened: a snapshot is resumed many times over. Without a model in this process there is nothing to
        load; one that fails is logged, and tried again by the first request.
        """
        if not self.settings.starts_ahead or self.settings.embedding_provider != "onnx":
            return
        try:
            self.embedder.embed(["ready"], timeout_s=self.settings.query_timeout_s)
        except EmbeddingUnavailable as error:
            logger.warning("embedding model unavailable", extra={"reason": str(error)})

    @cached_property
    def outbound(self) -> Callable[[], httpx.AsyncClient]:
        """Makes clients of hosts that others run, which examine the addresses that they connect to."""
        from skillroute.core.outbound.guarded import make_client

        return lambda: make_client(self.host_rules)

    @cached_property
    def host_rules(self) -> HostRules:
        from skillroute.core.outbound.hosts import HostRules

        return HostRules.of(self.of(OutboundSettings))

    @cached_property
    def writer(self) -> Writer:
        """Where tools, skills, servers and agents are written; mail takes `of_messages`."""
        return self.writer_to(self.database)

    def writer_to(self, database: Database) -> Writer:
        """Return what writes many things to a database."""
        from skillroute.core.bulk.write import Writer

        return Writer(database, self.document_embedder, timeout_s=self.settings.batch_timeout_s)

    @staticmethod
    def of_messages(writer: Writer) -> Writer:
        """Return it with the embedder of messages."""
        return replace(writer, embedder=message_embedder(writer.embedder))

    @cached_property
    def known_requests(self) -> KnownRequests:
        from skillroute.catalogue.known_requests import KnownRequests

        return KnownRequests(is_on=self.settings.has_packaged_requests)

    @cached_property
    def defer(self) -> Callable[[Callable[[], None]], Callable[[], None]]:
        """Wraps the work that follows a commit: nothing does, and writers wait for it, unless another way is given."""
        return lambda work: work

    @cached_property
    def after_commit(self) -> Callable[[], None]:
        """The call after each commit."""
        return self.defer(self._follow_commit)

    def _follow_commit(self) -> None:
        """Send the work that a commit made, and bring a shared index up to date; replicas look for themselves."""
        self.dispatch()
        if not self.settings.writers_fill_index:
            return
        try:
            self.replica.catch_up(_CATCH_UP_AFTER_COMMIT_S)
        except SkillrouteError as error:
            # What was written is safe; the next write or the relay carries it over, and searches say what they lack.
            logger.warning("index server left behind", extra={"reason": str(error)})

    def after_reindex(self) -> None:
        """Send the work that a reindex made, and fill a shared index: nobody else may have the new model yet."""
        self.dispatch()
        if self.settings.writers_fill_index:
            self.replica.catch_up(_FILL_S, check=True)

    def catch_up(self, within_s: float) -> int:
        """Bring an index server up to date, as far as that goes in the time; return how far behind it was."""
        lag = self.replica.lag()
        self.replica.catch_up(within_s, check=True)
        return lag

    def close(self) -> None:
        """Write the receipts and events that wait; let go of the index, of the queues and of idle connections."""
        made = vars(self)
        for name in ("receipts", "tracing", "replica", "queue", "pool"):
            if name in made and made[name] is not None:
                made[name].close()
