"""Normalisations and their gradients (src/task/reference/ref_norm.c, ref_norm_grad.c): the published modules, and autograd where it
says the same by another way. Statistics that are inputs are checked too: autograd takes none."""
import ast
import math

import torch

from references_torch import FLOAT, QUANTIZED, add, div, mul, sub, wide

F = torch.nn.functional


def choose(rows):
    """Of each data type and each kind of call (what is present, how many dimensions) the largest case of at most 2^18
    elements, else the smallest."""
    chosen = {}
    for row in rows:
        names = [n for n in ("input_shape", "x_shape", "x1_shape", "shape", "shape3") if n in row]
        shape = ast.literal_eval(row[names[0]]) if names else [int(row["batch"]), int(row["num_classes"])]
        kind = [v for k, v in row.items() if not any(c.isdigit() for c in str(v)) and k != "case_id"]
        dims = [len(ast.literal_eval(row[k])) for k in ("normalized_shape", "gamma_shape") if k in row]
        key = tuple(map(str, kind + dims + [row.get("dtype", row.get("input_dtype")), row.get("mode"), row.get("dim")]))
        size = math.prod(shape)
        old = chosen.get(key, (None,))[0]
        if old is None or old < size <= 2**18 or size < old > 2**18:
            chosen[key] = size, row
    return [row for _, row in chosen.values()]


def mean(x, dims):
    return wide(lambda v: v.mean(dims, keepdim=True))(x)


def rsqrt(x, epsilon):
    return wide(lambda v: 1 / v.sqrt())(add(x, float(epsilon)))


def statistics(x, dims, epsilon):
    """Mean, variance and rstd, each step in the type of x."""
    m = mean(x, dims)
    d = sub(x, m)
    v = mean(mul(d, d), dims)
    return m, v, rsqrt(v, epsilon)


def add_rms_norm(i, a, c):
    x, g = add(i[0][0], i[1][0]), i[2][0]
    rstd = rsqrt(mean(mul(x, x), -1), a["epsilon"])
    return {0: mul(mul(x, rstd), g), 1: rstd, 2: x}


def add_rms_norm_float(i, a, c):
    x, g = i[0][0].float() + i[1][0].float(), i[2][0].float()
    rstd = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + a["epsilon"])
    return x * rstd * g, rstd, x


def add_rms_norm_cast(i, a, c):
    y, rstd, x = add_rms_norm_float(i, a, c)
    return {0: y, 1: y, 2: rstd, 3: x}


def inplace_add_rms_norm(i, a, c):
    y, rstd, x = add_rms_norm_float(i, a, c)
    return {0: y.to(i[0][0].dtype), 1: rstd, 2: x.to(i[0][0].dtype)}


def add_rms_norm_quant(i, a, c):
    x = i[0][0].float() + i[1][0].float()
    y = x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + a["epsilon"]) * i[2][0].float()
    if y.dtype == torch.float64:  # which torch does not quantise
        return (y / i[3][0].double() + i[5][0].double()).clamp(-128, 127)
    return torch.quantize_per_channel(y, i[3][0].float(), i[5][0].float(), x.dim() - 1, torch.qint8).int_repr()


def inplace_add_layer_norm(i, a, c):
    x = i[0][0].float() + i[1][0].float()
    x = x + i[4][0] if i[4] else x
    m, v, rstd = statistics(x, -1, a["epsilon"])
    y, dtype = F.layer_norm(x, x.shape[-1:], i[2][0].float(), i[3][0].float(), a["epsilon"]), i[0][0].dtype
    return {0: y.to(dtype), 1: m, 2: rstd, 3: x.to(dtype)} if a["additional_output"] else y.to(dtype)


def layer_norm_v4(i, a, c):
    x, shape = i[0][0], i[1][0].tolist()
    y = F.layer_norm(x.float(), shape, *(t[0].float() if t else None for t in i[2:4]), a["epsilon"])
    m, v, rstd = statistics(x.float(), tuple(range(-len(shape), 0)), a["epsilon"])
    return {0: y.to(x.dtype), 1: m.to(x.dtype), 2: rstd.to(x.dtype)}


def deep_norm(i, a, c):
    x, gx, beta, gamma = (t[0].float() for t in i)
    s = x * a["alpha"] + gx
    m, v, rstd = statistics(s, -1, a["epsilon"])
    y = F.layer_norm(s, s.shape[-1:], gamma, beta, a["epsilon"])
    return {k: t.to(i[0][0].dtype) for k, t in enumerate((m, rstd, y))}


def batch_norm_v3(i, a, c):
    x, w, b = (t[0] for t in i[:3])
    dims = [0] + list(range(2, x.dim()))
    m, v, rstd = statistics(x, dims, a["epsilon"])
    shape = [1, -1] + [1] * (x.dim() - 2)
    n = mul(sub(x, m), rstd)
    n, w, b = (n, w, b) if w.dtype == n.dtype else (n.float(), w, b)
    return {0: add(mul(n, w.view(shape)), b.view(shape)), 3: m, 4: rstd}


def group_norm_swish(i, a, c):
    x, gamma, beta = (t[0].float() for t in i)
    y = F.group_norm(x, a["num_groups"], gamma, beta, a["eps"])
    y = y * torch.sigmoid(a["swish_scale"] * y) if a["activate_swish"] else y
    return y.to(i[0][0].dtype)


def grads(y, dy, *leaves):
    return torch.autograd.grad(y, leaves, dy)


def leaf(x):
    return x.double().requires_grad_()


def layer_norm_grads(x, gamma, dy, epsilon):
    """dx, dgamma, dbeta of layer_norm(x), in float64."""
    x, gamma, beta = leaf(x), leaf(gamma), leaf(torch.zeros_like(gamma))
    return grads(F.layer_norm(x, gamma.shape, gamma, beta, epsilon), dy.double(), x, gamma, beta)


def add_layer_norm_grad(i, a, c):
    dx, dgamma, dbeta = layer_norm_grads(i[1][0].float() + i[2][0].float(), i[5][0].float(), i[0][0], 1e-5)
    dx = dx + i[6][0].double() if i[6] else dx
    return {0: dx.float(), 1: dgamma.float(), 2: dbeta.float()}


def deep_norm_grad(i, a, c):
    dy, x, gx, gamma = (t[0].float() for t in i[:4])
    dgx, dgamma, dbeta = layer_norm_grads(x * a["alpha"] + gx, gamma, dy, float(c["epsilon"]))
    dtype = i[0][0].dtype
    return {0: (a["alpha"] * dgx).float().to(dtype), 1: dgx.float().to(dtype), 2: dbeta.float(), 3: dgamma.float()}


def rms_norm_grad(i, a, c):
    dy, x, rstd, gamma = (t[0] for t in i)
    dgamma = (mul(dy, x) * rstd).sum(tuple(range(dy.dim() - gamma.dim())))
    part = (dy * gamma * x * rstd.pow(3)).sum(-1, keepdim=True)
    return {0: dy * gamma * rstd - part * x / x.shape[-1], 1: dgamma}


def group_norm_swish_grad(i, a, c):
    """The chain rule in float64, with the given statistics and the module's slope of swish: for a scale other than 1 that is
    not its derivative."""
    dy, m, rstd, x, gamma, beta = (t[0].double() for t in i)
    groups, shape = a["num_groups"], [1, -1] + [1] * (x.dim() - 2)
    split = lambda t: t.reshape(x.shape[0], groups, -1)
    normal = (split(x) - m[..., None]) * rstd[..., None]
    g = normal.reshape(x.shape) * gamma.view(shape) + beta.view(shape)
    e = torch.exp(-a["swish_scale"] * g) + 1
    scaled = split(dy * (g - g / e + 1) / e * gamma.view(shape))
    c1, c2 = scaled.mean(-1, keepdim=True), (scaled * normal).mean(-1, keepdim=True)
    dx = rstd[..., None] * (scaled - normal * c2 - c1)
    return dx.reshape(x.shape).float().to(i[3][0].dtype)


MODELS = {
    "AddLayerNormGrad": (add_layer_norm_grad, FLOAT),
    "AddRmsNorm": (add_rms_norm, FLOAT),
    "AddRmsNormCast": (add_rms_norm_cast, FLOAT),
    "AddRmsNormQuant": (add_rms_norm_quant, QUANTIZED),
    "BatchNormV3": (batch_norm_v3, FLOAT),
    "DeepNorm": (deep_norm, FLOAT),
    "DeepNormGrad": (deep_norm_grad, FLOAT),
    "GroupNormSwish": (group_norm_swish, FLOAT),
    "GroupNormSwishGrad": (group_norm_swish_grad, FLOAT),
    "InplaceAddLayerNorm": (inplace_add_layer_norm, FLOAT),
    "InplaceAddRmsNorm": (inplace_add_rms_norm, FLOAT),
    "LayerNormV4": (layer_norm_v4, FLOAT),
    "RmsNormGrad": (rms_norm_grad, FLOAT),
}
