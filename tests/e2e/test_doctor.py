"""`skillroute doctor` on the examples, with the real model."""

from __future__ import annotations

import json

from tests.e2e.processes import Up, cli


def test_the_examples_have_next_to_nothing_wrong(running: Up) -> None:
    done = cli(running.home.path, "doctor", "--json")

    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    # Other tests write into this Skillroute, too.
    named = {(tool["server"], tool["name"]) for finding in report["findings"] for tool in finding["tools"]}
    assert {("toybox", name) for name in ("roll_dice", "draw_tarot_card", "solve_crossword_clue")} <= named
    assert report["checked"]["tools"] >= 273
    assert report["checked"]["searches"] >= 273
    assert len(report["findings"]) < 20


def test_what_was_made_worse_is_found(running: Up) -> None:
    bad = {"server": "doctors-patient", "name": "get_data", "description": "TODO"}
    [original] = [row for row in running.items(server="weather") if row["name"] == "get_current_weather"]
    twin = {"server": "weather-two", "name": original["name"], "description": original["description"]}
    written = running.put(bad, twin)
    try:
        done = cli(running.home.path, "doctor", "--server", "doctors-patient", "--json", "--fail-on", "any")
        assert done.returncode == 1
        codes = [finding["code"] for finding in json.loads(done.stdout)["findings"]]
        assert codes[:2] == ["description_empty", "name_says_nothing"]

        found = json.loads(cli(running.home.path, "doctor", "--server", "weather-two", "--json").stdout)["findings"]
        [duplicates] = [finding for finding in found if finding["code"] == "near_duplicates"]
        assert {tool["server"] for tool in duplicates["tools"]} == {"weather", "weather-two"}
    finally:
        for result in written["results"]:
            running.http.delete(f"/api/v1/tools/{result['id']}").raise_for_status()
