"""Rows of receipts."""

from __future__ import annotations

from base64 import b64decode
from datetime import UTC, datetime
from uuid import UUID

import pytest
from skillroute.core.caller import Caller, Scope
from skillroute.core.embedding.model import EmbeddingModel, from_bytes
from skillroute.learning.receipts.rows import RowMaker, masked, noted, query_hash
from skillroute.search.receipts import SearchedText, SearchReceipt, Shown

ID = UUID(int=1)
AT = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
MEMBER = Caller(org_id="a", name="jo")


def receipt(*texts: str, caller: Caller = MEMBER, vector: list[float] | None = None) -> SearchReceipt:
    shown = [Shown(7, "f" * 64, 0.123456), Shown(8, "e" * 64, None)]
    searched = [SearchedText(text, vector, shown, no_match=False) for text in texts]
    return SearchReceipt(ID, caller, "http", AT, EmbeddingModel("m", 2), searched)


def test_a_row_has_what_was_asked_and_shown() -> None:
    [row] = map(RowMaker(True, "administrators"), noted(receipt("Send  mail", vector=[0.5, -1.0])))
    assert from_bytes(b64decode(row.pop("vector"))) == [0.5, -1.0]
    caller = row.pop("caller")
    assert len(caller) == 32
    assert "jo" not in caller
    assert row == {
        "search_id": str(ID), "nth": 0, "org_id": "a", "may_teach": True, "door": "http",
        "asked_at": "2026-11-27T12:00:00+00:00", "query": "Send  mail", "query_hash": query_hash("send mail", "a"),
        "model": "m (2 dimensions)", "shown": [[7, "f" * 64, 0.1235], [8, "e" * 64, None]], "no_match": False,
    }  # fmt: skip


def test_texts_can_be_left_out_and_their_hash_stays() -> None:
    [row] = map(RowMaker(False, "administrators"), noted(receipt("send mail")))
    assert (row["query"], row["query_hash"]) == (None, query_hash("send mail", "a"))


@pytest.mark.parametrize("has_texts", [True, False])
def test_no_guess_of_a_secret_can_be_checked_by_the_hash(has_texts: bool) -> None:
    texts = ("log in with password=hunter2", "log in with password=letmein", "log in with ｐａｓｓｗｏｒｄ＝hunter3")
    rows = [*map(RowMaker(has_texts, "administrators"), noted(receipt(*texts)))]
    assert {row["query_hash"] for row in rows} == {query_hash(masked(texts[0]), "a")}


def test_one_without_a_vector_names_no_model() -> None:
    [row] = map(RowMaker(True, "administrators"), noted(receipt("x")))
    assert (row["model"], row["vector"]) == (None, None)


def test_texts_are_numbered_in_their_order() -> None:
    rows = [*map(RowMaker(True, "administrators"), noted(receipt("x", "y")))]
    assert [(row["nth"], row["query"]) for row in rows] == [(0, "x"), (1, "y")]


@pytest.mark.parametrize(
    ("caller", "source", "teaches"),
    [
        (Caller(), "administrators", False),
        (Caller(), "everyone", True),
        (Caller(scopes=frozenset({Scope.ADMIN})), "administrators", True),
    ],
)
def test_who_teaches_the_global_catalogue_is_a_setting(caller: Caller, source: str, teaches: bool) -> None:
    make_row = RowMaker(True, "everyone" if source == "everyone" else "administrators")
    assert make_row(noted(receipt("x", caller=caller))[0])["may_teach"] is teaches


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("mail jo.doe+x@mail.example.org now", "mail  …  now"),
        ("mail ｊｏ＠example.org", "mail  … "),
        ("use password=hunter2 there", "use password= …  there"),
        ("what is @types/node", "what is @types/node"),
        ("half \ud83d a pair", "half ? a pair"),
    ],
)
def test_secrets_and_addresses_are_masked(text: str, kept: str) -> None:
    assert masked(text) == kept


def test_a_long_text_without_an_address_takes_no_time_that_grows_with_its_square() -> None:
    assert masked("a." * 500) == "a." * 500


def test_hashes_of_two_organisations_never_match() -> None:
    assert len({query_hash("x", org) for org in ("a", "b", None)}) == 3
    assert query_hash("Straße\n 1", None) == query_hash(" strasse 1 ", None)
