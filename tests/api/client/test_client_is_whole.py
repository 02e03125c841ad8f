"""The Python client has a method for each operation of the API, with all its parameters, and the docs name each."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute_client import Skillroute
from skillroute_client.operations import Operation, PagedOperation

KINDS = (
    *("skills", "suggestions", "tools", "servers", "agents", "agent_skills", "learning", "access", "trust"),
    *("messages", "projects", "products", "mail_agents"),
)
WITHOUT = {"post_mcp_message", "list_published_servers", "list_published_versions", "get_published_version"}
"""Operations that have no method: MCP and its registries have clients of their own."""
ELSEWHERE = {("search_tools", "format")}
"""Fields that a method of their own stands for: `search_mcp`."""
DOCS = Path(__file__).parents[3] / "docs" / "clients.md"


@dataclass(frozen=True)
class Method:
    """A method of the client: its name in the docs, what it takes, and what its first call is."""

    of: str
    name: str
    takes: frozenset[str]
    verb: str
    path: str


def methods() -> list[Method]:
    client = Skillroute("http://testserver", token=None)
    found = []
    for of, resource in [("client", client), *((f"client.{kind}", getattr(client, kind)) for kind in KINDS)]:
        for name, member in inspect.getmembers(type(resource)):
            if isinstance(member, Operation | PagedOperation) and name != "request":
                found.append(described(of, name, member._define))
    return found


def described(of: str, name: str, define: Any) -> Method:
    parameters = list(inspect.signature(define).parameters.values())[1:]
    takes = {parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD}
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            [options] = typing.get_args(typing.get_type_hints(define)[parameter.name])
            takes |= set(typing.get_type_hints(options))
    needed = {p.name: argument(p.name) for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD}
    made = define(None, **needed)
    call = next(made) if inspect.isgenerator(made) else made.first() if hasattr(made, "first") else made
    return Method(of, name, frozenset(takes), call.method, shape(call.path))


def argument(name: str) -> Any:
    """Return what a call can be made of; nothing is sent."""
    if name == "lines":
        return [{"kind": "skill"}]
    if name in {*KINDS, "decisions", "outcomes", "searches", "tool_ids"}:
        return []
    return {"skill": {}, "tool": {}, "server": {}, "agent": {}}.get(name, 1)


def shape(path: str) -> str:
    return re.sub(r"\{\w+\}|(?<=/)\d+", "*", path)


def documented(document: Any) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            yield operation["operationId"], verb.upper(), shape(path), operation


@pytest.fixture(scope="module")
def document(shared_client: TestClient) -> Any:
    return shared_client.get("/openapi.json").json()


def test_every_operation_of_the_api_has_a_method_and_every_method_an_operation(document: Any) -> None:
    operations = {(verb, path): id_ for id_, verb, path, _ in documented(document)}
    calls = {(method.verb, method.path) for method in methods()}
    assert calls - set(operations) == set()
    assert {id_ for place, id_ in operations.items() if place not in calls} == WITHOUT


def test_every_parameter_of_an_operation_is_one_of_its_method(document: Any) -> None:
    missing = []
    for id_, verb, path, operation in documented(document):
        same_as, asked = parameters(document, operation)
        takes: set[str] = set()
        for method in methods():
            takes |= method.takes if (method.verb, method.path) == (verb, path) else set()
        known = {same_as.get(name, name) for name in takes} | ({"kinds"} if "kind" in takes else set())
        missing += [(id_, name) for name in asked - known if id_ not in WITHOUT]
    assert set(missing) == ELSEWHERE


def parameters(document: Any, operation: dict[str, Any]) -> tuple[dict[str, str], set[str]]:
    """Return the names of what an operation takes, of a search its body's fields too, and the synonyms among them."""
    renamed = {"kind": "kinds", "If-Match": "if_match", "If-None-Match": "only_new"}
    asked = {renamed.get(p["name"], p["name"]) for p in operation.get("parameters", ()) if p["in"] != "path"}
    same_as: dict[str, str] = {}
    if "search" in operation["operationId"] and (body := operation.get("requestBody")):
        schema = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for name, field in document["components"]["schemas"][schema]["properties"].items():
            if synonym := re.fullmatch(r"The same as (\w+)\.", field.get("description", "")):
                same_as[name] = synonym[1]
            asked.add(same_as.get(name, name))
    return same_as, asked


def test_the_docs_name_every_method() -> None:
    rows = re.findall(r"^\| (`client[^|]*) \| (.*) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    named = {
        (resource, name)
        for resources, names in rows
        for resource in re.findall(r"`([\w.]+)`", resources)
        for name in re.findall(r"`(\w+)`", names)
    }
    assert named == {(method.of, method.name) for method in methods()} | {("client", "request")}
