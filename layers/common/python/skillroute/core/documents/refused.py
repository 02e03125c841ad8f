"""Texts that the embedding model refused for good: listed with the reason, and asked for once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillroute.core.documents.collection import Collection, collection_named
from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database


@dataclass(frozen=True, slots=True)
class RefusedText:
    """A document without a vector, which it will not get by itself.

    Attributes
    ----------
    org_id : str or None
        Whose it is; None when it is global.
    name : str or None
        What people know it by, where it has a name.
    reason : str
        The model's answer. For operators only: it repeats what the model's server said.
    """

    collection: Collection
    key: str
    org_id: str | None
    name: str | None
    model: str
    reason: str


class RefusedTexts:
    """The texts that a model in use refuses, of all organisations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def listed(self, collection: Collection | None = None, *, limit: int = 100) -> list[RefusedText]:
        """Return refused texts by collection and key. Raises `DatabaseUnavailable`."""
        rows = self._database.read(
            lambda session: session.run("refused_texts", collection=collection and collection.value, limit=limit)
        )
        return [RefusedText(collection_named(name), *columns) for name, *columns in rows]

    def count(self) -> int:
        """Return how many there are. Raises `DatabaseUnavailable`."""
        number: int = self._database.read(lambda session: session.run("count_refused_texts"))[0][0]
        return number

    def retry(self, collection: Collection | None = None, keys: Sequence[str] | None = None) -> list[str]:
        """Let refused texts wait for a vector again, all of them without `keys`; return which. The relay asks for them.

        Raises `DatabaseUnavailable`.
        """
        given = {"collection": collection and collection.value, "keys": None if keys is None else list(keys)}
        rows = self._database.transact(lambda session: session.run("retry_refused_texts", **given))
        retried = sorted(row[0] for row in rows)
        logger.info("refused texts wait for a vector again", extra={"keys": retried})
        return retried
