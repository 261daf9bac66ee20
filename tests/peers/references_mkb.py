"""MultiKernelBench's 52 modules (src/task/ref_mkb_*.c), all float32. Keys are names within the suite."""
import torch
import torch.nn.functional as F

from references_torch import EXACT, FLOAT

SUITE = "multikernelbench"


def unary(f):
    return lambda i, a, c: f(i[0][0])


def binary(f):
    return lambda i, a, c: f(i[0][0], i[1][0]).reshape(1)


def exclusive(x):
    return torch.cat((torch.zeros_like(x[:, :1]), x), dim=1)[:-1].cumsum(1)


def new_gelu(x):
    return 0.5 * x * (1.0 + torch.tanh((2.0 / torch.pi) ** 0.5 * (x + 0.044715 * torch.pow(x, 3.0))))


def normalized(f):
    """f(x, weight, bias, attributes)"""
    return lambda i, a, c: f(i[0][0], i[1][0] if len(i) > 1 else None, i[2][0] if len(i) > 2 else None, a)


def rms_norm(x, weight, bias, a):
    return x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + a["eps"])


def frobenius_norm(x):
    """torch 1.13 sums up millions of squares in float32 with an error of 2e-4: here the norm is float64's."""
    return x / torch.norm(x.double(), p="fro").float()


def distance(u, v):
    """pairwise_distance with the sum in float64: two distances of about 200 cancel in the loss, and float32 sums would
    leave five digits of it."""
    return ((u - v + 1e-6) ** 2).double().sum(1).sqrt().float()


def triplet(a, p, n, margin):
    return torch.clamp(margin + distance(a, p) - distance(a, n), min=0).mean().reshape(1)


def optimizer(f):
    return lambda i, a, c: f(*(t[0] for t in i), a)


def adagrad(p, g, accum, a):
    return p - a["lr"] * g / ((accum + g.pow(2)).sqrt() + a["eps"])


def adam(p, g, m, v, a):
    m = (a["beta1"] * m + (1 - a["beta1"]) * g) / (1 - a["beta1"] ** a["step"])
    v = (a["beta2"] * v + (1 - a["beta2"]) * g.pow(2)) / (1 - a["beta2"] ** a["step"])
    return p - a["lr"] * m / (v.sqrt() + a["eps"])


def lamb(p, m, v, a):
    r = m / (v.sqrt() + a["eps"])
    return p - a["lr"] * (p.norm(p=2) / (r.norm(p=2) + a["eps"])) * r


def rmsprop(p, g, v, a):
    return p - a["lr"] * g / ((a["alpha"] * v + (1 - a["alpha"]) * g.pow(2)).sqrt() + a["eps"])


def sgd(p, g, velocity, a):
    return p - a["lr"] * (a["momentum"] * velocity + g)


def pool(f, *more):
    return lambda i, a, c: f(i[0][0], a["kernel_size"], a["stride"], a["padding"], *(a[name] for name in more))


ACTIVATION = {
    "Elu": (unary(F.elu), FLOAT),
    "Gelu": (unary(F.gelu), FLOAT),
    "Hardsigmoid": (unary(F.hardsigmoid), FLOAT),
    "Hardtanh": (unary(F.hardtanh), EXACT),
    "LeakyRelu": (unary(lambda x: F.leaky_relu(x, 0.01)), EXACT),
    "LogSoftmax": (unary(lambda x: torch.log_softmax(x, 1)), FLOAT),
    "MinGptNewGelu": (unary(new_gelu), FLOAT),
    "Relu": (unary(torch.relu), EXACT),
    "Selu": (unary(torch.selu), FLOAT),
    "Sigmoid": (unary(torch.sigmoid), FLOAT),
    "Softmax": (unary(lambda x: torch.softmax(x, 1)), FLOAT),
    "Softplus": (unary(F.softplus), FLOAT),
    "Softsign": (unary(lambda x: x / (1 + torch.abs(x))), EXACT),
    "Swish": (unary(lambda x: x * torch.sigmoid(x)), FLOAT),
    "Tanh": (unary(torch.tanh), FLOAT),
}
ALONG = {
    "MaxReductionOverADimension": (unary(lambda x: x.max(1)[0]), EXACT),
    "MeanReductionOverADimension": (unary(lambda x: x.mean(1)), FLOAT),
    "MinReductionOverADimension": (unary(lambda x: x.min(1)[0]), EXACT),
    "ProductReductionOverADimension": (unary(lambda x: x.prod(1)), FLOAT),
    "SumReductionOverADimension": (unary(lambda x: x.sum(1, keepdim=True)), FLOAT),
    "Cumprod": (unary(lambda x: x.cumprod(1)), EXACT),
    "Cumsum": (unary(lambda x: x.cumsum(1)), EXACT),
    "CumsumExclusive": (unary(exclusive), EXACT),
    "CumsumReverse": (unary(lambda x: x.flip(1).cumsum(1).flip(1)), EXACT),
    "MaskedCumsum": (lambda i, a, c: (i[0][0] * i[1][0]).cumsum(1), EXACT),
    "MatrixScalarMultiplication": (lambda i, a, c: i[0][0] * a["s"], EXACT),
}
LOSS = {
    "CosineSimilarityLoss": (binary(lambda p, t: (1 - F.cosine_similarity(p, t, dim=1)).mean()), FLOAT),
    "CrossEntropyLoss": (binary(F.cross_entropy), FLOAT),
    "HingeLoss": (binary(lambda p, t: torch.clamp(1 - p * t, min=0).mean()), FLOAT),
    "HuberLoss": (binary(F.smooth_l1_loss), FLOAT),
    "KlDivLoss": (binary(lambda p, t: F.kl_div(torch.log(p), t, reduction="batchmean")), FLOAT),
    "MseLoss": (binary(lambda p, t: ((p - t) ** 2).mean()), FLOAT),
    "TripletMarginLoss": (lambda i, a, c: triplet(*(t[0] for t in i), a["margin"]), FLOAT),
}
NORMALIZATION = {
    "BatchNorm": (normalized(lambda x, w, b, a: F.batch_norm(x, None, None, w, b, training=True)), FLOAT),
    "FrobeniusNorm": (unary(frobenius_norm), FLOAT),
    "GroupNorm": (normalized(lambda x, w, b, a: F.group_norm(x, a["num_groups"], w, b)), FLOAT),
    "InstanceNorm": (unary(F.instance_norm), FLOAT),
    "L1Norm": (unary(lambda x: x / torch.sum(torch.abs(x), dim=1, keepdim=True)), FLOAT),
    "L2Norm": (unary(lambda x: x / torch.norm(x, p=2, dim=1, keepdim=True)), FLOAT),
    "LayerNorm": (normalized(lambda x, w, b, a: F.layer_norm(x, x.shape[1:], w, b)), FLOAT),
    "RmsNorm": (normalized(rms_norm), FLOAT),
}
OPTIMIZER = {
    "Adagrad": (optimizer(adagrad), FLOAT),
    "Adam": (optimizer(adam), FLOAT),
    "Lamb": (optimizer(lamb), FLOAT),
    "Rmsprop": (optimizer(rmsprop), FLOAT),
    "Sgd": (optimizer(sgd), FLOAT),
}
POOLING = {
    **{f"AveragePooling{n}d": (pool(f), FLOAT) for n, f in ((1, F.avg_pool1d), (2, F.avg_pool2d), (3, F.avg_pool3d))},
    **{f"MaxPooling{n}d": (pool(f, "dilation"), EXACT)
       for n, f in ((1, F.max_pool1d), (2, F.max_pool2d), (3, F.max_pool3d))},
}
MODELS = {**ACTIVATION, **ALONG, **LOSS, **NORMALIZATION, **OPTIMIZER, **POOLING}
