"""The process under test: all routes under uvicorn. `harness.serving` starts it; the environment has the settings."""

from __future__ import annotations

import argparse
import asyncio
import sys

import anyio.to_thread
import uvicorn
from skillroute.bootstrap import Parts
from skillroute.settings import SearchSettings
from skillroute.web.app import create_app


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be tried out about the server."""
    parser.add_argument("--http", choices=("auto", "h11", "httptools"), default="auto", help="uvicorn's HTTP parser")
    parser.add_argument("--loop", choices=("auto", "asyncio", "uvloop"), default="auto", help="the event loop")
    parser.add_argument("--threads", type=int, default=0, help="threads that work at once; 0: anyio's own 40")
    parser.add_argument("--switch-interval-ms", type=float, default=5.0, help="sys.setswitchinterval (default: 5)")


def server_options(args: argparse.Namespace) -> list[str]:
    """Return the options of `args` as a command line."""
    names = ("http", "loop", "threads", "switch_interval_ms")
    return [part for name in names for part in (f"--{name.replace('_', '-')}", str(getattr(args, name)))]


async def _serve(config: uvicorn.Config, threads: int) -> None:
    if threads:
        anyio.to_thread.current_default_thread_limiter().total_tokens = threads
    await uvicorn.Server(config).serve()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    add_server_options(parser)
    args = parser.parse_args()
    sys.setswitchinterval(args.switch_interval_ms / 1000.0)
    parts = Parts(SearchSettings.load())
    app = create_app(parts.search_routers() + parts.catalog_routers())
    config = uvicorn.Config(app, port=args.port, log_level="warning", access_log=False, http=args.http, loop=args.loop)
    try:
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(_serve(config, args.threads))
    except KeyboardInterrupt:
        pass
    finally:
        parts.close()


if __name__ == "__main__":
    main()
