"""Activations, losses, optimisers and fused chains (src/task/reference/ref_gelu.c, ref_loss.c, ref_optim.c, ref_fused.c)."""
import torch

from references_norm import choose, grads, leaf  # noqa: F401 (choose is what this family offers)
from references_torch import FLOAT, QUANTIZED, add, differ, div, exp, mul, per_step, sub, wide

F = torch.nn.functional


def gelu(x, approximate="none"):
    return wide(lambda v: F.gelu(v, approximate=approximate))(x)


def fast_gelu_grad(i, a, c):
    dy, x = i[0][0], i[1][0]
    m = x.abs()
    e = exp(mul(m, -1.702))
    above = add(add(e, mul(mul(x, e), 1.702)), exp(mul(sub(x, m), 1.702)))
    below = add(e, 1.0)
    return mul(dy, div(above, mul(below, below)))


def gelu_grad(i, a, c):
    """The tanh form's gradient by autograd; the module's constants are that form's to 8 digits."""
    x = i[1][0].float().requires_grad_()
    return grads(F.gelu(x, approximate="tanh"), i[0][0].float(), x)[0].to(i[0][0].dtype)


def ge_glu_v2(i, a, c):
    x, y = i[0][0].chunk(2, -1)
    return {0: mul(gelu(x), y), 1: gelu(x)}


def ge_glu_grad_v2(i, a, c):
    approximate = "tanh" if a["approximate"] else "none"
    dy, (x, y) = i[0][0], i[1][0].chunk(2, a["dim"])
    rounded = i[2][0].dtype == x.dtype != torch.float64  # the input gelu has its type's digits
    problem = differ(i[2][0], gelu(x, approximate), FLOAT) if rounded else None
    assert not problem, f"the input gelu: {problem}"
    wide_x = x.float().requires_grad_()
    dx, = grads(F.gelu(wide_x, approximate=approximate), mul(dy, y).float(), wide_x)
    return torch.cat([dx.to(x.dtype), mul(dy, i[2][0])], a["dim"])


def swi_glu_grad(i, a, c):
    x = leaf(i[1][0])
    p, q = x.chunk(2, a["dim"])
    return grads(F.silu(p) * q, i[0][0].double(), x)[0].float()


def quantized(x):
    return torch.round(x).clamp(-128, 127).to(torch.int8)


TERMS = (-0.3512339572e-8, 0.2645266170e-6, -0.7929488134e-5, 0.1106123840e-3, 0.6518995814e-4, -0.7266616915e-1,
         -0.1595769883e1)


def gelu_quant(i, a, c):
    x, scale, offset = (t[0].float() for t in i)
    if a["approximate"] == "none":
        v = x.clamp(-13.25, 5.75)
        y = torch.zeros_like(v)
        for term in TERMS:
            y = y * v * v + term
        g = x / (torch.exp(y * v) + 1)
    else:
        g = x / (torch.exp((x + x * x * x * 0.044715) * -1.5957691) + 1)
    if a["quant_mode"] == "static":
        return quantized(g * scale + offset)
    m = g * scale
    t = 127.0 / (m.abs().amax(-1, keepdim=True) + 1e-6)
    return {0: quantized(m * t), 1: 1.0 / t}


def dequant_swiglu_quant(i, a, c):
    x, weight, activation, bias, scale, offset, counts = (t[0] if t else None for t in i)
    rows, result, first = x.shape[0], [], 0
    for group, count in enumerate(counts.tolist() if counts is not None else [rows]):
        v = x[first:first + count].float()
        if x.dtype == torch.int32:
            v = (v + bias if bias is not None else v) * weight[group]
            v = v * activation[first:first + count] if activation is not None else v
        p, q = v.chunk(2, -1)
        o = F.silu(p) * q if a["activate_left"] else F.silu(q) * p
        if a["quant_mode"] == "static":
            o = o / scale[group] + offset[group]
        else:
            o = o * scale[group]
            o = o * (127 / o.abs().amax(-1, keepdim=True))
        result.append(quantized(o))
        first += count
    assert first == rows, f"the groups hold {first} of {rows} rows"
    return torch.cat(result)


def matmul_softmax_grad(i, a, c):
    p, grad, values = (t[0] for t in i)
    g = wide(lambda x, y: x @ y.T)(grad, values)
    total = wide(lambda v: v.sum(-1, keepdim=True))(mul(p, g))
    return mul(sub(g, total), p)


def mul_sigmoid(i, a, c):
    x1, x2 = i[0][0], i[1][0]
    t = wide(torch.sigmoid)(mul(x1, a["t1"]))
    t2 = torch.tensor(a["t2"], dtype=t.dtype).float()
    return mul(mul(torch.where(t.float() < t2, t, mul(t, 2.0)), x2.reshape(1, -1)), a["t3"])


def add_sigmoid_mul_reduce_sum(i, a, c):
    x, row, factor, column, y = (t[0] for t in i)
    s = per_step(torch.reciprocal)(add(exp(-mul(add(x, row), factor)), 1.0))
    return wide(lambda v: v.sum(1))(mul(mul(s, column), y))


def mul_mul_reduce_mean_twice(i, a, c):
    x, y, z, shift, gamma, beta = (t[0] for t in i)
    mean = wide(lambda v: v.mean(1, keepdim=True))
    m = mul(mul(x, y), z)
    u = mean(m)
    d = sub(m, u)
    k = div(gamma, per_step(torch.sqrt)(add(mean(mul(d, d)), shift)))
    return add(sub(beta, mul(k, u)), mul(k, m))


def select_softmax(i, a, c):
    x = torch.where(i[0][0], i[1][0], i[2][0])
    e = exp(sub(x, wide(lambda v: v.amax(-1, keepdim=True))(x)))
    return div(e, wide(lambda v: v.sum(-1, keepdim=True))(e))


def cross_entropy(i, a, target, weight):
    """log_prob, the losses of the rows, and what "mean" divides by; torch's own loss smooths the same way."""
    x, t = i.float(), target
    w = weight[0] if weight else torch.ones(x.shape[1])
    mask = (t != a["ignore_index"]).float() if a["ignore_index"] >= 0 else torch.ones(len(t))
    ignored = a["ignore_index"] if a["ignore_index"] >= 0 else -100
    rows = F.cross_entropy(x, t, w, ignore_index=ignored, reduction="none", label_smoothing=a["label_smoothing"])
    return F.log_softmax(x, 1), rows, (w[t] * mask).sum() + 1e-12


def reduced(rows, total, reduction):
    return {"none": rows, "sum": rows.sum(), "mean": rows.sum() / total}[reduction]


def cross_entropy_loss(i, a, c):
    dtype = i[0][0].dtype
    log_prob, rows, total = cross_entropy(i[0][0], a, i[1][0], i[2])
    return {0: reduced(rows, total, a["reduction"]).to(dtype).reshape(-1), 1: log_prob.to(dtype)}


def cross_entropy_loss_grad(i, a, c):
    """softmax - onehot, scaled; in half, exp(log_prob) does not quite add up to 1, so that autograd says something else."""
    log_prob, target = i[1][0].float(), i[2][0]
    p = log_prob.exp()
    assert ((p.sum(1) - 1).abs() < 0.05).all(), "log_prob is no logarithm of probabilities"
    w = i[3][0][target] if i[3] else torch.ones(len(target))
    mask = (target != a["ignore_index"]).float() if a["ignore_index"] >= 0 else torch.ones(len(target))
    grad = i[0][0].float() / ((w * mask).sum() + 1e-12) if a["reduction"] == "mean" else i[0][0].float()
    assert a["label_smoothing"] == 0
    own = (grad * mask * w)[:, None]
    return (p * own - F.one_hot(target, p.shape[1]) * own).to(i[1][0].dtype)


def mse_loss_grad(i, a, c):
    predict, label, dout = (t[0].float() for t in i)
    factor = torch.tensor(2.0 / predict.numel() if a["reduction"] == "mean" else 2.0)
    return ((predict - label) * factor * dout).to(i[0][0].dtype)


def apply_adam_w(i, a, c):
    """torch's own operators in place, on float32, rounded after each."""
    var, m, v, grad, step, top = (t[0] for t in i)
    f = lambda op, x, *more, **values: op(x.float(), *(y.float() if torch.is_tensor(y) else y for y in more),
                                          **values).to(x.dtype)
    grad, t = (-grad if a["maximize"] else grad), step.item() + 1
    var = f(torch.mul, var, 1 - a["lr"] * a["weight_decay"])
    m = f(torch.lerp, m, grad, 1 - a["beta1"])
    v = f(torch.addcmul, f(torch.mul, v, a["beta2"]), grad, grad, value=1 - a["beta2"])
    top = torch.maximum(v, top) if a["amsgrad"] else top
    hat = f(torch.div, top if a["amsgrad"] else v, 1 - a["beta2"]**t)
    below = f(torch.add, f(torch.sqrt, hat), a["eps"])
    var = f(torch.addcdiv, var, m, below, value=-a["lr"] / (1 - a["beta1"]**t))
    return {0: var, 1: m, 2: v, 3: top} if a["amsgrad"] else {0: var, 1: m, 2: v}


def apply_fused_ema_adam(i, a, c):
    grad, var, m, v, s = (t[0].float() for t in i[:5])
    step = i[5][0]
    c1, c2 = (1.0 - a[b]**step if a["bias_correction"] else 1.0 for b in ("beta1", "beta2"))
    grad = grad + a["weight_decay"] * var if a["mode"] == 0 else grad
    m = a["beta1"] * m + (1 - a["beta1"]) * grad
    v = a["beta2"] * v + (1 - a["beta2"]) * grad * grad
    update = (m / c1) / (torch.sqrt(v / c2) + a["eps"])
    var = var - a["lr"] * (update + a["weight_decay"] * var if a["mode"] == 1 else update)
    s = a["ema_decay"] * s + (1 - a["ema_decay"]) * var
    return {k: t.to(i[0][0].dtype) for k, t in enumerate((var, m, v, s))}


MODELS = {
    "Gelu": (lambda i, a, c: gelu(i[0][0]), FLOAT),
    "FastGeluGrad": (fast_gelu_grad, FLOAT),
    "GeluGrad": (gelu_grad, FLOAT),
    "GeGluV2": (ge_glu_v2, FLOAT),
    "GeGluGradV2": (ge_glu_grad_v2, FLOAT),
    "SwiGluGrad": (swi_glu_grad, FLOAT),
    "GeluQuant": (gelu_quant, QUANTIZED),
    "DequantSwigluQuant": (dequant_swiglu_quant, QUANTIZED),
    "InplaceAttnSoftmax": (lambda i, a, c: wide(lambda x: x.softmax(-1))(i[0][0]), FLOAT),
    "InplaceFusedMatmulSoftmaxGrad": (matmul_softmax_grad, FLOAT),
    "MulSigmoid": (mul_sigmoid, FLOAT),
    "AddSigmoidMulReduceSumD": (add_sigmoid_mul_reduce_sum, FLOAT),
    "MulMulReduceMeanDTwice": (mul_mul_reduce_mean_twice, FLOAT),
    "SelectReduceMaxDSubExpReduceSumDRealDiv": (select_softmax, FLOAT),
    "CrossEntropyLoss": (cross_entropy_loss, FLOAT),
    "CrossEntropyLossGrad": (cross_entropy_loss_grad, FLOAT),
    "MseLossGradV2": (mse_loss_grad, FLOAT),
    "ApplyAdamWV2": (apply_adam_w, FLOAT),
    "ApplyFusedEmaAdam": (apply_fused_ema_adam, FLOAT),
}
