"""`/openapi.json`, and the page under `/docs` that shows it: all from this machine, for there may be no other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from skillroute_local.api_document.document import api_document
from skillroute_local.api_document.walk import Json

_ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
"""Files of the package fastapi-offline, which carries Swagger UI; nothing else of it is used."""

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

    for path, endpoint in {"/openapi.json": get_document, "/docs": get_page, "/docs/{name}": get_asset}.items():
        app.add_route(path, endpoint, methods=["GET"], include_in_schema=False)
