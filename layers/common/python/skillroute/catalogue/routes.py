"""`/api/v1/tools`: the catalogue."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Response
from pydantic import AfterValidator

from skillroute.catalogue.answers import ItemBody, ItemOut, UpsertBody, UpsertResponse
from skillroute.catalogue.bodies import DeleteRequest, DeleteResponse, ItemPatch
from skillroute.catalogue.delete_many import DeleteItems
from skillroute.catalogue.model import Item, ItemFilter, ItemType
from skillroute.catalogue.read import Catalogue
from skillroute.catalogue.switch import SwitchItem
from skillroute.catalogue.sync import SyncTools
from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import BulkJsonRoute
from skillroute.core.http.bulk_answers import DryRun
from skillroute.core.http.docs import CONFLICT, ERRORS, NOT_FOUND
from skillroute.core.http.listing import LIST_DOC, STATES, Listing, StateQuery, listing_of
from skillroute.core.http.paging import ItemId
from skillroute.core.http.use_cases import given, require
from skillroute.core.http.versions import STALE, VERSIONED, IfMatch, tell_version
from skillroute.core.input.text_fields import Text
from skillroute.core.listing import Cursor

_MAX_ID_LENGTH = 64


def _short_ids(skill_ids: str) -> str:
    ids = [skill_id.strip() for skill_id in skill_ids.split(",")]
    if any(len(skill_id) > _MAX_ID_LENGTH for skill_id in ids):
        raise ValueError(f"no skill has an id of more than {_MAX_ID_LENGTH} characters")
    return ",".join(filter(None, ids))


ItemSort = Literal["id", "-id", "name", "-name", "updated_at", "-updated_at"]
ItemListing = Annotated[Listing, Depends(listing_of(ItemSort, "id"))]
SkillIds = Annotated[Text, AfterValidator(_short_ids)]
Approve = Annotated[bool, Query(description="Approves the definitions of what is written, as the caller.")]
TryToDelete = Annotated[bool, Query(description="Deletes nothing: the answer says what would become of each.")]


router = APIRouter(prefix="/api/v1/tools", tags=["catalogue"], route_class=BulkJsonRoute, responses=ERRORS)

AsWriter = Annotated[Caller, Depends(require(Scope.CATALOG))]
AsReader = Annotated[Caller, Depends(require(Scope.SEARCH))]
Sync = Annotated[SyncTools, given(SyncTools)]
Items = Annotated[Catalogue, given(Catalogue)]


@router.put("", summary="Create or change up to 500 items")
def put_tools(
    body: UpsertBody, caller: AsWriter, sync: Sync, dry_run: DryRun = False, approve: Approve = False
) -> UpsertResponse:
    """Write items; each is judged on its own, and the answer says what became of it.

    An item is the same one when organisation, server, type and name are. Unchanged items are left alone.
    """
    return UpsertResponse.of(sync(body.items, caller, dry_run=dry_run, approves=approve))


@router.get("", response_model=list[ItemOut], summary="List items", responses=LIST_DOC)
def list_tools(
    caller: AsReader,
    catalogue: Items,
    page: ItemListing,
    type: ItemType | None = None,  # noqa: A002 (the parameter's name in the API)
    server: Annotated[Text | None, Query(max_length=256)] = None,
    name: Annotated[Text | None, Query(max_length=256)] = None,
    tag: Annotated[Text | None, Query(max_length=64)] = None,
    skill_id: Annotated[
        SkillIds | None,
        Query(max_length=10_000, description="Comma-separated; an item of any of them is shown."),
    ] = None,
    is_active: StateQuery = "all",
) -> Response:
    """Return a page of items by id, or in another order; all conditions must hold."""
    where = ItemFilter(type=type, server=server, name=name, tag=tag, skill_id=skill_id, is_active=STATES[is_active])
    found = catalogue.listed(where, caller, page.order, limit=page.limit, offset=page.offset)

    def cursor(place: int) -> Cursor:
        item = found.rows[place]
        return page.order.cursor(item.id, name=item.content.key.name, updated_at=item.updated_at)

    return page.listed(list(map(ItemOut.of, found.rows)), cursor, found.total, found.remaining)


@router.post("/delete", summary="Delete up to 500 items, or a server's")
def delete_tools(
    body: DeleteRequest,
    caller: AsWriter,
    delete: Annotated[DeleteItems, given(DeleteItems)],
    dry_run: TryToDelete = False,
) -> DeleteResponse:
    """Delete items by their ids, or those that name a server, 1,000 a call; the answer says what became of each.

    Their skill assignments and open suggestions go with them, and the next search no longer finds them.
    """
    if body.server is None:
        return DeleteResponse.of(delete.of_ids(body.ids or [], caller, dry_run=dry_run))
    outcomes, more = delete.of_server(body.server, body.type, caller, dry_run=dry_run)
    return DeleteResponse.of(outcomes, more=more)


@router.get("/{item_id}", summary="Get an item", responses=VERSIONED | NOT_FOUND)
def get_tool(item_id: ItemId, caller: AsReader, catalogue: Items, response: Response) -> ItemOut:
    """Return an item with its schemas and skills."""
    return _shown(catalogue.get(item_id, caller), response)


@router.put("/{item_id}", summary="Replace an item", responses=VERSIONED | NOT_FOUND | STALE)
def put_tool(
    item_id: ItemId,
    body: ItemBody,
    caller: AsWriter,
    sync: Sync,
    response: Response,
    expected: IfMatch,
    approve: Approve = False,
) -> ItemOut:
    """Replace an item; its server, type and name stay. What is stored already changes nothing."""
    return _shown(sync.one(item_id, body, caller, expected, approves=approve), response)


@router.patch("/{item_id}", summary="Switch an item off or on", responses=VERSIONED | NOT_FOUND | CONFLICT | STALE)
def patch_tool(
    item_id: ItemId,
    body: ItemPatch,
    caller: AsWriter,
    switch: Annotated[SwitchItem, given(SwitchItem)],
    response: Response,
    expected: IfMatch,
) -> ItemOut:
    """Switch an item off or on: one that is off is in lists, with its skills, and in no search."""
    return _shown(switch(item_id, caller, is_active=body.is_active, expected=expected), response)


@router.delete("/{item_id}", status_code=204, summary="Delete an item", responses=NOT_FOUND | STALE)
def delete_tool(item_id: ItemId, caller: AsWriter, catalogue: Items, expected: IfMatch) -> None:
    """Delete an item and its skill assignments; the next search no longer finds it."""
    catalogue.delete(item_id, caller, expected)


def _shown(item: Item, response: Response) -> ItemOut:
    tell_version(response, item.version)
    return ItemOut.of(item)
