"""A web server over SKILLROUTE_DATABASE_URL and nothing else; says where it answers in its first line."""

from __future__ import annotations

import argparse
import sys

from skillroute.bootstrap import Parts
from skillroute.settings import SearchSettings
from skillroute_local.loopback import HOST, listen
from skillroute_local.server import Housekeeping, local_app, serve


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--housekeeping-every-s", type=float, default=15.0)
    every_s = parser.parse_args().housekeeping_every_s
    parts = Parts(SearchSettings.load())
    with listen() as sock, Housekeeping(parts, every_s=every_s):
        url = f"http://{HOST}:{sock.getsockname()[1]}"

        def announce() -> None:
            sys.stdout.write(f"{url}\n")
            sys.stdout.flush()

        serve(local_app(parts), sock, on_ready=announce)
    parts.close()


if __name__ == "__main__":
    main()
