"""Reading and deleting items: what a caller sees, and what it may change."""

from __future__ import annotations

import pytest
from skillroute.catalogue.model import ItemFilter
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import Forbidden, NotFound

from tests.worlds.desk import ACME, UMBRELLA, Desk, tool


@pytest.fixture
def owned(desk: Desk) -> dict[str, int]:
    owners = {"global": LAPTOP, "acme": ACME, "umbrella": UMBRELLA}
    return {name: desk.put(tool(name), caller=caller).outcomes[0].id or 0 for name, caller in owners.items()}


def test_a_caller_sees_global_items_and_its_own(desk: Desk, owned: dict[str, int]) -> None:
    items, total = desk.catalogue.page(ItemFilter(), ACME, limit=10, offset=0)
    assert [item.content.key.name for item in items] == ["global", "acme"]
    assert total == 2
    assert desk.catalogue.get(owned["acme"], ACME).org_id == "acme"
    with pytest.raises(NotFound, match=str(owned["umbrella"])):
        desk.catalogue.get(owned["umbrella"], ACME)


def test_a_caller_deletes_its_own_and_is_told_why_not_otherwise(desk: Desk, owned: dict[str, int]) -> None:
    before = desk.commits
    with pytest.raises(Forbidden, match="global"):
        desk.catalogue.delete(owned["global"], ACME)
    with pytest.raises(NotFound):
        desk.catalogue.delete(owned["umbrella"], ACME)
    with pytest.raises(NotFound):
        desk.catalogue.delete(owned["acme"], LAPTOP)
    assert desk.commits == before
    desk.catalogue.delete(owned["acme"], ACME)
    assert desk.commits == before + 1
    with pytest.raises(NotFound):
        desk.catalogue.delete(owned["acme"], ACME)


def test_an_id_beyond_every_item_is_not_found(desk: Desk) -> None:
    with pytest.raises(NotFound):
        desk.catalogue.get(2**62, ACME)
