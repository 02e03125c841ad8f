"""The options of `skillroute skills propose`."""

from __future__ import annotations

from typing import Annotated

import typer

Skills = Annotated[
    int | None,
    typer.Option(help="How many skills at most; default: as many as tell the tools apart well.", min=1, max=1000),
]
MinTools = Annotated[int, typer.Option(help="A group of fewer tools is no skill.", min=1)]
AllTools = Annotated[bool, typer.Option("--all", help="Group all tools; default: only those that have no skill.")]
Organisation = Annotated[str | None, typer.Option(help="An organisation's tools and skills; default: global ones.")]
Apply = Annotated[bool, typer.Option("--apply", help="Create the skills, and classify the tools that have none.")]
Reclassify = Annotated[
    bool,
    typer.Option(
        "--reclassify",
        help="Also find the tools whose classifier would choose another skill now; with --apply classify them "
        "again. What people decided stays. A language model is asked about each tool.",
    ),
]
Queries = Annotated[
    str | None,
    typer.Option(
        help="With --apply: judged requests, as `skillroute eval` takes them. Searches are measured before and "
        "after; where recall@5 drops, all is taken back."
    ),
]
Tolerance = Annotated[float, typer.Option(help="With --queries: how much lower it may be.", min=0, max=1)]
WaitS = Annotated[int, typer.Option(help="With --queries: how long to wait for the classifier at most.", min=1)]
Yes = Annotated[bool, typer.Option("--yes", help="With --apply: do not ask.")]
