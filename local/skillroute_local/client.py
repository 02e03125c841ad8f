"""The HTTP client of the commands: the client package, with errors as the command line shows them.

Values go in and come out as JSON has them, for that is what `--json` prints and files hold.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, cast

import httpx
import skillroute_client as api
from pydantic import BaseModel
from skillroute_client.connection import execute_api_region, is_here
from skillroute_client.lines import Earlier
from skillroute_client.models import Answer
from skillroute_client.resources.options import SearchRequest

from skillroute_local.errors import Misused, Refused, Unreachable
from skillroute_local.refusals import refusal_hint

T = TypeVar("T")

TIMEOUT_S = 120.0

PATIENT = api.Retry(attempts=8, base_s=0.5, cap_s=10.0, patience_s=120.0, connect_attempts=1)
"""Of what takes long anyway: a server that restarts is away for some seconds. Half a minute on average, in all.

One that never answered is not there, which waiting does not change.
"""

ONCE = api.Retry(attempts=1)
"""Of what somebody waits for who would rather have nothing."""

Written = Literal[
    "items", "agent_skills", "servers", "agents", "projects", "products", "mail_agents", "messages", "lines"
]
"""The kinds of things that can be written, mostly from files; lines are those of an export."""

Resource = Literal[
    "skills", "suggestions", "tools", "agent_skills", "servers", "agents", "projects", "products", "mail_agents",
    "messages"
]  # fmt: skip
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
    retry : Retry or None
        How often calls are tried again, where that does no harm (ADR 55).
    http : httpx.Client or None
        Sends the requests, in tests.
    sleep : callable
        Waits between attempts; replaced in tests.

    Attributes
    ----------
    lost_answers : int
        How many writes were sent again whose first attempt may have done its work.
    approves : bool
        Whether items are approved as they are put.

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
        retry: api.Retry | None = None,
        http: httpx.Client | None = None,
        sleep: Callable[[float], Any] = time.sleep,
    ) -> None:
        if token and sign_region:
            raise Misused("requests are signed or carry a token: give --sign-region or --token, not both")
        region = None if token else sign_region or execute_api_region(url)
        self._url = url.rstrip("/")
        self.lost_answers = 0
        self.approves = False
        with self._translated():
            self._api = api.Skillroute(
                url, token=token, sign_region=region, timeout_s=timeout_s, retry=retry, http=http, sleep=sleep
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._api.close()

    def search(self, request: dict[str, Any]) -> dict[str, Any]:
        """Find tools; `request` is the body of `POST /api/v1/search`, with `receipt` where it is not to be kept."""
        return _plain(self._call(lambda: self._api.search(**request)))

    def search_batch(self, searches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Find tools for up to 20 requests; the result of each has its `answer` or its `error`, the other is null."""
        answer = _plain(self._call(lambda: self._api.search_batch(cast(Sequence[SearchRequest], searches))))
        results: list[dict[str, Any]] = answer["results"]
        return results

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
        things = self._resource(resource).list
        return _rows(self._call(lambda: things(limit=limit, offset=offset, **where).first()), offset)

    def delete(self, resource: Resource, id_: str) -> None:
        """Delete one thing."""
        self._call(lambda: self._resource(resource).delete(id_))

    def replace_skill(self, skill_id: str, value: Mapping[str, Any], *, version: str | None) -> Found:
        """Write a skill over, where it is of this version still."""
        answer = self._call(lambda: self._api.skills.put(skill_id, value, if_match=version))
        return Found(_plain(answer), answer.etag)

    def decide(self, suggestion_id: int, decision: Callable[[Any, int], BaseModel]) -> dict[str, Any]:
        """Decide on a suggestion; `decision` is given the suggestions of the client package, and the id."""
        return _plain(self._call(lambda: decision(self._api.suggestions, suggestion_id)))

    def suggestion_groups(self, status: str, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
        """Return a page of the names that suggestions have, and how many there are in all."""
        groups = self._resource("suggestions").groups
        return _rows(self._call(lambda: groups(status=status, limit=limit, offset=offset).first()), offset)

    def review(self, decisions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Carry out up to 100 decisions on suggestions, and return the result of each."""
        results: list[dict[str, Any]] = _plain(self._call(lambda: self._api.suggestions.review(decisions)))["results"]
        return results

    def on(self, resource: str, call: Callable[[Any], T]) -> T:
        """Return what a call returns that is given a resource of the client package, such as `access` or `servers`."""
        return self._call(lambda: call(getattr(self._api, resource)))

    def put(
        self,
        kind: Written,
        values: list[dict[str, Any]],
        *,
        dry_run: bool | None = None,
        earlier: Earlier | None = None,
    ) -> dict[str, Any]:
        """Write things of a kind, each judged on its own, or try to: then `earlier` has the lines tried before."""
        answer: Answer
        if kind == "lines":
            answer = self._call(lambda: self._api.import_lines(values, dry_run=dry_run, earlier=earlier))
        else:
            things = self._resource("tools" if kind == "items" else kind)
            approve = {"approve": True} if kind == "items" and self.approves else {}
            answer = self._call(lambda: things.put(values, dry_run=dry_run, **approve))
        self.lost_answers += answer.is_repeated
        return _plain(answer)

    def export_page(self, kinds: Sequence[str], after: str | None, limit: int) -> list[bytes]:
        """Return the lines of a page of an export."""
        return self._call(lambda: self._api.export_page(kinds=kinds, after=after, limit=limit))

    def items(self, *, limit: int, offset: int, **where: str) -> list[dict[str, Any]]:
        """Return a page of items; `where` are its conditions, such as the server."""
        return self.page("tools", limit=limit, offset=offset, where=where)[0]

    def item(self, item_id: int) -> dict[str, Any]:
        """Return an item."""
        return self.get("tools", str(item_id)).value

    def replace_item(self, item_id: int, value: Mapping[str, Any], *, version: str | None) -> Found:
        """Write an item over, where it is of this version still."""
        answer = self._call(lambda: self._api.tools.put_one(item_id, value, if_match=version))
        return Found(_plain(answer), answer.etag)

    def set_requests(self, item_id: int, requests: Sequence[str]) -> dict[str, Any]:
        """Write the requests that an item serves, as a person's, and return the item."""
        return _plain(self._call(lambda: self._api.tools.set_requests(item_id, requests)))

    def switch_item(self, item_id: int, *, is_active: bool, version: str | None = None) -> dict[str, Any]:
        """Switch an item on or off, where it is of this version still; without one, whichever it is."""
        return _plain(self._call(lambda: self._api.tools.patch(item_id, is_active=is_active, if_match=version)))

    def delete_item(self, item_id: int) -> None:
        """Delete an item."""
        self.delete("tools", str(item_id))

    def entities(self, kind: Literal["servers", "agents"], *, limit: int, offset: int) -> list[dict[str, Any]]:
        """Return a page of servers or of agents."""
        return self.page(kind, limit=limit, offset=offset, where={})[0]

    def agent_skills(self, *, limit: int, offset: int) -> list[dict[str, Any]]:
        """Return a page of Agent Skills."""
        return self.page("agent_skills", limit=limit, offset=offset, where={})[0]

    def agent_skill_file(self, agent_skill_id: int, digest: str) -> bytes:
        """Return the bytes of a file of an Agent Skill."""
        return self._call(lambda: self._api.agent_skills.file(agent_skill_id, digest))

    def health(self) -> dict[str, Any]:
        """Return how the parts stand."""
        return _plain(self._call(self._api.health))

    def trace(self, **where: Any) -> list[dict[str, Any]]:
        """Return events of the trace; `where` is as `GET /api/v1/trace` takes it."""
        return [_plain(event) for event in self._call(lambda: self._api.trace(**where))]

    def verify(self) -> dict[str, Any]:
        """Return what does not agree of all that is stored and searched."""
        return _plain(self._call(self._api.verify))

    def _resource(self, name: Resource) -> Any:
        return getattr(self._api, name)

    def _call(self, call: Callable[[], T]) -> T:
        with self._translated():
            return call()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise errors of the client package as those of the command line, with what helps there."""
        try:
            yield
        except api.ApiError as error:
            raise Refused(
                f"{error.status}: {error.detail}{refusal_hint(error, self._api.connection)}",
                status=error.status,
                detail=error.detail,
                error_code=error.code,
                request_id=error.request_id,
                current=error.current if isinstance(error, api.VersionConflict) else None,
            ) from error
        except api.Unreachable as error:
            hint = ": start it with `skillroute up`" if is_here(self._url) else ""
            reason = str(error.__cause__) or type(error.__cause__).__name__
            raise Unreachable(f"{self._url} does not answer ({reason}){hint}") from error
        except api.ConfigurationError as error:
            raise Misused(str(error)) from error
        except api.UnexpectedAnswer as error:
            raise Unreachable(f"{self._url}: {str(error).partition(chr(10))[0]}") from error
        except ValueError as error:  # an id that no path can have
            raise Misused(str(error)) from error


def _rows(page: api.Page[Any], offset: int) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of a page, and how many there are of all pages."""
    rows = [_plain(row) for row in page.items]
    return rows, offset + len(rows) if page.total is None else page.total


def _plain(answer: BaseModel) -> dict[str, Any]:
    """Return an answer as its JSON was: its own names, and no field that it did not have."""
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)
