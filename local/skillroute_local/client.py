"""What commands call a Skillroute with: the client package, with errors as the command line shows them.

Values go in and come out as JSON has them, for that is what `--json` prints and files hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import httpx
import skillroute_client as api
from pydantic import BaseModel
from skillroute.core.retry import Retry
from skillroute_client.connection import execute_api_region, is_here
from skillroute_client.retrying import Repeat

from skillroute_local.again import Repeated
from skillroute_local.errors import Misused, Refused, Unreachable

T = TypeVar("T")

TIMEOUT_S = 120.0

Written = Literal["items", "servers", "agents", "projects", "products", "mail_agents", "messages", "lines"]
"""The kinds of things that can be written, mostly from files; lines are those of an export."""

Resource = Literal[
    "skills", "suggestions", "tools", "servers", "agents", "projects", "products", "mail_agents", "messages"
]
"""The kinds of things that can be read, as the client package calls them."""


@dataclass(frozen=True, slots=True)
class Found:
    """One thing as the API answers it, and its version as `ETag` has it."""

    value: dict[str, Any]
    version: str | None


class Client:
    """Calls a Skillroute.

    Parameters
    ----------
    url : str
        Such as ``http://localhost:3000``.
    token : str, callable or None
        Sent as a bearer token; a callable is asked for each request's.
    sign_region : str or None
        Instead of a token: requests are signed for API Gateway in this region. Without either, those to a host of
        execute-api are signed for the region in its name.
    timeout_s : float
        For each attempt, in seconds.
    attempts : int
        How often a call is tried at most, where trying again does no harm.
    patience : Retry or None
        Instead of `attempts`, for what takes long and may be done twice: how calls are made again of a server that
        answered before. Those whose answer was lost are counted.
    http : httpx.Client or None
        Sends the requests, in tests.

    Raises
    ------
    Misused
        There are a token and a region: both would be the one header `authorization`. Or the URL is none.
    """

    def __init__(
        self,
        url: str,
        token: str | Callable[[], str] | None = None,
        *,
        sign_region: str | None = None,
        timeout_s: float = TIMEOUT_S,
        attempts: int = 4,
        patience: Retry | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        if token and sign_region:
            raise Misused("requests are signed or carry a token: give --sign-region or --token, not both")
        region = None if token else sign_region or execute_api_region(url)
        self._url = url.rstrip("/")
        self._repeated = Repeated(patience) if patience else None
        retry = api.Retry(attempts=1 if patience else attempts)
        with self._translated():
            self._api = api.Skillroute(
                url, token=token, sign_region=region, timeout_s=timeout_s, retry=retry, http=http
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._api.close()

    def search(self, request: dict[str, Any]) -> dict[str, Any]:
        """Find tools; `request` is the body of `POST /api/v1/search`."""
        return _plain(self._call(lambda: self._api.search(**request)))

    def search_registry(self, request: dict[str, Any]) -> dict[str, Any]:
        """Find servers, their tools and agents; `request` is the body of `POST /api/v1/search/registry`."""
        return _plain(self._call(lambda: self._api.search_registry(**request)))

    def search_messages(self, request: dict[str, Any]) -> dict[str, Any]:
        """Find messages; `request` is the body of `POST /api/v1/search/messages`."""
        return _plain(self._call(lambda: self._api.messages.search(**request)))

    def get(self, resource: Resource, id_: str) -> Found:
        """Return one thing."""
        answer = self._call(lambda: self._resource(resource).get(id_))
        return Found(_plain(answer), answer.etag)

    def page(
        self, resource: Resource, *, limit: int, offset: int, where: Mapping[str, str]
    ) -> tuple[list[dict[str, Any]], int]:
        """Return a page of a list, and how many things there are in all."""
        page = self._call(lambda: self._resource(resource).list(limit=limit, offset=offset, **where).first())
        rows = [_plain(row) for row in page.items]
        return rows, offset + len(rows) if page.total is None else page.total

    def delete(self, resource: Resource, id_: str) -> None:
        """Delete one thing."""
        lost = self.lost_answers
        try:
            self._call(lambda: self._resource(resource).delete(id_))
        except Refused as error:
            if error.status != 404 or self.lost_answers == lost:
                raise  # else an attempt whose answer was lost deleted it

    def replace_skill(self, skill_id: str, value: Mapping[str, Any], *, version: str | None) -> Found:
        """Write a skill over, where it is of this version still."""
        answer = self._call(lambda: self._api.skills.put(skill_id, value, if_match=version))
        return Found(_plain(answer), answer.etag)

    def decide(self, suggestion_id: int, decision: Callable[[Any, int], BaseModel]) -> dict[str, Any]:
        """Decide on a suggestion; `decision` is given the suggestions of the client package, and the id."""
        return _plain(self._call(lambda: decision(self._api.suggestions, suggestion_id)))

    def put(self, kind: Written, values: list[dict[str, Any]]) -> dict[str, Any]:
        """Write things of a kind, each judged on its own."""
        if kind == "lines":
            request, body = self._api.request, {"lines": values}
            answer: dict[str, Any] = self._call(
                lambda: request("POST", "/api/v1/import", json=body, repeat=Repeat.ALWAYS)
            )
            return answer
        return _plain(self._call(lambda: self._resource("tools" if kind == "items" else kind).put(values)))

    @property
    def lost_answers(self) -> int:
        """How many calls were made again whose first attempt may have done its work."""
        return self._repeated.lost if self._repeated else 0

    def export_page(self, kinds: Sequence[str], after: str | None, limit: int) -> list[bytes]:
        """Return the lines of a page of an export."""
        return self._call(lambda: self._api.export_page(kinds=kinds, after=after, limit=limit))

    def items(self, *, limit: int, offset: int, **where: str) -> list[dict[str, Any]]:
        """Return a page of items; `where` are its conditions, such as the server."""
        return self.page("tools", limit=limit, offset=offset, where=where)[0]

    def item(self, item_id: int) -> dict[str, Any]:
        """Return an item."""
        return self.get("tools", str(item_id)).value

    def delete_item(self, item_id: int) -> None:
        """Delete an item."""
        self.delete("tools", str(item_id))

    def entities(self, kind: Literal["servers", "agents"], *, limit: int, offset: int) -> list[dict[str, Any]]:
        """Return a page of servers or of agents."""
        return self.page(kind, limit=limit, offset=offset, where={})[0]

    def health(self) -> dict[str, Any]:
        """Return how the parts stand."""
        return _plain(self._call(self._api.health))

    def verify(self) -> dict[str, Any]:
        """Return what does not agree of all that is stored and searched."""
        return _plain(self._call(self._api.verify))

    def _resource(self, name: Resource) -> Any:
        return getattr(self._api, name)

    def _call(self, call: Callable[[], T]) -> T:
        with self._translated():
            return self._repeated.run(call) if self._repeated else call()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise errors of the client package as those of the command line, with what helps there."""
        try:
            yield
        except api.ApiError as error:
            raise Refused(
                f"{error.status}: {error.detail}{self._hint(error)}",
                status=error.status,
                detail=error.detail,
                error_code=error.code,
                request_id=error.request_id,
                current=error.current if isinstance(error, api.VersionConflict) else None,
            ) from error
        except api.Unreachable as error:
            hint = ": start it with `make run`" if is_here(self._url) else ""
            reason = str(error.__cause__) or type(error.__cause__).__name__
            raise Unreachable(f"{self._url} does not answer ({reason}){hint}") from error
        except api.ConfigurationError as error:
            raise Misused(str(error)) from error
        except api.UnexpectedAnswer as error:
            raise Unreachable(f"{self._url}: {str(error).partition(chr(10))[0]}") from error
        except ValueError as error:  # an id that no path can have
            raise Misused(str(error)) from error

    def _hint(self, error: api.ApiError) -> str:
        # API Gateway's own refusals have no code; it says Unauthorized or Forbidden whatever is wrong.
        if isinstance(error, api.Unauthenticated):
            if not self._api.connection.has_token:
                return ": give a token with --token or SKILLROUTE_TOKEN"
            if error.code is None:
                return ": the token was refused: it may have expired, or be of another issuer or for another audience"
        if isinstance(error, api.Forbidden) and error.code is None:
            if self._api.connection.is_signed:
                return ": the AWS credentials must be good, and their identity allowed execute-api:Invoke on this API"
            if not self._api.connection.has_token:
                return ": where AuthMode is iam, requests to a domain of your own are signed with --sign-region"
        return ""


def _plain(answer: BaseModel) -> dict[str, Any]:
    """Return an answer as its JSON was: its own names, and no field that it did not have."""
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)
