"""Naming schemas, and refusing two of one name."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from fastapi import APIRouter, Depends, FastAPI
from pydantic import BaseModel, Field
from skillroute.core.caller import Scope
from skillroute.core.http.app import create_app
from skillroute.core.http.auth import open_access
from skillroute.core.input.shown_as import ShownAs
from skillroute_local.api_document.document import api_document


class Point(BaseModel):
    """A point."""

    x: int = Field(description="How far to the right.")


class Other(BaseModel):
    """Something else."""

    y: int = Field(description="How far up.")


class Several(BaseModel):
    """Points."""

    points: list[Annotated[Any, ShownAs(Point, "Place")]] = Field(description="They.")


class Conflicting(Several):
    """Points, and what is called like them."""

    others: list[Annotated[Any, ShownAs(Other, "Place")]] = Field(description="They.")


def document_of(router: APIRouter) -> dict[str, Any]:
    app: FastAPI = create_app([router])
    return api_document(app, [router])


def test_what_is_checked_later_is_a_component_by_its_title() -> None:
    router = APIRouter(tags=["search"])

    @router.put("/points")
    def put_points(body: Several) -> None:
        """Write points."""

    schemas = document_of(router)["components"]["schemas"]
    assert schemas["Several"]["properties"]["points"]["items"] == {"$ref": "#/components/schemas/Place"}
    assert schemas["Place"]["required"] == ["x"]


def test_what_names_the_thing_of_a_path_may_be_left_out() -> None:
    router = APIRouter(tags=["search"])

    @router.put("/points/{x}")
    def put_point(x: int, body: Annotated[dict[str, Any], ShownAs(Point, "PointOfPath", of_path=True)]) -> None:
        """Write a point."""

    schema = document_of(router)["components"]["schemas"]["PutPointRequest"]
    assert "required" not in schema
    assert schema["description"] == "A point. What names it may be left out."


def test_two_schemas_of_one_name_are_refused() -> None:
    router = APIRouter(tags=["search"])

    @router.put("/points")
    def put_points(body: Conflicting) -> None:
        """Write points."""

    with pytest.raises(ValueError, match="two schemas of the API are called Place"):
        document_of(router)


def test_two_operations_of_one_name_are_refused() -> None:
    router = APIRouter(tags=["search"])

    @router.get("/points")
    def list_points() -> None:
        """Return points."""

    @router.get("/other/points", name="list_points")
    def list_others() -> None:
        """Return others."""

    both = "GET /points and GET /other/points are both called list_points"
    with pytest.warns(UserWarning, match="Duplicate Operation ID"), pytest.raises(ValueError, match=both):
        document_of(router)


def test_an_operation_names_the_scope_of_its_guard() -> None:
    router = APIRouter(tags=["search"])

    @router.get("/points", dependencies=[Depends(open_access().require(Scope.CATALOG))])
    def list_points() -> None:
        """Return points."""

    operation = document_of(router)["paths"]["/points"]["get"]
    assert operation["security"] == [{"token": ["catalog"]}, {"signature": ["catalog"]}]
