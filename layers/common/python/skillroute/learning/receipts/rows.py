"""Rows of receipts: texts without secrets and addresses, hashes, and vectors as bytes."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from skillroute.core.embedding.model import to_bytes
from skillroute.core.input.encodable import encodable
from skillroute.core.input.normal_form import nfkc
from skillroute.core.input.secret_masking import MASK, without_secrets
from skillroute.learning.model import caller_hash, may_teach
from skillroute.search.receipts import SearchedText, SearchReceipt

_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[\w-]{2,63}")


class Noted(NamedTuple):
    """A text of a search as it waits to be written: 2 KB of it are its vector, in the bytes that are stored.

    As a list of numbers it would be eight times that, for as long as PostgreSQL is unavailable.
    """

    receipt: SearchReceipt
    nth: int
    text: SearchedText
    vector: bytes | None


def noted(receipt: SearchReceipt) -> list[Noted]:
    """Return the texts of a receipt, in order."""
    return [
        Noted(receipt, nth, text._replace(vector=None), None if text.vector is None else to_bytes(text.vector))
        for nth, text in enumerate(receipt.texts)
    ]


def query_hash(text: str, org_id: str | None) -> str:
    """Return the hash of a masked text that is the same for other spacing and case, and another for each organisation.

    Of a text with its secrets it would say whether a guess of them is right.

    Examples
    --------
    >>> query_hash("Send  mail", "a") == query_hash("send mail", "a"), query_hash("x", "a") == query_hash("x", None)
    (True, False)
    """
    of_org = f"{'' if org_id is None else org_id}\0{' '.join(text.split()).casefold()}"
    return hashlib.sha256(of_org.encode("utf-8", "surrogatepass")).hexdigest()


def masked(text: str) -> str:
    """Return a text without what looks like a secret or an e-mail address.

    Examples
    --------
    >>> masked("mail jo@example.org the password=hunter2")
    'mail  …  the password= … '
    """
    return _ADDRESS.sub(MASK, without_secrets(nfkc(encodable(text))))


@dataclass(frozen=True, slots=True)
class RowMaker:
    """Makes the rows of what was noted.

    Attributes
    ----------
    has_texts : bool
        Keep the texts, not their hashes and vectors alone.
    learn_global_from : str
        See `may_teach`.
    """

    has_texts: bool
    learn_global_from: Literal["administrators", "everyone"]

    def __call__(self, one: Noted) -> dict[str, Any]:
        """Return the columns of a row, as `add_receipts` reads them."""
        receipt, text = one.receipt, one.text
        caller, query = receipt.caller, masked(text.text)
        return {
            "search_id": str(receipt.search_id),
            "nth": one.nth,
            "org_id": caller.org_id,
            "caller": caller_hash(caller),
            "may_teach": may_teach(caller, self.learn_global_from),
            "door": receipt.door,
            "asked_at": receipt.asked_at.isoformat(),
            "query": query if self.has_texts else None,
            "query_hash": query_hash(query, caller.org_id),
            "model": None if one.vector is None else str(receipt.model),
            "vector": None if one.vector is None else b64encode(one.vector).decode("ascii"),
            "shown": [
                [tool_id, content_hash, None if probability is None else round(probability, 4)]
                for tool_id, content_hash, probability in text.shown
            ],
            "no_match": text.no_match,
        }
