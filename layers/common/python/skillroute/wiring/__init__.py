"""The composition root: the one place that knows which adapter stands behind which port.

Everything is made when it is first asked for, so a function imports and opens only what it uses. Tests and the laptop
pass parts of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from skillroute.core.settings import (
    AggregateSettings,
    CallFunctionSettings,
    CatalogSettings,
    ClassifySettings,
    LearnSettings,
    McpSettings,
    RelaySettings,
    SearchSettings,
    SkillsSettings,
)
from skillroute.wiring.index import make_replica
from skillroute.wiring.providers import make_chat_model, make_classifier, make_embedder, make_notifier, make_queue
from skillroute.wiring.use_cases import Parts

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.applications import Starlette

    from skillroute.core.queue.consumer import Consumer

__all__ = [
    "Parts",
    "aggregate_handler",
    "call_handler",
    "catalog_app",
    "classify_handler",
    "learn_handler",
    "make_chat_model",
    "make_classifier",
    "make_embedder",
    "make_notifier",
    "make_queue",
    "make_replica",
    "mcp_app",
    "relay_handler",
    "search_app",
    "skills_app",
]


class HasTimeLeft(Protocol):
    """The context of an invocation, as far as calls look at it."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds that are left."""
        ...


def search_app(settings: SearchSettings | None = None) -> FastAPI:
    """Return the search function's app; `app.state.parts` closes what it opened."""
    parts = Parts(settings or SearchSettings.load())
    return _app(parts, "search", "Skillroute search")


def catalog_app(settings: CatalogSettings | None = None) -> FastAPI:
    """Return the catalog function's app; `app.state.parts` closes what it opened."""
    parts = Parts(settings or CatalogSettings.load())
    return _app(parts, "catalog", "Skillroute catalogue")


def skills_app(settings: SkillsSettings | None = None) -> FastAPI:
    """Return the skills function's app; `app.state.parts` closes what it opened."""
    parts = Parts(settings or SkillsSettings.load())
    return _app(parts, "skills", "Skillroute skills")


def mcp_app(settings: McpSettings | None = None) -> Starlette:
    """Return the mcp function's app, without FastAPI; `app.state.parts` closes what it opened."""
    from skillroute.core.http.plain_app import create_plain_app

    parts = Parts(settings or McpSettings.load())
    parts.start_ahead()
    parts.mcp.make_ahead()
    routes = parts.mcp.plain_routes(parts.access)
    app = create_plain_app(
        routes,
        access=parts.access,
        too_large=parts.mcp.too_large,
        cors_origins=parts.cors_origins,
        trace=lambda: parts.tracing.watch,
    )
    app.state.parts = parts
    return app


def call_handler(
    settings: CallFunctionSettings | None = None, parts: Parts | None = None
) -> Callable[[object, HasTimeLeft], dict[str, Any]]:
    """Return what makes the calls that function `mcp` asks for."""
    from skillroute.calling.invocation import answer_event

    parts = parts or Parts(settings or CallFunctionSettings.load())

    def answer(event: object, context: HasTimeLeft) -> dict[str, Any]:
        # A second is left for what comes after the call: its place is given back, and the answer is sent.
        def left_s() -> float:
            return context.get_remaining_time_in_millis() / 1000.0 - 1.0

        if event == {"see_again": True}:
            return {"servers": parts.calling.see_servers(left_s)}
        return dict(answer_event(event, parts.calling.here, left_s))

    return answer


def classify_handler(settings: ClassifySettings | None = None, parts: Parts | None = None) -> Consumer:
    """Return what handles batches of the classify queue."""
    from skillroute.skills.classification.consumer import classify_consumer

    parts = parts or Parts(settings or ClassifySettings.load())
    return classify_consumer(parts.classification.classify, parts.failed_work)


def aggregate_handler(settings: AggregateSettings | None = None, parts: Parts | None = None) -> Consumer:
    """Return what handles batches of the aggregate queue."""
    from skillroute.skills.aggregation.consumer import aggregate_consumer

    parts = parts or Parts(settings or AggregateSettings.load())
    return aggregate_consumer(parts.aggregate_skill, parts.failed_work, parts.after_commit)


def learn_handler(settings: LearnSettings | None = None, parts: Parts | None = None) -> Consumer:
    """Return what handles batches of the learn queue."""
    from skillroute.learning.learn.consumer import learn_consumer

    parts = parts or Parts(settings or LearnSettings.load())
    return learn_consumer(lambda key: parts.run_learning(key), parts.failed_work, parts.after_commit)


def relay_handler(settings: RelaySettings | None = None, parts: Parts | None = None) -> Consumer:
    """Return what handles the schedule."""
    from skillroute.core.relay_consumer import relay_consumer

    parts = parts or Parts(settings or RelaySettings.load())
    return relay_consumer(parts.relay, parts.migrate)


def _app(parts: Parts, function: str, title: str) -> FastAPI:
    from skillroute.core.http.app import create_app

    parts.start_ahead()
    routers, use_cases = parts.served(function)
    app = create_app(
        routers,
        access=parts.access,
        use_cases=use_cases,
        title=title,
        cors_origins=parts.cors_origins,
        trace=lambda: parts.tracing.watch,
    )
    app.state.parts = parts
    return app
