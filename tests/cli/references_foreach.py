"""Operators over lists of tensors (src/task/ref_foreach.c)."""
import ast
import math

import torch

from references_torch import EXACT, ULP1, add, mul, wide


def choose(rows):
    """Of each data type and each kind of call (one tensor, a list) the largest case of at most 2^18 elements."""
    chosen = {}
    for row in rows:
        shapes = ast.literal_eval(row["input_shape"] if "input_shape" in row else row["input_shapes"])
        size = sum(math.prod(shape) for shape in shapes)
        key = row["dtype"], len(shapes) > 1
        if key not in chosen or chosen[key][0] < size <= 2**18 or size < chosen[key][0] > 2**18:
            chosen[key] = size, row
    return [row for _, row in chosen.values()]


def each(f):
    """The module maps f over the tensors of its first list and those of the other lists."""
    return lambda i, a, c: [f(*tensors) for tensors in zip(*i)]


def add_list(i, a, c):
    alpha = i[2][0].reshape(())
    return [(x.float() + y.float() * alpha).to(x.dtype) if x.dtype == torch.bfloat16 else add(x, mul(y, alpha))
            for x, y in zip(i[0], i[1])]


def lerp_scalar(i, a, c):
    return [wide(lambda p, q: torch.lerp(p, q, i[2][0].item()))(x, y) for x, y in zip(i[0], i[1])]


MODELS = {
    "ForeachAddList": (add_list, EXACT),
    "ForeachLerpScalar": (lerp_scalar, ULP1),
    "ForeachMulScalarList": (lambda i, a, c: [mul(x, s) for x, s in zip(i[0], i[1][0].to(i[0][0].dtype))], EXACT),
    "ForeachZeroInplace": (each(torch.zeros_like), EXACT),
}
