"""Media types of files by their endings: a table of our own, since Python's depends on the machine."""

from __future__ import annotations

from typing import Final

_OF_ENDING: Final = {
    "md": "text/markdown",
    "txt": "text/plain",
    "csv": "text/csv",
    "html": "text/html",
    "css": "text/css",
    "py": "text/x-python",
    "sh": "application/x-sh",
    "js": "text/javascript",
    "ts": "text/x-typescript",
    "json": "application/json",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "toml": "application/toml",
    "xml": "application/xml",
    "xsd": "application/xml",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "zip": "application/zip",
    "ttf": "font/ttf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def mime_type_of(path: str) -> str:
    """Return the media type of a file by the ending of its path.

    Examples
    --------
    >>> mime_type_of("scripts/extract.PY"), mime_type_of("LICENSE.txt"), mime_type_of("data.bin")
    ('text/x-python', 'text/plain', 'application/octet-stream')
    """
    name = path.rpartition("/")[2]
    return _OF_ENDING.get(name.rpartition(".")[2].lower(), "application/octet-stream")
