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
    parts,
    tile,
):
    rows_ub = tl.alloc_ub(tile, dtype=updates.dtype)
    units = count * outer * parts
    unit = tl.program_id(0) * units // tl.num_programs(0)
    end = (tl.program_id(0) + 1) * units // tl.num_programs(0)
    while unit < end:
        i = unit // (outer * parts)
        row = unit // parts % outer
        run = 1 if parts > 1 else min(end - unit, outer - row)
        chosen = True
        if masked:
            chosen = tl.extract_scalar(mask, i) != 0
        if chosen:
            old = var[i].numel() // outer
            at = int(tl.extract_scalar(indice, 2 * i)) * inner
            width = int(tl.extract_scalar(indice, 2 * i + 1)) * inner
            right = width * (unit % parts + 1) // parts
            for col in range(width * (unit % parts) // parts, right, tile):
                cols = min(right - col, tile)
                pitch = tl.cdiv(cols, 32) * 32
                many = min(tile // pitch, 4095)
                for above in range(0, run, many):
                    rows = min(many, run - above)
                    with tl.copyin():
                        source = updates + (i * outer + row + above) * new + col
                        tl.load_rows(source, rows_ub, rows, cols, new, pitch)
                    with tl.copyout():
                        target = var[i] + (row + above) * old + at + col
                        tl.store_rows(target, rows_ub, rows, cols, old, pitch)
        unit += run


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
    # Where rows are few, each is cut into parts.
    rows = count * outer
    parts = max(1, min(tl.cdiv(4 * tl.num_vec_cores(), rows), new // 256)) if rows < 4 * tl.num_vec_cores() else 1
    cores = min(tl.num_vec_cores(), rows * parts)
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
        parts,
        tile,
    )
