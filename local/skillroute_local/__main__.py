"""The program `skillroute`, also `python -m skillroute_local`: the command line, where what it needs is installed."""

from __future__ import annotations

import sys

from skillroute import __version__

_ANY = "py3-none-any.whl"
_OWN = ("skillroute", "skillroute_local")


def main() -> None:
    """Run a command; without the extra `local` say what to install."""
    try:
        from skillroute_local.cli import main as run  # noqa: PLC0415 (what it needs may be missing)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if not missing or missing in _OWN:
            raise
        # The files, for the bare name is another project's on PyPI.
        wheels = f"'./skillroute-{__version__}-{_ANY}[local]' ./skillroute_client-{__version__}-{_ANY}"
        sys.stderr.write(
            f"skillroute: {missing} is not installed: the command line needs the extra `local`; install both wheels "
            f"with it, `pip install {wheels}`, or from a checkout, `pip install ./clients/python '.[local]'`\n"
        )
        sys.exit(1)
    run()


if __name__ == "__main__":
    main()
