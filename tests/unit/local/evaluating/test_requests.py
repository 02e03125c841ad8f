"""Files of judged requests: what can be read, what is said of the rest, and the tools that they name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from skillroute_local.errors import LocalError
from skillroute_local.evaluating.catalogue import Tool, judged
from skillroute_local.evaluating.requests import JudgedRequest, RequestFile, Row, read_requests

TOOLS = [
    Tool("1", "mail", "send"),
    Tool("2", "mail", "search"),
    Tool("3", "files", "search"),
    Tool("4", "", "sleep"),
    Tool("5", "files", "search", "prompt"),
]


def read(*lines: str) -> tuple[list[Row], list[str]]:
    problems: list[str] = []
    rows = list(read_requests([line.encode() + b"\n" for line in lines], "q.jsonl", problems.append))
    return rows, problems


def row(*needs: list[str], query: str = "do it") -> Row:
    return Row("q.jsonl:1", JudgedRequest(query=query, needs=list(needs)))


class TestReading:
    def test_a_request_is_read_with_its_place_and_notes_are_left_alone(self) -> None:
        rows, problems = read("", '{"id": "r1", "query": "  send it ", "needs": [["mail/send", "post"], ["b"]]}')
        assert problems == []
        assert [(each.where, each.request.query, each.request.needs) for each in rows] == [
            ("q.jsonl:2", "send it", [["mail/send", "post"], ["b"]])
        ]

    def test_empty_needs_say_that_nothing_serves_it(self) -> None:
        [only], problems = read('{"query": "fly me to the moon", "needs": []}')
        assert (only.request.needs, problems) == ([], [])

    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ('{"query": "a"}', "q.jsonl:1: needs: "),  # not taken for "nothing serves it"
            ('{"needs": []}', "q.jsonl:1: query: "),
            ('{"query": " ", "needs": []}', "q.jsonl:1: query: "),
            (json.dumps({"query": "a" * 1001, "needs": []}), "q.jsonl:1: query: "),
            ('{"query": 7, "needs": []}', "q.jsonl:1: query: "),
            ('{"query": "a", "needs": ["mail/send"]}', "q.jsonl:1: needs.0: "),
            ('{"query": "a", "needs": [["b"], []]}', "q.jsonl:1: needs.1: "),
            ('{"query": "a", "needs": [["b", ""]]}', "q.jsonl:1: needs.0.1: "),
            ('{"query": "a", "needs": [["b", 3]]}', "q.jsonl:1: needs.0.1: "),
            ("[1]", "q.jsonl:1: not a JSON object"),
            ("{", "q.jsonl:1: "),
        ],
    )
    def test_a_wrong_line_is_named_by_file_line_and_field(self, line: str, says: str) -> None:
        rows, problems = read(line)
        assert rows == []
        assert [problem.startswith(says) for problem in problems] == [True], problems

    def test_every_wrong_line_is_named_and_the_others_are_read(self) -> None:
        rows, problems = read("{", '{"query": "a", "needs": []}', '{"query": "b"}')
        assert [each.where for each in rows] == ["q.jsonl:2"]
        assert [problem.split(": ")[0] for problem in problems] == ["q.jsonl:1", "q.jsonl:3"]


class TestLookingUp:
    @pytest.mark.parametrize(
        ("name", "ids"),
        [
            ("mail/send", {"1"}),
            ("send", {"1"}),  # no other server has it
            ("files/search", {"3", "5"}),  # a tool and a prompt are equally right
            ("sleep", {"4"}),
        ],
    )
    def test_a_name_means_a_tool(self, name: str, ids: set[str]) -> None:
        found = judged([row([name])], TOOLS)
        assert (found.questions[0].needs, found.unknown, found.left_out) == ((frozenset(ids),), {}, 0)

    def test_equally_right_tools_are_one_need(self) -> None:
        found = judged([row(["send", "sleep"], ["mail/search"])], TOOLS)
        assert found.questions[0].needs == (frozenset({"1", "4"}), frozenset({"2"}))

    def test_a_need_keeps_the_tools_that_are_there(self) -> None:
        found = judged([row(["send", "mail/gone"])], TOOLS)
        assert found.questions[0].needs == (frozenset({"1"}),)
        assert (list(found.unknown), found.left_out) == (["mail/gone"], 0)

    def test_a_request_with_a_need_that_no_tool_is_left_for_is_left_out(self) -> None:
        # GIVEN one need that could be measured and one that could not
        found = judged([row(["send"], ["mail/gone"]), row(["sleep"])], TOOLS)
        assert [question.needs for question in found.questions] == [(frozenset({"4"}),)]
        assert found.unknown == {"mail/gone": "not in the catalogue, or switched off"}
        assert found.left_out == 1

    def test_a_name_that_several_servers_have_is_not_guessed(self) -> None:
        found = judged([row(["search"])], TOOLS)
        assert found.unknown == {"search": "2 servers have it: write files/search, mail/search"}
        assert found.left_out == 1

    def test_a_name_without_a_server_means_the_tool_without_one(self) -> None:
        found = judged([row(["search"])], [*TOOLS, Tool("9", "", "search")])
        assert found.questions[0].needs == (frozenset({"9"}),)

    def test_requests_that_nothing_serves_stay(self) -> None:
        found = judged([row()], TOOLS)
        assert (found.questions[0].needs, found.left_out) == ((), 0)


class TestWriting:
    def test_each_request_is_in_the_file_at_once(self, tmp_path: Path) -> None:
        path = tmp_path / "new.jsonl"
        with RequestFile(path, force=False) as file:
            file.write("größer, bitte", "img/scale")
            # THEN it is there though the file is still open: an interruption now would lose nothing
            first = path.read_text("utf-8")
            file.write("b", "c")
        assert json.loads(first) == {"query": "größer, bitte", "needs": [["img/scale"]]}
        rows, problems = read(*path.read_text("utf-8").splitlines())
        assert (len(rows), problems, file.written) == (2, [], 2)

    def test_a_file_that_is_there_is_left_alone_unless_it_may_go(self, tmp_path: Path) -> None:
        path = tmp_path / "new.jsonl"
        path.write_text("precious", "utf-8")
        with pytest.raises(LocalError, match="--force"):
            RequestFile(path, force=False)
        assert path.read_text("utf-8") == "precious"
        with RequestFile(path, force=True):
            pass
        assert path.read_text("utf-8") == "precious", "nothing was made that could take its place"
        with RequestFile(path, force=True) as file:
            file.write("a", "b")
        assert "precious" not in path.read_text("utf-8")

    def test_a_folder_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(LocalError, match=r"none/new\.jsonl cannot be written"):
            RequestFile(tmp_path / "none" / "new.jsonl", force=False)
