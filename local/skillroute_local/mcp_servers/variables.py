"""Variables in an `mcp.json`: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${input:id}` and those of folders.

Gemini CLI knows `$NAME` as well and leaves what is not set as it is; opencode has `{env:NAME}` and `{file:PATH}`, and
Continue `${{ secrets.NAME }}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillroute_local.mcp_servers.forms import Syntax

_VARIABLE = re.compile(r"\$\{([^{}]*|\{[^{}]*\})\}")
_SECRET = re.compile(r"\{\s*secrets\.([^\s{}]+)\s*\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DOLLAR = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([^{}]*)\})")
_OF_OPENCODE = re.compile(r"\{(env|file):([^{}]*)\}")
_MAX_FILE_BYTES = 64 * 1024
NOT_HERE = "is not put in for a file that came from elsewhere: use the file where it lies, in a terminal"
"""Ends the refusal of what only the person at this machine may have put into a file."""
_FOLDERS = {"workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/"}


class UnknownToProgramsError(ValueError):
    """A variable has no value that only a client can give: it is an error in arguments too."""


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
    syntax : str
        How the client writes variables.
    folder : Path
        Of the file, which paths in it are relative to.
    is_foreign : bool
        Whether the file came from elsewhere: nothing of this machine's files, folders and secrets is put into it.
    """

    environment: Mapping[str, str] = field(repr=False)
    inputs: Mapping[str, str | None]
    workspace: Path
    syntax: Syntax = "braces"
    folder: Path = Path()
    is_foreign: bool = False

    def of_entry(self, own: Mapping[str, str]) -> Variables:
        """Return the variables of an entry that sets some itself: they count before those of this process."""
        return replace(self, environment={**self.environment, **own})

    def expand_known(self, text: str) -> str:
        """Return a text with its variables replaced; those without a value stay, for the program that gets the text.

        Raises
        ------
        ValueError
            An input of VS Code or a secret of Continue has no value: no program can replace these.
        """

        def known(found: re.Match[str]) -> str:
            try:
                return self.expand(found[0])
            except UnknownToProgramsError:
                raise
            except ValueError:
                return found[0]

        pattern = {"dollar": _DOLLAR, "opencode": _OF_OPENCODE}.get(self.syntax, _VARIABLE)
        return pattern.sub(known, text)

    def expand(self, text: str) -> str:
        """Return a text with its variables replaced; one of a kind that is not known here stays as it is.

        Raises
        ------
        ValueError
            A variable has no value; the message says how to give it one.
        """
        match self.syntax:
            case "none":
                return text
            case "opencode":
                return _OF_OPENCODE.sub(lambda found: self._of_opencode(found[1], found[2]), text)
            case "dollar":
                return _DOLLAR.sub(lambda found: self._where_set(found[1] or found[2], found[0]), text)
            case _:
                return _VARIABLE.sub(lambda found: self._value(found[1], found[0]), text)

    def _where_set(self, variable: str, as_written: str) -> str:
        try:
            return self._value(variable, as_written)
        except ValueError:
            return as_written

    def _of_opencode(self, kind: str, name: str) -> str:
        if kind == "env":
            return self.environment.get(name, "")
        if self.is_foreign:
            raise ValueError(f"{{file:{name}}} {NOT_HERE}")
        path = self.folder / Path(name).expanduser()
        try:
            with path.open(encoding="utf-8") as file:
                return file.read(_MAX_FILE_BYTES).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"the file {path} cannot be read") from error

    def _value(self, variable: str, as_written: str) -> str:
        if secret := _SECRET.fullmatch(variable):
            return self._secret(secret[1])
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

    def _secret(self, name: str) -> str:
        value = self.environment.get(name)
        if value is None:
            raise UnknownToProgramsError(f"the secret {name} is not known here: set the environment variable {name}")
        return value

    def _input(self, identifier: str) -> str:
        """Return an input's value: nobody is there to be asked, so it comes from the environment."""
        name = "INPUT_" + re.sub(r"\W", "_", identifier).upper()
        value = self.environment.get(name) or self.inputs.get(identifier)
        if value is None:
            raise UnknownToProgramsError(
                f"the input {identifier!r} cannot be asked for here: set the environment variable {name}"
            )
        return value

    def _folder(self, variable: str) -> str:
        if self.is_foreign:
            raise ValueError(f"${{{variable}}} {NOT_HERE}")
        match variable:
            case "userHome":
                return str(Path.home())
            case "workspaceFolder":
                return str(self.workspace)
            case "workspaceFolderBasename":
                return self.workspace.name
            case _:
                return "/"
