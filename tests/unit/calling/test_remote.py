"""GIVEN the port of calls, WHEN what implements it is compared, THEN its methods are taken alike."""

from __future__ import annotations

import inspect

import pytest
from skillroute.calling.model import RemoteTools
from skillroute.calling.remote import GuardedTools


@pytest.mark.parametrize("name", ["call", "list_tools", "call_operation"])
def test_a_method_is_as_the_port_has_it(name: str) -> None:
    method = getattr(GuardedTools, name)
    assert inspect.signature(method) == inspect.signature(getattr(RemoteTools, name))
    assert inspect.iscoroutinefunction(method)
