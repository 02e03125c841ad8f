"""GIVEN messages, WHEN they are written and read, THEN as each revision has them."""

from __future__ import annotations

import pytest
from mcp.shared.inbound import decode_header_value
from skillroute.calling.mcp_client.messages import (
    answers,
    header_value,
    read_messages,
    request,
    stateless,
    stateless_headers,
    to_bytes,
)
from skillroute.calling.model import CallFailed


@pytest.mark.parametrize("name", ["add", "a b", " a", "a ", "", "\u00fcber", "=?base64?YQ==?=", "a\r\nb", "\u4e16"])
def test_a_name_comes_out_of_its_header_as_it_was(name: str) -> None:
    value = header_value(name)
    assert value.isascii()
    assert value.isprintable()
    assert value == value.strip()
    assert decode_header_value(value) == name


def test_a_stateless_request_names_its_revision_twice_and_keeps_its_progress() -> None:
    sent = stateless(request(1, "tools/call", {"name": "add", "_meta": {"progressToken": 1}}))
    meta = sent["params"]["_meta"]
    assert meta["progressToken"] == 1
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert stateless_headers(sent) == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "add",
    }


def test_the_answer_is_told_from_other_messages() -> None:
    assert answers({"id": 1, "result": {}}, 1)
    assert answers({"id": "1", "result": {}}, 1)
    assert answers({"id": None, "error": {}}, 1)
    for other in ({"id": 2, "result": {}}, {"id": True, "result": {}}, {"id": 1, "method": "ping"}, {"result": {}}):
        assert not answers(other, 1)


def test_a_batch_is_its_messages_and_what_is_none_is_refused() -> None:
    assert read_messages(b'[{"id":1},{"id":2}]', "a.example") == [{"id": 1}, {"id": 2}]
    for body in (b"", b"{", b"[1]", b"3", b"\xff", b'{"a":NaN}', b"[" * 100_000, b"[" + b"0," * 400_000 + b"0]"):
        with pytest.raises(CallFailed, match=r"^a\.example answers with"):
            read_messages(body, "a.example")


def test_halves_of_surrogate_pairs_can_be_sent() -> None:
    assert to_bytes({"a": "\ud800\u00e9"}) == b'{"a":"\\ud800\\u00e9"}'
