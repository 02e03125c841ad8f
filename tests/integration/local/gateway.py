"""API Gateway in front of a Skillroute, as far as the command line sees it: with AuthMode iam, or with none at all."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

KEY, SECRET, SESSION = "AKIDEXAMPLE", "secret/of+the=caller", "session/token=="
REGION = "eu-central-1"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": SESSION}

# Without index_entities, as a deployment answers that is older than the command line.
_HEALTH = {
    "status": "ok",
    "version": "9.9.9",
    "search_mode": "semantic",
    **dict.fromkeys(("index_items", "index_skills", "index_lag"), 0),
    "index_rebuilding": False,
    "dependencies": {},
}
_SEARCH = {
    "query": "schedule a meeting",
    "tools": [],
    "matched_skills": [],
    "metadata": {
        "fallback_reason": "no_skills",
        "degraded": [],
        "final_count": 0,
        "stage2_candidate_count": 0,
        "total_time_ms": 1.0,
        "search_mode": "semantic",
    },
}
ANSWERS = {"/health": _HEALTH, "/api/v1/search": _SEARCH}
_AUTHORIZATION = re.compile(
    rf"AWS4-HMAC-SHA256 Credential={KEY}/\d{{8}}/([a-z0-9-]+)/execute-api/aws4_request, "
    r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})"
)


def take_credentials_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave this process, and those that it starts, without what AWS's tools would find of whoever runs the tests."""
    for name in (*CREDENTIALS, "AWS_PROFILE", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@dataclass(frozen=True)
class Received:
    """A request as it came over the wire; the names of its headers are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def is_signed(received: Received) -> bool:
    """Tell whether the caller signed just this request for the region, by making the signature again."""
    headers = received.headers
    said = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if said is None or said[1] != REGION or headers.get("x-amz-security-token") != SESSION:
        return False
    names = said[2].split(";")
    if not {"host", "x-amz-date", "x-amz-security-token"} <= set(names):
        return False
    url = f"http://{headers['host']}{received.target}"
    request = AWSRequest(received.method, url, {name: headers[name] for name in names}, received.body)
    request.context["timestamp"] = headers["x-amz-date"]
    auth = SigV4Auth(Credentials(KEY, SECRET, SESSION), "execute-api", REGION)
    return said[3] == auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)


class Gateway:
    """Answers some routes on loopback.

    Parameters
    ----------
    wants_signatures : bool
        Refuse requests without a good one, in API Gateway's words.
    """

    def __init__(self, *, wants_signatures: bool = False) -> None:
        self.wants_signatures = wants_signatures
        self.received: list[Received] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, received: Received) -> tuple[int, Any]:
        """Return the status and the body of an answer."""
        self.received.append(received)
        if self.wants_signatures and not is_signed(received):
            return 403, {"message": "Forbidden"}
        return 200, ANSWERS[received.target]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                status, answer = gateway.answer(Received(self.command, self.path, headers, body))
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                """Keep the test output clean."""

        return Handler
