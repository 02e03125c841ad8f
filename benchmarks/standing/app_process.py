"""The process under test: what `make run` serves, under uvicorn. `harness.serving` starts it."""

from __future__ import annotations

import argparse
import os
import sys

import uvicorn
from skillroute.wiring import Parts
from skillroute_local.server import THREADS, local_app
from skillroute_local.up import local_settings


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be tried out about the server."""
    parser.add_argument("--http", choices=("auto", "h11", "httptools"), default="auto", help="uvicorn's HTTP parser")
    parser.add_argument("--loop", choices=("auto", "asyncio", "uvloop"), default="auto", help="the event loop")
    parser.add_argument("--threads", type=int, default=THREADS, help="threads that work at once")
    parser.add_argument("--switch-interval-ms", type=float, default=5.0, help="sys.setswitchinterval (default: 5)")


def server_options(args: argparse.Namespace) -> list[str]:
    """Return the options of `args` as a command line."""
    names = ("http", "loop", "threads", "switch_interval_ms")
    return [part for name in names for part in (f"--{name.replace('_', '-')}", str(getattr(args, name)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    add_server_options(parser)
    args = parser.parse_args()
    sys.setswitchinterval(args.switch_interval_ms / 1000.0)
    parts = Parts(local_settings(os.environ["SKILLROUTE_DATABASE_URL"]))
    app = local_app(parts, threads=args.threads)
    try:
        uvicorn.run(app, port=args.port, log_level="warning", access_log=False, http=args.http, loop=args.loop)
    finally:
        parts.close()


if __name__ == "__main__":
    main()
