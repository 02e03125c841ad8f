"""A body that is too large, over a real connection: the client has sent it all when it reads the answer."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from tests.e2e.processes import Up


@pytest.mark.parametrize("path", ["/api/v1/search", "/api/v1/tools"])
def test_ten_megabytes_are_answered_with_413_and_not_with_a_cut_connection(running: Up, path: str) -> None:
    request = urllib.request.Request(
        running.url + path,
        b'{"query": "' + b"x" * 10_000_000 + b'"}',
        {"content-type": "application/json"},
        method="POST" if path.endswith("search") else "PUT",
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    with refused.value as answer:
        assert answer.code == 413
        assert "larger than" in json.load(answer)["detail"]
