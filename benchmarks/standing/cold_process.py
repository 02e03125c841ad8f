"""One cold start of a function, inside the container: `python -S cold_process.py EVENT.json` starts the clock.

The first process only notes the time and starts the second, so that the interpreter's own start counts. Prints one
JSON object with milliseconds since then: ``python`` (the interpreter runs), ``runtime`` (Lambda's runtime client is
imported), ``init`` (the function's module is), ``first`` (its first answer), and ``second_ms``, how long the second
answer took. With ``--imports`` the interpreter also reports on stderr how long each import takes.
"""

import importlib
import json
import os
import subprocess
import sys
import time


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--imports"]
    if len(arguments) == 1:
        options = ["-X", "importtime"] if "--imports" in sys.argv else []
        command = [sys.executable, *options, __file__, *arguments, str(time.monotonic_ns())]
        raise SystemExit(subprocess.run(command, check=False).returncode)
    measure(arguments[0], int(arguments[1]))


def measure(event_file: str, started_ns: int) -> None:
    def passed_ms() -> float:
        return (time.monotonic_ns() - started_ns) / 1e6

    times = {"python": passed_ms()}
    importlib.import_module("awslambdaric.bootstrap")
    times["runtime"] = passed_ms()
    handler = importlib.import_module("app").handler
    times["init"] = passed_ms()
    with open(event_file, encoding="utf-8") as file:  # noqa: PTH123 (pathlib would be an import of ours)
        event = json.load(file)
    answer = handler(event, Context())
    times["first"] = passed_ms()
    if isinstance(answer, dict) and answer.get("statusCode", 200) >= 300:
        raise SystemExit(f"{answer['statusCode']}: {answer['body']}")
    if isinstance(answer, dict) and answer.get("batchItemFailures"):
        raise SystemExit(f"the batch failed: {answer}")
    again_ms = passed_ms()
    handler(event, Context())
    times["second_ms"] = passed_ms() - again_ms
    sys.stdout.write("\n" + json.dumps(times) + "\n")


class Context:
    """Lambda's context of an invocation, as far as handlers and Powertools read it."""

    function_name = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "skillroute")
    memory_limit_in_mb = int(os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1769"))
    invoked_function_arn = f"arn:aws:lambda:eu-central-1:123456789012:function:{function_name}"
    aws_request_id = "00000000-0000-4000-8000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        """Return the time that is left: enough."""
        return 60_000


if __name__ == "__main__":
    main()
