"""What holds of every collection, the next one too."""

from __future__ import annotations

from skillroute.core.documents.index.schema import KEYWORD_FIELDS
from skillroute.core.documents.model import COUNTED_AS, Collection


def test_every_collection_is_counted_by_a_field_of_its_own() -> None:
    assert set(COUNTED_AS) == set(Collection)
    assert len({counted.field for counted in COUNTED_AS.values()}) == len(Collection)
    assert len({counted.verified_field or counted.field for counted in COUNTED_AS.values()}) == len(Collection)


def test_every_collection_is_filtered_by_organisation() -> None:
    assert set(KEYWORD_FIELDS) == set(Collection)
    assert all("org_id" in fields for fields in KEYWORD_FIELDS.values())
