"""Examples of what is sent and answered; `examples.json` has them by the names of the schemas."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from skillroute_local.api_document.walk import Json


@cache
def examples() -> Json:
    """Return an example of each schema that a request or an answer is of."""
    found: Json = json.loads(files(__package__).joinpath("examples.json").read_text("utf-8"))
    return found


def add_examples(document: Json) -> None:
    """Give the schemas their examples."""
    schemas = document["components"]["schemas"]
    for name, example in examples().items():
        if name in schemas:
            schemas[name]["examples"] = [example]
