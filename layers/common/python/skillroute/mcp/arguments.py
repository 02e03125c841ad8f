"""The arguments of tools: schemas short enough for a prompt, and errors that a language model can act on."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from skillroute.core.input.encodable import encodable
from skillroute.mcp.fit import Json
from skillroute.mcp.rpc import quoted
from skillroute.mcp.tool import ToolError


class _BooleanError(ValueError):
    """True or false, where pydantic would take 1 or 0."""


class Arguments(BaseModel):
    """The arguments of a tool. Models write 5 as "5" at times, which is taken; true is no number."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_boolean(cls, value: object) -> object:
        if any(isinstance(part, bool) for part in (value if isinstance(value, list) else [value])):
            raise _BooleanError
        return value


_TACIT = frozenset({"minLength", "maxLength", "minItems"})
_MAX_SHOWN = 1_000_000  # what is larger is no bound that a model could mind

Model = TypeVar("Model", bound=Arguments)


def input_schema(model: type[Arguments]) -> Json:
    """Return the JSON Schema of a model without what a language model needs no words for.

    Titles, null as a value, and bounds that arguments seldom reach; what exceeds one is refused all the same.
    """
    schema: Json = _pruned(_schema(model), drop=_TACIT)
    return {key: value for key, value in schema.items() if key != "additionalProperties"}


def _schema(model: type[Arguments]) -> Json:
    schema: Json = _pruned(model.model_json_schema())
    return {key: value for key, value in schema.items() if key != "description"}


def parsed(model: type[Model], arguments: Mapping[str, Any]) -> Model:
    """Return the arguments of a call; one that is null was not given.

    Raises
    ------
    ToolError
        One is wrong, unknown or missing; says what is allowed.
    """
    # Half of a surrogate pair is the name of no argument, and pydantic would not say which one it is.
    named = {encodable(name): value for name, value in arguments.items() if value is not None}
    try:
        return model.model_validate(named)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        problems = dict.fromkeys(_problem(detail, _schema(model)) for detail in found[:5])
        raise ToolError("; ".join(problems)) from None


def _problem(found: Any, schema: Json) -> str:
    """Say what is wrong with an argument, and what is right."""
    place = [str(part) for part in found["loc"] if not str(part).startswith("function-")]
    name, properties = place[0], schema["properties"]
    if found["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name[:64], properties, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        return f"{quoted(name)} is not an argument{meant}; allowed are {', '.join(properties)}"
    if found["type"] == "missing":
        return f"{name} is required: {properties[name].get('description', 'give a value')}"
    allowed = properties.get(name, {})
    if found["type"] == "string_unicode":
        return f"{name} must be valid Unicode, without halves of surrogate pairs"
    if found["type"] == "value_error" and not isinstance(found["ctx"]["error"], _BooleanError):
        return f"{name}: {found['ctx']['error']}"
    return f"{name} must be {_right(allowed)}"


def _right(allowed: Json) -> str:
    """Say which values a schema allows, of those that arguments here have."""
    if "enum" in allowed:
        return f"one of {', '.join(allowed['enum'])}"
    if allowed.get("type") == "object":
        return "an object"
    if allowed.get("type") == "boolean":
        return "true or false"
    if allowed.get("type") == "array":
        kind = "integers above 0" if allowed["items"].get("type") == "integer" else "texts"
        return f"a list of {allowed['minItems']}..{allowed['maxItems']} {kind}"
    if allowed.get("type") == "integer":
        return f"{allowed['minimum']}..{allowed['maximum']}"
    return f"text of {allowed['minLength']}..{allowed['maxLength']} characters"


def _pruned(value: Any, *, drop: frozenset[str] = frozenset({"title"}), is_named: bool = False) -> Any:
    """Return a schema without some keywords; `is_named` where the keys are names of arguments."""
    if isinstance(value, list):
        return [_pruned(inner, drop=drop) for inner in value]
    if not isinstance(value, dict):
        return value
    choices = [choice for choice in value.get("anyOf", ()) if choice != {"type": "null"}]
    if not is_named and len(choices) == 1:
        rest = {key: inner for key, inner in value.items() if key not in {"anyOf", "default"}}
        value = {**choices[0], **rest}
    return {
        key: _pruned(inner, drop=drop, is_named=key == "properties" and not is_named)
        for key, inner in value.items()
        if is_named or not (key in drop or (key == "maximum" and inner > _MAX_SHOWN and drop is _TACIT))
    }
