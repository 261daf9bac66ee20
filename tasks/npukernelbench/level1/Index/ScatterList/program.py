import tile.language as tl


# Into var, in place. Of each tensor whose mask is not 0, `length` entries along the axis become those of updates, from `start` on. With `inner` elements
# behind the axis, that is a row of length * inner elements for each entry before it; the cores share these rows of all tensors. Short
# rows are moved many at once, long ones in pieces.
@ascend_kernel
def scatter_kernel(
    var: list[torch.Tensor],
    indice,
    updates,
    mask,
    masked,
    count,
    outer,
    inner,
    new,
    per_core,
    tile,
):
    rows_ub = tl.alloc_ub(tile, dtype=updates.dtype)
    start = tl.program_id(0) * per_core
    end = min(start + per_core, count * outer)
    for i in range(start // outer, tl.cdiv(end, outer)):
        chosen = True
        if masked:
            chosen = tl.extract_scalar(mask, i) != 0
        if chosen:
            old = var[i].numel() // outer
            at = int(tl.extract_scalar(indice, 2 * i)) * inner
            width = int(tl.extract_scalar(indice, 2 * i + 1)) * inner
            first = max(start - i * outer, 0)
            last = min(end - i * outer, outer)
            for col in range(0, width, tile):
                cols = min(width - col, tile)
                pitch = tl.cdiv(cols, 32) * 32
                many = min(tile // pitch, 4095)
                for row in range(first, last, many):
                    rows = min(many, last - row)
                    with tl.copyin():
                        source = updates + (i * outer + row) * new + col
                        tl.load_rows(source, rows_ub, rows, cols, new, pitch)
                    with tl.copyout():
                        target = var[i] + row * old + at + col
                        tl.store_rows(target, rows_ub, rows, cols, old, pitch)


def scatter_host(
    var: list[torch.Tensor],
    indice: torch.Tensor,
    updates: torch.Tensor,
    mask: torch.Tensor = None,
    axis: int = -2,
    tile: tl.constexpr = 8192,
):
    count = len(var)
    if updates.numel() == 0:
        return
    inner = 1
    for i in range(updates.ndim + axis + 1, updates.ndim):
        inner *= updates.shape[i]
    new = updates.shape[updates.ndim + axis] * inner
    outer = updates.numel() // (count * new)
    cores = min(tl.num_vec_cores(), count * outer)
    per_core = tl.cdiv(count * outer, cores)
    masked = mask is not None
    scatter_kernel[cores](
        var,
        indice,
        updates,
        mask,
        masked,
        count,
        outer,
        inner,
        new,
        per_core,
        tile,
    )
