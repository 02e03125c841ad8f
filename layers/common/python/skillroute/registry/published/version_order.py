"""The order of versions, as Semantic Versioning 2.0 has it, and of what people write in their place."""

from __future__ import annotations

import re
from typing import Any

_VERSION = re.compile(
    r"^[vV]?(?P<core>\d{1,18}(?:\.\d{1,18})*)(?:[-.]?(?P<pre>[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+.*)?$"
)
_PARTS = re.compile(r"\d{1,18}|[A-Za-z]+")


def version_order(version: str) -> tuple[Any, ...]:
    """Return what versions are ordered by; what is none comes before all that are, and is equal to its like.

    Examples
    --------
    >>> sorted(["1.0.0", "1.0.0-rc.10", "v0.9", "1.0.0-rc.9", "latest", "1.10", "1.9.3"], key=version_order)
    ['latest', 'v0.9', '1.0.0-rc.9', '1.0.0-rc.10', '1.0.0', '1.9.3', '1.10']
    """
    match = _VERSION.match(version.strip())
    if match is None:
        return (False,)
    core = [int(part) for part in match["core"].split(".")]
    while core and core[-1] == 0:  # 1.0 and 1.0.0 are one version
        core.pop()
    if match["pre"] is None:
        return True, core, True, ()
    # Numbers by their value and before words; `rc1` as `rc.1`.
    return (
        True,
        core,
        False,
        tuple((0, int(part), "") if part.isdigit() else (1, 0, part.lower()) for part in _PARTS.findall(match["pre"])),
    )
