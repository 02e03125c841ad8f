"""Codes of all errors: programs use the code, people read the sentence.

A code never changes its meaning. New ones may come, so a client treats one that it does not know by its status.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self

Kind = Literal[
    "skill", "item", "server", "agent", "project", "product", "message", "suggestion", "agent skill", "access rule"
]
"""The kinds that are looked up by an id."""


class ErrorCode(StrEnum):
    """A code with its HTTP status and its meaning.

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
    UNAUTHENTICATED = "unauthenticated", 401, "The request has no credentials: send a token, or sign it."
    INVALID_TOKEN = "invalid_token", 401, "The token is malformed, forged, expired or issued for another audience."
    FORBIDDEN = "forbidden", 403, "The caller may not do this."
    INSUFFICIENT_SCOPE = "insufficient_scope", 403, "The caller lacks the scope that the route requires."
    GLOBAL_ITEM = "global_item", 403, "The object is global: an organisation changes only its own objects."
    OTHER_AGENT = "other_agent", 403, "The object belongs to another mail agent."
    OPERATOR_ONLY = "operator_only", 403, "Only the operator may do this: send a token without an organisation."
    ROUTE_NOT_FOUND = "route_not_found", 404, "No route has this path."
    NOT_FOUND = "not_found", 404, "The object does not exist, or the caller may not see it."
    SKILL_NOT_FOUND = "skill_not_found", 404, "No skill with this id is visible to the caller."
    ITEM_NOT_FOUND = "item_not_found", 404, "No tool, prompt or resource with this id is visible to the caller."
    SERVER_NOT_FOUND = "server_not_found", 404, "No server with this id is visible to the caller."
    AGENT_NOT_FOUND = "agent_not_found", 404, "No agent with this id is visible to the caller."
    PROJECT_NOT_FOUND = "project_not_found", 404, "No project with this id is visible to the caller."
    PRODUCT_NOT_FOUND = "product_not_found", 404, "No product with this id is visible to the caller."
    MESSAGE_NOT_FOUND = "message_not_found", 404, "No message with this id is visible to the caller."
    SUGGESTION_NOT_FOUND = "suggestion_not_found", 404, "No suggestion with this id is visible to the caller."
    AGENT_SKILL_NOT_FOUND = "agent_skill_not_found", 404, "No Agent Skill with this id is visible to the caller."
    AGENT_SKILL_FILE_NOT_FOUND = "agent_skill_file_not_found", 404, "The Agent Skill has no file with this digest."
    ACCESS_RULE_NOT_FOUND = "access_rule_not_found", 404, "No rule of access with this id is visible to the caller."
    METHOD_NOT_ALLOWED = (
        "method_not_allowed",
        405,
        "The path does not support this method; `Allow` lists those that it supports.",
    )
    CONFLICT = "conflict", 409, "The object exists already, or its state does not allow the change."
    SKILL_EXISTS = "skill_exists", 409, "A skill of the organisation, or a global one, has this id."
    SKILL_DELETED = "skill_deleted", 409, "The skill is deleted; its id can be created again."
    TOO_MANY_SKILLS = "too_many_skills", 409, "The maximum number of skills is reached."
    SKILL_FULL = "skill_full", 409, "The skill has the maximum number of tools."
    CHANGED_MEANWHILE = "changed_meanwhile", 409, "Another request is changing the object: try again."
    ALREADY_DECIDED = "already_decided", 409, "The suggestion was approved, rejected or merged before."
    NOT_A_NEW_SKILL = "not_a_new_skill", 409, "The suggestion is a description: approve or reject it."
    NO_LANGUAGE_MODEL = "no_language_model", 409, "No language model is configured."
    SERVER_DISABLED = (
        "server_disabled",
        409,
        "The item's server is disabled: enable the server first.",
    )
    DEFINITION_CHANGED = (
        "definition_changed",
        409,
        "The item is quarantined: approve its changed definition first.",
    )
    LOGIN_NOT_POSSIBLE = (
        "login_not_possible",
        409,
        "The server, or its authorization server, does not offer what a login needs; `detail` says what.",
    )
    STILL_REFERRED_TO = "still_referred_to", 409, "Messages refer to the object: delete them first."
    VERSION_CONFLICT = "version_conflict", 412, "The version differs from `If-Match`; `current` is the stored one."
    BODY_TOO_LARGE = "body_too_large", 413, "The body is larger than the route accepts."
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type", 415, "The `Content-Type` of the request is not JSON."
    INVALID_REQUEST = "invalid_request", 422, "Fields or parameters are wrong; `detail` names each."
    INVALID_JSON = "invalid_json", 422, "The body is not JSON; `detail` says where and why."
    BUDGET_SPENT = "budget_spent", 429, "The caller or its organisation has spent its budget: wait for `Retry-After`."
    INTERNAL_ERROR = "internal_error", 500, "An unexpected error; the log has it under the `request_id`."
    NOT_BEGUN = "not_begun", 503, "The call had no time or room for this entry: send it again in a smaller batch."
    DEPENDENCY_UNAVAILABLE = "dependency_unavailable", 503, "A dependency is unavailable: try again later."
    DATABASE_UNAVAILABLE = "database_unavailable", 503, "PostgreSQL cannot be reached: try again later."
    OUTCOME_UNKNOWN = (
        "outcome_unknown",
        503,
        "It is not known whether the change was stored: read before sending it again.",
    )
    EMBEDDING_UNAVAILABLE = "embedding_unavailable", 503, "The embedding model is unavailable: try again later."
    INDEX_UNAVAILABLE = "index_unavailable", 503, "The vector index is unavailable or is being built: try again later."
    CLASSIFIER_UNAVAILABLE = "classifier_unavailable", 503, "The classifier or its language model failed: try again."
    RERANKER_UNAVAILABLE = "reranker_unavailable", 503, "The reranker is unavailable: try again later."
    QUEUE_UNAVAILABLE = "queue_unavailable", 503, "The queue accepts no messages: try again later."
    SECRET_UNAVAILABLE = "secret_unavailable", 503, "A password or key cannot be read."


def not_found_code(kind: Kind) -> ErrorCode:
    """Return the code of a look-up that found nothing of a kind."""
    return ErrorCode[f"{kind.upper().replace(' ', '_')}_NOT_FOUND"]
