"""How many tokens a text has, as the embedding model's tokenizer cuts it."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

from skillroute.core.errors.model import EmbeddingUnavailable
from skillroute.core.input.encodable import encodable

# A word of more than 100 letters is one unknown token to WordPiece, however long it is.
_MAX_WORD_LENGTH = re.compile(r"\w{100}")


class TokenCounter:
    """Counts by a ``tokenizer.json``, which is read at the first count. Safe to call from several threads.

    Parameters
    ----------
    file : Path

    Examples
    --------
    >>> TokenCounter(Path("layers/inference/models/all-minilm-l6-v2/tokenizer.json"))("schedule a meeting")
    3
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._tokenizer: Any = None

    def __call__(self, text: str) -> int:
        """Return the tokens of a text, whole: nothing is cut off, and no marks of beginning and end are counted.

        Raises
        ------
        EmbeddingUnavailable
            The file or the package that reads it is missing or damaged.
        """
        return len(
            self._loaded().encode(_MAX_WORD_LENGTH.sub(r"\g<0> ", encodable(text)), add_special_tokens=False).ids
        )

    def _loaded(self) -> Any:
        with self._lock:
            if self._tokenizer is None:
                try:
                    import tokenizers  # noqa: PLC0415 - the layer may not be there, and few requests count

                    tokenizer = tokenizers.Tokenizer.from_file(str(self._file))
                # The library has no base class for its errors: it raises direct children of Exception.
                except Exception as error:
                    raise EmbeddingUnavailable(f"{self._file} cannot count tokens: {error}") from error
                tokenizer.no_truncation()
                tokenizer.no_padding()
                self._tokenizer = tokenizer
            return self._tokenizer
