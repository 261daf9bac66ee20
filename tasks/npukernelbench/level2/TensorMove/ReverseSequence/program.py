import tile.language as tl


# y = x, of whose entries along the axis seq the first `lengths[b]` are reversed, where b counts the entries along the axis batch.
# What lies behind both axes is moved in one piece; `middle` is what lies between them.
@ascend_kernel
def reverse_kernel(x, lengths, y, rows, first, middle, second, inner, seq_first, per_core, tile):
    start = tl.program_id(0) * per_core
    end = min(start + per_core, rows)
    row_ub = tl.alloc_ub(tile, dtype=x.dtype, depth=4)
    for row in range(start, end):
        behind = row % second
        before = row // (second * middle) % first
        place = before if seq_first else behind
        length = int(tl.extract_scalar(lengths, behind if seq_first else before))
        source = row
        if place < length:
            step = second * middle if seq_first else 1
            source = row + (length - 1 - 2 * place) * step
        for at in range(0, inner, tile):
            count = min(tile, inner - at)
            with tl.copyin():
                tl.load(x + source * inner + at, row_ub, count=count)
            with tl.copyout():
                tl.store(y + row * inner + at, row_ub, count=count)


def reverse_host(
    x: torch.Tensor,
    seq_lengths: torch.Tensor,
    y: torch.Tensor,
    seq_dim: int,
    batch_dim: int,
    tile: tl.constexpr = 4096,
):
    seq = seq_dim + x.ndim if seq_dim < 0 else seq_dim
    batch = batch_dim + x.ndim if batch_dim < 0 else batch_dim
    parts = 2 if x.dtype == tl.complex64 else 1
    total = x.numel() * parts
    if total == 0:
        return
    inner = parts
    middle = 1
    for i in range(min(seq, batch) + 1, x.ndim):
        if i < max(seq, batch):
            middle *= x.shape[i]
        elif i > max(seq, batch):
            inner *= x.shape[i]
    first = x.shape[min(seq, batch)]
    second = x.shape[max(seq, batch)]
    seq_first = seq < batch
    rows = total // inner
    cores = min(tl.num_vec_cores(), rows)
    per_core = tl.cdiv(rows, cores)
    reverse_kernel[cores](
        x,
        seq_lengths,
        y,
        rows,
        first,
        middle,
        second,
        inner,
        seq_first,
        per_core,
        tile,
    )
