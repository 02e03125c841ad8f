"""The console as an application: the pages, and the actions that they ask for, below one path.

The pages are files without a build; texts of the catalogue reach them as JSON and are shown as text alone. The policy
of the page lets no script and no style run but its own files, and Chromium takes no markup out of strings there.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from pathlib import Path

from skillroute_client import AsyncSkillroute
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from skillroute_local.console import catalogue, changes, events, palette, servers, skills, suggestions
from skillroute_local.console.actions import Action
from skillroute_local.console.doctor import doctor_actions
from skillroute_local.console.evaluation import evaluation_actions
from skillroute_local.console.health import health_actions
from skillroute_local.console.importing import import_actions
from skillroute_local.console.judgements import JudgementFiles
from skillroute_local.console.learning import learning_actions
from skillroute_local.console.lent_parts import LendParts
from skillroute_local.console.log import log_actions
from skillroute_local.console.map import map_actions
from skillroute_local.console.missed import missed_actions
from skillroute_local.console.overview import overview_actions
from skillroute_local.console.problems import Problem, Stale, problem_of
from skillroute_local.console.search import search_actions
from skillroute_local.history.source import History

KEY_HEADER = "x-skillroute-console"
"""Says that a request is the page's own: no page of another origin may send it. Its value is the key, where one is."""

POLICY = "; ".join(
    [
        "default-src 'none'",
        "connect-src 'self'",
        "img-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ]
)
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_ASSET = re.compile(r"(uplot/)?[a-zA-Z_]+(\.esm|\.min)?\.(css|js|svg)")
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-cache",  # after an update the next load has the new pages
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
}

Connect = Callable[[str | None], AsyncSkillroute]
"""Makes a client that calls with a token that was entered on the page, or as the console itself does."""


def console_app(
    connect: Connect,
    *,
    url: str,
    requests: Path,
    key: str | None = None,
    lend: LendParts | None = None,
    history: History | None = None,
    home: Path | None = None,
    reaches: bool = True,
) -> Starlette:
    """Return the console, to be mounted below a path that ends in a slash.

    Parameters
    ----------
    connect : callable
    url : str
        Of the Skillroute that is asked, to be shown.
    requests : Path
        The file of judged requests that marking results writes, for callers without an organisation; see
        `JudgementFiles`.
    key : str or None
        Whoever does not send it is refused: for a console that calls with somebody's credentials, which other users of
        the machine reach as well.
    lend : callable or None
        Lends the database and the queues. Whoever reaches the page reads of all organisations what waits in them, and
        has it tried again; None where that is not for everybody who does, or where they are out of reach.
    history : History or None
        Figures of hours and days, which are of all organisations as well; None as for `lend`.
    home : Path or None
        Of the Skillroute, where it is on this machine: its size is shown. None as for `lend`.
    reaches : bool
        Whether an import reaches addresses of MCP servers from this machine, for callers that may write the catalogue.
    """
    marks = JudgementFiles(requests)
    actions: dict[str, Action] = {}
    for of_page in (
        overview_actions(lend, history),
        search_actions(marks),
        catalogue.actions,
        skills.actions,
        suggestions.actions,
        map_actions(lend),
        doctor_actions(marks),
        evaluation_actions(marks),
        health_actions(lend, home),
        learning_actions(marks, lend),
        missed_actions(marks),
        log_actions(),
        changes.actions,
        palette.actions,
        servers.actions,
        import_actions(reaches=reaches),
    ):
        actions |= of_page

    async def act(request: Request) -> Response:
        refused = _refusal(request, key)
        if refused is not None:
            return _problem(refused)
        name = request.path_params["name"]
        if name not in actions:
            return _problem(Problem(404, f"there is no action {name}", "Reload the page.", "not_found"))
        try:
            answer = actions[name](connect(_token(request)), **await _fields(request))
            if isinstance(answer, AsyncIterator):
                return events.answer_of(answer, lambda error: problem_of(error, url))
            return JSONResponse(await answer)
        except Exception as error:
            found = problem_of(error, url)
            if found is None:
                raise
            return _problem(found, now=error.now if isinstance(error, Stale) else None)

    async def about(request: Request) -> Response:
        refused = _refusal(request, key)
        return _problem(refused) if refused is not None else JSONResponse({"url": url})

    async def page(_: Request) -> Response:
        return _asset("index.html")

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if not _ASSET.fullmatch(name):
            raise HTTPException(404, "Not Found")
        return _asset(name)

    return Starlette(
        routes=[
            Route("/", page, methods=["GET"]),
            Route("/static/{name:path}", asset, methods=["GET"]),
            Route("/about", about, methods=["POST"]),
            Route("/do/{name:path}", act, methods=["POST"]),
        ]
    )


def _refusal(request: Request, key: str | None) -> Problem | None:
    """Return why a request is not taken: it is none of the page's own, or lacks the key."""
    given = request.headers.get(KEY_HEADER)
    if given is None:
        return Problem(403, f"the header {KEY_HEADER} is missing", "Only the console's own pages ask here.")
    if key is not None and not hmac.compare_digest(given.encode(), key.encode()):
        return Problem(
            403,
            "this page does not know the key of the console",
            "Open the whole address that `skillroute console` printed.",
            "wrong_key",
        )
    return None


def _token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


async def _fields(request: Request) -> dict[str, object]:
    """Return the fields of a body; one that is no object becomes a field that no action has."""
    body = await request.body()
    try:
        value = json.loads(body) if body else {}
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"body": value}


def _problem(problem: Problem, now: object = None) -> Response:
    return JSONResponse(problem.body() | ({} if now is None else {"now": now}), problem.status)


def _asset(name: str) -> Response:
    file = files("skillroute_local.console").joinpath("static", name)
    if not file.is_file():
        raise HTTPException(404, "Not Found")
    return Response(file.read_bytes(), media_type=_TYPES[Path(name).suffix], headers=_HEADERS)
