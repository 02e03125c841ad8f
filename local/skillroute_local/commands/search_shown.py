"""Output of `skillroute search`: tools, servers and agents, messages."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from skillroute.search.answer.language_names import name_of_language

from skillroute_local.commands.output import print_line
from skillroute_local.commands.tables import Column, show_table

_TOOLS = (Column("score"), Column("server"), Column("name"), Column("description", sentences=True))
_OF_NEEDS = (Column("score"), Column("needs"), *_TOOLS[1:])
_REGISTRY = (
    Column("score"),
    Column("type"),
    Column("path"),
    Column("name"),
    Column("description", sentences=True),
)
_MESSAGES = (Column("id"), Column("at"), Column("from"), Column("subject", sentences=True))


def show_tools(answer: dict[str, Any], *, schemas: bool) -> None:
    """Show the skills that matched, the tools, and how they were found."""
    metadata, tools = answer["metadata"], answer["tools"]
    skills = ", ".join(f"{skill['id']} {skill['score']:.2f}" for skill in answer["matched_skills"])
    print_line(f"skills: {skills or _why_no_skills(metadata)}")
    if unknown := answer.get("unknown_servers"):
        print_line(f"nothing is known of {', '.join(unknown)}")
    needs = metadata.get("needs", [])
    for number, need in enumerate(needs, 1):
        print_line(f"need {number}: {need['need']} ({_how_sure(need)})")
    if metadata.get("language_unknown_to_model"):
        print_line(
            f"the request seems to be in {name_of_language(metadata['language'])}; the packaged model knows English: "
            "ask in English, or set a multilingual model (docs/languages.md); --mode lexical finds texts in it"
        )
    if metadata.get("no_match") and tools:  # a deployment may be older than the command line
        print_line("nothing seems to fit; these are the nearest:")
    show_table(
        _OF_NEEDS if needs else _TOOLS,
        [
            (
                f"{tool['score']:.3f}",
                *([", ".join(str(need + 1) for need in tool["needs"])] if needs else []),
                tool["server"] or "",
                tool["name"],
                first_line(tool["description"]),
            )
            for tool in tools
        ],
        details=[_details(tool, schemas=schemas) for tool in tools],
    )
    print_line(
        f"{metadata['final_count']} of {metadata['stage2_candidate_count']} in {metadata['total_time_ms']:.1f} ms, "
        f"{metadata['search_mode']}{_confidence(metadata)}{_degraded(metadata)}"
    )


def show_registry(answer: dict[str, Any], *, schemas: bool) -> None:
    """Show servers, their tools, and agents."""
    rows, details = [], []

    def add(type_: str, found: dict[str, Any], path: str, name: str) -> None:
        rows.append((f"{found['relevance_score']:.3f}", type_, path, name, first_line(found["description"])))
        details.append([_schema(found["inputSchema"])] if schemas and type_ == "tool" else [])

    for server in answer["servers"]:
        add("server", server, server["path"], server["server_name"])
    for tool in answer["tools"]:
        add("tool", tool, tool["server_path"], tool["tool_name"])
    for agent in answer["agents"]:
        add("agent", agent, agent["path"], agent["agent_name"])
    show_table(_REGISTRY, rows, details=details)
    metadata = answer["metadata"]
    if not rows:
        print_line("nothing was found: no server, tool or agent is near, or a #tag leaves all of them out")
    print_line(
        f"best of {metadata['candidate_count']} servers and agents in {metadata['total_time_ms']:.1f} ms, "
        f"{answer['search_mode']}{_degraded(metadata)}"
    )


def show_messages(answer: dict[str, Any]) -> None:
    """Show messages with what stands around the words that were searched."""
    results = answer["results"]
    show_table(
        _MESSAGES,
        [
            (str(row["id"]), _day(row.get("created_ts")), row.get("from") or "", row.get("subject") or "")
            for row in results
        ],
        details=[[_whole_words(row["snippet"])] if row.get("snippet") else [] for row in results],
    )
    if not results:
        print_line("no message was found; --mode hybrid finds them by what they mean, too")
    more = ", and there are more" if answer.get("next_cursor") else ""
    count = f"{len(results)} message{'' if len(results) == 1 else 's'}"
    print_line(f"{count}{more}, {answer['mode']} by {answer['engine']}")


def first_line(description: str) -> str:
    """Return the first line of a description, whole."""
    return description.strip().partition("\n")[0]


def _whole_words(snippet: str) -> str:
    """Return a snippet without the word that its end cuts."""
    text = snippet.rstrip()
    return text if text.endswith((".", "!", "?", ":")) else f"{text.rpartition(' ')[0]} …"


def _why_no_skills(metadata: dict[str, Any]) -> str:
    reason = metadata["fallback_reason"]
    words = {
        None: "not asked",
        "no_skill_matched": "none matched, so all tools were searched",
        "no_skills": "there are none, so all tools were searched",
    }
    return words.get(reason, str(reason))


def _details(tool: dict[str, Any], *, schemas: bool) -> list[str]:
    lines = [_schema(tool["input_schema"])] if schemas else []
    if tool.get("explain"):
        lines.append(_parts(tool["explain"]))
    if tool.get("duplicates"):
        servers = ", ".join(other["server"] or other["name"] for other in tool["duplicates"])
        lines.append(f"also of {servers}")
    return lines


def _schema(schema: object) -> str:
    return json.dumps(schema, ensure_ascii=False)


def _parts(explanation: dict[str, Any]) -> str:
    """Return the parts of a score that are there, those of a sum by what they contribute to it."""
    features = (explanation.get("features") or {}).items()
    shown = {name: f"{part['contribution']:.3f}" for name, part in features}
    shown |= {
        name: f"{value:.3f}" if isinstance(value, float) else str(value)
        for name, value in explanation.items()
        if isinstance(value, int | float) and value
    }
    return ", ".join(f"{name} {value}" for name, value in shown.items())


def _day(created_us: int | None) -> str:
    """Return the day of a time in microseconds."""
    return "" if created_us is None else datetime.fromtimestamp(created_us / 1e6, UTC).strftime("%Y-%m-%d")


def _confidence(metadata: dict[str, Any]) -> str:
    confidence = metadata.get("confidence")
    return "" if confidence is None else f", confidence {confidence:.2f}"


def _how_sure(need: dict[str, Any]) -> str:
    if need["no_match"]:
        return "nothing seems to fit"
    return "served" if need["confidence"] is None else f"confidence {need['confidence']:.2f}"


def _degraded(metadata: dict[str, Any]) -> str:
    return f", degraded: {', '.join(metadata['degraded'])}" if metadata["degraded"] else ""
