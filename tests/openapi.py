"""The OpenAPI document of the whole API: `python -m tests.openapi` writes docs/openapi.json again from the code."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from skillroute.core.http.app import create_app
from skillroute.core.queue.memory import MemoryQueue
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts
from skillroute_local.api_document.document import api_document

PAGE = Path(__file__).parents[1] / "docs" / "openapi.json"


@cache
def published() -> dict[str, Any]:
    """Return the document as it is published; nothing is asked of any database for it."""
    parts = Parts(LocalSettings(database_url="postgresql://u:p@127.0.0.1:1/d"), queue=MemoryQueue())
    routers = parts.served().routers
    document = api_document(create_app(routers, access=parts.access), routers)
    parts.close()
    return document


def as_text(document: dict[str, Any]) -> str:
    """Return the document as it is committed."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.write_text(as_text(published()), encoding="utf-8")
