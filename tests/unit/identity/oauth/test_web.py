"""Requests to authorization servers: bounds, redirects, and what is raised."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import httpx
import pytest
from skillroute.identity.oauth.web import AuthorizationServerUnavailable, LoginNotPossible, Web

URL = "https://login.test/x"


class AddressRefused(Exception):
    """As the client that examines addresses refuses one."""


def web(handler: Callable[[httpx.Request], object], **options: object) -> Web:
    transport = httpx.MockTransport(handler)  # type: ignore[arg-type]
    return Web(lambda: httpx.AsyncClient(transport=transport, follow_redirects=True), **options)  # type: ignore[arg-type]


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    moved = web(lambda _: httpx.Response(302, headers={"location": "https://evil.test"})).get(URL, "x")
    assert (moved.status, moved.headers["location"]) == (302, "https://evil.test")


def test_an_answer_that_is_too_large_is_refused() -> None:
    with pytest.raises(LoginNotPossible, match="more than 10 bytes"):
        web(lambda _: httpx.Response(200, content=b"a" * 11), max_bytes=10).get(URL, "x")


def test_a_probe_does_not_read_what_has_no_end() -> None:
    async def endless():  # type: ignore[no-untyped-def]
        while True:
            yield b"a" * 1000

    found = web(lambda _: httpx.Response(200, content=endless()), max_bytes=10).probe(URL, "x", {})
    assert (found.status, found.body) == (200, b"")


def test_what_takes_too_long_and_what_cannot_be_reached_are_unavailable_and_show_nothing() -> None:
    async def never(_: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"no route for {request.content!r}")

    for handler in (never, away):
        with pytest.raises(AuthorizationServerUnavailable, match=r"https://login\.test cannot be reached") as failed:
            web(handler, timeout_s=0.01).post_form(URL, "x", b"code=secret", {})
        assert "secret" not in str(failed.value)


def test_an_address_that_the_client_refuses_is_said_in_its_sentence() -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        raise AddressRefused("login.test may not be reached")

    with pytest.raises(LoginNotPossible, match=r"login\.test may not be reached"):
        web(refuse, refusals=(AddressRefused,)).get(URL, "x")


def test_an_answer_that_is_compressed_is_refused() -> None:
    with pytest.raises(LoginNotPossible, match="compressed"):
        web(lambda _: httpx.Response(200, headers={"content-encoding": "br"}, stream=httpx.ByteStream(b"a"))).get(
            URL, "x"
        )


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 100_000, b"\xff", b"null"])
def test_what_is_no_object_is_none(body: bytes) -> None:
    assert web(lambda _: httpx.Response(200, content=body)).get(URL, "x").json() is None
