"""The few functions that stand in the inference layer in the place of OpenBLAS, against numpy's answers."""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import platform
import re
import runpy
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BLAS = Path(__file__).parents[2] / "layers" / "inference" / "blas"
ARCHITECTURE = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
needs_our_processor = pytest.mark.skipif(
    sys.platform != "linux" or ARCHITECTURE not in {"arm64", "x86_64"}, reason="the libraries are for Linux"
)
ROWS, COLUMNS = 101, 102
KINDS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
TRANSPOSES = {111: lambda a: a, 112: lambda a: a.T, 113: lambda a: a.conj().T}


class Blas:
    """CBLAS as numpy's C code calls it, for one kind of number."""

    def __init__(self, letter: str) -> None:
        self._library, self._letter = ctypes.CDLL(str(BLAS / f"{ARCHITECTURE}.so")), letter
        self._type = {"s": ctypes.c_float, "d": ctypes.c_double}.get(letter)

    def __call__(self, op: str, *arguments: Any) -> float:
        function = getattr(self._library, f"scipy_cblas_{self._letter}{op}64_")
        function.restype = self._type if op == "dot" else None
        return function(*arguments)

    def scalar(self, value: complex) -> Any:
        # Real ones are passed by value, complex ones by address.
        if self._type is not None:
            return self._type(value)
        return at(np.array([value], KINDS[self._letter]))


def size(number: int) -> ctypes.c_int64:
    return ctypes.c_int64(number)


def at(array: np.ndarray[Any, Any]) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)  # which keeps the array alive


def numbers(letter: str, *shape: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(sum(shape))
    real = random.standard_normal(shape)
    return (real + 1j * random.standard_normal(shape) if letter in "cz" else real).astype(KINDS[letter])


def close(letter: str, got: Any, wanted: Any) -> None:
    np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-4 if letter in "sc" else 1e-11)


def stored(matrix: np.ndarray[Any, Any], order: int) -> tuple[np.ndarray[Any, Any], int]:
    """Lay a matrix out in an order, with two elements between its lines that do not belong to it."""
    lines = matrix if order == ROWS else matrix.T
    padded = np.full((lines.shape[0], lines.shape[1] + 2), np.nan, matrix.dtype)
    padded[:, :-2] = lines
    return padded, padded.shape[1]


@needs_our_processor
@pytest.mark.parametrize("order", [ROWS, COLUMNS], ids=["rows", "columns"])
@pytest.mark.parametrize("letter", list(KINDS))
def test_products_of_matrices_are_right(letter: str, order: int) -> None:
    blas = Blas(letter)
    for (m, n, k), ta, tb in itertools.product([(1, 1, 1), (3, 5, 7), (17, 4, 33)], TRANSPOSES, TRANSPOSES):
        left, right = numbers(letter, m, k), numbers(letter, k, n)
        (a, lda), (b, ldb) = stored(TRANSPOSES[ta](left), order), stored(TRANSPOSES[tb](right), order)
        out, ldc = stored(numbers(letter, m, n) * np.nan, order)  # beta is 0, so what is there is not read
        blas(
            "gemm", order, ta, tb, size(m), size(n), size(k), blas.scalar(2), at(a), size(lda), at(b), size(ldb),
            blas.scalar(0), at(out), size(ldc),
        )  # fmt: skip
        got = out[:, :-2] if order == ROWS else out[:, :-2].T
        close(letter, got, 2 * (left.astype(complex) @ right.astype(complex)))


@needs_our_processor
@pytest.mark.parametrize("order", [ROWS, COLUMNS], ids=["rows", "columns"])
@pytest.mark.parametrize("letter", list(KINDS))
def test_products_of_a_matrix_and_a_vector_are_right(letter: str, order: int) -> None:
    blas = Blas(letter)
    for (m, n), trans, step in itertools.product([(1, 1), (5, 7), (33, 3)], TRANSPOSES, [1, 3, -2]):
        matrix = numbers(letter, m, n)
        x = numbers(letter, n if trans == 111 else m, abs(step))
        y = numbers(letter, m if trans == 111 else n, 2)
        wanted = 2 * TRANSPOSES[trans](matrix).astype(complex) @ x[:: 1 if step > 0 else -1, 0] + 3 * y[:, 0]
        a, lda = stored(matrix, order)
        blas(
            "gemv", order, trans, size(m), size(n), blas.scalar(2), at(a), size(lda), at(x), size(step),
            blas.scalar(3), at(y), size(2),
        )  # fmt: skip
        close(letter, y[:, 0], wanted)


@needs_our_processor
@pytest.mark.parametrize("order", [ROWS, COLUMNS], ids=["rows", "columns"])
@pytest.mark.parametrize("letter", list(KINDS))
def test_a_matrix_by_its_transpose_is_right_in_the_triangle_asked_for_and_leaves_the_other(
    letter: str, order: int
) -> None:
    blas = Blas(letter)
    for triangle, trans in itertools.product([121, 122], [111, 112]):
        matrix = numbers(letter, 9, 5)
        a, lda = stored(TRANSPOSES[trans](matrix), order)
        out = np.full((9, 9), 7, KINDS[letter])
        blas(
            "syrk", order, triangle, trans, size(9), size(5), blas.scalar(1), at(a), size(lda), blas.scalar(0),
            at(out), size(9),
        )  # fmt: skip
        product = matrix.astype(complex) @ matrix.T.astype(complex)
        keep = np.triu if triangle == 121 else np.tril
        inside = keep(np.ones((9, 9))) == 1
        close(letter, out if order == ROWS else out.T, np.where(inside, product, 7))


@needs_our_processor
@pytest.mark.parametrize("letter", list(KINDS))
def test_products_and_sums_of_vectors_are_right(letter: str) -> None:
    blas = Blas(letter)
    for n, step in itertools.product([0, 1, 384], [1, 2, -1]):
        x, y = numbers(letter, n, abs(step)), numbers(letter, n, 1)
        seen = x[:: 1 if step > 0 else -1, 0].astype(complex)
        vectors = size(n), at(x), size(step), at(y), size(1)
        if letter in "sd":
            close(letter, blas("dot", *vectors), (seen * y[:, 0]).sum().real)
        else:
            for op, left in (("dotu_sub", seen), ("dotc_sub", seen.conj())):
                result = np.zeros(1, KINDS[letter])
                blas(op, *vectors, at(result))
                close(letter, result[0], (left * y[:, 0]).sum())
        wanted = 2 * seen + y[:, 0]
        blas("axpy", size(n), blas.scalar(2), *vectors[1:])
        close(letter, y[:, 0], wanted)


def test_the_committed_blas_was_made_from_the_committed_source() -> None:
    lines = (BLAS / "SHA256SUMS").read_text("ascii").splitlines()
    sums = {name: digest for digest, name in (line.split() for line in lines)}
    assert set(sums) == {"arm64.so", "x86_64.so", "blas.c", "kernels.h"}
    assert sums == {name: hashlib.sha256((BLAS / name).read_bytes()).hexdigest() for name in sums}


@pytest.mark.parametrize(("architecture", "machine"), [("arm64", 0xB7), ("x86_64", 0x3E)])
def test_the_blas_for_each_processor_has_what_numpy_asks_for(architecture: str, machine: int) -> None:
    library = (BLAS / f"{architecture}.so").read_bytes()
    assert struct.unpack_from("<H", library, 18)[0] == machine
    asked = set(re.findall(rb"scipy_cblas_\w+64_", Path(np._core._multiarray_umath.__file__).read_bytes()))
    if not asked:
        pytest.skip("this numpy was not built with OpenBLAS")
    assert asked == set(re.findall(rb"scipy_cblas_\w+64_", library))


def test_what_numpy_would_ask_lapack_is_refused_by_name() -> None:
    missing = runpy.run_path(str(BLAS / "_umath_linalg.py"))["__getattr__"]
    with pytest.raises(NotImplementedError, match="svd needs LAPACK"):
        missing("svd")
    with pytest.raises(AttributeError):
        missing("__path__")
