"""The body of an operation: JSON, a form, parts, or a text, by the media type that its document names."""

from __future__ import annotations

import base64
import binascii
import json
import secrets
from collections.abc import Mapping
from typing import Any

from skillroute.calling.model import CallFailed, Failure
from skillroute.calling.styles import as_text, in_query

_FORM, _PARTS = "application/x-www-form-urlencoded", "multipart/form-data"


def is_json(media_type: str) -> bool:
    """Return whether a media type is JSON, with or without parameters."""
    bare = media_type.partition(";")[0].strip().lower()
    return bare == "application/json" or bare.endswith("+json")


def is_text(media_type: str) -> bool:
    """Return whether a media type is read as text."""
    bare = media_type.partition(";")[0].strip().lower()
    return bare.startswith("text/") or bare.endswith(("/xml", "+xml", "/yaml", "+yaml", "/javascript", _FORM))


def body_of(value: Any, place: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return a body and its `Content-Type`.

    Raises
    ------
    CallFailed
        The media type cannot carry the value.
    """
    media_type = str(place.get("name") or "application/json")
    bare = media_type.partition(";")[0].strip().lower()
    if "*" in bare:
        bare = media_type = "text/plain" if isinstance(value, str) else "application/json"
    encoding = place.get("encoding") if isinstance(place.get("encoding"), dict) else {}
    if is_json(bare):
        return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii"), media_type
    if bare in {_FORM, _PARTS}:
        if not isinstance(value, dict):
            raise CallFailed(Failure.PROTOCOL, f"the argument body must be an object, which is sent as {bare}")
        return (_form(value, encoding), media_type) if bare == _FORM else _parts(value, encoding)
    if not isinstance(value, str):
        raise CallFailed(Failure.PROTOCOL, f"the argument body must be a text, which is sent as {bare}")
    return (value.encode("utf-8", "replace") if is_text(bare) else _bytes(value)), media_type


def _form(value: dict[str, Any], encoding: Any) -> bytes:
    pairs = []
    for name, inner in value.items():
        if inner is None:
            continue
        how = {key: each for key, each in _how(encoding, name).items() if key in {"style", "explode", "allowReserved"}}
        if not how and isinstance(inner, dict):
            how = {"contentType": "application/json"}
        pairs += in_query(inner, {"name": name, **how})
    return "&".join(f"{name}={text}" for name, text in pairs).encode("ascii")


def _parts(value: dict[str, Any], encoding: Any) -> tuple[bytes, str]:
    boundary = secrets.token_hex(16)
    lines: list[bytes] = []
    for name, inner in value.items():
        media_type = _how(encoding, name).get("contentType")
        kind = media_type.partition(",")[0].strip() if isinstance(media_type, str) else None
        for each in inner if isinstance(inner, list) and not (kind and is_json(kind)) else [inner]:
            if each is not None:
                lines += _part(name, each, kind, boundary)
    lines.append(f"--{boundary}--\r\n".encode("ascii"))
    return b"\r\n".join(lines), f"{_PARTS}; boundary={boundary}"


def _part(name: str, value: Any, media_type: str | None, boundary: str) -> list[bytes]:
    kind = media_type or ("application/json" if isinstance(value, dict | list) else None)
    is_file = kind is not None and not is_json(kind) and not is_text(kind)
    data = _bytes(value) if is_file and isinstance(value, str) else as_text(value).encode("utf-8", "replace")
    head = f'Content-Disposition: form-data; name="{_quoted(name)}"'
    if is_file:
        head += f'; filename="{_quoted(name)}"'
    if kind is not None and kind.isascii() and kind.isprintable() and "*" not in kind:
        head += f"\r\nContent-Type: {kind}"
    return [f"--{boundary}\r\n{head}\r\n".encode("utf-8", "replace"), data]


def _how(encoding: Any, name: str) -> Mapping[str, Any]:
    found = encoding.get(name) if isinstance(encoding, dict) else None
    return found if isinstance(found, dict) else {}


def _quoted(name: str) -> str:
    """Return a name within quotes as browsers write it (WHATWG HTML, multipart/form-data)."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _bytes(text: str) -> bytes:
    """Return what a text that stands for bytes means: JSON carries them in base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return text.encode("utf-8", "replace")
