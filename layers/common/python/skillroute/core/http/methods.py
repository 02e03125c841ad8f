"""The methods that a path has: of all its routes together, where Starlette names those of the first one."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute, Route


class PathMethods:
    """Looks up which methods a path has.

    A path that a route has to the letter is no id of another one: ``/skills/suggestions`` is no skill.

    Parameters
    ----------
    routes : sequence of BaseRoute
        All of an app, none within another one.
    """

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self._routes = [
            (route.path, route.path_regex, route.methods or set()) for route in routes if isinstance(route, Route)
        ]

    def allow(self, path: str) -> str:
        """Return the header `Allow` for a path, HEAD included where GET is; empty where nothing has the path."""
        own = [methods for its, _, methods in self._routes if its == path]
        found = set().union(*(own or (methods for _, pattern, methods in self._routes if pattern.match(path))))
        return ", ".join(sorted(found | ({"HEAD"} if "GET" in found else set())))
