"""Putting the parts of `skillroute connect` together, and running them until the agent leaves."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import anyio
from skillroute.catalogue.known_requests import KnownRequests
from skillroute.core.embedding.packaged import default_model, models_dir
from skillroute.core.embedding.tokens import TokenCounter
from skillroute.core.settings import EmbeddingSettings, ReceiptSettings
from skillroute.wiring.providers import make_embedder

from skillroute_local.connect.front import Front
from skillroute_local.connect.logs import log_to_stderr
from skillroute_local.connect.offer import Offer
from skillroute_local.connect.serve import AgentServer, serve_http, serve_stdio
from skillroute_local.connect.store import Store, default_path
from skillroute_local.connect.use import Use
from skillroute_local.errors import LocalError
from skillroute_local.loopback import listen
from skillroute_local.mcp_servers.config import read_servers, unique
from skillroute_local.mcp_servers.model import Limits, McpServer, StdioServer
from skillroute_local.mcp_servers.transport import WITHIN_CONNECT

logger = logging.getLogger(__name__)

_RUNNERS = frozenset({"uv", "uvx", "pipx"})
"""Programs that install a package and run its command, behind options of their own."""


def start(files: Sequence[Path], *, port: int | None, offer: Offer, limits: Limits, verbose: bool) -> None:
    """Connect to the servers of files, and serve them as one.

    Parameters
    ----------
    port : int or None
        Of loopback; None serves over standard input and output.
    offer : Offer
        What agents are shown.

    Raises
    ------
    LocalError
        A file cannot be read, or names no server that can be used; the port is in use; another one has started this.
    """
    if os.environ.get(WITHIN_CONNECT):
        raise LocalError(
            "skillroute connect has started this one as a server: it would start itself without end; "
            "take it out of the file that --config names"
        )
    os.environ[WITHIN_CONNECT] = "1"
    log_to_stderr(verbose=verbose)
    servers = servers_of(files)
    settings, receipts = EmbeddingSettings.load(), ReceiptSettings.load()
    packaged = settings.embedding_provider == "onnx"
    folder = settings.onnx_dir if packaged else models_dir() / default_model()

    async def run() -> None:
        front = Front(
            servers,
            make_embedder(settings),
            TokenCounter(folder / "tokenizer.json"),
            offer=offer,
            store=Store(default_path()),
            limits=limits,
            known=KnownRequests(is_on=settings.has_packaged_requests),
            use=None if receipts.receipts == "off" else Use(default_path(), receipts),
        )
        server = AgentServer(front)
        if port is None:
            if sys.stdin.isatty():
                logger.warning("waiting for an agent on standard input; docs/connect.md says how agents start this")
            await serve_stdio(server)
            return
        with listen(port) as sock:
            url = f"http://localhost:{sock.getsockname()[1]}/mcp"
            print(f"serving {len(servers)} server{'s' if len(servers) > 1 else ''} at {url}", flush=True)  # noqa: T201
            await serve_http(server, sock)

    anyio.run(run)


def servers_of(files: Sequence[Path]) -> list[McpServer]:
    """Return the servers of all files; what is wrong with others is told, and stops nothing."""
    read = [read_servers(path) for path in files]
    servers, problems = unique(server for file in read for server in file.servers)
    for problem in (*(problem for file in read for problem in file.problems), *problems):
        logger.warning("%s", problem)
    others = [server for server in servers if not _is_this_command(server)]
    for server in servers:
        if server not in others:
            logger.warning("%s is skillroute connect itself: left out", server.where)
    if not others:
        raise LocalError(f"{', '.join(map(str, files))}: no server of it can be used")
    return others


def _is_this_command(server: McpServer) -> bool:
    """Return whether a file names this command itself, as an agent's own file does.

    Behind a shell or another program it is not seen here: there it refuses to start, by its environment.
    """
    if not isinstance(server, StdioServer):
        return False
    program = Path(server.command).stem
    if program in _RUNNERS:
        return ("skillroute", "connect") in pairwise(server.args)
    return program == "skillroute" and server.args[:1] == ("connect",)
