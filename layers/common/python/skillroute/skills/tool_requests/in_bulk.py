"""Requests for the tools that are there, by a language model: a few calls at a time, each stored as it comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from skillroute.core.chat.port import ChatModel
from skillroute.core.postgres.database import Database
from skillroute.skills.classification.classifiers.prompt import PROMPT_TOKENS
from skillroute.skills.classification.model import ToolProfile
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.tool_requests.ask import TOOLS_A_CALL, Estimate, ask, calls_for
from skillroute.skills.tool_requests.checks import Dropped
from skillroute.skills.tool_requests.drafted import Drafted
from skillroute.skills.tool_requests.write import WriteRequests

_PAGE = 500


@dataclass(frozen=True, slots=True)
class WantedTools:
    """Which tools requests are to be written for.

    Attributes
    ----------
    again : bool
        Those too that a language model alone wrote requests for; theirs are replaced.
    """

    org_id: str | None = None
    server: str | None = None
    limit: int | None = None
    again: bool = False


@dataclass(slots=True)
class BulkReport:
    """The outcome of tools and of the requests that were written for them."""

    tools: int = 0
    requests: int = 0
    unanswered: int = 0
    none_kept: int = 0
    dropped: Counter[Dropped] = field(default_factory=Counter)


class RequestsInBulk:
    """Has a language model write requests for tools that have none.

    Each round is stored before the next is asked for: an interrupted run costs the calls of one round, and the next run
    goes on, as tools that have requests are passed over.

    Parameters
    ----------
    database : Database
    write : WriteRequests
    max_prompt_tokens : int
        How long a prompt may be.
    """

    def __init__(self, database: Database, write: WriteRequests, *, max_prompt_tokens: int = PROMPT_TOKENS) -> None:
        self._database = database
        self._write = write
        self._max_prompt_tokens = max_prompt_tokens

    def find(self, wanted: WantedTools) -> list[int]:
        """Return the tools that requests are to be written for. Raises `DatabaseUnavailable`."""
        return self._database.read(
            lambda session: ClassificationRepository(session).without_requests(
                wanted.org_id, wanted.server, again=wanted.again, limit=wanted.limit
            )
        )

    def estimate(self, tool_ids: Sequence[int]) -> Estimate:
        """Return what asking about tools takes; nothing is asked. Raises `DatabaseUnavailable`."""
        estimate = Estimate()
        for tools in self._profiles(tool_ids, page=_PAGE, again=True):
            for part in calls_for(tools, max_tokens=self._max_prompt_tokens):
                estimate = estimate.and_call(part)
        return estimate

    def __call__(
        self,
        chat: ChatModel,
        tool_ids: Sequence[int],
        wanted: WantedTools,
        *,
        report: BulkReport,
        timeout_s: float,
        concurrency: int = 1,
        step: Callable[[int], object] = lambda tools: None,
    ) -> None:
        """Write requests for tools.

        Parameters
        ----------
        report : BulkReport
            Gets what was done, as far as it came.
        timeout_s : float
            As `ask` takes it.
        concurrency : int
            How many calls are made at once.
        step : callable
            Called with a number of tools that are done.

        Raises
        ------
        DependencyUnavailable
            The language model, the embedding model, the index or PostgreSQL is away. What was stored stays.
        """
        self._write.require_ready()  # else answers would be paid for that cannot be checked
        page = TOOLS_A_CALL * concurrency
        asking = partial(ask, chat, timeout_s=timeout_s)
        with ThreadPoolExecutor(concurrency, thread_name_prefix="requests") as pool:
            for tools in self._profiles(tool_ids, page=page, again=wanted.again):
                parts = list(calls_for(tools, max_tokens=self._max_prompt_tokens))
                answers = {id_: answer for found in pool.map(asking, parts) for id_, answer in found.items()}
                self._store(tools, answers, wanted.org_id, report)
                step(len(tools))

    def _profiles(self, tool_ids: Sequence[int], *, page: int, again: bool) -> Iterator[list[ToolProfile]]:
        """Read tools a page at a time; those that got requests since they were found are left out, unless `again`."""
        for start in range(0, len(tool_ids), page):
            ids = tool_ids[start : start + page]
            found = self._database.read(lambda session, ids=ids: ClassificationRepository(session).tools(ids, None))  # type: ignore[misc]
            yield [found[id_].tool for id_ in ids if id_ in found and (again or not found[id_].has_requests)]

    def _store(
        self,
        tools: Sequence[ToolProfile],
        answers: dict[int, tuple[object, ...]],
        org_id: str | None,
        report: BulkReport,
    ) -> None:
        drafted = [Drafted(tool, answers[tool.id]) for tool in tools if tool.id in answers]
        written = self._write(drafted, org_id)
        report.tools += len(written.kept)
        report.requests += sum(map(len, written.kept.values()))
        report.unanswered += len(tools) - len(drafted)
        report.none_kept += len(drafted) - len(written.kept)
        report.dropped += written.dropped
