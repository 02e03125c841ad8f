"""The errors of every operation: those that FastAPI was given, where they can occur, and those of API Gateway."""

from __future__ import annotations

from skillroute.core.errors.codes import ErrorCode
from skillroute.core.http.request_id import REQUEST_ID_HEADER

from skillroute_local.api_document.walk import SCHEMAS, Json, operations

_OF_BODIES = ("400", "413", "415")
"""Statuses that only requests with a body can get."""

GATEWAY_REFUSAL: Json = {
    "type": "object",
    "description": "What API Gateway refuses itself never reaches Skillroute: throttled requests, and callers whom its "
    "authorizer does not take.",
    "properties": {"message": {"type": "string", "description": "Why, in a few words."}},
    "required": ["message"],
    "examples": [{"message": "Too Many Requests"}],
}
_THROTTLED: Json = {
    "description": "API Gateway throttles: try again after a while, later each time.",
    "content": {"application/json": {"schema": {"$ref": f"{SCHEMAS}GatewayRefusal"}}},
}
_REQUEST_ID: Json = {
    "description": "The request's id, as in the log; of an error its body has it too.",
    "schema": {"type": "string"},
}
_RETRY_AFTER: Json = {
    "description": "Seconds to wait; absent where the change may be stored, so read it first.",
    "schema": {"type": "integer"},
}


def complete_answers(document: Json) -> None:
    """Leave out errors that cannot occur, add those of API Gateway, and name codes and headers."""
    document["components"]["schemas"]["GatewayRefusal"] = GATEWAY_REFUSAL
    for _, operation in operations(document):
        answers: Json = operation["responses"]
        if "requestBody" not in operation:
            for status in _OF_BODIES:
                answers.pop(status, None)
        answers.setdefault("429", dict(_THROTTLED))
        for status, answer in answers.items():
            _complete(status, answer)
        operation["responses"] = dict(sorted(answers.items()))


def _complete(status: str, answer: Json) -> None:
    if answer["description"] == "Successful Response":
        answer["description"] = "It was done; there is no body." if status == "204" else "The answer."
    if _is_problem(answer):
        codes = ", ".join(f"`{code.value}`" for code in ErrorCode if code.status == int(status))
        answer["description"] += f" Codes: {codes}."
    headers: Json = answer.setdefault("headers", {})
    if status != "429":
        headers[REQUEST_ID_HEADER] = _REQUEST_ID
    else:
        del answer["headers"]
        return
    if status == "503" and _is_problem(answer):
        headers["Retry-After"] = _RETRY_AFTER


def _is_problem(answer: Json) -> bool:
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    return schema.get("$ref", "").removeprefix(SCHEMAS) in {"Problem", "InvalidRequest", "StaleVersion"}
