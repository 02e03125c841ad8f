"""The program `skillroute` where what it needs is missing, and where its files are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from skillroute.core.embedding import packaged
from skillroute_local.commands import up
from skillroute_local.errors import LocalError
from skillroute_local.examples import EXAMPLES

# In the place of an environment without the module.
_WITHOUT = "import sys; sys.modules[{name!r}] = None; from skillroute_local.__main__ import main; main()"


@pytest.mark.parametrize("name", ["typer", "psutil"])
def test_without_the_extra_it_says_in_a_line_what_to_install(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT.format(name=name)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"skillroute: {name} is not installed: the command line needs the extra `local`")
    assert len(done.stderr.splitlines()) == 1


def test_a_module_of_its_own_that_is_missing_is_an_error_of_the_program() -> None:
    code = _WITHOUT.format(name="skillroute_local.home")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Traceback" in done.stderr


def test_the_wheels_models_go_before_a_folder_of_lambdas_and_this_before_the_repositorys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_wheel, on_lambda, in_repository = (tmp_path / name for name in ("wheel", "opt", "repository"))
    monkeypatch.setattr(packaged, "_IN_WHEEL", in_wheel)
    monkeypatch.setattr(packaged, "_ON_LAMBDA", on_lambda)
    monkeypatch.setattr(packaged, "_IN_REPOSITORY", in_repository)
    assert packaged.models_dir() == in_repository
    on_lambda.mkdir()
    assert packaged.models_dir() == on_lambda
    in_wheel.mkdir()
    assert packaged.models_dir() == in_wheel


def test_a_checkout_reads_its_own_models_and_examples() -> None:
    root = Path(__file__).parents[3]
    assert root / "layers" / "inference" / "models" == packaged._IN_REPOSITORY
    assert root / "examples" == EXAMPLES


def test_up_says_where_it_runs_on_a_system_that_has_no_posix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(up, "os", SimpleNamespace(name="nt"))
    with pytest.raises(LocalError, match="needs Linux or macOS"):
        up.up()
