"""`skillroute console`: the pages for those who keep a catalogue, for a Skillroute here or elsewhere."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillroute_local.commands.shared import (
    SignRegion,
    Token,
    Url,
    names_a_database,
    out,
    parts_of,
    running_at,
    token_for,
    url_of,
    use_queues_of,
)
from skillroute_local.home import Home

if TYPE_CHECKING:
    from skillroute.wiring import Parts

    from skillroute_local.console.lent_parts import LendParts
    from skillroute_local.console.serving import Target
    from skillroute_local.history.source import History


def console(
    url: Url = None,
    port: Annotated[int, typer.Option(help="Port on loopback; 0 takes a free one.")] = 3001,
    queries: Annotated[
        Path | None,
        typer.Option(
            help="The file of judged requests that marking results writes, for `skillroute eval --queries`; default: "
            "requests.jsonl in SKILLROUTE_HOME.",
            dir_okay=False,
        ),
    ] = None,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
    token: Token = None,
    sign_region: SignRegion = None,
    stack: Annotated[
        str, typer.Option(help="The stack of a deployment on AWS: the metrics of CloudWatch have its name.")
    ] = "skillroute",
) -> None:
    """Serve the console on this machine's loopback, until Ctrl-C.

    It asks the API with the token, or signed with the AWS credentials, that the other commands use. The address has a
    key in it: who does not know it gets nothing of what these rights give.

    Queues and failed work are shown for the Skillroute that runs here. Those of one elsewhere are shown
    where SKILLROUTE_DATABASE_URL or SKILLROUTE_DATABASE_SECRET_ARN names its database, and
    SKILLROUTE_CLASSIFY_QUEUE_URL and the other five its queues.

    Figures of hours and days come from the file that the Skillroute here keeps, and of a deployment on AWS from
    CloudWatch, where your AWS credentials have the right cloudwatch:GetMetricData.
    """
    from skillroute_local.console.serving import Target, new_key, serve, whole_app  # noqa: PLC0415 (0.3 s)
    from skillroute_local.loopback import listen  # noqa: PLC0415

    called = url_of(url)
    key = new_key()
    requests = queries or Home.from_environment().path / "requests.jsonl"
    target = Target(called, token_for(called, token), sign_region)
    app = whole_app(
        target,
        requests=requests.resolve(),
        key=key,
        lend=_lend(called),
        history=_history(target, stack),
        home=Home.from_environment().path if running_at(called) else None,
    )
    with listen(port) as sock:
        address = f"http://localhost:{sock.getsockname()[1]}/console/#key={key}"

        def announce() -> None:
            out.print(f"The console of {called}: {address}", soft_wrap=True, highlight=False, markup=False)
            out.print("Ctrl-C stops it.")
            if open_:
                webbrowser.open(address)

        try:
            serve(app, sock, on_ready=announce)
        except KeyboardInterrupt:
            return  # it is how one stops it, and no failure


def _history(target: Target, stack: str) -> History | None:
    """Return the figures of hours and days of a Skillroute; None where nothing keeps them."""
    from skillroute_client.connection import execute_api_region  # noqa: PLC0415 (the client: 0.2 s)

    from skillroute_local.history.cloudwatch import of_deployment  # noqa: PLC0415
    from skillroute_local.history.ring import HistoryFile  # noqa: PLC0415
    from skillroute_local.history.source import FileHistory  # noqa: PLC0415

    if running_at(target.url) is not None:
        return FileHistory(HistoryFile(Home.from_environment().history_file))
    region = target.sign_region or execute_api_region(target.url)
    return of_deployment(region, stack) if region else None


def _lend(called: str) -> LendParts | None:
    """Return what lends the database and the queues of the Skillroute at a URL; None where they are out of reach."""
    run = running_at(called)
    if run is None:
        return (lambda: parts_of(None)) if names_a_database() else None

    @contextmanager
    def lend() -> Iterator[Parts]:
        use_queues_of(run)
        with parts_of(run) as parts:
            yield parts

    return lend
