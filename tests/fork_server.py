"""A process that has imported all of Skillroute and forks another for each request; `tests/forks.py` sends them.

Requests and answers are lines of JSON, one request at a time. The process ends when its standard input does.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import types
from pathlib import Path
from typing import Any

_REQUESTS, _ANSWERS = 0, 1
_LIBRARIES = (
    *("anyio._backends._asyncio", "boto3", "flask.debughelpers", "httpcore", "httpx"),
    *("moto.server", "moto.sqs.models", "moto.sqs.responses", "moto.sqs.urls", "moto.iam.models", "moto.sts.models"),
    *("pydantic.v1", "qdrant_edge", "rich.progress", "rich.status", "rich.table", "tokenizers"),
    *("uvicorn.lifespan.on", "uvicorn.loops.uvloop", "uvicorn.protocols.http.httptools_impl"),
    *("uvicorn.protocols.websockets.auto",),
)
"""What Skillroute imports only once it is asked for."""
_UNFORKABLE = {"onnxruntime", "qdrant_client"}
"""They start threads as they are loaded: who is forked afterwards has none of them, and waits for them at its end."""


def main() -> None:
    """Answer requests until there are no more; a forked process returns from here and ends as one that was started."""
    if sys.platform == "linux":
        _import_all()
        _share_vectors()
    while line := _read():
        request: dict[str, Any] = json.loads(line)
        if "ended" in request:
            answer = _status(request["ended"])
        elif (answer := os.fork()) == 0:
            _become(request)
            return
        os.write(_ANSWERS, f"{json.dumps(answer)}\n".encode())


def _read() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        if not (part := os.read(_REQUESTS, 1 << 20)):
            return b""
        line += part
    return line


def _import_all() -> None:
    for name in ("skillroute", "skillroute_local"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)
    for name in _LIBRARIES:
        importlib.import_module(name)
    assert not _UNFORKABLE & sys.modules.keys(), "these threads end with the fork"
    gc.collect()
    gc.freeze()


def _share_vectors() -> None:
    """Let the processes take the models' vectors from those of the tests, see `vectors.py`."""
    sys.path.append(str(Path(__file__).parents[1]))
    from tests.vectors import VARIABLE, share_vectors

    sys.path.pop()
    if directory := os.environ.get(VARIABLE):  # only pytest makes one: `make pictures` starts processes, too
        share_vectors(Path(directory))


def _status(pid: int) -> int | None:
    """Return how a process ended, as `subprocess` has it; None while it runs."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _become(request: dict[str, Any]) -> None:
    """Make this process the one that is asked for, and run its code as `python -c` does."""
    files = [os.open(os.devnull, os.O_RDONLY)]
    files += [os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) for name in ("stdout", "stderr")]
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.setsid()
    # What a shell does to what it starts in the background is undone: Ctrl-C would be ignored, by all below as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if request["alone"] or sys.platform != "linux":
        os.execve(sys.executable, [sys.executable, "-c", request["code"], *request["args"]], request["env"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv[:] = ["-c", *request["args"]]
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(compile(request["code"], "<string>", "exec"), module.__dict__)


if __name__ == "__main__":
    main()
