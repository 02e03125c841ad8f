"""How `skillroute eval` shows what it measured."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from skillroute_local.commands.output import counted, note, print_line
from skillroute_local.commands.shared import err
from skillroute_local.commands.tables import Column, show_table

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
    print_line(f"{tools} not found, which leaves out {judged.left_out} of {requests} requests:", err, "yellow")
    show_lines([f"{name}: {reason}" for name, reason in judged.unknown.items()])


def show_lines(lines: Sequence[str]) -> None:
    """Print the first lines on stderr, and how many more there are."""
    for line in lines[:_SHOWN]:
        note(line)
    if len(lines) > _SHOWN:
        note(f"and {len(lines) - _SHOWN} more")


def show(tools: list[Tool], judged: Judged, cards: Sequence[Scorecard], compared: str, most: int, seed: int) -> None:
    """Print the scorecard, beside that of the `compared` settings where there is one."""
    card = cards[0]
    nothing = sum(not question.needs for question in judged.questions)
    print_line(
        f"{counted(len(judged.questions), 'request')}, {nothing} of them for nothing that is there; "
        f"{counted(len(tools), 'item')}; strategy {card.fields['strategy']}, ranked {', '.join(card.search_modes())}"
    )
    if len(cards) > 1:
        _show_differences(card, cards[1], compared, seed)
    else:
        _show_measures(card)
    _show_bounds(card)
    _show_servers(card, tools)
    _show_worst(card, tools, most)


def _show_measures(card: Scorecard) -> None:
    from skillroute_local.evaluating.scorecard import MEASURES  # noqa: PLC0415

    means, latency = card.means(), card.latency_ms()
    rows = [(measure.name, _number(means[measure.name]), measure.says) for measure in MEASURES]
    rows += [(f"{name} ms", f"{value:.1f}", "of a search") for name, value in latency.items()]
    show_table((Column("measure"), Column(""), Column("share of", sentences=True)), rows)


def _show_bounds(card: Scorecard) -> None:
    """Print what bounds of `no_match` would lose and refuse here, where answers say how sure they are."""
    found = card.bounds()
    if not found:
        return
    print_line(
        "\nSKILLROUTE_NO_MATCH_BELOW, and what it would refuse: of the answered requests (lost), and of those that "
        "nothing serves"
    )
    rows = [(f"{one.no_match_below:.3f}", f"{one.lost:.3f}", _number(one.refused)) for one in found]
    show_table([Column(name) for name in ("bound", "lost", "refused")], rows)
    if found[0].refused is None:
        print_line('add requests that nothing serves, with "needs": [], to see what a bound gains')


def _show_differences(one: Scorecard, other: Scorecard, changes: str, seed: int) -> None:
    from skillroute_local.evaluating.scorecard import MEASURES, differences  # noqa: PLC0415

    gained = differences(one, other, seed=seed)
    before, after = one.means(), other.means()
    print_line(f"compared: {changes}")
    rows: list[tuple[str, ...]] = []
    for measure in MEASURES:
        numbers = _number(before[measure.name]), _number(after[measure.name])
        found = gained.get(measure.name)
        shown = (f"{found.mean:+.3f}", f"{found.low:+.3f} to {found.high:+.3f}") if found else ("", "")
        rows.append((measure.name, *numbers, *shown))
    latency = one.latency_ms(), other.latency_ms()
    for name in latency[0]:
        rows.append((f"{name} ms", *(f"{card[name]:.1f}" for card in latency), "", ""))
    show_table([Column(name) for name in ("measure", "as given", "compared", "difference", "95 % interval")], rows)
    print_line("an interval that holds 0 shows no difference")


def _show_servers(card: Scorecard, tools: list[Tool]) -> None:
    from skillroute_local.evaluating.scorecard import by_server  # noqa: PLC0415

    rows = by_server(card.answers, tools)
    if not rows:
        return
    print_line(f"\n{min(_SHOWN, len(rows))} of {counted(len(rows), 'server')}, the least recall first")
    show_table(
        [Column(name) for name in ("server", "needs", "recall@1", "recall@5")],
        [
            (row.server or "(none)", str(row.needs), _number(row.recall_1), _number(row.recall_5))
            for row in rows[:_SHOWN]
        ],
    )


def _show_worst(card: Scorecard, tools: list[Tool], most: int) -> None:
    from skillroute_local.evaluating.scorecard import recall_5, worst  # noqa: PLC0415

    answers = worst(card.answers, most)
    if not answers:
        return
    title_of = {tool.id: tool.title for tool in tools}
    print_line(f"\nthe worst {counted(len(answers), 'request')}")
    for answer in answers:
        score = f"{recall_5(answer):.2f}" if answer.is_answerable else "none fits"
        print_line(f"{answer.question.where}  {score}  {answer.question.query}")
        print_line(f"    expected  {_expected(answer, title_of)}")
        print_line(f"    came      {_came(answer)}")


def _expected(answer: Answer, title_of: Mapping[str, str]) -> str:
    from skillroute_local.evaluating.scorecard import unserved  # noqa: PLC0415

    needs = [" or ".join(sorted({title_of[id_] for id_ in need})) for need in unserved(answer)]
    return "; ".join(needs) or "nothing"


def _came(answer: Answer) -> str:
    from skillroute_local.evaluating.scorecard import instead  # noqa: PLC0415

    return ", ".join(instead(answer)) or "nothing"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
