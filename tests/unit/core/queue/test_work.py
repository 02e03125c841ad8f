"""The queues that the slices declare."""

from __future__ import annotations

import copy
import pickle

import pytest
from skillroute.core.queue.work import WorkQueue, queue_named, queues


def test_every_slice_declares_its_own() -> None:
    assert queues() == ("classify", "aggregate", "learn")
    assert [each.holds for each in queues()] == ["tools", "skills", "organisations"]


def test_one_is_found_by_its_name() -> None:
    assert queue_named("aggregate") is queues()[1]
    with pytest.raises(KeyError):
        queue_named("unknown")


@pytest.mark.parametrize("queue", queues())
def test_a_copy_is_the_same_queue(queue: WorkQueue) -> None:
    """What commands and the console print is copied first."""
    assert pickle.loads(pickle.dumps(queue)) is queue
    assert copy.deepcopy(queue) is queue


@pytest.mark.parametrize("queue", queues())
def test_a_key_is_read_back_from_its_message(queue: WorkQueue) -> None:
    key = {"classify": "7", "aggregate": "files/acme", "learn": "org/acme"}[queue]
    assert queue.key_of(queue.value_of(key)) == key
