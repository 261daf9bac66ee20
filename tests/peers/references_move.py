"""Operators that pick and move elements (src/task/reference/ref_index.c, ref_move.c)."""
import numpy as np
import torch

from references_math import choose
from references_torch import EXACT, add

__all__ = ["MODELS", "choose"]


def narrow(f):
    """f moves elements of a type that it may lack: in float32, which holds them all."""
    return lambda x, *more: f(x.float(), *more).to(x.dtype)


def scatter_list(i, a, c):
    var, indice, updates, mask = i[0], i[1][0], i[2][0], i[3][0]
    for t, x in enumerate(var):
        if mask[t]:
            start, length = indice[t].tolist()
            x.narrow(a["axis"], start, length).copy_(updates[t].narrow(a["axis"], 0, length))
    return var


def coalesce(i, a, c):
    """The entries as torch's coalesce has them; sums step by step in the values' type, in the order of the entries."""
    unique, places, indices, values = (t[0] for t in i)
    size = [int(n) + 1 for n in indices.max(0).values]
    entries = torch.sparse_coo_tensor(indices.T, torch.ones(len(indices)), size).coalesce()
    new = torch.zeros([len(unique), *values.shape[1:]], dtype=values.dtype)
    for place, value in zip(places.tolist(), values):
        new[place] = add(new[place], value)
    return {0: entries.indices().T, 1: new}


def feeds_repeat(i, a, c):
    y = narrow(lambda x: torch.repeat_interleave(x, i[1][0].long(), dim=0))(i[0][0])
    rest = torch.zeros([a["output_feeds_size"] - len(y), *y.shape[1:]], dtype=y.dtype)
    return torch.cat([y, rest])


def reverse_sequence(i, a, c):
    y = i[0][0].clone()
    seq, batch = a["seq_dim"], a["batch_dim"]
    for b, length in enumerate(i[1][0].tolist()):
        x = y.select(batch, b)
        head = x.narrow(seq - (seq > batch), 0, length)
        head.copy_(head.flip(seq - (seq > batch)))
    return y


def slice_assign(i, a, c):
    var, value, begin, end, strides, axes = (t[0] for t in i)
    slices = [slice(None)] * var.dim()
    for b, e, s, axis in zip(*(t.tolist() for t in (begin, end, strides, axes))):
        slices[axis] = slice(b, e, s)
    var[tuple(slices)] = value
    return var


def top_k(i, a, c):
    """Which of equal values comes first torch does not say; NumPy's stable sort does, as the reference does."""
    x, k, dim = i[0][0].float(), int(i[1][0]), a["dim"]
    sign = -1 if a["largest"] else 1
    order = np.argsort(sign * x.numpy(), axis=dim, kind="stable")
    indices = torch.from_numpy(np.take(order, range(k), axis=dim))
    values = torch.gather(x, dim, indices)
    assert torch.equal(values, torch.topk(x, k, dim=dim, largest=a["largest"]).values)
    return {0: values.half(), 1: indices.int()}


MODELS = {
    "GatherV3": (lambda i, a, c: torch.index_select(i[0][0], int(i[2][0]), i[1][0]), EXACT),
    "ScatterList": (scatter_list, EXACT),
    "MaskedSelectV3": (lambda i, a, c: torch.masked_select(i[0][0], i[1][0]), EXACT),
    "Triu": (lambda i, a, c: narrow(lambda x: torch.triu(x, a["diagonal"]))(i[0][0]), EXACT),
    "CoalesceSparse": (coalesce, EXACT),
    "FeedsRepeat": (feeds_repeat, EXACT),
    "ReverseSequence": (reverse_sequence, EXACT),
    "StridedSliceAssignV2": (slice_assign, EXACT),
    "TopKV3": (top_k, EXACT),
}
