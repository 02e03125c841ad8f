"""Variables in an `mcp.json`: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${input:id}` and those of folders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_VARIABLE = re.compile(r"\$\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FOLDERS = {"workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/"}


@dataclass(frozen=True, slots=True)
class Variables:
    """The values that a file's variables have.

    Attributes
    ----------
    environment : mapping
        Of this process.
    inputs : mapping
        The inputs that VS Code would ask for, with their defaults; None where there is none.
    workspace : Path
        What `${workspaceFolder}` stands for.
    """

    environment: Mapping[str, str] = field(repr=False)
    inputs: Mapping[str, str | None]
    workspace: Path

    def expand(self, text: str) -> str:
        """Return a text with its variables replaced; one of a kind that is not known here stays as it is.

        Raises
        ------
        ValueError
            A variable has no value; the message says how to give it one.
        """
        return _VARIABLE.sub(lambda found: self._value(found[1], found[0]), text)

    def _value(self, variable: str, as_written: str) -> str:
        kind, colon, rest = variable.partition(":")
        if colon and kind == "input":
            return self._input(rest)
        if colon and kind == "env":
            return self._of_environment(rest, None)
        if variable in _FOLDERS:
            return self._folder(variable)
        name, dash, default = variable.partition(":-")
        if _NAME.fullmatch(name):
            return self._of_environment(name, default if dash else None)
        return as_written

    def _of_environment(self, name: str, default: str | None) -> str:
        value = self.environment.get(name)
        if default is not None and not value:  # as shells do with :-
            return default
        if value is None:
            raise ValueError(f"the environment variable {name} is not set")
        return value

    def _input(self, identifier: str) -> str:
        """Return an input's value: nobody is there to be asked, so it comes from the environment."""
        name = "INPUT_" + re.sub(r"\W", "_", identifier).upper()
        value = self.environment.get(name) or self.inputs.get(identifier)
        if value is None:
            raise ValueError(f"the input {identifier!r} cannot be asked for here: set the environment variable {name}")
        return value

    def _folder(self, variable: str) -> str:
        match variable:
            case "userHome":
                return str(Path.home())
            case "workspaceFolder":
                return str(self.workspace)
            case "workspaceFolderBasename":
                return self.workspace.name
            case _:
                return "/"
