"""What is kept between two starts; whatever is wrong with the file, nothing but time is lost."""

from __future__ import annotations

import logging
import stat
import time
from pathlib import Path

import pytest
from skillroute.core.embedding.model import EmbeddingModel
from skillroute_local.connect.store import FRESH_S, Store, default_path
from skillroute_local.mcp_servers.model import HttpServer, Listed, StdioServer

MODEL = EmbeddingModel("m", 2)
SERVER = StdioServer("a", "mcp.json: a", "run", ("--fast",), {"TOKEN": "t-1"})
ITEMS = [Listed("tool", "echo", {"name": "echo", "inputSchema": {"type": "object"}})]


def test_vectors_and_listings_are_there_at_the_next_start(tmp_path: Path) -> None:
    store = Store(tmp_path / "new" / "file")
    store.keep_vectors(MODEL, {"h1": [0.5, -1.0], "h2": [1.0, 0.0]})
    store.keep_listing(SERVER, ITEMS)

    again = Store(tmp_path / "new" / "file")
    assert again.vectors(MODEL, ["h1", "h3"]) == {"h1": [0.5, -1.0]}
    assert again.vectors(EmbeddingModel("other", 2), ["h1"]) == {}
    assert again.listing(SERVER) == ITEMS


def test_a_listing_is_of_the_very_settings_of_a_server(tmp_path: Path) -> None:
    store = Store(tmp_path / "file")
    store.keep_listing(SERVER, ITEMS)
    assert store.listing(StdioServer("a", "elsewhere: a", "run", ("--fast",), {"TOKEN": "t-1"})) == ITEMS
    assert store.listing(StdioServer("a", "mcp.json: a", "run", ("--fast",), {"TOKEN": "t-2"})) is None
    assert store.listing(HttpServer("a", "mcp.json: a", "http://a")) is None


def test_a_listing_is_gone_by_for_a_day_where_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "file")
    assert not store.is_fresh(SERVER)
    store.keep_listing(SERVER, ITEMS, is_whole=False)
    assert not store.is_fresh(SERVER)
    assert store.listing(SERVER) == ITEMS
    store.keep_listing(SERVER, [])
    assert not store.is_fresh(SERVER)
    store.keep_listing(SERVER, ITEMS)
    assert store.is_fresh(SERVER)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + FRESH_S + 1)
    assert not store.is_fresh(SERVER)
    assert Store(tmp_path / "file").listing(SERVER) == ITEMS


def test_secrets_are_not_kept_and_the_file_is_closed_to_others(tmp_path: Path) -> None:
    Store(tmp_path / "file").keep_listing(SERVER, ITEMS)
    assert b"t-1" not in (tmp_path / "file").read_bytes()
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_a_file_that_is_damaged_is_worked_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_bytes(b"no database" * 1_000)
    with caplog.at_level(logging.WARNING, "skillroute_local"):
        store = Store(tmp_path / "file")
        store.keep_vectors(MODEL, {"h": [1.0, 0.0]})
        store.keep_listing(SERVER, ITEMS)
        assert (store.vectors(MODEL, ["h"]), store.listing(SERVER)) == ({}, None)
    [message] = caplog.messages
    assert message.startswith(f"{tmp_path / 'file'} cannot be used (")


def test_it_lies_where_it_is_asked_for_else_in_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLROUTE_HOME", "/home-of-it")
    assert default_path() == Path("/home-of-it/connect.sqlite3")
    monkeypatch.delenv("SKILLROUTE_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert default_path() == Path("/cache/skillroute/connect.sqlite3")
