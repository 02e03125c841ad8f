"""The part of Health about the machine: models, migrations, the index, versions, and space on disks."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillroute import __version__
from skillroute.core.errors.model import SkillrouteError
from skillroute_client import AsyncSkillroute

from skillroute_local.console.health_models import read_models
from skillroute_local.console.lent_parts import LendParts, with_parts
from skillroute_local.console.problems import words_of
from skillroute_local.disk import disk_use
from skillroute_local.standing import State, disk_state, migrations_state

if TYPE_CHECKING:
    from skillroute.wiring import Parts

Section = dict[str, Any]

_KINDS = {
    "embedded": ("Qdrant Edge, in each process", "qdrant-edge-py"),
    "server": ("Qdrant server", "qdrant-client"),
    "postgres": ("in PostgreSQL", None),
    "auto": ("auto: in PostgreSQL, until one in the process is built", "qdrant-edge-py"),
}


async def read_system(client: AsyncSkillroute, lend: LendParts | None, home: Path | None) -> Section:
    """Return the sections; one that cannot be read from here is None, and one that failed says why in `problem`."""
    health = await client.ready()
    of_parts: Section = {"models": None, "migrations": None, "index": None}
    server = None
    if lend is not None:
        of_parts, server = await with_parts(lend, _of_parts)
    disk = None if home is None else await asyncio.to_thread(_disk, home)
    library = (of_parts["index"] or {}).get("library")
    found = of_parts | {"disk": disk, "versions": _versions(health.version, server, library)}
    if server is not None:
        found["database_bytes"] = server[1]
    return found | {"findings": _findings(found)}


def _of_parts(parts: Parts) -> tuple[Section, tuple[str, int] | None]:
    server: list[tuple[str, int]] = []

    def facts() -> Section:
        [[name, size]] = parts.database.read(lambda session: session.run("database_facts"))
        server.append((name, size))
        return {}

    _or_problem(facts)
    sections = {
        "models": _or_problem(lambda: read_models(parts)),
        "migrations": _or_problem(lambda: _migrations(parts)),
        "index": _or_problem(lambda: _index(parts)),
    }
    return sections, server[0] if server else None


def _or_problem(read: Callable[[], Section]) -> Section:
    try:
        return read()
    except SkillrouteError as error:
        why = words_of(error)
        return {"problem": why, "state": asdict(State("no", "cannot be read", why))}


def _migrations(parts: Parts) -> Section:
    from skillroute.core.postgres.migrate import migration_state  # noqa: PLC0415 (loaded by who opens the page)

    found = parts.database.read(migration_state)
    state = migrations_state(len(found.waiting), len(found.unknown))
    return {
        "applied": len(found.applied),
        "latest": max((name for name in found.applied if "/" not in name), default=None),
        "waiting": list(found.waiting),
        "optional": list(found.optional),
        "unknown": list(found.unknown),
        "state": asdict(state),
    }


def _index(parts: Parts) -> Section:
    from skillroute.core.documents.index_state import IndexStateRepository  # noqa: PLC0415

    settings = parts.settings
    words, library = _KINDS[settings.index_kind]
    epoch = parts.database.read(lambda session: IndexStateRepository(session).epoch())
    found: Section = {"kind": words, "library": library, "epoch": epoch[:8], "generations": None}
    if settings.index_kind == "server":
        name = f"qdrant:{settings.qdrant_prefix}"
        rows = parts.database.read(lambda session: session.run("index_generations", index_name=name, grace_s=600.0))
        # number, model, dimension, ..., seen at 5, ready at 9
        found["generations"] = [
            {"number": row[0], "model": row[1], "position": row[5], "is_ready": row[9]} for row in rows
        ]
    return found


def _versions(api: str | None, server: tuple[str, int] | None, library: str | None) -> Section:
    rows = [["Skillroute, this console", __version__], ["Skillroute, the API", api or "not known"]]
    if server is not None:
        rows.append(["PostgreSQL", server[0]])
    if library is not None:
        rows.append([f"Index library, {library}", _installed(library)])
    rows.append(["Python", platform.python_version()])
    state = State("ok", "the same")
    if api is not None and api != __version__:
        state = State("so", "different versions", "Restart the one that is older, after `pip install -U skillroute`.")
    return {"rows": rows, "state": asdict(state)}


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _disk(home: Path) -> Section | None:
    try:
        use = disk_use(home)
    except OSError as error:
        text = error.strerror or type(error).__name__
        return {"problem": text, "state": asdict(State("no", "cannot be read", f"The home cannot be read: {text}."))}
    return asdict(use) | {"state": asdict(disk_state(use.free, use.total))}


def _findings(found: Mapping[str, Any]) -> list[dict[str, str]]:
    # That the database is away is a finding of its own (`GET /ready`).
    states: Sequence[tuple[str, Mapping[str, str]]] = [
        (at, section["state"])
        for at in ("models", "migrations", "index", "versions", "disk")
        if (section := found[at]) is not None and "state" in section and (at == "disk" or "problem" not in section)
    ]
    return [
        {"at": at, "kind": state["kind"], "what": f"{at}: {state['word']}", "help": state["help"]}
        for at, state in states
        if state["kind"] in {"no", "so"}
    ]
