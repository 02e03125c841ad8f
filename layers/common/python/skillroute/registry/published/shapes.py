"""The parts of a `server.json`, by which it is judged what of a document clients can read (revision 2025-12-11)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

_Url = Annotated[str, StringConstraints(pattern=r"^(https?://\S+|\{[a-zA-Z_][a-zA-Z0-9_]*\}\S*)$")]
_Link = Annotated[str, StringConstraints(pattern=r"^https?://\S+$")]


class _Shape(BaseModel):
    # Any other field is left out: it was not written for readers of the list.
    model_config = ConfigDict(extra="ignore", strict=True)


class Input(_Shape):
    """A value that the user of a server gives, or that is set."""

    description: str | None = None
    is_required: bool = Field(False, alias="isRequired")
    format: Literal["string", "number", "boolean", "filepath"] = "string"
    value: str | None = None
    is_secret: bool = Field(False, alias="isSecret")
    default: str | None = None
    placeholder: str | None = None
    choices: list[str] | None = None


class InputWithVariables(Input):
    """An input whose value names variables in braces."""

    variables: dict[str, Input] | None = None


class KeyValueInput(InputWithVariables):
    """A header or an environment variable."""

    name: str


class Argument(InputWithVariables):
    """An argument of a command."""

    type: Literal["positional", "named"]
    name: str | None = None
    value_hint: str | None = Field(None, alias="valueHint")
    is_repeated: bool = Field(False, alias="isRepeated")

    @model_validator(mode="after")
    def _is_whole(self) -> Argument:
        if self.type == "named" and self.name is None:
            raise ValueError("a named argument has a name")
        if self.type == "positional" and self.value is None and self.value_hint is None:
            raise ValueError("a positional argument has a value or a hint")
        return self


class StdioTransport(_Shape):
    """A server that is spoken to over standard input and output."""

    type: Literal["stdio"]


class HttpTransport(_Shape):
    """A server that is spoken to over HTTP."""

    type: Literal["streamable-http", "sse"]
    url: _Url
    headers: list[KeyValueInput] | None = None
    variables: dict[str, Input] | None = None


class Package(_Shape):
    """A package that a server is started from."""

    registry_type: str = Field(alias="registryType")
    registry_base_url: _Link | None = Field(None, alias="registryBaseUrl")
    identifier: str
    version: Annotated[str, StringConstraints(min_length=1)] | None = None
    file_sha256: Annotated[str, StringConstraints(pattern="^[a-f0-9]{64}$")] | None = Field(None, alias="fileSha256")
    runtime_hint: str | None = Field(None, alias="runtimeHint")
    transport: StdioTransport | HttpTransport
    runtime_arguments: list[Argument] | None = Field(None, alias="runtimeArguments")
    package_arguments: list[Argument] | None = Field(None, alias="packageArguments")
    environment_variables: list[KeyValueInput] | None = Field(None, alias="environmentVariables")


class Repository(_Shape):
    """Where the source of a server is."""

    url: _Link
    source: str
    id: str | None = None
    subfolder: str | None = None


class Icon(_Shape):
    """A picture that stands for a server."""

    src: Annotated[str, StringConstraints(pattern=r"^https://\S+$", max_length=255)]
    mime_type: Literal["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"] | None = Field(
        None, alias="mimeType"
    )
    sizes: list[Annotated[str, StringConstraints(pattern=r"^(\d+x\d+|any)$")]] | None = None
    theme: Literal["light", "dark"] | None = None
