"""The search function's handler in a fresh process, with events as API Gateway sends them.

    python -m benchmarks.standing.lambda_process REQUESTS.jsonl

REQUESTS.jsonl holds one body of POST /api/v1/search a line; the first is the cold one. Prints one JSON object with
milliseconds: ``import_ms`` (the module with all it imports), ``first_ms`` (the first answer, index and model included)
and ``warm_ms`` (each answer after that). Settings come from the environment.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

_ROOT = Path(__file__).resolve().parents[2]
_CALLER = "arn:aws:iam::123456789012:role/agent-gateway"


def main() -> None:
    bodies = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    sys.path.insert(0, str(_ROOT / "functions" / "search"))
    context = SimpleNamespace(
        function_name="skillroute-search",
        memory_limit_in_mb=1024,
        invoked_function_arn="arn:aws:lambda:eu-central-1:123456789012:function:skillroute-search",
        aws_request_id="00000000-0000-4000-8000-000000000000",
    )
    started = time.perf_counter()
    handler = importlib.import_module("app").handler

    import_ms = (time.perf_counter() - started) * 1000.0
    # Not before: what it imports, the function imports too.
    from skillroute_local.gateway import body_sent, http_event, signed_by

    times_ms: list[float] = []
    totals_ms: list[float] = []
    for body in bodies:
        event = http_event("POST /api/v1/search", json.loads(body), signed_by(_CALLER))
        started = time.perf_counter()
        answer = handler(event, context)
        times_ms.append((time.perf_counter() - started) * 1000.0)
        if answer["statusCode"] != 200:
            raise SystemExit(f"{answer['statusCode']}: {answer['body']}")
        totals_ms.append(json.loads(body_sent(answer))["metadata"]["total_time_ms"])
    result = {"import_ms": import_ms, "first_ms": times_ms[0], "warm_ms": times_ms[1:], "warm_server_ms": totals_ms[1:]}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
