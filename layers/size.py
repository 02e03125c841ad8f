"""Run the functions with their layers, and weigh them: `make layer-size`; `make layer-size-all` for both processors.

    python layers/size.py --built .aws-sam/build --architecture x86_64     # what `sam build` built
    python layers/size.py                                                  # builds the layers for both, without sam

Exits with 1 when a function is too heavy or lacks something. Needs a Python 3.13 to run the functions and to make the
bytecode, which is weighed too; no Docker.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cfnlint.decode import cfn_yaml

ROOT = Path(__file__).parents[1]
TEMPLATE = cfn_yaml.load(str(ROOT / "template.yaml"))
FOLDERS = {
    name: resource["Properties"]["ContentUri"]
    for name, resource in TEMPLATE["Resources"].items()
    if resource["Type"] == "AWS::Serverless::LayerVersion"
}
ARCHITECTURES = ("arm64", "x86_64")
Built = Mapping[str, Path]  # by processor, the folder that holds a folder for each layer
MB = 1_000_000
AWS_LIMIT_MB = 250 * 1024 * 1024 / MB  # a function with its layers, unzipped

FUNCTIONS = ("search", "mcp", "catalog", "skills", "classify", "aggregate", "learn", "call", "relay")
SEARCH_LIMIT_MB, OTHERS_LIMIT_MB, WITH_QDRANT_LIMIT_MB = 180, 150, 245
INDEXES: Mapping[str, frozenset[str]] = {
    "an index in each environment": frozenset(),
    # Who writes texts carries Qdrant Edge too, which cuts the words of what is written.
    "an index in PostgreSQL": frozenset({"SharesIndex"}),
    # All carry its client and, but for search, Qdrant Edge too, which encodes what is written to it.
    "a Qdrant server": frozenset({"SharesIndex", "UsesQdrantServer"}),
}
"""The conditions of template.yaml that hold, by where searches look."""


@dataclass(frozen=True, slots=True)
class Load:
    """The layers of one function, by where searches look, and the most that they may weigh."""

    function: str
    index: str
    layers: tuple[str, ...]
    limit_mb: int

    @property
    def names(self) -> str:
        return " ".join(layer.removesuffix("Layer") for layer in self.layers)


def main() -> None:
    """Build what is not built, run and weigh."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--built", type=Path, help="the folder of layers that are built already, for one processor")
    parser.add_argument("--architecture", choices=ARCHITECTURES, help="the processor of --built")
    args = parser.parse_args()
    if (args.built is None) != (args.architecture is None):
        parser.error("--built and --architecture go together")
    with tempfile.TemporaryDirectory() as scratch:
        if args.built:
            built = {args.architecture: args.built.resolve()}
        else:
            built = {architecture: Path(scratch) / architecture for architecture in ARCHITECTURES}
            # A build is mostly pip's work on one core.
            with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
                list(pool.map(lambda which: build(built, *which), itertools.product(ARCHITECTURES, FOLDERS)))
        loads = [load_of(name, index) for index in INDEXES for name in FUNCTIONS]
        faults = [*run_functions(loads, built, Path(scratch) / "runtime"), *weigh(loads, built)]
    if faults:
        sys.exit("\n".join(faults))


def load_of(function: str, index: str) -> Load:
    """Read from template.yaml what a function carries."""
    holders = TEMPLATE["Globals"]["Function"], TEMPLATE["Resources"][f"{function.title()}Function"]["Properties"]
    layers = []
    for layer in [layer for holder in holders for layer in holder.get("Layers", [])]:
        chosen = layer
        while "Fn::If" in chosen:
            condition, if_true, if_false = chosen["Fn::If"]
            # The layer of ADOT is AWS's, and is not built here.
            if condition not in {*INDEXES["a Qdrant server"], "UsesAdot"}:
                sys.exit(f"{function} has a layer on the condition {condition}, of which layers/size.py knows nothing")
            chosen = if_true if condition in INDEXES[index] else if_false
        if chosen["Ref"] != "AWS::NoValue":
            layers.append(chosen["Ref"])
    limit_mb = SEARCH_LIMIT_MB if "IndexLayer" in layers else OTHERS_LIMIT_MB
    if "UsesQdrantServer" in INDEXES[index]:
        limit_mb = WITH_QDRANT_LIMIT_MB
    return Load(function, index, tuple(layers), limit_mb)


def build(built: Built, architecture: str, layer: str) -> None:
    """Build one layer as `sam build` does."""
    folder = FOLDERS[layer]
    if not isinstance(folder, str):
        folder = folder["Fn::Sub"].replace("${Architecture}", architecture)
    target = built[architecture] / layer
    target.mkdir(parents=True)
    variables = [f"ARTIFACTS_DIR={target}", f"PYTHON={sys.executable}"]
    command = ["make", "--silent", "--no-print-directory", f"build-{layer}", *variables]
    subprocess.run(command, cwd=ROOT / folder, check=True)


def weigh(loads: Sequence[Load], built: Built) -> Iterator[str]:
    """Print what each function weighs on each processor; yield what is too much."""
    headings = " ".join(f"{f'{architecture} MB':>9}" for architecture in built)
    for number, load in enumerate(loads):
        if number == 0 or load.index != loads[number - 1].index:
            print(f"\nwith {load.index}:\n{'function':10} {headings} {'limit':>6}  layers")
        weights = [sum(weight_mb(folder / layer) for layer in load.layers) for folder in built.values()]
        columns = " ".join(f"{weight:9.1f}" for weight in weights)
        print(f"{load.function:10} {columns} {load.limit_mb:6}  {load.names}")
        for architecture, weight in zip(built, weights, strict=True):
            if weight > min(load.limit_mb, AWS_LIMIT_MB):
                yield (
                    f"{load.function} on {architecture} with {load.index} weighs {weight:.1f} MB, "
                    f"more than {load.limit_mb} MB"
                )


def weight_mb(folder: Path) -> float:
    """Return the sum of the sizes of a folder's files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MB


def run_functions(loads: Sequence[Load], built: Built, runtime: Path) -> Iterator[str]:
    """Run every function with its layers for this machine's processor; yield what failed."""
    architecture = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
    found = subprocess.run(["sh", str(ROOT / "layers" / "find-python.sh")], capture_output=True, text=True, check=False)
    if found.returncode or architecture not in built or sys.platform != "linux":
        print(f"The functions were not run: that takes Linux, {' or '.join(built)}, and Python 3.13.")
        return
    borrow_runtime(runtime)
    check = [found.stdout.strip(), "-I", "-S", "-B", str(ROOT / "layers" / "check.py")]
    for load in loads:
        layers = [str(built[architecture] / layer) for layer in load.layers]
        child = subprocess.run(
            [*check, load.function, str(runtime), *layers],
            env={"PATH": os.defpath},
            capture_output=True,
            text=True,
            check=False,
        )
        if child.returncode:
            yield f"{load.function} does not run with {load.names} on {architecture}:\n{child.stderr[-700:]}"
        else:
            print(f"{load.function:10} runs with {load.names}")


def borrow_runtime(folder: Path) -> None:
    """Copy this Python's boto3, in the place of the one in the Lambda runtime. It is pure Python, for any version."""
    folder.mkdir()
    for name in ("boto3", "botocore", "s3transfer", "urllib3"):
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin is not None, f"{name} is not installed: make setup"
        shutil.copytree(Path(spec.origin).parent, folder / name, ignore=shutil.ignore_patterns("__pycache__"))


if __name__ == "__main__":
    main()
