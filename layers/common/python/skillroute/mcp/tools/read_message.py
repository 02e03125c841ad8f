"""`read_message`: a message, or its thread, as far as there is room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field, field_validator

from skillroute.core.input.json_schema import BOOLEAN, INTEGER, STRING, described, list_of, object_of
from skillroute.core.portable.model import shown_moment
from skillroute.mail.model import MessageFilter, StoredMessage, moment_of
from skillroute.mail.read import Mail
from skillroute.mcp.arguments import Arguments, input_schema, parsed
from skillroute.mcp.fit import Json, Limit, byte_limit, fit, token_limit
from skillroute.mcp.shown import brief
from skillroute.mcp.tool import Asked, Tool, ToolError
from skillroute.mcp.tools.search_tools import MAX_TOKENS, MIN_TOKENS

DEFAULT_TOKENS = 2_000
"""Of an answer, where no budget is given."""

_MAX_THREAD = 50  # messages, the newest
_BEGINNING = 400  # characters of a body
_DESCRIPTION = """\
Read a message that search_messages has found, by its id: sender, recipients, time and body; with thread the messages \
of its thread, oldest first."""
_MESSAGE = {
    "id": INTEGER,
    "project": STRING,
    "thread_id": STRING,
    "subject": STRING,
    "from": STRING,
    "to": list_of(STRING),
    "cc": list_of(STRING),
    "bcc": list_of(STRING),
    "created_at": STRING,
    "importance": STRING,
    "body": STRING,
    "cut": described(BOOLEAN, "There is more of it than had room."),
}
_OUTPUT = object_of(
    {
        "messages": list_of(object_of(_MESSAGE, "id", "subject", "from", "created_at")),
        "omitted": described(INTEGER, "Messages of the thread that had no room."),
    },
    "messages",
)


class ReadMessageArguments(Arguments):
    """The arguments of `read_message`."""

    id: int = Field(ge=1, le=2**63 - 1, description="Of search_messages' answer.")
    thread: bool = Field(False, description="The whole thread.")
    budget_tokens: int = Field(
        DEFAULT_TOKENS, ge=MIN_TOKENS, le=MAX_TOKENS, description="The answer is never longer than this."
    )

    @field_validator("id", "budget_tokens", mode="before")
    @classmethod
    def _no_boolean(cls, value: object) -> object:
        return super()._no_boolean(value)


def read_message(mail: Callable[[], Mail], count_tokens: Callable[[str], int]) -> Tool:
    """Return the tool over stored mail, which shows what `GET /api/v1/mail/messages` shows to the caller."""

    def call(arguments: Mapping[str, Any], asked: Asked) -> Json:
        given = parsed(ReadMessageArguments, arguments)
        first: StoredMessage = mail().get("message", given.id, asked.caller)
        found, total = [first], 1
        if given.thread and first.content.thread_id is not None:
            where = MessageFilter(project_id=first.project_id, thread_id=first.content.thread_id)
            others, total = mail().messages(where, asked.caller, limit=_MAX_THREAD, offset=0)
            found += [message for message in others if message.id != first.id]
        limits = [byte_limit(), token_limit(count_tokens, given.budget_tokens)]
        return _answer(found, max(total, len(found)), limits)

    return Tool(
        "read_message",
        "Read a message",
        _DESCRIPTION,
        input_schema(ReadMessageArguments),
        _OUTPUT,
        call,
        hint="whole message between agents, or its thread, by id",
    )


def _answer(found: list[StoredMessage], total: int, limits: list[Limit]) -> Json:
    """Return the first of some messages as whole as it can be, and of the others what has room."""
    ages = {message.id: (message.content.created_ts, message.id) for message in found}

    def envelope(messages: list[Json]) -> Json:
        omitted = total - len(messages)
        shown = sorted(messages, key=lambda message: ages[message["id"]])
        return {"messages": shown, **({"omitted": omitted} if omitted else {})}

    forms = [[_headline(message), _shown(message, _BEGINNING), _shown(message)] for message in found]
    alone = fit(forms[:1], envelope, limits, (1, 2))
    if not alone["messages"]:
        raise ToolError("the message has no room: raise budget_tokens")
    alone = _filled(alone, found[0], limits)
    own = forms[0][1:]  # its beginning goes before the headlines of others
    answer = fit([own, *forms[1:]], envelope, limits, (1, 2))
    if any(message["id"] == found[0].id and "cut" in message for message in answer["messages"]):
        # What others would have whole goes to it.
        answer = fit([own, *(others[:2] for others in forms[1:])], envelope, limits, (1, 2))
    if not any(message["id"] == found[0].id for message in answer["messages"]):
        return alone
    return _filled(answer, found[0], limits)


def _filled(answer: Json, first: StoredMessage, limits: list[Limit]) -> Json:
    """Return an answer with as much of one body as there is still room for, found by halving."""
    place = next(place for place, message in enumerate(answer["messages"]) if message["id"] == first.id)
    now = answer["messages"][place]
    low = len(now.get("body", "")) + 1
    high = min(len(first.content.body), 8 * limits[-1].room) if "cut" in now else 0
    while low <= high:
        middle = (low + high) // 2
        messages = [*answer["messages"][:place], _shown(first, middle), *answer["messages"][place + 1 :]]
        if all(limit.fits({**answer, "messages": messages}) for limit in limits):
            low, answer = middle + 1, {**answer, "messages": messages}
        else:
            high = middle - 1
    return answer


def _headline(message: StoredMessage) -> Json:
    content = message.content
    return {
        "id": message.id,
        "subject": brief(content.subject),
        "from": content.sender,
        "created_at": shown_moment(moment_of(content.created_ts)),
        "cut": True,
    }


def _shown(message: StoredMessage, most: int | None = None) -> Json:
    content = message.content
    return {
        "id": message.id,
        "project": content.project,
        **({} if content.thread_id is None else {"thread_id": content.thread_id}),
        "subject": content.subject,
        "from": content.sender,
        "to": list(content.to),
        **{role: list(names) for role, names in (("cc", content.cc), ("bcc", content.bcc)) if names},
        "created_at": shown_moment(moment_of(content.created_ts)),
        "importance": content.importance,
        "body": content.body if most is None else content.body[:most],
        **({} if most is None or most >= len(content.body) else {"cut": True}),
    }
