"""Filters for the vector index, and projects that restrict (message-search, section 2)."""

from __future__ import annotations

import pytest
from skillroute.core.documents.model import IndexFilter
from skillroute.mail.search.facets import facets, index_filter
from skillroute.mail.search.model import MailFilter, MessageSearchRequest
from skillroute.mail.search.scope import within


def test_every_condition_has_its_place_in_the_index() -> None:
    where = MailFilter(
        "message", "acme", project_ids=(3, 1), importance=("low", "high"), sender="a", recipient="b", inbox="c",
        party="d", thread_id="T", ack_required=False, min_ts=1, max_ts=None,
    )  # fmt: skip

    assert index_filter(where) == IndexFilter(
        any_of={
            "kind": ["message"], "org_id": ["", "acme"], "project_ids": ["3", "1"], "importance": ("low", "high"),
            "sender": ["a"], "parties": ["d"], "thread_id": ["T"], "ack_required": ["false"],
        },
        all_of={"recipients": ("b", "c")},
        between={"created_ts": (1, None)},
    )  # fmt: skip


def test_without_conditions_kind_and_organisation_remain() -> None:
    assert index_filter(MailFilter("agent", None)) == IndexFilter({"kind": ["agent"], "org_id": [""]})


def test_no_projects_match_nothing() -> None:
    assert index_filter(MailFilter("message", None, project_ids=())).any_of["project_ids"] == []


@pytest.mark.parametrize(("senders", "contradict"), [(("BlueLake", "bluelake"), False), (("BlueLake", "RedFox"), True)])
def test_an_outbox_and_another_sender_contradict(senders: tuple[str, str], contradict: bool) -> None:
    request = MessageSearchRequest(agent_name=senders[0], direction="outbox", sender_name=senders[1])

    assert facets(request, None).contradict == contradict


@pytest.mark.parametrize(
    ("restrictions", "left"),
    [
        ((), None),
        ((None, None), None),
        (([1, 2],), (1, 2)),
        (([2, 1], None, (2, 3)), (2,)),
        (([1], [2]), ()),
        (([], [1]), ()),
    ],
)
def test_restrictions_to_projects_are_intersected(
    restrictions: tuple[list[int] | None, ...], left: tuple[int, ...] | None
) -> None:
    assert within(*restrictions) == left
