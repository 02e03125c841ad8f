"""The arguments of an operation: its parameters and its body, as the properties of one JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from skillroute_local.importing.model import Unreadable
from skillroute_local.importing.openapi.references import References
from skillroute_local.importing.openapi.schemas import Lost, Schemas
from skillroute_local.importing.pointers import pointer

_PLACES = {"path", "query", "querystring", "header", "cookie"}
# How a value is written where it goes (OpenAPI, Parameter Object).
_WRITTEN = ("style", "explode", "allowReserved", "allowEmptyValue")
# They say how the call is made, not what it is about (OpenAPI, Parameter Object).
_NOT_ARGUMENTS = {"accept", "authorization", "content-type"}
_BODY = "body"
_NAMED = 8
_IN_PATHS = re.compile(r"\{([^{}/]+)\}")


@dataclass(slots=True)
class Arguments:
    """The arguments of one operation.

    Attributes
    ----------
    properties, required
        Of the schema.
    places : dict
        How each is sent, by its name among the properties: ``{"in": "query", "name": "limit"}``, and `style`,
        `explode` and the like where the document has them, `contentType` of a parameter that is a document itself, and
        the `encoding` of a body's parts.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    places: dict[str, dict[str, Any]] = field(default_factory=dict)

    def schema(self, definitions: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of all arguments."""
        made: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            made["required"] = self.required
        return made | ({"$defs": definitions} if definitions else {})

    def add(self, name: str, schema: Any, place: dict[str, Any], *, is_required: bool) -> None:
        """Add one; where its name is taken, the place goes before it: ``query_id``."""
        free = name
        while free in self.properties:
            free = f"{place['in']}_{free}"
        self.properties[free] = schema
        self.places[free] = place
        if is_required:
            self.required.append(free)

    def add_missing(self, path: str) -> None:
        """Add what a path asks for and no parameter is there for: one that could not be read may have been it."""
        there = {place["name"] for place in self.places.values() if place["in"] == "path"}
        for name in dict.fromkeys(_IN_PATHS.findall(path)):
            if name not in there:
                self.add(name, {}, {"in": "path", "name": name}, is_required=True)


def parameters_of(
    references: References, lost: Lost, *lists: tuple[object, str]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the parameters of lists with their places; of those with one name and place the last list's.

    Parameters
    ----------
    lost : callable
        Called with the place and the reason of each that cannot be read.
    lists : tuple
        A list of parameters and where it stands: the path's, then the operation's.
    """
    found: dict[tuple[str, str], tuple[dict[str, Any], str]] = {}
    for values, where in lists:
        if values is None:
            continue
        if not isinstance(values, list):
            lost(where, "must be a list of parameters")
            continue
        for number, value in enumerate(values):
            at = pointer(where, number)
            try:
                name, place, parameter = _parameter(references, value, at)
            except Unreadable as error:
                lost(error.where, error.reason)
                continue
            if not (place == "header" and name.lower() in _NOT_ARGUMENTS):
                found[name, place] = parameter, at
    yield from found.values()


def _parameter(references: References, value: object, at: str) -> tuple[str, str, dict[str, Any]]:
    parameter = references.whole_at(value, at)
    name, place = parameter.get("name"), parameter.get("in")
    if not isinstance(name, str) or not name:
        raise Unreadable(pointer(at, "name"), "must be a text")
    if not isinstance(place, str) or place not in _PLACES:
        raise Unreadable(pointer(at, "in"), f"must be one of {', '.join(sorted(_PLACES))}")
    return name, place, parameter


def arguments_of(
    parameters: Iterable[tuple[dict[str, Any], str]],
    body: tuple[dict[str, Any], str] | None,
    schemas: Schemas,
    lost: Lost,
) -> Arguments:
    """Return the arguments of an operation; what of them cannot be read is noted with its place."""
    arguments = Arguments()
    for parameter, where in parameters:
        try:
            schema, written = _parameter_schema(parameter, where, schemas)
        except Unreadable as error:
            lost(error.where, error.reason)
            schema, written = {}, {}
        place = {"in": parameter["in"], "name": parameter["name"], **written}
        is_required = parameter.get("required") is True or parameter["in"] == "path"
        described = _described(_marked(schema, parameter), parameter.get("description"))
        arguments.add(parameter["name"], described, place, is_required=is_required)
    if body is not None:
        content, where = body
        try:
            media_type, media, at = _media(content.get("content"), pointer(where, "content"))
        except Unreadable as error:
            lost(error.where, error.reason)
            media_type, media, at = "application/json", {}, where
        schema = schemas.of(media["schema"], pointer(at, "schema")) if "schema" in media else {}
        place = {"in": _BODY, "name": media_type}
        if isinstance(media.get("encoding"), dict):
            place["encoding"] = media["encoding"]
        is_required = content.get("required") is True
        schema = _described(_described(schema, _parts_of(schema, media_type)), content.get("description"))
        arguments.add(_BODY, schema, place, is_required=is_required)
    return arguments


def _parts_of(schema: Any, media_type: str) -> str | None:
    """Return what to say of a body that its document says nothing of: what it is made of; None where it does."""
    if not isinstance(schema, dict) or schema.get("description"):
        return None
    properties = schema.get("properties")
    names = list(properties) if isinstance(properties, dict) else []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"What is sent: {', '.join(names[:_NAMED])}{more}" if names else f"What is sent, as {media_type}"


def _parameter_schema(parameter: dict[str, Any], where: str, schemas: Schemas) -> tuple[Any, dict[str, Any]]:
    """Return the schema of a parameter, and how its value is written where it goes."""
    written = {key: parameter[key] for key in _WRITTEN if isinstance(parameter.get(key), str | bool)}
    source, at = parameter, where
    if "content" in parameter:
        written["contentType"], source, at = _media(parameter["content"], pointer(where, "content"))
    return schemas.of(source["schema"], pointer(at, "schema")) if "schema" in source else {}, written


def _marked(schema: Any, parameter: dict[str, Any]) -> Any:
    """Return a schema with what a parameter says of itself beside it: that it is deprecated, and examples."""
    if not isinstance(schema, dict):
        return schema
    marks: dict[str, Any] = {"deprecated": True} if parameter.get("deprecated") is True else {}
    examples = parameter.get("examples")
    if "example" in parameter:
        marks["examples"] = [parameter["example"]]
    elif isinstance(examples, dict):
        values = [each["value"] for each in examples.values() if isinstance(each, dict) and "value" in each]
        marks |= {"examples": values} if values else {}
    return {**marks, **schema}


def _media(content: object, where: str) -> tuple[str, dict[str, Any], str]:
    """Return the media type that is described, what describes it and where: JSON if there is any, else the first."""
    if not isinstance(content, dict) or not content:
        raise Unreadable(where, "must be an object with a media type")
    name = next((name for name in content if _is_json(name)), next(iter(content)))
    media = content[name]
    if not isinstance(media, dict):
        raise Unreadable(pointer(where, name), "must be an object")
    return name, media, pointer(where, name)


def _is_json(media_type: str) -> bool:
    bare = media_type.partition(";")[0].strip().lower()
    return bare == "application/json" or bare.endswith("+json")


def _described(schema: Any, description: object) -> Any:
    """Return a schema with the description of the place that has it: what it is for, rather than what it is."""
    if not isinstance(description, str) or not description.strip() or not isinstance(schema, dict):
        return schema
    return {**schema, "description": description.strip()}
