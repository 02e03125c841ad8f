"""The query parameters that a route takes: any other one is refused, because an unknown filter filters nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from urllib.parse import urlencode

from fastapi import HTTPException
from fastapi.dependencies.models import Dependant
from starlette.datastructures import QueryParams

from skillroute.core.http.errors import problem
from skillroute.core.input.synonyms import SYNONYMS


def query_names_of(dependant: Dependant) -> set[str]:
    """Return the names of all query parameters of a route, those of its dependencies included."""
    names = {field.alias for field in dependant.query_params}
    return names.union(*(query_names_of(dependency) for dependency in dependant.dependencies))


class QueryNames:
    """The names of a route's query parameters.

    Parameters
    ----------
    names : collection of str
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self._name_of = {SYNONYMS[name]: name for name in names if name in SYNONYMS and SYNONYMS[name] not in names}

    def settle(self, given: QueryParams) -> bytes:
        """Return a query string in which every parameter has the name that the route knows.

        Raises
        ------
        HTTPException
            422: a parameter is unknown, or given twice; names the parameters that are allowed.
        """
        named = [
            (self._name_of.get(name, name), value)
            for name, value in given.multi_items()
            if not name.lower().startswith(_SIGNATURE)
        ]
        problems = [
            problem(["query", name], f"is not a parameter of this route; {self._allowed()}", "extra_forbidden")
            for name in dict(named)
            if name not in self._names
        ]
        for name, times in Counter(name for name, _ in named).items():
            if times > 1 and name in self._names:
                problems.append(problem(["query", name], self._twice(name, given), "value_error"))
        if problems:
            raise HTTPException(422, problems[:_MAX_NAMES])
        return urlencode(named).encode("ascii")

    def _allowed(self) -> str:
        return f"allowed are {', '.join(sorted(self._names))}" if self._names else "it takes none"

    def _twice(self, name: str, given: QueryParams) -> str:
        synonym = SYNONYMS.get(name)
        if synonym in given and name in given:
            return f"is given twice: {synonym} means the same"
        return "is given more than once"


_SIGNATURE = "x-amz-"
"""Parameters of a signed URL (SigV4), which the gateway reads."""

_MAX_NAMES = 20
"""Unknown parameters that an answer names."""
