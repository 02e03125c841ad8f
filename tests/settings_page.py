"""The page docs/settings.md: `python -m tests.settings_page` writes it anew from the code and template.yaml."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin

from cfnlint.decode import cfn_yaml
from pydantic import SecretStr
from pydantic.fields import FieldInfo
from skillroute.core import settings
from skillroute.core.settings.base import REMOVED, Settings

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "settings.md"
SUBJECTS: dict[str, tuple[type[Settings], ...]] = {
    "Database": (settings.DatabaseSettings, settings.MigrationSettings),
    "Vector index": (settings.IndexSettings,),
    "Embedding model": (settings.EmbeddingSettings,),
    "Language model": (settings.ClassifierSettings,),
    "Skills": (settings.SkillMakingSettings,),
    "Search": (settings.RankingSettings,),
    "Reranking": (settings.RerankSettings,),
    "Calls of tools": (settings.OutboundSettings, settings.CallSettings),
    "Trust in servers": (settings.TrustSettings,),
    "Receipts and learning": (settings.ReceiptSettings, settings.LearningScheduleSettings),
    "Identity at servers": (settings.IdentitySettings,),
    "Trace": (settings.TraceSettings,),
    "Search of mail": (settings.MailSearchSettings,),
    "Queues and notifications": (settings.QueueSettings,),
    "Web": (settings.WebSettings,),
    "Process": (settings.ProcessSettings,),
}
OF_THE_COMMAND_LINE = {
    "ALLOWED_HOSTS": "Another name by which `up` may be asked.",
    "HOME": "The state directory, `.skillroute`; for `connect` where its file lies.",
    "HOST": "The address that `up` listens on, 127.0.0.1.",
    "PRUNE_KEEP_DAYS": "As `--prune-keep-days` of `import` ([import.md](import.md)).",
    "PRUNE_UP_TO": "As `--prune-up-to` of `import`.",
    "RELAY_EVERY_S": "How often the relay of `up` runs, 15 seconds.",
    "SIGN_REGION": "As `--sign-region`, the region that requests are signed for; the client reads it too.",
    "TOKEN": "As `--token`, the bearer token; the client reads it too.",
    "URL": "As `--url`, the Skillroute to call; the client reads it too.",
}
"""Variables that the command line and the Python client read, not a settings model."""

_KINDS = {str: "text", int: "whole number", float: "number", bool: "`true`, `false`", SecretStr: "text", Path: "folder"}

HEAD = """# Settings

Each setting is an environment variable, read once when a process starts; one that is empty is not set. A wrong value
stops the process with the name of the variable. The last column has the parameter of template.yaml that sets it, or
"the stack" where the stack has a value of its own. `python -m tests.settings_page` writes this page from the code.
"""


def page() -> str:
    """Return the page as Markdown."""
    parameters = _parameters()
    parts = [HEAD]
    for subject, models in SUBJECTS.items():
        rows = [_row(name, field, parameters) for name, field in _own(models)]
        parts.append(f"\n## {subject}\n\n| variable | default | values | what | parameter |\n|---|---|---|---|---|\n")
        parts += rows
    parts.append("\n## Command line and client\n\n| variable | what |\n|---|---|\n")
    parts += [f"| `SKILLROUTE_{name}` | {what} |\n" for name, what in OF_THE_COMMAND_LINE.items()]
    parts.append("\n## No longer read\n\nA process that finds one of these set logs a warning.\n\n")
    parts += [f"- `{name}`\n" for name in REMOVED]
    return "".join(parts)


def _own(models: tuple[type[Settings], ...]) -> Iterator[tuple[str, FieldInfo]]:
    for model in models:
        for name, field in model.model_fields.items():
            if name in model.__annotations__ and field.validation_alias is None:
                yield name, field


def _row(name: str, field: FieldInfo, parameters: dict[str, set[str]]) -> str:
    variable = f"SKILLROUTE_{name.upper()}"
    default = json.dumps(field.default) if isinstance(field.default, bool) else field.default
    shown = "" if default in {None, ""} else f"`{default}`"
    set_by = ", ".join(sorted(parameters[variable]))
    return f"| `{variable}` | {shown} | {_values(field)} | {field.description} | {set_by} |\n"


def _values(field: FieldInfo) -> str:
    kinds = [kind for kind in get_args(field.annotation) or (field.annotation,) if kind is not type(None)]
    if get_origin(field.annotation) is Literal:
        return ", ".join(f"`{value}`" for value in kinds)
    [kind] = kinds
    if get_origin(kind) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(kind))
    bounds = [text for rule in field.metadata for text in _bounds(rule)]
    return " ".join([_KINDS[kind], ", ".join(bounds)]).strip()


def _bounds(rule: object) -> Iterator[str]:
    for name, words in (("ge", "from"), ("gt", "above"), ("le", "to")):
        if (bound := getattr(rule, name, None)) is not None:
            yield f"{words} {bound:,}"


def _parameters() -> dict[str, set[str]]:
    """Return what template.yaml sets each variable from: names of parameters, or the stack itself."""
    template = cfn_yaml.load(str(ROOT / "template.yaml"))
    found: defaultdict[str, set[str]] = defaultdict(set)
    functions = [template["Globals"]["Function"]]
    functions += [each["Properties"] for each in template["Resources"].values() if "Properties" in each]
    for function in functions:
        variables = function.get("Environment", {}).get("Variables", {})
        for name, value in variables.items():
            given = set(re.findall(r"\w+", str(value))) & set(template["Parameters"])
            if value:
                found[name] |= {f"`{parameter}`" for parameter in given} or {"the stack"}
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
