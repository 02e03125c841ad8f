"""Writing many things in one call: read one by one, stored in one transaction, and each reported by itself.

What is wrong with one never keeps the others from being written: neither what cannot be read, nor what PostgreSQL
refuses.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import replace

from skillroute.core.bulk.outcomes import Report
from skillroute.core.bulk.store import store
from skillroute.core.bulk.writing import DoneT, InT, OutT, Writing
from skillroute.core.documents.embed import Embedded, EmbeddingJob
from skillroute.core.embedding.port import EMBEDDING_MODEL
from skillroute.core.errors.model import FieldProblem, InvalidInput
from skillroute.core.input.known_fields import refuse_of_others
from skillroute.core.observability import count
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.time_left import left_s

_STORING_S = 5.0
"""Of an invocation, kept free for storing what was embedded: an import is several writes, each of which embeds."""


def _embedding_s(most_s: float) -> float:
    """Return the seconds for which a write may embed: `most_s`, or what the invocation leaves it."""
    left = left_s()
    return most_s if left is None else min(most_s, max(0.0, left - _STORING_S))


class BulkWrite(EmbeddingJob):
    """Carries out a `Writing`. All embedding of a call ends `timeout_s` seconds after its begin, or earlier on Lambda.

    Raises
    ------
    InvalidInput
        A call has too many things.
    DatabaseUnavailable
        Nothing was written.
    """

    def _carry_out(
        self, writing: Writing[InT, DoneT, OutT], things: Sequence[object], *, dry_run: bool = False
    ) -> Report[OutT]:
        """Write things, and return what became of each, in the order of the call.

        With `dry_run` return what would become of each: all is done in a transaction that is taken back, so that what
        PostgreSQL refuses shows as well. Nothing is embedded, and what would be created has no id.
        """
        if len(things) > writing.most:
            nouns = f"{writing.noun}s"
            raise InvalidInput(nouns, f"{len(things)} {nouns}; at most {writing.most} in one call")
        if dry_run:
            return self._try(writing, things)
        deadline = Deadline(_embedding_s(self._timeout_s), self._clock, callee=EMBEDDING_MODEL)
        incoming, outcomes = _read_all(writing, things)
        warnings = [writing.warnings(raw) for raw in things]  # before anything is stored: many take seconds
        all_embedded = writing.prepare(incoming, deadline)
        settled = {thing.index: outcome for thing in incoming if (outcome := writing.settled(thing)) is not None}
        done, wrong = store(self._database, writing, [thing for thing in incoming if thing.index not in settled])
        for thing, reason in wrong:
            outcomes[thing.index] = writing.failed(thing.index, InvalidInput(writing.noun, reason), thing)
        themselves, others = self._finish(writing, done, deadline if all_embedded else None)
        outcomes |= settled | ({} if done is None else _with_refusals(done.outcomes, themselves.refused))
        in_order = [_with_warnings(outcomes[index], warnings[index]) for index in sorted(outcomes)]
        report = Report(
            in_order,
            embedding_unavailable=not (all_embedded and themselves.complete and others.complete),
            embedding_refused=any(outcome.has_refusal for outcome in in_order)
            or bool(themselves.refused or others.refused),
        )
        written, failed = writing.metrics
        count(written, report.count("created") + report.count("updated"))
        count(failed, report.count("failed"))
        return report

    def _try(self, writing: Writing[InT, DoneT, OutT], things: Sequence[object]) -> Report[OutT]:
        """Return what would become of things."""
        incoming, outcomes = _read_all(writing, things)
        writing.prepare(incoming, Deadline(0.0, self._clock))
        settled = {thing.index: outcome for thing in incoming if (outcome := writing.settled(thing)) is not None}
        left = [thing for thing in incoming if thing.index not in settled]
        done, wrong = store(self._database, writing, left, keep=False)
        for thing, reason in wrong:
            outcomes[thing.index] = writing.failed(thing.index, InvalidInput(writing.noun, reason), thing)
        outcomes |= settled | ({} if done is None else done.outcomes)
        in_order = [_with_warnings(outcomes[index], writing.warnings(things[index])) for index in sorted(outcomes)]
        without_ids = [replace(one, id=None) if one.status == "created" else one for one in in_order]
        return Report(without_ids, embedding_unavailable=False)

    def _finish(
        self, writing: Writing[InT, DoneT, OutT], done: DoneT | None, deadline: Deadline | None
    ) -> tuple[Embedded, Embedded]:
        """Embed what the commit left without a vector, and pass the news on."""
        themselves = others = Embedded()
        if done is None:
            return themselves, others
        try:
            themselves, others = writing.embed_committed(done, deadline)
        finally:
            if writing.is_news(done) or themselves.stored or others.stored:
                self._after_commit()
        return themselves, others


def _with_refusals(outcomes: Mapping[int, OutT], refused: Container[str]) -> dict[int, OutT]:
    """Return outcomes that say whose text the model refuses: known before, or one of these ids."""
    return {
        index: replace(outcome, is_refused=True) if str(outcome.id) in refused else outcome
        for index, outcome in outcomes.items()
    }


def _with_warnings(outcome: OutT, warnings: Sequence[FieldProblem]) -> OutT:
    return replace(outcome, warnings=(*outcome.warnings, *warnings)) if warnings else outcome


def _read_all(writing: Writing[InT, DoneT, OutT], things: Sequence[object]) -> tuple[list[InT], dict[int, OutT]]:
    """Read what can be read; the rest has failed already."""
    incoming: list[InT] = []
    failed: dict[int, OutT] = {}
    first_place: dict[Hashable, int] = {}
    field, words = writing.identity
    for index, raw in enumerate(things):
        thing: InT | None = None
        try:
            refuse_of_others(raw, writing.caller.org_id)
            thing = writing.read(index, raw)
            first = first_place.setdefault(thing.key, index)
            if first != index:
                raise InvalidInput(field, f"the same {words} as {writing.noun} {first} of this call")
            writing.admit(thing)
        except InvalidInput as error:
            failed[index] = writing.failed(index, error, thing)
        else:
            incoming.append(thing)
    return incoming, failed
