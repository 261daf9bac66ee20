#!/usr/bin/python3
# test: cost=60 processors=2 env=MALLOC_MMAP_THRESHOLD_=1073741824,MALLOC_TRIM_THRESHOLD_=4294967296
"""The references against PyTorch: upstream in the module's types, golden in float64. Words on the command line choose the
tasks whose names contain one of them; --record writes PyTorch's results for `make test` (references_record.py); --all takes
every case, not only those that a family chooses.

Each model is the published module's arithmetic in torch calls: here, or in the module of a family (references_torch.py
says what such a module offers)."""
import csv
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import torch

import references_foreach
import references_fused
import references_gmm
import references_math
import references_mhc
import references_mkb
import references_move
import references_norm
import references_record
from references_torch import (EXACT, FLOAT, ULP1, add, differ, div, exp, far_from_golden, golden_differs, in_float64, load,
                              mul, per_step, sigmoid, sqrt, sub, wide, widest)

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
DUMP = os.path.join(BUILD, "tests", "task_tests"), "reference/reference_test"
SEED = 7  # pytorch_test.c makes the same inputs


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
    "Sqrt": (lambda i, a, c: sqrt(i[0][0]), EXACT),
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


def outputs_of(model, inputs, dump):
    """What the model yields: output number -> list of tensors."""
    result = model(inputs, dump["attrs"], dump["columns"])
    result = result if isinstance(result, dict) else {0: result}
    return {index: tensors if isinstance(tensors, list) else [tensors] for index, tensors in result.items()}


# Golden takes what the forward pass handed over as it is, rounded to its type; autograd computes it afresh.
BOUNDS = {
    "AddLayerNormGrad": 1e-6,  # mean and rstd are float32
    "DeepNormGrad": 1e-6,
    "GeGluGradV2": 2.0**-7,  # gelu has the type of x, down to bfloat16
}


def compare(job):
    """(None or a problem, rows of the record) of one case."""
    name, own, case = job
    model, mode = models_of(own)[os.path.basename(name)]
    with tempfile.TemporaryDirectory(prefix="akgen-peers-") as directory:
        out = subprocess.run([*DUMP, name, str(case), str(SEED), directory], capture_output=True, text=True, check=True)
        dump = json.loads(out.stdout)
        inputs, upstream, golden = ([[load(t) for t in tensors] for tensors in dump[part]]
                                    for part in ("inputs", "upstream", "golden"))
    torch_yields = outputs_of(model, inputs, dump)
    with in_float64():
        exact = outputs_of(model, [[widest(t) for t in argument] for argument in inputs], dump)
    bound = BOUNDS.get(os.path.basename(name), 1e-9)
    rows = []
    for index, theirs in torch_yields.items():
        for t, (ours, gold) in enumerate(zip(upstream[index], golden[index])):
            problem = (differ(ours, theirs[t], mode) or far_from_golden(ours, gold) or
                       golden_differs(gold, exact[index][t], bound))
            if problem:
                return f"{name} case {case}, output {index}, tensor {t}: {problem}", []
        if upstream[index]:
            key = name, str(case), str(index)
            rows.append(references_record.of_upstream(key, upstream[index], theirs, mode))
            rows.append(references_record.of_golden(key, golden[index], exact[index], bound))
    return None, rows


def models_of(own):
    """MultiKernelBench's names also occur in the other suites."""
    return references_mkb.MODELS if own else MODELS


def cases_of(folder, families):
    """The numbers of the cases to compare, of the families that choose."""
    with open(os.path.join(folder, "cases.csv")) as table:
        rows = list(csv.DictReader(table, delimiter=";"))
    for family in families:
        if os.path.basename(folder) in family.MODELS and hasattr(family, "choose"):
            rows = family.choose(rows)
    return [int(row["case_id"]) for row in rows]


def jobs(words):
    """(task, whether it is MultiKernelBench's, case) of all cases to compare."""
    home = os.path.join(os.environ["AKGEN_HOME"], "tasks")
    for folder, _, files in sorted(os.walk(home)):
        name = os.path.relpath(folder, home)
        own = name.startswith(references_mkb.SUITE)
        if "cases.csv" in files and os.path.basename(name) in models_of(own) and any(word in name for word in words or [""]):
            families = () if "--all" in sys.argv else [references_mkb] if own else FAMILIES
            yield from ((name, own, case) for case in cases_of(folder, families))


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    with multiprocessing.Pool(initializer=torch.set_num_threads, initargs=(1,)) as pool:
        results = pool.map(compare, jobs(words), chunksize=1)
    problems = [problem for problem, _ in results if problem]
    rows = [row for _, rows in results for row in rows]
    if "--record" in sys.argv:
        references_record.write(rows)
    stale = references_record.out_of_date(rows) if "--all" not in sys.argv else []
    if stale:
        print(*stale[:10], f"{len(stale)} rows of {references_record.RECORD} are out of date: write them anew with "
              f"{sys.argv[0]} --record", sep="\n")
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(results)} cases compared with torch {torch.__version__}, {len(problems)} differ")
    sys.exit(1 if problems or stale or len(results) < (1 if words else 1300) else 0)


if __name__ == "__main__":
    main()
