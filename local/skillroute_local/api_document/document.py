"""The document: what FastAPI finds out, made fit to be published."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from fastapi import APIRouter, FastAPI

from skillroute_local.api_document.components import drop_unused, name_schemas, share_answers
from skillroute_local.api_document.descriptions import describe
from skillroute_local.api_document.errors import complete_answers
from skillroute_local.api_document.examples import add_examples
from skillroute_local.api_document.security import declare_security
from skillroute_local.api_document.walk import Json, operations
from skillroute_local.api_document.webhooks import EVENTS, webhooks

DEPLOYMENT: Json = {
    "url": "https://{api}.execute-api.{region}.amazonaws.com",
    "description": "A deployment: the output `ApiUrl` of its stack. On a laptop it is `http://localhost:3000`.",
    "variables": {
        "api": {"default": "a1b2c3d4e5", "description": "The id of the HTTP API."},
        "region": {"default": "us-east-1", "description": "The region of AWS that it is deployed in."},
    },
}
_DESCRIPTION = """\
Tool search for AI agents: ask for what you need in plain words, get the tools that fit.

Tools, prompts and resources of MCP servers are written in bulk, grouped into skills, and found by meaning and by words;
so are servers, agents, Agent Skills, and the mail between agents. What all routes do alike (errors, versions of things,
pages) is in docs/api.md, and what may change within v1 in docs/versioning.md."""
_TAGS = {
    "search": "Find tools, skills, servers, agents and Agent Skills.",
    "messages": "Find mail between agents.",
    "catalogue": "Tools, prompts and resources: write, read, delete.",
    "registry": "MCP servers and A2A agents.",
    "agent skills": "Folders with a `SKILL.md`: write, read, delete.",
    "skills": "Groups of tools that serve one purpose, and which tools are in them.",
    "suggestions": "Skills and descriptions that classifiers suggest, for people to decide.",
    "access": "Rules of who may find and call which servers, tools and skills.",
    "trust": "Definitions that changed since they were approved, for people to decide.",
    "identity": "How servers let requests in, and one's own logins at them.",
    "learning": "What became of the tools that searches showed: outcomes, what people miss, judged requests, receipts; "
    "and what is learned of it.",
    "mail": "Projects, products, agents and messages: write, read, delete.",
    "mcp": "The same for agents, over the Model Context Protocol.",
    "operations": "How the deployment stands.",
}


def api_document(app: FastAPI, routers: Sequence[APIRouter], *, server: Json = DEPLOYMENT) -> Json:
    """Return the OpenAPI document of an app that serves the routers.

    Parameters
    ----------
    app : FastAPI
    routers : sequence of APIRouter
        Those that it was made of: their guards know the scopes.
    server : dict
        Where it is served.

    Raises
    ------
    ValueError
        Two operations have one id, or two different schemas one name.
    """
    document: Json = deepcopy(app.openapi())
    _check_ids(document)
    document["info"] |= {
        "title": "Skillroute",
        "description": _DESCRIPTION,
        "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
    }
    document["servers"] = [server]
    document["webhooks"] = webhooks()
    document.setdefault("components", {}).setdefault("schemas", {}).update(deepcopy(EVENTS))
    complete_answers(document)
    name_schemas(document)
    describe(document)
    add_examples(document)
    declare_security(document, [route for router in routers for route in router.routes])
    share_answers(document)
    drop_unused(document)
    used = {tag for _, operation in operations(document) for tag in operation["tags"]}
    document["tags"] = [{"name": tag, "description": _TAGS.get(tag, "")} for tag in [*_TAGS, *sorted(used - {*_TAGS})]]
    return {name: document[name] for name in _ORDER if name in document}


_ORDER = ("openapi", "info", "servers", "tags", "paths", "webhooks", "components")


def _check_ids(document: Json) -> None:
    seen: dict[str, str] = {}
    for name, operation in operations(document):
        before = seen.setdefault(operation["operationId"], name)
        if before != name:
            raise ValueError(
                f"{before} and {name} are both called {operation['operationId']}: rename the function of one of both"
            )
