"""The folders of the tests are those of the package, and a unit test is named after its module."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[2]
ROOT = TESTS.parent
# What a tier's folders stand for: the package itself, unless the first folder names another one.
OTHERS = {
    "benchmarks": ROOT / "benchmarks",
    "client": ROOT / "clients/python/skillroute_client",
    "local": ROOT / "local/skillroute_local",
}
PACKAGE = ROOT / "layers/common/python/skillroute"


def folder_of(file: Path, tier: str) -> Path:
    """Return the folder whose modules a test is of."""
    parts = file.relative_to(TESTS / tier).parts[:-1]
    return OTHERS[parts[0]].joinpath(*parts[1:]) if parts and parts[0] in OTHERS else PACKAGE.joinpath(*parts)


def test_every_folder_of_tests_is_a_folder_of_the_package() -> None:
    strays = []
    for tier in ("unit", "component", "integration", "api"):
        files = [file for file in (TESTS / tier).rglob("*.py") if "repository" not in file.parts]
        assert files
        strays += [str(file) for file in files if not folder_of(file, tier).is_dir()]
    assert strays == []


def test_every_unit_test_is_named_after_a_module() -> None:
    """Or after one with an aspect of it: `test_<module>_<aspect>.py`."""
    strays = []
    for file in (TESTS / "unit").rglob("test_*.py"):
        modules = {module.stem for module in folder_of(file, "unit").glob("*") if not module.name.startswith("_")}
        names = file.stem.removeprefix("test_").split("_")
        named = modules & {"_".join(names[:length]) for length in range(1, len(names) + 1)}
        if file.parent.name != "repository" and not named:
            strays.append(str(file.relative_to(TESTS)))
    assert sorted(strays) == []
