"""What the reference models of references_test.py share: loading dumps, single torch steps, comparison.

A family module (references_<family>.py) offers MODELS: task -> (model, mode). A model takes the inputs (a list of tensors
per OpDef input), the attributes and the columns of the case and yields what the published module returns: a tensor, a list
of tensors, or a dict by output number. It may offer choose(rows): the cases to compare, of all rows of cases.csv."""
import functools

import numpy as np
import torch

NAMES = {"float32": np.float32, "float16": np.float16, "float64": np.float64, "int8": np.int8, "uint8": np.uint8,
         "int16": np.int16, "int32": np.int32, "int64": np.int64, "bool": np.bool_, "complex64": np.complex64}


def load(tensor):
    shape = tensor["shape"]
    if tensor["dtype"] == "bfloat16":
        bits = np.fromfile(tensor["path"], np.int16)
        return torch.from_numpy(bits).view(torch.bfloat16).reshape(shape)
    return torch.from_numpy(np.fromfile(tensor["path"], NAMES[tensor["dtype"]])).reshape(shape)


def wide(f):
    """f computed in float32, its result rounded to the type of the first argument."""
    return lambda x, *more: f(x.float(), *(m.float() for m in more)).to(x.dtype)


HALVES = (torch.float16, torch.bfloat16)


def per_step(op):
    """One torch step, half types computed in float32 and rounded. A Python number takes the tensor's type first, but for
    a factor, which torch keeps in float32 since 2.1. The kernels of versions do it in ways of their own: 1.13 lacks some,
    2.1 has another erf."""
    factor = op in (torch.mul, torch.div)

    def step(*args):
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        first = functools.reduce(torch.promote_types, (t.dtype for t in tensors if t.dim()), tensors[0].dtype)
        if first not in HALVES:
            return op(*args)
        return op(*(a.float() if isinstance(a, torch.Tensor) else
                    torch.tensor(a, dtype=torch.float32 if factor else first).float() if isinstance(a, float) else a
                    for a in args)).to(first)
    return step


def sqrt(x):
    """The correctly rounded root: float64's, rounded. For long tensors PyPI's torch takes MKL's, which is one unit off."""
    return torch.sqrt(x.double()).to(x.dtype)


mul, add, sub, div = map(per_step, (torch.mul, torch.add, torch.sub, torch.div))
exp, sigmoid = map(per_step, (torch.exp, torch.sigmoid))


# Bit by bit; one unit in the last place in few elements; a few float32 roundings; rounded to integers after those.
EXACT, ULP1, FLOAT, QUANTIZED = 0, 1, 2, 3


def real(x):
    """A flat tensor of real numbers; complex ones are pairs."""
    return (torch.view_as_real(x) if x.is_complex() else x).reshape(-1)


def bounds(t, dtype, mode):
    """How far each element of the reference may be from PyTorch's, in float64."""
    unit = {torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}.get(dtype, 2.0**-23)
    step = torch.maximum(t.abs(), torch.tensor(2.0**-14).double()) * unit
    limit = step * (1.001 if mode == ULP1 or dtype != torch.float32 else 16)
    # Cancellation in float32: relative to the tensor as well.
    return limit if mode == ULP1 else torch.maximum(limit, (8 * 2.0**-23 * t.abs().max()).expand(t.shape))


def differ(ours, theirs, mode):
    """None, or how far the two are apart."""
    if ours.dtype != theirs.dtype and not (theirs.dtype == torch.complex128 and ours.dtype == torch.complex64):
        return f"type {ours.dtype}, torch has {theirs.dtype}"
    if ours.numel() != theirs.numel():
        return f"{ours.numel()} elements, torch has {theirs.numel()}"
    ours, theirs = real(ours), real(theirs.to(ours.dtype))
    if mode == QUANTIZED and ours.dtype == torch.int8:  # a float32 rounding may turn a tie
        steps = (ours.int() - theirs.int()).abs()
        few = int(steps.max()) <= 1 and int(steps.sum()) <= max(1, len(ours) // 1000)
        return None if few else f"{int((steps > 0).sum())} of {len(ours)} integers differ, by up to {int(steps.max())}"
    if mode == EXACT or not ours.dtype.is_floating_point:
        wrong = (ours != theirs) & ((ours == ours) | (theirs == theirs))  # nan equals nan
        return None if not wrong.any() else f"{int(wrong.sum())} of {len(ours)} elements differ, {ours[wrong][0]} {theirs[wrong][0]}"
    o, t = ours.double(), theirs.double()
    far = (o - t).abs() > bounds(t, ours.dtype, mode)
    if far.any():
        return f"{int(far.sum())} of {len(o)} elements are far apart, {o[far][0]} {t[far][0]}"
    if ours.dtype in HALVES and float((o != t).double().mean()) > 0.002:
        return f"{float((o != t).double().mean()):.4f} of the elements are not equal"
    return None


NARROW = (torch.float16, torch.bfloat16, torch.float32)


def widest(x):
    """A tensor in float64 or complex128, or as it is if it holds integers."""
    return x.to(torch.complex128) if x.is_complex() else x.double() if x.is_floating_point() else x


class in_float64:
    """While it is entered, torch rounds to no narrower type than float64: the steps of a model are golden's then."""

    def __enter__(self):
        self.own = {name: getattr(torch.Tensor, name) for name in ("float", "half", "bfloat16", "to")}
        to = self.own["to"]

        def wide_to(x, *args, **keywords):
            args = [torch.float64 if type(a) is torch.dtype and a in NARROW else a for a in args]
            return to(x, *args, **keywords)
        torch.Tensor.float = torch.Tensor.half = torch.Tensor.bfloat16 = torch.Tensor.double
        torch.Tensor.to = wide_to
        torch.set_default_dtype(torch.float64)

    def __exit__(self, *_):
        for name, own in self.own.items():
            setattr(torch.Tensor, name, own)
        torch.set_default_dtype(torch.float32)


def golden_limits(golden, exact, bound):
    """The model in float64 as a flat tensor, and how far each element of golden may be from it."""
    exact = widest(exact)
    if not golden.is_floating_point():
        return real(exact).to(golden.dtype), None
    rounding = 0.0 if exact.is_floating_point() or exact.is_complex() else 0.5  # the model rounds to integers, golden does not
    e = real(exact).double()
    finite = torch.isfinite(e)
    scale = e[finite].pow(2).mean().sqrt() if finite.any() else 0.0
    return e, rounding + bound * (e.abs() + scale)


def golden_differs(golden, exact, bound):
    """None, or how far golden is from the model in float64: more than `bound` times the value and the tensor's scale."""
    e, limits = golden_limits(golden, exact, bound)
    g = golden.reshape(-1)
    g = g[::2] if len(g) == 2 * len(e) else g
    if len(g) != len(e):
        return f"golden has {len(g)} elements, the model {len(e)}"
    if limits is None:
        wrong = g != e
        return f"{int(wrong.sum())} integers of golden differ" if wrong.any() else None
    same = (g == e) | (torch.isnan(g) & torch.isnan(e))
    far = ~same & ~((g - e).abs() <= limits)
    return f"{int(far.sum())} of {len(g)} elements: golden is {g[far][0]}, in float64 it is {e[far][0]}" if far.any() else None


def far_from_golden(upstream, golden):
    """float64 without rounding lies near the module's result: within 2 % of the tensor's scale."""
    upstream = torch.view_as_real(upstream) if upstream.is_complex() else upstream
    o, g = upstream.reshape(-1).double(), golden.reshape(-1).double()
    g = g[::2] if len(g) == 2 * len(o) else g  # the module's result is real, the operator's complex
    finite = torch.isfinite(g)
    scale = g[finite].pow(2).mean().sqrt() if finite.any() else 0.0
    rounding = 0.501 if not upstream.is_floating_point() and golden.is_floating_point() else 0.0
    rounding = 2.0**-24 if upstream.dtype == torch.float16 else rounding  # where half is coarse
    rounding = 2.0**-126 if upstream.dtype == torch.float32 else rounding  # a product of many factors vanishes
    far = (o - g).abs() > rounding + 0.02 * (g.abs() + scale)
    return f"golden is {g[far][0]}, upstream {o[far][0]}" if far.any() else None
