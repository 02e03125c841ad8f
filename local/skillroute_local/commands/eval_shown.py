"""How `skillroute eval` shows what it measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from skillroute_local.commands.shared import err, out

if TYPE_CHECKING:
    from skillroute_local.evaluating.catalogue import Judged, Tool
    from skillroute_local.evaluating.scorecard import Answer, Scorecard

_SHOWN = 10


def tools_of_the_file(names: Collection[str]) -> str:
    """Return how many tools of the file are named: ``2 tools of the file``."""
    return f"{len(names)} tool{'' if len(names) == 1 else 's'} of the file"


def show_unknown(judged: Judged, requests: int) -> None:
    """Say which tools the catalogue lacks, and how many of the requests that leaves out."""
    if not judged.unknown:
        return
    tools = tools_of_the_file(judged.unknown)
    err.print(
        f"[yellow]{tools} not found, which leaves out {judged.left_out} of {requests} requests:[/]",
        highlight=False,
        soft_wrap=True,
    )
    show_lines([f"{name}: {reason}" for name, reason in judged.unknown.items()])


def show_lines(lines: Sequence[str]) -> None:
    """Print the first lines on stderr, and how many more there are."""
    for line in lines[:_SHOWN]:
        err.print(line, markup=False, highlight=False, soft_wrap=True)
    if len(lines) > _SHOWN:
        err.print(f"and {len(lines) - _SHOWN} more", highlight=False)


def show(tools: list[Tool], judged: Judged, cards: Sequence[Scorecard], compared: str, most: int, seed: int) -> None:
    """Print the scorecard, beside that of the `compared` settings where there is one."""
    card = cards[0]
    nothing = sum(not question.needs for question in judged.questions)
    out.print(
        f"{len(judged.questions)} requests, {nothing} of them for nothing that is there; {len(tools)} items; "
        f"strategy {card.fields['strategy']}, ranked {', '.join(card.search_modes())}",
        highlight=False,
        soft_wrap=True,
    )
    if len(cards) > 1:
        _show_differences(card, cards[1], compared, seed)
    else:
        _show_measures(card)
    _show_servers(card, tools)
    _show_worst(card, tools, most)


def _show_measures(card: Scorecard) -> None:
    from skillroute_local.evaluating.scorecard import MEASURES  # noqa: PLC0415

    means, latency = card.means(), card.latency_ms()
    table = Table("measure", "", "share of", box=None, pad_edge=False)
    for measure in MEASURES:
        table.add_row(measure.name, _number(means[measure.name]), measure.says)
    for name, value in latency.items():
        table.add_row(f"{name} ms", f"{value:.1f}", "of a search")
    out.print(table)


def _show_differences(one: Scorecard, other: Scorecard, changes: str, seed: int) -> None:
    from skillroute_local.evaluating.scorecard import MEASURES, differences  # noqa: PLC0415

    gained = differences(one, other, seed=seed)
    before, after = one.means(), other.means()
    print_line(f"compared: {changes}")
    table = Table("measure", "as given", "compared", "difference", "95 % interval", box=None, pad_edge=False)
    for measure in MEASURES:
        numbers = _number(before[measure.name]), _number(after[measure.name])
        found = gained.get(measure.name)
        shown = (f"{found.mean:+.3f}", f"{found.low:+.3f} to {found.high:+.3f}") if found else ("", "")
        table.add_row(measure.name, *numbers, *shown)
    latency = one.latency_ms(), other.latency_ms()
    for name in latency[0]:
        table.add_row(f"{name} ms", *(f"{card[name]:.1f}" for card in latency))
    out.print(table)
    out.print("an interval that holds 0 shows no difference", highlight=False)


def _show_servers(card: Scorecard, tools: list[Tool]) -> None:
    from skillroute_local.evaluating.scorecard import by_server  # noqa: PLC0415

    rows = by_server(card.answers, tools)
    if not rows:
        return
    table = Table("server", "needs", "recall@1", "recall@5", box=None, pad_edge=False)
    for row in rows[:_SHOWN]:
        numbers = str(row.needs), _number(row.recall_1), _number(row.recall_5)
        table.add_row(escape(row.server or "(none)"), *numbers)
    out.print(f"\n{min(_SHOWN, len(rows))} of {len(rows)} servers, the least recall first", highlight=False)
    out.print(table)


def _show_worst(card: Scorecard, tools: list[Tool], most: int) -> None:
    from skillroute_local.evaluating.scorecard import recall_5, worst  # noqa: PLC0415

    answers = worst(card.answers, most)
    if not answers:
        return
    title_of = {tool.id: tool.title for tool in tools}
    out.print(f"\nthe worst {len(answers)} requests", highlight=False)
    for answer in answers:
        score = f"{recall_5(answer):.2f}" if answer.is_answerable else "none fits"
        print_line(f"{answer.question.where}  {score}  {answer.question.query}")
        print_line(f"    expected  {_expected(answer, title_of)}")
        print_line(f"    came      {_came(answer)}")


def print_line(line: str) -> None:
    """Print a line as it is: what others wrote is no markup of ours, whatever brackets stand in it."""
    out.print(line, markup=False, highlight=False, soft_wrap=True)


def _expected(answer: Answer, title_of: Mapping[str, str]) -> str:
    from skillroute_local.evaluating.scorecard import unserved  # noqa: PLC0415

    needs = [" or ".join(sorted({title_of[id_] for id_ in need})) for need in unserved(answer)]
    return "; ".join(needs) or "nothing"


def _came(answer: Answer) -> str:
    from skillroute_local.evaluating.scorecard import instead  # noqa: PLC0415

    return ", ".join(instead(answer)) or "nothing"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
