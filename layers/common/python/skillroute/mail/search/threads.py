"""Messages count with the best of their thread: what answers a question stands among what it was said with (ADR 57)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from skillroute.core.documents.index.port import SearchedIndex
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.search.model import MailFilter
from skillroute.mail.search.scores import Ranked, rounded

HEAD = 100
"""How many of the first are looked at: a thread whose best is further behind is not what was asked about."""

_THREAD_SHARE = 0.5
"""Of the thread's best beside the message's own score; from 0.5 to 0.9 it is about the same."""

ThreadsOf = Callable[[Sequence[int]], Mapping[int, str]]
"""Returns the threads of messages, by id, without those that are in none."""


def lifted(ranked: Ranked, threads_of: ThreadsOf) -> Ranked:
    """Return a ranking in which each of the first `HEAD` scores the mean of its own and its thread's highest score.

    A thread's first stays what it is, nobody scores less than before, and what is in no thread is as it was. Only what
    was found counts: messages that a filter or the caller's rights leave out change nothing.
    """
    head = ranked.matches[:HEAD]
    thread_of = threads_of([match.id for match in head])
    if not thread_of:
        return ranked
    best: dict[str, float] = {}
    for match in head:  # in order: the first of a thread is its best
        if match.id in thread_of:
            best.setdefault(thread_of[match.id], match.score)

    def score(id_: int, own: float) -> float:
        if id_ not in thread_of:
            return own
        return rounded(own + _THREAD_SHARE * (best[thread_of[id_]] - own))

    scored = sorted(match._replace(order=-score(match.id, match.score)) for match in head)
    # Nobody fell, so what came after the head still does.
    return Ranked([*scored, *ranked.matches[HEAD:]], by_place=ranked.by_place)


def may_differ_by_thread(where: MailFilter) -> bool:
    """Return whether what passes a filter can be of several threads: only messages have any."""
    return where.kind == "message" and where.thread_id is None


def threads_in(index: SearchedIndex) -> ThreadsOf:
    """Return what looks threads up in the index; a thread is one of a project. Raises `IndexUnavailable`."""

    def threads_of(ids: Sequence[int]) -> dict[int, str]:
        payloads = index.payloads(MAIL_DOCUMENTS, [str(id_) for id_ in ids])
        return {
            int(key): f"{payload['project_ids']} {thread}"
            for key, payload in payloads.items()
            if (thread := payload.get("thread_id"))
        }

    return threads_of
