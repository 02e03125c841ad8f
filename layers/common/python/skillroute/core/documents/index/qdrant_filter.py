"""Filters as Qdrant's server takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillroute.core.documents.index import schema
from skillroute.core.documents.index.schema import Conditions

if TYPE_CHECKING:
    from qdrant_client import models


def filter_of(m: Any, conditions: Conditions) -> models.Filter | None:
    """Return conditions as a filter; None where there are none. `m` is `qdrant_client.models`, loaded by the index."""
    if not conditions:
        return None
    must: list[Any] = []
    must_not: list[Any] = []
    for name, asked in conditions:
        if isinstance(asked, schema.NoneOf):
            must_not.append(_condition(m, name, asked.values))
        elif isinstance(asked, schema.Alternatives):
            each = [m.Filter(must=[_condition(m, *pair) for pair in pairs]) for pairs in asked.each]
            if asked.may_hold:
                must.append(m.Filter(should=each))
            else:
                must_not += each
        else:
            must.append(_condition(m, name, asked))
    ready: models.Filter = m.Filter(must=must, must_not=must_not)
    return ready


def _condition(
    m: Any, name: str, values: list[str] | schema.Range | schema.PointIds
) -> models.FieldCondition | models.HasIdCondition:
    if isinstance(values, schema.PointIds):
        points: models.HasIdCondition = m.HasIdCondition(has_id=list(values.ids))
        return points
    ready: models.FieldCondition = (
        m.FieldCondition(key=name, match=m.MatchAny(any=values))
        if isinstance(values, list)
        else m.FieldCondition(key=name, range=m.Range(gte=values[0], lte=values[1]))
    )
    return ready
