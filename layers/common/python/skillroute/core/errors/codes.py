"""The codes of all errors: what programs go by, where people read the sentence beside it.

A code never changes its meaning. New ones may come, so a client treats one that it does not know by its status.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self

Kind = Literal["skill", "item", "server", "agent", "project", "product", "message", "suggestion"]
"""The kinds that are looked up by an id."""


class ErrorCode(StrEnum):
    """A code, the HTTP status that it comes with, and what it says.

    Attributes
    ----------
    status : int
    meaning : str
        A sentence for the table in docs/api.md.
    """

    status: int
    meaning: str

    def __new__(cls, value: str, status: int, meaning: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.status = status
        member.meaning = meaning
        return member

    BAD_REQUEST = "bad_request", 400, "The request cannot be read."
    UNAUTHENTICATED = "unauthenticated", 401, "Nobody vouches for the caller: send a token, or sign the request."
    INVALID_TOKEN = "invalid_token", 401, "The token is malformed, forged, expired or meant for others."
    FORBIDDEN = "forbidden", 403, "The caller may not do this."
    INSUFFICIENT_SCOPE = "insufficient_scope", 403, "The caller lacks the scope that the route asks for."
    GLOBAL_ITEM = "global_item", 403, "It is global, and organisations change only their own."
    OTHER_AGENT = "other_agent", 403, "It is another mail agent's."
    OPERATOR_ONLY = "operator_only", 403, "Only the operator of the deployment may: a token of no organisation."
    ROUTE_NOT_FOUND = "route_not_found", 404, "There is no such path."
    NOT_FOUND = "not_found", 404, "There is no such thing, or none that the caller may see."
    SKILL_NOT_FOUND = "skill_not_found", 404, "No skill has the id, or none that the caller may see."
    ITEM_NOT_FOUND = "item_not_found", 404, "No tool, prompt or resource has the id, or none that the caller may see."
    SERVER_NOT_FOUND = "server_not_found", 404, "No server has the id, or none that the caller may see."
    AGENT_NOT_FOUND = "agent_not_found", 404, "No agent has the id, or none that the caller may see."
    PROJECT_NOT_FOUND = "project_not_found", 404, "No project has the id, or none that the caller may see."
    PRODUCT_NOT_FOUND = "product_not_found", 404, "No product has the id, or none that the caller may see."
    MESSAGE_NOT_FOUND = "message_not_found", 404, "No message has the id, or none that the caller may see."
    SUGGESTION_NOT_FOUND = "suggestion_not_found", 404, "No suggestion has the id, or none that the caller may see."
    METHOD_NOT_ALLOWED = "method_not_allowed", 405, "The path has no such method; `Allow` names those that it has."
    CONFLICT = "conflict", 409, "It exists already, or its state does not allow the change."
    SKILL_EXISTS = "skill_exists", 409, "A skill has the id: the organisation's own, or a global one."
    SKILL_DELETED = "skill_deleted", 409, "The skill is deleted; its id can be created again."
    TOO_MANY_SKILLS = "too_many_skills", 409, "There are as many skills as there may be."
    SKILL_FULL = "skill_full", 409, "The skill has as many tools as it may have."
    CHANGED_MEANWHILE = "changed_meanwhile", 409, "Others change it at this moment: try again."
    ALREADY_DECIDED = "already_decided", 409, "The suggestion was approved, rejected or merged before."
    NOT_A_NEW_SKILL = "not_a_new_skill", 409, "The suggestion is a description: approve or reject it."
    NO_LANGUAGE_MODEL = "no_language_model", 409, "No language model is configured."
    SERVER_DISABLED = (
        "server_disabled",
        409,
        "The item's server is disabled, and with it all its items: enable it first.",
    )
    STILL_REFERRED_TO = "still_referred_to", 409, "Messages refer to it: delete them first."
    VERSION_CONFLICT = "version_conflict", 412, "It is not the version that `If-Match` names; `current` is the one now."
    BODY_TOO_LARGE = "body_too_large", 413, "The body is larger than the route takes."
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type", 415, "The body is not said to be JSON."
    INVALID_REQUEST = "invalid_request", 422, "Fields or parameters are wrong; `detail` names each."
    INVALID_JSON = "invalid_json", 422, "The body is not JSON; `detail` says where and why."
    BUDGET_SPENT = "budget_spent", 429, "The caller or its organisation asks for more work than it may: `Retry-After`."
    INTERNAL_ERROR = "internal_error", 500, "Nobody foresaw this; the log has it under the `request_id`."
    NOT_BEGUN = "not_begun", 503, "No time or room was left for it in this call: send it again, with fewer."
    DEPENDENCY_UNAVAILABLE = "dependency_unavailable", 503, "Something that this needs is away: try again later."
    DATABASE_UNAVAILABLE = "database_unavailable", 503, "PostgreSQL cannot be reached: try again later."
    OUTCOME_UNKNOWN = (
        "outcome_unknown",
        503,
        "It is not known whether the change was stored: read before sending it again.",
    )
    EMBEDDING_UNAVAILABLE = "embedding_unavailable", 503, "The embedding model is away: try again later."
    INDEX_UNAVAILABLE = "index_unavailable", 503, "The vector index is away or is being built: try again later."
    CLASSIFIER_UNAVAILABLE = "classifier_unavailable", 503, "The classifier or its language model failed: try again."
    RERANKER_UNAVAILABLE = "reranker_unavailable", 503, "The reranker is away: try again later."
    QUEUE_UNAVAILABLE = "queue_unavailable", 503, "The queue takes no messages: try again later."
    SECRET_UNAVAILABLE = "secret_unavailable", 503, "A password or key cannot be read."


def not_found_code(kind: Kind) -> ErrorCode:
    """Return the code of a look-up that found nothing of a kind."""
    return ErrorCode[f"{kind.upper()}_NOT_FOUND"]
