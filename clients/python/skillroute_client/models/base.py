"""The base of all answer models."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, PrivateAttr


class Answer(BaseModel):
    """Something that Skillroute answered.

    Fields that this client does not know are kept (`model_extra`), and those that an older Skillroute does not have
    are None or empty. Names of states and kinds are plain strings, for there may be more of them tomorrow.
    """

    model_config = ConfigDict(extra="allow", populate_by_name=True, protected_namespaces=())

    _etag: str | None = PrivateAttr(default=None)
    _is_repeated: bool = PrivateAttr(default=False)

    @property
    def etag(self) -> str | None:
        """The version as ``ETag`` has it, for `if_match`; None where the answer has none, as in lists."""
        return self._etag

    @property
    def is_repeated(self) -> bool:
        """Whether the call was sent again after an attempt that may have been carried out, whose answer was lost.

        Of a write that came first, `unchanged` may mean that the lost attempt created it.
        """
        return self._is_repeated

    def mark_repeated(self) -> None:
        """Note that the call was sent again."""
        self._is_repeated = True

    def with_etag(self, etag: str | None) -> Self:
        """Return this answer, which remembers its version."""
        self._etag = etag
        return self
