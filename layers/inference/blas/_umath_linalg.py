"""In the place of numpy's binding to LAPACK, whose library is not in this layer (docs/adr/0005).

numpy.linalg imports this as numpy itself is imported. What needs no LAPACK (norm, multi_dot, matrix_power) works.
"""

from typing import NoReturn


def __getattr__(name: str) -> NoReturn:
    """Refuse, at its first use, what numpy.linalg would have LAPACK do."""
    if name.startswith("__"):
        raise AttributeError(name)
    raise NotImplementedError(f"numpy.linalg's {name} needs LAPACK, which this layer leaves out")
