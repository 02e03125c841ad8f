"""Whether a tool does something else than a request asks for, by their verbs."""

from __future__ import annotations

import pytest
from skillroute.search.ranking.actions import does_something_else


@pytest.mark.parametrize(
    ("request_", "name", "description", "other"),
    [
        ("Delete the label 'old'", "list_labels", "Lists all labels.", True),
        ("Delete the label 'old'", "remove_label", "Takes a label off.", False),
        ("List my labels", "get_labels", "", False),
        ("delete it", "deleteOrListLabels", "", False),
        ("Create an issue", "issue", "Update an issue.", True),
        ("Create an issue", "issue", "An issue of a repository.", False),
        ("Labels of this repository", "list_labels", "Lists all labels.", False),
        ("", "list_labels", "Lists all labels.", False),
        ("Delete it", "", "", False),
        ("123 ...", "list_labels", "Lists all labels.", False),
    ],
)
def test_a_request_and_a_tool_of_other_verbs(request_: str, name: str, description: str, other: bool) -> None:
    assert does_something_else(request_, name, description) is other
