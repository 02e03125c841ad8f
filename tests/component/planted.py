"""Secrets to plant wherever one can be, and functions run as on Lambda, to see whether what they write shows one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from skillroute_local.gateway import ROUTES

from tests.events import ADMIN_ROLE, EVENTS, event
from tests.forks import ForkServer

ROOT = Path(__file__).parents[2]
PASSWORD = "planted-password-4711"  # without a character that a URL would encode, so that one search finds it
TOKEN = "eyJwbGFudGVk.eyJ0b2tlbiI6MX0.cGxhbnRlZA"
AWS_KEY = "planted-aws-key"
KEYS = {
    "SKILLROUTE_OPENAI_API_KEY": "planted-embedding-key",
    "SKILLROUTE_CHAT_API_KEY": "planted-chat-key",
    "SKILLROUTE_QDRANT_API_KEY": "planted-qdrant-key",
}
PLANTED = [PASSWORD, TOKEN, AWS_KEY, *KEYS.values()]
CLOSED = f"postgresql://skillroute:{PASSWORD}@127.0.0.1:1/db"

# Loads a function's module as Lambda does, and gives it the events of a file, one a line.
_DRIVER = """
import importlib.util, json, pathlib, sys
spec = importlib.util.spec_from_file_location("app", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

class Context:
    function_name, memory_limit_in_mb, aws_request_id = "f", 1769, "r"
    invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:f"
    def get_remaining_time_in_millis(self): return 60000

for line in pathlib.Path(sys.argv[2]).read_text().splitlines():
    try:
        print("ANSWER", json.dumps(module.handler(json.loads(line), Context())))
    except Exception:
        import traceback
        traceback.print_exc()
"""

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "AWS_LAMBDA_FUNCTION_NAME": "function",
    "AWS_ACCESS_KEY_ID": "x",
    "AWS_SECRET_ACCESS_KEY": AWS_KEY,
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "SKILLROUTE_LOG_LEVEL": "DEBUG",
    "SKILLROUTE_AUTH": "iam",
    "SKILLROUTE_IAM_ADMINS": ADMIN_ROLE,
    "SKILLROUTE_EMBEDDING_PROVIDER": "hashing",
}
_forks = ForkServer(_ENVIRONMENT)

Event = dict[str, Any]


def events_of(function: str) -> list[Event]:
    """Return the events of a function, those of HTTP each with a token in its headers."""
    found = []
    for name in sorted(EVENTS):
        each = event(name)
        if "routeKey" in each:
            if ROUTES.get(each["routeKey"]) == function:
                each["headers"]["authorization"] = f"Bearer {TOKEN}"
                found.append(each)
        elif name.startswith((f"sqs_{function}", f"schedule_{function}")):
            found.append(each)
    return found


def run(function: str, events: list[Event] | None = None, **environment: str) -> str:
    """Return everything that a function writes and answers, in a process of its own, at level DEBUG.

    What it writes is what CloudWatch would get. Without events it gets all of its own.
    """
    given = events_of(function) if events is None else events
    assert given
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as file:
        file.writelines(f"{json.dumps(event)}\n" for event in given)
        file.flush()
        app = ROOT / "functions" / function / "app.py"
        child = _forks.run(_DRIVER, [str(app), file.name], _ENVIRONMENT | environment, timeout=120)
    return child.stdout + child.stderr


def answers_of(written: str) -> list[Event]:
    """Return what the function answered, out of all that it wrote."""
    return [json.loads(line.removeprefix("ANSWER ")) for line in written.splitlines() if line.startswith("ANSWER ")]


def assert_nothing_shows(written: str, *more: str) -> None:
    """Fail where anything planted, or any of `more`, was written."""
    assert [secret for secret in [*PLANTED, *more] if secret in written] == []
