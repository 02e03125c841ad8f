"""What agents asked `connect` for is kept with what became of the calls, without secrets and for a time."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from skillroute.core.settings import ReceiptSettings
from skillroute.learning.receipts.rows import masked, query_hash
from skillroute_local.connect.store import connected
from skillroute_local.connect.use import Asked, ShownItem, Use

from tests.worlds.used import used

SENT, READ = ShownItem("mail/send", "h1", 0.9), ShownItem("mail/read", "h2", 0.4)
ASKED = [Asked("send a mail, password=hunter2", [SENT, READ], no_match=False)]


def use_at(path: Path, now: float = 0.0, **settings: Any) -> Use:
    return Use(path, ReceiptSettings(**settings), lambda: now)


def test_an_outcome_is_of_the_last_search_that_showed_the_item_to_the_session(tmp_path: Path) -> None:
    use = use_at(tmp_path / "file")
    first = use.searched("ann", ASKED, ["mail/send", "mail/read"])
    second = use.searched("ann", ASKED, ["mail/send"])
    of_another = use.searched("bob", ASKED, ["mail/read"])
    use.noted("ann", "mail/send")("succeeded")
    use.noted("ann", "mail/read")("failed")
    use.noted("bob", "mail/send")("succeeded")  # was never shown to it
    outcomes = {one.search_id: one.outcomes for one in used(use, tmp_path / "file")}
    assert outcomes == {first: {"mail/read": "failed"}, second: {"mail/send": "succeeded"}, of_another: {}}


def test_what_was_shown_is_kept_and_secrets_are_not(tmp_path: Path) -> None:
    use = use_at(tmp_path / "file", 5.0)
    search_id = use.searched("", [*ASKED, Asked("nothing", [], no_match=True)], ["mail/send", "mail/read"])
    first, second = used(use, tmp_path / "file")
    assert (first.search_id, first.nth, first.asked_at, first.shown) == (search_id, 0, 5.0, [SENT, READ])
    assert first.query is not None
    assert "hunter2" not in first.query
    assert "send a mail" in first.query
    assert (second.nth, second.query, second.no_match) == (1, "nothing", True)
    assert b"hunter2" not in (tmp_path / "file").read_bytes()


@pytest.mark.parametrize("receipts", ["on", "without-texts"])
def test_addresses_and_secrets_in_wide_letters_stay_out_of_the_file(tmp_path: Path, receipts: str) -> None:
    path, text = tmp_path / "file", "mail jo@example.org, ｐａｓｓｗｏｒｄ＝hunter2x"
    use = use_at(path, receipts=receipts)
    use.searched("", [Asked(text, [SENT], no_match=False)], ["mail/send"])
    [search] = used(use, tmp_path / "file")
    assert search.query == (masked(text) if receipts == "on" else None)
    with closing(connected(path)) as database:
        assert database.execute("SELECT query_hash FROM receipts").fetchone() == (query_hash(masked(text), None),)
        written = "\n".join(database.iterdump())
    assert not [word for word in ("jo@", "example.org", "hunter2x") if word in written]


def test_a_call_that_did_not_end_was_called(tmp_path: Path) -> None:
    use = use_at(tmp_path / "file")
    use.searched("", ASKED, ["mail/send"])
    use.noted("", "mail/send")
    [search] = used(use, tmp_path / "file")
    assert search.outcomes == {"mail/send": "called"}


def test_texts_can_be_left_out(tmp_path: Path) -> None:
    use = use_at(tmp_path / "file", receipts="without-texts")
    use.searched("", ASKED, ["mail/send"])
    [search] = used(use, tmp_path / "file")
    assert (search.query, search.shown) == (None, [SENT, READ])


def test_what_is_too_old_is_deleted_at_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "file"
    old = use_at(path, 0.0, receipts_days=1)
    old.searched("", ASKED, ["mail/send"])
    old.noted("", "mail/send")("succeeded")
    assert len(used(old, path)) == 1
    new = use_at(path, 24 * 3600.0 + 1, receipts_days=1)
    latest = new.searched("", ASKED, [])
    assert [one.search_id for one in used(new, path)] == [latest]
    with closing(connected(path)) as database:
        assert database.execute("SELECT count(*) FROM outcomes").fetchone() == (0,)


def test_a_file_that_cannot_be_written_only_loses_what_was_to_be_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"no database, but long enough to be taken for a damaged one" * 20)
    use = use_at(tmp_path / "file")
    with caplog.at_level(logging.WARNING):
        use.searched("", ASKED, ["mail/send"])
        use.noted("", "mail/send")("succeeded")
        use.flush()
    assert "cannot be written" in caplog.text
