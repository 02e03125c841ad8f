"""Lines and JSON that commands print: for a pipe as they are, for a terminal wrapped between words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from skillroute_local.commands.shared import err, out

_SCHEMAS = frozenset({"input_schema", "output_schema", "inputSchema", "outputSchema"})

NoSchemas = Annotated[
    bool, typer.Option("--no-schemas", help="With --json: leave out the schemas, by far the most of it.")
]


def print_line(text: str, console: Console = out, style: str = "") -> None:
    """Print a line of ours or of others: nothing in it is markup."""
    console.print(Text(text, style), soft_wrap=not console.is_terminal, highlight=False)


def note(text: str) -> None:
    """Print notes on the answer to standard error: pipes get the answer alone."""
    print_line(text, err)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: ``1 tool``, ``2 tools``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def without_schemas(value: Any) -> Any:
    """Return a value of JSON without the schemas anywhere in it."""
    if isinstance(value, Mapping):
        return {name: without_schemas(part) for name, part in value.items() if name not in _SCHEMAS}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [without_schemas(part) for part in value]
    return value
