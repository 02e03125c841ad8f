"""What is tried again and what is not, errors, pages, and how a client is configured: of both clients alike."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import skillroute_client as sdk
from skillroute_client import AsyncSkillroute, Retry, Skillroute
from skillroute_client.retrying import retry_after_s

URL = "https://skillroute.test"
Answers = list[httpx.Response | type[Exception]]
SKILL = {"id": "mail", "name": "Mail", "description": "Letters."}


class Server:
    """Answers what it is told to, in turn, and remembers what it was asked and how long clients waited."""

    def __init__(self, *answers: httpx.Response | type[Exception]) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, httpx.Response):  # a fresh one: those of parameters are shared by tests
            return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)
        raise answer("broken", request=request)  # type: ignore[call-arg]

    async def wait(self, seconds: float) -> None:
        self.pauses.append(seconds)


def refusal(status: int, code: str | None = None, retry_after: str | None = None, **more: Any) -> httpx.Response:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    body = {"message": "gateway"} if code is None else {"detail": "a reason", "code": code, "request_id": "r1", **more}
    return httpx.Response(status, headers=headers, json=body)


Run = Callable[[Server, Callable[[Any], Any]], Any]


def blocking(server: Server, use: Callable[[Any], Any], **options: Any) -> Any:
    http = httpx.Client(transport=httpx.MockTransport(server))
    retry = options.pop("retry", Retry(uniform=lambda _, high: high))
    return use(Skillroute(URL, token=None, http=http, sleep=server.pauses.append, retry=retry, **options))


def awaited(server: Server, use: Callable[[Any], Any], **options: Any) -> Any:
    http = httpx.AsyncClient(transport=httpx.MockTransport(server))
    retry = options.pop("retry", Retry(uniform=lambda _, high: high))
    client = AsyncSkillroute(URL, token=None, http=http, sleep=server.wait, retry=retry, **options)

    async def run() -> Any:
        return await use(client)

    return asyncio.run(run())


@pytest.fixture(params=[blocking, awaited], ids=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    chosen: Run = request.param
    return chosen


def ok(body: Any = None) -> httpx.Response:
    return httpx.Response(200, json=SKILL if body is None else body)


PUT = {"name": "Mail", "description": "Letters."}
SAFE: dict[str, Callable[[Any], Any]] = {
    "get": lambda client: client.skills.get("mail"),
    "put": lambda client: client.skills.put("mail", PUT),
    "patch": lambda client: client.skills.patch("mail", name="Mail"),
    "enable": lambda client: client.servers.enable(1),
    "search": lambda client: client.search("write a letter"),
    "import": lambda client: client.import_lines([{"kind": "skill", **SKILL}]),
}
ONCE: dict[str, Callable[[Any], Any]] = {
    "create": lambda client: client.skills.create("mail", **PUT),
    "put a version": lambda client: client.skills.put("mail", PUT, if_match='"1"'),
    "approve": lambda client: client.suggestions.approve(1),
    "review": lambda client: client.suggestions.review([{"action": "reject", "ids": [1]}]),
    "delete many": lambda client: client.tools.delete_many([1]),
    "delete of a server": lambda client: client.tools.delete_of_server("mail"),
}
ANSWER = {
    **SKILL,
    "path": "mail",
    "query": "write a letter",
    "tools": [],
    "suggestion": {"kind": "skill", "suggested_name": "", "suggested_description": "", "source": "llm", "status": ""},
}
ANSWER["suggestion"]["id"] = 1  # type: ignore[index]
ANSWER["skill"] = SKILL


def whole(use: str) -> httpx.Response:
    return ok(ANSWER | ({"id": 1} if use == "enable" else {}))


@pytest.mark.parametrize("use", [*SAFE, *ONCE])
def test_a_call_that_is_refused_for_its_rate_is_made_again_after_the_pause_that_is_asked_for(
    run: Run, use: str
) -> None:
    server = Server(refusal(429, None, "3"), refusal(429), whole(use))
    run(server, (SAFE | ONCE)[use])
    assert server.pauses == [3.25, 0.5]
    assert len({(request.method, request.url, request.content) for request in server.requests}) == 1


@pytest.mark.parametrize("use", [*SAFE, *ONCE])
def test_a_call_of_which_skillroute_did_nothing_is_made_again(run: Run, use: str) -> None:
    server = Server(refusal(503, "database_unavailable", "1"), httpx.ConnectError, whole(use))
    run(server, (SAFE | ONCE)[use])
    assert server.pauses == [1.25, 0.5]


@pytest.mark.parametrize(
    "failure",
    [
        refusal(503),
        refusal(503, None, "0"),
        refusal(502),
        refusal(504),
        refusal(503, "outcome_unknown"),
        httpx.ReadError,
    ],
)
@pytest.mark.parametrize("use", [*SAFE, *ONCE])
def test_only_what_may_be_done_twice_is_sent_again_when_nobody_knows_what_came_of_it(
    run: Run, use: str, failure: Any
) -> None:
    server = Server(failure, whole(use))
    if use in SAFE:
        run(server, SAFE[use])
        assert server.pauses == [0.25]
    else:
        with pytest.raises((sdk.ServerError, sdk.Unreachable)):
            run(server, ONCE[use])
        assert (len(server.requests), server.pauses) == (1, [])


@pytest.mark.parametrize(
    "failure", [refusal(500, "internal_error"), refusal(404, "skill_not_found"), httpx.ReadTimeout]
)
def test_other_failures_are_final(run: Run, failure: Any) -> None:
    server = Server(failure)
    with pytest.raises(sdk.SkillrouteError):
        run(server, SAFE["get"])
    assert server.pauses == []


def test_attempts_end_with_the_last_error(run: Run) -> None:
    server = Server(*[refusal(503, "index_unavailable", "1") for _ in range(4)])
    with pytest.raises(sdk.Unavailable) as raised:
        run(server, SAFE["get"])
    assert (raised.value.code, raised.value.retry_after_s, len(server.requests)) == ("index_unavailable", 1.0, 4)
    assert server.pauses == [1.25, 1.5, 2.0]


def test_a_server_that_asks_for_more_patience_than_there_is_is_not_asked_again(run: Run) -> None:
    server = Server(refusal(429, None, "3600"))
    with pytest.raises(sdk.RateLimited) as raised:
        run(server, SAFE["get"])
    assert (raised.value.retry_after_s, raised.value.code, raised.value.detail) == (3600.0, None, "gateway")


@pytest.mark.parametrize(
    ("header", "seconds"), [("3", 3.0), (" 3 ", 3.0), ("soon", None), ("\N{SUPERSCRIPT TWO}", None)]
)
def test_what_is_no_number_of_seconds_is_none(header: str, seconds: float | None) -> None:
    assert retry_after_s(header) == seconds


def test_what_an_earlier_attempt_deleted_is_deleted(run: Run) -> None:
    server = Server(httpx.ReadError, refusal(404, "skill_not_found"))
    assert run(server, lambda client: client.skills.delete("mail")) is None
    server = Server(refusal(404, "skill_not_found"))
    with pytest.raises(sdk.NotFound):
        run(server, lambda client: client.skills.delete("mail"))


def test_what_was_refused_for_a_moment_was_not_deleted_by_that(run: Run) -> None:
    server = Server(refusal(503, "database_unavailable", "1"), refusal(404, "skill_not_found"))
    with pytest.raises(sdk.NotFound):
        run(server, lambda client: client.skills.delete("mail"))


@pytest.mark.parametrize(
    ("failure", "is_repeated"),
    [
        (refusal(429), False),
        (refusal(503, "database_unavailable", "1"), False),
        (httpx.ConnectError, False),
        (refusal(502), True),
        (httpx.ReadError, True),
    ],
)
def test_an_answer_knows_whether_an_earlier_one_may_have_been_lost(run: Run, failure: Any, is_repeated: bool) -> None:
    skill = run(Server(failure, ok()), SAFE["put"])
    assert skill.is_repeated is is_repeated
    assert not run(Server(ok()), SAFE["put"]).is_repeated


def test_one_that_was_never_there_is_not_waited_for_and_one_that_restarts_is(run: Run) -> None:
    retry = Retry(attempts=3, connect_attempts=1, uniform=lambda _, high: high)
    server = Server(httpx.ConnectError)
    with pytest.raises(sdk.Unreachable):
        run(server, SAFE["get"], retry=retry)
    assert server.pauses == []
    server = Server(refusal(429), httpx.ConnectError, ok())
    run(server, SAFE["get"], retry=retry)
    assert server.pauses == [0.25, 0.5]


def test_calls_of_one_operation_end_with_the_one_that_fails(run: Run) -> None:
    deleted = {"deleted": 1, "failed": 0, "more": True, "results": [{"id": 1, "status": "deleted"}]}
    server = Server(ok(deleted), ok(deleted | {"more": False}))
    answer = run(server, lambda client: client.tools.delete_of_server("mail"))
    assert (answer.deleted, answer.more, len(server.requests)) == (2, False, 2)
    server = Server(ok(deleted), refusal(403, "forbidden"))
    with pytest.raises(sdk.Forbidden):
        run(server, lambda client: client.tools.delete_of_server("mail"))
    server = Server(ok(deleted | {"deleted": 0, "failed": 1}))
    assert run(server, lambda client: client.tools.delete_of_server("mail")).more


def test_no_answer_names_the_url_and_has_its_cause(run: Run) -> None:
    server = Server(httpx.ReadTimeout)
    with pytest.raises(sdk.Unreachable, match=r"https://skillroute\.test does not answer: broken") as raised:
        run(server, SAFE["get"])
    assert isinstance(raised.value.__cause__, httpx.ReadTimeout)


@pytest.mark.parametrize("answer", [httpx.Response(200, text="<html>"), ok({"name": "no id"}), ok([])])
def test_an_answer_of_another_service_is_none(run: Run, answer: httpx.Response) -> None:
    with pytest.raises(sdk.UnexpectedAnswer, match="is the URL right"):
        run(Server(answer), SAFE["get"])


def test_a_redirect_leads_nowhere(run: Run) -> None:
    server = Server(httpx.Response(307, headers={"location": "https://elsewhere.test/"}))
    with pytest.raises(sdk.ApiError) as raised:
        run(server, SAFE["get"])
    assert (raised.value.status, len(server.requests)) == (307, 1)


def test_an_error_has_all_that_the_answer_says_and_can_be_pickled(run: Run) -> None:
    problem = {"loc": ["body", "query"], "msg": "is too long", "type": "string_too_long"}
    with pytest.raises(sdk.InvalidRequest) as raised:
        run(Server(refusal(422, "invalid_request", detail=[problem])), SAFE["search"])
    error = pickle.loads(pickle.dumps(raised.value))
    assert (error.status, error.code, error.request_id) == (422, "invalid_request", "r1")
    assert [(found.field, found.msg, found.type) for found in error.problems] == [
        ("query", "is too long", "string_too_long")
    ]
    assert str(error) == "422 invalid_request: query: is too long (POST /api/v1/search, request r1)"


def test_fields_that_are_new_and_those_that_are_missing_break_nothing(run: Run) -> None:
    skill = run(Server(ok({**SKILL, "mood": "calm"})), SAFE["get"])
    assert (skill.id, skill.model_extra, skill.keywords) == ("mail", {"mood": "calm"}, [])


def pages_of(*, link: bool, counted: bool) -> Server:
    """A list of five skills, two on each page, which says where it goes on by a link, a total, or both."""

    class Listing(Server):
        def __call__(self, request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            start = int(request.url.params.get("cursor", request.url.params.get("offset", "0")))
            rows = [SKILL | {"id": f"s{n}"} for n in range(start, min(start + 2, 5))]
            headers = {"X-Total-Count": "5"} if counted else {}
            if link and start + 2 < 5:
                headers["Link"] = f'<https://elsewhere.test/?cursor={start + 2}&limit=2&is_active=all>; rel="next"'
            return httpx.Response(200, headers=headers, json=rows)

    return Listing()


async def _all(pages: Any) -> list[str]:
    return [skill.id async for skill in pages]


@pytest.mark.parametrize(("link", "counted"), [(True, True), (True, False), (False, True)])
def test_a_list_goes_on_to_its_last_page(run: Run, link: bool, counted: bool) -> None:
    server = pages_of(link=link, counted=counted)

    def use(client: Any) -> Any:
        pages = client.skills.list(is_active="all", limit=2, parent_domain=None)
        return [skill.id for skill in pages] if run is blocking else _all(pages)

    assert run(server, use) == ["s0", "s1", "s2", "s3", "s4"]
    assert {request.url.host for request in server.requests} == {"skillroute.test"}
    place = "cursor" if link else "offset"
    assert [dict(request.url.params) for request in server.requests] == [
        {"is_active": "all", "limit": "2"},
        {"is_active": "all", "limit": "2", place: "2"},
        {"is_active": "all", "limit": "2", place: "4"},
    ]


@pytest.mark.parametrize("link", ["<>", "<?limit=2>", "</api/v1/skills>"])
def test_a_link_to_the_same_page_ends_the_list(run: Run, link: str) -> None:
    server = Server(httpx.Response(200, headers={"Link": f'{link}; rel="next"'}, json=[SKILL]))

    def use(client: Any) -> Any:
        pages = client.skills.list(limit=2)
        return [skill.id for skill in pages] if run is blocking else _all(pages)

    assert run(server, use) == ["mail"]


def test_the_first_page_alone_is_one_call(run: Run) -> None:
    server = pages_of(link=True, counted=True)
    page = run(server, lambda client: client.skills.list().first())
    assert ([skill.id for skill in page.items], page.total, len(server.requests)) == (["s0", "s1"], 5, 1)


def test_what_was_read_goes_back_as_it_came(run: Run) -> None:
    read = {**SKILL, "mood": "calm", "created_at": "2026-11-23T20:41:07Z"}
    server = Server(httpx.Response(200, headers={"etag": '"7"'}, json=read), ok())

    def use(client: Any) -> Any:
        if run is blocking:
            skill = client.skills.get("mail")
            return client.skills.put("mail", skill, if_match=skill.etag)

        async def both() -> Any:
            skill = await client.skills.get("mail")
            return await client.skills.put("mail", skill, if_match=skill.etag)

        return both()

    run(server, use)
    written = server.requests[1]
    assert (written.headers["if-match"], written.headers["content-type"]) == ('"7"', "application/json")
    assert httpx.Response(200, content=written.content).json() == read


def headers_of(url: str | None = URL, **options: Any) -> httpx.Headers:
    server = Server(httpx.Response(200, json={"status": "ok"}))
    client = Skillroute(
        *([] if url is None else [url]), http=httpx.Client(transport=httpx.MockTransport(server)), **options
    )
    client.health()
    return server.requests[0].headers


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URL", "TOKEN", "SIGN_REGION"):
        monkeypatch.delenv(f"SKILLROUTE_{name}", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


def test_who_calls_is_taken_from_the_arguments_and_else_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = "https://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com"
    assert "authorization" not in headers_of()
    assert headers_of(token="mine")["authorization"] == "Bearer mine"
    assert "/us-east-2/execute-api/" in headers_of(sign_region="us-east-2")["authorization"]
    assert "/eu-west-1/execute-api/" in headers_of(aws)["authorization"]
    assert headers_of(aws, token="mine")["authorization"] == "Bearer mine"
    assert "authorization" not in headers_of(aws, sign_region=None)
    monkeypatch.setenv("SKILLROUTE_TOKEN", "theirs")
    assert headers_of()["authorization"] == "Bearer theirs"
    assert "authorization" not in headers_of(token=None)
    assert "/us-east-2/execute-api/" in headers_of(sign_region="us-east-2")["authorization"]
    monkeypatch.setenv("SKILLROUTE_SIGN_REGION", "us-east-2")
    assert headers_of(token="mine")["authorization"] == "Bearer mine"
    with pytest.raises(sdk.ConfigurationError, match="give sign_region or token, not both"):
        headers_of()
    with pytest.raises(sdk.ConfigurationError, match="give sign_region or token, not both"):
        headers_of(token="mine", sign_region="us-east-2")


def test_a_token_that_is_asked_for_is_asked_for_before_each_attempt(run: Run) -> None:
    tokens = iter(["first", "second"])
    server = Server(refusal(429), ok())

    def use(client: Any) -> Any:
        client.connection._token = lambda: next(tokens)
        return client.skills.get("mail")

    run(server, use)
    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer first", "Bearer second"]


def test_where_skillroute_is_comes_from_the_environment_unless_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert headers_of(None)["host"] == "localhost:3000"
    monkeypatch.setenv("SKILLROUTE_URL", "https://there.test/stage/")
    assert headers_of(None)["host"] == "there.test"
    assert Skillroute().connection.url == "https://there.test/stage"
    with pytest.raises(sdk.ConfigurationError, match="must begin with http:// or https://"):
        Skillroute("localhost:3000")


def test_a_client_that_is_given_stays_open() -> None:
    http = httpx.Client()
    with Skillroute(URL, token=None, http=http):
        pass
    assert not http.is_closed
    http.close()
    with Skillroute(URL, token=None) as client:
        own = client._own_http
    assert own is not None
    assert own.is_closed
