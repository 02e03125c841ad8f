"""Encrypted connections: certificates, and time limits."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.core.postgres.address import Address, fixed
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.pool import Pool
from skillroute.core.postgres.refusals import NoAnswer


@dataclass(frozen=True)
class Certificate:
    """One that vouches for itself, for 127.0.0.1."""

    file: Path
    pem: str


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a database")])
    begins = datetime.now(UTC) - timedelta(days=1)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begins)
        .not_valid_after(begins + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = signed.public_bytes(Encoding.PEM)
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + pem)
    return Certificate(file, pem.decode())


class TlsProxy:
    """Speaks TLS with clients, as PostgreSQL does, and hands on in the clear what they say."""

    def __init__(self, target: Address, certificate: Certificate) -> None:
        self._target = target
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate.file)
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self.silent = False
        self.port = 0

    @contextmanager
    def serving(self) -> Iterator[TlsProxy]:
        server = self._loop.run_until_complete(asyncio.start_server(self._relay, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        thread = threading.Thread(target=self._loop.run_forever)
        thread.start()
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self._stop(server), self._loop).result(10)
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
            self._loop.close()

    async def _stop(self, server: asyncio.Server) -> None:
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        closing = [writer]
        try:
            await reader.readexactly(8)
            writer.write(b"S")
            await writer.start_tls(self._context)
            server_reader, server_writer = await asyncio.open_connection(self._target.host, self._target.port)
            closing.append(server_writer)
            await asyncio.gather(self._pump(reader, server_writer), self._pump(server_reader, writer))
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client does not like the certificate
        finally:
            for stream in closing:
                stream.close()
            self._tasks.discard(task)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if not self.silent:
                writer.write(data)
                await writer.drain()
        writer.close()


@pytest.fixture
def proxy(database_url: str, certificate: Certificate) -> Iterator[TlsProxy]:
    with TlsProxy(Address.parse(database_url), certificate).serving() as proxy:
        yield proxy


def pool_of(proxy: TlsProxy, database_url: str, sslmode: str, authorities: str | None = None) -> Pool:
    address = replace(
        Address.parse(database_url), host="127.0.0.1", port=proxy.port, sslmode=sslmode, authorities=authorities
    )
    return Pool(fixed(address), connect_timeout_s=5.0, statement_timeout_s=0.3)


@pytest.mark.parametrize("sslmode", ["require", "verify-full"])
def test_statements_go_through(proxy: TlsProxy, database_url: str, certificate: Certificate, sslmode: str) -> None:
    pool = pool_of(proxy, database_url, sslmode, certificate.pem)
    big = "x" * 300_000
    assert pool.transact(lambda connection: connection.script(f"SELECT '{big}'")) == [[big]]
    pool.close()


def test_an_untrusted_certificate_is_refused_with_the_remedy(proxy: TlsProxy, database_url: str) -> None:
    pool = pool_of(proxy, database_url, "verify-full")
    with pytest.raises(DatabaseUnavailable, match=r"is not who it should be.*sslrootcert in the secret"):
        pool.read(lambda connection: connection.script("SELECT 1"))


def test_a_server_that_falls_silent_is_not_waited_for(proxy: TlsProxy, database_url: str) -> None:
    pool = pool_of(proxy, database_url, "require")

    def work(connection: Connection) -> None:
        proxy.silent = True
        connection.script("SELECT 1")

    with pytest.raises(NoAnswer):
        pool.read(work)
    pool.close()
