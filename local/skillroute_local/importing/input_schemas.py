"""Whether a tool's schemas are JSON Schemas: a server may answer anything under that name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from jsonschema import Draft7Validator
from jsonschema.exceptions import ValidationError, best_match
from referencing.exceptions import Unresolvable

from skillroute_local.schema_rules import rules_2020_12

_SHOWN = 200
# MCP's schemas are of draft 2020-12 where they name no other one.
_DRAFT_7 = "http://json-schema.org/draft-07/schema"
_RULES_7 = Draft7Validator(Draft7Validator.META_SCHEMA)
OF_ARGUMENTS = ("inputSchema", "input_schema")  # a result may be anything
_FIELDS = (*OF_ARGUMENTS, "outputSchema", "output_schema")


class SchemaProblem(NamedTuple):
    """A place in an item, and what is wrong there."""

    path: tuple[str | int, ...]
    reason: str

    @property
    def named(self) -> str:
        """The place, as people read it: ``input_schema.properties.n``."""
        return ".".join(map(str, self.path))


def schema_problems(item: Mapping[str, Any]) -> list[SchemaProblem]:
    """Return what is wrong with the schemas of an item, one of each place; nothing where all are right.

    Whether a schema is an object at all, and how deep it is, is checked with everything else.
    """
    found: list[SchemaProblem] = []
    for name in _FIELDS:
        schema = item.get(name)
        if not isinstance(schema, dict):
            continue
        if name in OF_ARGUMENTS and schema.get("type", "object") != "object":
            reason = f"must be object, as MCP asks: it is {str(schema['type'])[:_SHOWN]!r}"
            found.append(SchemaProblem((name, "type"), reason))
            continue
        rules = _RULES_7 if str(schema.get("$schema", "")).rstrip("#") == _DRAFT_7 else rules_2020_12()
        try:
            if not rules.is_valid(schema):
                found += _places(name, rules.iter_errors(schema))
        except RecursionError:
            continue  # how deep it is, is checked with everything else
        except (Unresolvable, TypeError, ValueError):
            found.append(SchemaProblem((name,), "is not a JSON Schema that can be checked"))
    return found


def _places(name: str, errors: Iterable[ValidationError]) -> Iterator[SchemaProblem]:
    by_place: dict[tuple[str | int, ...], list[ValidationError]] = {}
    for error in errors:
        by_place.setdefault((name, *error.absolute_path), []).append(error)
    for those in by_place.values():
        error = best_match(those)
        yield SchemaProblem((name, *error.absolute_path), f"is not a JSON Schema: {error.message[:_SHOWN]}")
