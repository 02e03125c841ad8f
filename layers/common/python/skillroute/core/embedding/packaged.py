"""The models that come with the inference layer: a folder each, and the name that settings call it by."""

from __future__ import annotations

from pathlib import Path

DEFAULT_MODEL = "tool-minilm-l6"

_ON_LAMBDA = Path("/opt/models")
_IN_REPOSITORY = Path(__file__).parents[5] / "inference" / "models"


def models_dir() -> Path:
    """Return where the inference layer puts its models on Lambda, else where the repository keeps them."""
    return _ON_LAMBDA if _ON_LAMBDA.exists() else _IN_REPOSITORY


def packaged_models() -> list[str]:
    """Return the names of the models that are here, the default one first; none where the layer is not."""
    names = sorted(file.parent.name for file in models_dir().glob("*/model.json"))
    return sorted(names, key=lambda name: name != DEFAULT_MODEL)


def default_model() -> str:
    """Return the name of the model that runs where none is named: a layer may have been built with another alone."""
    return next(iter(packaged_models()), DEFAULT_MODEL)
