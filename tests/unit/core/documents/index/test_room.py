"""Whether there is room for a replica, told before one is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from skillroute.core.documents.index.room import SPARE_BYTES, Room
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexNoRoom
from skillroute.core.observability import counts

MODEL = EmbeddingModel("some", 384)
MIB = 2**20


@pytest.mark.parametrize(("free_mib", "fits"), [(63, False), (64 + 3, False), (64 + 300, True)])
def test_a_replica_needs_its_records_and_leaves_some_to_spare(tmp_path: Path, free_mib: int, fits: bool) -> None:
    room = Room(tmp_path / "not there" / "yet", free=lambda _: free_mib * MIB)
    before = counts().get("IndexNoRoom", 0)
    if fits:
        room.for_new(1_000, MODEL)
    else:
        with pytest.raises(IndexNoRoom, match=r"has \d+ MB left, and the index needs \d+ MB .*SKILLROUTE_INDEX_DIR"):
            room.for_new(1_000, MODEL)
    assert counts().get("IndexNoRoom", 0) == before + (not fits)


def test_more_of_it_is_asked_for_as_records_are_more() -> None:
    room = Room(None, free=lambda _: SPARE_BYTES + 5 * MIB)
    room.for_more(1_000, MODEL)
    with pytest.raises(IndexNoRoom):
        room.for_more(2_000, MODEL)


def test_it_is_of_the_disk_of_the_nearest_folder_that_is_there(tmp_path: Path) -> None:
    asked: list[Path] = []

    def free(path: Path) -> int:
        asked.append(path)
        return 2**40

    Room(tmp_path / "a" / "b", free).for_more(1, MODEL)
    assert asked == [tmp_path]
