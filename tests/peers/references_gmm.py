"""Matrix products and attention (src/task/reference/ref_matmul.c, ref_attention.c). Products are formed in float64 by torch and
rounded to float32, which any order of float32 summation is near to; products of int8 are exact that way."""
import ast
import math

import torch

from references_torch import FLOAT

MOST = 2**29  # multiplications per case


def work(row):
    """Multiplications of a case, as far as its columns tell."""
    sizes = [int(row[name]) for name in ("batch", "m", "k", "n", "groupCount") if name in row]
    return math.prod(sizes) if sizes else math.prod(ast.literal_eval(row.get("shape", "[1]")))


def choose(rows):
    """Of each data type the first case and the last small one with an odd size: tails. Attention over long sequences: the
    smallest."""
    if "shape" in rows[0]:
        return [min(rows, key=work)]
    chosen = {}
    for row in rows:
        chosen.setdefault((row["dtype"], "first"), row)
        if work(row) <= MOST and any(int(row.get(name, 0)) % 2 for name in "mkn"):
            chosen[row["dtype"], "odd"] = row
    return list({row["case_id"]: row for row in chosen.values()}.values())


def product(a, b):
    return torch.matmul(a.double(), b.double()).float()


def gemm(i, a, c):
    return product(a["alpha"] * i[0][0], i[1][0]) + a["beta"] * i[2][0]


def group_gemm(i, a, c):
    results, place = [], [0, 0, 0]
    for g, (m, k, n) in enumerate(zip(a["mList"], a["kList"], a["nList"])):
        parts = []
        for which, (rows, columns) in enumerate(((m, k), (k, n), (m, n))):
            flat = i[which][0][place[which]:place[which] + rows * columns]
            parts.append(flat.view(rows, columns).float())
            place[which] += rows * columns
        results.append((product(i[3][0][g] * parts[0], parts[1]) + i[4][0][g] * parts[2]).flatten())
    return torch.cat(results)


def dequantized(result, column_scale, row_scale):
    return result * column_scale.float().unsqueeze(0) * row_scale.float().unsqueeze(1)


def slice_k(i, a, c):
    x, y, ends = i[0][0], i[1][0], i[-1][0].tolist()
    m, n, flat = x.shape[0], y.shape[1], x.flatten()
    results, start = [], 0
    for g, end in enumerate(ends):
        left = flat[start * m:end * m].view(end - start, m).transpose(0, 1)
        result = product(left, y[start:end]) if end > start else torch.zeros(m, n)
        if len(i) == 5:
            result = dequantized(result, i[2][0][g], i[3][0][g])
        else:
            result = result.half().float()  # the check compares as float32
        results.append(result.flatten())
        start = end
    return torch.cat(results)


def slice_m(i, a, c):
    x, y, ends = i[0][0], i[1][0], i[-1][0].tolist()
    results, start = [], 0
    for g, end in enumerate(ends):
        result = product(x[start:end], y[g])
        if len(i) == 5:
            result = dequantized(result, i[2][0][g], i[3][0][start:end])
        else:
            result = result.half().float()
        results.append(result.flatten())
        start = end
    return torch.cat(results)


def flash_attention(i, a, c):
    query, key, value = (t[0].float() for t in i)
    scores = torch.matmul(query, key.transpose(-1, -2)) * a["scale_value"]
    return {2: torch.matmul(torch.softmax(scores, dim=-1), value).half()}


def mla(i, a, c):
    query = torch.cat([i[0][0], i[1][0]], dim=-1).float()
    values, keys = i[2][0].float(), torch.cat([i[2][0], i[3][0]], dim=-1).float()
    out, token = [], 0
    for sequence, (tokens, length) in enumerate(zip(a["q_seqlen_list"], a["k_seqlen_list"])):
        blocks = i[4][0][sequence].long()
        k = keys[blocks].flatten(0, 1)[:length]  # (length, cache heads, size)
        v = values[blocks].flatten(0, 1)[:length]
        repeat = query.shape[1] // k.shape[1]
        k, v = (t.repeat_interleave(repeat, dim=1) for t in (k, v))
        scores = torch.einsum("qhd,khd->hqk", query[token:token + tokens], k) / query.shape[-1] ** 0.5
        out.append(torch.einsum("hqk,khd->qhd", torch.softmax(scores, dim=-1), v))
        token += tokens
    return torch.cat(out)


PLAIN = (lambda i, a, c: product(i[0][0], i[1][0]), FLOAT)
MODELS = {
    "BasicMatmul": PLAIN,
    "BatchedMatmul": PLAIN,
    "FlashAttentionScoreWithLargeHeadDim": (flash_attention, FLOAT),
    "Gemm": (gemm, FLOAT),
    "Gemv": (lambda i, a, c: a["alpha"] * product(i[0][0], i[1][0]) + a["beta"] * i[2][0], FLOAT),
    "GroupGemm": (group_gemm, FLOAT),
    "GroupedMatmulSliceK": (slice_k, FLOAT),
    "GroupedMatmulSliceKPerTokenDequant": (slice_k, FLOAT),
    "GroupedMatmulSliceM": (slice_m, FLOAT),
    "GroupedMatmulSliceMPerTokenDequant": (slice_m, FLOAT),
    "MatmulAdd": (lambda i, a, c: product(i[0][0], i[1][0]) + i[2][0].float(), FLOAT),
    "MatmulBias": (lambda i, a, c: product(i[0][0], i[1][0]) + i[2][0].float(), FLOAT),
    "Mla": (mla, FLOAT),
    "OptimizedMatmul": PLAIN,
    "PaddingMatmul": PLAIN,
    "QuantMatmul": (lambda i, a, c: dequantized(product(i[0][0], i[1][0]), i[2][0], i[3][0]), FLOAT),
    "SplitkMatmul": PLAIN,
}
