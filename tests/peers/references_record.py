"""The rows of tests/unit/task/reference/pytorch.tsv: PyTorch's results in one number each, with which `make test` compares the
references on machines without PyTorch. tests/unit/task/reference/pytorch_test.c says what the numbers are and computes ours."""
import os
import pathlib

import numpy as np
import torch

from references_torch import EXACT, QUANTIZED, bounds, golden_limits, real

RECORD = pathlib.Path(os.environ["AKGEN_HOME"]) / "tests/unit/task/reference/pytorch.tsv"
COLUMNS = ("task", "case", "output", "reference", "type", "elements", "kind", "value", "within")


def digest(values):
    """Of float64 values; 0 equals -0 and nan equals nan."""
    bits = (values + 0.0).view(np.uint64)
    bits = np.where(np.isnan(values), np.uint64(1), bits)
    bits = (bits ^ bits >> np.uint64(32)) * np.uint64(0x9E3779B97F4A7C15)
    places = np.arange(len(values), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return "digest", f"{int(((bits ^ bits >> np.uint64(29)) * places).sum()):016x}", "0"


def weighted_sum(values, limits):
    """The sum, and how far it may be away if each element keeps to its limit; 1e-12 for the order of summation."""
    places = np.arange(len(values), dtype=np.uint64)
    weights = (places * np.uint64(2654435761) + np.uint64(12345) & np.uint64(0xffffffff)).astype(np.float64) / 2**31 - 1
    finite = np.isfinite(values)
    values = np.where(finite, values, np.where(np.isnan(values), 1.0, np.copysign(2.0, values)))
    within = float((np.abs(weights) * np.where(finite, limits, 0.0)).sum() + 1e-12 * np.abs(weights * values).sum())
    return "sum", f"{float((weights * values).sum()):.17g}", f"{within:.3g}"


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


def row(key, reference, dtype, values, limits):
    """limits None: every bit counts."""
    values = np.concatenate([v.numpy() for v in values])
    number = digest(values) if limits is None else weighted_sum(values, np.concatenate([v.numpy() for v in limits]))
    return (*key, reference, name_of(dtype), str(len(values)), *number)


def of_upstream(key, ours, theirs, mode):
    """One output, its tensors as lists; `ours` gives the types."""
    dtype = ours[0].dtype
    flat = [real(t.to(o.dtype)).double() for o, t in zip(ours, theirs)]
    if mode == QUANTIZED and dtype == torch.int8:
        limits = [torch.full(t.shape, max(1, len(t) // 1000) / len(t), dtype=torch.float64) for t in flat]
    elif mode == EXACT or not (dtype.is_floating_point or dtype.is_complex):
        limits = None
    else:
        limits = [bounds(t, real(o).dtype, mode) for o, t in zip(ours, flat)]
    return row(key, "upstream", dtype, flat, limits)


def of_golden(key, golden, exact, bound):
    pairs = [golden_limits(g, e, bound) for g, e in zip(golden, exact)]
    limits = None if pairs[0][1] is None else [limit for _, limit in pairs]
    return row(key, "golden", golden[0].dtype, [e.double() for e, _ in pairs], limits)


def write(rows):
    RECORD.write_text("".join("\t".join(r) + "\n" for r in [COLUMNS, *rows]))


def out_of_date(rows):
    """What the file says otherwise than these rows. Sums of another machine's PyTorch differ in their last digits."""
    def stable(r):
        return tuple(r) if r[6] == "digest" else tuple(r[:7])
    recorded = {stable(line.split("\t")) for line in RECORD.read_text().splitlines()[1:]}
    return [" ".join(r) for r in rows if stable(r) not in recorded]
