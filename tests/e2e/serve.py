"""A web server over SKILLROUTE_DATABASE_URL and nothing else; says where it answers in its first line."""

from __future__ import annotations

import argparse
import sys
import threading

from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts, relay_handler
from skillroute_local.loopback import HOST, listen
from skillroute_local.pump import RelayLoop
from skillroute_local.server import local_app, serve


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--relay-every-s", type=float, default=15.0)
    every_s = parser.parse_args().relay_every_s
    parts = Parts(LocalSettings.load())
    stop = threading.Event()
    relay = RelayLoop(relay_handler(parts=parts), stop, every_s=every_s)
    relay.start()
    with listen() as sock:
        url = f"http://{HOST}:{sock.getsockname()[1]}"

        def announce() -> None:
            sys.stdout.write(f"{url}\n")
            sys.stdout.flush()

        serve(local_app(parts), sock, on_ready=announce)
    stop.set()
    relay.join()
    parts.close()


if __name__ == "__main__":
    main()
