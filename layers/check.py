"""Run one function's parts with nothing but its layers on the path: what was left out of them must not be missed.

    python3.13 -I -S layers/check.py FUNCTION RUNTIME LAYER...

RUNTIME is a folder that holds what Lambda itself brings: boto3 and what it needs. Each LAYER is a built layer, by the
name that template.yaml gives it. layers/size.py calls this for every function. There is no database here: a function
must start, take an event, and say so.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[1]
NOBODY = "http://127.0.0.1:1"
EVENTS = {
    "search": "search.json",
    "mcp": "mcp_call.json",
    "catalog": "catalog_list.json",
    "skills": "skills_list.json",
    "classify": "sqs_classify.json",
    "aggregate": "sqs_aggregate.json",
    "learn": "sqs_learn.json",
    "call": "call_tool.json",
    "relay": "schedule_relay.json",
}


def main(function: str, runtime: str, *folders: str) -> None:
    """Check one function; an exception says what its layers lack."""
    layers = {Path(folder).name: Path(folder) for folder in folders}
    # Lambda puts the function before its layers, and those before the runtime's own packages.
    sys.path[:0] = [str(layer / "python") for layer in layers.values()] + [runtime]
    os.environ.update(
        SKILLROUTE_AUTH="iam",
        SKILLROUTE_DATABASE_URL="postgresql://user:password@127.0.0.1:1/database",
        SKILLROUTE_LOG_LEVEL="ERROR",
        POWERTOOLS_METRICS_NAMESPACE="Skillroute",
        POWERTOOLS_SERVICE_NAME=function,
        AWS_DEFAULT_REGION="eu-central-1",
    )
    if "QdrantLayer" in layers:
        os.environ["SKILLROUTE_QDRANT_URL"] = NOBODY
    takes_an_event(function)
    calls_endpoints()
    if function in {"search", "mcp", "catalog", "skills"}:
        reads_tokens()
    if "InferenceLayer" in layers:
        for model in sorted((layers["InferenceLayer"] / "models").iterdir()):
            embeds_and_classifies(model)
    if "QdrantLayer" in layers:
        asks_qdrant()
    elif "IndexLayer" in layers:
        finds()


def takes_an_event(function: str) -> None:
    """Start the function as Lambda does, and hand it an event; the answer is that there is no database.

    Agents are told so by a tool's answer, which has the status 200.
    """
    spec = importlib.util.spec_from_file_location("app", ROOT / "functions" / function / "app.py")
    assert spec is not None and spec.loader is not None
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    from skillroute.core.errors.model import SkillrouteError

    event = json.loads((ROOT / "events" / EVENTS[function]).read_bytes())
    context = SimpleNamespace(
        function_name=function,
        function_version="1",
        memory_limit_in_mb=1769,
        invoked_function_arn=f"arn:aws:lambda:eu-central-1:123456789012:function:{function}",
        aws_request_id="1",
        get_remaining_time_in_millis=lambda: 10_000,
    )
    try:
        answer = app.handler(event, context)
    except SkillrouteError:
        assert function == "relay"  # nobody waits for its answer, so it fails, and EventBridge counts it
    else:
        failed = len(answer.get("batchItemFailures", ()))
        said = answer.get("body") or json.dumps(answer.get("result", ""))
        is_down = answer.get("statusCode") == 503 or "PostgreSQL cannot be reached" in said
        assert is_down or failed == len(event.get("Records", ())) > 0, answer


def calls_endpoints() -> None:
    """Make the clients of AWS, and call an OpenAI-compatible endpoint that nobody serves."""
    import boto3
    from skillroute.core.embedding.model import EmbeddingModel
    from skillroute.core.embedding.openai import OpenAIEmbedder
    from skillroute.core.errors.model import EmbeddingUnavailable

    for service in ("bedrock-runtime", "secretsmanager", "sns", "sqs"):
        boto3.client(service)
    embedder = OpenAIEmbedder(EmbeddingModel("text", 3), base_url=NOBODY, api_key="key")
    _raises(EmbeddingUnavailable, lambda: embedder.embed(["send mail"], timeout_s=1))


def reads_tokens() -> None:
    """Check a signature, as `sam local` has the functions do."""
    import jwt
    from cryptography.hazmat.primitives.asymmetric import rsa
    from jwt.algorithms import RSAAlgorithm
    from skillroute.core.http.keys import KeySet

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = json.loads(RSAAlgorithm.to_jwk(key.public_key())) | {"kid": "1", "use": "sig", "alg": "RS256"}
    now = int(time.time())
    claims = {"iss": "https://issuer.example", "aud": "skillroute", "iat": now, "exp": now + 60, "scope": "search"}
    token = jwt.encode(claims, key, algorithm="RS256", headers={"kid": "1"})
    assert KeySet(json.dumps({"keys": [public]})).claims_of(token) == claims


def embeds_and_classifies(model: Path) -> None:
    """Embed with the layer's model, and classify a tool by it."""
    from skillroute.core.embedding.onnx import OnnxEmbedder
    from skillroute.skills.classification.classifiers.similarity import SimilarityClassifier
    from skillroute.skills.classification.model import SkillProfile, ToolProfile

    embedder = OnnxEmbedder(model)
    mail, letter, rain = embedder.embed(["send an e-mail", "mail a letter", "how much it rained"], timeout_s=30)
    assert _dot(mail, mail) > 0.999 and _dot(mail, letter) > _dot(mail, rain) + 0.2
    skills = [
        SkillProfile(name, None, name, about, (word,), (), None, None, name)
        for name, about, word in [("mail", "Send and read e-mail", "inbox"), ("weather", "Forecasts", "rain")]
    ]
    tool = ToolProfile(1, None, "send_mail", "Sends an e-mail", "gmail", None, ("send_mail: sends an e-mail",), None)
    found = SimilarityClassifier(embedder).classify(tool, skills, timeout_s=30)
    assert [proposed.skill_id for proposed in found.assignments][:1] == ["mail"], found


def finds() -> None:
    """Write to the embedded index, and search it both ways."""
    from skillroute.catalogue.collection import TOOL_DOCUMENTS
    from skillroute.core.documents.index.edge import EdgeIndex
    from skillroute.core.documents.model import IndexFilter, IndexRecord

    with tempfile.TemporaryDirectory() as folder:
        index = EdgeIndex(Path(folder), 3)
        index.upsert(TOOL_DOCUMENTS, [IndexRecord("1", [1.0, 0.0, 0.0], "weather", {"type": "tool"})])
        everything = IndexFilter()
        for hits in (
            index.search(TOOL_DOCUMENTS, [1.0, 0.0, 0.0], where=everything, limit=5),
            index.search_text(TOOL_DOCUMENTS, "weather", where=everything, limit=5),
        ):
            assert [hit.key for hit in hits] == ["1"]
        index.close()


def asks_qdrant() -> None:
    """Send a search to a Qdrant server that nobody serves."""
    from skillroute.catalogue.collection import TOOL_DOCUMENTS
    from skillroute.core.documents.index.qdrant import QdrantIndex
    from skillroute.core.documents.model import IndexFilter
    from skillroute.core.errors.model import IndexUnavailable

    index = QdrantIndex.connect(NOBODY, None, 3, 1.0)
    _raises(IndexUnavailable, lambda: index.search(TOOL_DOCUMENTS, [1.0, 0.0, 0.0], where=IndexFilter(), limit=1))


def _raises(expected: type[Exception], call: Callable[[], Any]) -> None:
    try:
        call()
    except expected as error:
        # An adapter says the same of a package that is not there: that is what must not pass.
        cause: BaseException | None = error
        while cause is not None:
            assert not isinstance(cause, ImportError), cause
            cause = cause.__cause__ or cause.__context__
        return
    raise AssertionError(f"{expected.__name__} was expected")


def _dot(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
