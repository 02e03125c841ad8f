"""`/openapi.json`, the page under `/docs` that shows it, and `/`, which leads there: all from this machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount

from skillroute_local.api_document.document import api_document
from skillroute_local.api_document.walk import Json

_ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
"""Files of the package fastapi-offline, which carries Swagger UI; nothing else of it is used."""

_LINKS = {
    "console": ("/console/", "the console: search, catalogue, skills, suggestions, health"),
    "docs": ("/docs", "every route of the API, to be tried"),
    "openapi": ("/openapi.json", "the same for programs"),
    "health": ("/health", "the state of the parts"),
    "mcp": ("/mcp", "the door for agents, over the Model Context Protocol (POST)"),
}
"""The links of `/`: path and purpose. The console is not served where other machines reach this one."""

_PAGE = '<!doctype html><html lang="en"><title>Skillroute</title><h1>Skillroute</h1><ul>{items}</ul></html>'

_HERE: Json = {"url": "/", "description": "This Skillroute."}
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "script-src 'self' 'unsafe-inline'",  # FastAPI's page starts Swagger UI by a script within it
        "style-src 'self' 'unsafe-inline'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)


def add_pages(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Let an app serve its document and the page, to anybody: they say nothing of what is stored.

    Parameters
    ----------
    app : FastAPI
    routers : sequence of APIRouter
        Those that it was made of.
    """

    @cache
    def document() -> Json:
        return api_document(app, routers, server=_HERE)

    def get_links(request: Request) -> Response:
        has_console = any(isinstance(route, Mount) and route.path == "/console" for route in app.routes)
        links = {name: path for name, (path, _) in _LINKS.items() if name != "console" or has_console}
        if "text/html" not in request.headers.get("accept", ""):
            return JSONResponse(links)
        items = "".join(f'<li><a href="{path}">{path}</a>: {_LINKS[name][1]}</li>' for name, path in links.items())
        return HTMLResponse(_PAGE.format(items=items), headers={"Content-Security-Policy": "default-src 'none'"})

    def get_document(_: Request) -> Response:
        return JSONResponse(document())

    def get_page(_: Request) -> Response:
        page = get_swagger_ui_html(
            openapi_url="/openapi.json",
            title="Skillroute: the API",
            swagger_js_url="/docs/swagger-ui-bundle.js",
            swagger_css_url="/docs/swagger-ui.css",
            swagger_favicon_url="/docs/favicon.png",
            swagger_ui_parameters={"validatorUrl": "none", "docExpansion": "none", "filter": True},
        )
        page.headers["Content-Security-Policy"] = _POLICY
        return page

    def get_asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _ASSETS:
            raise HTTPException(404, "Not Found")
        content = files("fastapi_offline").joinpath("static", name).read_bytes()
        return Response(content, media_type=_ASSETS[name], headers={"Cache-Control": "max-age=86400"})

    pages = {"/": get_links, "/openapi.json": get_document, "/docs": get_page, "/docs/{name}": get_asset}
    for path, endpoint in pages.items():
        app.add_route(path, endpoint, methods=["GET"], include_in_schema=False)
