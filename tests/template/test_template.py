"""The properties of the template hold in every deployment that it is for."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.template import (
    check_api,
    check_functions,
    check_monitoring,
    check_names,
    check_parameters,
    check_queues,
    check_rights,
    check_schedule,
)
from tests.template.parameter_sets import IMPOSSIBLE, PARAMETER_SETS
from tests.template.routes import key, served
from tests.template.stack import ROOT, Stack, parsed, stack

MODULES = (
    check_api,
    check_functions,
    check_monitoring,
    check_names,
    check_parameters,
    check_queues,
    check_rights,
    check_schedule,
)
CHECKS: dict[str, Callable[[Stack], None]] = {
    name: check
    for module in MODULES
    for name, check in vars(module).items()
    if name.startswith("check_") and check.__module__ == module.__name__
}


@pytest.fixture(scope="module", params=PARAMETER_SETS)
def deployed(request: pytest.FixtureRequest) -> Stack:
    """The stack of each set of parameters, translated once."""
    return stack(PARAMETER_SETS[request.param])


@pytest.mark.parametrize("name", CHECKS)
def test_it_holds(name: str, deployed: Stack) -> None:
    CHECKS[name](deployed)


@pytest.mark.parametrize(("objection", "parameters"), IMPOSSIBLE)
def test_an_impossible_combination_is_refused_with_its_reason(objection: str, parameters: dict[str, str]) -> None:
    made = stack(PARAMETER_SETS["the least"] | parameters)
    assert objection in " ".join(check_parameters.broken_rules(made))


def test_every_rule_is_seen_to_object() -> None:
    said = {each["AssertDescription"] for rule in parsed()["Rules"].values() for each in rule["Assertions"]}
    seen = {each for each in said if any(objection in each for objection, _ in IMPOSSIBLE)}
    assert seen == said


def test_every_route_has_its_event() -> None:
    events = [json.loads(file.read_text(encoding="utf-8")) for file in (ROOT / "events").glob("*.json")]
    asked = {key(*event["routeKey"].split(" ")) for event in events if "routeKey" in event}
    assert asked == served() - {"GET /health", "GET /ready"}
