"""Requests that a language model wrote, checked and stored with their tools (docs/adr/0067)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skillroute.catalogue.model import are_peoples
from skillroute.catalogue.set_requests import RequestsOfItem, SetRequests
from skillroute.core.observability import Metric, count, logger
from skillroute.skills.classification.model import ToolProfile
from skillroute.skills.tool_requests.checks import Dropped, Read, read_requests
from skillroute.skills.tool_requests.drafted import Drafted
from skillroute.skills.tool_requests.nearest import NearestTools


@dataclass(frozen=True, slots=True)
class WrittenRequests:
    """The result of writing requests.

    Attributes
    ----------
    kept : mapping of int to tuple of str
        The requests that were stored, by the tool's id.
    dropped : Counter of Dropped
    """

    kept: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    dropped: Counter[Dropped] = field(default_factory=Counter)


class WriteRequests:
    """Checks what a language model wrote for tools, and stores what is left.

    Parameters
    ----------
    nearest : NearestTools
    store : SetRequests
    """

    def __init__(self, nearest: NearestTools, store: SetRequests) -> None:
        self._nearest = nearest
        self._store = store

    def require_ready(self) -> None:
        """See that requests could be checked now. Raises `DependencyUnavailable`."""
        self._nearest.require_ready()

    def __call__(self, drafted: Sequence[Drafted], org_id: str | None) -> WrittenRequests:
        """Write the requests of an organisation's own tools; people's stay.

        Raises
        ------
        EmbeddingUnavailable, IndexUnavailable, DatabaseUnavailable
            They cannot be checked, or not be stored: none was written.
        """
        read = [read_requests(one.requests, one.tool) for one in drafted]
        dropped = sum((one.dropped for one in read), Counter[Dropped]())
        wanted, of_check = self._checked(drafted, read, org_id)
        dropped += of_check
        # As they are now: what they said when the model was asked is compared with it.
        items = self._store.items(list(wanted), org_id)
        hashes = {one.tool.id: one.tool for one in drafted}
        current = [
            RequestsOfItem(item, wanted[id_])
            for id_, item in items.items()
            if _says(hashes[id_], item.content.description, item.content.input_schema)
            and not are_peoples(item.content.requests)
        ]
        stored = self._store(current, org_id) if current else set()
        kept = {id_: texts for id_, texts in wanted.items() if id_ in stored and texts}
        dropped[Dropped.OVERTAKEN] += sum(len(texts) for id_, texts in wanted.items() if id_ not in stored)
        _count(kept, +dropped)
        return WrittenRequests(kept, +dropped)

    def _checked(
        self, drafted: Sequence[Drafted], read: Sequence[Read], org_id: str | None
    ) -> tuple[dict[int, tuple[str, ...]], Counter[Dropped]]:
        """Return the requests that tools are to have, by id, and how many lead elsewhere.

        A tool that none is left for keeps what it has, unless that was written for another text.
        """
        some = [(one, found.texts) for one, found in zip(drafted, read, strict=True) if found.texts]
        judged = self._nearest([(one.tool, texts) for one, texts in some], org_id) if some else []
        kept = {one.tool.id: each.kept for (one, _), each in zip(some, judged, strict=True)}
        dropped = Counter({
            Dropped.STRAY: sum(each.strays for each in judged),
            Dropped.MALFORMED: sum(each.refused for each in judged),
        })  # fmt: skip
        wanted = {one.tool.id: kept.get(one.tool.id, ()) for one in drafted}
        emptied = {one.tool.id for one in drafted if one.is_other_text}
        return {id_: texts for id_, texts in wanted.items() if texts or id_ in emptied}, dropped


def _says(tool: ToolProfile, description: str, input_schema: Mapping[str, object] | None) -> bool:
    return (tool.description, tool.input_schema) == (description, input_schema)


def _count(kept: Mapping[int, tuple[str, ...]], dropped: Counter[Dropped]) -> None:
    count(Metric.REQUESTS_WRITTEN, sum(map(len, kept.values())))
    if dropped:
        count(Metric.REQUESTS_DROPPED, dropped.total())
        logger.info("requests of tools dropped", extra={reason.name.lower(): n for reason, n in dropped.items()})
