"""template.yaml as CloudFormation gets it: translated offline by SAM's own translator, then resolved for parameters.

With it what it nests of monitoring, as if its resources stood in the one template; what makes the database has tests of
its own.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from samtranslator.parser.parser import Parser
from samtranslator.translator import translator as translator_module
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).parents[2]
MONITORING = "infrastructure/monitoring.yaml"
Json = dict[str, Any]

_STACK_NUMBER = "1c2fa620-982a-11e3-aff7-50e2416294e0"
PSEUDO = {
    "AWS::AccountId": "123456789012",
    "AWS::Partition": "aws",
    "AWS::Region": "eu-central-1",
    "AWS::StackId": "arn:aws:cloudformation:eu-central-1:123456789012:stack/skillroute/" + _STACK_NUMBER,
    "AWS::StackName": "skillroute",
    "AWS::URLSuffix": "amazonaws.com",
}
_NOTHING = object()


def parsed(path: str = "template.yaml") -> Json:
    """Return a template as it is written, as a copy that may be changed."""
    return copy.deepcopy(_read(path))


@cache
def _read(path: str) -> Json:
    template: Json = yaml_parse((ROOT / path).read_text(encoding="utf-8"))
    return template


def translated(template: Json, parameters: Mapping[str, str]) -> Json:
    """Return what SAM makes of a template, with artifacts as `sam package` names them."""
    template = copy.deepcopy(template)
    for name, resource in template["Resources"].items():
        for key in ("CodeUri", "ContentUri"):
            if key in resource.get("Properties", {}):
                uri = resource["Properties"][key]
                packaged = isinstance(uri, str) and uri.startswith("s3://")
                resource["Properties"][key] = uri if packaged else f"s3://bucket/{name}"
    translator = Translator({}, Parser(), boto_session=_session())
    result: Json = translator.translate(template, parameter_values=dict(parameters))
    return result


# A quarter of a translation is the validation of SAM's own policy templates, which are the same each time.
translator_module.make_policy_template_for_function_plugin = cache(
    translator_module.make_policy_template_for_function_plugin
)


@cache
def _session() -> boto3.session.Session:
    return boto3.session.Session(region_name=PSEUDO["AWS::Region"])


@dataclass(frozen=True)
class Stack:
    """A template for given parameters: conditions decided, parameters filled in, references to resources left.

    Attributes
    ----------
    source, translated : dict
        As written, and as SAM made it of that.
    parameters : dict of str
        With the defaults of those that were not given.
    monitoring : dict
        The nested template, as written.
    resources, outputs : dict
        Those whose conditions hold, resolved; the resources of the nested template among them.
    """

    source: Json
    translated: Json
    monitoring: Json
    parameters: dict[str, str]
    resources: Json
    outputs: Json

    def of_type(self, kind: str) -> Json:
        """Return the properties of the resources of a type, by logical id."""
        return {name: each.get("Properties", {}) for name, each in self.resources.items() if each["Type"] == kind}


def stack(parameters: Mapping[str, str], source: Json | None = None, monitoring: Json | None = None) -> Stack:
    """Return the stack of some parameters."""
    source, monitoring = source or parsed(), monitoring or parsed(MONITORING)
    result = translated(source, parameters)
    values = _defaults(source) | parameters
    resolver = Resolver(result, values)
    return Stack(
        source=source,
        translated=result,
        monitoring=monitoring,
        parameters=values,
        resources=resources(result, monitoring, values),
        outputs={name: resolver(each) for name, each in result["Outputs"].items() if resolver.is_made(each)},
    )


def resources(translated: Json, monitoring: Json, values: Mapping[str, str]) -> Json:
    """Return the resources that are made with these parameters and pseudo parameters, the nested ones among them."""
    made = _made(Resolver(translated, values), translated)
    for nested in [each for each in made.values() if each.get("Properties", {}).get("TemplateURL") == MONITORING]:
        # A nested stack has a name and a number of its own.
        own = {
            "AWS::StackName": "nested",
            "AWS::StackId": "arn:aws:cloudformation:eu-central-1:1:stack/nested/3c2fa620",
        }
        watching = _made(
            Resolver(monitoring, _defaults(monitoring) | own | nested["Properties"]["Parameters"]), monitoring
        )
        assert not set(made) & set(watching), "names that stand in both"
        made = made | watching
    return made


def _made(resolver: Resolver, template: Json) -> Json:
    return {name: resolver(each) for name, each in template["Resources"].items() if resolver.is_made(each)}


def _defaults(template: Json) -> dict[str, str]:
    return {name: str(each["Default"]) for name, each in template["Parameters"].items() if "Default" in each}


class Resolver:
    """Does what CloudFormation does with intrinsic functions, as far as parameters decide it."""

    def __init__(self, template: Json, parameters: Mapping[str, Any]) -> None:
        self._conditions = template.get("Conditions", {})
        self._mappings = template.get("Mappings", {})
        self._values = {**PSEUDO, **parameters}

    def is_made(self, resource: Json) -> bool:
        """Say whether the condition of a resource or output holds."""
        return "Condition" not in resource or self.holds({"Condition": resource["Condition"]})

    def holds(self, condition: Any) -> bool:
        """Decide a condition, or an assertion of a rule."""
        ((function, operands),) = condition.items()
        if function == "Condition":
            return self.holds(self._conditions[operands])
        if function == "Fn::Equals":
            left, right = (self(each) for each in operands)
            return str(left) == str(right)
        if function == "Fn::Not":
            return not self.holds(operands[0])
        decide = {"Fn::And": all, "Fn::Or": any}[function]
        return decide(self.holds(each) for each in operands)

    def __call__(self, value: Any) -> Any:
        resolved = self._resolve(value)
        assert resolved is not _NOTHING
        return resolved

    def _resolve(self, value: Any) -> Any:
        if isinstance(value, list):
            return [each for each in map(self._resolve, value) if each is not _NOTHING]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((function, operand),) = value.items()
            known = (
                getattr(self, "_" + function.removeprefix("Fn::").lower(), None) if function != "Condition" else None
            )
            if known is not None and (function == "Ref" or function.startswith("Fn::")):
                return known(operand)
        resolved = {key: self._resolve(each) for key, each in value.items()}
        return {key: each for key, each in resolved.items() if each is not _NOTHING}

    def _ref(self, name: str) -> Any:
        return _NOTHING if name == "AWS::NoValue" else self._values.get(name, {"Ref": name})

    def _if(self, operands: list[Any]) -> Any:
        condition, then, otherwise = operands
        return self._resolve(then if self.holds({"Condition": condition}) else otherwise)

    def _findinmap(self, operands: list[Any]) -> Any:
        name, first, second = (str(self(each)) for each in operands)
        return self._mappings[name][first][second]

    def _select(self, operands: list[Any]) -> Any:
        position, values = operands
        return self(values)[int(position)]

    def _split(self, operands: list[Any]) -> list[str]:
        separator, text = operands
        parts: list[str] = self(text).split(separator)
        return parts

    def _sub(self, operand: Any) -> str:
        text, own = (operand, {}) if isinstance(operand, str) else (operand[0], self(operand[1]))
        values = {**self._values, **{name: each if isinstance(each, str) else str(each) for name, each in own.items()}}
        return re.sub(r"\$\{([^}!]+)\}", lambda match: _written(values.get(match[1], match[0])), text)


def _written(value: Any) -> str:
    """Return what stands in a text for a value, or for what a nested template was given a reference to."""
    if not isinstance(value, dict):
        return str(value)
    (name,) = references(value)
    return f"${{{name}}}"


def references(value: Any) -> Iterator[str]:
    """Yield the names of the parameters, resources, attributes (`Name.Attribute`) and conditions that a value uses."""
    if isinstance(value, list):
        for each in value:
            yield from references(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key == "Ref":
                yield each
            elif key == "Fn::GetAtt":
                yield each if isinstance(each, str) else ".".join(each)
            elif key == "Fn::If":
                yield f"condition {each[0]}"
                yield from references(each[1:])
            elif key == "Condition" and isinstance(each, str):
                yield f"condition {each}"
            elif key == "Fn::Sub":
                text, own = (each, {}) if isinstance(each, str) else each
                yield from (name for name in re.findall(r"\$\{([^}!]+)\}", text) if name not in own)
                yield from references(own)
            else:
                yield from references(each)


def values_used(template: Json, value: Any) -> set[str]:
    """Return the references of a value, with what its conditions ask for in place of the conditions."""
    found: set[str] = set()
    for name in references(value):
        if name.startswith("condition "):
            found |= values_used(template, template["Conditions"][name.removeprefix("condition ")])
        elif not name.startswith("AWS::"):
            found.add(name)
    return found
