"""The options of `skillroute eval`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

COMPARABLE = {
    "mode": "mode",
    "strategy": "strategy",
    "type": "item_type",
    "skill_limit": "skill_limit",
    "skill_threshold": "skill_threshold",
    "tool_threshold": "tool_threshold",
}
"""Settings by their options' names, and what a request calls them."""

Queries = Annotated[
    str | None, typer.Option(help="JSON Lines of judged requests: query, needs; - reads them from a pipe.")
]
Generate = Annotated[
    int | None, typer.Option(help="Instead: make requests for so many tools, drawn by chance, into --output.", min=1)
]
Output = Annotated[Path | None, typer.Option(help="A file for what is made: the report as JSON, or the requests.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file of --output.")]
SkillLimit = Annotated[
    int | None, typer.Option(help="How many skills at most; default: 5 in mode hybrid, 3 in others.")
]
Compare = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help=f"Ask once more with another setting, and show the difference: {', '.join(COMPARABLE)}. May be repeated.",
    ),
]
FailUnder = Annotated[
    list[str] | None,
    typer.Option(metavar="MEASURE=MIN", help="Exit with 1 below it, such as recall@5=0.80. May be repeated."),
]
Baseline = Annotated[
    Path | None, typer.Option(help="A former --output: exit with 1 where recall@5 is lower than it was.")
]
Tolerance = Annotated[float, typer.Option(help="With --baseline: how much lower it may be.", min=0, max=1)]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 1 when the file names tools that the catalogue lacks.")
]
Worst = Annotated[int, typer.Option(help="How many of the worst requests to show.", min=0)]
Seed = Annotated[int, typer.Option(help="Of what is drawn by chance: tools of --generate, and intervals.")]
Organisation = Annotated[
    str | None, typer.Option("--org", help="Search as an organisation; default: global tools only.")
]
CalledUrl = Annotated[
    str | None,
    typer.Option("--url", help="A Skillroute to call; default: searches run in this process.", envvar="SKILLROUTE_URL"),
]
