"""`get`, `list`, `delete` and `search` over what is there."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
import yaml

from tests.e2e.processes import answered
from tests.integration.local.commands.conftest import CommandLine


class TestGet:
    def test_shows_a_thing_by_its_name_or_its_id(self, run: CommandLine, api: httpx.Client) -> None:
        [row] = answered(api.get("/api/v1/tools", params={"name": "send_mail"}))

        by_name = run.json("get", "tool", "mail/send_mail")
        by_id = run.json("get", "tools", str(row["id"]))

        assert by_name == by_id == answered(api.get(f"/api/v1/tools/{row['id']}"))
        assert yaml.safe_load(run("get", "tool", "send_mail").stdout)["input_schema"] == {"type": "object"}

    def test_leaves_schemas_out(self, run: CommandLine) -> None:
        shown = run.json("get", "tool", "send_mail", "--no-schemas")
        assert not {"input_schema", "output_schema"} & set(shown)
        assert shown["name"] == "send_mail"

    def test_finds_servers_agents_and_mail_by_what_people_call_them(self, run: CommandLine, api: httpx.Client) -> None:
        answered(api.put("/api/v1/servers", json={"servers": [{"path": "/mail", "name": "Mail"}]}))
        answered(api.put("/api/v1/agents", json={"agents": [{"path": "/cook", "name": "Cook"}]}))
        answered(api.put("/api/v1/mail/projects", json={"projects": [{"key": "atlas", "name": "Atlas"}]}))
        message = {"key": "m-1", "project": "atlas", "from": "Ann", "to": ["Bob"], "subject": "Hello", "body": "You?"}
        answered(api.put("/api/v1/mail/messages", json={"messages": [message]}))

        assert run.json("get", "server", "/mail")["name"] == "Mail"
        assert run.json("get", "agent", "/cook")["name"] == "Cook"
        assert run.json("get", "project", "atlas")["name"] == "Atlas"
        assert run.json("get", "mail-agent", "Ann")["name"] == "Ann"
        assert run.json("get", "message", "m-1")["from"] == "Ann"
        assert [row["key"] for row in run.json("list", "messages", "--sender", "Ann")] == ["m-1"]
        assert run("list", "messages").stdout.splitlines()[1].split()[1:] == ["m-1", "atlas", "Ann", "Hello"]

    def test_names_the_ids_where_several_have_a_name(self, run: CommandLine, api: httpx.Client) -> None:
        answered(api.put("/api/v1/tools", json={"items": [{"server": "fax", "name": "send_mail"}]}))
        error = run.error("get", "tool", "send_mail")
        assert error["code"] == "usage"
        assert "send_mail names 2 tools: give one of the ids " in error["detail"]

    def test_a_number_is_an_id_unless_it_is_called_a_name(self, run: CommandLine, api: httpx.Client) -> None:
        answered(
            api.put(
                "/api/v1/mail/projects", json={"projects": [{"key": "2024", "name": "Year"}, {"key": "x", "name": "X"}]}
            )
        )
        error = run.error("get", "project", "2024")
        id_ = run.json("get", "project", "2024", "--name")["id"]
        assert (error["code"], error["status"]) == ("project_not_found", 404)
        assert error["detail"].endswith(f"project {id_} has the name 2024: --name takes a number for a name")
        assert run.json("get", "project", str(id_))["key"] == "2024"
        assert "--name" not in run.error("get", "project", "2025")["detail"]
        assert run.error("get", "project", "2025", "--name")["detail"].startswith("there is no project 2025")


class TestList:
    def test_is_as_wide_as_it_gets_where_nobody_looks(self, run: CommandLine, api: httpx.Client) -> None:
        long = " ".join(["word"] * 60)
        answered(api.put("/api/v1/tools", json={"items": [{"server": "x", "name": "n", "description": long}]}))
        *_, last = run("list", "tools").stdout.splitlines()
        assert last.endswith(long)

    def test_stops_at_the_limit_and_says_so_beside_the_answer(self, run: CommandLine) -> None:
        done = run("list", "tools", "--limit", "2", "--json")
        assert len(yaml.safe_load(done.stdout)) == 2
        assert done.stderr == "2 of 3; --all shows the others too\n"

    def test_all_reads_page_after_page(self, run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("skillroute_local.commands.list_.PAGE", 2)
        rows = run.json("list", "tools", "--all")
        assert sorted(row["name"] for row in rows) == ["create_event", "list_events", "send_mail"]

    def test_filters(self, run: CommandLine) -> None:
        assert [row["name"] for row in run.json("list", "tools", "--server", "mail", "--type", "tool")] == ["send_mail"]
        assert run("list", "tools", "--tag", "none").stdout == "there are no tools with these filters\n"

    def test_refuses_a_filter_that_the_list_does_not_have(self, run: CommandLine) -> None:
        assert run.error("list", "servers", "--key", "x")["detail"] == "servers have no --key; they take --path, --tag"


class TestImport:
    @pytest.mark.parametrize(
        ("operation", "status", "counts", "said"),
        [
            ({"summary": "List"}, 0, {"created": 1}, ""),
            (
                {"summary": "List", "parameters": [{"name": "n", "in": "query", "schema": {"type": "whole"}}]},
                4,
                {"created": 1},
                "api.json#/paths/~1a/get: left out: input_schema.properties.n.type: is not a JSON Schema",
            ),
            ({"$ref": "a.yml"}, 1, {"failed": 1}, "'a.yml' leads out of the document: bundle it into one file first"),
        ],
    )
    def test_what_is_left_out_is_shown_and_ends_with_4(
        self, run: CommandLine, tmp_path: Path, operation: object, status: int, counts: dict[str, int], said: str
    ) -> None:
        source = tmp_path / "api.json"
        source.write_text(json.dumps({"openapi": "3.1.0", "paths": {"/a": {"get": operation}}}), encoding="utf-8")

        shown, told = run("import", str(source), "--dry-run"), run("import", str(source), "--json")

        assert (shown.exit_code, told.exit_code) == (status, status)
        assert said in shown.stderr
        report = json.loads(told.stdout)
        assert report["counts"]["items"] == counts
        assert len(report["left_out"]) == (status == 4)

    def test_a_password_in_an_address_is_masked_and_warned_of(self, run: CommandLine, tmp_path: Path) -> None:
        server = {"name": "com.example/a", "remotes": [{"type": "sse", "url": "https://me:hunter2@a.example/sse"}]}
        source = tmp_path / "server.json"
        source.write_text(json.dumps(server), encoding="utf-8")

        done = run("import", str(source))

        assert done.exit_code == 0
        assert "server.json: remotes.0.url: had credentials in an address" in done.stderr
        [stored] = run.json("list", "servers", "--path", "/com.example/a")
        assert "hunter2" not in json.dumps(stored)


class TestDelete:
    def test_deletes_what_is_there_and_names_what_is_not(self, run: CommandLine) -> None:
        done = run("delete", "tool", "mail/send_mail", "mail/nothing", "--yes")

        assert done.exit_code == 4
        assert done.stdout.startswith("deleted tool ")
        assert done.stderr.startswith("mail/nothing: there is no tool mail/nothing")
        assert [row["server"] for row in run.json("list", "tools")] == ["calendar", "calendar"]

    def test_reports_both_as_json(self, run: CommandLine) -> None:
        done = run("delete", "tool", "99999", "mail/send_mail", "--yes", "--json")
        report = yaml.safe_load(done.stdout)
        assert done.exit_code == 4
        assert (len(report["done"]), report["failed"][0]["code"]) == (1, "item_not_found")

    def test_does_nothing_where_nobody_can_be_asked(self, run: CommandLine) -> None:
        assert run.error("delete", "tool", "mail/send_mail")["code"] == "usage"
        assert len(run.json("list", "tools")) == 3

    def test_a_number_is_no_name_that_is_deleted_by_accident(self, run: CommandLine, api: httpx.Client) -> None:
        answered(api.put("/api/v1/mail/projects", json={"projects": [{"key": "2024", "name": "Year"}]}))
        assert "--name takes a number for a name" in run.error("delete", "project", "2024", "--yes")["detail"]
        assert [row["key"] for row in run.json("list", "projects")] == ["2024"]
        assert run("delete", "project", "2024", "--name", "--yes").exit_code == 0
        assert run.json("list", "projects") == []

    def test_a_tool_is_deleted_unasked_only_with_its_server(self, run: CommandLine) -> None:
        error = run.error("delete", "tool", "send_mail", "--yes")
        assert error["code"] == "usage"
        assert (
            "send_mail is mail/send_mail, and --yes does not ask: write mail/send_mail, or the id " in error["detail"]
        )
        assert len(run.json("list", "tools")) == 3

    def test_the_question_names_the_server(self, run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("skillroute_local.commands.several.can_be_asked", lambda: True)
        denied = run("delete", "tool", "send_mail", "nothing", text="n\n")
        assert "delete tool mail/send_mail? [y/N]" in denied.stderr
        agreed = run("delete", "tool", "send_mail", "nothing", text="y\n")
        assert (denied.exit_code, agreed.exit_code) == (1, 4)
        assert [row["server"] for row in run.json("list", "tools")] == ["calendar", "calendar"]

    def test_a_tool_of_no_server_begins_with_a_slash(self, run: CommandLine, api: httpx.Client) -> None:
        answered(api.put("/api/v1/tools", json={"items": [{"name": "send_mail"}]}))
        assert run.json("get", "tool", "/send_mail")["server"] is None
        assert run("delete", "tool", "/send_mail", "--yes").exit_code == 0
        assert {row["server"] for row in run.json("list", "tools")} == {"calendar", "mail"}


class TestSearch:
    def test_an_empty_answer_says_which_threshold_left_what_out(self, run: CommandLine, api: httpx.Client) -> None:
        body = {"id": "planning", "name": "Planning", "description": "Meetings and their times."}
        answered(api.post("/api/v1/skills", json=body), 201)
        done = run("search", "zebra", "--mode", "semantic", "--tool-threshold", "0.99")

        assert done.exit_code == 0
        assert "No skill reached the skill threshold of 0.4, so all tools were searched." in done.stdout
        assert "No tool reached the tool threshold of 0.99: --tool-threshold lowers it." in done.stdout
        nearest = done.stdout.partition("These are the nearest:\n")[2].splitlines()
        assert nearest[0].split() == ["cosine", "server", "name", "description"]
        assert len(nearest) == 4

    def test_a_server_that_nobody_knows_explains_an_empty_answer(self, run: CommandLine) -> None:
        for mode in ("hybrid", "semantic"):
            done = run("search", "schedule a meeting", "--server", "nope", "--mode", mode)
            assert "nothing is known of nope" in done.stdout
            assert "threshold" not in done.stdout
            assert "nearest" not in done.stdout

    def test_the_nearest_are_of_the_server_that_was_asked_for(self, run: CommandLine) -> None:
        asked = ("--server", "mail", "--server", "nope", "--mode", "semantic", "--strategy", "direct")
        done = run("search", "schedule a meeting", *asked, "--tool-threshold", "0.99")
        nearest = done.stdout.partition("These are the nearest:\n")[2].splitlines()
        assert [row.split()[1] for row in nearest[1:]] == ["mail"]
        prompts = run("search", "meeting", "--server", "mail", "--type", "prompt", "--mode", "semantic")
        assert "there is no prompt of mail to find\n" in prompts.stdout

    def test_mode_hybrid_names_a_threshold_only_where_one_was_given(self, run: CommandLine, api: httpx.Client) -> None:
        body = {"id": "planning", "name": "Planning", "description": "Meetings and their times."}
        answered(api.post("/api/v1/skills", json=body), 201)
        given = run("search", "zebra", "--mode", "hybrid", "--tool-threshold", "0.99")
        assert "No tool reached the tool threshold of 0.99: --tool-threshold lowers it. These are" in given.stdout
        assert "skill threshold" not in given.stdout
        none = run("search", "zebra", "--mode", "hybrid", "--type", "prompt")
        assert "threshold" not in none.stdout

    def test_an_empty_answer_by_words_says_that_no_tool_has_one(self, run: CommandLine) -> None:
        done = run("search", "zebra", "--mode", "lexical")
        assert "no tool has a word of this: --mode semantic finds what means the same" in done.stdout

    def test_an_empty_catalogue_is_called_that(self, run: CommandLine) -> None:
        done = run("search", "zebra", "--type", "prompt", "--mode", "semantic")
        assert "there is no prompt to find: `skillroute import` brings some in" in done.stdout

    def test_leaves_schemas_out_of_json(self, run: CommandLine) -> None:
        query = ("search", "schedule a meeting", "--mode", "lexical")
        assert "input_schema" in run.json(*query)["tools"][0]
        assert "input_schema" not in run.json(*query, "--no-schemas")["tools"][0]

    def test_finds_mail(self, run: CommandLine, api: httpx.Client) -> None:
        answered(api.put("/api/v1/mail/projects", json={"projects": [{"key": "atlas", "name": "Atlas"}]}))
        message = {"key": "m", "project": "atlas", "from": "Ann", "to": ["Bob"], "subject": "Oven", "body": "It burns."}
        answered(api.put("/api/v1/mail/messages", json={"messages": [message]}))

        heading, row, snippet, end = run("search", "--mail", "oven").stdout.splitlines()

        assert heading.split() == ["id", "at", "from", "subject"]
        assert row.split()[2:] == ["Ann", "Oven"]
        assert snippet == "    It burns."
        assert end.startswith("1 message, lexical by ")
        assert run.json("search", "--mail", "oven")["results"][0]["from"] == "Ann"

    @pytest.mark.parametrize("option", ["--registry", "--mail"])
    def test_refuses_options_of_another_search(self, run: CommandLine, option: str) -> None:
        assert "--strategy" in run.error("search", "x", option, "--strategy", "direct")["detail"]


class TestStatus:
    def test_says_of_an_index_that_is_behind_what_that_means(self, run: CommandLine) -> None:
        assert run("search", "meeting").exit_code == 0
        calm = run("status").stdout
        run("delete", "tool", "mail/send_mail", "--yes")
        behind = run("status").stdout

        assert "behind" not in calm
        assert "lag" not in calm + behind
        assert "1 change behind; the next search takes them in first" in behind


class TestRequests:
    def test_are_written_listed_and_taken_away_and_the_rest_of_the_tool_stays(
        self, run: CommandLine, api: httpx.Client
    ) -> None:
        [before] = answered(api.get("/api/v1/tools", params={"name": "send_mail"}))
        assert run.json("requests", "list", "mail/send_mail") == []
        assert "has no requests" in run("requests", "list", "send_mail").stdout

        written = run("requests", "set", "mail/send_mail", "tell Ann", "write to all")

        assert written.stdout == "mail/send_mail has 2 requests\n"
        shown = [{"text": "tell Ann", "source": "person"}, {"text": "write to all", "source": "person"}]
        assert run.json("requests", "list", str(before["id"])) == shown
        [after] = answered(api.get("/api/v1/tools", params={"name": "send_mail"}))
        changing = {"requests", "updated_at"}
        assert {k: v for k, v in after.items() if k not in changing} == {
            k: v for k, v in before.items() if k not in changing
        }
        assert run.json("requests", "clear", "send_mail") == []
        assert run.json("requests", "list", "send_mail") == []

    def test_of_no_tool_and_too_many_are_errors(self, run: CommandLine) -> None:
        assert run.error("requests", "set", "mail/nothing", "x")["status"] == 404
        too_many = run.error("requests", "set", "send_mail", *"abcdefghi")
        assert (too_many["status"], "requests" in too_many["detail"]) == (422, True)
        assert run.json("requests", "list", "send_mail") == []
