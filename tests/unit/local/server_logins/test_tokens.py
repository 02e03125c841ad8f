"""Which servers are sent the token of a login: of a file, over TLS or on this machine, and without one of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from skillroute_local.mcp_servers.model import HttpServer
from skillroute_local.server_logins.tokens import LoopbackOrigins, can_log_in

CONFIG = Path("/mcp.json")


@pytest.mark.parametrize(
    ("origin", "is_own"),
    [
        ("http://127.0.0.1:80", True),
        ("http://localhost", True),
        ("http://[::1]:8080", True),
        ("http://127.0.0.1.evil.test", False),
        ("http://10.0.0.1", False),
        ("http://notes.test", False),
        ("", False),
    ],
)
def test_only_this_machine_is_asked_without_tls(origin: str, *, is_own: bool) -> None:
    assert (origin in LoopbackOrigins()) is is_own


@pytest.mark.parametrize(
    ("server", "can"),
    [
        (HttpServer("a", "", "https://notes.test/mcp", config=CONFIG), True),
        (HttpServer("a", "", "http://127.0.0.1:1/mcp", config=CONFIG), True),
        (HttpServer("a", "", "http://notes.test/mcp", config=CONFIG), False),
        (HttpServer("a", "", "https://notes.test/mcp"), False),
        (HttpServer("a", "", "https://notes.test/mcp", {"AUTHORIZATION": "Bearer s"}, config=CONFIG), False),
        (HttpServer("a", "", "https://notes.test/mcp", {"X-Team": "a"}, config=CONFIG), True),
    ],
)
def test_a_login_is_for_servers_of_a_file_that_have_no_token_there(server: HttpServer, *, can: bool) -> None:
    assert can_log_in(server) is can
