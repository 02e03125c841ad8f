"""What is wrong with a field, as a sentence: pydantic's own messages, but where they speak of Python or of patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

_SENTENCES: Mapping[str, str] = {
    "dict_type": "must be an object",
    "model_attributes_type": "must be an object",
    "model_type": "must be an object",
    "extra_forbidden": "is no field that is known here",
}
_VALUE_ERROR = "Value error, "


def sentence_of(found: Mapping[str, Any]) -> str:
    """Return what one of pydantic's errors says.

    Parameters
    ----------
    found : mapping
        As `ValidationError.errors` returns it, or FastAPI of JSON that cannot be read.

    Examples
    --------
    >>> sentence_of({"type": "value_error", "msg": "Value error, must be lower case"})
    'must be lower case'
    """
    message: str = found["msg"]
    if found["type"] == "json_invalid":
        return f"is no JSON: {found['ctx']['error']}" if found.get("ctx") else message
    return _SENTENCES.get(found["type"], message.removeprefix(_VALUE_ERROR))


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a text must be spelt: the pattern for the OpenAPI document, a sentence for people.

    Examples
    --------
    >>> from typing import Annotated
    >>> Code = Annotated[str, Spelling("^[a-z]+$", "must consist of small letters")]
    """

    pattern: str
    sentence: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "pattern": self.pattern}

    def _checked(self, text: str) -> str:
        # `$` of Python would take a line break at the end.
        if not re.search(f"{self.pattern.removesuffix('$')}\\Z", text):
            raise PydanticCustomError("string_pattern_mismatch", "{sentence}", {"sentence": self.sentence})
        return text
