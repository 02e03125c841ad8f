"""Schemas that the OpenAPI document shows for values that are checked later, item by item."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class ShownAs:
    """Annotation: the document shows the value as a model. Its schema is made with the document, never at import.

    Parameters
    ----------
    model : type of BaseModel
    title : str, optional
        What the document calls it. Without one it is the model's own component, which may have others within it.
    of_path : bool
        Whether it is the one that the path names: what names it may be left out.

    Examples
    --------
    >>> from typing import Annotated, Any
    >>> from pydantic import TypeAdapter
    >>> class Point(BaseModel):
    ...     x: int
    >>> TypeAdapter(Annotated[Any, ShownAs(Point, "Place")]).json_schema()["title"]
    'Place'
    """

    def __init__(self, model: type[BaseModel], title: str | None = None, *, of_path: bool = False) -> None:
        self._model = model
        self._title = title
        self._of_path = of_path

    def __get_pydantic_json_schema__(self, _schema: Any, handler: Any) -> dict[str, Any]:
        if self._title is None:
            own: dict[str, Any] = handler(self._model.__pydantic_core_schema__)
            return own
        shown = {**self._model.model_json_schema(), "title": self._title}
        if self._of_path:
            del shown["required"]
            for field in shown["properties"].values():
                field.pop("default", None)  # what is left out of its name is that of the path
            shown["description"] = f"{shown['description'].partition(chr(10))[0]} What names it may be left out."
        return shown
