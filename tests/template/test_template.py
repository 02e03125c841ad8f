"""The properties of the template hold in every deployment that it is for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import pytest
from skillroute_local.gateway import route_of

from tests.event_requests import OF_OTHERS, SIGNED
from tests.events import event
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
from tests.template.routes import PAGES, served
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


def _numbered(key: str) -> str:
    """Return a route with names of its parameters, each another one."""
    numbers = itertools.count()
    return re.sub("{}", lambda _: f"{{p{next(numbers)}}}", key)


def test_every_route_has_its_event() -> None:
    routes = [_numbered(each) for each in served()]
    http = [event(name)["requestContext"]["http"] for name in (*SIGNED, *OF_OTHERS)]
    found = [route_of(each["method"], each["path"], routes) for each in http]
    assert {each[0] for each in found if each} == set(routes) - {"GET /health", "GET /ready"} - PAGES
    assert None not in found


def test_the_template_has_no_more_than_2100_lines() -> None:
    assert len((ROOT / "template.yaml").read_text(encoding="utf-8").splitlines()) <= 2100
