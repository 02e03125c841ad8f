"""Recomputing everything from the tables, and comparing it with what is stored and what the index holds."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from skillroute.core.documents.checks import MAX_FINDINGS, CheckRepository, Finding
from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.index.port import LentIndex, SearchedIndex
from skillroute.core.documents.model import HEAD, IndexFilter, IndexRecord
from skillroute.core.documents.replica_port import ChangeFeed, IndexReplica
from skillroute.core.documents.upkeep import stale_documents
from skillroute.core.postgres.database import Database

_EVERYTHING = 10_000_000
_PAGE = 500
_VECTORS = 2000  # an index gives no vector back, so each costs a search of 1 ms; of more items a part is tried
_ALIKE = 0.9999
_SAME = 100
_LOOKS = 5
_PAUSE_S = 0.05


Check = Callable[[Database], list[Finding]]


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """How many documents of each collection were checked, and what is wrong."""

    checked: Mapping[Collection, int]
    findings: Sequence[Finding]


class Verify:
    """Checks the rules that slices keep in their rows, and that the index says what PostgreSQL does.

    What is written while it runs is looked at again before it counts as a finding, and what is written at every look
    is none. While the index is being rebuilt, the new one is waited for.

    It only reads, and takes no locks.

    Of more than `_VECTORS` items a part is tried, always the same one.

    Parameters
    ----------
    database, feed, replica
    checks : sequence of callables
        Of slices: return what is wrong with their rows.
    pause : callable
        Waits so many seconds for an index that is being built.
    """

    def __init__(
        self,
        database: Database,
        feed: ChangeFeed,
        replica: IndexReplica,
        checks: Sequence[Check] = (),
        *,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._database = database
        self._feed = feed
        self._replica = replica
        self._checks = checks
        self._pause = pause

    def __call__(self) -> VerifyReport:
        """Check everything.

        Raises
        ------
        DatabaseUnavailable, IndexUnavailable
        """
        findings = [finding for check in self._checks for finding in check(self._database)]
        findings += [
            Finding(
                f"a document of {collection.value} is what its row says", key, "its organisation or payload differs"
            )
            for collection in collections()
            for page in stale_documents(self._database, collection)
            for key in page
        ]
        checked: dict[Collection, int] = {}
        for collection in collections():
            wrong, checked[collection] = self._compare(collection)
            findings += wrong
        return VerifyReport(checked, findings[:MAX_FINDINGS])

    def _compare(self, collection: Collection) -> tuple[list[Finding], int]:
        with self._replica.current() as index:
            doubtful, count = self._differences(index, collection, None)
        certain: list[Finding] = []
        for _ in range(_LOOKS):
            if not doubtful:
                break
            sure, doubtful = self._look_again(collection, [finding.subject for finding in doubtful])
            certain += sure
        if doubtful and self._replica.status().stale:
            certain.append(Finding(f"the index {collection.value} says what PostgreSQL does", "", "it is behind"))
        return sorted(certain, key=lambda finding: finding.subject), count

    def _look_again(self, collection: Collection, keys: Sequence[str]) -> tuple[list[Finding], list[Finding]]:
        """Compare some keys; return apart what nobody wrote between the index's look and ours, and the rest."""
        position = self._feed.poll(HEAD).position
        before = self._feed.poll(position)
        with self._replica.current():
            pass  # an index that must be rebuilt is from now on
        while (status := self._replica.status()).rebuilding and status.kind == "embedded":
            self._pause(_PAUSE_S)
        if status.stale:
            self._pause(_PAUSE_S)  # a writer, or the relay, is about to carry over what a server lacks
        with self._replica.current() as index:
            findings, _ = self._differences(index, collection, keys)
        after = self._feed.poll(position)
        if not findings or after.epoch != before.epoch or status.stale:
            return [], findings
        # The position stops at the oldest open transaction, so an old change may be on both pages: then it is the same.
        written = {(change.collection, change.key) for change in set(after.changes) - set(before.changes)}
        sure = [finding for finding in findings if (collection, finding.subject) not in written]
        return sure, [finding for finding in findings if (collection, finding.subject) in written]

    def _differences(
        self, index: LentIndex, collection: Collection, keys: Sequence[str] | None
    ) -> tuple[list[Finding], int]:
        """Compare the index with PostgreSQL, whole or for some keys only; return also how many were looked at."""
        every = 1
        if keys is None:
            active = self._database.read(lambda session: CheckRepository(session).active(collection))
            indexed = set(index.match(collection, where=IndexFilter(), limit=_EVERYTHING))
            keys = sorted(active | indexed)
            every = max(1, len(keys) // _VECTORS)
        findings = []
        for start in range(0, len(keys), _PAGE):
            page = keys[start : start + _PAGE]
            expected = {record.key: record for record in self._feed.load(collection, page, index.model)}
            indexed_payloads = index.payloads(collection, page)
            for key in page:
                record = expected.get(key)
                detail = _difference(record.payload if record else None, indexed_payloads.get(key))
                if detail is None and record is not None and zlib.crc32(key.encode()) % every == 0:
                    detail = _vector_difference(index, collection, record)
                if detail:
                    findings.append(Finding(f"the index {collection.value} says what PostgreSQL does", key, detail))
        return findings, len(keys)


def _vector_difference(index: SearchedIndex, collection: Collection, record: IndexRecord) -> str | None:
    """Search with a record's own vector: it must be found, among others that say the same."""
    if record.vector is None:
        return None
    # One that does not say whose it is breaks a rule already, and is found among all.
    where = IndexFilter({"org_id": [str(record.payload["org_id"])]} if "org_id" in record.payload else {})
    hits = index.search(collection, record.vector, where=where, limit=_SAME, threshold=_ALIKE)
    found = any(hit.key == record.key for hit in hits) or len(hits) == _SAME
    return None if found else "its vector is another one"


def _difference(expected: object, indexed: object) -> str | None:
    if expected is None and indexed is None:
        return None
    if expected is None:
        return "it is in the index, but should not be"
    if indexed is None:
        return "it is not in the index"
    assert isinstance(expected, dict) and isinstance(indexed, dict)  # noqa: S101 (payloads are)
    wrong = sorted(name for name in expected if indexed.get(name) != expected[name])
    return f"it differs in {', '.join(wrong)}" if wrong else None
