"""The built functions in containers of Lambda's image, one for each cold start."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from samtranslator.yaml_helper import yaml_parse
from skillroute_local.errors import LocalError

from benchmarks.harness import ROOT, STANDING

BUILD = ROOT / ".aws-sam" / "build"
_AWS_IMAGE = "public.ecr.aws/lambda/python:3.13"
_MB_OF_ONE_PROCESSOR = 1769
_RUN_WITHIN_S = 120
_START = 'exec "$(command -v /var/lang/bin/python3 || command -v python3)" -S /bench/cold_process.py "$@"'
_COMPILE = (
    "test -d /var/runtime/botocore && cp -R /var/runtime/. /out/"
    " && python3 -m compileall -q --invalidation-mode unchecked-hash /out"
)
_PYTHONPATH = "/var/task:/opt/python:/opt/python/lib/python3.13/site-packages:/var/runtime"


@dataclass(frozen=True, slots=True)
class Function:
    """A function as it was built.

    Attributes
    ----------
    opt : Path
        What lies under /opt: its layers, one over the other.
    """

    name: str
    memory_mb: int
    code: Path
    opt: Path
    runtime: Path | None = None  # what stands in for the image's own packages; None leaves them


def built(names: Iterable[str], folder: Path) -> dict[str, Function]:
    """Read functions off the built template, and lay their layers together under `folder`, by links."""
    template = yaml_parse((BUILD / "template.yaml").read_text(encoding="utf-8"))
    merged: dict[tuple[str, ...], Path] = {}
    found = {}
    for name in names:
        logical_id = f"{name.capitalize()}Function"
        properties = template["Resources"][logical_id]["Properties"]
        layers = tuple(layer["Ref"] for layer in properties["Layers"] if "Ref" in layer)  # the others are conditional
        if layers not in merged:
            merged[layers] = folder / f"opt-{len(merged)}"
            for layer in layers:
                shutil.copytree(BUILD / layer, merged[layers], dirs_exist_ok=True, copy_function=os.link)
        found[name] = Function(name, properties["MemorySize"], BUILD / logical_id, merged[layers])
    return found


def without_bytecode(function: Function, folder: Path) -> Function:
    """Return the function with layers that hold sources only."""
    bare = folder / f"{function.opt.name}-bare"
    if not bare.exists():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(function.opt, bare, copy_function=os.link, ignore=ignored)
    return replace(function, opt=bare)


def compiled_runtime(folder: Path) -> Path | None:
    """Return a copy of the image's own packages with bytecode, None where the image keeps them elsewhere than we look.

    botocore alone takes four times as long to import without. Images that stand in for AWS's may have been made by
    another version of Python, whose bytecode Lambda's cannot use.
    """
    target = folder / "runtime"
    target.mkdir()
    # As the user who measures: what root writes into the folder, nobody else could delete.
    user = f"{os.getuid()}:{os.getgid()}"
    command = ["docker", "run", "--rm", "--user", user, "--volume", f"{target}:/out"]
    command += ["--entrypoint", "sh", image(), "-c", _COMPILE]
    return target if subprocess.run(command, capture_output=True, check=False).returncode == 0 else None


class Containers:
    """Runs functions in containers, one for each run."""

    def __init__(self, image: str, environment: Mapping[str, str], events: Path, *, on_host_network: bool) -> None:
        self._image = image
        self._events = events
        self._environment = environment
        self._network = ["--network", "host"] if on_host_network else []

    def run(self, function: Function, event: str, *options: str) -> tuple[dict[str, float], str]:
        """Start a function cold with an event; return its times, and what it wrote on stderr."""
        cpus = min(1.0, function.memory_mb / _MB_OF_ONE_PROCESSOR)
        variables = {
            **self._environment,
            "PYTHONPATH": _PYTHONPATH,
            "LAMBDA_TASK_ROOT": "/var/task",
            "AWS_LAMBDA_FUNCTION_NAME": f"skillroute-{function.name}",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
        }
        command = ["docker", "run", "--rm", *self._network, f"--cpus={cpus:.3f}", f"--memory={function.memory_mb}m"]
        for name, value in variables.items():
            command += ["--env", f"{name}={value}"]
        volumes = {function.code: "/var/task", function.opt: "/opt", STANDING: "/bench"}
        volumes |= {} if function.runtime is None else {function.runtime: "/var/runtime"}
        for source, target in volumes.items():
            command += ["--volume", f"{source}:{target}:ro"]
        command += ["--volume", f"{self._events}:/events:ro", "--entrypoint", "sh", self._image, "-c", _START, "sh"]
        command += [*options, f"/events/{event}.json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_RUN_WITHIN_S)
        if done.returncode:
            raise RuntimeError(f"{function.name} with {event}: {(done.stderr or done.stdout)[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1]), done.stderr


def image() -> str:
    """Return the image to run, pulled where it must be. Raises `LocalError`."""
    name = os.environ.get("SKILLROUTE_SAM_IMAGE") or _AWS_IMAGE
    if subprocess.run(["docker", "image", "inspect", name], capture_output=True, check=False).returncode:
        pulled = subprocess.run(["docker", "pull", "--quiet", name], capture_output=True, text=True, check=False)
        if pulled.returncode:
            raise LocalError(
                f"the image {name} cannot be had ({pulled.stderr.strip()}); SKILLROUTE_SAM_IMAGE names one"
            )
    return name
