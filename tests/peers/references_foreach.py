"""Operators over lists of tensors (src/task/reference/ref_foreach.c)."""
import ast
import math

import torch

from references_torch import EXACT, FLOAT, ULP1, add, div, mul, per_step, sqrt, sub, wide


def choose(rows):
    """Of cases that differ in shapes alone the largest of at most 2^18 elements, with one tensor and with several."""
    chosen = {}
    for row in rows:
        shapes = ast.literal_eval(row.get("input_shape") or row["input_shapes"])
        size = sum(math.prod(shape) for shape in shapes)
        parameters = (row[column] for column in row if column not in ("case_id", "input_shape", "input_shapes"))
        key = len(shapes) > 1, *parameters
        if key not in chosen or chosen[key][0] < size <= 2**18 or size < chosen[key][0] > 2**18:
            chosen[key] = size, row
    return [row for _, row in chosen.values()]


def each(f):
    """The module maps f over the tensors of its first list and those of the other lists."""
    return lambda i, a, c: [f(*tensors) for tensors in zip(*i)]


def step(op):
    """One torch operator on each tensor of a list, half types in float32 where torch 1.13 lacks them."""
    return each(per_step(op))


def number(f):
    """f(tensor, .., the one number) over lists; the module has the number as a tensor of one dimension."""
    return lambda i, a, c: [f(*tensors, i[-1][0]) for tensors in zip(*i[:-1])]


def scalar(f):
    """The same with a tensor without dimensions, which widens nothing."""
    return lambda i, a, c: [f(*tensors, i[-1][0].reshape(()).to(tensors[0].dtype)) for tensors in zip(*i[:-1])]


def numbers(f):
    """f(tensor, .., its number) over lists."""
    return lambda i, a, c: [f(*tensors) for tensors in zip(*i[:-1], i[-1][0].to(i[0][0].dtype))]


def add_list(i, a, c):
    alpha = i[2][0].reshape(())
    return [(x.float() + y.float() * alpha).to(x.dtype) if x.dtype == torch.bfloat16 else add(x, mul(y, alpha))
            for x, y in zip(i[0], i[1])]


def addcdiv(x, y, z, number):
    return add(x, mul(div(y, z), number))


def addcmul(x, y, z, number):
    return add(x, mul(mul(number, y), z))


def addcmul_list(i, a, c):
    return [addcmul(*((t.float() for t in (x, y, z, s)) if x.dtype == torch.bfloat16 else (x, y, z, s)))
            for x, y, z, s in zip(*i[:3], i[3][0])]


def lerp_scalar(i, a, c):
    return [wide(lambda p, q: torch.lerp(p, q, i[2][0].item()))(x, y) for x, y in zip(i[0], i[1])]


def norm(x, p):
    return torch.linalg.vector_norm(x.double(), p).float().to(x.dtype)


def round_off(i, a, c):
    """The modes by their definitions, not in the module's words: halves are recognized exactly."""
    def mode(x):
        below, half = x.floor(), x - x.floor() == 0.5
        nearest = torch.where(x - below < 0.5, below, below + 1)
        odd_below = below % 2 != 0
        away = torch.where(half, torch.where(x < 0, below, below + 1), nearest)
        return {1: torch.where(half, torch.where(odd_below, below + 1, below), nearest), 2: below, 3: -((-x).floor()),
                4: away, 5: torch.where(x < 0, -((-x).floor()), below),
                6: torch.where(half, torch.where(odd_below, below, below + 1), nearest), 7: torch.fmod(x, 1.0)}[int(i[1][0])]
    return [wide(mode)(x) for x in i[0]]


def unscale(i, a, c):
    grads, _, scale = i
    found = any(not bool(torch.isfinite(g.float()).all()) for g in grads)
    return {0: [torch.zeros_like(g) if scale[0].item() == 0 else (g.float() * scale[0]).to(g.dtype) for g in grads],
            1: torch.tensor([float(found)])}


MODELS = {
    "ForeachAbs": (step(torch.abs), EXACT),
    "ForeachAcos": (step(torch.acos), FLOAT),
    "ForeachAddList": (add_list, EXACT),
    "ForeachAddScalar": (scalar(add), EXACT),
    "ForeachAddScalarList": (lambda i, a, c: [(x.float() + s).to(x.dtype) for x, s in zip(i[0], i[1][0])], EXACT),
    "ForeachAddcdivList": (numbers(addcdiv), EXACT),
    "ForeachAddcdivScalar": (number(addcdiv), EXACT),
    "ForeachAddcdivScalarList": (numbers(addcdiv), EXACT),
    "ForeachAddcmulList": (addcmul_list, EXACT),
    "ForeachAddcmulScalar": (scalar(addcmul), EXACT),
    "ForeachAddcmulScalarList": (numbers(addcmul), EXACT),
    "ForeachAsin": (step(torch.asin), FLOAT),
    "ForeachAtan": (step(torch.atan), FLOAT),
    "ForeachCopy": (step(torch.clone), EXACT),
    "ForeachCos": (step(torch.cos), FLOAT),
    "ForeachCosh": (step(torch.cosh), FLOAT),
    "ForeachDivList": (step(torch.div), EXACT),
    "ForeachDivScalar": (number(div), EXACT),
    "ForeachDivScalarList": (numbers(div), EXACT),
    "ForeachErf": (step(torch.erf), FLOAT),
    "ForeachErfc": (step(torch.erfc), FLOAT),
    "ForeachExp": (step(torch.exp), FLOAT),
    "ForeachExpm1": (step(torch.expm1), FLOAT),
    "ForeachLerpScalar": (lerp_scalar, ULP1),
    "ForeachLog": (step(torch.log), FLOAT),
    "ForeachLog10": (step(torch.log10), FLOAT),
    "ForeachLog1p": (each(lambda x: per_step(torch.log)(add(x, 1.0))), FLOAT),
    "ForeachLog2": (step(torch.log2), FLOAT),
    "ForeachMaximumList": (step(torch.maximum), EXACT),
    "ForeachMaximumScalar": (number(per_step(torch.maximum)), EXACT),
    "ForeachMinimumList": (step(torch.minimum), EXACT),
    "ForeachMinimumScalar": (number(per_step(torch.minimum)), EXACT),
    "ForeachMulList": (step(torch.mul), EXACT),
    "ForeachMulScalar": (scalar(mul), EXACT),
    "ForeachMulScalarList": (numbers(mul), EXACT),
    "ForeachNeg": (step(torch.neg), EXACT),
    "ForeachNonFiniteCheckAndUnscale": (unscale, EXACT),
    "ForeachNorm": (lambda i, a, c: [norm(x, i[1][0].item()) for x in i[0]], FLOAT),
    "ForeachPowScalar": (lambda i, a, c: [per_step(torch.pow)(x, i[1][0].item()) for x in i[0]], EXACT),
    "ForeachPowScalarAndTensor": (lambda i, a, c: [wide(lambda x: torch.pow(i[0][0].item(), x))(x) for x in i[1]], FLOAT),
    "ForeachReciprocal": (step(torch.reciprocal), EXACT),
    "ForeachRoundOffNumber": (round_off, EXACT),
    "ForeachSigmoid": (step(torch.sigmoid), FLOAT),
    "ForeachSign": (step(torch.sign), EXACT),
    "ForeachSin": (step(torch.sin), FLOAT),
    "ForeachSinh": (step(torch.sinh), FLOAT),
    "ForeachSqrt": (each(sqrt), EXACT),
    "ForeachSubList": (number(lambda x, y, alpha: sub(x, mul(y, alpha))), EXACT),
    "ForeachSubScalar": (number(sub), EXACT),
    "ForeachSubScalarList": (numbers(sub), EXACT),
    "ForeachTan": (step(torch.tan), FLOAT),
    "ForeachTanh": (step(torch.tanh), FLOAT),
    "ForeachZeroInplace": (step(torch.zeros_like), EXACT),
}
