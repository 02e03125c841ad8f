"""Make the committed BLAS libraries from the C beside this file. Run by hand, after a change of the C.

    python -m venv /tmp/build && /tmp/build/bin/pip install -r ../requirements-build.txt
    /tmp/build/bin/python build.py            # writes arm64.so, x86_64.so and SHA256SUMS

`make check-blas` compiles them anew and compares, so that nobody has to take the libraries on trust.

Zig's C compiler comes as a wheel and compiles for either processor on any machine; the same C gives the same bytes.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
# The least processor that numpy's wheels take, and a C library older than any that can load the other wheels.
LIBRARIES = {"arm64.so": ("aarch64-linux-gnu.2.17", "generic"), "x86_64.so": ("x86_64-linux-gnu.2.17", "x86_64_v2")}
# Sums may be taken in any order, as OpenBLAS does: that is what lets the loops become vector instructions.
# Nothing is linked in, and nothing may be missing: the library must load into any process.
FLAGS = [
    "-std=c11", "-O3", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno",
    "-fcx-limited-range", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-nostdlib", "-Wl,-z,defs", "-s",
]  # fmt: skip


def main() -> None:
    """Compile for both processors, and note what was made from what; or compare with what is committed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the committed ones are others")
    if not parser.parse_args().check:
        compile_into(HERE)
        files = sorted(path for path in HERE.iterdir() if path.suffix in {".c", ".h", ".so"})
        lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
        (HERE / "SHA256SUMS").write_text("".join(lines), "ascii")
        return
    with tempfile.TemporaryDirectory() as made:
        compile_into(Path(made))
        others = [name for name in LIBRARIES if (Path(made) / name).read_bytes() != (HERE / name).read_bytes()]
    if others:
        sys.exit(f"not what the C compiles to: {', '.join(others)}")
    print(f"{' and '.join(LIBRARIES)} are what the C compiles to")


def compile_into(folder: Path) -> None:
    """Write a library for each processor."""
    for name, (target, processor) in LIBRARIES.items():
        compiler = [sys.executable, "-m", "ziglang", "cc", "-target", target, f"-mcpu={processor}"]
        subprocess.run([*compiler, *FLAGS, "-o", str(folder / name), "blas.c"], cwd=HERE, check=True)


if __name__ == "__main__":
    main()
