"""Write requests of `cost.py`: as much as a call takes, of the largest and of the most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from benchmarks.standing.cost_case import Body, Case, filled, within
from benchmarks.standing.cost_texts import HOSTILE
from benchmarks.standing.cost_world import Json, World, key, large_tool, message, named, skill, skill_folder, wide_tool


def _bulk(name: str, path: str, body: Body) -> Case:
    """Return a bulk write; the model is asked where its texts are what it is about."""
    return Case(name, path, body, work="bulk", embeds="text" in name, may_fail="refused" in name)


def put_tools(path: str, _: World) -> Iterator[Case]:
    """Yield catalogues of tools."""

    def put(name: str, make: Callable[[], list[Json]]) -> Case:
        return _bulk(name, path, lambda: {"items": make()})

    large = put("24 of 240 KB", lambda: [large_tool(n, "put") for n in range(24)])
    yield large
    yield _bulk("24 of 240 KB, unchanged", path, large.body)
    yield put("500 with the most tags", lambda: [wide_tool(n, "put") for n in range(500)])
    yield put("100 with the longest texts", lambda: [_described(f"put_{n}", "words", 50_000) for n in range(100)])
    yield put("each text, 50,000 characters", lambda: [_described(f"each {n}", n, 50_000) for n in HOSTILE])
    yield put("350,000 values", lambda: [_schema(f"v{n}", {"enum": [0] * 699}) for n in range(500)])
    yield put("150,000 objects", lambda: [_schema(f"o{n}", {"anyOf": [{}] * 299}) for n in range(500)])
    yield put("the most properties", lambda: [_properties(n) for n in range(500)])
    yield put("64 levels", lambda: [_schema(f"d{n}", _nested(60)) for n in range(500)])
    yield put("400 levels, refused", lambda: [_schema(f"x{n}", _nested(400)) for n in range(500)])
    yield put("500 refused", lambda: [{"name": "\x01" * 256, "type": "x", "tags": [1] * 100} for n in range(500)])
    yield put("unknown fields", lambda: [{"name": f"u{n}", **{f"f{m}": m for m in range(300)}} for n in range(500)])


def _described(name: str, text: str, length: int) -> Json:
    made = HOSTILE[text](length)
    return {"name": f"{name} {made[:200]}".replace("\x01", ".").replace("\t", "."), "description": made}


def _schema(name: str, value: Json) -> Json:
    return {"name": name, "description": "water", "input_schema": {"type": "object", "x": value}}


def _properties(number: int) -> Json:
    properties = {f"p{n}_{number}": {"type": "string", "description": "water"} for n in range(150)}
    return {"name": f"properties_{number}", "input_schema": {"type": "object", "properties": properties}}


def _nested(levels: int) -> Json:
    value: Json = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def put_servers(path: str, _: World) -> Iterator[Case]:
    """Yield servers with their tools."""

    def put(name: str, make: Callable[[], list[Json]]) -> Case:
        return _bulk(name, path, lambda: {"servers": make()})

    tools = [{"name": named("put", n, 100), "description": "water"} for n in range(500)]
    most = put("4 with 500 tools", lambda: [{"name": f"put {n}", "tools": tools} for n in range(4)])
    yield most
    yield _bulk("4 with 500 tools, unchanged", path, most.body)
    yield put("4 without their tools", lambda: [{"name": f"put {n}", "tools": []} for n in range(4)])
    yield put("one with 24 tools of 240 KB", lambda: [{"name": "put l", "tools": [large_tool(n) for n in range(24)]}])
    yield put("100 of 50 KB", lambda: [{"name": f"put {n}", "description": "w" * 40_000} for n in range(100)])
    yield put("5 with 500 tools, one refused", lambda: [{"name": f"more {n}", "tools": tools} for n in range(5)])
    yield put("each text, 50,000 characters", lambda: [_entity(number, name) for number, name in enumerate(HOSTILE)])


def _entity(number: int, text: str) -> Json:
    return {**_described(f"{number}", text, 50_000), "path": f"/hostile/{number}", "tags": [f"t{n}" for n in range(50)]}


def put_agents(path: str, _: World) -> Iterator[Case]:
    """Yield agent cards."""

    def put(name: str, make: Callable[[], list[Json]]) -> Case:
        return _bulk(name, path, lambda: {"agents": make()})

    skills = [{"name": named("put", n, 64)} for n in range(500)]
    names = {named("c", n): True for n in range(100)}
    yield put("90 with 500 skills", lambda: [{"name": f"put {n}", "skills": skills} for n in range(90)])
    yield put("100 with 100 capabilities", lambda: [{"name": f"c {n}", "capabilities": names} for n in range(100)])
    yield put("24 of 240 KB", lambda: [{"name": f"put l{n}", "x": "y" * 240_000} for n in range(24)])
    yield put("100 refused", lambda: [{"name": f"w {n}", "skills": [{}] * 500} for n in range(100)])
    yield put("each text, 50,000 characters", lambda: [_entity(number, name) for number, name in enumerate(HOSTILE)])


def put_agent_skills(path: str, _: World) -> Iterator[Case]:
    """Yield Agent Skills with the most files, pieces and bytes."""

    def put(name: str, make: Callable[[], list[Json]]) -> Case:
        return _bulk(name, path, lambda: {"agent_skills": make()})

    parts = ("# Water\n" + "word " * 180 + "\n") * 60
    most = put("100 of 60 pieces", lambda: [skill_folder(f"put-{n}", parts) for n in range(100)])
    yield most
    yield _bulk("100 of 60 pieces, unchanged", path, most.body)
    yield put("100 with 200 files", lambda: [skill_folder(f"files-{n}", "water", files=199) for n in range(100)])
    yield put("3 of 1 MB", lambda: [skill_folder(f"large-{n}", "word\n\n" * 170_000) for n in range(3)])
    yield put("one line of 1 MB", lambda: [skill_folder("line", "w" * 1_000_000)])
    yield put("fences and headings", lambda: [skill_folder("marks", "```\n# \n~~~\n" * 80_000)])
    yield put("100 refused", lambda: [{"path": "x", "frontmatter": {}, "files": [{}] * 200} for _ in range(100)])
    yield put("each text", lambda: [skill_folder(f"text-{n}", HOSTILE[of](50_000)) for n, of in enumerate(HOSTILE)])


# Mail


def put_mail(name: str, many: Mapping[str, Callable[[], list[Json]]]) -> Callable[[str, World], Iterator[Case]]:
    """Return the cases of a bulk write of mail."""

    def cases(path: str, _: World) -> Iterator[Case]:
        for case, make in many.items():
            yield _bulk(case, path, lambda make=make: {name: make()})

    return cases


def _each_text(make: Callable[[int, str], Json], per_call: int, most_bytes: int) -> dict[str, Callable[[], list[Json]]]:
    """Return calls that write one thing with each of the texts, as long as a call has room for."""
    starts = range(0, len(HOSTILE), per_call)
    return {
        f"texts {start} to {min(start + per_call, len(HOSTILE)) - 1}": lambda start=start: [
            make(start + n, within(text(most_bytes), most_bytes))
            for n, text in enumerate(list(HOSTILE.values())[start : start + per_call])
        ]
        for start in starts
    }


def _short(number: int, body: str, subject: str = "water") -> Json:
    of = {"key": key("put", number), "project": key("p", 1), "from": "writer", "to": ["reader"]}
    return {**of, "subject": subject if subject.strip() else "water", "body": body}


_SLOW = ("different words", "words of a hyphen", "tables", "open quotes after names", "names of secrets")
MESSAGES: dict[str, Callable[[], list[Json]]] = {
    "3 to 300 agents": lambda: [message(n, "put") for n in range(3)],
    "400 to 3 agents": lambda: [_short(n, "water") for n in range(400)],
    "400 from new agents": lambda: [{**_short(n, "water"), "from": f"new {n}"} for n in range(400)],
    "2 from 600 new agents": lambda: [{**_short(n, ""), **_new_agents(n)} for n in range(2)],
    **_each_text(_short, 10, 95_000),
    **{f"10 of {name}": lambda name=name: [_short(n, HOSTILE[name](95_000)) for n in range(10)] for name in _SLOW},
    **{f"subjects: {name}": make for name, make in _each_text(lambda n, text: _short(n, "", text), 50, 1_000).items()},
}


def _new_agents(number: int) -> Json:
    names = [f"new {number} {place}" for place in range(300)]
    return {"to": names[:100], "cc": names[100:200], "bcc": names[200:]}


def _printable(text: str) -> str:
    return "".join(char for char in text[:14] if char.isprintable())


_KEYS = [key("p", n) for n in range(1000)]
PROJECTS = {
    "100 of 9 KB": lambda: [{"key": key("q", n), "name": "n", "description": "w" * 9_000} for n in range(100)],
    **_each_text(lambda n, text: {"key": key("q", n), "name": "n", "description": text}, 20, 45_000),
}
PRODUCTS = {"7 of 1,000 projects": lambda: [{"key": key("y", n), "name": "n", "projects": _KEYS} for n in range(7)]}
AGENTS = {
    "7 in 1,000 projects": lambda: [{"name": f"put {n}", "projects": _KEYS} for n in range(7)],
    "100 of 9 KB": lambda: [{"name": f"put {n}", "description": "w" * 9_000} for n in range(100)],
    **_each_text(lambda n, text: {"name": f"{n} {_printable(text)}", "description": text}, 20, 45_000),
}


# Skills


def post_skill(path: str, _: World) -> Iterator[Case]:
    """Yield skills that are new, and that are there."""
    yield Case("the largest", path, skill(0, "new"), (201,))
    yield Case("one that is there", path, skill(0, "new"), (409,))


def change_skill(path: str, _: World) -> Iterator[Case]:
    """Yield changes of a skill."""
    whole = {name: value for name, value in skill(1).items() if name != "id"}
    yield Case("the largest", path.format(skill_id=skill(0)["id"]), whole)
    yield Case("refused: 14,000 keywords", path.format(skill_id=skill(0)["id"]), {"keywords": ["k"] * 14_000}, (422,))


def of_skill(number: int, status: int = 200) -> Callable[[str, World], Iterator[Case]]:
    """Return the case of a route about one skill."""

    def cases(path: str, _: World) -> Iterator[Case]:
        yield Case("the largest", path.format(skill_id=skill(number)["id"]), statuses=(status,))

    return cases


def assign(path: str, world: World) -> Iterator[Case]:
    """Yield assignments by hand."""
    given = [{"skill_id": skill(n)["id"], "reasoning": '"' * 1000} for n in range(100)]
    of_tool = filled(path, world.tools[0])
    yield Case("5 skills", of_tool, {"skills": given[:5]})
    yield Case("refused: 100 skills", of_tool, {"skills": given}, (409, 422))


def feedback(path: str, _: World) -> Iterator[Case]:
    """Yield an outcome."""
    yield Case("one", path, _outcome(0), embeds=False)


def feedback_batch(path: str, _: World) -> Iterator[Case]:
    """Yield outcomes of many tools."""
    refused = [{**_outcome(n), "tool_id": "x" * 1000} for n in range(500)]
    yield _bulk("500", path, {"outcomes": [_outcome(n) for n in range(500)]})
    yield _bulk("500 refused", path, {"outcomes": refused})


def _outcome(number: int) -> Json:
    return {"search_id": "6f2c1b0e-8f1d-4a51-9d59-0d6f4f2b7a10", "tool_id": number + 1, "outcome": "succeeded"}


def classify(path: str, world: World) -> Iterator[Case]:
    """Yield classifications at once; the first one after a skill was created makes the table of all skills again."""
    for place, (name, work) in enumerate({"after a skill was created": "table", "a tool of 240 KB": "one"}.items()):
        yield Case(name, path, {"tool_id": world.tools[10 + place], "force_reclassify": True}, work=work, embeds=False)


def approve(path: str, world: World) -> Iterator[Case]:
    """Yield approvals of a suggestion."""
    yield Case("one of 500 of its name", filled(path, world.spare("suggestion")), skill(0, "approved"))


def merge(path: str, world: World) -> Iterator[Case]:
    """Yield merges of a suggestion."""
    yield Case("one of a name", filled(path, world.spare("suggestion")), {"skill_id": skill(9)["id"]})
