"""The page Health: what is stored is checked, and work that was given up is tried again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.console.conftest import Console, grave
from tests.e2e.processes import Up
from tests.integration.rows import connected

pytestmark = pytest.mark.console


def test_health_checks_all_that_is_stored(console: Console) -> None:
    console.open("health")
    console.page.get_by_role("button", name="Check stored data").click()
    console.page.get_by_text("No inconsistency found").wait_for()


def test_work_that_was_given_up_is_shown_and_tried_again(
    opened: Callable[..., Console], examples: Up, axe: str
) -> None:
    # GIVEN a tool that could not be classified
    tool = {"server": "shed", "name": "oil_hinges", "description": "Oils the hinges of the door."}
    [stored] = examples.put(tool)["results"]
    run = examples.home.running()
    assert run is not None
    with connected(run.database_url) as sql:
        sql(
            "UPDATE mcp.outbox SET dead_at = now(), attempts = 5, last_error = '<b>no answer</b>' "
            f"WHERE queue = 'classify' AND key = '{stored['id']}'"
        )

    console = opened(examples)
    console.open("health")
    console.page.get_by_role("link", name="shed/oil_hinges").wait_for()
    assert grave(console, axe) == []
    console.page.get_by_text("<b>no answer</b>").wait_for()
    counted = console.page.locator("tr:has(> td:text-is('Failed'))").locator("td").all()
    assert [cell.inner_text() for cell in counted] == ["Failed", "1", "0", "0"]
    console.page.get_by_role("button", name="Try shed/oil_hinges again").click()

    console.page.get_by_text("1 of classify tried again.").wait_for()
    console.page.get_by_text("No work has failed.").wait_for()
    assert console.complaints == []
