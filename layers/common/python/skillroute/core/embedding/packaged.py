"""The models that come with the inference layer: a folder each, and the name that settings call it by."""

from __future__ import annotations

from pathlib import Path

DEFAULT_MODEL = "tool-minilm-l6"

_PACKAGE = Path(__file__).parents[2]
_IN_WHEEL = _PACKAGE / "models"
_ON_LAMBDA = Path("/opt/models")
# Not by `parents[n]`, which a package near the root of the file system does not have.
_IN_REPOSITORY = _PACKAGE.parent.parent.parent / "inference" / "models"


def models_dir() -> Path:
    """Return where the wheel has its models, else where the inference layer or the repository keeps them.

    The wheel's go first: a folder of that name may be anybody's on a machine that is not Lambda's.
    """
    return next((folder for folder in (_IN_WHEEL, _ON_LAMBDA) if folder.exists()), _IN_REPOSITORY)


def packaged_models() -> list[str]:
    """Return the names of the models that are here, the default one first; none where the layer is not."""
    names = sorted(file.parent.name for file in models_dir().glob("*/model.json"))
    return sorted(names, key=lambda name: name != DEFAULT_MODEL)


def default_model() -> str:
    """Return the name of the model that runs where none is named: a layer may have been built with another alone."""
    return next(iter(packaged_models()), DEFAULT_MODEL)
