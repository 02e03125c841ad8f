"""The arrows of docs/architecture.md, read from the source, and what a function may not load before it must."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "layers" / "common" / "python" / "skillroute"
FUNCTIONS = ROOT / "functions"

# What each part of the package may import of the others. The arrows point one way: `core` knows no slice, the wiring
# knows all of them.
ARROWS = {
    "core": {"core"},
    "catalogue": {"core", "catalogue"},
    "access": {"core", "catalogue", "access"},
    "skills": {"core", "catalogue", "skills"},
    "registry": {"core", "catalogue", "registry"},
    "search": {"core", "catalogue", "skills", "search"},
    "mail": {"core", "mail"},
    "agent_skills": {"core", "agent_skills"},
    "learning": {"core", "catalogue", "search", "learning"},
    "identity": {"core", "identity"},
    "calling": {"core", "catalogue", "registry", "calling"},
    "mcp": {"core", "catalogue", "skills", "registry", "search", "mail", "agent_skills", "calling", "mcp"},
    "wiring": {
        "core",
        "catalogue",
        "access",
        "skills",
        "registry",
        "search",
        "mail",
        "agent_skills",
        "learning",
        "identity",
        "calling",
        "mcp",
        "wiring",
    },
}

# Where each library may be imported; one that is not here is the standard library's, or pydantic, which is everywhere.
LIBRARIES = {
    "anyio": ("calling/*", "core/http/*", "core/outbound/*"),
    "idna": ("core/outbound/hosts.py",),
    "boto3": ("core/remote/bedrock.py",),
    "botocore": (
        "calling/invocation.py", "core/notification/sns.py", "core/postgres/rds_tokens.py", "core/queue/sender.py",
        "core/queue/sqs.py", "core/remote/bedrock.py", "core/secrets_manager.py", "identity/encryption/kms.py",
    ),
    "cryptography": ("identity/encryption/key_file.py",),
    "keyring": ("identity/places.py",),  # an extra of the laptop
    "pg8000": ("core/postgres/*",),
    "qdrant_client": ("core/documents/index/*",),
    "qdrant_edge": ("core/documents/index/*",),
    "httpcore": ("core/outbound/*",),
    "httpx": (
        "calling/*", "core/chat/openai.py", "core/documents/index/*", "core/embedding/openai.py", "core/outbound/*",
        "core/remote/openai.py", "identity/*",
    ),
    "numpy": (
        "core/onnx_model.py", "core/ranking/intervals.py", "core/ranking/k_means.py", "learning/*",
        "skills/classification/classifiers/*",
    ),
    "onnxruntime": ("core/onnx_model.py",),
    "tokenizers": ("core/onnx_model.py", "core/embedding/tokens.py"),
    "cachetools": ("core/bounded_cache.py", "skills/classification/classifiers/*"),
    "fastapi": ("core/http/*", "*/routes.py", "*_routes.py", "mail/search/invocation.py"),
    "starlette": ("core/http/*", "mcp/plain_routes.py", "mcp/streamed.py"),
    "jwt": ("core/http/keys.py",),
    # By itself where spans are on; elsewhere for types alone.
    "opentelemetry": ("core/tracing.py", "core/http/traced.py", "calling/call.py"),
    "aws_lambda_powertools": ("core/observability.py",),
    "pydantic_settings": ("core/settings/base.py",),
    "pydantic": ("*",),
    "pydantic_core": ("*",),  # pydantic's own, with its errors
}  # fmt: skip
ENVIRONMENT_READERS = {"core/settings/base.py", "core/settings/web.py", "core/observability.py"}


class Import(NamedTuple):
    file: Path
    line: int
    module: str
    for_types_only: bool

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.module}"


def imports(file: Path) -> Iterator[Import]:
    tree = ast.parse(file.read_text("utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name, id(node) in typing_only)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: relative imports hide where the arrow points"
            # `from skillroute import mail` is an import of the part.
            whole = node.module == "skillroute"
            for name in [f"skillroute.{alias.name}" for alias in node.names] if whole else [node.module or ""]:
                yield Import(file, node.lineno, name, id(node) in typing_only)


def place_of(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def part_of(file: Path) -> str:
    return place_of(file).split("/")[0].removesuffix(".py")


def package_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def package_imports() -> list[Import]:
    return [found for file in package_files() for found in imports(file)]


def test_every_part_of_the_package_has_its_place() -> None:
    assert {part_of(file) for file in package_files()} - {"__init__"} == set(ARROWS)


def test_the_arrows_point_one_way() -> None:
    wrong = []
    for found in package_imports():
        root, _, rest = found.module.partition(".")
        if root != "skillroute":
            continue
        part, other = part_of(found.file), rest.split(".")[0]
        if other == "__version__" or (part != "__init__" and other in ARROWS[part]):
            continue
        wrong.append(str(found))
    assert wrong == []


def test_each_library_stays_where_it_belongs() -> None:
    wrong = []
    for found in package_imports():
        library = found.module.split(".")[0]
        if library == "skillroute" or library in sys.stdlib_module_names:
            continue
        allowed = any(fnmatch(place_of(found.file), pattern) for pattern in LIBRARIES.get(library, ()))
        typed_wiring = (
            part_of(found.file) == "wiring" and library in {"fastapi", "httpx", "starlette"} and found.for_types_only
        )
        if not allowed and not typed_wiring:
            wrong.append(str(found))
    assert wrong == []


def test_the_environment_is_read_by_the_settings_and_the_observability_only() -> None:
    wrong = []
    for file in package_files():
        if place_of(file) in ENVIRONMENT_READERS:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if name in {"environ", "environb", "getenv"}:
                wrong.append(f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)} reads the environment")
    assert wrong == []


def test_a_function_folder_holds_one_thin_module_and_imports_from_the_package_only() -> None:
    folders = [path for path in FUNCTIONS.iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert folders
    for folder in folders:
        files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        assert [path.name for path in files] == ["app.py"], folder
        wrong = [
            str(found)
            for found in imports(folder / "app.py")
            if found.module.split(".")[0] not in {"skillroute", "mangum", "aws_lambda_powertools"}
            and found.module.split(".")[0] not in sys.stdlib_module_names
        ]
        assert wrong == []


def test_the_package_knows_nothing_of_the_laptop_and_of_tests() -> None:
    assert not [str(f) for f in package_imports() if f.module.split(".")[0] in {"skillroute_local", "tests", "moto"}]


# Of botocore, Powertools loads the package itself, which is 0.4 ms; a session and a client are what costs.
HEAVY = {
    *("qdrant_client", "qdrant_edge", "onnxruntime", "tokenizers", "numpy", "boto3", "botocore.session", "httpx"),
    *("jwt", "cryptography", "opentelemetry.sdk", "skillroute.core.tracing"),  # of it, FastAPI loads the API
}
WEB = {"fastapi", "starlette", "mangum"}
# What each function may not load as it starts, by its folder. Search alone joins its index then, and the module of
# Qdrant Edge comes with it: 3 to 8 ms (two cores).
BUDGETS = {
    "search": HEAVY - {"qdrant_edge"},
    # Its first answer is a handshake, for which it needs neither its database nor what it searches with.
    "mcp": HEAVY | {"fastapi", "pg8000", "skillroute.search", "skillroute.mail.search", "skillroute.registry.search"},
    "catalog": HEAVY,
    "skills": HEAVY,
    "classify": HEAVY | WEB,
    "aggregate": HEAVY | WEB,
    "learn": HEAVY | WEB,
    "call": HEAVY | WEB | {"skillroute.search", "skillroute.mcp"},
    "relay": HEAVY | WEB,
}
# Secrets and a database that nobody has: starting reads and opens nothing.
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:x-AbCdEf"
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "POWERTOOLS_METRICS_NAMESPACE": "Skillroute",
    "SKILLROUTE_AUTH": "jwt",
    "SKILLROUTE_JWT_ISSUER": "https://issuer.test/",
    "SKILLROUTE_JWT_AUDIENCE": "https://skillroute.test",
    "SKILLROUTE_DATABASE_SECRET_ARN": SECRET,
}
DEPLOYMENTS = {
    "embedded index": {},
    "Qdrant server": {
        "SKILLROUTE_QDRANT_URL": "https://qdrant.test:6333",
        "SKILLROUTE_QDRANT_API_KEY_SECRET_ARN": SECRET,
    },
    "models elsewhere": {
        "SKILLROUTE_EMBEDDING_PROVIDER": "openai",
        "SKILLROUTE_EMBEDDING_MODEL": "m",
        "SKILLROUTE_EMBEDDING_DIMENSION": "384",
        "SKILLROUTE_OPENAI_API_KEY_SECRET_ARN": SECRET,
        "SKILLROUTE_CLASSIFIER": "llm",
        "SKILLROUTE_CHAT_PROVIDER": "bedrock",
        "SKILLROUTE_CHAT_MODEL": "m",
    },
}
# Loads a function's module as Lambda does, from its path.
_FUNCTION = """
import importlib.util
spec = importlib.util.spec_from_file_location("app", {path!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
assert callable(module.handler)
"""


def loaded_by(code: str, **environment: str) -> set[str]:
    """Return the modules that are loaded once a fresh interpreter has run some code."""
    report = f"{code}\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    child = subprocess.run(
        [sys.executable, "-c", report], env=ENVIRONMENT | environment, capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stderr
    return set(json.loads(child.stdout.splitlines()[-1]))


def test_every_function_has_a_budget() -> None:
    assert {file.parent.name for file in FUNCTIONS.glob("*/app.py")} == set(BUDGETS)


@pytest.mark.parametrize("deployment", DEPLOYMENTS)
@pytest.mark.parametrize("function", BUDGETS)
def test_a_function_starts_without_what_is_heavy(function: str, deployment: str) -> None:
    code = _FUNCTION.format(path=str(FUNCTIONS / function / "app.py"))
    loaded = loaded_by(code, AWS_LAMBDA_FUNCTION_NAME=f"skillroute-{function}", **DEPLOYMENTS[deployment])
    assert "skillroute.wiring" in loaded
    assert loaded & BUDGETS[function] == set()


@pytest.mark.parametrize(
    ("code", "unloaded"),
    [
        ("import skillroute.wiring", HEAVY | WEB | {"pg8000"}),
        (
            "import skillroute.core.documents.index.port, skillroute.core.errors.model, skillroute.search.model",
            HEAVY | WEB | {"pg8000"},
        ),
    ],
    ids=["wiring", "core"],
)
def test_what_nobody_asked_for_is_not_loaded(code: str, unloaded: set[str]) -> None:
    assert loaded_by(code) & unloaded == set()
