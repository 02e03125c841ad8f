"""Keys of learning: one for each organisation, and one for the global catalogue."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.queue.messages import key_of, message_of
from skillroute.core.queue.work import OutboxEntry
from skillroute.learning.queues import LEARN, learn_key, org_of

ORGANISATIONS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(st.none() | st.sampled_from(["global", "org/", "org/acme", "\n"]) | ORGANISATIONS)
def test_every_organisation_comes_through_its_message(org_id: str | None) -> None:
    key = learn_key(org_id)
    body = json.dumps(message_of(OutboxEntry(LEARN, key, org_id)))
    assert (key_of(LEARN, body), org_of(key)) == (key, org_id)


def test_no_organisation_has_the_key_of_the_global_catalogue() -> None:
    assert learn_key("global") != learn_key(None)
