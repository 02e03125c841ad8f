"""The collections that the slices declare."""

from __future__ import annotations

import copy
import pickle

import pytest
from skillroute.core.documents.collection import Collection, collection_named, collections, counted_as, is_collection


def test_every_slice_declares_its_own() -> None:
    assert collections() == ("mcp_skills", "mcp_unified_search", "mcp_registry", "mcp_mail", "mcp_agent_skills")
    assert [each.short for each in collections()] == ["skills", "tools", "registry", "mail", "agent-skills"]


def test_no_two_are_counted_as_one() -> None:
    assert [each.field for each in counted_as().values()] == ["items", "skills", "entities", "mail", "agent_skills"]
    assert len({each.verified_field or each.field for each in counted_as().values()}) == len(collections())


def test_an_organisation_is_an_indexed_field_of_every_collection() -> None:
    """Every search filters by it."""
    assert all("org_id" in each.keyword_fields for each in collections())


def test_one_is_found_by_its_name() -> None:
    assert collection_named("mcp_mail") is collections()[3]
    assert not is_collection("mcp_unknown")
    with pytest.raises(KeyError):
        collection_named("mcp_unknown")


@pytest.mark.parametrize("collection", collections())
def test_a_process_gets_the_one_that_it_has(collection: Collection) -> None:
    """Indexes are built in a child process."""
    assert pickle.loads(pickle.dumps(collection)) is collection
    assert copy.deepcopy(collection) is collection
