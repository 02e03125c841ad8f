"""Agent cards, by which A2A agents say what they can do: they become agents of the registry."""

from __future__ import annotations

from skillroute_local.importing.content import Content, document_of
from skillroute_local.importing.model import Choices, Reading, Refuse
from skillroute_local.importing.values import entries, rows_of

# One of them stands in every card: 0.1 has an address, 0.2 and 0.3 say their version, 1.0 lists interfaces.
_OF_A_CARD = ("url", "protocolVersion", "supportedInterfaces", "additionalInterfaces", "defaultInputModes")


def is_cards(content: Content) -> bool:
    """Return whether a document is an agent card, a list of them, or has one under `agents`."""
    value = document_of(content)
    if isinstance(value, dict) and isinstance(value.get("agents"), list):
        value = value["agents"]
    return _is_card(value[0] if isinstance(value, list) and value else value)


def read_cards(content: Content, choices: Choices, refuse: Refuse) -> Reading:
    """Return the agents of a document."""
    rows = list(rows_of("agents", entries(document_of(content), content.path.name, "agents"), refuse))
    return Reading(
        "agents",
        rows,
        sum(row.size for row in rows),
        partial="agents are not removed by an import",
        notes=["--server is about items, and left aside: these are agents"] if choices.server else (),
    )


def _is_card(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("skills"), list)
        and any(key in value for key in _OF_A_CARD)
    )
