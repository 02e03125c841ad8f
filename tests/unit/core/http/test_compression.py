"""Answers are compressed for those who take gzip, from a size on, and never with mail in them."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
from fastapi import APIRouter, Response
from fastapi.testclient import TestClient
from mangum import Mangum
from skillroute.core.http.app import create_app
from skillroute.core.http.compression import MIN_BYTES, takes_gzip
from skillroute_local.gateway import http_event
from starlette.responses import StreamingResponse

LARGE = {"text": "é said twice " * MIN_BYTES}
SMALL = {"text": "x"}
GZIP = {"accept-encoding": "gzip"}
PLAIN = {"accept-encoding": "identity"}

router = APIRouter()


@router.get("/large")
def large() -> dict[str, str]:
    return LARGE


@router.get("/small")
def small() -> dict[str, str]:
    return SMALL


@router.get("/tagged")
def tagged(response: Response) -> dict[str, str]:
    response.headers["ETag"] = '"7"'
    return LARGE


@router.get("/mail")
def mail(response: Response) -> dict[str, str]:
    response.headers["Cache-Control"] = "private, no-store"
    return LARGE


@router.get("/image")
def image() -> Response:
    return Response(b"x" * MIN_BYTES, media_type="image/png")


@router.get("/stream")
def stream() -> Response:
    return StreamingResponse((b"x" * MIN_BYTES for _ in range(3)), media_type="text/plain")


@router.get("/protocol")
def protocol() -> dict[str, str]:
    return LARGE


app = create_app([router], too_large={"/protocol": b"{}"})


@pytest.fixture
def client() -> TestClient:
    return TestClient(app)


def test_a_large_answer_is_compressed_for_who_takes_it_and_says_the_same(client: TestClient) -> None:
    packed, plain = client.get("/large", headers=GZIP), client.get("/large", headers=PLAIN)
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 10
    assert "content-encoding" not in plain.headers
    assert packed.json() == plain.json() == LARGE
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert client.get("/large", headers=GZIP).headers["content-length"] == packed.headers["content-length"]


@pytest.mark.parametrize("path", ["/small", "/mail", "/image", "/stream", "/protocol"])
def test_these_answers_stay_as_they_are(client: TestClient, path: str) -> None:
    packed, plain = client.get(path, headers=GZIP), client.get(path, headers=PLAIN)
    assert "content-encoding" not in packed.headers
    assert packed.content == plain.content
    assert {**packed.headers, "x-request-id": ""} == {**plain.headers, "x-request-id": ""}


def test_the_version_of_a_compressed_answer_is_weak_as_its_bytes_are_others(client: TestClient) -> None:
    assert client.get("/tagged", headers=GZIP).headers["etag"] == 'W/"7"'
    assert client.get("/tagged", headers=PLAIN).headers["etag"] == '"7"'


def test_head_announces_what_get_sends(client: TestClient) -> None:
    head, get = client.head("/large", headers=GZIP), client.get("/large", headers=GZIP)
    assert (head.headers["content-encoding"], head.content) == ("gzip", b"")
    assert head.headers["content-length"] == get.headers["content-length"]


def test_lambda_carries_a_compressed_answer_as_base64() -> None:
    event: dict[str, Any] = http_event("GET /large")  # API Gateway's, which takes gzip
    answer = Mangum(app, lifespan="off")(event, None)  # type: ignore[arg-type]
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, True)
    assert answer["headers"]["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(base64.b64decode(answer["body"]))) == LARGE
    event["headers"]["accept-encoding"] = "identity"
    plain = Mangum(app, lifespan="off")(event, None)  # type: ignore[arg-type]
    assert (plain["isBase64Encoded"], json.loads(plain["body"])) == (False, LARGE)


@pytest.mark.parametrize(
    ("header", "takes"),
    [
        ("gzip", True),
        ("GZIP", True),
        ("deflate, gzip;q=0.5", True),
        ("br;q=1.0, gzip ; q=0.001", True),
        ("x-gzip", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip;q=0.0, *", False),
        ("*;q=0", False),
        ("", False),
        ("identity", False),
        ("gzipped", False),
    ],
)
def test_the_header_is_read_to_the_letter(header: str, takes: bool) -> None:
    assert takes_gzip(header) is takes
