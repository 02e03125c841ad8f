"""GIVEN a server with a certificate, WHEN it is called by its name, THEN its certificate must name it."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from skillroute.calling.model import CallFailed, Endpoint, Failure, Limits
from skillroute.calling.remote import GuardedTools
from skillroute.core.outbound.credentials import Credentials
from skillroute.core.outbound.guarded import make_client
from skillroute.core.outbound.hosts import HostRules
from skillroute.core.settings.calling import CallSettings


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a certificate of ``name.test`` that vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a server")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("name.test")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("certificate") / "server.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + made.public_bytes(Encoding.PEM))
    return file


class Names:
    """The names that clients ask for as TLS begins."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []

    def note(self, connection: ssl.SSLSocket | ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        self.asked.append(name)


class Handler(BaseHTTPRequestHandler):
    """Answers with the host that was asked for."""

    def do_GET(self) -> None:
        body = self.headers["Host"].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """A server whose clients may hang up."""

    def handle_error(self, *_: object) -> None:
        pass


@pytest.fixture
def server(certificate: Path) -> Iterator[tuple[int, Names]]:
    names = Names()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = names.note
    found = Server(("127.0.0.1", 0), Handler)
    found.socket = context.wrap_socket(found.socket, server_side=True)
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found.server_address[1], names
    found.shutdown()
    found.server_close()
    thread.join()


RULES = HostRules.of(CallSettings(call_hosts="", call_private_hosts="name.test,other.test"))


def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


def get(url: str, context: ssl.SSLContext | None) -> httpx.Response:
    async def run() -> httpx.Response:
        async with make_client(RULES, context=context, resolve=lambda *_: ["127.0.0.1"]) as client:
            return await client.get(url, timeout=10.0)

    return asyncio.run(run())


def test_tls_and_the_host_keep_the_name(server: tuple[int, Names], certificate: Path) -> None:
    port, names = server
    answer = get(f"https://name.test:{port}/", trusting(certificate))
    assert answer.text == f"name.test:{port}"
    assert names.asked == ["name.test"]


def test_a_certificate_of_another_name_is_refused(server: tuple[int, Names], certificate: Path) -> None:
    with pytest.raises(httpx.ConnectError):
        get(f"https://other.test:{server[0]}/", trusting(certificate))


def test_a_certificate_that_is_not_trusted_is_named(
    server: tuple[int, Names], certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment names it, which is not asked."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tools = GuardedTools(RULES, resolve=lambda *_: ["127.0.0.1"])
    call = tools.call(
        Endpoint(f"https://name.test:{server[0]}/mcp"), "add", {}, credentials=Credentials(), limits=Limits(10.0, 1000)
    )
    with pytest.raises(CallFailed, match=r"^name\.test has no certificate that is trusted$") as failed:
        asyncio.run(call)
    assert failed.value.failure is Failure.UNREACHABLE
