"""Elementary functions, vectors and matrices, comparisons (src/task/reference/ref_elementary.c, ref_blas.c, ref_math.c)."""
import ast
import math

import numpy as np
import torch

from references_torch import EXACT, FLOAT, ULP1, add, div, mul, wide

SIZES = ("input_shape", "a_shape", "shape", "self_shape", "varRefShape", "values_shape", "feeds_shape", "var_ref_shape")
KINDS = ("dtype", "dst_type", "values_dtype", "feeds_dtype", "seq_dim", "batch_dim", "diagonal", "axis")


def size(row):
    shape = next((ast.literal_eval(row[name]) for name in SIZES if name in row), [1])
    return sum(map(math.prod, shape)) if isinstance(shape[0], list) else math.prod(shape)


def choose(rows):
    """Of each data type (and dimension, where the operator has one) the cases of at most 2^17 elements, or the smallest."""
    kinds = {}
    for row in rows:
        kinds.setdefault(tuple(row[name] for name in KINDS if name in row), []).append(row)
    return [row for kind in kinds.values() for row in [r for r in kind if size(r) <= 2**17] or [min(kind, key=size)]]


def absolute(i, a, c):
    x = i[0][0]
    return wide(torch.abs)(x) if x.dtype == torch.float16 else torch.abs(x)


def addcdiv(i, a, c):
    x, a1, a2, v = (t[0] for t in i)
    v = v.reshape(())
    if x.dtype == torch.bfloat16:
        return (x.float() + a1.float() / a2.float() * v.float()).to(x.dtype)
    return add(x, mul(div(a1, a2), v))


def cast(i, a, c):
    names = {0: torch.float32, 1: torch.float16, 2: torch.int8, 3: torch.int32, 4: torch.uint8, 6: torch.int16,
             9: torch.int64, 12: torch.bool, 27: torch.bfloat16}
    return i[0][0].to(names[a["dst_type"]])


def parts(x, a):
    """|re| + |im| of the elements that count."""
    x = x.reshape(-1)[:a["n"] * a["incx"]:a["incx"]]
    return x.real.abs() + x.imag.abs()


def complex_place(pick):
    return lambda i, a, c: (pick(parts(i[0][0], a)) * a["incx"] + 1).to(torch.int32)


def real_place(pick):
    return lambda i, a, c: (pick(i[0][0][:a["n"] * a["incx"]:a["incx"]].abs()) + 1).to(torch.int32)


def spence(i, a, c):
    """SciPy is not needed: Gauss and Legendre's quadrature of ln(t) / (1 - t) from 1 to x with t = exp(v), which is
    smooth; 1e-12 for the inputs here."""
    x = i[0][0].numpy().astype(np.float64).reshape(-1)
    nodes, weights = np.polynomial.legendre.leggauss(100)
    end = np.log(np.maximum(x, 1e-300))
    v = (nodes + 1) / 2 * end[:, None]
    y = (v / np.expm1(-v) * weights).sum(1) * end / 2
    return torch.from_numpy(np.where(x == 0, np.pi**2 / 6, y)).to(torch.float32)


def negated_half(i, a, c):
    y = i[0][0].clone()
    half = y.shape[-1] // 2
    y[..., half:] = -y[..., half:]
    return y


def matmul(i, a, c):
    return torch.matmul(i[0][0].double(), i[1][0].double()).to(i[0][0].dtype)


MODELS = {
    "LessEqual": (lambda i, a, c: i[0][0] <= i[1][0], EXACT),
    "IsInf": (lambda i, a, c: torch.isinf(i[0][0]), EXACT),
    "AbsMath": (absolute, FLOAT),
    "Addcdiv": (addcdiv, EXACT),
    "CastMath": (cast, EXACT),
    "Ccopy": (lambda i, a, c: i[0][0].reshape(-1)[:a["n"]], EXACT),
    "ComplexMatDot": (lambda i, a, c: i[0][0] * i[1][0], FLOAT),
    "CosMath": (lambda i, a, c: wide(torch.cos)(i[0][0]), FLOAT),
    "SinMath": (lambda i, a, c: wide(torch.sin)(i[0][0]), FLOAT),
    "TanhMath": (lambda i, a, c: wide(torch.tanh)(i[0][0]), FLOAT),
    "Icamax": (complex_place(torch.argmax), EXACT),
    "Icamin": (complex_place(torch.argmin), EXACT),
    "Isamax": (real_place(torch.argmax), EXACT),
    "Isamin": (real_place(torch.argmin), EXACT),
    "Rsqrt": (lambda i, a, c: wide(torch.rsqrt)(i[0][0]), FLOAT),
    "Snrm2": (lambda i, a, c: torch.sqrt(torch.sum(i[0][0][:a["n"] * a["incx"]:a["incx"]]**2)).reshape(1), FLOAT),
    "Spence": (spence, FLOAT),
    "StridesliceNegConcatV2": (negated_half, EXACT),
    "Matmul": (matmul, FLOAT),
}
