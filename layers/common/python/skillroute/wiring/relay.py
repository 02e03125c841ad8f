"""The relay: every minute what was left behind is done, and what is old goes."""

from __future__ import annotations

from skillroute.core.relay import Relay
from skillroute.core.settings import RelaySettings
from skillroute.skills.classification.kept_vectors import prune_text_vectors
from skillroute.skills.classification.lost_tools import QueueLostTools
from skillroute.wiring.learn import queues_due
from skillroute.wiring.receipts import prune_receipts
from skillroute.wiring.trace import prune_trace
from skillroute.wiring.use_cases import Parts


def make_relay(parts: Parts) -> Relay:
    """Return what the schedule runs."""
    settings = parts.of(RelaySettings)
    return Relay(
        parts.database,
        parts.dispatch,
        parts.failed_work,
        QueueLostTools(parts.database),
        parts.suggest_skills.approve_waiting,
        parts.embed_missing,
        catch_up=parts.catch_up if settings.writers_fill_index else None,
        prunes={
            "prune receipts": lambda: prune_receipts(parts),
            "prune trace": lambda: prune_trace(parts),
            "prune text vectors": lambda: parts.storage.transact(prune_text_vectors),
        },
        queues_due=queues_due(parts),
    )
