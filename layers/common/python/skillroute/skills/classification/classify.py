"""Classifying tools into skills (skill-contract BR-002, BR-003; decisions 15 to 19)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from skillroute.catalogue.access import own_item
from skillroute.core.access import not_found
from skillroute.core.caller import Caller
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import ClassifierUnavailable, Conflict, DependencyUnavailable, InvalidInput, NotBegun
from skillroute.core.observability import Metric, count, logger
from skillroute.core.postgres.database import Database, Session
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.time.time_left import left_s
from skillroute.skills.classification.classifiers.port import Classifier
from skillroute.skills.classification.model import HUMAN, MIN_CONFIDENCE, Decision, Outcome
from skillroute.skills.classification.profiles import SkillProfiles
from skillroute.skills.classification.repository import ClassificationRepository, ToClassify
from skillroute.skills.classification.store import Answer, StoreClassifications, current_assignments
from skillroute.skills.queues import CLASSIFY
from skillroute.skills.suggestions.suggest import SuggestSkills
from skillroute.skills.tool_requests.drafted import Drafted

Results = dict[int, Outcome | ClassifierUnavailable]
_DECIDED = {Decision.CLASSIFIED, Decision.SUGGESTED}
_REQUESTS_S = 10.0
"""Of an invocation, for checking and embedding requests: with less left they are not begun."""
_Asked = tuple[ToClassify, Answer | ClassifierUnavailable]


class ClassifyTools:
    """Asks a classifier about tools, and stores what becomes of its answers.

    Parameters
    ----------
    suggest : SuggestSkills
        Notifies people of new suggestions, and approves those that were made often enough.
    own_model : callable
        Returns the model that this process embeds with, or None while that is not known.
    timeout_s : float
        The most that one attempt at one tool may take.
    min_confidence : float
        What is less sure is not assigned.
    write_requests : callable, optional
        Stores the requests that the classifier wrote for tools of one organisation. What goes wrong with them is
        logged and costs no classification.
    """

    def __init__(
        self,
        database: Database,
        classifier: Classifier,
        profiles: SkillProfiles,
        suggest: SuggestSkills,
        *,
        own_model: Callable[[], EmbeddingModel | None] = lambda: None,
        timeout_s: float = 10.0,
        min_confidence: float = MIN_CONFIDENCE,
        write_requests: Callable[[Sequence[Drafted], str | None], object] | None = None,
    ) -> None:
        self._database = database
        self._classifier = classifier
        self._profiles = profiles
        self._suggest = suggest
        self._own_model = own_model
        self._timeout_s = timeout_s
        self._write_requests = write_requests
        self._store = StoreClassifications(classifier, min_confidence)

    def __call__(self, tool_ids: Sequence[int], *, force: bool = False) -> Results:
        """Classify tools and return what became of each.

        A tool that says nothing new is skipped, and so is one that a person decided on, unless `force`d. Until the new
        assignments are stored, the old ones are searched (decision 19). Where the classifier fails, the tool keeps
        what it has, and its work goes on waiting in the outbox.

        Returns
        -------
        dict of int to Outcome or ClassifierUnavailable
            One for each id.

        Raises
        ------
        DatabaseUnavailable
            What was not stored goes on waiting in the outbox.
        """
        with self._database.together():
            return self._classified(tool_ids, force)

    def _classified(self, tool_ids: Sequence[int], force: bool) -> Results:
        model = self._model()
        found = self._database.read(lambda session: ClassificationRepository(session).tools(tool_ids, model))
        skipped = {id_: why for id_, seen in found.items() if (why := self._skip(seen, force)) is not None}
        results: Results = {id_: Outcome(id_, Decision.GONE) for id_ in tool_ids if id_ not in found}
        if skipped:
            results |= self._database.transact(lambda session: _skipped(session, found, skipped))
        todo = sorted((found[id_] for id_ in found.keys() - skipped.keys()), key=_order)
        # All are asked at once, whatever their organisation, so that a batch takes the time of its slowest.
        asked = self._ask(todo, model)
        for org_id, group in groupby(asked, key=lambda answer: answer[0].tool.org_id):
            results |= self._stored(list(group), org_id, force)
        return results

    def _model(self) -> EmbeddingModel | None:
        """Return the model whose vectors are compared; None when those of this process's own are not all there yet."""
        own = self._own_model()
        model = self._database.read(lambda session: IndexStateRepository(session).models()).to_search(own)
        return model if own in (None, model) else None

    def for_caller(self, tool_id: int, caller: Caller, *, name: str | None = None, force: bool = False) -> Outcome:
        """Classify one of the caller's own tools at once.

        Parameters
        ----------
        name : str, optional
            What the caller believes the tool to be called.

        Raises
        ------
        NotFound, Forbidden
            There is no such tool, or it is not the caller's.
        InvalidInput
            The tool has another name.
        ClassifierUnavailable
            The classifier failed; the tool waits in the queue as before.
        Conflict
            The tool is being changed at this moment.
        """
        item = self._database.read(lambda session: own_item(session, tool_id, caller))
        if name is not None and name != item.content.key.name:
            raise InvalidInput("tool_name", f"tool {tool_id} is named {item.content.key.name!r}")
        outcome = self([tool_id], force=force)[tool_id]
        if isinstance(outcome, ClassifierUnavailable):
            raise outcome
        if outcome.decision is Decision.GONE:
            raise not_found("item", tool_id)
        if outcome.decision is Decision.OVERTAKEN:
            raise Conflict(f"tool {tool_id} is being changed: try again", ErrorCode.CHANGED_MEANWHILE)
        return outcome

    def _skip(self, seen: ToClassify, force: bool) -> Decision | None:
        if force or seen.decided_by is None:
            return None
        if seen.decided_by == HUMAN:
            return Decision.HUMAN
        same = seen.decided_by == self._classifier.name and seen.decided_hash == seen.tool.input_hash
        return Decision.UNCHANGED if same else None

    def _ask(self, tools: list[ToClassify], model: EmbeddingModel | None) -> list[_Asked]:
        offers = {org_id: self._profiles(org_id, model) for org_id in {seen.tool.org_id for seen in tools}}

        def ask(seen: ToClassify) -> _Asked:
            skills = offers[seen.tool.org_id]
            if seen.decided_by == HUMAN:  # forced: what the person decided must not decide again
                skills = self._profiles.without(seen.tool.id, skills, seen.tool.org_id, model)
            try:
                classification = self._classifier.classify(seen.tool, skills, timeout_s=self._timeout_s)
            except ClassifierUnavailable as error:
                return seen, error
            return seen, Answer(seen, classification, {skill.id: skill.key for skill in skills})

        workers = min(self._classifier.concurrency, len(tools))
        if workers < 2:
            return list(map(ask, tools))
        with ThreadPoolExecutor(workers, thread_name_prefix="classify") as pool:
            return list(pool.map(ask, tools))

    def _stored(self, asked: Sequence[_Asked], org_id: str | None, force: bool) -> Results:
        """Store the answers for tools of one organisation."""
        results: Results = {}
        answers: list[Answer] = []
        for seen, answer in asked:
            if isinstance(answer, ClassifierUnavailable):
                logger.error("tool not classified", extra={"tool_id": seen.tool.id, "reason": str(answer)})
                results[seen.tool.id] = answer
            else:
                answers.append(answer)
        if answers:
            stored = self._database.transact(lambda session: self._store(session, answers, org_id, force=force))
            count(Metric.TOOLS_CLASSIFIED, sum(outcome.decision in _DECIDED for outcome in stored.outcomes))
            self._suggest.announce(stored.suggested)
            results |= {outcome.tool_id: outcome for outcome in stored.outcomes}
            decided = {outcome.tool_id for outcome in stored.outcomes if outcome.decision in _DECIDED}
            self._store_requests([answer for answer in answers if answer.tool.id in decided], org_id)
        return results

    def _store_requests(self, answers: Sequence[Answer], org_id: str | None) -> None:
        """Store the requests that were written with the answers. They are beside the matter: nothing fails for them."""
        drafted = [
            Drafted(answer.tool, answer.classification.requests, is_other_text=answer.seen.has_requests)
            for answer in answers
            if answer.classification.requests is not None and answer.tool.wants_requests
        ]
        if not drafted or self._write_requests is None:
            return
        left = left_s()
        try:
            if left is not None and left < _REQUESTS_S:
                raise NotBegun(f"{left:.0f} s are left of the invocation")
            self._write_requests(drafted, org_id)
        except DependencyUnavailable as error:
            lost = sum(len(one.requests) for one in drafted)
            count(Metric.REQUESTS_DROPPED, lost)
            extra = {"tools": len(drafted), "requests": lost, "reason": str(error)}
            logger.warning("requests of tools not written", extra=extra)


def _order(seen: ToClassify) -> tuple[str, int]:
    return seen.tool.org_id or "", seen.tool.id


def _skipped(session: Session, found: Mapping[int, ToClassify], skipped: Mapping[int, Decision]) -> Results:
    """Return what skipped tools have, and take their work from the outbox."""
    versions = {str(id_): found[id_].version for id_ in skipped}
    OutboxRepository(session).done(CLASSIFY, {key: version for key, version in versions.items() if version is not None})
    session.note_news()  # there is room for other work in the queue
    return {
        id_: Outcome(id_, decision, found[id_].tool.name, current_assignments(session, found[id_].tool))
        for id_, decision in skipped.items()
    }
