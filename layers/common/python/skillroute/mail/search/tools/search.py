"""The tools `search_messages` and `search_messages_product`, for any caller: HTTP, and later MCP.

Arguments are what came over the wire. Every wrong one is `InvalidInput`; trouble in an engine is never an error, but
reported in the answer's `diagnostics`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillroute.core.caller import Caller
from skillroute.core.postgres.database import Database, Session
from skillroute.mail.search.answers import MessageResult
from skillroute.mail.search.budget import Budget
from skillroute.mail.search.model import MessageSearchRequest, TimeRange
from skillroute.mail.search.search import MessageSearch
from skillroute.mail.search.tools.arguments import SEARCH_MESSAGES, SEARCH_MESSAGES_PRODUCT, ToolArguments
from skillroute.mail.search.tools.help import assistance, diagnostics, guidance
from skillroute.mail.search.tools.places import product_of, project_of, project_within
from skillroute.mail.search.tools.snippets import snippets

_FIELDS = (
    "id", "subject", "importance", "ack_required", "created_ts", "thread_id", "sender", "reason_codes", "score_factors",
)  # fmt: skip


class MessageTools:
    """Both tools over a message search.

    Parameters
    ----------
    search : MessageSearch
    database : Database
        Where the keys of projects and products are looked up.
    """

    def __init__(self, search: MessageSearch, database: Database) -> None:
        self._search = search
        self._database = database

    def search_messages(
        self, arguments: Mapping[str, object], caller: Caller, budget: Budget | None = None
    ) -> dict[str, Any]:
        """Find messages of a project: `tool_arguments.SEARCH_MESSAGES`.

        Raises
        ------
        InvalidInput
            An argument is wrong; the message says what is allowed.
        DatabaseUnavailable
            PostgreSQL cannot be reached.
        """
        given = SEARCH_MESSAGES.judge(arguments)
        if not given.query:
            return {"result": []}
        project_id = self._database.read(lambda session: project_of(session, caller, given.project_key))
        outcome = self._search.search(
            _request(given, project_id=project_id), caller, budget=budget, offset=given.skipped
        )
        response = outcome.response
        bodies = snippets(self._database, [message.id for message in response.results], given.query)
        # A caller who came here by a cursor has found something.
        is_in_vain = not response.results and not given.has_cursor
        return _with_values(
            result=[_shown(message, _FIELDS, bodies) for message in response.results],
            assistance=assistance(given.query),
            guidance=guidance(given) if is_in_vain else None,
            explain=response.explain and response.explain.model_dump(mode="json", exclude_none=True),
            next_cursor=response.next_cursor,
            diagnostics=diagnostics(outcome),
        )

    def search_messages_product(
        self, arguments: Mapping[str, object], caller: Caller, budget: Budget | None = None
    ) -> dict[str, Any]:
        """Find messages of a product's projects: `tool_arguments.SEARCH_MESSAGES_PRODUCT`. Raises as the other does."""
        given = SEARCH_MESSAGES_PRODUCT.judge(arguments)
        if not given.query:
            return {"result": []}

        def place(session: Session) -> dict[str, int]:
            product = product_of(session, caller, given.product_key)
            if given.project is None:
                return {"product_id": product.id}
            return {"project_id": project_within(session, caller, product, given.project)}

        request = _request(given, **self._database.read(place))
        outcome = self._search.search(request, caller, budget=budget, offset=given.skipped)
        results = outcome.response.results
        bodies = snippets(self._database, [message.id for message in results], given.query)
        return _with_values(
            result=[_shown(message, ("id", "project_id", *_FIELDS[1:]), bodies) for message in results],
            assistance=assistance(given.query),
            next_cursor=outcome.response.next_cursor,
            diagnostics=diagnostics(outcome),
        )


def _request(
    given: ToolArguments, *, project_id: int | None = None, product_id: int | None = None
) -> MessageSearchRequest:
    has_range = given.date_start is not None or given.date_end is not None
    return MessageSearchRequest(
        text=given.query,
        mode=given.mode,
        ranking=given.ranking,
        limit=given.limit,
        cursor=given.cursor,
        explain=given.explain,
        project_id=project_id,
        product_id=product_id,
        importance=list(given.importance),
        sender_name=given.sender,
        thread_id=given.thread_id,
        time_range=TimeRange(min_ts=given.date_start, max_ts=given.date_end) if has_range else None,
    )


def _shown(result: MessageResult, fields: Sequence[str], bodies: Mapping[int, str]) -> dict[str, Any]:
    values = {"from" if name == "sender" else name: getattr(result, name) for name in fields}
    return _with_values(**{**values, "snippet": bodies.get(result.id) or None})


def _with_values(**fields: Any) -> dict[str, Any]:
    """Return the fields that have a value, in order."""
    return {name: value for name, value in fields.items() if value is not None}
