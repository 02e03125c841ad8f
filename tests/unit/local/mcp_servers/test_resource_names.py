"""How resources of one name are told apart."""

from __future__ import annotations

import doctest

from skillroute_local.mcp_servers import resource_names
from skillroute_local.mcp_servers.resource_names import resource_name


def test_the_examples_in_the_docstring_hold() -> None:
    assert doctest.testmod(resource_names) == (0, 2)


def test_a_resource_whose_name_is_the_uri_of_another_one_goes_by_its_own_uri() -> None:
    uris: dict[str, str] = {}
    listed = [("readme", "file:///a"), ("readme", "file:///b"), ("file:///b", "file:///c")]

    assert [resource_name(name, uri, uris) for name, uri in listed] == ["readme", "file:///b", "file:///c"]
