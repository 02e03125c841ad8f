"""Runs the steps of `doctor.examination` over the command line's client."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import TypeVar, assert_never

from skillroute_local.client import Client
from skillroute_local.doctor.examination import (
    Progress,
    ReadFile,
    ReadPage,
    Rows,
    SearchBatch,
    Searched,
    Step,
    Steps,
    reading,
    searching,
)
from skillroute_local.doctor.model import Catalogue, Tool
from skillroute_local.errors import Refused

T = TypeVar("T")


def read_catalogue(client: Client) -> Catalogue:
    """Read the active items, skills and Agent Skills that the caller sees. Needs scope search. Raises `LocalError`."""
    return _carried_out(reading(), client)


def search_for(client: Client, tools: Iterable[Tool], progress: Progress = lambda _: None) -> Searched:
    """Search for each tool by its description; those without one are left out. Raises `LocalError`."""
    return _carried_out(searching(tools, progress), client)


def _carried_out(steps: Steps[T], client: Client) -> T:
    rows: Rows | None = None
    while True:
        try:
            step = steps.send(rows)
        except StopIteration as end:
            result: T = end.value
            return result
        rows = _answer(client, step)


def _answer(client: Client, step: Step) -> Rows:
    match step:
        case ReadPage(resource, limit, offset):
            return client.page(resource, limit=limit, offset=offset, where={})[0]
        case ReadFile(agent_skill_id, digest):
            try:
                content = client.agent_skill_file(agent_skill_id, digest)
            except Refused as error:
                if error.status != HTTPStatus.NOT_FOUND:
                    raise
                return []
            return [{"text": content.decode("utf-8", "replace")}]
        case SearchBatch(searches):
            return client.search_batch(searches)
        case _:
            assert_never(step)
