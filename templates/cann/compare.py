#!/usr/bin/env python3
"""Compares out/, what the operator computed, with what it should have computed: by the benchmark's own check (upstream) and
against float64 with limits relative to the output's scale (strict). Exit code: 0 all right, 1 not."""
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TYPES = {"float32": "<f4", "float16": "<f2", "bfloat16": "<u2", "int8": "i1", "uint8": "u1", "int16": "<i2", "uint16": "<u2",
         "int32": "<i4", "uint32": "<u4", "int64": "<i8", "uint64": "<u8", "float64": "<f8", "bool": "u1", "complex64": "<f4"}
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64")


def read(path, dtype):
    """A file's elements, integers as such and floating ones as float64; complex ones are pairs."""
    raw = np.fromfile(os.path.join(HERE, path), TYPES[dtype])
    if dtype == "bfloat16":
        raw = (raw.astype("<u4") << 16).view("<f4")
    return raw.astype("f8") if dtype in FLOATS else raw


def rounded(dtype, x):
    """The nearest values of the type, as float64."""
    if dtype == "float64":
        return np.asarray(x, "f8")
    with np.errstate(over="ignore"):
        single = np.asarray(x, "f8").astype("f4")
        if dtype == "float16":
            return single.astype("f2").astype("f8")
    if dtype == "bfloat16":
        bits = single.view("u4").astype("i8")
        near = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype("u4").view("f4")
        single = np.where(np.isnan(single), single, near)
    return single.astype("f8")


def promoted(a, b):
    """In which type torch takes the difference."""
    if a == b:
        return "int32" if a == "bool" else a
    if "float64" in (a, b):
        return "float64"
    if a in FLOATS and b in FLOATS:
        return "float32"
    if a in FLOATS or b in FLOATS:
        return a if a in FLOATS else b
    return max(a, b, key=lambda name: np.dtype(TYPES[name]).itemsize)


def upstream_wrong(check, dtype, e, a):
    """Which elements are wrong by NPUKernelBench's and MultiKernelBench's rules."""
    rule = check["rule"]
    if dtype not in FLOATS:
        kind = np.dtype(TYPES[dtype])
        wide = e.astype("i8") - a.astype("i8")
        absolute = np.abs(wide.astype(kind).astype("i8").astype(kind).astype("i8")).astype("f4")
        relative = absolute / (np.abs(e.astype("i8")).astype("f4") + np.float32(1e-7))
        if rule == "rel_max1":
            return absolute > check["rel"] * np.maximum(1, np.abs(e.astype("f8")))
        larger = np.maximum(np.abs(e.astype("f8")), np.abs(a.astype("f8")))
        if rule == "share":
            return share(check, absolute, absolute / (larger + 1e-7))
        return (absolute > np.float32(check["abs"])) & (relative > np.float32(check["rel"]))
    if dtype == "complex64" and rule != "rel_max1":
        d = rounded("float32", e - a).reshape(-1, 2)
        size = rounded("float32", np.hypot(d[:, 0], d[:, 1]))
        whole = rounded("float32", np.hypot(e[0::2], e[1::2]))
        relative = rounded("float32", size / rounded("float32", whole + 1e-7))
        over = (size > rounded("float32", check["abs"])) & (relative > rounded("float32", check["rel"]))
        return np.repeat(~(np.isfinite(size) & np.isfinite(relative)) | over, 2)
    dtype = "float32" if dtype == "complex64" else dtype
    epsilon = rounded(dtype, 1e-7)
    absolute = rounded(dtype, np.abs(rounded(dtype, e - a)))
    if rule == "share":
        return share(check, absolute, absolute / (np.maximum(np.abs(e), np.abs(a)) + epsilon))
    relative = rounded(dtype, absolute / rounded(dtype, np.abs(e) + epsilon))
    limit_abs, limit_rel = rounded(dtype, check["abs"]), rounded(dtype, check["rel"])
    finite = np.isfinite(e) & np.isfinite(a) & np.isfinite(absolute) & np.isfinite(relative)
    if rule == "rel_max1":
        return absolute > rounded(dtype, limit_rel * np.maximum(1, np.abs(e)))
    if rule == "allclose":
        allowed = rounded(dtype, limit_abs + rounded(dtype, limit_rel * np.abs(a)))
        return (e != a) & (~finite | (absolute > allowed))
    over = (absolute > limit_abs) & (relative > limit_rel)
    return ~finite | over if rule == "abs_rel" else over


def share(check, absolute, relative):
    """A share of the elements may be off."""
    over_abs, over_rel = absolute > check["abs"], relative > check["rel"]
    allowed = check["rel"] * absolute.size
    few = np.count_nonzero(over_abs) <= allowed or np.count_nonzero(over_rel) <= allowed
    return np.zeros(absolute.size, bool) if few else over_abs | over_rel


def strict_wrong(limit, dtype, e, a, actual_type):
    """`moved`: what e may be as well."""
    moved = [read(path, dtype) for path in limit["moved"]]
    if dtype not in FLOATS and actual_type not in FLOATS:
        return (a < np.minimum.reduce([e, *moved])) | (a > np.maximum.reduce([e, *moved]))
    e, a = e.astype("f8"), a.astype("f8")
    with np.errstate(invalid="ignore"):
        allowed = limit["slack"] + limit["relative"] * (np.abs(e) + limit["scale"])
        away = np.fmax.reduce([np.zeros(e.size), *(np.abs(m - e) for m in moved)])
        allowed = np.where(np.isfinite(e), allowed + away, allowed)
        same = (e == a) | (np.isnan(e) & (np.isnan(a) | limit["open_nan"]))
        if limit["overflow"] is not None:
            same |= np.isinf(a) & (e * a > 0) & (np.abs(e) + allowed >= limit["overflow"])
        return ~same & (~(np.isfinite(e) & np.isfinite(a)) | (np.abs(e - a) > allowed))


def forgiven(positions, expected, actual, shape):
    """Positions in an input: any of several equal elements will do, but none twice."""
    values = read(positions["x"], positions["dtype"]).reshape(positions["shape"])
    dim = positions["dim"] % values.ndim
    e, a = (np.moveaxis(p.reshape(shape), dim, -1).astype("i8") for p in (expected, actual))
    v = np.moveaxis(values, dim, -1)
    n = v.shape[-1]
    inside = (a >= 0) & (a < n)
    at = np.where(inside, a, 0)
    picked, wanted = np.take_along_axis(v, at, -1), np.take_along_axis(v, e, -1)
    order = np.argsort(at, -1, kind="stable")
    ordered = np.take_along_axis(np.where(inside, a, -1), order, -1)
    again = np.zeros(ordered.shape, bool)
    again[..., 1:] = (ordered[..., 1:] == ordered[..., :-1]) & (ordered[..., 1:] >= 0)
    repeated = np.zeros(ordered.shape, bool)
    np.put_along_axis(repeated, order, again, -1)
    right = inside & ~repeated & ((picked == wanted) | (np.isnan(picked) & np.isnan(wanted)) if v.dtype.kind == "f" else picked == wanted)
    result = np.where(right, e, np.where(a == e, -1, a))
    return np.moveaxis(result, -1, dim).reshape(-1).astype(actual.dtype)


def same_length(expected, actual, dtype):
    """Real parts where only these are expected; of a result of unknown length what is expected."""
    if dtype == "complex64" and actual.size == 2 * expected.size:
        actual = actual[0::2]
    return actual[:expected.size]


def judge(tensor, way):
    """What is wrong with a tensor by one of the two ways; None: nothing, or it is not judged so."""
    want = tensor[way]
    if not want:
        return None
    if not os.path.exists(os.path.join(HERE, tensor["actual"])):
        return f"{tensor['actual']} was not written"
    expected, actual = read(want["file"], want["dtype"]), read(tensor["actual"], tensor["dtype"])
    actual = same_length(expected, actual, tensor["dtype"])
    if actual.size < expected.size:
        return f"{tensor['name']}: {actual.size} elements, expected {expected.size}"
    if tensor["dtype"] == "bool":
        actual = (actual != 0).astype("u1")
    if tensor["positions"]:
        actual = forgiven(tensor["positions"], expected, actual, tensor["shape"])
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if way == "strict":
            wrong = strict_wrong(want, want["dtype"], expected, actual, tensor["dtype"])
        else:
            wrong = upstream_wrong(want, promoted(want["dtype"], tensor["dtype"]), expected, actual)
    if not wrong.any():
        return None
    first = int(np.argmax(wrong))
    return (f"{tensor['name']}: element {first} is {actual[first]:.9g}, expected {expected[first]:.9g}; "
            f"{np.count_nonzero(wrong)} of {wrong.size} are wrong")


def main():
    with open(os.path.join(HERE, "cases", "cases.json"), encoding="utf-8") as file:
        table = json.load(file)
    right, tried = {"upstream": 0, "strict": 0}, {"upstream": 0, "strict": 0}
    for case in table["cases"]:
        said = []
        for way in right:
            if not any(tensor[way] for tensor in case["tensors"]):
                continue  # upstream's check is for the published cases
            found = [problem for problem in (judge(tensor, way) for tensor in case["tensors"]) if problem]
            tried[way] += 1
            right[way] += not found
            said.append(f"{way} {'fail' if found else 'pass'}" + (f" ({found[0]})" if found else ""))
        print(f"case {case['case']:<6} {case['inputs']}: {', '.join(said)}")
    passed = right == tried and sum(tried.values()) > 0
    sums = ", ".join(f"{way} {right[way]} of {tried[way]} cases" for way in right)
    print(f"{'pass' if passed else 'fail'}: {table['op']}, {sums}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
