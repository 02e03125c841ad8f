"""`skillroute suggestions`: one at a time, groups of one name, and many decisions of a file."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from skillroute_local.errors import Unreachable

from tests.builders import System
from tests.doubles import proposing
from tests.e2e.processes import answered
from tests.integration.local.commands.conftest import CommandLine


@pytest.fixture
def suggested(system: System, api: httpx.Client) -> list[int]:
    names = ("encode", "decode", "crop")
    ids = system.put(*names)
    skills = ("Video", "Video", "Pictures")
    system.classifier.answers |= {name: proposing(skill) for name, skill in zip(names, skills, strict=True)}
    system.classify(*ids)
    made = sorted(system.suggestions(), key=lambda one: (one.suggested_name, one.id), reverse=True)
    return [suggestion.id for suggestion in made]  # two of Video, then that of Pictures


class TestOneAtATime:
    def test_are_listed(self, run: CommandLine, suggested: list[int]) -> None:
        assert [row["id"] for row in run.json("suggestions", "list")] == sorted(suggested)
        lines = run("suggestions", "list").stdout.splitlines()
        assert lines[0].split() == ["id", "kind", "name", "tool", "description"]
        assert [line.split()[3] for line in lines[1:]].count("Video") == 2

    def test_are_approved_and_take_others_of_the_name_along(self, run: CommandLine, suggested: list[int]) -> None:
        done = run("suggestions", "approve", str(suggested[0]), "--id", "video")
        assert (done.exit_code, done.stdout) == (
            0,
            f"{suggested[0]} Video approved: skill video, and 1 other of the name\n",
        )
        assert run.json("get", "skill", "video")["name"] == "Video"

    def test_are_rejected_and_merged(self, run: CommandLine, suggested: list[int], api: httpx.Client) -> None:
        body = {"id": "images", "name": "Images", "description": "Edit pictures."}
        answered(api.post("/api/v1/skills", json=body), 201)
        first, second, third = map(str, suggested)

        assert run.json("suggestions", "reject", first, second, "--reason", "no")["failed"] == []
        [merged] = run.json("suggestions", "merge", third, "--into", "images")["done"]

        assert (merged["status"], merged["skill_id"]) == ("merged", "images")
        rejected = run.json("suggestions", "list", "--status", "rejected")
        assert [row["review_reason"] for row in rejected] == ["no", "no"]

    def test_of_several_each_has_its_result(self, run: CommandLine, suggested: list[int]) -> None:
        done = run("suggestions", "reject", str(suggested[0]), "99999")
        assert (done.exit_code, done.stdout) == (4, f"{suggested[0]} Video rejected\n")
        assert done.stderr.startswith("99999: no suggestion with id 99999")


class TestGroups:
    def test_each_name_is_listed_once_with_its_count_and_examples(self, run: CommandLine, suggested: list[int]) -> None:
        groups = run.json("suggestions", "list", "--grouped")
        assert [(group["name"], group["count"], group["skill_id"]) for group in groups] == [
            ("Video", 2, "video"),
            ("Pictures", 1, "pictures"),
        ]
        heading, *rows = run("suggestions", "list", "--grouped").stdout.splitlines()
        assert heading.split() == ["count", "kind", "name", "skill", "tools"]
        assert rows[0].split()[:5] == ["2", "new", "skill", "Video", "video"]
        assert {word.strip(",") for word in rows[0].split()[5:]} == {"encode", "decode"}
        first = run("suggestions", "list", "--grouped", "--limit", "1")
        assert (len(first.stdout.splitlines()), first.stderr) == (2, "1 of 2; --all shows the others too\n")

    def test_a_skill_that_is_there_is_marked(self, run: CommandLine, suggested: list[int], api: httpx.Client) -> None:
        answered(api.post("/api/v1/skills", json={"id": "video", "name": "V", "description": "Moving pictures."}), 201)
        assert "video (exists)" in run("suggestions", "list", "--grouped").stdout

    def test_those_of_a_name_are_listed(self, run: CommandLine, suggested: list[int]) -> None:
        assert [row["id"] for row in run.json("suggestions", "list", "--name", "video")] == sorted(suggested[:2])
        assert run("suggestions", "list", "--name", "x").stdout == "no suggestion of this name is pending\n"

    def test_one_is_approved_with_all_its_tools(self, run: CommandLine, suggested: list[int]) -> None:
        done = run("suggestions", "approve", "--group", "Video", "--name", "Moving pictures", "--id", "films")
        assert (done.exit_code, done.stdout) == (0, "Video approved: skill films, 2 suggestions\n")
        assert {row["name"] for row in run.json("list", "tools", "--skill", "films")} == {"encode", "decode"}
        assert [row["suggested_name"] for row in run.json("suggestions", "list")] == ["Pictures"]

    def test_each_of_several_has_its_result(self, run: CommandLine, suggested: list[int]) -> None:
        done = run("suggestions", "reject", "--group", "Video", "--group", "nothing", "--reason", "no", "--json")
        report = json.loads(done.stdout)
        assert (done.exit_code, done.stderr) == (4, "")
        assert [(one["id"], one["status"], one["decided"]) for one in report["done"]] == [("Video", "rejected", 2)]
        assert [(one["id"], one["code"]) for one in report["failed"]] == [("nothing", "suggestion_not_found")]
        assert {row["review_reason"] for row in run.json("suggestions", "list", "--status", "rejected")} == {"no"}

    def test_one_is_merged(self, run: CommandLine, suggested: list[int], api: httpx.Client) -> None:
        answered(api.post("/api/v1/skills", json={"id": "media", "name": "M", "description": "All of the media."}), 201)
        done = run("suggestions", "merge", "--group", "Video", "--into", "media")
        assert (done.exit_code, done.stdout) == (0, "Video merged: skill media, 2 suggestions\n")


class TestReview:
    def test_decisions_of_a_pipe_have_a_result_each(self, run: CommandLine, suggested: list[int]) -> None:
        # GIVEN what a script made of the groups
        groups = run.json("suggestions", "list", "--grouped")
        decisions = [{"action": "approve", "name": group["name"]} for group in groups if group["count"] > 1]
        decisions += [{"action": "reject", "ids": [suggested[2], 99999]}]
        text = "".join(json.dumps(decision) + "\n" for decision in decisions)

        done = run("suggestions", "review", "-", "--json", text=text)

        report = json.loads(done.stdout)
        assert done.exit_code == 4
        assert [(one["id"], one["status"], one["skill_id"]) for one in report["done"]] == [
            ("Video", "approved", "video"),
            (f"{suggested[2]},99999", "rejected", None),
        ]
        assert [(one["id"], one["code"]) for one in report["failed"]] == [("99999", "suggestion_not_found")]
        assert run.json("suggestions", "list") == []

    @pytest.mark.parametrize("form", ["[{}]", '{{"decisions": [{}]}}', "\n{}\n"])
    def test_a_file_may_be_lines_or_a_document(
        self, run: CommandLine, suggested: list[int], tmp_path: Path, form: str
    ) -> None:
        file = tmp_path / "decisions"
        file.write_text(form.format('{"action": "reject", "name": "Video"}'), "utf-8")
        done = run("suggestions", "review", str(file))
        assert (done.exit_code, done.stdout) == (0, "Video rejected, 2 suggestions\n")

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "standard input has no decisions"),
            ('{"action": "reject", "ids": [1]}\n{', "standard input:2 is not JSON, and nothing was decided"),
            ('[{"action": "reject", "ids": [1]}, 7]', " 2 is not a JSON object"),
            ('[{"action": "keep", "ids": [1]}]', "1: action: must be 'approve', 'reject' or 'merge'"),
        ],
    )
    def test_what_is_no_decision_is_named_and_nothing_is_decided(
        self, run: CommandLine, suggested: list[int], text: str, says: str
    ) -> None:
        done = run("suggestions", "review", "-", text=text)
        assert (done.exit_code in {1, 2}, done.stdout, says in done.stderr) == (True, "", True), done.stderr
        assert len(run.json("suggestions", "list")) == 3

    def test_one_that_is_wrong_keeps_no_other_from_being_carried_out(
        self, run: CommandLine, suggested: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("skillroute_local.commands.suggestions_review.DECISIONS_OF_A_CALL", 2)
        decisions = [{"action": "reject", "name": "Video"}, {"action": "approve"}, {"action": "reject", "ids": "all"}]
        decisions.append({"action": "reject", "name": "Pictures"})
        done = run("suggestions", "review", "-", "--json", text=json.dumps(decisions))
        report = json.loads(done.stdout)
        assert (done.exit_code, [one["id"] for one in report["done"]]) == (4, ["Video", "Pictures"])
        wrong = [(f"decision {place}", "invalid_request") for place in (2, 3)]
        assert [(one["id"], one["code"]) for one in report["failed"]] == wrong
        assert run.json("suggestions", "list") == []

    def test_what_was_decided_is_told_though_the_rest_failed(
        self, run: CommandLine, suggested: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from skillroute_local.client import Client

        review, calls = Client.review, iter(range(2))

        def breaking(client: Client, decisions: list[dict[str, object]]) -> list[dict[str, object]]:
            if next(calls):
                raise Unreachable("the connection broke")
            return review(client, decisions)

        monkeypatch.setattr(Client, "review", breaking)
        monkeypatch.setattr("skillroute_local.commands.suggestions_review.DECISIONS_OF_A_CALL", 1)
        done = run("suggestions", "reject", "--group", "Video", "--group", "Pictures")
        assert (done.exit_code, done.stdout) == (4, "Video rejected, 2 suggestions\n")
        assert done.stderr == "Pictures: the connection broke\n"
