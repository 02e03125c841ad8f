"""Answers to browsers that ask before a page's request whether it may be sent (docs/adr/0054)."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from skillroute.core.errors.codes import ErrorCode
from skillroute.core.http.errors import answer_error


class Preflights(CORSMiddleware):
    """Starlette's, but that its refusals are errors like all others."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        is_preflight = scope["type"] == "http" and scope["method"] == "OPTIONS" and "origin" in headers
        if not is_preflight or "access-control-request-method" not in headers:
            await super().__call__(scope, receive, send)
            return
        answer = self.preflight_response(headers)
        await (answer if answer.status_code < 400 else self._refusal(scope, headers))(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> Response:
        what = "use this method" if self.is_allowed_origin(headers["origin"]) else "ask this server"
        detail = f"pages of {headers['origin']} may not {what}: SKILLROUTE_CORS_ALLOW_ORIGINS names those that may ask"
        return answer_error(Request(scope), detail, ErrorCode.FORBIDDEN, headers={"Vary": "Origin"})
