"""Filling an index server by processes that are killed, as Lambda kills what takes too long: it must converge.

- *filled*: a new generation of N rows, while searches go on.
- *changed*: a quarter of the rows changes in one transaction, and is carried over.

Ends with status 1 when the server never has everything, when a search lacked something and did not say so, or when more
was written twice than a page for each process that was killed.

    python -m benchmarks.standing.resume --rows 1000000 --timeout-s 55
"""

from __future__ import annotations

import sys

from benchmarks.harness import arguments, console, fresh_database, print_table, save
from benchmarks.standing.filling import Filling


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="in the change feed (default: 1,000,000)")
    parser.add_argument("--timeout-s", type=float, default=20.0, help="after which a process is killed (default: 20)")
    parser.add_argument("--delay-s", type=float, default=0.02, help="of the server, for each write (default: 0.02)")
    args = parser.parse_args()
    with fresh_database() as url:
        filling = Filling(url, args.rows, args.timeout_s, args.delay_s)
        phases = filling.run()
    print_table("An index server, filled by processes that are killed", phases)
    save(args, "resume", {"phases": phases})
    for problem in filling.broken:
        console.print(f"[red]{problem}[/red]")
    sys.exit(1 if filling.broken else 0)


if __name__ == "__main__":
    main()
