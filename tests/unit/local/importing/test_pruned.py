"""What a --prune switched off and an import brings back, where not all of it is the caller's."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute_local.client import Client
from skillroute_local.errors import Refused
from skillroute_local.importing.check import Checked, checked
from skillroute_local.importing.model import Row
from skillroute_local.importing.pruned import Pruned
from skillroute_local.importing.report import ImportReport
from skillroute_local.importing.stored import MARK

OFF = {"at": "2026-03-01T00:00:00+00:00", "was_switched_off": False}


class OfAcme(Client):
    """The catalogue that a caller of an organisation sees, who may switch what is the organisation's own."""

    def __init__(self, *owners: str | None, lists: int = 200, switches: int = 200) -> None:
        self.off = dict(enumerate(owners, start=1))
        self._lists, self._switches = lists, switches

    def items(self, *, limit: int, offset: int, **where: str) -> list[dict[str, Any]]:
        if self._lists != 200:
            raise refused(self._lists)
        alike = {"server": "shed", "type": "tool", "name": "hoe", "is_switched_off": True, "metadata": {MARK: OFF}}
        return [{"id": item_id, "org_id": owner, **alike} for item_id, owner in self.off.items()][offset:][:limit]

    def switch_item(self, item_id: int, *, is_active: bool, version: str | None = None) -> dict[str, Any]:
        if self.off[item_id] is None or self._switches != 200:
            raise refused(403 if self.off[item_id] is None else self._switches)
        del self.off[item_id]
        return {}


def refused(status: int) -> Refused:
    return Refused(f"{status}: not yours", status=status, detail="not yours")


def row() -> Checked:
    [valid] = checked([Row("items", "a.jsonl:1", {"server": "shed", "name": "hoe"}, 1)], lambda *_: None)
    return valid


def brought_back(client: Client) -> tuple[dict[str, Any], ImportReport]:
    """Return what is written of the row, and what is said."""
    valid, report = row(), ImportReport()
    Pruned(client).bring_back([valid], report)
    return valid.row.value, report


@pytest.mark.parametrize("owners", [("acme", None), (None, "acme")], ids=["own first", "global first"])
def test_of_a_global_item_and_the_organisations_own_its_own_is_switched_on(owners: tuple[str | None, ...]) -> None:
    client = OfAcme(*owners)
    value, report = brought_back(client)
    assert list(client.off.values()) == [None]
    assert (report.counts["items"]["switched_on"], report.problems) == (1, [])
    assert "metadata" not in value


def test_beside_a_global_item_that_is_off_the_organisation_gets_one_of_its_own() -> None:
    value, report = brought_back(OfAcme(None))
    assert (report.problems, report.counts["items"]) == ([], {})
    assert "metadata" not in value


@pytest.mark.parametrize("status", [403, 409])
def test_what_cannot_be_switched_on_keeps_its_mark_and_is_named(status: int) -> None:
    value, report = brought_back(OfAcme("acme", switches=status))
    assert value["metadata"] == {MARK: OFF}
    assert report.problems == ["shed/hoe stays as a --prune switched it off: not yours"]


def test_who_may_not_list_what_is_off_is_told_that_it_stays_so() -> None:
    value, report = brought_back(OfAcme("acme", lists=403))
    assert "metadata" not in value
    [note] = report.notes
    assert note.startswith("what a --prune switched off stays off, and loses its mark")
    assert note.endswith("cannot be listed: not yours")
