"""The operations of an OpenAPI 3 document as tools."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from skillroute.catalogue.model import ItemKey
from skillroute.core.input.url_credentials import masked_url

from skillroute_local.importing.content import Content, document_of
from skillroute_local.importing.mended import mended
from skillroute_local.importing.model import Choices, Reading, Refuse, Row, Scope, Unreadable
from skillroute_local.importing.openapi.arguments import arguments_of, parameters_of
from skillroute_local.importing.openapi.names import operation_names, server_name
from skillroute_local.importing.openapi.references import References
from skillroute_local.importing.openapi.schemas import Lost, Schemas
from skillroute_local.importing.pointers import pointer
from skillroute_local.importing.values import size_of

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")

MAX_INLINED_BYTES = 32 * 1024
"""Of a tool's schema: a larger one is made again with all references in `$defs`, where nothing stands twice."""

_READS = {"get", "head", "options", "query", "trace"}
_REPEATABLE = {*_READS, "put", "delete"}
_MAX_TAGS = 20
_MAX_TAG = 64


def is_document(content: Content) -> bool:
    """Return whether a document is OpenAPI's, of any version."""
    value = document_of(content)
    return isinstance(value, dict) and ("openapi" in value or "swagger" in value)


def read_operations(content: Content, choices: Choices, refuse: Refuse) -> Reading:
    """Return a tool for each operation; the server is the document's title unless another one is chosen."""
    document, base = document_of(content), f"{content.path.name}#"
    version = str(document.get("openapi", document.get("swagger")))
    if not version.startswith("3."):
        raise Unreadable(base, f"is of version {version[:20]}; OpenAPI 3 is read: convert it first")
    info = document.get("info")
    server = choices.server or server_name(info.get("title") if isinstance(info, dict) else None, content.path.stem)
    tools = _Tools(document, base, server)
    rows = list(tools.rows(refuse))
    has_none = f"has no operation under {pointer(base, 'paths')}; callbacks and webhooks are not imported"
    return Reading(
        "items",
        rows,
        sum(row.size for row in rows),
        scopes=(Scope(server, "tool"),),
        notes=() if rows or document.get("paths") else (has_none,),
        left_out=tuple(tools.left_out),
    )


class _Tools:
    def __init__(self, document: dict[str, Any], base: str, server: str) -> None:
        self._document = document
        self._base = base
        self._server = server
        self._references = References(document, base)
        self.left_out: dict[str, None] = {}
        """The parts of the document that its tools lack, with place and reason."""

    def rows(self, refuse: Refuse) -> Iterator[Row]:
        """Yield a row for each operation that can be read."""
        found = list(self._operations(refuse))
        names = operation_names([(path, method, operation) for path, method, _, operation in found])
        for (path, method, item, operation), name in zip(found, names, strict=True):
            where = pointer(self._base, "paths", path, method)
            lost = partial(self._lost, where)
            value, problem = mended(
                self._tool(name, path, method, item, operation, lost),
                lambda problem, lost=lost, where=where: lost(where, f"{problem.named}: {problem.reason}"),  # type: ignore[misc]
            )
            if problem:
                refuse(where, f"{problem.named}: {problem.reason}", ItemKey(self._server, "tool", name))
            else:
                yield Row("items", where, value, size_of(value))

    def _lost(self, tool: str, where: str, reason: str) -> None:
        at = where if where.startswith(tool) else f"{tool}: {where}"
        self.left_out[f"{at}: left out: {reason}"] = None

    def _operations(self, refuse: Refuse) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
        paths = self._document.get("paths", {})
        if not isinstance(paths, dict):
            raise Unreadable(pointer(self._base, "paths"), "must be an object")
        for path, value in paths.items():
            if path.startswith("x-"):
                continue
            where = pointer(self._base, "paths", path)
            try:
                item = self._references.whole_at(value, where)
            except Unreadable as error:
                refuse(error.where, error.reason)
                continue
            for method in METHODS:
                if method not in item:
                    continue
                try:
                    operation = self._references.whole_at(item[method], pointer(where, method))
                except Unreadable as error:
                    refuse(error.where, error.reason)
                else:
                    yield path, method, item, operation
            if isinstance(others := item.get("additionalOperations"), dict):
                for name in others:
                    self._lost(where, pointer(where, "additionalOperations", name), "its method is not read")

    def _tool(
        self, name: str, path: str, method: str, item: dict[str, Any], operation: dict[str, Any], lost: Lost
    ) -> dict[str, Any]:
        schema, places = self._schema(path, method, item, operation, lost, inline=True)
        if size_of(schema) > MAX_INLINED_BYTES:
            schema, places = self._schema(path, method, item, operation, lost, inline=False)
        call: dict[str, Any] = {"method": method.upper(), "path": path, "arguments": places}
        if url := _url(operation, item, self._document):
            call["url"] = masked_url(url)
            if call["url"] != url:
                lost(pointer(self._base, "servers"), "credentials in the address")
        summary = operation.get("summary")
        annotations: dict[str, Any] = {"readOnlyHint": method in _READS, "idempotentHint": method in _REPEATABLE}
        if method == "delete":
            annotations["destructiveHint"] = True
        if isinstance(summary, str) and summary.strip():
            annotations["title"] = summary.strip()[:200]
        return {
            "type": "tool",
            "server": self._server,
            "name": name,
            "description": _description(operation, item),
            "input_schema": schema,
            "annotations": annotations,
            "tags": _tags(operation.get("tags")),
            "metadata": {"http": call},
        }

    def _schema(
        self, path: str, method: str, item: dict[str, Any], operation: dict[str, Any], lost: Lost, *, inline: bool
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        schemas = Schemas(self._references, inline=inline, lost=lost)
        above = pointer(self._base, "paths", path)
        where = pointer(above, method)
        parameters = parameters_of(
            self._references,
            lost,
            (item.get("parameters"), pointer(above, "parameters")),
            (operation.get("parameters"), pointer(where, "parameters")),
        )
        at = pointer(where, "requestBody")
        body = None
        if "requestBody" in operation:
            try:
                body = self._references.whole_at(operation["requestBody"], at), at
            except Unreadable as error:
                lost(error.where, error.reason)
        known = len(self.left_out)
        arguments = arguments_of(parameters, body, schemas, lost)
        if len(self.left_out) > known:
            arguments.add_missing(path)
        return arguments.schema(schemas.definitions()), arguments.places


def _description(operation: dict[str, Any], item: dict[str, Any]) -> str:
    """Return what an operation says of itself, else what its path says: the summary, then the description."""
    for source in (operation, item):
        said = [text.strip() for key in ("summary", "description") if isinstance(text := source.get(key), str)]
        texts = [text for text in dict.fromkeys(said) if text]
        if texts:
            first = texts[0] if len(texts) == 1 or texts[0].endswith((".", "!", "?")) else f"{texts[0]}."
            whole = "\n".join([first, *texts[1:]])
            return f"Deprecated. {whole}" if operation.get("deprecated") is True else whole
    return ""


def _tags(tags: object) -> list[str]:
    texts = [tag.strip()[:_MAX_TAG] for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return [tag for tag in dict.fromkeys(texts) if tag][:_MAX_TAGS]


def _url(*sources: dict[str, Any]) -> str | None:
    """Return the first address that one of the sources names, the nearest first."""
    for source in sources:
        servers = source.get("servers")
        first = servers[0] if isinstance(servers, list) and servers else None
        if isinstance(first, dict) and isinstance(first.get("url"), str):
            return str(first["url"])
    return None
