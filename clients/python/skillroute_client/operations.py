"""Methods that are defined once, as what they send, and serve both clients, each typed.

A method of a `Resource` that is decorated with `operation` returns a `Call`, or is a generator of several (`Calls`).
Looked up on a resource of `Sync`, it makes the call and returns the result; on one of `Async`, it returns a coroutine
of it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from skillroute_client.calls import Call, Calls
from skillroute_client.engines import Async, Engine, M, Sync
from skillroute_client.pages import AsyncPages, Listing, Pages

P = ParamSpec("P")
T = TypeVar("T")


class Resource(Generic[M]):
    """Operations of one kind of thing, made by an engine that waits in its own way."""

    def __init__(self, engine: Engine[M]) -> None:
        self._engine: Engine[M] = engine


class Operation(Generic[P, T]):
    """A method that makes one call, or several one after the other."""

    def __init__(self, define: Callable[Concatenate[Any, P], Call[T] | Calls[T]]) -> None:
        self._define = define
        self.__doc__ = define.__doc__

    @overload
    def __get__(self, resource: None, owner: Any) -> Self: ...
    @overload
    def __get__(self, resource: Resource[Sync], owner: Any) -> Callable[P, T]: ...
    @overload
    def __get__(self, resource: Resource[Async], owner: Any) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, resource: Any, owner: Any) -> Any:
        if resource is None:
            return self

        def run(*args: P.args, **kwargs: P.kwargs) -> Any:
            return resource._engine.run(self._define(resource, *args, **kwargs))

        return update_wrapper(run, self._define)


class PagedOperation(Generic[P, T]):
    """A method that lists, page after page."""

    def __init__(self, define: Callable[Concatenate[Any, P], Listing[T]]) -> None:
        self._define = define
        self.__doc__ = define.__doc__

    @overload
    def __get__(self, resource: None, owner: Any) -> Self: ...
    @overload
    def __get__(self, resource: Resource[Sync], owner: Any) -> Callable[P, Pages[T]]: ...
    @overload
    def __get__(self, resource: Resource[Async], owner: Any) -> Callable[P, AsyncPages[T]]: ...
    def __get__(self, resource: Any, owner: Any) -> Any:
        if resource is None:
            return self

        def run(*args: P.args, **kwargs: P.kwargs) -> Any:
            return resource._engine.pages(self._define(resource, *args, **kwargs))

        return update_wrapper(run, self._define)


def operation(define: Callable[Concatenate[Any, P], Call[T] | Calls[T]]) -> Operation[P, T]:
    """Make a method of what returns its call, or yields its calls."""
    return Operation(define)


def paged(define: Callable[Concatenate[Any, P], Listing[T]]) -> PagedOperation[P, T]:
    """Make a method of what returns its listing."""
    return PagedOperation(define)
