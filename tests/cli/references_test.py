#!/usr/bin/python3
"""The references against PyTorch: upstream in the module's types, golden in float64. Skipped without PyTorch. Words on the
command line choose the tasks whose names contain one of them.

Each model is the published module's arithmetic in torch calls: here, or in the module of a family (references_torch.py
says what such a module offers). Debian's torch 1.13 lacks some half and bfloat16 operators on a CPU: those are computed in
float32 and rounded, which is what later versions do."""
import csv
import json
import os
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    print("python3-torch is not installed")
    sys.exit(77)
import references_foreach
import references_fused
import references_gmm
import references_math
import references_mhc
import references_mkb
import references_move
import references_norm
from references_torch import (EXACT, FLOAT, ULP1, add, differ, div, exp, far_from_golden, golden_differs, in_float64, load,
                              mul, per_step, sigmoid, sub, wide, widest)

FAMILIES = (
    references_foreach,
    references_fused,
    references_gmm,
    references_math,
    references_mhc,
    references_move,
    references_norm,
)

BUILD = os.path.dirname(os.environ["AKGEN"])
DUMP = os.path.join(BUILD, "tests", "task_reference_reference_test")


def addcmul(i, a, c):
    x, a1, a2, v = (t[0] for t in i)
    v = v.reshape(())
    if x.dtype == torch.bfloat16:
        return [x.float() + a1.float() * a2.float() * v.float()][0].to(x.dtype)
    return add(x, mul(mul(a1, a2), v))


def fast_gelu(i, a, c):
    x = i[0][0]
    m = x.abs()
    below = add(exp(mul(m, -1.702)), 1.0)
    above = mul(x, exp(mul(sub(x, m), 1.702 / 2)))
    return div(above, below)


def mse(i, a, c):
    d = sub(i[0][0], i[1][0])
    y = mul(d, d)
    if a["reduction"] == "none":
        return y
    total = y.float().sum().to(y.dtype)
    return total if a["reduction"] == "sum" else (total.float() / y.numel()).to(y.dtype)


def mul_sigmoid(i, a, c):
    x, s1, s2, s3 = (t[0] for t in i)
    e = exp(-mul(x, s1))
    return add(mul(per_step(torch.reciprocal)(add(e, 1.0)), s2), s3)


def swi_glu(i, a, c):
    x, y = i[0][0].chunk(2, dim=a["dim"])
    return mul(wide(torch.nn.functional.silu)(x), y)  # torch 1.13 rounds inside silu, later versions do not


def rms_norm(i, a, c):
    x, g = i[0][0], i[1][0]
    return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + a["epsilon"]) * g.float()


def add_layer_norm(i, a, c):
    x = i[0][0].float() + i[1][0].float()
    if i[4]:
        x = x + i[4][0]
    y = torch.nn.functional.layer_norm(x, i[2][0].shape, i[2][0].float(), i[3][0].float(), a["epsilon"])
    return {0: y, 3: x}


def pre_layer_norm(i, a, c):
    x = i[0][0] + i[1][0]
    return torch.nn.functional.layer_norm(x, x.shape[-1:], i[2][0], i[3][0], a["epsilon"])


def muls(i, a, c):
    """torch multiplies by a Python number, the operator by a float32 one, which golden takes."""
    exact = i[1][0].dtype == torch.float64
    return i[0][0] * (i[1][0] if exact else torch.tensor([float(c["value"])], dtype=torch.float64))


def arange(i, a, c):
    return torch.arange(*(t[0].item() for t in i))


MODELS = {
    "Equal": (lambda i, a, c: i[0][0] == i[1][0], EXACT),
    "Less": (lambda i, a, c: i[0][0] < i[1][0], EXACT),
    "IsFinite": (lambda i, a, c: torch.isfinite(i[0][0]), EXACT),
    "NonFiniteCheckOp": (lambda i, a, c: torch.tensor([float(any(not bool(torch.isfinite(x).all()) for x in i[0]))]), EXACT),
    "AddCustom": (lambda i, a, c: add(i[0][0], i[1][0]), EXACT),
    "UnalignAdd": (lambda i, a, c: add(i[0][0], i[1][0]), EXACT),
    "Sqrt": (lambda i, a, c: per_step(torch.sqrt)(i[0][0]), EXACT),
    "Addcmul": (addcmul, EXACT),
    "Lerp": (lambda i, a, c: wide(torch.lerp)(i[0][0], i[1][0], i[2][0]), ULP1),
    "ClipByValue": (lambda i, a, c: per_step(torch.clamp)(i[0][0], i[1][0], i[2][0]), EXACT),
    "Muls": (muls, EXACT),
    "Neg": (lambda i, a, c: -i[0][0], EXACT),
    "Sasum": (lambda i, a, c: i[0][0][:a["n"] * a["incx"]:a["incx"]].float().abs().sum().to(i[0][0].dtype).reshape(1), FLOAT),
    "Sscal": (lambda i, a, c: i[0][0] * a["alpha"], EXACT),
    "Arange": (arange, FLOAT),
    "Eye": (lambda i, a, c: torch.eye(*i[0][0].shape[-2:]).expand(i[0][0].shape).to(i[0][0].dtype), EXACT),
    "Fill": (lambda i, a, c: torch.full(i[0][0].tolist(), i[1][0].item(), dtype=i[1][0].dtype), EXACT),
    "FastGelu": (fast_gelu, FLOAT),
    "SwiGlu": (swi_glu, FLOAT),
    "Swish": (lambda i, a, c: mul(i[0][0], sigmoid(mul(i[0][0], a["scale"]))), FLOAT),
    "Cross": (lambda i, a, c: cross(i[0][0], i[1][0], a["dim"]), FLOAT),
    "MseLoss": (mse, FLOAT),
    "Tril": (lambda i, a, c: torch.tril(i[0][0].float(), a["diagonal"]).to(i[0][0].dtype), EXACT),
    "RmsNorm": (rms_norm, FLOAT),
    "AddLayerNorm": (add_layer_norm, FLOAT),
    "PreLayerNorm": (pre_layer_norm, FLOAT),
    "MulSigmoidMulAddCustom": (mul_sigmoid, FLOAT),
    "ExpandV2": (lambda i, a, c: i[0][0].expand(*a["shape"]), EXACT),
}
for family in FAMILIES:
    MODELS.update(family.MODELS)


def cross(x, y, dim):  # torch's float32 loop may contract to fused multiply-add
    if x.dtype != torch.float16:
        return torch.cross(x, y, dim=dim)
    a, b = x.unbind(dim), y.unbind(dim)
    part = lambda p, q: sub(mul(a[p], b[q]), mul(a[q], b[p]))
    return torch.stack([part(1, 2), part(2, 0), part(0, 1)], dim)


def run(task, model, mode, case, seed, directory):
    out = subprocess.run([DUMP, task, str(case), str(seed), directory], capture_output=True, text=True, check=True)
    dump = json.loads(out.stdout)
    inputs = [[load(t) for t in argument] for argument in dump["inputs"]]
    result = model(inputs, dump["attrs"], dump["columns"])
    if not isinstance(result, dict):
        result = {0: result}
    for index, tensors in result.items():
        tensors = tensors if isinstance(tensors, list) else [tensors]
        for t, description in enumerate(dump["upstream"][index]):
            problem = differ(load(description), tensors[t], mode)
            if not problem:
                problem = far_from_golden(load(description), load(dump["golden"][index][t]))
            if problem:
                return f"{task} case {case}, output {index}, tensor {t}: {problem}"
    return golden_problem(task, model, case, inputs, dump)


# Golden takes what the forward pass handed over as it is, rounded to its type; autograd computes it afresh.
BOUNDS = {
    "AddLayerNormGrad": 1e-6,  # mean and rstd are float32
    "DeepNormGrad": 1e-6,
    "GeGluGradV2": 2.0**-7,  # gelu has the type of x, down to bfloat16
}


def golden_problem(task, model, case, inputs, dump):
    """The model once more, in float64 throughout, against golden."""
    with in_float64():
        result = model([[widest(t) for t in argument] for argument in inputs], dump["attrs"], dump["columns"])
    if not isinstance(result, dict):
        result = {0: result}
    for index, tensors in result.items():
        tensors = tensors if isinstance(tensors, list) else [tensors]
        for t, description in enumerate(dump["golden"][index]):
            problem = golden_differs(load(description), tensors[t], BOUNDS.get(os.path.basename(task), 1e-9))
            if problem:
                return f"{task} case {case}, output {index}, tensor {t}: {problem}"
    return None


def cases_of(folder, families):
    """The numbers of the cases to compare."""
    with open(os.path.join(folder, "cases.csv")) as table:
        rows = list(csv.DictReader(table, delimiter=";"))
    for family in families:
        if os.path.basename(folder) in family.MODELS and hasattr(family, "choose"):
            rows = family.choose(rows)
    return [int(row["case_id"]) for row in rows]


def main():
    home = os.path.join(os.environ["AKGEN_HOME"], "tasks")
    failures = checked = 0
    for folder, _, files in sorted(os.walk(home)):
        name, task = os.path.relpath(folder, home), os.path.basename(folder)
        own = name.startswith(references_mkb.SUITE)  # its names also occur in other suites
        models = references_mkb.MODELS if own else MODELS
        if "cases.csv" not in files or task not in models or not any(word in name for word in sys.argv[1:] or [""]):
            continue
        for case in cases_of(folder, [references_mkb] if own else FAMILIES):
            with tempfile.TemporaryDirectory() as directory:
                problem = run(name, *models[task], case, 7, directory)
            checked += 1
            if problem:
                failures += 1
                print(problem)
    print(f"{checked} cases compared with torch {torch.__version__}, {failures} differ")
    sys.exit(1 if failures or checked < (1 if sys.argv[1:] else 32) else 0)


main()
