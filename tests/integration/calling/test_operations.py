"""GIVEN a web server, WHEN an operation is called, THEN it gets the request, and its answer comes as a tool's."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest
from skillroute.calling.model import CallFailed, Failure, JsonObject, Limits, Operation
from skillroute.calling.operations import HttpOperations
from skillroute.core.outbound.credentials import Credentials

from tests.integration.calling.servers import plain, raw_server, rules_for, serving

LIMITS = Limits(20.0, 100_000)
PET = {"in": "path", "name": "pet"}


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answer with what came."""
    body, more = b"", True
    while more:
        part = await receive()
        body, more = body + part.get("body", b""), part.get("more_body", False)
    came = {
        "method": scope["method"],
        "path": scope["raw_path"].decode(),
        "query": scope["query_string"].decode(),
        "headers": {name.decode(): value.decode("latin-1") for name, value in scope["headers"]},
        "body": body.decode("latin-1"),
    }
    await plain(200, json.dumps(came).encode(), "application/json; charset=utf-8")(scope, receive, send)


def call(
    app: Any,
    arguments: JsonObject,
    places: Mapping[str, Any] | None = None,
    *,
    path: str = "/pets/{pet}",
    method: str = "GET",
    limits: Limits = LIMITS,
    credentials: Credentials | None = None,
) -> JsonObject:
    with serving(app, "off") as url:
        operation = Operation(method, f"{url}/v1/", path, {"pet": PET} if places is None else places)
        return asyncio.run(
            HttpOperations(rules_for(url)).call_operation(
                operation, arguments, credentials=credentials or Credentials(), limits=limits
            )
        )


def test_every_place_is_filled() -> None:
    places = {
        "pet": {"in": "path", "name": "pet"},
        "tags": {"in": "query", "name": "tag", "style": "form", "explode": True},
        "near": {"in": "query", "name": "near", "style": "deepObject", "explode": True},
        "trace": {"in": "header", "name": "X-Trace"},
        "theme": {"in": "cookie", "name": "theme"},
        "body": {"in": "body", "name": "application/json"},
    }
    arguments = {"pet": "a/b ?", "tags": ["x", "y z"], "near": {"lat": 1.5}, "trace": "t-1", "theme": "dark",
                 "body": {"name": "Rex"}}  # fmt: skip
    credentials = Credentials({"Authorization": "Bearer secret", "Cookie": "session=1"})
    answer = call(echo, arguments, places, method="post", credentials=credentials)
    came = answer["structuredContent"]
    assert (came["method"], came["path"]) == ("POST", "/v1/pets/a%2Fb%20%3F")
    assert came["query"] == "tag=x&tag=y%20z&near%5Blat%5D=1.5"
    assert came["headers"]["x-trace"] == "t-1"
    assert came["headers"]["cookie"] == "session=1; theme=dark"
    assert came["headers"]["authorization"] == "Bearer secret"
    assert came["headers"]["content-type"] == "application/json"
    assert came["headers"]["accept-encoding"] == "identity"
    assert json.loads(came["body"]) == {"name": "Rex"}
    assert json.loads(answer["content"][0]["text"]) == came


def test_what_is_null_is_left_out_and_a_query_may_be_whole() -> None:
    places = {"a": {"in": "query", "name": "a"}, "q": {"in": "querystring", "name": "q"}}
    assert call(echo, {"a": None, "q": {"x": "1 2"}}, places, path="/s")["structuredContent"]["query"] == "x=1%202"
    assert (
        call(echo, {"q": "x=1&y=a b#c"}, places, path="/s?z=1")["structuredContent"]["query"] == "z=1&x=1&y=a%20b%23c"
    )


@pytest.mark.parametrize(
    "value", ["..", ".", "", "../admin", "a/../../b", "..\\b", "%2e%2e", "..%2fb", "..;/b", [".."], "x/.."]
)
def test_no_value_changes_the_path(value: Any) -> None:
    with pytest.raises(CallFailed, match="would change the path") as failed:
        call(echo, {"pet": value})
    assert failed.value.failure is Failure.PROTOCOL


@pytest.mark.parametrize(
    ("value", "path"),
    [("a.b", "a.b"), ("...", "..."), ("a/b", "a%2Fb"), ("//x", "%2F%2Fx"), ("{pet}", "%7Bpet%7D"), ("@h", "%40h")],
)
def test_other_values_stay_within_their_segment(value: str, path: str) -> None:
    assert call(echo, {"pet": value})["structuredContent"]["path"] == f"/v1/pets/{path}"


def test_an_argument_that_is_missing_or_unknown_is_named() -> None:
    for arguments, says in (
        ({}, "the argument pet is missing"),
        ({"pet": None}, "the argument pet is missing"),
        ({"pet": "1", "age": 2}, "has no argument age"),
    ):
        with pytest.raises(CallFailed, match=says):
            call(echo, arguments)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("Host", "b.example"),
            ("Content-Length", "0"),
            ("Transfer-Encoding", "chunked"),
            ("Authorization", "Bearer x"),
        ),
        *(("X-A", "a\r\nX-B: c"), ("X-A", "a\nb"), ("X-A", "\u00e9"), ("X A", "a"), ("Connection", "close")),
    ],
)
def test_a_header_that_may_not_be_set_is_refused(name: str, value: str) -> None:
    with pytest.raises(CallFailed, match="the argument h cannot be sent as a header"):
        call(echo, {"h": value}, {"h": {"in": "header", "name": name}}, path="/")


def test_credentials_win_over_arguments() -> None:
    places = {"key": {"in": "header", "name": "X-Key"}}
    answer = call(echo, {"key": "mine"}, places, path="/", credentials=Credentials({"x-key": "theirs"}))
    assert answer["structuredContent"]["headers"]["x-key"] == "theirs"


@pytest.mark.parametrize(
    ("body", "structured"), [(b'{"a":1}', {"a": 1}), (b"[1,2]", {"result": [1, 2]}), (b"3", {"result": 3})]
)
def test_json_is_text_and_structured_content(body: bytes, structured: JsonObject) -> None:
    answer = call(plain(200, body, "application/problem+json"), {"pet": 1})
    assert answer == {"content": [{"type": "text", "text": body.decode()}], "structuredContent": structured}


def test_other_answers() -> None:
    data = base64.b64encode(b"\x89PNG").decode()
    assert call(plain(200, "é".encode("latin-1"), "text/plain; charset=latin-1"), {"pet": 1}) == {
        "content": [{"type": "text", "text": "é"}]
    }
    assert call(plain(200, b"\x89PNG", "image/png"), {"pet": 1})["content"] == [
        {"type": "image", "data": data, "mimeType": "image/png"}
    ]
    resource = call(plain(200, b"\x89PNG", "application/zip"), {"pet": 1})["content"][0]["resource"]
    assert (resource["mimeType"], resource["blob"]) == ("application/zip", data)
    assert resource["uri"].endswith("/v1/pets/1")
    assert (
        "90,000 bytes of application/zip"
        in call(plain(200, b"x" * 90_000, "application/zip"), {"pet": 1})["content"][0]["text"]
    )
    assert "no content" in call(plain(204, b"", "text/plain"), {"pet": 1})["content"][0]["text"]
    assert "structuredContent" not in call(plain(200, b"{oops", "application/json"), {"pet": 1})
    assert "structuredContent" not in call(plain(200, b"[" + b"1," * 30_000 + b"1]", "application/json"), {"pet": 1})


@pytest.mark.parametrize("status", [400, 403, 404, 422, 500, 503])
def test_an_error_is_an_answer_with_its_status(status: int) -> None:
    answer = call(plain(status, b'{"detail":"why"}', "application/json"), {"pet": 1})
    assert answer["isError"] is True
    assert f"status {status}" in answer["content"][0]["text"]
    assert answer["content"][1]["text"] == '{"detail":"why"}'


@pytest.mark.parametrize(("status", "failure"), [(401, Failure.UNAUTHORIZED), (403, Failure.FORBIDDEN)])
def test_refused_credentials_come_with_the_challenge(status: int, failure: Failure) -> None:
    with pytest.raises(CallFailed) as failed:
        call(plain(status, b"", headers={"www-authenticate": "Bearer"}), {"pet": 1})
    assert (failed.value.failure, failed.value.challenge) == (failure, "Bearer")


def test_what_a_server_repeats_of_the_credentials_is_not_shown() -> None:
    credentials = Credentials({"Authorization": "Bearer top-secret-token"})
    for target in ("/?x#top-secret-token", "/top-secret-token", "/" + "x" * 180 + "/top-secret-token"):
        with pytest.raises(CallFailed, match="redirects") as failed:
            call(plain(302, b"", headers={"location": target}), {"pet": 1}, credentials=credentials)
        assert "top-secret" not in str(failed.value)
    with pytest.raises(CallFailed) as failed:
        headers = {"www-authenticate": 'Bearer error="top-secret-token"'}
        call(plain(401, b"", headers=headers), {"pet": 1}, credentials=credentials)
    assert failed.value.challenge == 'Bearer error="***'


def test_a_head_says_how_much_there_is_and_sends_nothing() -> None:
    answer = call(plain(200, b"x" * 2_000), {"pet": 1}, method="HEAD", limits=Limits(20.0, 1_000))
    assert "no content" in answer["content"][0]["text"]


def test_redirects_floods_and_silence_end_a_call() -> None:
    with pytest.raises(CallFailed, match=r"redirects to http://127\.0\.0\.1:1/, which is not followed"):
        call(plain(302, b"", headers={"location": "http://127.0.0.1:1/?secret"}), {"pet": 1})
    with pytest.raises(CallFailed, match="more than the 1,000 bytes"):
        call(plain(200, b"x" * 1001), {"pet": 1}, limits=Limits(20.0, 1_000))
    with raw_server(lambda connection: [*iter(lambda: connection.recv(1000), b"")] and None) as url:
        operation = Operation("GET", url, "/", {})
        with pytest.raises(CallFailed, match=r"did not answer within 0\.3 s") as failed:
            asyncio.run(
                HttpOperations(rules_for(url)).call_operation(
                    operation, {}, credentials=Credentials(), limits=Limits(0.3, 1_000)
                )
            )
    assert failed.value.failure is Failure.TIMEOUT


@pytest.mark.parametrize(
    "url", ["", "/v1", "https://{host}/", "https://a.example/?x", "https://a.example/#x", "a.example"]
)
def test_an_address_that_is_not_whole_is_named(url: str) -> None:
    with pytest.raises(CallFailed, match="has no address that can be called"):
        asyncio.run(
            HttpOperations(rules_for("http://127.0.0.1:1")).call_operation(
                Operation("GET", url, "/", {}), {}, credentials=Credentials(), limits=LIMITS
            )
        )


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://127.0.0.1", "/"),
        ("https://user:p@a.example", "/"),
        ("http://a.example", "/"),
        ("https://a.example:0", "/"),
    ],
)
def test_an_address_that_is_not_allowed_is_refused(url: str, path: str) -> None:
    with pytest.raises(CallFailed) as failed:
        asyncio.run(
            HttpOperations(rules_for("http://127.0.0.1:1")).call_operation(
                Operation("GET", url, path, {}), {}, credentials=Credentials(), limits=LIMITS
            )
        )
    assert failed.value.failure is Failure.REFUSED_ADDRESS


@pytest.mark.parametrize("path", ["@evil.example/", "//evil.example/", ".evil.example/", ":80/"])
def test_a_path_does_not_reach_into_the_host(path: str) -> None:
    assert call(echo, {}, {}, path=path)["structuredContent"]["path"].startswith("/v1/")


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "GET /x HTTP/1.1\r\n"])
def test_other_methods_are_refused(method: str) -> None:
    with pytest.raises(CallFailed, match="is not called"):
        call(echo, {"pet": 1}, method=method)
