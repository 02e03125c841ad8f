"""The modules of the console's pages fit together: nothing builds them, so that nothing else would say so."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

_STATIC = Path(str(files("skillroute_local.console"))) / "static"
_IMPORT = re.compile(r"""^import \{([^}]*)\} from "\./(\w+\.js)";""", re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function\*?|const|class|let) (\w+|\[[^\]]*\])", re.MULTILINE)


def test_what_a_module_imports_is_exported() -> None:
    exported = {path.name: set(_EXPORT.findall(path.read_text("utf-8"))) for path in _STATIC.glob("*.js")}
    exported = {name: {word for one in found for word in re.findall(r"\w+", one)} for name, found in exported.items()}
    missing = [
        f"{path.name}: {name} of {module}"
        for path in sorted(_STATIC.glob("*.js"))
        for names, module in _IMPORT.findall(path.read_text("utf-8"))
        for name in re.findall(r"\w+", names)
        if name not in exported[module]
    ]
    assert missing == []
