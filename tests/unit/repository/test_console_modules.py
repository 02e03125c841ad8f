"""The pages' modules: what one imports of another is there, or the page that needs it cannot be opened at all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import skillroute_local.console

STATIC = Path(skillroute_local.console.__file__).parent / "static"
MODULES = {path.name: path.read_text("utf-8") for path in sorted(STATIC.glob("*.js"))}
_IMPORT = re.compile(r'import \{([^}]*)\} from "\./([^"]+)"')
_EXPORT = re.compile(r"^export (?:async )?(?:const|function\*?|class|let) (?:(\w+)|\[([^]]*)\])", re.MULTILINE)


@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_imports_is_exported(name: str) -> None:
    for names, source in _IMPORT.findall(MODULES[name]):
        if source not in MODULES:
            continue  # a library with modules of its own
        wanted = {each.split(" as ")[0].strip() for each in names.split(",") if each.strip()}
        exported = {each for found in _EXPORT.findall(MODULES[source]) for each in re.findall(r"\w+", " ".join(found))}
        assert wanted <= exported, source


def test_imports_are_read_at_all() -> None:
    assert sum(len(_IMPORT.findall(text)) for text in MODULES.values()) > 2 * len(MODULES)
