"""YAML as JSON can carry it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from skillroute_local.importing import yaml_text
from skillroute_local.importing.model import Unreadable
from skillroute_local.importing.yaml_text import load_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: yes\nb: on\nc: NO", {"a": "yes", "b": "on", "c": "NO"}),
        ("a: true\nb: False", {"a": True, "b": False}),
        ("a: 2026-01-02\nb: 12:30:00", {"a": "2026-01-02", "b": "12:30:00"}),
        ("200: ok\ntrue: t\nnull: n", {"200": "ok", "true": "t", "null": "n"}),
        ("a: &x {k: 1}\nb: *x\nc: {<<: *x, m: 2}", {"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 1, "m": 2}}),
        (
            "x: &x {k: 1, l: 2}\ny: &y {k: 3, m: 4}\nz: {k: 5, <<: [*x, *y]}\nw: {<<: [*x, *y]}",
            {
                "x": {"k": 1, "l": 2},
                "y": {"k": 3, "m": 4},
                "z": {"k": 5, "l": 2, "m": 4},
                "w": {"k": 1, "l": 2, "m": 4},
            },
        ),
        ("a: ~\nb: 1.5\nc: -3\nd: 1e3", {"a": None, "b": 1.5, "c": -3, "d": 1000.0}),
        ("a: 0x1F\nb: 010\nc: 1_000\nd: .nan", {"a": "0x1F", "b": "010", "c": "1_000", "d": ".nan"}),
        ("", None),
    ],
)
def test_values_are_those_of_json(text: str, value: object) -> None:
    assert load_yaml(text, "f") == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: !!python/object/apply:os.system [ls]", "f:1:4: is of a type that JSON does not have: "),
        ("a: &a [*a]", "f: is nested too deeply to be read"),
        ("a: \x07", "f: is not YAML: "),
        ("a: !!pairs [b: 1]", "f:1:4: is of a type that JSON does not have: !!pairs"),
        ("a: !!set {b}", "f:1:4: is of a type that JSON does not have: !!set"),
        ("a: !!binary aGk=", "f:1:4: is of a type that JSON does not have: !!binary"),
        ("a: !!int 0x1F", "f:1:4: is of a type that JSON does not have: !!int"),
        ("[a]: 1", "f:1:1: must be a text: it is a key"),
        ("a: {<<: 1}", "f:1:9: must be a mapping: << merges it into another one"),
        ("a:\n " + "[" * 300, "f:2:2: is nested deeper than 200 levels"),
        ("- " * 300, "f:1:1: is nested deeper than 200 levels"),
        ("[\n" * 300, "f:201:1: is nested deeper than 200 levels"),
        ("\n".join(" " * n + "-" for n in range(300)), "f:201:201: is nested deeper than 200 levels"),
        ("a: 1\n---\nb: 2", "f:2:1: is not YAML: but found another document"),
    ],
)
def test_what_is_none_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(Unreadable) as raised:
        load_yaml(text, "f")

    assert str(raised.value).startswith(problem)


@pytest.mark.parametrize("level", ["[", "{", "[{", "[ {\t", "- ", "?  ", "{a: ", "[\n", "{a:\n"])
@pytest.mark.parametrize("encode", [str, str.encode])
def test_levels_that_a_parser_has_no_stack_for_are_refused_by_the_limit_of_this_program(
    level: str, encode: Callable[[str], str | bytes]
) -> None:
    with pytest.raises(Unreadable, match=r"^f:\d+:\d+: is nested deeper than 200 levels$"):
        load_yaml(encode(f"é: 1\nb: {level * 100_000}" if level[0] in "[{" else level * 100_000), "f")


@pytest.mark.parametrize(
    "text", ["[" * 200 + "]" * 200, "- " * 199 + "- a", "a: |\n  " + "- " * 150 + "\n  " + "- " * 150]
)
def test_as_many_levels_as_are_allowed_are_read(text: str) -> None:
    assert load_yaml(text, "f")


@pytest.mark.parametrize("level", ["<<: [{}]", "k: [{}]", "? k\n  : [{}]"])
def test_merge_keys_that_multiply_are_refused_before_they_do(monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    monkeypatch.setattr(yaml_text, "MAX_VALUES", 10_000)
    lines = [f"l{n}: &l{n}\n  {level.format(', '.join([f'*l{n - 1}'] * 8))}\n" for n in range(1, 30)]

    with pytest.raises(Unreadable, match="f: has more than 10000 values once its aliases are unfolded"):
        load_yaml("l0: &l0 {k: 1}\n" + "".join(lines), "f")


def test_aliases_that_unfold_without_measure_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MAX_VALUES", 10_000)
    laughs = "a0: &a0 [lol]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10))

    with pytest.raises(Unreadable, match="f: has more than 10000 values once its aliases are unfolded"):
        load_yaml(laughs, "f")
