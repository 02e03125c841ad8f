"""The part of Health about the machine, without a browser: models, migrations, versions, the index and disks."""

from __future__ import annotations

import platform
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute import __version__
from skillroute.core.errors.model import DatabaseUnavailable, EmbeddingUnavailable
from skillroute_client import AsyncSkillroute
from skillroute_local.console.app import KEY_HEADER, console_app

from tests.api.one_app import app_over
from tests.builders import System
from tests.client_over import URL, async_client_over


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "postgres" / "base").mkdir(parents=True)
    (folder / "postgres" / "base" / "1").write_bytes(b"x" * 5000)
    (folder / "index" / "replica-1-a").mkdir(parents=True)
    (folder / "index" / "replica-1-a" / "segment").write_bytes(b"x" * 300)
    (folder / "history.sqlite").write_bytes(b"x" * 20)
    (folder / "history.sqlite-wal").write_bytes(b"x" * 3)
    (folder / "skillroute.log").write_bytes(b"x" * 7)
    (folder / "lock").write_bytes(b"x")
    return folder


def system_of(system: System, home: Path | None = None, *, lent: bool = True) -> dict[str, Any]:
    def connect(token: str | None) -> AsyncSkillroute:
        return async_client_over(app_over(system), token=token)

    lend = (lambda: nullcontext(system.parts)) if lent else None
    requests = Path("requests.jsonl")
    page = TestClient(console_app(connect, url=URL, requests=requests, lend=lend, home=home))
    answer = page.post("/do/health/system", json={}, headers={KEY_HEADER: "page"})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_models_say_where_they_run_and_what_is_not_configured_how_to(system: System) -> None:
    system.put("water")
    models = system_of(system)["models"]
    assert models["state"]["kind"] == "ok"
    embedding, reranker, classifier = models["rows"]
    assert (embedding["job"], embedding["name"]) == ("Embedding", system.embedder.model.name)
    assert embedding["dimension"] == system.embedder.model.dimension
    assert (reranker["name"], reranker["state"]["kind"]) == (None, "off")
    assert "SKILLROUTE_RERANK_PROVIDER" in reranker["state"]["help"]
    assert "SKILLROUTE_CHAT_MODEL" in classifier["state"]["help"]


def test_vectors_of_two_models_are_shown_apart_with_what_is_yet_to_be_computed(system: System) -> None:
    system.put("water", "mow")
    system.sql("UPDATE mcp.index_state SET next_model = 'larger', next_dimension = 8")
    system.sql(
        "INSERT INTO mcp.document_vectors (collection, key, model, dimension, text_hash) "
        "SELECT collection, key, 'larger', 8, text_hash FROM mcp.documents"
    )
    found = system_of(system)
    row = found["models"]["rows"][1]
    assert (row["job"], row["name"], row["dimension"]) == ("Vectors of the next model", "larger", 8)
    assert (row["state"]["kind"], row["state"]["word"]) == ("so", "2 to compute")
    [finding] = [each for each in found["findings"] if each["at"] == "models"]
    assert "skillroute reindex" in finding["help"]


def test_a_model_that_is_not_that_of_the_vectors_says_what_to_run(system: System) -> None:
    system.put("water")
    system.sql("UPDATE mcp.index_state SET embedding_model = 'former', embedding_dimension = 8")
    embedding, former, *_ = system_of(system)["models"]["rows"]
    assert (embedding["state"]["kind"], former["name"]) == ("no", "former")
    assert "former (8)" in embedding["state"]["help"]


def test_migrations_that_wait_or_are_of_a_newer_version_say_what_to_run(system: System) -> None:
    migrations = system_of(system)["migrations"]
    assert migrations["state"]["kind"] == "ok"
    assert (migrations["waiting"], migrations["latest"][:4].isdigit()) == ([], True)
    latest = migrations["latest"]
    try:
        system.sql(f"UPDATE mcp.migrations SET name = 'zz_newer' WHERE name = '{latest}'")
        found = system_of(system)["migrations"]
        assert (found["waiting"], found["unknown"]) == ([latest], ["zz_newer"])
        assert found["state"]["word"] == "of a newer version"
    finally:
        system.sql(f"UPDATE mcp.migrations SET name = '{latest}' WHERE name = 'zz_newer'")


def test_versions_are_those_of_all_parts(system: System) -> None:
    found = system_of(system)
    rows = dict(found["versions"]["rows"])
    assert rows["Skillroute, this console"] == __version__
    assert rows["Python"] == platform.python_version()
    assert rows["PostgreSQL"].split(".")[0].isdigit()
    assert found["versions"]["state"]["kind"] == "ok"
    assert found["database_bytes"] > 1_000_000
    assert found["index"]["kind"]


def test_a_home_is_measured_by_kind_and_names_no_path(system: System, home: Path) -> None:
    found = system_of(system, home)
    assert found["disk"]["sizes"] == {
        "database": 5000, "index": 300, "models": 0, "history": 23, "logs": 7, "other": 1,
    }  # fmt: skip
    assert found["disk"]["total"] > found["disk"]["free"] > 0
    assert str(home) not in str(found)


def test_a_home_that_is_gone_is_said_with_its_reason(system: System, home: Path) -> None:
    disk = system_of(system, home / "gone")["disk"]
    assert disk["state"]["word"] == "cannot be read"
    assert "gone" not in disk["problem"]


def test_without_the_machine_only_versions_are_known(system: System) -> None:
    found = system_of(system, lent=False)
    assert (found["models"], found["migrations"], found["index"], found["disk"]) == (None, None, None, None)
    assert [name for name, _ in found["versions"]["rows"]][-1] == "Python"


def test_a_model_that_cannot_be_loaded_is_a_state_and_no_failure(system: System) -> None:
    class Away:
        @property
        def model(self) -> Any:
            raise EmbeddingUnavailable("it is not installed")

    system.parts.query_embedder._embedder = Away()  # type: ignore[assignment]
    embedding = system_of(system)["models"]["rows"][0]
    assert (embedding["state"]["kind"], embedding["state"]["word"]) == ("no", "unavailable")


def test_a_database_that_is_away_leaves_what_needs_none(
    system: System, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def away() -> None:
        raise DatabaseUnavailable("db.internal does not answer")

    system.database.before_read = away
    found = system_of(system, home)
    assert {found[name]["state"]["word"] for name in ("models", "migrations", "index")} == {"cannot be read"}
    # Hosts, users and paths are for the log.
    assert found["migrations"]["problem"] == DatabaseUnavailable.public_message
    assert "db.internal" not in str(found)
    assert "db.internal" in caplog.text
    assert found["disk"]["sizes"]["database"] == 5000
    assert "database_bytes" not in found
    assert [each for each in found["findings"] if each["at"] != "disk"] == []
